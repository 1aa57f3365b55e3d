"""Claims of the tupling mechanism and of the experiments, judged from the tables of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import inf, isfinite
from typing import Final

import numpy as np

from sfumato.core import Bracket
from sfumato.rounding import about, at_least, at_most, percent, percent_at_most

from ..reproduction import PaperClaim, RunTables, follows, interval, judged, ours, unchecked
from .confidence import CONFIDENCE, COVERAGE, FAILURE, USERS, VISITS, ConfidenceRow, CoverageRow
from .counterexamples import COUNTEREXAMPLES, CounterexampleRow
from .lines import LAPLACE, PANELS, TUPLED
from .real import MANY, NEIGHBOURS, SWEEP, NeighbourRow
from .rows import NONE, DistributionRow
from .success import SUCCESS, SuccessRow
from .tupled import BOUNDS, FEWEST, TUPLING, BoundRow, FewestRow, TuplingRow

_RESPONSE: Final = PANELS[3]
_LEVELS: Final = (4.0, 2.0, 1.0)


def tupling_claims(tables: RunTables) -> list[PaperClaim]:
    """Return the claims of tupling and of the experiments."""
    rows = tables.rows(SWEEP, DistributionRow)
    return [
        *_bound(tables.rows(BOUNDS, BoundRow), tables.rows(COUNTEREXAMPLES, CounterexampleRow)),
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


def _bound(rows: Sequence[BoundRow], fixed: Sequence[CounterexampleRow]) -> list[PaperClaim]:
    both = [row for row in rows if row.published is not None and row.epsilon_upper is not None]
    broken = [row for row in both if (row.epsilon_lower or 0.0) > (row.published or 0.0)]
    vacuous = [row for row in rows if row.published is None]
    found = f"Vacuous in {len(vacuous)} of {len(rows)} cases: no alpha gives delta 0.001."
    if both:
        loose = [(row.published or 0.0) / (row.epsilon_upper or inf) for row in both]
        last = both[-1]
        found += (
            f" Elsewhere its epsilon is {about(min(loose), 2)} to {about(max(loose), 3)} times the exact one: "
            f"{about(last.published or 0.0, 3)} instead of {about(last.epsilon_upper or 0.0, 3)} for "
            f"{last.instance} among {last.dummies:,} dummies."
        )
    (eta,) = (row for row in fixed if row.key == "tupling eta")
    return [
        judged(
            "Tupling theorem (recalled, not read)",
            "With uniform dummies and reports of probability at most beta, epsilon and delta are bounded for "
            "each alpha.",
            not broken,
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


def _chains(rows: Sequence[DistributionRow]) -> list[list[DistributionRow]]:
    """Return rows of the same mechanism and source of dummies, by their number; none is the first."""
    by: dict[tuple[str, str, float, str], list[DistributionRow]] = {}
    for row in rows:
        if row.source in ("uniform", "mixture"):
            by.setdefault((row.groups, row.mechanism, row.parameter, row.source), []).append(row)
    alone = {(row.groups, row.mechanism, row.parameter): row for row in rows if row.source == NONE}
    return [
        [alone[key[:3]], *sorted(chain, key=lambda row: row.dummies)]
        for key, chain in by.items()
        if key[:3] in alone
    ]


def _dummies(rows: Sequence[DistributionRow]) -> list[PaperClaim]:
    steps = [step for chain in _chains(rows) for step in pairwise(chain)]
    rises = [more for fewer, more in steps if more.epsilon.lower > fewer.epsilon.upper]
    farther = [more for fewer, more in steps if more.loss_km > fewer.loss_km * (1 + 1e-12)]
    return [
        follows(
            "Experiments",
            "Epsilon falls with the number of dummies.",
            not rises,
            f"It rises in {len(rises):,} of {len(steps):,} steps. Theorem: one more dummy is post-processing.",
        ),
        follows(
            "Experiments",
            "The loss falls with the number of dummies.",
            not farther,
            f"It rises in {len(farther):,} of {len(steps):,} steps. Theorem: the best of more answers is no "
            "farther away.",
        ),
    ]


def _numbers(rows: Sequence[TuplingRow]) -> list[PaperClaim]:
    radius = _series(rows, "r", lambda row: row.radius_km)
    slope = _series(rows, "epsilon_A", lambda row: row.slope_per_km)
    wider = [step for own in radius for step in pairwise(own)]
    louder = [step for own in slope for step in pairwise(own)]
    up = [b for a, b in wider if b.epsilon.lower > a.epsilon.upper]
    down = [b for a, b in louder if b.epsilon.upper < a.epsilon.lower]
    mixture = [row for own in radius for row in own if row.source == "mixture"]
    few, most = mixture[0], mixture[-1]
    quiet = [row for own in slope for row in own if row.source == "mixture"]
    said = f"{about(few.epsilon.upper, 3)} within {few.radius_km:g} km"
    return [
        judged(
            "Experiments",
            "A larger radius of restricted Laplace noise lowers epsilon.",
            not up,
            f"It rises in {len(up)} of {len(wider)} steps. At 1/km among 10 dummies of the mixture it is {said} "
            f"and {about(most.epsilon.upper, 3)} with noise everywhere; the loss is {about(few.loss_km, 3)} and "
            f"{about(most.loss_km, 3)} km.",
        ),
        judged(
            "Experiments",
            "A larger epsilon of the noise raises epsilon.",
            not down,
            f"It falls in {len(down)} of {len(louder)} steps. Within 2 km among 10 dummies of the mixture it is "
            f"{about(quiet[0].epsilon.upper, 3)} at {quiet[0].slope_per_km:g}/km and "
            f"{about(quiet[-1].epsilon.upper, 3)} at {quiet[-1].slope_per_km:g}/km.",
        ),
    ]


def _series(rows: Sequence[TuplingRow], varied: str, key: Callable[[TuplingRow], float]) -> list[list[TuplingRow]]:
    sources = dict.fromkeys(row.source for row in rows)
    return [
        sorted((row for row in rows if row.varied == varied and row.source == source), key=key)
        for source in sources
    ]


def _dominates(rows: Sequence[DistributionRow], many: Sequence[DistributionRow]) -> PaperClaim:
    """At the loss of each mechanism without dummies, dummies over restricted Laplace noise need less epsilon."""
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
    few = [row for row in rows if (row.mechanism, row.source) == (TUPLED, "mixture")]
    least = [[_least_epsilon(some, row) for row in alone] for some in (few, [*few, *many])]
    shares = [[e / row.epsilon.lower for e, row in zip(some, alone, strict=True)] for some in least]
    if not alone:
        return unchecked(where, says, "No mechanism without dummies needs an epsilon above 0.", quote=quote)
    less = [sum(share < 1 for share in some) for some in shares]
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
    """The least loss of each line without dummies at epsilons of at most each level."""
    alone = [row for row in rows if row.source == NONE and row.groups == rows[0].groups]
    found = []
    for level in _LEVELS:
        least: dict[str, float] = {}
        for row in alone:
            if row.epsilon.upper <= level:
                least[row.mechanism] = min(row.loss_km, least.get(row.mechanism, inf))
        others = [loss for name, loss in least.items() if name != _RESPONSE]
        if _RESPONSE in least and others:
            found.append(
                f"at epsilon {level:g} it loses {about(least[_RESPONSE], 3)} km, the others "
                f"{about(min(others), 3)} to {about(max(others), 3)} km"
            )
    return unchecked(
        "Experiments",
        "Randomised response loses by far the most.",
        "We know no number of the paper. Here, without dummies, "
        f"{'; '.join(found) or 'no level is reached by it and by others'} ({rows[0].groups}).",
    )


def _each_user(rows: Sequence[DistributionRow]) -> PaperClaim:
    tuples = [row for row in rows if row.dummies]
    worse = [row for row in tuples if row.least_gain < -1e-9]
    gains = [row.least_gain for row in tuples if row.mechanism == LAPLACE and row.source == "mixture"]
    return follows(
        "Experiments",
        "Dummies improve each user's expected loss.",
        not worse,
        f"No place loses in {len(tuples) - len(worse):,} of {len(tuples):,} rows. With mixture dummies over "
        f"planar Laplace noise the place that gains least gains {percent(min(gains))} to {percent(max(gains))}.",
    )


def _triangle(rows: Sequence[FewestRow]) -> PaperClaim:
    known = [row for row in rows if row.dummies is not None]
    by: dict[float, list[FewestRow]] = {}
    for row in known:
        by.setdefault(row.slope_per_km, []).append(row)
    steps = [step for own in by.values() for step in pairwise(sorted(own, key=lambda row: -row.epsilon_asked))]
    wrong = [
        b for a, b in steps if (b.dummies or 0) < (a.dummies or 0) or (b.loss_km or 0) > (a.loss_km or 0) + 1e-9
    ]
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
    groups = rows[0].groups
    louder = max(row.slope_per_km for row in rows)
    most = max(row.dummies for row in rows)
    by = {
        k: [row for row in rows if (row.groups, row.slope_per_km, row.dummies) == (groups, louder, k)]
        for k in (0, most)
    }
    known, judged_on, best = (
        {k: interval([getattr(row, column) for row in own]) for k, own in by.items()}
        for column in ("learned_from", "judged_on", "at_most")
    )
    by_case: dict[tuple[str, int, float], list[SuccessRow]] = {}
    for row in rows:
        by_case.setdefault((row.groups, row.dummies, row.slope_per_km), []).append(row)
    cases = list(by_case.values())
    short = [
        own
        for own in cases
        if interval([row.judged_on for row in own]).upper < interval([row.learned_from for row in own]).lower
    ]
    return [
        ours(
            "Attack success rate",
            "Dummies lower the success of an attacker who knows both distributions.",
            best[most].value < best[0].value,
            f"{groups}, noise of {louder:g}/km: they are right in {_shares(best[0])} without dummies and in "
            f"{_shares(best[most])} among {most}. After learning from half of the users they are right about the "
            f"others in {_shares(judged_on[0])} and {_shares(judged_on[most])}. A random guess is right in 50 %.",
        ),
        ours(
            "Attack success rate",
            "In more than half of the cases attackers have less success on users they did not learn from.",
            2 * len(short) > len(cases),
            f"The intervals of 95 % are apart in {len(short)} of {len(cases)} cases (groups, noise, dummies). "
            f"{groups} without dummies at {louder:g}/km: {_shares(known[0])} on known users and "
            f"{_shares(judged_on[0])} on others. With so few people the difference is partly chance.",
        ),
    ]


def _shares(found: Bracket) -> str:
    ends = f"{about(100 * found.lower, 3)} to {about(100 * found.upper, 3)} %"
    return f"{about(100 * found.value, 3)} % ({ends})"


def _person(rows: Sequence[NeighbourRow]) -> PaperClaim:
    loud = [row for row in rows if row.slope_per_km == max(each.slope_per_km for each in rows)]
    none, most = (pick(loud, key=lambda row: row.dummies) for pick in (min, max))
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
    kept, checked = sum(row.truth_kept for row in coverage), sum(row.checked for row in coverage)
    loud = max(row.slope_per_km for row in rows)
    people = [row for row in rows if row.unit == USERS and row.slope_per_km == loud]
    more = max(people, key=lambda row: min(row.first, row.second), default=None)
    fewest = min(people, key=lambda row: min(row.first, row.second), default=None)
    known = next(row for row in rows if row.unit == VISITS and row.slope_per_km == loud)
    found = (
        f"{known.groups}, planar Laplace noise of {loud:g}/km: epsilon {about(known.estimated, 3)} for the "
        f"estimates, {at_most(known.anyone, 3)} for any distributions."
    )
    for row in dict.fromkeys(row.groups for row in (fewest, more) if row is not None):
        own = next(each for each in people if each.groups == row)
        found += (
            f" {own.groups} with {own.first:,} and {own.second:,} users as samples of {own.cells} cells: total "
            f"variation {at_most(own.radius, 3)}, epsilon {at_most(own.epsilon_upper, 3)} instead of "
            f"{about(own.estimated, 3)}."
        )
    return [
        ours(
            "Section III-F, with samples",
            f"With {percent(1 - FAILURE)} confidence both true distributions are within the stated total "
            "variation, and the epsilon of the worst beliefs within it is enough for them.",
            beyond <= FAILURE * draws and kept >= (1 - FAILURE) * checked,
            f"In {draws:,} draws the distribution is beyond it in {percent_at_most(beyond / draws)}; the epsilon "
            f"is enough in {kept} of {checked} draws. Proved for independent samples; the radius is conservative.",
        ),
        ours(
            "Section III-F, with samples",
            f"The bound on epsilon that holds for the true distributions with {percent(1 - FAILURE)} confidence "
            "is larger than the epsilon of the counted distributions.",
            bool(people) and all(row.epsilon_upper > row.estimated for row in people),
            found + " Visits of one user depend on each other, so the samples are users.",
        ),
    ]
