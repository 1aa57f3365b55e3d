"""Comparison of mechanisms on one prior, at equal epsilon or at equal loss, with the certified optimum."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from ..attacks import blind as without_report
from ..attacks import optimal
from ..core import AnyLoss, Bracket, Mechanism, Metric, MetricPrivacy, Prior, Space, units
from ..core import loss as loss_between
from ..core.arguments import check_arguments, random_generator
from ..core.bracket import bisect, geometric_mean
from ..errors import InfeasibleError, InputError, SfumatoError, SolverError, argument, python
from ..files import MechanismFile
from ..geo import DISTANCES, Lattice, Places
from ..leakage import bayes_error, conditional_entropy_bits, mutual_information_bits, prior_vulnerability
from ..mechanisms import (
    PlanarGaussian,
    check_dummies,
    coin_of_distortion,
    elastic_metric,
    exponential,
    geometric,
    match_loss,
    planar_geometric,
    quality_loss_of_secrets,
    randomised_response,
    rate_distortion,
    remap_mechanism,
    restricted_laplace,
    tight_constraints,
)
from ..mechanisms.tupling import Tupling, mixture_dummies
from ..optimal import Design, design
from ..proofs import expected_loss_above, prove_metric_privacy, worst_loss_above
from ..rounding import gap_at_most
from ..sampling import simulator
from .engine import NOT_REACHED, Clock, Contestant, check_common, check_loss, check_time, epsilons_of, run
from .prior_results import DRAWS, OPTIMUM, PriorComparison, PriorRow

COIN: Final = "coin"
_PART_OF_OPTIMUM: Final = 3.0  # of the time; all others have a part of 1 together
_DIGITS: Final = 1e-3  # relative, of an epsilon or a loss that is searched for
_DESIGNS: Final = 24  # made in search of an epsilon, at most
_ROUNDING: Final = 1e-9  # of the loss of a tuple, a sum of powers in floating point
_BLOCK: Final = 1 << 21  # entries of likelihoods at a time
_ELASTIC: Final = 0.1  # the share of people and area that the elastic metric hides everyone among
REACH: Final = 3.0  # of restricted Laplace noise, in units of its scale 1 / epsilon


@check_arguments
def compare_priors(
    prior: Prior,
    metric: Metric,
    *,
    epsilon: float | str | Sequence[float | str] | None = None,
    max_loss: float | str | None = None,
    loss: Metric | None = None,
    families: Sequence[ParametricFamily] | None = None,
    remap: bool = True,
    gap: float = 1e-4,
    dummies: int = 0,
    files: Mapping[str, MechanismFile] | None = None,
    time_limit: float = float("inf"),
    progress: Callable[[str], None] | None = None,
    emit: Callable[[PriorRow], None] | None = None,
) -> PriorComparison:
    """Compare mechanisms at equal epsilon, or at equal expected loss.

    At equal epsilon each family that guarantees metric privacy is represented by its loosest member whose proved
    epsilon is at most that. At equal loss every family is represented by the member with that loss, and the
    optimum is the mechanism of the least epsilon that loses no more. Raises `InputError` if not exactly one of
    epsilon and max_loss is given, sizes differ, or dummies are asked for at equal loss. Raises `InfeasibleError`
    if the loss is that of always reporting the same value, or more. Raises `UnitError` if a unit does not fit.

    Args:
        prior: The prior on the n secrets.
        metric: The metric on them for privacy.
        epsilon: Per unit of the metric; a number or text such as ``"0.6/km"``, or several.
        max_loss: The expected loss of all, instead of epsilon; such as ``"500 m"``.
        loss: The metric for loss and errors; by default that for privacy.
        families: The families; by default those that fit (`default_families`).
        remap: Whether each family is also compared followed by the optimal remap.
        gap: The relative gap of the certified optimum.
        dummies: At equal epsilon: each mechanism is also compared with every report among this many dummies. The
            loss is then that of the best answer, epsilon is proved for one report and so holds for the tuple, and
            the attacker's columns are estimated.
        files: Mechanisms to compare with, by the name of their row: each with the epsilon that is proved of it, in
            the table of every value. Their secrets are those of the prior.
        time_limit: Seconds for everything, checked between mechanisms; most are for the optimum, which is then the
            best so far. What there is no time for is named.
        progress: Called with the name of each mechanism before it is made.
        emit: Called with each row when it is there.

    Source:
        The measures are those of Oya, Troncoso and Pérez-González, CCS 2017.
    """
    check_common(epsilon, max_loss)
    if isinstance(prior.space, Lattice):
        raise InputError(
            "the secrets are vertices of a lattice: comparing them says nothing of the points they stand for.",
            python("use sf.compare(visits, epsilon=...)."),
        )
    costs = metric if loss is None else loss
    for distances in (metric, costs):
        if len(prior) != len(distances):
            raise InputError(
                f"the prior is on {len(prior)} values, the metric on {len(distances)}.",
                "use a metric on the same values.",
            )
    check_dummies(dummies)
    if dummies and max_loss is not None:
        raise InputError(
            "dummies were asked for at equal loss.", "compare at equal epsilon: dummies do not change that."
        )
    if not time_limit > 0:
        raise InputError(
            f"a time limit of {time_limit:g} seconds is not positive.", f"use {argument('time_limit', 120)}."
        )
    blind = without_report(prior, costs).error
    if epsilon is not None:
        equal = "epsilon"
        values = tuple(dict.fromkeys(MetricPrivacy(rate, metric).epsilon for rate in epsilons_of(epsilon)))
    else:
        equal = "loss"
        values = (units.parse(max_loss if max_loss is not None else 0.0, unit=costs.unit, subject="the loss"),)
        check_loss(values[0], costs.unit, Bracket.exact(blind))
    for name, file in (files or {}).items():
        if not file.has_matrix:
            raise InputError(f"{name} is noise for coordinates, which is not on cells.", "compare it for points.")
        secrets = file.report_channel.secrets
        if secrets != prior.space:
            raise InputError(
                f"{name} is for {secrets!r}, but the prior is on {prior.space!r}.",
                "compare it on its own secrets.",
            )
    forms = default_families(prior, metric) if families is None else families
    if remap:
        forms = [form for family in forms for form in (family, family.with_remap(prior, costs))]
    task = _Task(prior, metric, costs, gap, dummies, equal)
    contestants = [*task.files(files or {}), *task.contestants(forms)]
    rows = run(contestants, values, time_limit, progress, emit)
    hit_rate = prior_vulnerability(prior)
    return PriorComparison(
        tuple(rows), equal, values, costs.unit, metric.unit, blind, hit_rate, files=tuple(files or ())
    )


class _Case(NamedTuple):
    """A row with its mechanism, and the loss of the mechanism's observables."""

    row: PriorRow
    mechanism: Mechanism
    loss: AnyLoss


