"""Composition of independent reports about one secret, schemes that repeat them, and the attacker's error."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from ..attacks import fitting
from ..core import AnyLoss, Bracket, Mechanism, Metric, Prior
from ..core.arguments import check_arguments
from ..core.arrays import Floats, integer, numbers, readonly
from ..core.immutable import assign
from ..errors import InputError, argument
from ..escaping import plain
from ..proofs import worst_ratios
from ..rounding import at_most

# A ratio is off by less than 2**-50, and a logarithm by a few units in the last place.
_LOG: Final = 1e-14
_SUM: Final = 2.0**-52
_BLOCK: Final = 1 << 23  # numbers held at once: 64 MiB
_LISTED: Final = 50_000  # combinations of reports that are summed
_ENTRIES: Final = 2 * 10**8  # secrets x memos x combinations
_AT_ONCE: Final = 4096  # combinations or trials


@dataclass(frozen=True, slots=True)
class Composition:
    """The joint guarantee of independent reports about one secret, per unit of the metric.

    Attributes:
        epsilon_upper: The epsilon of all reports together, exact up to rounding and rounded up; ``inf`` if a pair
            at finite distance has an infinite likelihood ratio.
        summed: The sum of the single epsilons, rounded up, as a ledger adds them. It is larger where the
            mechanisms are weakest on different pairs.
        worst_pair: Positions of the two secrets with the largest epsilon.
    """

    epsilon_upper: float
    summed: float
    worst_pair: tuple[int, int]
    reports: int
    unit: str

    def __str__(self) -> str:
        per = f"/{plain(self.unit)}" if self.unit else ""
        return (
            f"{self.reports} reports about one secret: epsilon at most {at_most(self.epsilon_upper, 6)}{per} "
            f"together (the sum of each alone is {at_most(self.summed, 6)}{per})."
        )


def compose(mechanisms: Sequence[Mechanism], metric: Metric) -> Composition:
    """Return the metric privacy of independent reports about one secret, one mechanism for each.

    max over s, s' of sum over i of ln max over o of p_i(o|s) / p_i(o|s'), over d(s, s')

    Every combination of reports may occur, so the largest likelihood ratio of the product channel for a pair is
    the product of the single ones. The result also bounds traces: for secrets s_1, ..., s_t, each reported once
    through a mechanism of epsilon e_i, the logarithms for two traces differ by at most the sum of e_i d(s_i,
    s_i'). Raises `InputError` if there is no mechanism, or the sizes differ.

    Source:
        Chatzikokolakis, Andres, Bordenabe and Palamidessi, PETS 2013 (composition).

    Example:
        >>> import sfumato as sf
        >>> from sfumato.ledgers import compose
        >>> line = sf.Space.numbers([0, 1, 2])
        >>> noise = sf.mechanisms.geometric(line, 0.5)
        >>> round(compose([noise] * 4, line.metric()).epsilon_upper, 6)
        2.0
    """
    if not mechanisms:
        raise InputError("there is no report.", "pass one mechanism for each report.")
    n = len(metric)
    for mechanism in mechanisms:
        if not isinstance(mechanism, Mechanism):
            raise InputError(
                f"{mechanism!r} is not a mechanism.", "pass a list of mechanisms, one for each report."
            )
        if mechanism.shape[0] != n:
            raise InputError(
                f"a mechanism has {mechanism.shape[0]} secrets, but the metric is on {n} values.",
                "all reports are about one secret of the metric's space.",
            )
    times = Counter(mechanisms)
    total, summed = np.zeros((n, n)), 0.0
    for mechanism, count in times.items():
        logs = count * _logs_above(mechanism)
        total += logs
        summed += _tight(logs, metric.array)[0]
    rounding = 1 + len(times) * _SUM
    upper, pair = _tight(total * rounding, metric.array)
    return Composition(upper, max(summed * rounding, upper), pair, len(mechanisms), metric.unit)


def _logs_above(mechanism: Mechanism) -> Floats:
    """Return ln of the largest likelihood ratios, array (n, n), rounded up; 0 for equal rows."""
    ratios, _ = worst_ratios(mechanism)
    with np.errstate(divide="ignore"):
        logs = np.log(ratios)
    logs = logs + _LOG * (1 + np.abs(logs))
    _, group = np.unique(mechanism.weights.astype(str), axis=0, return_inverse=True)
    logs[np.equal.outer(group, group)] = 0.0
    above: Floats = np.maximum(logs, 0.0)
    return above


def _tight(logs: Floats, distances: Floats) -> tuple[float, tuple[int, int]]:
    """Return max of logs / d, rounded up, and its pair; 0 if no ratio is above 1."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = np.where((logs > 0) & np.isfinite(distances), logs / distances, 0.0)
    s, t = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
    return math.nextafter(float(ratios[s, t]), math.inf) if ratios[s, t] > 0 else 0.0, (int(s), int(t))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scheme:
    """A scheme by which reports about one secret repeat.

    The permanent mechanism is drawn from once, and its value is stored as a memo. Every report passes the memo
    through the instantaneous mechanism, with fresh noise.

    p(o_1, ..., o_t|s) = sum over memos m of P(m|s) I(o_1|m) ... I(o_t|m)

    P is ``permanent``, from secrets to memos, and I ``instantaneous``, from memos to observables. Raises
    `InputError` if the secrets of the second mechanism are not the observables of the first.

    Source:
        Erlingsson, Pihur and Korolova, "RAPPOR", CCS 2014 (permanent and instantaneous
        randomised response).
    """

    permanent: Mechanism
    instantaneous: Mechanism

    def __init__(self, permanent: Mechanism, instantaneous: Mechanism) -> None:
        if instantaneous.secrets.labels != permanent.observables.labels:
            raise InputError(
                f"the instantaneous mechanism takes {instantaneous.secrets!r}, "
                f"but the memos are {permanent.observables!r}.",
                "its secrets must be the permanent mechanism's observables, in the same order.",
            )
        assign(self, permanent=permanent, instantaneous=instantaneous)

    @classmethod
    def fresh(cls, mechanism: Mechanism) -> Scheme:
        """Return independent noise for every report: the memo is the secret itself."""
        return cls(Mechanism(np.eye(mechanism.shape[0]), mechanism.secrets, mechanism.secrets), mechanism)

    @classmethod
    def memo(cls, mechanism: Mechanism) -> Scheme:
        """Return one report that all later ones repeat."""
        observables = mechanism.observables
        return cls(mechanism, Mechanism(np.eye(len(observables)), observables, observables))

    @property
    def repeats(self) -> bool:
        """Whether the memo determines all reports, so that none after the first adds information."""
        return bool((np.count_nonzero(self.instantaneous.weights, axis=1) == 1).all())

    @property
    def keeps_secret(self) -> bool:
        """Whether the secret determines the memo, so that reports are independent given it."""
        return bool((np.count_nonzero(self.permanent.weights, axis=1) == 1).all())

    def __repr__(self) -> str:
        n, m = self.permanent.shape[0], self.instantaneous.shape[1]
        kind = "fresh noise" if self.keeps_secret else "a memo" if self.repeats else "noise on a memo"
        return f"Scheme of {kind}, {n} secrets and {m} observables"

    def log_likelihood(self, counts: ArrayLike) -> Floats:
        """Return ln p(o_1, ..., o_t|s) for counts of each observable, array (secrets,); ``-inf`` if it is 0.

        The counts are an array (observables,), or (k, observables) for k observers at once with a result (k,
        secrets). Raises `InputError` if the counts do not fit, or are not whole numbers of at least 0.
        """
        array = numbers(counts, "the counts")
        rows = np.atleast_2d(array)
        if rows.shape[1:] != (self.instantaneous.shape[1],) or not (rows >= 0).all() or (rows % 1).any():
            raise InputError(
                f"counts of shape {array.shape} are not of {self.instantaneous.shape[1]} observables.",
                "pass how often each observable was reported.",
            )
        zero = self.instantaneous.matrix == 0
        memos: Floats = rows @ np.log(np.where(zero, 1.0, self.instantaneous.matrix)).T  # with 0 ln 0 = 0
        memos[(rows > 0).astype(np.float64) @ zero.T.astype(np.float64) > 0] = -np.inf
        logs = np.empty((len(memos), self.permanent.shape[0]))  # ln sum over m of P(m|s) exp(memos)
        if self.keeps_secret:
            logs = memos[:, np.argmax(self.permanent.matrix, axis=1)]
        else:
            with np.errstate(divide="ignore"):
                weights = np.log(self.permanent.matrix)
            width = max(1, _BLOCK // weights.size)
            for start in range(0, len(memos), width):
                terms = memos[start : start + width, None, :] + weights
                top = terms.max(axis=2, keepdims=True)
                top = np.where(np.isfinite(top), top, 0.0)
                with np.errstate(divide="ignore"):
                    logs[start : start + width] = np.log(np.exp(terms - top).sum(axis=2)) + top[:, :, 0]
        return logs if array.ndim == 2 else np.asarray(logs[0])

    @check_arguments
    def posterior(self, prior: Prior, counts: ArrayLike) -> Prior:
        """Return the posterior of the secret from the counts of each observable, array (observables,).

        Raises `InputError` if the reports are impossible under the prior, or sizes do not fit.
        """
        if len(prior) != self.permanent.shape[0]:
            raise InputError(
                f"the prior has {len(prior)} values, but the scheme {self.permanent.shape[0]} secrets.",
                "use a prior on the permanent mechanism's secrets.",
            )
        self.permanent.secrets.check_order(prior.space, "the prior")
        with np.errstate(divide="ignore"):
            logs = np.log(prior.probabilities) + self.log_likelihood(counts)
        if not np.isfinite(logs).any():
            raise InputError(
                "no secret that is possible under the prior gives these reports.",
                "check that prior, scheme and reports belong together.",
            )
        weights = np.exp(logs - logs.max())
        return Prior.from_counts(prior.space, weights)

    @check_arguments
    def epsilon_upper(self, metric: Metric, reports: int) -> float:
        """Return a proved epsilon of that many reports together, per unit of the metric, rounded up.

        With fresh noise it is exact. Otherwise reports depend on the secret through the memo alone, so the
        permanent mechanism's epsilon holds for any number of reports. It is exact for a memo without noise, and
        the limit for noise on a memo. Raises `InputError` if there is no report, or the metric does not fit.
        """
        if reports < 1:
            raise InputError(f"{reports} reports were given.", "ask for at least one.")
        if not self.keeps_secret:
            return compose([self.permanent], metric).epsilon_upper
        memo = np.argmax(self.permanent.matrix, axis=1)
        rows = self.instantaneous.weights[memo]  # the very integers: a product of floats would round
        report = Mechanism.from_weights(rows, self.instantaneous.bits, self.permanent.secrets)
        return compose([report] * reports, metric).epsilon_upper


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ErrorCurve:
    """The expected error of an attacker who saw all of t reports, for several t.

    ``attack`` is ``"optimal"`` or ``"averaging"``; errors are arrays (len(reports),) in ``unit``, between both
    ends of the interval of a simulated one, which misses with probability ``failure``. ``exact`` is, for each t,
    whether the error is a sum over all reports (up to the rounding of doubles) or a mean over simulated ones.
    """

    scheme: Scheme
    attack: str
    reports: tuple[int, ...]
    error: Floats
    lower: Floats
    upper: Floats
    exact: tuple[bool, ...]
    failure: float
    unit: str

    def __repr__(self) -> str:
        ends = (
            f"{self.error[0]:.4g} after {self.reports[0]} to {self.error[-1]:.4g} after {self.reports[-1]} reports"
        )
        return f"ErrorCurve of the {self.attack} attack on {self.scheme!r}: {ends}"


@check_arguments
def errors_after(
    scheme: Scheme,
    prior: Prior,
    distance: AnyLoss,
    reports: Sequence[int],
    *,
    trials: int = 2_000,
    seed: int | None = None,
    failure: float = 0.05,
) -> ErrorCurve:
    """Return the expected error of the optimal attack on t reports about one secret.

    sum over (o_1, ..., o_t) of min over g of sum over s of prior(s) p(o_1, ..., o_t|s) d(g, s)

    All orders of the same reports are summed at once, so t reports of m observables have C(t + m - 1, t) terms.
    Where these are too many, reports are simulated and the exact posterior of each is attacked. The interval of
    the mean holds for any number of trials.

    The attacker knows the prior. ``distance`` is d(guess, s), array (guesses, secrets), a `Loss` or a `Metric`;
    ``reports`` are the numbers t, each at least 1. ``trials`` simulations and a ``seed`` are needed only where
    there are too many terms; ``failure`` is the probability that a simulated interval misses the error. Raises
    `InputError` if sizes do not fit, or a simulation is needed and has no seed.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.ledgers import Scheme, errors_after
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> prior, wrong = sf.Prior.uniform(coin.secrets), sf.hamming(coin.secrets)
        >>> errors_after(Scheme.fresh(coin), prior, wrong, [1, 3, 9]).error.round(4)
        array([0.25  , 0.1562, 0.0489])
        >>> errors_after(Scheme.memo(coin), prior, wrong, [1, 3, 9]).error.round(4)
        array([0.25, 0.25, 0.25])
    """
    loss = fitting(scheme.permanent, prior, distance)
    times = _check_times(reports, trials, failure, seed)
    errors: list[Bracket] = []
    exact = []
    for t in times:
        informative = 1 if scheme.repeats else t
        m = int(np.count_nonzero(scheme.instantaneous.matrix.any(axis=0)))
        terms, (secrets, memos) = math.comb(informative + m - 1, informative), scheme.permanent.shape
        work = terms * secrets * (1 if scheme.keeps_secret else memos)
        if terms <= _LISTED and work <= _ENTRIES:
            errors.append(Bracket.exact(_sum_over_reports(scheme, prior, loss.array, informative)))
            exact.append(True)
            continue
        if seed is None:
            raise InputError(
                f"{t} reports have too many combinations to sum them all.",
                "pass seed=7, say, to simulate reports; or fewer reports.",
            )
        rng = np.random.default_rng([seed, t])
        values, bottom, top = _simulate(scheme, prior, loss.array, informative, trials, rng)
        errors.append(_mean_within(values, bottom, top, failure))
        exact.append(False)
    return _curve(scheme, "optimal", times, errors, tuple(exact), failure, loss.unit)


@check_arguments
def averaging_errors(
    scheme: Scheme, prior: Prior, reports: Sequence[int], *, trials: int = 2_000, seed: int, failure: float = 0.05
) -> ErrorCurve:
    """Return the mean distance between the secret and the average of t reported places, by simulation.

    With fresh noise whose mean is the secret it falls as 1 / sqrt(t), down to the mechanism's own bias, as at the
    edge of a region. With a memo it does not fall. Secrets and observables need coordinates, in whose unit the
    curve is; the arguments are those of `errors_after`. Raises `InputError` if there are no planar coordinates, or
    sizes do not fit.
    """
    secrets, observables = scheme.permanent.secrets, scheme.instantaneous.observables
    places, reported = secrets.coordinates, observables.coordinates
    if places is None or reported is None or (secrets.unit, secrets.crs) != (observables.unit, observables.crs):
        raise InputError(
            "secrets and observables have no coordinates in common.", "average places of one coordinate system."
        )
    secrets.check_straight("averages")
    if secrets.unit == "degree":
        raise InputError("degrees cannot be averaged as distances.", "use planar coordinates, as a Grid has them.")
    if len(prior) != len(secrets):
        raise InputError(
            f"the prior has {len(prior)} values, but the scheme {len(secrets)} secrets.", "use a prior on them."
        )
    secrets.check_order(prior.space, "the prior")
    times = _check_times(reports, trials, failure, seed)
    top = float(max(np.linalg.norm(reported - place, axis=1).max() for place in places[prior.support]))
    errors = []
    for t in times:
        rng = np.random.default_rng([seed, t])
        true, counts = _simulate_counts(scheme, prior, t, trials, rng)
        means = counts @ reported / t
        errors.append(_mean_within(np.linalg.norm(means - places[true], axis=1), 0.0, top, failure))
    return _curve(scheme, "averaging", times, errors, (False,) * len(times), failure, secrets.unit)


def _curve(
    scheme: Scheme,
    attack: str,
    times: tuple[int, ...],
    errors: Sequence[Bracket],
    exact: tuple[bool, ...],
    failure: float,
    unit: str,
) -> ErrorCurve:
    error, lower, upper = (
        readonly(np.array(ends))
        for ends in zip(*((bracket.value, bracket.lower, bracket.upper) for bracket in errors), strict=True)
    )
    return ErrorCurve(scheme, attack, times, error, lower, upper, exact, failure, unit)


def _check_times(reports: Sequence[int], trials: int, failure: float, seed: int | None) -> tuple[int, ...]:
    """Return the numbers of reports, or refuse options that give no curve."""
    numbers = [integer(t) for t in reports]
    times = tuple(number for number in numbers if number is not None)
    if not times or len(times) < len(numbers) or min(times) < 1:
        raise InputError(
            f"reports={list(reports)} are not numbers of reports.", "pass whole numbers of at least 1."
        )
    if trials < 2 or not 0 < failure < 1:
        raise InputError(
            f"{trials} trials and a probability of failure of {failure} give no interval.",
            "use at least 2 trials, and a probability between 0 and 1, such as 0.05.",
        )
    if seed is not None and seed < 0:
        raise InputError(f"{argument('seed', seed)} is negative.", "use an integer of at least 0.")
    return times


def _simulate_counts(
    scheme: Scheme, prior: Prior, t: int, trials: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], Floats]:
    """Return simulated secrets (trials,), and how often each reports what in t reports (trials, observables)."""
    weights = prior.probabilities[prior.support]
    secrets = prior.support[rng.choice(len(weights), size=trials, p=weights / weights.sum())]
    cumulative = np.cumsum(scheme.permanent.matrix, axis=1)
    cumulative /= cumulative[:, -1:]
    memos = (rng.random(len(secrets))[:, None] > cumulative[secrets]).sum(axis=1)
    rows = scheme.instantaneous.matrix / scheme.instantaneous.matrix.sum(axis=1, keepdims=True)
    return secrets, rng.multinomial(t, rows[memos]).astype(np.float64)


def _sum_over_reports(scheme: Scheme, prior: Prior, distance: Floats, t: int) -> float:
    """Return the error as a sum over all combinations of t reports."""
    used = np.flatnonzero(scheme.instantaneous.matrix.any(axis=0))
    bars = np.array(list(combinations(range(t + len(used) - 1), len(used) - 1)), dtype=np.int64)
    edges = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), t + len(used) - 1)])
    total = 0.0
    for start in range(0, len(edges), _AT_ONCE):
        block = np.diff(edges[start : start + _AT_ONCE], axis=1) - 1
        counts = np.zeros((len(block), scheme.instantaneous.shape[1]))
        counts[:, used] = block
        orders = gammaln(t + 1) - gammaln(block + 1).sum(axis=1)
        likelihood = np.exp(scheme.log_likelihood(counts) + orders[:, None])
        total += float((distance @ (prior.probabilities[:, None] * likelihood.T)).min(axis=0).sum())
    return total


