"""The attacker's error after t reports of a scheme: of the optimal attack, and of averaging."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ..attacks import fitting
from ..core import AnyLoss, Bracket, Prior
from ..core.arguments import checked
from ..core.arrays import Floats, integer, readonly
from ..errors import InputError, argument
from .composition import Scheme

_LISTED: Final = 50_000  # combinations of reports that are summed
_ENTRIES: Final = 2 * 10**8  # secrets x memos x combinations
_BLOCK: Final = 4096


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ErrorCurve:
    """The expected error of an attacker who saw all of t reports, for several t.

    Attributes:
        attack: ``"optimal"`` or ``"averaging"``.
        reports: The numbers of reports, t.
        error: Array (len(reports),), in ``unit``.
        lower: The lower end of the interval of a simulated error; else the error.
        exact: For each t, whether the error is a sum over all reports (up to the rounding of
            doubles) or a mean over simulated ones.
        failure: The probability that a simulated interval misses.
        unit: The unit of the distance.
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


@checked
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
    there are too many terms; ``failure`` is the probability that a simulated interval misses the error.

    Raises:
        InputError: If sizes do not fit, or a simulation is needed and has no seed.

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
        if _is_listable(scheme, informative):
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


@checked
def averaging_errors(
    scheme: Scheme, prior: Prior, reports: Sequence[int], *, trials: int = 2_000, seed: int, failure: float = 0.05
) -> ErrorCurve:
    """Return the mean distance between the secret and the average of t reported places, by simulation.

    With fresh noise whose mean is the secret it falls as 1 / sqrt(t), down to the mechanism's own bias, as at the
    edge of a region. With a memo it does not fall. Secrets and observables need coordinates, in whose unit the
    curve is; the arguments are those of `errors_after`.

    Raises:
        InputError: If there are no planar coordinates, or sizes do not fit.
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
        for ends in zip(*((each.value, each.lower, each.upper) for each in errors), strict=True)
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


def _is_listable(scheme: Scheme, t: int) -> bool:
    """Return whether the combinations of t reports are few enough to be summed."""
    m = int(np.count_nonzero(scheme.instantaneous.matrix.any(axis=0)))
    terms = math.comb(t + m - 1, t)
    work = terms * scheme.permanent.shape[0] * (1 if scheme.keeps_secret else scheme.permanent.shape[1])
    return terms <= _LISTED and work <= _ENTRIES


def _sum_over_reports(scheme: Scheme, prior: Prior, distance: Floats, t: int) -> float:
    """Return the error as a sum over all combinations of t reports."""
    used = np.flatnonzero(scheme.instantaneous.matrix.any(axis=0))
    bars = np.array(list(combinations(range(t + len(used) - 1), len(used) - 1)), dtype=np.int64)
    edges = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), t + len(used) - 1)])
    total = 0.0
    for start in range(0, len(edges), _BLOCK):
        block = np.diff(edges[start : start + _BLOCK], axis=1) - 1
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
    for start in range(0, trials, _BLOCK):
        logs = scheme.log_likelihood(counts[start : start + _BLOCK])[:, support] + np.log(weights)
        posterior = np.exp(logs - logs.max(axis=1, keepdims=True))
        posterior /= posterior.sum(axis=1, keepdims=True)
        values[start : start + _BLOCK] = (posterior @ distance[:, support].T).min(axis=1)
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
