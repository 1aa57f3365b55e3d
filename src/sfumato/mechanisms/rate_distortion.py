"""The rate-distortion optimum: the least information for a loss, with its bound; also known as ExPost."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ..core import AnyLoss, Bracket, Loss, Mechanism, Metric, MetricPrivacy, Prior, Space, as_loss, units
from ..core.arrays import Floats
from ..errors import InfeasibleError, SolverError
from ..leakage import interior_points, mutual_information_bits
from ..rounding import UNIT, amount_at_most, at_most
from .family import positive
from .strict_privacy import equal_rows, lower_exponents

_SEARCH: Final = 100  # slopes tried for a wanted loss
_STRIDE: Final = math.log(4)  # between the slopes that are tried first
_SAME_SLOPE: Final = 1e-13  # relative difference of two slopes between which the loss jumps
_SEARCH_BITS: Final = 1e-8
_ROUNDING: Final = 2.0**-48  # of the terms of a bound, for each of their logarithms

_FINISHED: Final = 1e-4  # of the tolerance: if dropping shares does not help by then, none is dropped
_COVERED: Final = 1e-290  # what few shares give a secret at least, so that dividing by it stays finite


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RateDistortion:
    """A mechanism of nearly the least information for its loss, with bounds.

    Attributes:
        slope: b, per unit of the loss.
        information_bits: The least mutual information of secret and report for this loss. The value and upper
            bound are that of this mechanism. Every mechanism of at most this expected loss (with the same support,
            where it is limited) has at least the lower bound, which is computed in floating point, with room for
            its rounding.
        largest_loss: The largest loss that was allowed for any report; ``inf`` if none was named.
    """

    mechanism: Mechanism
    prior: Prior
    slope: float
    unit: str
    loss: float
    information_bits: Bracket
    largest_loss: float
    steps: int

    @property
    def gap_bits(self) -> float:
        """The most by which the mutual information can exceed the least one."""
        return max(0.0, self.information_bits.width)

    @property
    def epsilon(self) -> float:
        """2 b, per unit of the loss: the epsilon of metric privacy, where the loss is a metric.

        For any other loss it is for the metric d(s, s') = max over o of |l(s, o) - l(s', o)|. Infinite where the
        support is limited.
        """
        return 2 * self.slope if self.largest_loss == math.inf else math.inf

    def __repr__(self) -> str:
        return (
            f"RateDistortion of slope {self.slope:.6g}: loss {units.show(self.loss, self.unit)}, "
            f"{self.information_bits.value:.6g} bits, at most {at_most(self.gap_bits, 2)} above the least"
        )


def rate_distortion(
    prior: Prior,
    loss: AnyLoss,
    slope: float | str,
    observables: Space | None = None,
    *,
    largest_loss: float | str | None = None,
    tolerance_bits: float = 1e-8,
) -> RateDistortion:
    """Return the mechanism of least mutual information (nats) plus slope times expected loss.

    p(o|s) proportional to q(o) exp(-b l(s, o)), q being its own distribution of reports, found by Newton's method
    instead of the iterations of Blahut and Arimoto. Oya, Troncoso and Pérez-González call it ExPost: of all
    mechanisms of this loss it leaves the adversary the most conditional entropy. A remote place gets more noise
    than one in a crowd.

    It is 2 b-private for the loss, if the loss is a metric: q(o) cancels, exp(-b l) differs by at most exp(b d),
    and so does its sum. The integers satisfy this. Reports that reduce no loss have probability zero, unless
    another is below 2**-80: then each gets a very small one. Raises `InputError` if sizes differ, or a number is
    not positive. Raises `InfeasibleError` if a secret has no observable within the largest loss. Raises
    `SolverError` if the tolerance is below the precision of floats. Raises `UnitError` if a unit does not fit.
    ``loss`` is l(s, o), array (n, m), and the m observables are by default the secrets. The slope is b, per unit
    of the loss; a number or text such as ``"1/km"``. With ``largest_loss``, the largest loss of any report, there
    is no metric privacy. ``tolerance_bits`` is the most by which the information may exceed the least for the loss
    reached. The mechanism also has rows for secrets of prior zero.

    Source:
        Blahut, "Computation of channel capacity and rate-distortion functions", 1972; Oya, Troncoso and
        Pérez-González, "Back to the drawing board", CCS 2017; the 2 b bound: Biswas and Palamidessi, "PRIVIC",
        2022.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.mechanisms import rate_distortion
        >>> line = sf.Space.numbers(range(5))
        >>> rate_distortion(sf.Prior.uniform(line), line.metric("absolute"), 0.5)
        RateDistortion of slope 0.5: loss 1.09, 0.07411... bits, at most ... above the least
    """
    n = len(prior)
    reports = prior.space if observables is None else observables
    losses = as_loss(loss, n, len(reports))
    b = positive(units.parse(slope, per=True, unit=losses.unit, subject="the slope"), "the slope")
    positive(tolerance_bits, "the tolerance")
    most, allowed = _allowed_reports(prior.space, losses, largest_loss)
    marginal = _marginal(prior, losses.array, allowed, b, tolerance_bits)

    def build(scale: float) -> Floats:
        return _tilt(marginal.shares, b * scale, losses.array, allowed)

    if most == math.inf:
        exponents = 2 * b * _metric_of(loss, losses)
        support = np.broadcast_to(marginal.shares > 0, losses.array.shape)
        mechanism = lower_exponents(
            lambda scale: equal_rows(build(scale), exponents), exponents, prior.space, reports, support=support
        )
        if isinstance(loss, Metric) and loss.triangle:
            mechanism = mechanism.promising(MetricPrivacy(2 * b, loss))
    else:
        mechanism = Mechanism(build(1.0), prior.space, reports)
    expected = mechanism.expected_loss(prior, losses)
    likely = prior.support
    p = prior.probabilities[likely]
    base, decay = _decay(losses.array[likely], allowed[likely], b)
    terms = p * (b * base - np.log(decay @ marginal.shares))
    slack = _ROUNDING * (len(p) * float(np.abs(terms).sum()) + b * abs(expected) + 1)
    lower = float(terms.sum()) - marginal.excess - b * expected - slack
    bits = mutual_information_bits(mechanism, prior)
    information = Bracket(max(0.0, lower / math.log(2)), bits, bits)
    return RateDistortion(mechanism, prior, b, losses.unit, expected, information, most, marginal.steps)


def rate_distortion_of_loss(
    prior: Prior,
    loss: AnyLoss,
    target: float | str,
    observables: Space | None = None,
    *,
    largest_loss: float | str | None = None,
    tolerance: float = 1e-6,
) -> RateDistortion:
    """Return the rate-distortion optimum whose expected loss is just below a target.

    The target is in the unit of the loss, a number or text such as ``"500 m"``. The loss is below it by at most
    the tolerance, as a part of the target. See `rate_distortion` for the other arguments. Raises `InputError` if
    sizes differ, or a number is not positive. Raises `InfeasibleError` if a report that reveals nothing reaches
    the target, or no mechanism does, or only a mixture of two of neighbouring slopes. Raises `UnitError` if a unit
    does not fit.
    """
    reports = prior.space if observables is None else observables
    losses = as_loss(loss, len(prior), len(reports))
    bound = units.parse(target, unit=losses.unit, subject="the loss")
    positive(tolerance, "the tolerance")
    _, allowed = _allowed_reports(prior.space, losses, largest_loss)
    open_costs = np.where(allowed, losses.array, np.inf)
    likely = prior.support
    least = float(prior.probabilities[likely] @ open_costs[likely].min(axis=1))
    silent = float((prior.probabilities[likely] @ open_costs[likely]).min())
    if not least < bound < silent:
        raise InfeasibleError(
            f"an expected loss of {units.show(bound, losses.unit)} was requested, but the best report costs "
            f"{units.show(least, losses.unit)} and one fixed report {units.show(silent, losses.unit)}.",
            "ask for a loss between the two; a fixed report is constant().",
        )

    aim = bound - tolerance / 2 * abs(bound)

    def excess(slope: float) -> float:
        shares = _marginal(prior, losses.array, allowed, slope, _SEARCH_BITS).shares
        rows = _tilt(shares, slope, losses.array, allowed)
        return float(prior.probabilities @ (rows * losses.array).sum(axis=1)) - aim

    slope = _root(excess, 1 / (bound - least), tolerance / 4 * abs(bound))
    answer = rate_distortion(prior, loss, slope, observables, largest_loss=largest_loss)
    if not bound - tolerance * abs(bound) <= answer.loss <= bound:
        raise InfeasibleError(
            f"at the slope {slope:.9g} the loss jumps from below {units.show(bound, losses.unit)} to above it.",
            "mix the mechanisms of two slopes on both sides of it, or raise the tolerance.",
        )
    return answer


def _root(falling: Callable[[float], float], start: float, near: float) -> float:
    """Return a positive argument at which a falling function is nearly zero, or jumps over zero."""

    @cache
    def value(log: float) -> float:
        excess = falling(math.exp(log))
        return excess if abs(excess) > near else 0.0

    low = high = math.log(start)
    while value(low) < 0:
        high, low = low, low - _STRIDE
    while value(high) > 0:
        low, high = high, high + _STRIDE
    return math.exp(brentq(value, low, high, xtol=_SAME_SLOPE, maxiter=_SEARCH, disp=False))


def _marginal(prior: Prior, loss: Floats, allowed: NDArray[np.bool_], slope: float, bits: float) -> Marginal:
    """Return the best distribution of reports, to within a number of bits."""
    likely = prior.support
    p = prior.probabilities[likely] / prior.probabilities[likely].sum()
    _, decay = _decay(loss[likely], allowed[likely], slope)
    return best_marginal(p, decay, bits * math.log(2) / 2)


def _decay(loss: Floats, allowed: NDArray[np.bool_], slope: float) -> tuple[Floats, Floats]:
    """Return each row's least loss, and exp(-b l) relative to it, array (n, m)."""
    base = np.where(allowed, loss, np.inf).min(axis=1)
    return base, np.where(allowed, np.exp(-slope * (loss - base[:, None])), 0.0)


