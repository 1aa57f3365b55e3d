"""The claims of PRIVIC, judged from the tables of a run: on Paris and San Francisco where visits lie there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sfumato.core import Bracket
from sfumato.rounding import about, percent

from ..reproduction import PaperClaim, RunTables, follows, illustrates, interval, judged, ours, unchecked
from .grounds import BOXES, SAN_FRANCISCO, PublishedBox
from .published import PRIVIC_EPSILONS
from .rounds import (
    BLAHUT,
    BUSIEST,
    CONVERGED,
    ESTIMATES,
    FIRST,
    ISOLATED,
    NOISE,
    PLACES,
    ROUNDS,
    SLOPES,
    STEPS,
    UPDATES,
    CellNoiseRow,
    EstimateRow,
    RateRow,
    RoundRow,
)

_ABSTRACT: Final = "PRIVIC, abstract"
_ROUNDING: Final = 1e-9  # of an epsilon, for logarithms in floats
_STRONGEST: Final = 0.2  # the least slope of the authors' code


def rounds_claims(tables: RunTables) -> list[PaperClaim]:
    """Return the claims of PRIVIC, judged."""
    slopes, estimates = tables.rows(SLOPES, RateRow), tables.rows(ESTIMATES, EstimateRow)
    boxes = {row.city: row.box for row in slopes}
    return [
        _promise(slopes),
        *(_tight([row for row in slopes if row.box == box.city], box) for box in BOXES),
        *_elastic(tables.rows(PLACES, CellNoiseRow)),
        _rounds(tables.rows(ROUNDS, RoundRow)),
        *(_estimates([row for row in estimates if boxes[row.city] == box.city], box) for box in BOXES),
        _estimates_at_best(estimates),
    ]


def _steps(name: str) -> str:
    return name if name == CONVERGED else f"{name} steps"


def _promise(rows: Sequence[RateRow]) -> PaperClaim:
    beyond = [row for row in rows if row.epsilon > 2 * row.slope * (1 + _ROUNDING)]
    loose, tight = (pick(rows, key=lambda row: row.epsilon / row.slope) for pick in (min, max))
    rounded = [row for row in rows if not row.kept]
    words = (
        f"So for {len(rows) - len(beyond)} of {len(rows)} mechanisms in floats, after any number of steps. The "
        f"tight epsilon is {percent(loose.epsilon / (2 * loose.slope))} (b {loose.slope:g}, "
        f"{_steps(loose.steps)}, {loose.city}) to {percent(tight.epsilon / (2 * tight.slope))} of 2 b. Proved of "
        f"the integers for {len(rows) - len(rounded)}."
    )
    if rounded:
        worst = max(rounded, key=lambda row: row.epsilon_proved / row.slope)
        words += (
            f" The others exceed it by up to {percent(worst.epsilon_proved / (2 * worst.slope) - 1)} (b "
            f"{worst.slope:g}, {_steps(worst.steps)}, {worst.city}): there the smallest probabilities are few "
            "grains."
        )
    return follows(
        "PRIVIC, section not known",
        "A mechanism of Blahut and Arimoto with slope b has metric privacy at 2 b.",
        not beyond,
        words,
    )


def _tight(rows: Sequence[RateRow], box: PublishedBox) -> PaperClaim:
    where = f"PRIVIC, code, {box.city}"
    says = f"In {box.city} the authors list a tight epsilon for each slope b, below 2 b."
    quote = f"#Empirical tight epsilon for {'SF' if box is SAN_FRANCISCO else box.city}"
    if not rows:
        return unchecked(where, says, box.request, quote=quote)
    published = PRIVIC_EPSILONS[box.city]
    words = []
    for slope in sorted({row.slope for row in rows}):
        own = ", ".join(f"{about(row.epsilon, 4)} ({_steps(row.steps)})" for row in rows if row.slope == slope)
        words.append(f"b {slope:g}: listed {published[slope]:g}, here {own}.")
    return illustrates(
        where,
        says,
        all(row.epsilon < 2 * row.slope for row in rows),
        f"{' '.join(words)} All are per cell; the visits of this run are not exactly those of the authors.",
        quote=quote,
    )


def _elastic(rows: Sequence[CellNoiseRow]) -> list[PaperClaim]:
    by = {(row.city, row.slope, row.place, row.mechanism): row.distance for row in rows}
    cases = list(dict.fromkeys((row.city, row.slope) for row in rows))
    more = sum(by[*case, ISOLATED, BLAHUT] > by[*case, ISOLATED, NOISE] for case in cases)
    city, slope = cases[-1]
    alone, noise, busy = (
        about(by[city, slope, *key], 3) for key in ((ISOLATED, BLAHUT), (ISOLATED, NOISE), (BUSIEST, BLAHUT))
    )
    return [
        illustrates(
            _ABSTRACT,
            "The mechanism of Blahut and Arimoto mitigates the problem of isolation.",
            more == len(cases),
            "The visited cell with fewest visits within two cells gets more noise than from Laplace noise of "
            f"equal tight epsilon in {more} of {len(cases)} cases.",
            quote="enforces an elastic metric that mitigates the problem of isolation",
        ),
        ours(
            _ABSTRACT,
            "The visited cell with fewest visits within two cells gets more noise than from Laplace noise of "
            "equal tight epsilon.",
            more == len(cases),
            f"So in {more} of {len(cases)} cases. In {city} (b {slope:g}) this cell gets {alone} cells of noise "
            f"on average, Laplace noise {noise}; the most visited cell gets {busy}.",
        ),
    ]


def _mean(rows: Iterable[RoundRow | EstimateRow]) -> Bracket:
    return interval([row.truth_km for row in rows])


def _said(found: Bracket) -> str:
    return f"{about(found.value, 2)} km ({about(max(found.lower, 0.0), 2)} to {about(found.upper, 2)})"


def _rounds(rows: Sequence[RoundRow]) -> PaperClaim:
    """State the best and the worst last round, of those with the epsilon of the first round's noise."""
    rows = [row for row in rows if 2 * row.slope == FIRST]
    last = max(row.number for row in rows)
    cases = []
    for city, slope, steps in dict.fromkeys((row.city, row.slope, row.steps) for row in rows):
        own = [row for row in rows if (row.city, row.slope, row.steps) == (city, slope, steps)]
        first, second, final = (_mean(row for row in own if row.number == number) for number in (1, 2, last))
        words = (
            f"{city}, b {slope:g}, {_steps(steps)}: {_said(first)} after Laplace noise, {_said(second)} after "
            f"round 2, {_said(final)} after round {last}."
        )
        cases.append((final.value - first.value, words))
    ends = dict.fromkeys(words for _, words in (min(cases), max(cases)))
    return unchecked(
        _ABSTRACT,
        "The statistical utility of the rounds with Blahut and Arimoto is quite good.",
        "The abstract gives no number. Here are earth mover's distances from all check-ins, with intervals of 95 "
        f"% over seeds; of {len(cases)} cases whose rounds have the noise's epsilon, 2 b = {FIRST:g}, the two "
        "with the best and the worst last round compared with the first. " + " ".join(ends),
        quote="the statistical utility of BA is quite good",
    )


