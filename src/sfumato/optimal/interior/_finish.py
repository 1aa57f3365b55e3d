"""From the last iterate to a mechanism that sums to one and is still strictly inside every pair row."""

from __future__ import annotations

import math

import numpy as np

from ._arrays import Floats
from ._program import Program

MIXES: tuple[float, ...] = (0.0, *(math.pow(10.0, k / 4) for k in range(-56, -15)))


def mechanism(program: Program, x: Floats, interior: Floats) -> Floats:
    """Normalise columns and mix in a little of an interior mechanism, so that all demands hold in floats.

    The least share of `MIXES` that does so is taken.

    Args:
        program: The reduced program.
        x: Array (m, n), the last iterate.
        interior: Array (m, n), a mechanism strictly inside all demands.

    Returns:
        Array (m, n) whose columns sum to one.
    """
    bound = np.exp(program.ratio)
    np.fill_diagonal(bound, np.inf)
    for mix in MIXES:
        out = (1 - mix) * x + mix * interior
        out /= out.sum(axis=0)
        if _inside(program, out, bound):
            return out
    return interior


def _inside(program: Program, x: Floats, bound: Floats) -> bool:
    if not (x > 0).all():
        return False
    if program.minimum is not None and program.distortion(x) < program.minimum:
        return False
    if program.loss_bound is not None and program.loss(x) > program.loss_bound:
        return False
    return all(bool((row[:, None] < bound * row[None, :]).all()) for row in x)


def expand(program: Program, x: Floats) -> Floats:
    """Return the array (N, M) over original secrets and observables."""
    out = np.zeros((len(program.merged), program.observables))
    out[:, program.kept] = x[:, program.merged].T
    return out
