"""Profile-likelihood intervals, their ends bounded outward by duality."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from ...core.arrays import Floats, readonly
from ...core.likelihood import Maximum, maximised
from .likelihood import fitted
from .reports import AnyReports, Pooled, pooled
from .result import ConfidenceIntervals, check_failure, rows_of

_FINE: Final = 1e-4  # of the distance from the estimate to the end: by how much it may be too far
_GAP: Final = 1e-5  # of the permitted loss: how near each solve must come to its optimum
_CLOSE: Final = 1e-6  # of the functional's range
_TRIES: Final = 60
_UPDATES: Final = 2_000


def profile_intervals(
    reports: AnyReports, functionals: ArrayLike | None = None, *, failure: float = 0.05
) -> ConfidenceIntervals:
    """Return the values of a . p that some distribution of nearly the largest likelihood has.

    { a . p : log-likelihood of p >= its maximum - z^2 / 2 },  z the normal quantile

    The ends are optima of concave programs. For every price k > 0 the upper end is at most
    max over p of a . p + (log-likelihood - maximum + z^2 / 2) / k, whose maximum over p is
    itself bounded by its gradient; the least such bound met is returned. So an interval
    can only be too wide (by 1e-4 of itself or 1e-6 of the range of a), up to the rounding of
    doubles.
    Where the reports do not identify a . p, the interval is as wide as they leave it.

    Args:
        reports: Reports through one mechanism, or batches through several.
        functionals: Array (k, secrets) of weights a; by default each probability, which
            takes a few solves per secret and end (each grows with the cube of the secrets).
        failure: The probability that an interval misses, as the reports become many.

    Raises:
        InputError: If the weights do not fit, or the probability is not between 0 and 1.

    Source:
        Wilks, Annals of Mathematical Statistics 9, 1938; Venzon and Moolgavkar, Applied
        Statistics 37, 1988.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.releases.estimate import Reports, profile_intervals
        >>> twins = sf.Mechanism([[0.9, 0.1], [0.1, 0.9], [0.1, 0.9]])
        >>> found = profile_intervals(Reports(twins, [500, 500]), [[0, 1, 0], [0, 1, 1]])
        >>> found.lower.round(2), found.upper.round(2)
        (array([0.  , 0.46]), array([0.54, 0.54]))
    """
    missed = check_failure(failure)
    pool = pooled(reports)
    weights, names = rows_of(functionals, pool.secrets)
    allowed = float(ndtri(1 - missed / 2) ** 2) / 2 / pool.total
    best = fitted(pool, pool.frequencies[None], _GAP * allowed, _UPDATES).probabilities[0]
    program = _Program(pool, best, allowed)
    upper = np.array([program.highest(row) for row in weights])
    lower = np.array([0.0 - program.highest(-row) for row in weights])
    return ConfidenceIntervals(readonly(lower), readonly(upper), missed, "profile-likelihood", False, names)


class _Program:
    """The likelihood of one pool of reports, and how much of it may be lost."""

    def __init__(self, pool: Pooled, best: Floats, allowed: float) -> None:
        seen = pool.counts > 0
        self._matrix = pool.matrix[:, seen]
        self._frequencies = pool.frequencies[seen]
        # Attained, so at most the maximum: the set that it leaves is at least as large.
        self._floor = float(self._frequencies @ np.log(best @ self._matrix)) - allowed
        self._allowed = allowed
        received = best @ self._matrix
        root = self._matrix * np.sqrt(best)[:, None] * (np.sqrt(self._frequencies) / received)
        self._spread = np.linalg.pinv(root @ root.T, rcond=1e-6, hermitian=True)
        self._best = best

    def highest(self, weights: Floats) -> float:
        """Return an upper bound, nearly attained, of a . p over the permitted p."""
        top, bottom = float(weights.max()), float(weights.min())
        if top == bottom:
            return top
        a = (weights - bottom) / (top - bottom)
        price, low, high, end = np.sqrt(2 * self._allowed) / self._deviation(a), 0.0, np.inf, 1.0
        base = float(a @ self._best)
        inside, outside = (base, 1.0), (1.0, -np.inf)  # a . p, and which share of the permitted loss is left
        for _ in range(_TRIES):
            found = self._solve(a, price)
            value = float(a @ found.probabilities)
            left = found.value - price * value - self._floor
            end = min(end, value + (left + found.gap) / price)
            share = left / self._allowed
            if share >= 0:
                low, inside = price, max(inside, (value, share))
            else:
                high, outside = price, (value, share)
            # The likelihood is concave, so on the way from inside to outside this much is permitted.
            reached = inside[0] + inside[1] / (inside[1] - outside[1]) * (outside[0] - inside[0])
            if end - reached <= max(_FINE * (end - base), _CLOSE):
                break
            # The loss grows about as the square of the price.
            guess = price * min(max(np.sqrt(1 / max(1 - share, 1e-6)), 1 / 30), 30.0)
            price = guess if low < guess < high else np.sqrt(low * high) if low else price / 4
        return top if end == 1.0 else bottom + (top - bottom) * end

    def _deviation(self, a: Floats) -> float:
        """Return about how far a . p scatters, per root of the reports: where to begin, no more."""
        weights = np.sqrt(self._best) * (a - self._best @ a)
        return float(np.sqrt(max(float(weights @ self._spread @ weights), self._allowed)))

    def _solve(self, a: Floats, price: float) -> Maximum:
        n = len(a)
        return maximised(self._matrix, self._frequencies, price * a, np.full(n, 1.0 / n), _GAP * self._allowed)