_Maker = Callable[[float, Clock], _Case]


@dataclass(frozen=True, slots=True)
class _Task:
    """Prior, metric, loss and options of a comparison, which make the mechanisms."""

    prior: Prior
    metric: Metric
    loss: Metric
    gap: float
    dummies: int
    equal: str

    def contestants(self, families: Sequence[ParametricFamily]) -> list[Contestant[PriorRow]]:
        """Return the optimum and the families; at equal epsilon those that guarantee one."""
        makers: list[tuple[str, _Maker]]
        if self.equal == "epsilon":
            makers = [(family.name, partial(self._calibrate, family)) for family in families if family.promises]
            best: _Maker = self._optimum
        else:
            makers = [(COIN, self._coin), *((family.name, partial(self._member, family)) for family in families)]
            best = self._least_epsilon
        part = 1 / max(1, len(makers))
        return [
            Contestant(name, share, partial(self._rows, make), partial(self._failure, name))
            for name, make, share in ((OPTIMUM, best, _PART_OF_OPTIMUM), *((*maker, part) for maker in makers))
        ]

    def files(self, files: Mapping[str, MechanismFile]) -> list[Contestant[PriorRow]]:
        return [
            Contestant(name, 1 / len(files), partial(self._file_rows, name, file), partial(self._failure, name))
            for name, file in files.items()
        ]

    def _file_rows(self, name: str, file: MechanismFile, value: float, clock: Clock) -> Iterator[PriorRow]:
        check_time(clock.total())
        mechanism, loss = file.report_channel, self.loss
        costs: AnyLoss = loss
        secrets, reports = mechanism.secrets, mechanism.observables
        if reports != secrets:
            if isinstance(secrets, Places) and loss.name in DISTANCES:  # on the plane of the cells
                reports = Space(reports.labels, secrets.on_plane(reports), secrets.unit, secrets.crs)
            costs = loss_between(secrets, reports, loss.name, loss.unit)
        row = measure(name, None, mechanism, self.prior, self.metric, loss, costs)
        if file.tupling is not None:
            row = replace(row_of_tuples(row, file.tupling, self.prior, loss, costs), name=name)
        yield self._label_row(row, value)

    def _rows(self, make: _Maker, value: float, clock: Clock) -> Iterator[PriorRow]:
        check_time(clock.total())
        case = make(value, clock)
        yield self._label_row(case.row, value)
        if self.dummies and clock.total():
            row = row_of_tuples(
                case.row, with_dummies(case.mechanism, self.dummies), self.prior, self.loss, case.loss
            )
            yield self._label_row(row, value)

    def _failure(self, name: str, value: float, error: SfumatoError, clock: Clock) -> PriorRow:
        late = isinstance(error, SolverError) and not clock.total()
        infeasible = name != OPTIMUM and isinstance(error, InfeasibleError)
        row = PriorRow.of_problem(name, NOT_REACHED if late else error.problem, infeasible=infeasible)
        return self._label_row(row, value)

    def _label_row(self, row: PriorRow, value: float) -> PriorRow:
        return replace(row, epsilon=value) if self.equal == "epsilon" else row

    def _optimum(self, epsilon: float, clock: Clock) -> _Case:
        return self._of_design(self._make_design(epsilon, clock.left(), tie_break=None))

    def _calibrate(self, family: ParametricFamily, epsilon: float, _: Clock) -> _Case:
        parameter, mechanism = calibrate(family, self.metric, epsilon)
        return self._measure(family.name, parameter, mechanism, epsilon)

    def _coin(self, limit: float, _: Clock) -> _Case:
        return self._measure(COIN, None, coin_of_distortion(self.prior, self.loss, limit))

    def _member(self, family: ParametricFamily, limit: float, _: Clock) -> _Case:
        """Return the member with a loss, searched in the widest bracket in which the family exists."""
        reach = self._scale / limit if limit > 0 else 1.0
        bracket = [reach, reach]
        for end, factor, most in ((0, 0.5, 5), (1, 2.0, 9)):
            for _tries in range(most):
                try:
                    family.build(bracket[end] * factor)
                except SfumatoError:
                    break
                bracket[end] *= factor
        member = match_loss(
            family.build, self.prior, self.loss, limit, (bracket[0], bracket[1]), tolerance=_DIGITS
        )
        return self._measure(family.name, member.parameter, member.mechanism, member.parameter)

    def _measure(self, name: str, parameter: float | None, mechanism: Mechanism, claimed: float = 1.0) -> _Case:
        row = measure(name, parameter, mechanism, self.prior, self.metric, self.loss, self.loss, claimed)
        return _Case(row, mechanism, self.loss)

    def _of_design(self, best: Design) -> _Case:
        return _Case(optimum_row(best, self.prior, self.metric, self.loss), best.mechanism, best.loss)

    @property
    def _scale(self) -> float:
        """The largest loss over the largest distance."""
        farthest = float(self.metric.array.max())
        return float(self.loss.array.max()) / farthest if farthest > 0 else 1.0

    def _make_design(self, epsilon: float, seconds: float, *, tie_break: bool | None) -> Design:
        return design(
            self.prior,
            loss=self.loss,
            guarantees=[MetricPrivacy(epsilon, self.metric)],
            gap=self.gap,
            tie_break=tie_break,
            time_limit=check_time(seconds),
        )

    def _least_epsilon(self, max_loss: float, clock: Clock) -> _Case:
        """Return the certified design of the least epsilon whose loss is at most a limit."""
        if not max_loss > 0:
            raise InputError(f"a loss of {max_loss:g} leaves no noise.", "allow a positive loss.")
        best: Design | None = None

        def affordable(epsilon: float) -> bool:
            nonlocal best
            candidate = self._make_design(epsilon, clock.left(), tie_break=False)
            if candidate.certificate.loss > max_loss:
                return False
            best = candidate
            return True

        def close(low: float, high: float) -> bool:
            near = best is not None and best.certificate.loss >= max_loss * (1 - _DIGITS)
            return near or high / low < 1 + _DIGITS or not clock.left()

        low, high = 0.05 * self._scale / max_loss, 2 * self._scale / max_loss
        for steps in reversed(range(_DESIGNS)):
            if affordable(high):
                bisect(affordable, fails=low, holds=high, middle=geometric_mean, stop=close, steps=steps)
                break
            low, high = high, 2 * high
        if best is None:
            raise InputError(f"no epsilon that was tried loses only {max_loss:g}.", "allow more loss.")
        return self._of_design(best)


