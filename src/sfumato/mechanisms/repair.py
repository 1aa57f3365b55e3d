"""The repair of a matrix, such as a solver's answer, so that it keeps its guarantees strictly.

A solver's answer breaks its rows by tolerances, and a zero against a positive
probability is an infinite likelihood ratio. Three steps repair it:

1. Envelope: each column becomes its smallest majorant that keeps every ratio,
   x'(s) = max over s' of exp(-e(s', s)) x(s').
2. Rows are divided by their sums, which moves ratios by as much as the sums differ.
3. The smallest share of a constant mechanism that makes every ratio strict again is
   mixed in. A constant mechanism hides everything, so it also restores the distortion.
"""

from __future__ import annotations

import numpy as np

from ..core.arrays import Floats, floats
from ..core.metric import shortest_paths
from ..core.weights import FINE, ONE_WORD
from ..errors import InputError

_NEVER = 1e-11  # a column whose largest probability is smaller is noise of the solver
_COARSE = 2.0**-86  # a positive probability below this loses more than 2**-40 of itself as an integer,
_LIFT = 2.0**-50  # and is lifted by this share of the constant, for its neighbours' likelihood ratios
_LITTLE = 1e-8  # relative: so much less of every exponent costs nothing that is seen
_RATIO = 3e-14  # of a likelihood ratio, which floats cannot resolve
SAME = 1e-10  # rows whose exponent is smaller become equal: floats cannot keep them apart and private


def made_private(
    matrix: Floats,
    exponents: Floats | None,
    *,
    prior: Floats | None = None,
    distance: Floats | None = None,
    minimum: float = 0.0,
    margin: float = 1e-9,
) -> tuple[Floats, float]:
    """Return a row-stochastic matrix that keeps the guarantees, and the constant's share.

    Args:
        matrix: Array (n, m), nearly row-stochastic.
        exponents: Array (n, n) of e with p(o|s) <= exp(e[s, s']) p(o|s') and the triangle
            inequality, ``inf`` where nothing is asked; None without metric privacy.
        prior: Array (n,), for the distortion.
        distance: Array (guesses, n), for the distortion.
        minimum: The distortion to keep.
        margin: The relative part of every exponent, and of the distortion, left for rounding; of
            exponents at least what rounding the matrix to integers can move.
    """
    columns = np.maximum(floats(matrix, "the matrix", shape=(None, None)), 0.0)
    columns[:, columns.max(axis=0) < _NEVER] = 0.0
    if not (columns.sum(axis=1) > 0).all():
        raise InputError("a row of the matrix has no positive entry.", "pass probabilities.")
    share = 0.0
    allowed: Floats | None = None
    if exponents is not None:
        n = len(columns)
        asked = floats(exponents, "the array of exponents", shape=(n, n), infinite=True)
        allowed = joined(_within(asked, margin, _rounding(columns.shape[1])))
        columns = _envelope(columns, allowed)
    rows: Floats = columns / columns.sum(axis=1, keepdims=True)
    constant = rows.max(axis=0)
    constant = constant / constant.sum()
    if allowed is not None:
        share = _share_for_ratios(rows, constant, allowed)
        mixed = (1 - share) * rows + share * constant
        if ((mixed > 0) & (mixed < _COARSE)).any():
            share = max(share, _LIFT, _COARSE / float(constant[constant > 0].min()))
    if distance is not None and prior is not None and minimum > 0:
        share = max(share, _share_for_distortion(rows, prior, distance, minimum * (1 + margin)))
    return (1 - share) * rows + share * constant, share


def _rounding(observables: int) -> float:
    """Return by how much at most rounding to integers moves the logarithm of a ratio, with a reserve.

    Mixing in a constant may lift what needed two words to what needs one, so that is the case that counts.
    """
    return float(_RATIO + 4 * 0.5**ONE_WORD * (1 / FINE + observables**2))


def _within(exponents: Floats, margin: float, least: float) -> Floats:
    """Return exponents a relative margin, and an absolute one at least, below the given ones."""
    positive = exponents[exponents > 0]
    share = max(margin, least / float(positive.min())) if positive.size else margin
    if share <= max(margin, _LITTLE):
        return exponents * (1 - share)
    lower = exponents * (1 - margin)
    return shortest_paths(np.where(exponents > 0, np.maximum(np.minimum(lower, exponents - least), 0.0), 0.0))


def joined(allowed: Floats, below: float = SAME) -> Floats:
    """Return the exponents with near-equal secrets joined: all of a group have the same ones.

    Args:
        allowed: Array (n, n) with the triangle inequality.
        below: Secrets whose exponent is smaller, in either order, are joined: rows that sum to one
            are equal where one is nowhere larger.
    """
    near = np.minimum(allowed, allowed.T) < below
    if int(near.sum()) == len(allowed):
        return allowed
    paths = shortest_paths(np.where(near, 0.0, allowed))
    first = np.argmax(paths == 0, axis=1)
    return paths[np.ix_(first, first)]


def _envelope(columns: Floats, allowed: Floats) -> Floats:
    factors = np.exp(-allowed)
    found = columns.copy()
    for other in range(len(columns)):
        np.maximum(found, factors[other, :, None] * columns[other], out=found)
    return found


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
    seen = distance * prior
    error = float((seen @ rows).min(axis=0).sum())
    blind = float(seen.sum(axis=1).min())
    if error >= minimum:
        return 0.0
    return min(1.0, (minimum - error) / (blind - error) * (1 + 1e-6)) if blind > error else 1.0