def _simulate(
    scheme: Scheme, prior: Prior, distance: Floats, t: int, trials: int, rng: np.random.Generator
) -> tuple[Floats, float, float]:
    """Return the error of the attacked posterior in each trial, and the range of possible errors."""
    support = prior.support
    weights = prior.probabilities[support]
    _, counts = _simulate_counts(scheme, prior, t, trials, rng)
    values = np.empty(trials)
    for start in range(0, trials, _AT_ONCE):
        logs = scheme.log_likelihood(counts[start : start + _AT_ONCE])[:, support] + np.log(weights)
        posterior = np.exp(logs - logs.max(axis=1, keepdims=True))
        posterior /= posterior.sum(axis=1, keepdims=True)
        values[start : start + _AT_ONCE] = (posterior @ distance[:, support].T).min(axis=1)
    possible = distance[:, support]
    return values, float(possible.min()), float(possible.max(axis=1).min())


def _mean_within(values: Floats, bottom: float, top: float, failure: float) -> Bracket:
    """Return the mean of independent values between ``bottom`` and ``top``, with an interval of its expectation.

    The interval misses with probability at most ``failure``, for any number of values (Maurer and Pontil,
    "Empirical Bernstein bounds", COLT 2009, theorem 4).
    """
    n = len(values)
    mean, variance = float(values.mean()), float(values.var(ddof=1))
    log = math.log(4 / failure)  # two sides, each of failure / 2 = 2 exp(-log)
    reach = math.sqrt(2 * variance * log / n) + 7 * (top - bottom) * log / (3 * (n - 1))
    return Bracket(max(bottom, mean - reach), mean, min(top, mean + reach))