def optimum_row(best: Design, prior: Prior, metric: Metric, errors: Metric) -> PriorRow:
    """Return the row of a certified design."""
    row = measure(OPTIMUM, None, best.mechanism, prior, metric, errors, best.loss)
    ending = ""
    if not best.is_finished:
        ending = f"stopped by the time limit, at most {gap_at_most(best.certificate.gap)} above the least loss"
    return replace(row, loss_lower_bound=best.certificate.bound, stopped=ending)


def measure(
    name: str,
    parameter: float | None,
    mechanism: Mechanism,
    prior: Prior,
    metric: Metric,
    errors: Metric,
    loss: AnyLoss,
    claimed: float = 1.0,
) -> PriorRow:
    """Return the row of a mechanism, with epsilon proved per unit of the metric from a claimed one."""
    proof = prove_metric_privacy(mechanism, MetricPrivacy(claimed if math.isfinite(claimed) else 1.0, metric))
    return PriorRow(
        name,
        parameter,
        proof.upper,
        expected_loss_above(mechanism, prior, loss),
        worst_loss_above(mechanism, loss),
        optimal(mechanism, prior, errors).error,
        bayes_error(mechanism, prior),
        mutual_information_bits(mechanism, prior),
        conditional_entropy_bits(mechanism, prior),
    )