def _pairs(rows: Sequence[EstimateRow]) -> dict[tuple[str, float, str, str], tuple[Bracket, Bracket]]:
    """Return the distances with Blahut and Arimoto and with noise, of each case."""
    groups: dict[tuple[str, float, str, str], tuple[list[EstimateRow], list[EstimateRow]]] = {}
    for row in rows:
        pair = groups.setdefault((row.city, row.slope, row.steps, row.updates), ([], []))
        pair[row.mechanism == NOISE].append(row)
    return {case: (_mean(best), _mean(noise)) for case, (best, noise) in groups.items()}


def _estimates(rows: Sequence[EstimateRow], box: PublishedBox) -> PaperClaim:
    """Judge with the steps and updates of the authors' code, beyond the intervals over seeds.

    "High privacy levels" have no number. The claim holds if the estimate is better at the authors' least slope,
    and is not confirmed if it is worse at this slope and at all others: the authors' check-ins are other ones.
    """
    where = f"{_ABSTRACT}, {box.city}"
    says = f"In {box.city}, for strong guarantees, the distribution is estimated better than from Laplace noise."
    quote = "better than LAP for high privacy levels"
    if not rows:
        return unchecked(where, says, box.request, quote=quote)
    pairs = {
        (city, slope): pair
        for (city, slope, steps, updates), pair in _pairs(rows).items()
        if (steps, updates) == (str(STEPS), str(UPDATES))
    }
    words = (
        f"Earth mover's distance of the estimate from the truth at equal tight epsilon, with {STEPS} steps and "
        f"{UPDATES} updates as in the authors' code. "
        + " ".join(
            f"{city}, b {slope:g}: {_said(best)} with Blahut and Arimoto, {_said(noise)} with noise."
            for (city, slope), (best, noise) in pairs.items()
        )
    )
    strongest = [pair for (_, slope), pair in pairs.items() if slope == _STRONGEST]
    if strongest and all(best.upper < noise.lower for best, noise in strongest):
        return judged(where, says, True, words, quote=quote)
    if strongest and all(best.lower > noise.upper for best, noise in pairs.values()):
        return judged(where, says, False, words, quote=quote, on_other_data=True)
    return unchecked(
        where, says, f"{words} That decides nothing: the abstract does not say how high.", quote=quote
    )


def _estimates_at_best(rows: Sequence[EstimateRow]) -> PaperClaim:
    """State the comparison in all cities, with other steps and updates too."""
    pairs = _pairs(rows)
    better = sum(best.upper < noise.lower for best, noise in pairs.values())
    worse = sum(best.lower > noise.upper for best, noise in pairs.values())
    ends = sorted((best.value - noise.value, case) for case, (best, noise) in pairs.items())
    words = []
    for _, case in dict.fromkeys((ends[0], ends[-1])):
        city, slope, steps, updates = case
        best, noise = pairs[case]
        made = updates if updates == CONVERGED else f"{updates} updates"
        words.append(
            f"{city}, b {slope:g}, {_steps(steps)}, {made}: {_said(best)} off with Blahut and Arimoto, "
            f"{_said(noise)} with noise."
        )
    return ours(
        _ABSTRACT,
        "On all cities of the run, and for all slopes, steps and updates, the distribution is estimated better "
        "than from Laplace noise of equal tight epsilon.",
        better == len(pairs),
        f"It is better beyond the intervals in {better} of {len(pairs)} cases, and worse in {worse}. Where it is "
        f"best and worst compared with noise: {' '.join(words)}",
    )