def _allowed_reports(secrets: Space, loss: Loss, largest: float | str | None) -> tuple[float, NDArray[np.bool_]]:
    """Return the largest loss allowed, and which reports it allows, array (n, m)."""
    if largest is None:
        return math.inf, np.ones(loss.array.shape, dtype=bool)
    most = units.parse(largest, unit=loss.unit, subject="the largest loss")
    allowed = loss.array <= most + 1e-12 * abs(most)
    empty = ~allowed.any(axis=1)
    if empty.any():
        raise InfeasibleError(
            f"{int(empty.sum())} secrets, the first is {secrets.labels[int(np.argmax(empty))]!r}, have no report "
            f"that loses at most {units.show(most, loss.unit)}.",
            f"allow at least {amount_at_most(float(loss.array.min(axis=1).max()), loss.unit)}.",
        )
    return most, allowed


def _tilt(shares: Floats, slope: float, loss: Floats, allowed: NDArray[np.bool_]) -> Floats:
    """Return q(o) exp(-b l(s, o)), normalised; q is uniform where it allows no report."""
    with np.errstate(divide="ignore"):
        logs = np.where(allowed, np.log(shares) - slope * loss, -np.inf)
    mask = ~np.isfinite(logs).any(axis=1)
    logs[mask] = np.where(allowed[mask], -slope * loss[mask], -np.inf)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _metric_of(loss: AnyLoss, losses: Loss) -> Floats:
    """Return max over o of |l(s, o) - l(s', o)|, array (n, n), which is the loss if that is a metric."""
    if isinstance(loss, Metric) and loss.triangle and loss.symmetric:
        return loss.array
    return np.array([np.abs(losses.array - row).max(axis=1) for row in losses.array])


