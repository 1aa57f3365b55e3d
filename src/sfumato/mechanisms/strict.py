"""Closed forms whose likelihood ratios are exactly as large as allowed, kept so in integers.

Rounding to integers moves every ratio a little, and a ratio that was at its limit may
end up above it. So the exponents are first lowered by what rounding can do.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..core import Mechanism, MetricPrivacy, Space
from ..core.arrays import Floats
from ..core.weights import ONE_WORD, TWO_WORDS, quantise
from ..errors import InputError

_TINY = 2.0**-80  # 126 bits round a probability of this size by a factor within 1 + 2**-46
_MIXED = 2.0**-70  # share of the uniform distribution that lifts all probabilities to about that size
_NEGLIGIBLE = 1e-9  # part of epsilon that 62 bits may cost before 126 are used
_MOST = 1e-3  # part of epsilon that rounding may cost at all


def exponents_of(space: Space, guarantee: MetricPrivacy) -> Floats:
    """Return epsilon d(s, s') with shortest paths taken, array (n, n).

    Raises:
        InputError: If the metric is not on the space's n values.
    """
    guarantee.check_secrets(space)
    exponents: Floats = guarantee.epsilon * guarantee.metric.closure().array
    return exponents


def strictly_private(build: Callable[[Floats], Floats], exponents: Floats, space: Space) -> Mechanism:
    """Return the mechanism that ``build`` gives for exponents lowered slightly.

    Args:
        build: From exponents (n, n) to a stochastic matrix (n, n) with
            p(o|s) <= exp(exponents[s, s']) p(o|s'), up to floating-point rounding.
        exponents: Array (n, n) with the triangle inequality, to be kept by the integers.
        space: The n secrets, which are also the observables.

    Raises:
        InputError: If the exponents are too small for floats to keep them.
    """
    reached = np.isfinite(exponents)
    return lowered(lambda scale: build(exponents * scale), exponents, space, space, reached=reached)


def lowered(
    build: Callable[[float], Floats],
    exponents: Floats,
    secrets: Space,
    observables: Space,
    *,
    reached: NDArray[np.bool_] | None = None,
    span: float = 0.0,
    ratios: int = 1,
) -> Mechanism:
    """Return the mechanism that ``build`` gives for a scale slightly below 1.

    Args:
        build: From a scale to a stochastic matrix (n, m) that keeps ``scale * exponents``,
            up to floating-point rounding.
        exponents: What the integers must keep, array of any shape.
        secrets: The n secrets.
        observables: The m observables.
        reached: Where a positive probability is needed, array (n, m); by default everywhere.
        span: The largest exponent that ``build`` takes, where it is above ``exponents``.
        ratios: How many ratios of the matrix are multiplied where it is used.

    Raises:
        InputError: If the exponents are too small for floats to keep them.
    """
    positive = exponents[np.isfinite(exponents) & (exponents > 0)]
    matrix = build(1.0)
    needed = np.ones(matrix.shape, dtype=bool) if reached is None else reached
    matrix = _lifted(matrix, needed)
    if not positive.size:
        return Mechanism(matrix, secrets, observables)
    size = max(matrix.shape)
    floating = (max(span, float(positive.max())) + size + 16) * 2.0**-52
    smallest = float(matrix[matrix > 0].min())
    for bits in (ONE_WORD, TWO_WORDS):
        rounding = 2.0**-bits * (1 / smallest + size**2)
        reserve = 4 * ratios * (floating + rounding) / float(positive.min())
        if reserve <= _NEGLIGIBLE:
            break
    if reserve > _MOST:
        raise InputError(
            f"two secrets may differ only by a factor of exp({positive.min():.3g}), which rounding would break.",
            "raise epsilon, or merge secrets that are this near.",
        )
    matrix = _lifted(build(1 - reserve), needed)
    return Mechanism.from_weights(quantise(matrix, bits), bits, secrets, observables)


def joined(matrix: Floats, exponents: Floats) -> Floats:
    """Return the matrix with exactly equal rows for secrets that must not be told apart."""
    equal: Floats = matrix[np.argmax(exponents == 0, axis=1)]
    return equal


def _lifted(matrix: Floats, needed: NDArray[np.bool_]) -> Floats:
    """Return the matrix, with a very small share of the uniform distribution where integers need it.

    Mixing a constant in lowers every ratio that is above one.
    """
    if not ((matrix < _TINY) & needed).any():
        return matrix
    lifted: Floats = (1 - _MIXED) * matrix + _MIXED / matrix.shape[1]
    return lifted
