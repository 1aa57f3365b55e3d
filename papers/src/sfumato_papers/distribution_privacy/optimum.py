"""Tupling against the best mechanisms for two known groups: the best report, the best dummies, the best pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

import numpy as np
from scipy.stats import binom

from sfumato.core import Bracket, Mechanism, Prior, Space
from sfumato.core.arrays import Floats, Positions
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError
from sfumato.geo import Grid
from sfumato.leakage import bayes_vulnerability
from sfumato.mechanisms import Tupling, attack_success, mixture_dummies, quality_loss
from sfumato.optimal import design
from sfumato.privacy import DistributionPrivacy, Family
from sfumato.proofs import FamilyPrivacy
from sfumato.rounding import about, at_least, at_most, plural
from sfumato.transport import wasserstein

from ..reproduction import PaperClaim, RunTables, Tables, follows, remark
from ..results import distinct, where
from .groups import Groups
from .measurements import DELTA, EVERYWHERE, LAPLACE, MIXTURE, NONE, DistributionRow, noise

REPORT, REPORT_AMONG, PARTNER = "best report", "best report among best dummies", "partner dummy"
TRUTH: Final = "true cell"
_OPTIMUM: Final = "Tupling and the optimum"
_ROUNDING: Final = 1e-12
_EQUAL: Final = 1e-9
_EQUAL_SHARE: Final = 1e-14  # of two probabilities: a smaller difference is rounding
_LITTLE: Final = 0.51  # success of attackers who learn little
_FLOOR: Final = 1e-6  # of the best dummies: a share of the mixture makes every report possible


def best_report(groups: Groups, total_variation: float = 0.0) -> tuple[Mechanism, Bracket]:
    """Return the mechanism of least loss with one report, and proved bounds of this least loss in km.

    The total variation between the two distributions of its report is at most ``total_variation``. The lower bound
    holds for reports at any points of a metric space: it is the dual of a transport problem between the excess of
    each group over the other. Raises `InputError` if the total variation is negative, or the groups' distances
    break the triangle inequality. Groups within a total variation of 1e-12 count as equal.

    Source:
        docs/proofs/tupling.md, "The best report".
    """
    if not total_variation >= 0:
        raise InputError(f"the total variation is {total_variation}.", "use a number from 0 to 1.")
    if not groups.metric.triangle:
        raise InputError(
            "the distances of the groups break the triangle inequality.", "the bound needs it: use distances."
        )
    space, prior = groups.priors[0].space, groups.population
    excess, left, right = _excess(*groups.distributions)
    total = float(excess[left].sum())
    if total_variation >= total:
        return Mechanism(np.eye(len(space)), space, space), Bracket.exact(0.0)
    # Loss of a unit of excess per km: the report of a pair is at one of its ends.
    of_left, of_right = (prior.probabilities[side] / np.abs(excess[side]) for side in (left, right))
    cost = np.zeros((len(left) + 1, len(right) + 1))
    cost[:-1, :-1] = np.minimum(of_left[:, None], of_right) * groups.metric.array[np.ix_(left, right)]
    first, second = (np.append(np.abs(excess[side]), total_variation) for side in (left, right))
    transport = wasserstein(first / first.sum(), second / second.sum(), cost)
    scale = total + total_variation
    pairs = transport.coupling.joint[:-1, :-1] * scale
    is_moved = of_left[:, None] <= of_right  # the left end reports the right one
    matrix = np.zeros((len(space), len(space)))
    matrix[np.ix_(left, right)] = np.where(is_moved, pairs, 0.0) / excess[left][:, None]
    matrix[np.ix_(right, left)] = (np.where(is_moved, 0.0, pairs) / -excess[right]).T
    np.fill_diagonal(matrix, np.maximum(0.0, 1 - matrix.sum(axis=1)))
    mechanism = Mechanism(matrix / matrix.sum(axis=1, keepdims=True), space, space)
    lower = transport.distance.lower * scale * (1 - _ROUNDING) - _ROUNDING * float(cost.max())
    upper = mechanism.expected_loss(prior, groups.metric) * (1 + _ROUNDING)
    return mechanism, Bracket.of_bounds(max(0.0, lower), upper)


def partner_dummies(groups: Groups) -> Mechanism:
    """Return the mechanism that sends the true place and one dummy, and never reveals the group.

    A place where the first group is more frequent has partners where the second one is, and the other way round: a
    coupling of the two excesses. Pairs then have the same distribution in both groups. Of all couplings it is one
    from whose pairs the best attacker, who knows both groups, names the true place least often. Where both groups
    are equally frequent the true place is sent twice. Observables are pairs of labels, the place with an excess of
    the first group first.

    Source:
        docs/proofs/tupling.md, "The best tuple".
    """
    space, population = groups.priors[0].space, groups.population.probabilities
    excess, left, right = _excess(*groups.distributions)
    ends = np.repeat(np.flatnonzero(excess == 0)[:, None], 2, axis=1)
    shares = np.ones((len(ends), 2))
    if len(left):
        masses = np.abs(excess)
        weights = population[left] / masses[left], population[right] / masses[right]
        first, second = masses[left] / masses[left].sum(), masses[right] / masses[right].sum()
        joint = wasserstein(first, second, np.maximum(weights[0][:, None], weights[1])).coupling.joint
        rows, columns = np.nonzero(joint)
        ends = np.concatenate([ends, np.column_stack([left[rows], right[columns]])])
        flow = joint[rows, columns]
        shares = np.concatenate([shares, np.column_stack([flow / first[rows], flow / second[columns]])])
    matrix = np.zeros((len(space), len(ends)))
    for side in range(2):
        matrix[ends[:, side], np.arange(len(ends))] = shares[:, side]
    pairs = Space([(space.labels[i], space.labels[j]) for i, j in ends.tolist()])
    return Mechanism(matrix / matrix.sum(axis=1, keepdims=True), space, pairs)


def best_dummies(inner: Mechanism, groups: Groups, number: int) -> Prior:
    """Return the distribution of independent dummies with the least total variation between the tuples.

    A share of 1e-6 of the mixture makes every report possible; the distribution is the best one up to this share.
    `least_variation` has the least total variation. Raises `InputError` if the number of dummies is below 1.

    Source:
        docs/proofs/tupling.md, "The best independent dummies".
    """
    if number < 1:
        raise InputError(f"the number of dummies is {number}.", "use one or more.")
    mixture = mixture_dummies(inner, groups.distributions).probabilities
    excess, left, right = _excess(*inner.lift(groups.distributions))
    if not len(left) or not len(right):
        return Prior(inner.observables, mixture)
    share = (number + 1) // 2 / (number + 1)
    law = np.zeros(len(mixture))
    law[left] = share * excess[left] / excess[left].sum()
    law[right] = (1 - share) * excess[right] / excess[right].sum()
    law = (1 - _FLOOR) * law + _FLOOR * mixture
    return Prior(inner.observables, law / law.sum())


def least_variation(dummies: int) -> float:
    """Return the least total variation of a tuple, as a share of that of its true report, from below.

    The dummies are independent of the secret and of each other. With q = dummies + 1 and j = floor(q / 2) it is
    C(q, j) (j / q)**j (1 - j / q)**(q - j), about sqrt(2 / (pi q)).
    """
    queries = dummies + 1
    middle = queries // 2
    return float(binom.pmf(middle, queries, middle / queries)) * (1 - _ROUNDING) if dummies else 1.0


def _excess(first: Floats, second: Floats) -> tuple[Floats, Positions, Positions]:
    """Return first - second, array (n,), without rounding errors, and where it is positive and negative."""
    excess = np.where(np.abs(first - second) > _EQUAL_SHARE * (first + second), first - second, 0.0)
    if np.abs(excess).sum() < 2 * _ROUNDING:
        excess = np.zeros(len(excess))
    return excess, np.flatnonzero(excess > 0), np.flatnonzero(excess < 0)


@dataclass(frozen=True, slots=True, repr=False)
class OptimumRow(CompactRepr):
    """Loss of a mechanism and success of its attackers, who know both distributions."""

    groups: str
    mechanism: str
    dummies: int
    parameter: float  # slope per km of noise; of the best report, its total variation as a share of the groups'
    loss_km: Bracket  # to the best answer; from below for all mechanisms with one report where it is the best one
    group_success: Bracket  # share of right guesses between the two groups, with proved bounds
    cell_success: float | None  # share of right guesses of the true cell; None with random dummies: not computed


def compare(
    groups: Groups, city: Grid, slopes: Sequence[float], levels: Sequence[float], dummies: Sequence[int]
) -> Tables:
    """Return the best mechanisms with one report and with one dummy, and tupling, for two groups.

    Levels are total variations as shares of that of the groups.
    """
    rows = []

    def add(tupling: Tupling, name: str, parameter: float, least: float | None = None) -> None:
        loss = quality_loss(tupling, groups.population, groups.metric)
        success = attack_success(tupling, *groups.distributions)
        cell = None if tupling.dummies else bayes_vulnerability(tupling.inner, groups.population)
        bounds = Bracket.exact(loss) if least is None else Bracket(min(least, loss), loss, loss)
        rows.append(OptimumRow(groups.title, name, tupling.dummies, parameter, bounds, success, cell))

    for level in levels:
        report, least = best_report(groups, level * groups.total_variation)
        add(_alone(report), REPORT, level, least.lower)
        for k in dummies:
            add(Tupling(report, k, best_dummies(report, groups, k)), REPORT_AMONG, level)
    for slope in slopes:
        inner = noise(city, groups.metric, slope, EVERYWHERE)
        mixture = mixture_dummies(inner, groups.distributions)
        for k in (0, *dummies):
            add(Tupling(inner, k, mixture), LAPLACE, slope)
    pairs = partner_dummies(groups)
    success = attack_success(_alone(pairs), *groups.distributions)
    cell = bayes_vulnerability(pairs, groups.population)
    rows.append(OptimumRow(groups.title, PARTNER, 1, 0.0, Bracket.exact(0.0), success, cell))
    return {"optimum": rows}


@dataclass(frozen=True, slots=True, repr=False)
class LeastLossRow(CompactRepr):
    """The least loss of mechanisms with one report, at an epsilon and delta 0.001."""

    groups: str
    epsilon: float
    loss_km: Bracket  # from below for all mechanisms whose reports are cells


def design_reports(groups: Groups, epsilons: Sequence[float]) -> Tables:
    """Return the least loss of one report at each epsilon, with proved bounds."""
    family = Family(dict(zip(groups.names, groups.distributions, strict=True)))
    notion, rows = DistributionPrivacy(family, DELTA), []
    for epsilon in epsilons:
        report = design(groups.population, loss=groups.metric, guarantees=FamilyPrivacy(epsilon, notion))
        bounds = Bracket.of_bounds(min(report.certificate.bound, report.certificate.loss), report.certificate.loss)
        rows.append(LeastLossRow(groups.title, epsilon, bounds))
    return {"designs": rows}


@dataclass(frozen=True, slots=True, repr=False)
class TransferRow(CompactRepr):
    """Success of attackers who know the distributions of two halves of users, for mechanisms made from one."""

    groups: str
    seed: int
    mechanism: str
    dummies: int
    known_half: float  # share of right guesses of the group on the half that the mechanism is from, from above
    other_half: float  # on the other half, from above


def transfer(halves: tuple[Groups, Groups], seed: int, dummies: Sequence[int]) -> Tables:
    """Return the success of attackers on both halves, for mechanisms and dummies made from the first half."""
    known, _ = halves
    space = known.priors[0].space
    truth = Mechanism(np.eye(len(space)), space, space)
    mixture = mixture_dummies(truth, known.distributions)
    report, _ = best_report(known)
    cases = [(TRUTH, 0, _alone(truth)), (REPORT, 0, _alone(report)), (PARTNER, 1, _alone(partner_dummies(known)))]
    cases += [(TRUTH, k, Tupling(truth, k, mixture)) for k in dummies]
    rows = []
    for name, k, tupling in cases:
        success = [attack_success(tupling, *half.distributions).upper for half in halves]
        rows.append(TransferRow(known.title, seed, name, k, *success))
    return {"transfer": rows}


def _alone(mechanism: Mechanism) -> Tupling:
    """Return a mechanism as a tuple without dummies."""
    return Tupling(mechanism, 0, Prior.uniform(mechanism.observables))


def optimum_claims(tables: RunTables) -> list[PaperClaim]:
    """Return statements of ours on tupling and the best mechanisms, judged from the tables of a run."""
    rows = tables.rows("optimum", OptimumRow)
    sweep = tables.rows("distribution-privacy", DistributionRow)
    designs = _at_epsilon(tables.rows("designs", LeastLossRow), sweep)
    return [_pair(rows), _report(rows), designs, _other_users(tables.rows("transfer", TransferRow)), _person(rows)]


def _pair(rows: Sequence[OptimumRow]) -> PaperClaim:
    pairs = where(rows, mechanism=PARTNER)
    variation = max(2 * row.group_success.upper - 1 for row in pairs)
    (truth,) = where(rows, groups=rows[0].groups, mechanism=REPORT, parameter=1.0)
    among = where(rows, groups=rows[0].groups, mechanism=REPORT_AMONG, parameter=1.0)
    least = 2 * truth.group_success.lower - 1
    fewest = next(k for k in count() if least * least_variation(k) <= 2 * _LITTLE - 1)
    cases = ", ".join(
        f"{at_least(50 + 50 * least * share, 3)} to {at_most(100 * row.group_success.upper, 3)} % "
        f"({plural(row.dummies, 'dummy', 'dummies')})"
        for row, share in ((row, least_variation(row.dummies)) for row in among)
    )
    return follows(
        _OPTIMUM,
        "One dummy that depends on the true place hides two known groups completely, without loss; dummies that "
        "are independent of it do not.",
        variation < _EQUAL and all(row.loss_km.upper == 0 for row in pairs),
        f"Theorem. The total variation between the groups is at most {at_most(variation, 1)} for the pair, in "
        f"{len(pairs)} of {len(pairs)} cases. {truth.groups}, without loss: attackers name the right group in "
        f"{about(100 * truth.group_success.value, 3)} % of cases without dummies. The best independent dummies "
        f"leave {cases}. For {100 * _LITTLE:g} % at least {fewest:,} of them are needed.",
        is_ours=True,
    )


def _report(rows: Sequence[OptimumRow]) -> PaperClaim:
    alone, shares = where(rows, mechanism=LAPLACE, dummies=0), []
    for row in alone:
        best = sorted(where(rows, groups=row.groups, mechanism=REPORT), key=lambda case: case.loss_km.upper)
        # Between two of these mechanisms a coin chooses one of them.
        losses, successes = [case.loss_km.upper for case in best], [case.group_success.upper for case in best]
        shares.append(float(np.interp(row.loss_km.lower, losses, successes)))
    less = sum(share < row.group_success.lower for share, row in zip(shares, alone, strict=True))
    (hiding,) = where(rows, groups=rows[0].groups, mechanism=REPORT, parameter=0.0)
    cases = []
    for k in distinct(rows, "dummies"):
        noisy = where(rows, groups=hiding.groups, mechanism=LAPLACE, dummies=k)
        noisier = [row for row in noisy if row.loss_km.value >= hiding.loss_km.upper]
        if noisier:
            row = min(noisier, key=lambda case: case.loss_km.value)
            words = f"with {plural(k, 'mixture dummy', 'mixture dummies')}" if k else "without dummies"
            share, loss = about(100 * row.group_success.value, 3), about(row.loss_km.value, 3)
            cases.append(f"{words} {share} % at {loss} km")
    return follows(
        _OPTIMUM,
        "The best mechanism with one report leaves attackers no more success than planar Laplace noise of equal "
        "loss.",
        all(share <= row.group_success.upper + _EQUAL for share, row in zip(shares, alone, strict=True)),
        f"By proved bounds it leaves less in {less} of {len(alone)} cases. {hiding.groups}: one report with a "
        f"loss of {at_most(hiding.loss_km.upper, 3)} km hides the group completely; below "
        f"{at_least(hiding.loss_km.lower, 3)} km none does, at any places."
        + (f" Planar Laplace noise leaves {', '.join(cases)}." if cases else ""),
        is_ours=True,
    )


def _at_epsilon(rows: Sequence[LeastLossRow], sweep: Sequence[DistributionRow]) -> PaperClaim:
    alone = where(sweep, source=NONE)
    pairs = [
        (row, case)
        for row in rows
        for case in alone
        if case.groups == row.groups and case.epsilon.upper <= row.epsilon
    ]
    title = rows[0].groups
    numbers = [k for k in (0, 10, 100) if where(sweep, groups=title, dummies=k)]

    def least(k: int, epsilon: float) -> str:
        noisy = where(sweep, groups=title, mechanism=LAPLACE, dummies=k, source=MIXTURE if k else NONE)
        losses = [case.loss_km for case in noisy if case.epsilon.upper <= epsilon]
        return about(min(losses), 3) if losses else "none"

    cases = "; ".join(
        f"{at_most(row.loss_km.upper, 3)}, {', '.join(least(k, row.epsilon) for k in numbers)} at epsilon "
        f"{row.epsilon:g}"
        for row in where(rows, groups=title)
    )
    return follows(
        _OPTIMUM,
        "At equal epsilon and delta the best mechanism with one report loses no more than the paper's mechanisms "
        "without dummies.",
        all(row.loss_km.lower <= case.loss_km * (1 + _EQUAL) for row, case in pairs),
        f"By proved bounds it loses less in {sum(row.loss_km.upper < case.loss_km for row, case in pairs)} of "
        f"{len(pairs)} cases. {title}, loss in km of the best report, and of planar Laplace noise with "
        f"{', '.join(map(str, numbers))} mixture dummies, the least measured: {cases}.",
        is_ours=True,
    )


def _other_users(rows: Sequence[TransferRow]) -> PaperClaim:
    def mean(groups: str, mechanism: str, dummies: int) -> float:
        cases = where(rows, groups=groups, mechanism=mechanism, dummies=dummies)
        return float(np.mean([row.other_half for row in cases]))

    groups, most = distinct(rows, "groups"), max(row.dummies for row in rows)
    worse = sum(mean(name, PARTNER, 1) > mean(name, TRUTH, most) for name in groups)
    kinds = (
        ("without dummies", TRUTH, 0),
        ("for the best report that hides one half", REPORT, 0),
        ("for the pair", PARTNER, 1),
        *(
            (f"with {plural(k, 'mixture dummy', 'mixture dummies')}", TRUTH, k)
            for k in distinct(where(rows, mechanism=TRUTH), "dummies")
            if k
        ),
    )
    shares = ", ".join(f"{about(100 * mean(groups[0], name, k), 3)} % {words}" for words, name, k in kinds)
    return remark(
        _OPTIMUM,
        "The dummy that hides the groups of some users completely hides those of other users less than many "
        "independent dummies.",
        worse == len(groups),
        f"Made from half of the users, the pair leaves attackers who know the other half more success than "
        f"{most:,} mixture dummies, in {worse} of {len(groups)} cases. {groups[0]}: right guesses in {shares}.",
    )


def _person(rows: Sequence[OptimumRow]) -> PaperClaim:
    pairs = [(row, row.cell_success) for row in where(rows, mechanism=PARTNER) if row.cell_success is not None]
    shares = [share for _, share in pairs]
    return follows(
        _OPTIMUM,
        "The pair that hides the group shows the place of the person.",
        min(shares) >= 0.5,
        f"The true cell is one of two. The best attacker names it in {about(100 * min(shares), 3)} to "
        f"{about(100 * max(shares), 3)} % of cases, and with no other coupling of the excesses less often.",
        is_ours=True,
    )
