"""The vertices of hockey-stick profiles, from the right, for many pairs at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..core.arrays import Floats
from ._distributions import log_ratios


class Vertex(NamedTuple):
    """One vertex of each profile, arrays (...).

    Attributes:
        epsilon: The logarithm of the likelihood ratio where the profile bends.
        delta: The profile there.
        slope: Sum of p e**(epsilon - ln(p/q)) over the ratios at or above, so that to
            the left, up to the next vertex, delta(e) = delta + slope (1 - e**(e - epsilon)).
    """

    epsilon: Floats
    delta: Floats
    slope: Floats


def vertices(p: Floats, q: Floats) -> Iterator[Vertex]:
    """Yield the vertices in falling order of epsilon.

    Every step adds numbers that are not negative, so that small deltas keep their digits.

    Args:
        p: Array (..., m) of distributions.
        q: Array (..., m) of distributions.
    """
    logs = log_ratios(p, q)
    order = np.argsort(-logs, axis=-1, kind="stable")
    logs = np.take_along_axis(logs, order, axis=-1)
    finite = np.where(np.isposinf(logs), 0.0, np.take_along_axis(p, order, axis=-1))
    delta = np.asarray(np.where(q == 0, p, 0.0).sum(axis=-1))
    slope, epsilon = np.zeros_like(delta), logs[..., 0]
    for k in range(logs.shape[-1]):
        following = logs[..., k]
        with np.errstate(invalid="ignore"):
            step = np.where(following == epsilon, 0.0, following - epsilon)
        delta = delta + slope * -np.expm1(step)
        slope = slope * np.exp(step) + finite[..., k]
        epsilon = following
        yield Vertex(epsilon, delta, slope)