class Marginal(NamedTuple):
    """A distribution q of reports, array (m,), near the least of F(q) = -sum of prior(s) ln (A q)(s).

    Its excess is at most ``excess`` nats: ln of the largest sum over s of prior(s) A(s, o) / (A q)(s).
    """

    shares: Floats
    excess: float
    steps: int


def best_marginal(prior: Floats, decay: Floats, tolerance: float) -> Marginal:
    """Return the q of least F(q) = -sum of prior(s) ln (A q)(s), A = ``decay`` (k, m), within a tolerance (nats).

    Shares below their prices, which would vanish, are dropped where the bound allows it.
    """
    m = decay.shape[1]
    best = _step(prior, decay, np.full(m, 1.0 / m), 0)
    for point in interior_points(decay.T, prior, np.zeros(m), np.full(m, 1.0 / m), tolerance):
        best = min(_step(prior, decay, point.x, point.step), best, key=lambda marginal: marginal.excess)
        sparse = np.where(point.x > point.prices / m, point.x, 0.0)
        if (decay @ sparse > _COVERED).all():
            marginal = _step(prior, decay, sparse, point.step)
            if marginal.excess <= tolerance:
                return marginal
        if best.excess <= _FINISHED * tolerance:
            break
    if best.excess <= tolerance:
        return best
    raise SolverError(
        f"the least information is known only to {best.excess:.2g} nats, but {tolerance:.2g} was requested.",
        "use a larger tolerance.",
    )


def _step(prior: Floats, decay: Floats, q: Floats, steps: int) -> Marginal:
    """Return q after one step of Blahut and Arimoto, which makes its sum one, with its excess."""
    shares = q * (prior / (decay @ q) @ decay)
    shares = shares / shares.sum()
    excess = float(np.log((prior / (decay @ shares) @ decay).max()))
    return Marginal(shares, max(excess, 0.0) + 2 * UNIT * (2 * len(prior) + len(q) + 16), steps)