def row_of_tuples(alone: PriorRow, tupling: Tupling, prior: Prior, errors: Metric, loss: AnyLoss) -> PriorRow:
    """Return the row of a mechanism with each report among dummies, from its row without them."""
    losses = quality_loss_of_secrets(tupling, loss) * (1 + _ROUNDING)
    attack = attack_tuples(tupling, prior, errors)
    return PriorRow(
        f"{alone.name} among {tupling.dummies} dummies",
        alone.parameter,
        alone.epsilon_upper,
        float(prior.probabilities @ losses) * (1 + _ROUNDING),
        float(losses.max()),
        attack.error,
        attack.wrong,
        alone.information_bits + alone.entropy_bits - attack.entropy_bits,  # of the prior, less what is left
        attack.entropy_bits,
        spread=attack.spread,
    )


class TupleAttack(NamedTuple):
    """Average success of attackers over simulated tuples, with the standard error of the error."""

    error: float
    wrong: float
    entropy_bits: float
    spread: float


def with_dummies(mechanism: Mechanism, dummies: int) -> Tupling:
    """Return the mechanism among dummies that look like its reports (`mixture_dummies`)."""
    return Tupling(mechanism, dummies, mixture_dummies(mechanism, np.eye(mechanism.shape[0])))


def attack_tuples(
    tupling: Tupling, prior: Prior, metric: Metric, seed: int = 1, draws: int = DRAWS
) -> TupleAttack:
    """Return the success of the best attackers of tuples, estimated from simulated ones.

    The posterior of a tuple is exact: proportional to prior(s) times the mean over its reports of A(y|s) / nu(y).
    """
    nu, matrix = tupling.distribution, tupling.inner.matrix
    weights = np.divide(matrix, nu, out=np.zeros_like(matrix), where=nu > 0)  # (secrets, observables)
    secrets = random_generator(seed).choice(len(prior), size=draws, p=prior.probabilities)
    tuples = simulator(tupling, seed).draw(secrets)
    errors, wrong, entropy = [], [], []
    step = max(1, _BLOCK // (len(prior) * tupling.queries))
    for start in range(0, draws, step):
        block = tuples[start : start + step]
        joint = prior.probabilities * weights[:, block].mean(axis=2).T  # (tuples, secrets)
        posterior = joint / joint.sum(axis=1, keepdims=True)
        errors.append((posterior @ metric.array).min(axis=1))
        wrong.append(1 - posterior.max(axis=1))
        logs = np.log2(posterior, out=np.zeros_like(posterior), where=posterior > 0)
        entropy.append(-(posterior * logs).sum(axis=1))
    error = np.concatenate(errors)
    return TupleAttack(
        float(error.mean()),
        float(np.concatenate(wrong).mean()),
        float(np.concatenate(entropy).mean()),
        float(error.std(ddof=1) / np.sqrt(draws)),
    )


@dataclass(frozen=True, slots=True)
class ParametricFamily:
    """A family of mechanisms with one parameter.

    Attributes:
        build: From the parameter, per unit of the metric, to the mechanism.
        promises: Whether the parameter is an epsilon of metric privacy; others are compared at equal loss only.
    """

    name: str
    build: Callable[[float], Mechanism]
    promises: bool

    def with_remap(self, prior: Prior, loss: Metric) -> ParametricFamily:
        """Return the family followed by the remap of least loss."""
        return ParametricFamily(
            f"{self.name} + remap", lambda value: remap_mechanism(self.build(value), prior, loss), self.promises
        )


def default_families(prior: Prior, metric: Metric) -> list[ParametricFamily]:
    """Return the families that fit the secrets of a prior and their metric."""
    space = prior.space
    even = metric if metric.symmetric else metric.symmetrise()
    nearest = float(metric.array[metric.array > 0].min(initial=np.inf))  # a pair that a response must protect
    mass = 0.5 * prior.probabilities + 0.5 / len(prior)
    x = np.empty((0, 0)) if space.coordinates is None else space.coordinates
    families: list[tuple[str, Callable[[float], Mechanism], bool]] = [
        ("exponential", lambda e: exponential(space, metric, e), True),
        ("tight constraints", lambda e: tight_constraints(space, metric, e), True),
        ("randomised response", lambda e: randomised_response(space, e * nearest), True),
        ("least information", lambda e: rate_distortion(prior, even, e / 2).mechanism, True),  # twice its slope
        # Short distances where few people are.
        ("elastic", lambda e: exponential(space, elastic_metric(metric, mass, quota=_ELASTIC), e), False),
        ("restricted Laplace", lambda e: restricted_laplace(space, metric, e, REACH / e), False),
    ]
    if isinstance(space, Places):

        def gaussian(epsilon: float) -> Mechanism:  # its mean size is about that of planar Laplace, 2 / epsilon
            return PlanarGaussian(space, f"{2 / epsilon / math.sqrt(math.pi / 2)!r} {metric.unit}").mechanism()

        families.insert(0, ("planar geometric", lambda e: planar_geometric(space, f"{e!r}/{metric.unit}"), True))
        families.append(("planar Gaussian", gaussian, False))
    elif x.shape[1] == 1 and np.array_equal(np.abs(x - x.T), metric.array):  # numbers on a line
        families.insert(0, ("geometric", lambda e: geometric(space, e), True))
    return [ParametricFamily(*family) for family in families]


def calibrate(
    family: ParametricFamily, metric: Metric, epsilon: float, tolerance: float = 1e-4
) -> tuple[float, Mechanism]:
    """Return the parameter and the mechanism of the loosest member whose proved epsilon is at most ``epsilon``.

    A family of metric privacy may satisfy a smaller epsilon than its parameter, and would then look worse than it
    is. Epsilon is per unit of the metric; the proved one is below it by the relative ``tolerance`` at most. Raises
    `SfumatoError` if the family has no member of that epsilon.
    """
    promise = MetricPrivacy(epsilon, metric)
    best = family.build(epsilon)
    upper = prove_metric_privacy(best, promise).upper

    def holds(parameter: float) -> bool:
        nonlocal best, upper
        try:
            candidate = family.build(parameter)
        except SfumatoError:
            return False
        value = prove_metric_privacy(candidate, promise).upper
        if value > epsilon:
            return False
        best, upper = candidate, value
        return True

    def close(high: float, low: float) -> bool:
        return upper >= epsilon * (1 - tolerance) or high / low < 1 + tolerance

    most = 2 * epsilon / max(upper / epsilon, 0.5)
    return bisect(holds, fails=most, holds=epsilon, middle=geometric_mean, stop=close, steps=30).holds, best
