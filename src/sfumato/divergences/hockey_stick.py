"""The hockey-stick divergence: the delta that an epsilon needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike

from ..core.arrays import Floats, numbers
from ..errors import InputError
from .distributions import Rows, pair
from .divergence import Divergence

_PLAIN: Final = 700.0  # exp of it is still a float, and so is its product with any probability


@final
@dataclass(frozen=True, slots=True)
class HockeyStick(Divergence):
    """The hockey-stick divergence of one epsilon.

    hs(p, q) = sum of max(0, p - e**epsilon q) = max over sets R of p[R] - e**epsilon q[R]

    It is the smallest delta with p[R] <= e**epsilon q[R] + delta for every set R, and at
    epsilon 0 the total variation.

    Attributes:
        epsilon: Any number, or an infinity.

    Raises:
        InputError: If epsilon is NaN.

    Source:
        Barthe and Olmedo, ICALP 2013; Balle, Barthe and Gaboardi, NeurIPS 2018.
    """

    epsilon: float

    def __post_init__(self) -> None:
        if math.isnan(self.epsilon):
            raise InputError("epsilon is NaN.", "pass a number, such as 0.5.")

    @property
    def name(self) -> str:
        """The name of the divergence in texts."""
        return f"hockey-stick divergence at epsilon {self.epsilon:g}"

    def _between(self, p: Floats, q: Floats) -> Floats:
        return np.asarray(np.maximum(p - _grown(q, self.epsilon), 0.0).sum(axis=-1))


def hockey_stick(p: Rows, q: Rows, epsilons: ArrayLike) -> Floats:
    """Return the hockey-stick divergence for one or many epsilons.

    Args:
        p: Distributions along the last axis, array (..., m).
        q: Distributions on the same observables; the leading axes broadcast.
        epsilons: A number or an array of any shape.

    Returns:
        Array of the shape of ``epsilons`` followed by the leading axes of the pairs.

    Raises:
        InputError: If an argument holds no distributions, or an epsilon is NaN.
    """
    first, second = pair(p, q)
    values = numbers(epsilons, "the epsilons")
    curves = [HockeyStick(float(epsilon))._between(first, second) for epsilon in values.ravel()]
    return np.array(curves, dtype=np.float64).reshape(values.shape + first.shape[:-1])


def _grown(q: Floats, epsilon: float) -> Floats:
    """Return e**epsilon q, where 0 stays 0; beyond the largest float any large number serves."""
    if epsilon <= _PLAIN:
        return np.asarray(math.exp(epsilon) * q)
    with np.errstate(divide="ignore"):
        logs = np.where(q > 0, epsilon + np.log(np.where(q > 0, q, 1.0)), -np.inf)
    return np.asarray(np.exp(np.minimum(logs, _PLAIN)))
