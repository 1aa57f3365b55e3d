"""Matrices that satisfy their guarantees strictly, in integers: closed forms, and repaired answers of solvers.

Exponents of a closed form are lowered by the most that rounding can do. A solver's answer is replaced by its
envelope, normalised, and mixed with a constant mechanism: docs/proofs/repair.md.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..core import FINE, ONE_WORD, TWO_WORDS, Mechanism, MetricPrivacy, Space, quantise, shortest_paths
from ..core.arrays import Floats, floats
from ..errors import InputError

_TINY = 2.0**-80  # 126 bits round a probability of this size by a factor within 1 + 2**-46
_UNIFORM_SHARE = 2.0**-70  # share of the uniform distribution that lifts all probabilities to about that size
_NEGLIGIBLE = 1e-9  # part of epsilon that 62 bits may cost before 126 are used
_MOST = 1e-3  # part of epsilon that rounding may cost at all

_NEVER = 1e-11  # a column whose largest probability is smaller is noise of the solver
_COARSE = 2.0**-86  # a positive probability below this loses more than 2**-40 of itself as an integer,
_LIFT = 2.0**-50  # and is lifted by this share of the constant, for its neighbours' likelihood ratios
_LITTLE = 1e-8  # relative: so much less of every exponent costs nothing that is seen
_RATIO = 3e-14  # of a likelihood ratio, which floats cannot resolve
SAME = 1e-10  # rows whose exponent is smaller become equal: floats cannot keep them apart and private


def strictly_private(build: Callable[[Floats], Floats], space: Space, guarantee: MetricPrivacy) -> Mechanism:
    """Return the mechanism on a space that ``build`` gives for slightly lowered exponents, with its guarantee.

    ``build`` takes exponents (n, n), the shortest paths of epsilon d(s, s'), to a stochastic matrix (n, n) with
    p(o|s) <= exp(exponents[s, s']) p(o|s'), up to floating-point rounding. Secrets are observables, and p(o|s)
    must be positive where exponents[o, s] is finite.
    """
    guarantee.check_secrets(space)
    exponents = np.asarray(guarantee.epsilon * guarantee.metric.closure().array)
    support = np.isfinite(exponents.T)
    matrix = lower_exponents(lambda scale: build(exponents * scale), exponents, space, space, support=support)
    return matrix.promising(guarantee)


def lower_exponents(
    build: Callable[[float], Floats],
    exponents: Floats,
    secrets: Space,
    observables: Space,
    *,
    support: NDArray[np.bool_] | None = None,
    span: float = 0.0,
    ratios: int = 1,
) -> Mechanism:
    """Return the mechanism that ``build`` gives for a scale slightly below 1.

    ``build`` takes a scale to a stochastic matrix (n, m) that satisfies ``scale * exponents`` up to rounding. The
    integers satisfy ``exponents``, an array of any shape. A positive probability is needed where ``support``,
    array (n, m), is true, by default everywhere. ``span`` is the largest exponent that ``build`` takes, where it
    is above these, and ``ratios`` the number of ratios of the matrix that are multiplied where it is used.
    """
    positive = exponents[np.isfinite(exponents) & (exponents > 0)]
    matrix = build(1.0)
    mask = np.ones(matrix.shape, dtype=bool) if support is None else support
    matrix = _lift(matrix, mask)
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
    matrix = _lift(build(1 - reserve), mask)
    return Mechanism.from_weights(quantise(matrix, bits), bits, secrets, observables)


def equal_rows(matrix: Floats, exponents: Floats) -> Floats:
    """Return the matrix with exactly equal rows for secrets of exponent 0."""
    return np.asarray(matrix[np.argmax(exponents == 0, axis=1)])


def _lift(matrix: Floats, mask: NDArray[np.bool_]) -> Floats:
    """Return the matrix, mixed with a tiny uniform share where integers need it: no ratio above one grows."""
    if not ((matrix < _TINY) & mask).any():
        return matrix
    return np.asarray((1 - _UNIFORM_SHARE) * matrix + _UNIFORM_SHARE / matrix.shape[1])


def repair_to_private(
    matrix: Floats,
    exponents: Floats | None,
    *,
    prior: Floats | None = None,
    distance: Floats | None = None,
    minimum: float = 0.0,
    margin: float = 1e-9,
) -> tuple[Floats, float]:
    """Return a row-stochastic matrix that satisfies the guarantees, and the constant's share.

    Raises `InputError` if a row has no positive entry, or an array does not fit. ``exponents`` e, array (n, n),
    satisfy the triangle inequality, ``inf`` for pairs without a limit; None without metric privacy. The prior (n,)
    and the distance (guesses, n) are those of the distortion, of which ``minimum`` is the least. ``margin`` is the
    relative part of every exponent, and of the distortion, left for rounding; of exponents at least the most by
    which rounding the matrix to integers can move them.
    """
    columns = np.maximum(floats(matrix, "the matrix", shape=(None, None)), 0.0)
    columns[:, columns.max(axis=0) < _NEVER] = 0.0
    if not (columns.sum(axis=1) > 0).all():
        raise InputError("a row of the matrix has no positive entry.", "pass probabilities.")
    share, allowed = 0.0, None
    if exponents is not None:
        n = len(columns)
        limits = floats(exponents, "the array of exponents", shape=(n, n), infinite=True)
        # The constant may lift entries that needed two words to one word, so the rounding to one word counts.
        rounding = float(_RATIO + 4 * 0.5**ONE_WORD * (1 / FINE + columns.shape[1] ** 2))
        allowed = merge_close_secrets(_shrink_exponents(limits, margin, rounding))
        columns = _envelope(columns, allowed)
    rows: Floats = columns / columns.sum(axis=1, keepdims=True)
    constant = rows.max(axis=0)
    constant = constant / constant.sum()
    if allowed is not None:
        share = _share_for_ratios(rows, constant, allowed)
        mixture = (1 - share) * rows + share * constant
        if ((mixture > 0) & (mixture < _COARSE)).any():
            share = max(share, _LIFT, _COARSE / float(constant[constant > 0].min()))
    if distance is not None and prior is not None and minimum > 0:
        share = max(share, _share_for_distortion(rows, prior, distance, minimum * (1 + margin)))
    return (1 - share) * rows + share * constant, share


def _shrink_exponents(exponents: Floats, margin: float, least: float) -> Floats:
    """Return exponents below the given ones by a relative margin, and at least by an absolute one."""
    positive = exponents[exponents > 0]
    share = max(margin, least / float(positive.min())) if positive.size else margin
    if share <= max(margin, _LITTLE):
        return exponents * (1 - share)
    lower = exponents * (1 - margin)
    return shortest_paths(np.where(exponents > 0, np.maximum(np.minimum(lower, exponents - least), 0.0), 0.0))


def merge_close_secrets(allowed: Floats, below: float = SAME) -> Floats:
    """Return the exponents (n, n), which need the triangle inequality, with near-equal secrets merged.

    Secrets whose exponent, in either order, is ``below`` get the same exponents: rows that sum to one are equal
    where one is nowhere larger.
    """
    floats(allowed, "allowed=", shape=(len(allowed), len(allowed)), infinite=True)
    near = np.minimum(allowed, allowed.T) < below
    if int(near.sum()) == len(allowed):
        return allowed
    paths = shortest_paths(np.where(near, 0.0, allowed))
    first = np.argmax(paths == 0, axis=1)
    return paths[np.ix_(first, first)]


def _envelope(columns: Floats, allowed: Floats) -> Floats:
    factors = np.exp(-allowed)
    majorants = columns.copy()
    for other in range(len(columns)):
        np.maximum(majorants, factors[other, :, None] * columns[other], out=majorants)
    return majorants


def _share_for_ratios(rows: Floats, constant: Floats, allowed: Floats) -> float:
    """Return the smallest share t with (1-t) (x_s - r x_s') <= t (r - 1) q everywhere."""
    share = 0.0
    with np.errstate(over="ignore"):
        ratios = np.exp(np.minimum(allowed, 700.0))
    for s in range(len(rows)):
        near = np.isfinite(allowed[s]) & (allowed[s] > 0)
        r = ratios[s, near, None]
        excess = rows[s] - r * rows[near]
        positive = excess > 0
        if positive.any():
            room = ((r - 1) * constant)[positive]
            share = max(share, float((excess[positive] / (excess[positive] + room)).max()))
    return min(1.0, share * (1 + 1e-6)) if share > 0 else 0.0


def _share_for_distortion(rows: Floats, prior: Floats, distance: Floats, minimum: float) -> float:
    costs = distance * prior
    error = float((costs @ rows).min(axis=0).sum())
    blind = float(costs.sum(axis=1).min())
    if error >= minimum:
        return 0.0
    return min(1.0, (minimum - error) / (blind - error) * (1 + 1e-6)) if blind > error else 1.0
