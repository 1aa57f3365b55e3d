"""Claims about Example 1, Algorithm 1 and the propositions, judged from the tables of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sfumato.rounding import about

from ..reproduction import PaperClaim, RunTables, judged, ours
from .alternation import AlternationRow
from .experiments import SquareDesign
from .guesses import GuessTheoremRow
from .summary import of, over_field, over_runs, said, values
from .swapping import CLASSIFIERS, GENERATORS, PayoffRow, Swapping, SwappingRound

_FLOATS: Final = 1e-9  # far above the rounding of these sums


def game_claims(tables: RunTables) -> list[PaperClaim]:
    """Return the claims about the games and the propositions, judged."""
    return [
        *_payoffs(tables.rows("payoffs", PayoffRow)),
        _played(Swapping.of_rounds(tables.rows("swapping", SwappingRound))),
        *_rounds(tables.rows("alternation", AlternationRow)),
        *_theorems(tables.rows("theorems", GuessTheoremRow), tables.rows("square-designs", SquareDesign)),
    ]


def _payoffs(rows: Sequence[PayoffRow]) -> list[PaperClaim]:
    changing = (GENERATORS[:2], CLASSIFIERS[:2])
    every = (GENERATORS, CLASSIFIERS)
    inner, all_success = (_saddles(rows, among, lambda row: row.success) for among in (changing, every))
    still = [row for row in all_success if row.generator in GENERATORS[2:]]
    calm = {
        name: _saddles(rows, every, value)
        for name, value in (
            ("mutual information", lambda row: row.information_bits),
            ("vulnerability", lambda row: row.vulnerability),
        )
    }
    by = {(row.generator, row.classifier): row for row in rows}
    pairs = [(by[GENERATORS[0], each], by[GENERATORS[1], each]) for each in CLASSIFIERS]
    gains = [
        (one, two)
        for one, two in pairs
        if (one.information_bits, one.vulnerability) != (two.information_bits, two.vulnerability)
    ]
    constant = all(any(row.generator in GENERATORS[2:] for row in found) for found in calm.values())
    return [
        judged(
            "Example 1, Figure 1",
            "With the probability of success as payoff, best replies go round between truth and swap without end.",
            not inner,
            f"Among the four cases of truth and swap {len(inner)} are saddle points. Among all {len(rows)} cases "
            f"{len(all_success)} are, {len(still)} of them with one place reported always: the game has "
            "equilibria, and best replies need not lead to them.",
        ),
        judged(
            "Example 1, Figure 1",
            "With mutual information or vulnerability as payoff, to swap gains nothing, and to report one place "
            "always is in equilibrium.",
            not gains and constant,
            f"Truth and swap have the same payoffs against {len(pairs) - len(gains)} of {len(pairs)} classifiers. "
            f"Of {len(rows)} cases {len(calm['mutual information'])} are saddle points with mutual information, "
            f"and {len(calm['vulnerability'])} with vulnerability.",
        ),
    ]


def _saddles(
    rows: Sequence[PayoffRow],
    among: tuple[Sequence[str], Sequence[str]],
    value: Callable[[PayoffRow], float],
) -> list[PayoffRow]:
    """Return the cases that neither side leaves: the generator wants less, the classifier more."""
    here = [row for row in rows if row.generator in among[0] and row.classifier in among[1]]
    return [
        row
        for row in here
        if value(row) <= min(value(each) for each in here if each.classifier == row.classifier)
        and value(row) >= max(value(each) for each in here if each.generator == row.generator)
    ]


def _played(games: Sequence[Swapping]) -> PaperClaim:
    chase, calm = ([each for each in games if each.target == name] for name in values(games, "target"))
    swaps = [[each.swaps for each in some] for some in (chase, calm)]
    last = [said(over_runs(some, lambda game: float(game.accuracy[-1]))) for some in (chase, calm)]
    return judged(
        "Example 1",
        "Trained with cross entropy the generator swaps again and again; trained with mutual information it "
        "settles.",
        min(swaps[0]) > max(swaps[1]),
        f"From {len(chase)} starts, a changes its meaning {min(swaps[0])} to {max(swaps[0])} times in "
        f"{len(chase[0].accuracy)} rounds with {chase[0].target}, and {min(swaps[1])} to {max(swaps[1])} times "
        f"with {calm[0].target}. The last classifier is right in {last[0]} of the cases with the first, and in "
        f"{last[1]} with the second.",
    )


def _rounds(rows: Sequence[AlternationRow]) -> list[PaperClaim]:
    last = max(row.round for row in rows)
    new, same = (of(rows, reset=reset, round=last) for reset in (True, False))
    pairs = list(zip(new, same, strict=True))
    better = [one for one, other in pairs if one.best_right < other.best_right]
    start = of(rows, reset=True, round=1)
    ends = [said(over_field(some, "best_right")) for some in (new, same)]
    return [
        judged(
            "Abstract, Algorithm 1",
            "Against a classifier that is trained in each round, the generator comes to protect better.",
            all(end.best_right < first.best_right for first, end in zip(start, new, strict=True)),
            f"In Example 1 the best guess is right in {said(over_field(start, 'best_right'))} of the cases "
            f"before, and in {ends[0]} after {last} rounds, over {len(new)} starts.",
            quote="By letting the two nets compete against each other, the mechanism improves its degree of "
            "protection, until an equilibrium is reached.",
        ),
        ours(
            "Algorithm 1",
            "A classifier that is trained from nothing in each round lets the generator hide more than one that "
            "goes on from the last round.",
            len(better) == len(pairs),
            f"So from {len(better)} of {len(pairs)} starts. In Example 1 after {last} rounds the best guess is "
            f"right in {ends[0]} of the cases with new classifiers, and in {ends[1]} with one that goes on.",
        ),
    ]


def _theorems(rows: Sequence[GuessTheoremRow], designs: Sequence[SquareDesign]) -> list[PaperClaim]:
    channels = f"{sum(row.channels for row in rows):,}"
    differences = [(row.information_bits - row.guess_information_bits, row) for row in designs]
    most, design = max(differences, key=lambda pair: pair[0])
    apart = max(abs(row.guess_error - row.error) for row in designs)
    bound = min(1 - 2**-row.unknown_bits - row.guess_error for row in designs)

    def least(name: str) -> float:
        return min(float(getattr(row, name)) for row in rows)

    return [
        judged(
            "(13), Proposition 2",
            "The mutual information of label and guess is convex in the mechanism.",
            least("convex_slack_bits") >= -_FLOATS,
            f"On {channels} pairs of random mechanisms a mixture never reveals more than the mean of the two.",
        ),
        judged(
            "Proposition 3",
            "No classifier learns more bits than the report has: min max I(X;Y) is at most min I(X;Z).",
            least("information_slack_bits") >= -_FLOATS and all(less >= -_FLOATS for less, _ in differences),
            f"So on {channels} random channels with two classifiers each, and for all {len(designs)} tables of "
            f"the square. The best guess has {about(most, 3)} bits less than the report in {design.experiment} "
            f"({design.generator}, seed {design.seed}), so the two sides can differ.",
        ),
        judged(
            "Proposition 4",
            "The Bayes error given the guess is at least that given the report.",
            least("error_slack") >= -_FLOATS and apart <= _FLOATS,
            f"So on {channels} random channels. For the best guess the two are equal, there and for all "
            f"{len(designs)} tables of the square.",
        ),
        judged(
            "Bound of Santhi and Vardy",
            "The Bayes error is at most 1 - 2^-H(X|Y).",
            least("entropy_slack") >= -_FLOATS and bound >= -_FLOATS,
            f"So on {channels} random channels and for all {len(designs)} tables of the square.",
        ),
    ]
