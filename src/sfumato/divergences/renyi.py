"""Renyi divergences of every positive order, up to the max divergence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ..core.arrays import Floats
from ..errors import InputError
from .distributions import log_ratios, power_sum
from .divergence import Divergence

_LARGEST: Final = 1e300  # a larger order is nearer to the max divergence than floats can tell


@final
@dataclass(frozen=True, slots=True)
class Renyi(Divergence):
    """The Renyi divergence of order a, in nats.

    D_a(p || q) = 1/(a - 1) ln sum of p**a q**(1-a)

    At order 1 it is the Kullback-Leibler divergence and at ``inf`` the max divergence,
    the limits on either side; it never falls as the order grows.

    Attributes:
        order: A positive number, or ``inf``.

    Raises:
        InputError: If the order is not positive.

    Example:
        >>> round(Renyi(2.0)([0.75, 0.25], [0.25, 0.75]), 6)
        0.847298

    Source:
        Van Erven and Harremoes, "Renyi divergence and Kullback-Leibler divergence",
        IEEE Transactions on Information Theory 60(7), 2014.
    """

    order: float

    def __post_init__(self) -> None:
        if not self.order > 0:
            raise InputError(
                f"the order {self.order} is not positive.", "use 1 for Kullback-Leibler, inf for max divergence."
            )

    @property
    def name(self) -> str:
        """The name of the divergence in texts."""
        return f"Rényi divergence of order {self.order:g}"

    def _between(self, p: Floats, q: Floats) -> Floats:
        if self.order > _LARGEST:
            return np.asarray(log_ratios(p, q).max(axis=-1))
        if self.order == 1:
            return power_sum(p, q, 1.0)
        excess = self.order - 1
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            shift = excess * power_sum(p, q, self.order)
            near: Floats = np.log1p(shift) / excess
        # Where the sum overflows, or is a small rest of 1, its logarithm is taken term by term.
        far = ~((shift > -0.5) & np.isfinite(shift))
        return np.where(far, _by_logarithms(p, q, excess), near) if far.any() else near


def _by_logarithms(p: Floats, q: Floats, excess: float) -> Floats:
    with np.errstate(divide="ignore"):
        exponents = np.where(p > 0, np.log(p), 0.0) + excess * np.where(p > 0, log_ratios(p, q), 0.0)
    exponents[p == 0] = -np.inf
    top = exponents.max(axis=-1)
    finite = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        sums = np.log(np.exp(exponents - finite[..., None]).sum(axis=-1)) + finite
    return np.asarray(sums / excess)
