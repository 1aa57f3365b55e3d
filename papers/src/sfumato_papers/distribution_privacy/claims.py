"""The claims of the paper, and statements of ours about its subject, judged from the tables of a run."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import pairwise
from math import inf, isfinite
from typing import Final, NamedTuple, TypeVar

import numpy as np

from sfumato.core import Bracket
from sfumato.rounding import about, at_least, at_most, counted, percent, percent_at_most

from ..reproduction import PaperClaim, RunTables, follows, interval, judged, ours, unchecked
from .attackers import (
    CONFIDENCE,
    COVERAGE,
    FAILURE,
    SUCCESS,
    USERS,
    VISITS,
    ConfidenceRow,
    CoverageRow,
    SuccessRow,
)
from .counterexamples import COUNTEREXAMPLES, CounterexampleRow
from .distances import DISTANCES, GENERATORS, LINE, MAP, GeneratorRow, GroupDistanceRow
from .measurements import (
    LAPLACE,
    MANY,
    MIXTURE,
    NEIGHBOURS,
    NONE,
    PANELS,
    SWEEP,
    TUPLED,
    UNIFORM,
    DistributionRow,
    NeighbourRow,
)
from .statements import COMPOSITION, LIFTING, THEOREMS, StatementRow
from .tupling import BOUNDS, FEWEST, TUPLING, BoundRow, FewestRow, TuplingRow

_TURN: Final = -1e-6
_EQUAL: Final = 1e-9
_ROUNDED: Final = 1e-6  # of a divergence: where two laws are nearly equal, its sum cancels
_RESPONSE: Final = PANELS[3]
_LEVELS: Final = (4.0, 2.0, 1.0)
_Row = TypeVar("_Row")
_Step = tuple[TuplingRow, TuplingRow]


class _Tried(NamedTuple):
    """A statement that is tried on instances."""

    where: str
    keys: str  # of the rows that it holds on, or beginnings of keys
    says: str
    ours: bool = False
    more: str = ""  # a sentence about the result


_TRIED: Final = (
    _Tried(
        LIFTING,
        "dp-factor",
        "(epsilon, delta)-DP for Phi gives (epsilon, delta |Phi|)-DistP for the lifting of Phi.",
        more="The factor is not needed.",
    ),
    _Tried(
        LIFTING,
        "dp",
        "(epsilon, delta)-DP for Phi gives (epsilon, delta)-DistP for the lifting of Phi, without a factor.",
        ours=True,
    ),
    _Tried(LIFTING, "points", "DistP for the lifting of Phi gives DP for Phi.", ours=True),
    _Tried(LIFTING, "xdp", "(epsilon, d)-XDP gives XDistP for W_inf.", more="Deltas above 0 stay the same."),
    _Tried(
        LIFTING,
        "mean KL, mean reverse, mean total, mean chi, mean squared",
        "XDP for each f-divergence of Table I gives XDistP for W_1.",
    ),
    _Tried(
        LIFTING,
        "divergence KL, divergence reverse, divergence total, divergence chi, divergence squared",
        "DP for each f-divergence of Table I gives DistP for the lifting.",
    ),
    _Tried(LIFTING, "divergence Rényi", "DP for a Rényi divergence gives DistP for the lifting.", ours=True),
    _Tried("Section III", "pdistp", "(epsilon, delta)-PDistP gives (epsilon, delta)-DistP."),
    _Tried(
        "Section III-F",
        "beliefs",
        "Against beliefs that are wrong by one step on both sides 3 epsilon is enough.",
        more="With a delta above 0 it is delta (1 + e^epsilon + e^(2 epsilon)).",
    ),
    _Tried(
        COMPOSITION,
        "same-input",
        "Two reports about one secret, guaranteed for the lifting of Phi: epsilons and deltas add, deltas times "
        "|Phi|.",
        more="The factor is not needed.",
    ),
    _Tried(
        COMPOSITION,
        "same-input-metric",
        "Two reports about one secret, guaranteed for W_inf: epsilons add.",
        more="Deltas add without a factor.",
    ),
    _Tried(
        COMPOSITION,
        "independent",
        "Two reports about independent secrets, for any pairs: epsilons and deltas add.",
    ),
    _Tried(
        COMPOSITION,
        "independent-metric",
        "Two reports about independent secrets, guaranteed for W_inf: epsilons add.",
    ),
    _Tried(
        COMPOSITION,
        "sum KL, sum reverse, sum total, sum squared, sum Rényi",
        "Two reports about independent secrets: KL, reverse KL, total variation, Hellinger and Rényi divergences "
        "add.",
        ours=True,
    ),
    _Tried(COMPOSITION, "post", "Post-processing preserves DistP."),
    _Tried(
        COMPOSITION,
        "pre, pre-printed",
        "A c-stable transformation before the mechanism gives c epsilon, with delta times c e^((c - 1) epsilon).",
    ),
    _Tried(
        COMPOSITION,
        "pre",
        "A c-stable transformation gives c epsilon with the smaller delta (1 + e^epsilon + ... + e^((c - 1) "
        "epsilon)).",
        ours=True,
    ),
    _Tried(
        COMPOSITION,
        "pre-metric",
        "A transformation that stretches W_inf by at most c gives c epsilon, with the same delta.",
    ),
)


_FAILING: Final = (
    (LIFTING, "(epsilon, d)-XDP does not give XDistP for W_1.", "xdp-mean", "xdp-mean"),
    (
        LIFTING,
        "XDP for a Rényi divergence of order above 1 does not give XDistP for W_1.",
        "mean Renyi",
        "mean Rényi divergence of order 8",
    ),
    (
        COMPOSITION,
        "Two reports about one secret, guaranteed for a pair of distributions alone: epsilons do not add.",
        "same-input-pairs",
        "same-input-pairs",
    ),
    (
        COMPOSITION,
        "Two reports about one secret, guaranteed for liftings of two relations: epsilons do not add.",
        "two relations",
        "",
    ),
    (
        COMPOSITION,
        "Two reports about independent secrets: chi-square divergences do not add.",
        "sum chi-square",
        "sum chi-square divergence",
    ),
    (
        COMPOSITION,
        "Two reports about independent secrets: deltas at the same epsilon do not add.",
        "sum hockey-stick",
        "sum hockey-stick",
    ),
    (COMPOSITION, "Post-processing can break PDistP.", "post-pdistp", "post-pdistp"),
)
"""Statements that fail: place, sentence, key of the counterexample, and key of the rows that count it."""


def claims(tables: RunTables) -> list[PaperClaim]:
    """Return the judged claims of the paper, and statements of ours."""
    return [*theorem_claims(tables), *_tupling_claims(tables)]


def theorem_claims(tables: RunTables) -> list[PaperClaim]:
    """Return the claims of Tables I and III, sections III and V, and Figure 1."""
    rows = tables.rows(THEOREMS, StatementRow)
    fixed = {row.key: row for row in tables.rows(COUNTEREXAMPLES, CounterexampleRow)}
    return [
        _generators(tables.rows(GENERATORS, GeneratorRow)),
        _couplings(tables.rows(DISTANCES, GroupDistanceRow)),
        *(_tried(rows, each) for each in _TRIED),
        judged(
            "Section III",
            "(epsilon, delta)-DistP does not give (epsilon, delta)-PDistP.",
            fixed["pdistp-back"].refuted,
            _instance(rows, fixed["pdistp-back"], "pdistp-back"),
        ),
        judged("Section V", fixed["domain"].says, not fixed["domain"].refuted, fixed["domain"].instance),
        *(
            ours(where, says, fixed[key].refuted, _instance(rows, fixed[key], counting))
            for where, says, key, counting in _FAILING
        ),
    ]


def _generators(rows: Sequence[GeneratorRow]) -> PaperClaim:
    wrong = [
        row.generator
        for row in rows
        if row.at_one != 0 or row.least_turn < _TURN or not row.largest_difference < _ROUNDED
    ]
    far = max(row.largest_difference for row in rows)
    return judged(
        "Table I",
        "Each generator is convex with f(1) = 0, and the sum over f(p/q) is the divergence of its name.",
        not wrong,
        f"{len(rows)} generators, each on a grid of ratios and on {rows[0].pairs:,} random pairs: the sum and "
        f"another formula differ by at most {at_most(far, 2)} of the value."
        + (f" Not for {', '.join(wrong)}." if wrong else ""),
    )


def _couplings(rows: Sequence[GroupDistanceRow]) -> PaperClaim:
    line = [row for row in rows if row.where == LINE]
    flat = [row for row in rows if row.where == MAP]
    wrong = [row for row in line if row.north_west_km is None or row.north_west_km > row.upper_km * (1 + _EQUAL)]
    refused = [row for row in flat if row.north_west_km is None]
    apart = next(row for row in flat if row.order == 1)
    farthest = next(row for row in flat if row.groups == apart.groups and row.order > 2)
    return judged(
        "Section III, Figure 1",
        "On a line the north-west corner rule gives one coupling that is optimal for every order.",
        not wrong,
        f"Its cost is optimal in {len(line) - len(wrong)} of {len(line)} cases (orders 1, 2 and infinity). On the "
        f"map its precondition fails, and the package refuses it in {len(refused)} of {len(flat)} cases. There "
        f"the distance of {apart.groups} is {about(apart.upper_km, 3)} km (W_1) and "
        f"{about(farthest.upper_km, 3)} km (W_inf).",
    )


def _matching(rows: Sequence[StatementRow], keys: Sequence[str]) -> list[StatementRow]:
    """Return the rows with one of these keys; a key that no row has is a beginning of keys."""
    exact = {row.key for row in rows}
    return [
        row for row in rows if any(row.key == key if key in exact else row.key.startswith(key) for key in keys)
    ]


def _tried(rows: Sequence[StatementRow], each: _Tried) -> PaperClaim:
    matching = _matching(rows, each.keys.split(", "))
    tried, broken = sum(row.tried for row in matching), [row for row in matching if row.violations]
    found = f"No violation in {counted(tried, 'instance')}"
    if broken:
        first = broken[0]
        found = (
            f"Violated on {sum(row.violations for row in broken)} of {tried} instances, such as {first.shown}: "
            f"{about(first.value or 0.0, 4)} against {about(first.bound or 0.0, 4)}"
        )
    if ratios := [row.largest_ratio for row in matching if row.largest_ratio is not None]:
        found += f"; at most {at_most(max(ratios), 4)} of the bound"
    found += f". {each.more}" if each.more and not broken else "."
    return (ours if each.ours else judged)(each.where, each.says, not broken, found)


def _instance(rows: Sequence[StatementRow], fixed: CounterexampleRow, key: str) -> str:
    allowed = "0" if fixed.bound < _EQUAL else about(fixed.bound, 4)
    found = f"{fixed.instance} Value {about(fixed.value, 4)}, allowed {allowed}."
    matching = _matching(rows, (key,)) if key else []
    tried, broken = sum(row.tried for row in matching), sum(row.violations for row in matching)
    return found + (f" Also on {broken:,} of {tried:,} other instances." if matching else "")


def _tupling_claims(tables: RunTables) -> list[PaperClaim]:
    """Return the claims of tupling and of the experiments."""
    rows = tables.rows(SWEEP, DistributionRow)
    (eta,) = (row for row in tables.rows(COUNTEREXAMPLES, CounterexampleRow) if row.key == "tupling eta")
    return [
        *_bound(tables.rows(BOUNDS, BoundRow), eta),
        *_dummies(rows),
        *_numbers(tables.rows(TUPLING, TuplingRow)),
        _dominates(rows, tables.rows(MANY, DistributionRow)),
        _response(rows),
        _each_user(rows),
        _triangle(tables.rows(FEWEST, FewestRow)),
        *_success(tables.rows(SUCCESS, SuccessRow)),
        _person(tables.rows(NEIGHBOURS, NeighbourRow)),
        *_confidence(tables.rows(CONFIDENCE, ConfidenceRow), tables.rows(COVERAGE, CoverageRow)),
        unchecked("Figure 1", "The coupling that is drawn.", "We do not have its values."),
        unchecked(
            "Section VI and the appendix",
            "The plotted values for Manhattan, London, Tokyo and Paris.",
            "We have neither the numbers nor check-ins of these cities with attributes of people; "
            "examples/home_area.py makes them from the public raw files.",
        ),
    ]


def _bound(rows: Sequence[BoundRow], eta: CounterexampleRow) -> list[PaperClaim]:
    stated = [(row, row.published) for row in rows if row.published is not None]
    both = [(row, bound, row.epsilon_upper) for row, bound in stated if row.epsilon_upper is not None]
    found = f"Vacuous in {len(rows) - len(stated)} of {len(rows)} cases: no alpha gives delta 0.001."
    if both:
        loose = [bound / (exact or inf) for _, bound, exact in both]
        last, bound, exact = both[-1]
        found += (
            f" Elsewhere its epsilon is {about(min(loose), 2)} to {about(max(loose), 3)} times the exact one: "
            f"{about(bound, 3)} instead of {about(exact, 3)} for {last.instance} among {last.dummies:,} dummies."
        )
    return [
        judged(
            "Tupling theorem (recalled, not read)",
            "With uniform dummies and reports of probability at most beta, epsilon and delta are bounded for "
            "each alpha.",
            all((row.epsilon_lower or 0.0) <= bound for row, bound, _ in both),
            found,
        ),
        ours(
            "Tupling theorem (recalled, not read)",
            "If eta is the share of observables of probability above beta, delta can be above 2 exp(-2 alpha^2 "
            "/ (k beta^2)) + eta.",
            eta.refuted,
            f"{eta.instance} The true delta is {about(eta.value, 4)}, the stated one {about(eta.bound, 4)}. We "
            "have not read how the paper defines eta.",
        ),
    ]


def _grouped(rows: Iterable[_Row], key: Callable[[_Row], Hashable]) -> list[list[_Row]]:
    by: dict[Hashable, list[_Row]] = {}
    for row in rows:
        by.setdefault(key(row), []).append(row)
    return list(by.values())


def _dummies(rows: Sequence[DistributionRow]) -> list[PaperClaim]:
    drawn = (row for row in rows if row.source in (NONE, UNIFORM, MIXTURE))
    steps: list[tuple[DistributionRow, DistributionRow]] = []
    for same in _grouped(drawn, lambda row: (row.groups, row.mechanism, row.parameter)):
        alone = [row for row in same if row.source == NONE][-1:]
        for chain in _grouped((row for row in same if row.dummies), lambda row: row.source) if alone else ():
            steps += pairwise([*alone, *sorted(chain, key=lambda row: row.dummies)])
    rises = sum(more.epsilon.lower > fewer.epsilon.upper for fewer, more in steps)
    farther = sum(more.loss_km > fewer.loss_km * (1 + 1e-12) for fewer, more in steps)
    theorems = (
        ("Epsilon", rises, "one more dummy is post-processing"),
        ("The loss", farther, "the best of more answers is no farther away"),
    )
    return [
        follows(
            "Experiments",
            f"{what} falls with the number of dummies.",
            not wrong,
            f"It rises in {wrong:,} of {len(steps):,} steps. Theorem: {theorem}.",
        )
        for what, wrong, theorem in theorems
    ]


def _numbers(rows: Sequence[TuplingRow]) -> list[PaperClaim]:
    def series(varied: str, key: Callable[[TuplingRow], float]) -> tuple[list[TuplingRow], list[_Step]]:
        sources = _grouped((row for row in rows if row.varied == varied), lambda row: row.source)
        lines = [sorted(line, key=key) for line in sources]
        (mixture,) = (line for line in lines if line[0].source == MIXTURE)
        return mixture, [step for line in lines for step in pairwise(line)]

    radius, wider = series("r", lambda row: row.radius_km)
    slope, louder = series("epsilon_A", lambda row: row.slope_per_km)
    up = sum(b.epsilon.lower > a.epsilon.upper for a, b in wider)
    down = sum(b.epsilon.upper < a.epsilon.lower for a, b in louder)
    (few, most), (quiet, loud) = (radius[0], radius[-1]), (slope[0], slope[-1])
    return [
        judged(
            "Experiments",
            "A larger radius of restricted Laplace noise lowers epsilon.",
            not up,
            f"It rises in {up} of {len(wider)} steps. At 1/km among 10 dummies of the mixture it is "
            f"{about(few.epsilon.upper, 3)} within {few.radius_km:g} km and {about(most.epsilon.upper, 3)} with "
            f"noise everywhere; the loss is {about(few.loss_km, 3)} and {about(most.loss_km, 3)} km.",
        ),
        judged(
            "Experiments",
            "A larger epsilon of the noise raises epsilon.",
            not down,
            f"It falls in {down} of {len(louder)} steps. Within 2 km among 10 dummies of the mixture it is "
            f"{about(quiet.epsilon.upper, 3)} at {quiet.slope_per_km:g}/km and {about(loud.epsilon.upper, 3)} at "
            f"{loud.slope_per_km:g}/km.",
        ),
    ]


def _dominates(rows: Sequence[DistributionRow], many: Sequence[DistributionRow]) -> PaperClaim:
    """Judge that dummies over restricted Laplace noise need less epsilon at the loss of each mechanism alone."""
    alone = [
        row
        for row in rows
        if row.source == NONE
        and row.mechanism in (LAPLACE, _RESPONSE, TUPLED)
        and row.epsilon.lower > 0
        and isfinite(row.epsilon.upper)
    ]
    where = "Abstract; experiments"
    says = (
        "At equal loss tupling over restricted Laplace noise needs less epsilon than restricted Laplace, planar "
        "Laplace and randomised response."
    )
    quote = (
        "the tupling mechanism outperforms popular local mechanisms in terms of attribute obfuscation and "
        "service quality"
    )
    if not alone:
        return unchecked(where, says, "No mechanism without dummies needs an epsilon above 0.", quote=quote)
    few = [row for row in rows if (row.mechanism, row.source) == (TUPLED, MIXTURE)]
    least = [[_least_epsilon(tuples, row) for row in alone] for tuples in (few, [*few, *many])]
    shares = np.array(least) / [row.epsilon.lower for row in alone]
    less = (shares < 1).sum(axis=1)
    closest = int(np.argmax(shares[1]))
    row = alone[closest]
    found = (
        f"By proved bounds it needs less in {less[0]} of {len(alone)} cases with up to "
        f"{max(each.dummies for each in few):,} mixture dummies (median: {about(float(np.median(shares[0])), 2)} "
        f"times as much), and in {less[1]} with up to {max(each.dummies for each in many):,}. The closest case is "
        f"then {row.mechanism} at {about(row.parameter, 3)}, loss {about(row.loss_km, 3)} km ({row.groups}): "
        f"epsilon at least {at_least(row.epsilon.lower, 3)}, against at most {at_most(least[1][closest], 3)}."
    )
    if less[1] < len(alone):
        return unchecked(where, says, f"{found} More dummies need less, and were not tried.", quote=quote)
    return judged(where, says, True, found, quote=quote)


def _least_epsilon(tuples: Sequence[DistributionRow], row: DistributionRow) -> float:
    """Return the least proved epsilon of tuples for the groups of a row, within its loss."""
    fitting = [each for each in tuples if each.groups == row.groups and each.loss_km <= row.loss_km]
    return min((each.epsilon.upper for each in fitting), default=inf)


def _response(rows: Sequence[DistributionRow]) -> PaperClaim:
    """Compare the least loss of each line without dummies at epsilons of at most each level."""
    alone = [row for row in rows if row.source == NONE and row.groups == rows[0].groups]
    levels = []
    for level in _LEVELS:
        reached = _grouped((row for row in alone if row.epsilon.upper <= level), lambda row: row.mechanism)
        least = {line[0].mechanism: min(row.loss_km for row in line) for line in reached}
        response, others = least.pop(_RESPONSE, None), least.values()
        if response is not None and others:
            levels.append(
                f"at epsilon {level:g} it loses {about(response, 3)} km, the others {about(min(others), 3)} to "
                f"{about(max(others), 3)} km"
            )
    return unchecked(
        "Experiments",
        "Randomised response loses by far the most.",
        "We know no number of the paper. Here, without dummies, "
        f"{'; '.join(levels) or 'no level is reached by it and by others'} ({rows[0].groups}).",
    )


def _each_user(rows: Sequence[DistributionRow]) -> PaperClaim:
    gains = [row.least_gain for row in rows if row.dummies]
    better = sum(gain >= -1e-9 for gain in gains)
    laplace = [row.least_gain for row in rows if (row.mechanism, row.source) == (LAPLACE, MIXTURE)]
    return follows(
        "Experiments",
        "Dummies improve each user's expected loss.",
        better == len(gains),
        f"No place loses in {better:,} of {len(gains):,} rows. With mixture dummies over planar Laplace noise the "
        f"place that gains least gains {percent(min(laplace))} to {percent(max(laplace))}.",
    )


def _triangle(rows: Sequence[FewestRow]) -> PaperClaim:
    known = [row for row in rows if row.dummies is not None]
    lines = [
        sorted(line, key=lambda row: -row.epsilon_asked) for line in _grouped(known, lambda row: row.slope_per_km)
    ]
    steps = [step for line in lines for step in pairwise(line)]
    wrong = any(
        (b.dummies or 0) < (a.dummies or 0) or (b.loss_km or 0) > (a.loss_km or 0) + 1e-9 for a, b in steps
    )
    first = min(known, key=lambda row: (row.epsilon_asked, row.slope_per_km))
    last = max(known, key=lambda row: (-row.epsilon_asked, row.slope_per_km))
    return judged(
        "Experiments",
        "Privacy, loss and the number of dummies can be traded for one another.",
        not wrong,
        f"Epsilon {first.epsilon_asked:g} needs {first.dummies:,} dummies over noise of "
        f"{first.slope_per_km:g}/km (loss {about(first.loss_km or 0.0, 3)} km), or {last.dummies:,} over noise of "
        f"{last.slope_per_km:g}/km ({about(last.loss_km or 0.0, 3)} km). One dummy fewer is proved too few in "
        f"{sum(row.proved_fewest for row in known)} of {len(known)} cases; {len(rows) - len(known)} of "
        f"{len(rows)} need more than 20,000.",
    )


def _success(rows: Sequence[SuccessRow]) -> list[PaperClaim]:
    groups, loud, most = rows[0].groups, max(row.slope_per_km for row in rows), max(row.dummies for row in rows)

    def share(column: str, dummies: int) -> Bracket:
        wanted = (groups, loud, dummies)
        same = [row for row in rows if (row.groups, row.slope_per_km, row.dummies) == wanted]
        return interval([getattr(row, column) for row in same])

    cases = _grouped(rows, lambda row: (row.groups, row.dummies, row.slope_per_km))
    short = sum(
        interval([row.judged_on for row in case]).upper < interval([row.learned_from for row in case]).lower
        for case in cases
    )
    best = {k: share("at_most", k) for k in (0, most)}
    others = {k: _shares(share("judged_on", k)) for k in (0, most)}
    return [
        ours(
            "Attack success rate",
            "Dummies lower the success of an attacker who knows both distributions.",
            best[most].value < best[0].value,
            f"{groups}, noise of {loud:g}/km: they are right in {_shares(best[0])} without dummies and in "
            f"{_shares(best[most])} among {most}. After learning from half of the users they are right about the "
            f"others in {others[0]} and {others[most]}. A random guess is right in 50 %.",
        ),
        ours(
            "Attack success rate",
            "In more than half of the cases attackers have less success on users they did not learn from.",
            2 * short > len(cases),
            f"The intervals of 95 % are apart in {short} of {len(cases)} cases (groups, noise, dummies). "
            f"{groups} without dummies at {loud:g}/km: {_shares(share('learned_from', 0))} on known users and "
            f"{others[0]} on others. With so few people the difference is partly chance.",
        ),
    ]


def _shares(share: Bracket) -> str:
    value, lower, upper = (about(100 * end, 3) for end in (share.value, share.lower, share.upper))
    return f"{value} % ({lower} to {upper} %)"


def _person(rows: Sequence[NeighbourRow]) -> PaperClaim:
    loud = max(row.slope_per_km for row in rows)
    none, *_, most = sorted((row for row in rows if row.slope_per_km == loud), key=lambda row: row.dummies)
    return ours(
        "Experiments",
        "Dummies lower epsilon for the groups by a larger factor than for two neighbouring cells.",
        most.of_groups * none.of_cells < most.of_cells * none.of_groups,
        f"Over planar Laplace noise of {none.slope_per_km:g}/km, {most.dummies} dummies of the mixture lower "
        f"epsilon for the groups from {about(none.of_groups, 4)} to {about(most.of_groups, 4)}, and for two "
        f"neighbouring cells from {about(none.of_cells, 4)} to {about(most.of_cells, 4)}.",
    )


def _confidence(rows: Sequence[ConfidenceRow], coverage: Sequence[CoverageRow]) -> list[PaperClaim]:
    draws, beyond = sum(row.draws for row in coverage), sum(row.beyond for row in coverage)
    enough, checked = sum(row.truth_kept for row in coverage), sum(row.checked for row in coverage)
    loud = max(row.slope_per_km for row in rows)
    known = next(row for row in rows if row.unit == VISITS and row.slope_per_km == loud)
    people = [row for row in rows if row.unit == USERS and row.slope_per_km == loud]
    sizes = [min(row.first, row.second) for row in people]
    found = (
        f"{known.groups}, planar Laplace noise of {loud:g}/km: epsilon {about(known.estimated, 3)} for the "
        f"estimates, {at_most(known.anyone, 3)} for any distributions."
    )
    for place in dict.fromkeys(sizes.index(end(sizes)) for end in (min, max) if sizes):
        row = people[place]
        found += (
            f" {row.groups} with {row.first:,} and {row.second:,} users as samples of {row.cells} cells: total "
            f"variation {at_most(row.radius, 3)}, epsilon {at_most(row.epsilon_upper, 3)} instead of "
            f"{about(row.estimated, 3)}."
        )
    return [
        ours(
            "Section III-F, with samples",
            f"With {percent(1 - FAILURE)} confidence both true distributions are within the stated total "
            "variation, and the epsilon of the worst beliefs within it is enough for them.",
            beyond <= FAILURE * draws and enough >= (1 - FAILURE) * checked,
            f"In {draws:,} draws the distribution is beyond it in {percent_at_most(beyond / draws)}; the epsilon "
            f"is enough in {enough} of {checked} draws. Proved for independent samples; the radius is "
            "conservative.",
        ),
        ours(
            "Section III-F, with samples",
            f"The bound on epsilon that holds for the true distributions with {percent(1 - FAILURE)} confidence "
            "is larger than the epsilon of the counted distributions.",
            bool(people) and all(row.epsilon_upper > row.estimated for row in people),
            found + " Visits of one user depend on each other, so the samples are users.",
        ),
    ]
