"""The max divergence and its approximate form, with the set of outputs that attains it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats, readonly
from ..core.frozen import Short
from ..errors import InputError
from .distributions import Rows, log_ratios, single
from .divergence import Divergence
from .profile import vertices


@final
@dataclass(frozen=True, slots=True)
class MaxDivergence(Divergence):
    """The (approximate) max divergence: the least epsilon that a delta leaves.

    D(p || q) = max over sets R with p[R] >= delta of ln((p[R] - delta) / q[R])

    It is the inverse of the privacy profile, found exactly from its vertices. It may be
    negative where delta is large; the epsilon of differential privacy is then 0.

    Attributes:
        delta: From 0 to 1.

    Raises:
        InputError: If delta is not between 0 and 1.

    Source:
        Kawamoto and Murakami, definition 1; Dwork and Roth, definition 3.6.
    """

    delta: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.delta <= 1:
            raise InputError(f"delta {self.delta} is not between 0 and 1.", "use 0 for the max divergence.")

    @property
    def name(self) -> str:
        """The name of the divergence in texts."""
        return f"max divergence at delta {self.delta:g}" if self.delta else "max divergence"

    def _between(self, p: Floats, q: Floats) -> Floats:
        if self.delta == 0:
            return np.asarray(log_ratios(p, q).max(axis=-1))
        return _inverse(p, q, self.delta)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MaxDivergenceWitness(Short):
    """The value of a max divergence and the outputs that attain it.

    Attributes:
        value: The divergence in nats.
        delta: The delta that was allowed for.
        outputs: Positions of the outputs in the set R that attains the value: those of
            the largest likelihood ratios.
    """

    value: float
    delta: float
    outputs: NDArray[np.intp]


def max_divergence(p: Rows, q: Rows, delta: float = 0.0) -> MaxDivergenceWitness:
    """Return the (approximate) max divergence of a pair, with the set that attains it.

    Args:
        p: A distribution, array (m,).
        q: A distribution on the same outputs.
        delta: From 0 to 1.

    Raises:
        InputError: If an argument is not a distribution, or delta is not between 0 and 1.

    Example:
        >>> max_divergence([0.98, 0.02, 0.0], [0.98, 0.0, 0.02]).outputs
        array([1])
    """
    first, second = single(p, q)
    value = MaxDivergence(delta)(first, second)
    logs = log_ratios(first, second)
    if np.isposinf(value):
        chosen = np.isposinf(logs)
    elif np.isneginf(value):
        chosen = first > 0
    else:
        # Where the profile leaves delta, every output with a larger ratio helps; the largest
        # ratio is named even where the value equals it up to rounding.
        chosen = logs >= min(value, float(logs[np.isfinite(logs)].max()))
    return MaxDivergenceWitness(value, delta, readonly(np.flatnonzero(chosen)))


def _inverse(p: Floats, q: Floats, delta: float) -> Floats:
    """Return the least epsilon at which each profile is at most delta."""
    answer = np.full(p.shape[:-1], np.inf)
    for vertex in vertices(p, q):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            fall = np.where(vertex.slope > 0, (delta - vertex.delta) / vertex.slope, 1.0)
            left = vertex.epsilon + np.log1p(-np.minimum(fall, 1.0))
        # Before the first finite ratio only epsilon = inf brings the profile to delta.
        answer = np.where((vertex.delta <= delta) & ~np.isposinf(vertex.epsilon), left, answer)
    return np.where(delta >= p.sum(axis=-1), -np.inf, answer)
