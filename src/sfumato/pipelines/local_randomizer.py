"""A transformer of scikit-learn that replaces every row of numbers by a private one."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Loss, Mechanism, MetricPrivacy, Prior, Space, hamming
from ..core.arrays import Floats
from ..errors import InputError, MissingExtraError, argument
from ..optimal import Design, design
from ..sampling import sampler

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.cluster import KMeans
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtraError("A transformer of scikit-learn", "pipelines") from None


class LocalRandomizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replaces every row by one of a few values, drawn so that hardly anything is learnt about the row.

    The secret is a whole row, of whatever columns. `fit` chooses the values, estimates how often each is the
    nearest one of a row, and designs the mechanism that loses least among all that keep the promise; `transform`
    takes each row for its nearest value and draws a fresh report. Both use Euclidean distances: scale the columns
    first where their units differ.

    The promise is local differential privacy: for any two rows, and any set of reports, the probabilities differ
    at most by the factor exp(epsilon). It is for each row that is transformed and each time: k reports of one
    person spend k times epsilon. **It does not cover the rows that `fit` sees.** The values are means of them, and
    the mechanism depends on them. Fit on public or older rows, not on those to be protected.

    Draws come from the operating system's cryptographic randomness, so there is no ``random_state`` for them, and
    `transform` gives other reports each time.

    Args:
        epsilon: The promise, positive.
        n_values: How many values there are at most; more of them are finer, and take longer.

    Attributes:
        values_: The values, array (k, columns).
        mechanism_: The mechanism that draws one for one.
        design_: Its design, with the certificate; None where there is only one value.
        n_features_in_: How many columns there are.

    Source:
        Kairouz, Oh & Viswanath, "Extremal mechanisms for local differential privacy" (2016).
    """

    def __init__(self, epsilon: float = 1.0, n_values: int = 8) -> None:
        self.epsilon = epsilon
        self.n_values = n_values

    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        """Choose the values, and design the mechanism.

        Args:
            X: Rows that need no protection, array (n, columns).
            y: Not used.

        Raises:
            InputError: If a parameter cannot be used, or the rows have no distances.
            ValueError: If the rows are not finite numbers.
        """
        epsilon: Any = self.epsilon  # scikit-learn takes whatever is passed
        n_values: Any = self.n_values
        if isinstance(epsilon, bool) or not isinstance(epsilon, Real):
            raise InputError(
                f"epsilon is {epsilon!r}, which is not a number.",
                f"use one without a unit, such as {argument('epsilon', 1)}: rows have no distance that it is per.",
            )
        if not 0 < self.epsilon < np.inf:
            raise InputError(
                f"an epsilon of {self.epsilon} promises nothing that can be kept.",
                f"use a positive one, such as {argument('epsilon', 1)}.",
            )
        if isinstance(n_values, bool) or not isinstance(n_values, Integral):
            raise InputError(
                f"n_values is {n_values!r}, which is not a whole number.",
                f"use one such as {argument('n_values', 8)}.",
            )
        if self.n_values < 1:
            raise InputError(f"{self.n_values} values were asked for.", "use one at least.")
        rows: Floats = validate_data(self, X, dtype=np.float64)
        self.values_ = _values(rows, int(self.n_values))
        nearest, size = _nearest(rows, self.values_), len(self.values_)
        space = Space(range(size))
        self.design_: Design | None = None
        if size == 1:
            self.mechanism_ = Mechanism(np.ones((1, 1)), space)
        else:
            counts = np.bincount(nearest, minlength=size)
            loss = _loss(rows, nearest, self.values_)
            scale = float(loss.max())
            if not 0 < scale < np.inf:
                raise InputError(
                    "the rows are so near to each other, or so far apart, that no distances can be computed.",
                    "scale the columns first.",
                )
            promise = MetricPrivacy(float(self.epsilon), hamming(space))
            self.design_ = design(Prior(space, counts / counts.sum()), loss=Loss(loss / scale), guarantees=promise)
            self.mechanism_ = self.design_.mechanism
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return a fresh report for each row, array (n, columns).

        Args:
            X: The rows to protect, array (n, columns).
        """
        check_is_fitted(self)
        rows: Floats = validate_data(self, X, dtype=np.float64, reset=False)
        reports = sampler(self.mechanism_).draw(_nearest(rows, self.values_))
        found: NDArray[np.float64] = self.values_[reports]
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


def _values(rows: Floats, most: int) -> Floats:
    """Return the distinct rows where they are few, and the centres of clusters otherwise, array (k, columns)."""
    distinct = np.unique(rows, axis=0)
    if len(distinct) <= most:
        return distinct
    centres: Floats = np.unique(KMeans(most, n_init=1, random_state=0).fit(rows).cluster_centers_, axis=0)
    return centres


def _nearest(rows: Floats, values: Floats) -> NDArray[np.intp]:
    """Return the position of the value nearest to each row, array (n,)."""
    found = np.zeros(len(rows), dtype=np.intp)
    least = np.full(len(rows), np.inf)
    for position, value in enumerate(values):
        away = np.square(rows - value).sum(axis=1)
        closer = away < least
        found[closer], least[closer] = position, away[closer]
    return found


def _loss(rows: Floats, nearest: NDArray[np.intp], values: Floats) -> Floats:
    """Return how far each value is on average from the rows that are taken for another, array (k, k)."""
    away = np.stack([np.linalg.norm(rows - value, axis=1) for value in values], axis=1)
    counts = np.bincount(nearest, minlength=len(values))
    total = np.stack([np.bincount(nearest, each, len(values)) for each in away.T], axis=1)
    between: Floats = np.linalg.norm(values[:, None] - values[None], axis=2)
    return np.where(counts[:, None] > 0, total / np.maximum(counts, 1)[:, None], between)
