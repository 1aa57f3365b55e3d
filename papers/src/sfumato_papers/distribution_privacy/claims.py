"""The claims of the paper, and statements of ours about its subject, judged from the tables of a run."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import pairwise
from math import inf, isfinite
from operator import attrgetter
from typing import Final, TypeVar

import numpy as np

from sfumato.core import Bracket
from sfumato.rounding import about, at_least, at_most, percent, percent_at_most, plural

from ..reproduction import PaperClaim, RunTables, abstain, follows, illustrates, interval, judge, remark
from ..results import where
from .attackers import FAILURE, USERS, VISITS, ConfidenceRow, CoverageRow, SuccessRow
from .counterexamples import CounterexampleRow
from .distances import LINE, MAP, GeneratorRow, GroupDistanceRow
from .measurements import (
    LAPLACE,
    MIXTURE,
    NONE,
    RESPONSE,
    TUPLED,
    UNIFORM,
    BoundRow,
    DistributionRow,
    FewestRow,
    NeighbourRow,
    TuplingRow,
)
from .optimum import optimum_claims
from .statements import STATEMENTS, StatementRow

_TURN: Final = -1e-6
_EQUAL: Final = 1e-9
_ROUNDED: Final = 1e-6  # of a divergence: where two laws are nearly equal, its sum cancels
_LEVELS: Final = (4.0, 2.0, 1.0)
_EXPERIMENTS: Final = "Experiments"
_THEOREM: Final = "Tupling theorem (recalled, not read)"
_ATTACK: Final = "Attack success rate"
_SAMPLES: Final = "Section III-F, with samples"
_Row = TypeVar("_Row")


def claims(tables: RunTables) -> list[PaperClaim]:
    """Return the judged claims of the paper, and statements of ours."""
    rows = tables.rows("distribution-privacy", DistributionRow)
    (eta,) = where(tables.rows("counterexamples", CounterexampleRow), key="tupling eta")
    return [
        *theorem_claims(tables),
        _bound(tables.rows("bounds", BoundRow)),
        remark(
            _THEOREM,
            "If eta is the share of observables of probability above beta, delta can be above 2 exp(-2 alpha^2 "
            "/ (k beta^2)) + eta.",
            eta.refuted,
            f"{eta.instance} The true delta is {about(eta.value, 4)}, the stated one {about(eta.bound, 4)}. We "
            "have not read how the paper defines eta.",
        ),
        *_dummies(rows),
        *_numbers(tables.rows("tupling", TuplingRow)),
        _dominates(rows, tables.rows("many-dummies", DistributionRow)),
        _response(rows),
        _each_user(rows),
        _triangle(tables.rows("fewest", FewestRow)),
        *_success(tables.rows("success", SuccessRow)),
        _person(tables.rows("neighbours", NeighbourRow)),
        *_confidence(tables.rows("confidence", ConfidenceRow), tables.rows("coverage", CoverageRow)),
        *optimum_claims(tables),
        abstain(
            "Figure 1, section VI and the appendix",
            "The drawn coupling, and the plotted values for Manhattan, London, Tokyo and Paris.",
            "We have neither the numbers nor check-ins of these cities with attributes of people; "
            "examples/home_area.py makes them from the public raw files.",
        ),
    ]


def theorem_claims(tables: RunTables) -> list[PaperClaim]:
    """Return the claims of Tables I and III, sections III and V, and Figure 1."""
    rows = tables.rows("theorems", StatementRow)
    examples = {row.key: row for row in tables.rows("counterexamples", CounterexampleRow)}
    paper_claims = [
        _generators(tables.rows("generators", GeneratorRow)),
        _couplings(tables.rows("distances", GroupDistanceRow)),
    ]
    for key, statement in STATEMENTS.items():
        to_claim, trials = remark if statement.is_ours else judge, where(rows, key=key)
        result = _instance(trials, examples[key]) if key in examples else _judge_trials(trials, statement.more)
        paper_claims.append(to_claim(statement.where, statement.says, *result))
    domain = examples["domain"]
    says = "A mechanism with delta above 0 is of no use where the domain is large."
    return [*paper_claims, judge("Section V", says, not domain.refuted, domain.instance)]


def _generators(rows: Sequence[GeneratorRow]) -> PaperClaim:
    wrong = [
        row.generator
        for row in rows
        if row.at_one != 0 or row.least_turn < _TURN or not row.largest_difference < _ROUNDED
    ]
    far = max(row.largest_difference for row in rows)
    return judge(
        "Table I",
        "Each generator is convex with f(1) = 0, and the sum over f(p/q) is the divergence of its name.",
        not wrong,
        f"{len(rows)} generators, each on a grid of ratios and on {rows[0].pairs:,} random pairs: the sum and "
        f"another formula differ by at most {at_most(far, 2)} of the value."
        + (f" Not for {', '.join(wrong)}." if wrong else ""),
    )


def _couplings(rows: Sequence[GroupDistanceRow]) -> PaperClaim:
    line, flat = where(rows, where=LINE), where(rows, where=MAP)
    costs = ((row.north_west_km, row.upper_km) for row in line)
    optimal = sum(cost is not None and cost <= least * (1 + _EQUAL) for cost, least in costs)
    apart = where(flat, order=1)[0]
    farthest = where(flat, groups=apart.groups, order=inf)[0]
    return judge(
        "Section III, Figure 1",
        "On a line the north-west corner rule gives one coupling that is optimal for every order.",
        optimal == len(line),
        f"Its cost is optimal in {optimal} of {len(line)} cases (orders 1, 2 and infinity). On the map its "
        f"precondition fails, and the package refuses it in {len(where(flat, north_west_km=None))} of {len(flat)} "
        f"cases. There the distance of {apart.groups} is {about(apart.upper_km, 3)} km (W_1) and "
        f"{about(farthest.upper_km, 3)} km (W_inf).",
    )


def _judge_trials(rows: Sequence[StatementRow], more: str) -> tuple[bool, str]:
    """Return whether a statement holds on all instances, and the evidence."""
    total, failures = sum(row.tried for row in rows), [row for row in rows if row.violations]
    if failures:
        first = failures[0]
        return False, (
            f"Violated on {sum(row.violations for row in failures)} of {total} instances, such as {first.shown}: "
            f"{about(first.value, 4)} against {about(first.bound, 4)}."
        )
    ratio = max((row.largest_ratio for row in rows if row.largest_ratio is not None), default=None)
    tight = "" if ratio is None else f"; at most {at_most(ratio, 4)} of the bound"
    return True, f"No violation in {plural(total, 'instance')}{tight}.{more and f' {more}'}"


def _instance(rows: Sequence[StatementRow], example: CounterexampleRow) -> tuple[bool, str]:
    """Return whether a counterexample refutes, and the evidence."""
    allowed = "0" if example.bound < _EQUAL else about(example.bound, 4)
    total, violations = sum(row.tried for row in rows), sum(row.violations for row in rows)
    note = f" Also on {violations:,} of {total:,} other instances." if rows else ""
    return example.refuted, f"{example.instance} Value {about(example.value, 4)}, allowed {allowed}.{note}"


def _bound(rows: Sequence[BoundRow]) -> PaperClaim:
    bounds = [(row, row.published) for row in rows if row.published is not None]
    both = [(row, bound, row.epsilon.upper) for row, bound in bounds if isfinite(row.epsilon.upper)]
    evidence = f"Vacuous in {len(rows) - len(bounds)} of {len(rows)} cases: no alpha gives delta 0.001."
    if both:
        loose = [bound / (exact or inf) for _, bound, exact in both]
        last, bound, exact = both[-1]
        evidence += (
            f" Elsewhere its epsilon is {about(min(loose), 2)} to {about(max(loose), 3)} times the exact one: "
            f"{about(bound, 3)} instead of {about(exact, 3)} for {last.instance} among {last.dummies:,} dummies."
        )
    return judge(
        _THEOREM,
        "With uniform dummies and reports of probability at most beta, epsilon and delta are bounded for each "
        "alpha.",
        all(row.epsilon.lower <= bound for row, bound in bounds),
        evidence,
    )


def _group_by(rows: Iterable[_Row], key: Callable[[_Row], Hashable]) -> list[list[_Row]]:
    by: dict[Hashable, list[_Row]] = {}
    for row in rows:
        by.setdefault(key(row), []).append(row)
    return list(by.values())


def _dummies(rows: Sequence[DistributionRow]) -> list[PaperClaim]:
    random_rows = (row for row in rows if row.source in (NONE, UNIFORM, MIXTURE))
    steps: list[tuple[DistributionRow, DistributionRow]] = []
    for same in _group_by(random_rows, lambda row: (row.groups, row.mechanism, row.parameter)):
        if alone := where(same, source=NONE)[-1:]:
            for chain in _group_by((row for row in same if row.dummies), lambda row: row.source):
                steps += pairwise([*alone, *sorted(chain, key=lambda row: row.dummies)])
    rises = sum(more.epsilon.lower > fewer.epsilon.upper for fewer, more in steps)
    farther = sum(more.loss_km > fewer.loss_km * (1 + 1e-12) for fewer, more in steps)
    return [
        follows(
            _EXPERIMENTS,
            f"{subject} falls with the number of dummies.",
            not wrong,
            f"It rises in {wrong:,} of {len(steps):,} steps. Theorem: {theorem}.",
        )
        for subject, wrong, theorem in (
            ("Epsilon", rises, "one more dummy is post-processing"),
            ("The loss", farther, "the best of more answers is no farther away"),
        )
    ]


def _numbers(rows: Sequence[TuplingRow]) -> list[PaperClaim]:
    def lines(varied: str, field: str) -> tuple[list[tuple[Bracket, Bracket]], TuplingRow, TuplingRow]:
        """Return the steps of epsilon for both sources, and the ends of the line of the mixture."""
        sources = (where(rows, varied=varied, source=source) for source in (UNIFORM, MIXTURE))
        uniform, mixture = (sorted(line, key=attrgetter(field)) for line in sources)
        steps = [(a.epsilon, b.epsilon) for line in (uniform, mixture) for a, b in pairwise(line)]
        return steps, mixture[0], mixture[-1]

    wider, few, most = lines("r", "radius_km")
    louder, quiet, loud = lines("epsilon_A", "slope_per_km")
    up = sum(after.lower > before.upper for before, after in wider)
    down = sum(after.upper < before.lower for before, after in louder)
    return [
        judge(
            _EXPERIMENTS,
            "A larger radius of restricted Laplace noise lowers epsilon.",
            not up,
            f"It rises in {up} of {len(wider)} steps. At 1/km among 10 dummies of the mixture it is "
            f"{about(few.epsilon.upper, 3)} within {few.radius_km:g} km and {about(most.epsilon.upper, 3)} with "
            f"noise everywhere; the loss is {about(few.loss_km, 3)} and {about(most.loss_km, 3)} km.",
        ),
        judge(
            _EXPERIMENTS,
            "A larger epsilon of the noise raises epsilon.",
            not down,
            f"It falls in {down} of {len(louder)} steps. Within 2 km among 10 dummies of the mixture it is "
            f"{about(quiet.epsilon.upper, 3)} at {quiet.slope_per_km:g}/km and {about(loud.epsilon.upper, 3)} at "
            f"{loud.slope_per_km:g}/km.",
        ),
    ]


def _dominates(rows: Sequence[DistributionRow], many: Sequence[DistributionRow]) -> PaperClaim:
    """Judge that dummies over restricted Laplace noise need less epsilon at the loss of each mechanism alone."""
    place = "Abstract; experiments"
    says = (
        "At equal loss tupling over restricted Laplace noise needs less epsilon than restricted Laplace, planar "
        "Laplace and randomised response."
    )
    quote = (
        "the tupling mechanism outperforms popular local mechanisms in terms of attribute obfuscation and "
        "service quality"
    )
    alone = [
        row
        for name in (LAPLACE, RESPONSE, TUPLED)
        for row in where(rows, source=NONE, mechanism=name)
        if row.epsilon.lower > 0 and isfinite(row.epsilon.upper)
    ]
    if not alone:
        return abstain(place, says, "No mechanism without dummies needs an epsilon above 0.", quote=quote)
    few = where(rows, mechanism=TUPLED, source=MIXTURE)
    least = [[_least_epsilon(tuples, row) for row in alone] for tuples in (few, [*few, *many])]
    shares = np.array(least) / [row.epsilon.lower for row in alone]
    less = (shares < 1).sum(axis=1)
    closest = int(np.argmax(shares[1]))
    row = alone[closest]
    evidence = (
        f"By proved bounds it needs less in {less[0]} of {len(alone)} cases with up to "
        f"{max(row.dummies for row in few):,} mixture dummies (median: {about(float(np.median(shares[0])), 2)} "
        f"times as much), and in {less[1]} with up to {max(row.dummies for row in many):,}. The closest case is "
        f"then {row.mechanism} at {about(row.parameter, 3)}, loss {about(row.loss_km, 3)} km ({row.groups}): "
        f"epsilon at least {at_least(row.epsilon.lower, 3)}, against at most {at_most(least[1][closest], 3)}."
    )
    if less[1] < len(alone):
        evidence += " More dummies need less, and were not tried."
    return illustrates(place, says, less[1] == len(alone), evidence, quote=quote)


def _least_epsilon(tuples: Sequence[DistributionRow], row: DistributionRow) -> float:
    """Return the least proved epsilon of tuples for the groups of a row, within its loss."""
    fitting = [case for case in tuples if case.groups == row.groups and case.loss_km <= row.loss_km]
    return min((case.epsilon.upper for case in fitting), default=inf)


def _response(rows: Sequence[DistributionRow]) -> PaperClaim:
    """Compare the least loss of each line without dummies at epsilons of at most each level."""
    alone = where(rows, source=NONE, groups=rows[0].groups)
    levels = []
    for level in _LEVELS:
        lines = _group_by((row for row in alone if row.epsilon.upper <= level), lambda row: row.mechanism)
        least = {line[0].mechanism: min(row.loss_km for row in line) for line in lines}
        response, losses = least.pop(RESPONSE, None), least.values()
        if response is not None and losses:
            levels.append(
                f"at epsilon {level:g} it loses {about(response, 3)} km, the others {about(min(losses), 3)} to "
                f"{about(max(losses), 3)} km"
            )
    return abstain(
        _EXPERIMENTS,
        "Randomised response loses by far the most.",
        "We know no number of the paper. Here, without dummies, "
        f"{'; '.join(levels) or 'no level is reached by it and by others'} ({rows[0].groups}).",
    )


def _each_user(rows: Sequence[DistributionRow]) -> PaperClaim:
    gains = [row.least_gain for row in rows if row.dummies]
    better = sum(gain >= -1e-9 for gain in gains)
    laplace = [row.least_gain for row in where(rows, mechanism=LAPLACE, source=MIXTURE)]
    return follows(
        _EXPERIMENTS,
        "Dummies improve each user's expected loss.",
        better == len(gains),
        f"No place loses in {better:,} of {len(gains):,} rows. With mixture dummies over planar Laplace noise the "
        f"place that gains least gains {percent(min(laplace))} to {percent(max(laplace))}.",
    )


def _triangle(rows: Sequence[FewestRow]) -> PaperClaim:
    known = [
        (row, row.dummies, row.loss_km) for row in rows if row.dummies is not None and row.loss_km is not None
    ]
    lines = _group_by(known, lambda case: case[0].slope_per_km)
    steps = [step for line in lines for step in pairwise(sorted(line, key=lambda case: -case[0].epsilon_asked))]
    least = min(row.epsilon_asked for row, *_ in known)
    cases = sorted((row.slope_per_km, dummies, loss) for row, dummies, loss in known if row.epsilon_asked == least)
    (quiet, first, far), (loud, last, near) = cases[0], cases[-1]
    return judge(
        _EXPERIMENTS,
        "Privacy, loss and the number of dummies can be traded for one another.",
        all(more >= fewer and closer <= loss + 1e-9 for (_, fewer, loss), (_, more, closer) in steps),
        f"Epsilon {least:g} needs {first:,} dummies over noise of {quiet:g}/km (loss {about(far, 3)} km), or "
        f"{last:,} over noise of {loud:g}/km ({about(near, 3)} km). One dummy fewer is proved too few in "
        f"{sum(row.proved_fewest for row, *_ in known)} of {len(known)} cases; {len(rows) - len(known)} of "
        f"{len(rows)} need more than 20,000.",
    )


def _success(rows: Sequence[SuccessRow]) -> list[PaperClaim]:
    groups, loud, most = rows[0].groups, max(row.slope_per_km for row in rows), max(row.dummies for row in rows)

    def share(field: str, dummies: int) -> Bracket:
        same = where(rows, groups=groups, slope_per_km=loud, dummies=dummies)
        return interval([getattr(row, field) for row in same])

    cases = _group_by(rows, lambda row: (row.groups, row.dummies, row.slope_per_km))
    short = sum(
        interval([row.judged_on for row in case]).upper < interval([row.learned_from for row in case]).lower
        for case in cases
    )
    best = {k: share("at_most", k) for k in (0, most)}
    transfer = {k: _shares(share("judged_on", k)) for k in (0, most)}
    return [
        remark(
            _ATTACK,
            "Dummies lower the success of an attacker who knows both distributions.",
            best[most].value < best[0].value,
            f"{groups}, noise of {loud:g}/km: they are right in {_shares(best[0])} without dummies and in "
            f"{_shares(best[most])} among {most}. After learning from half of the users they are right about the "
            f"others in {transfer[0]} and {transfer[most]}. A random guess is right in 50 %.",
        ),
        remark(
            _ATTACK,
            "In more than half of the cases attackers have less success on users they did not learn from.",
            2 * short > len(cases),
            f"The intervals of 95 % are apart in {short} of {len(cases)} cases (groups, noise, dummies). "
            f"{groups} without dummies at {loud:g}/km: {_shares(share('learned_from', 0))} on known users and "
            f"{transfer[0]} on others. With so few people the difference is partly chance.",
        ),
    ]


def _shares(share: Bracket) -> str:
    value, lower, upper = (about(100 * end, 3) for end in (share.value, share.lower, share.upper))
    return f"{value} % ({lower} to {upper} %)"


def _person(rows: Sequence[NeighbourRow]) -> PaperClaim:
    loud = max(row.slope_per_km for row in rows)
    none, *_, most = sorted(where(rows, slope_per_km=loud), key=lambda row: row.dummies)
    return remark(
        _EXPERIMENTS,
        "Dummies lower epsilon for the groups by a larger factor than for two neighbouring cells.",
        most.of_groups * none.of_cells < most.of_cells * none.of_groups,
        f"Over planar Laplace noise of {none.slope_per_km:g}/km, {most.dummies} dummies of the mixture lower "
        f"epsilon for the groups from {about(none.of_groups, 4)} to {about(most.of_groups, 4)}, and for two "
        f"neighbouring cells from {about(none.of_cells, 4)} to {about(most.of_cells, 4)}.",
    )


def _confidence(rows: Sequence[ConfidenceRow], coverage: Sequence[CoverageRow]) -> list[PaperClaim]:
    counts = ((row.draws, row.beyond, row.truth_kept, row.checked) for row in coverage)
    draws, beyond, enough, checked = (sum(column) for column in zip(*counts, strict=True))
    known, people = where(rows, unit=VISITS)[0], where(rows, unit=USERS)
    sizes = [min(row.first, row.second) for row in people]
    evidence = (
        f"{known.groups}, planar Laplace noise of {known.slope_per_km:g}/km: epsilon {about(known.estimated, 3)} "
        f"for the estimates, {at_most(known.anyone, 3)} for any distributions."
    )
    for place in dict.fromkeys(sizes.index(end(sizes)) for end in (min, max) if sizes):
        row = people[place]
        evidence += (
            f" {row.groups} with {row.first:,} and {row.second:,} users as samples of {row.cells} cells: total "
            f"variation {at_most(row.radius, 3)}, epsilon {at_most(row.epsilon_upper, 3)} instead of "
            f"{about(row.estimated, 3)}."
        )
    return [
        remark(
            _SAMPLES,
            f"With {percent(1 - FAILURE)} confidence both true distributions are within the stated total "
            "variation, and the epsilon of the worst beliefs within it is enough for them.",
            beyond <= FAILURE * draws and enough >= (1 - FAILURE) * checked,
            f"In {draws:,} draws the distribution is beyond it in {percent_at_most(beyond / draws)}; the epsilon "
            f"is enough in {enough} of {checked} draws. Proved for independent samples; the radius is "
            "conservative.",
        ),
        remark(
            _SAMPLES,
            f"The bound on epsilon that holds for the true distributions with {percent(1 - FAILURE)} confidence "
            "is larger than the epsilon of the counted distributions.",
            bool(people) and all(row.epsilon_upper > row.estimated for row in people),
            evidence + " Visits of one user depend on each other, so the samples are users.",
        ),
    ]
