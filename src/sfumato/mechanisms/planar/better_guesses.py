"""Bounds of how much better than by a cell's place the single reports of the cell can be guessed."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ...core.arrays import Floats
from .cells import Block

_REACHES: Final = (1 / 64, 1 / 16, 1 / 4, 1, 4)  # of the mean distance: how far off better guesses are looked for
_SMALLEST_M: Final = 1e-9
_ROUNDING: Final = 1e-9  # of sums of exponentials, quotients and roots


def gains(block: Block) -> Floats:
    """Return bounds of the mean gain of a cell's reports, array (m,), for weights times exp(-epsilon length).

    For a report of the cell the mean distance to a guess y + h is at least
    F(y) - (pull - held) |h| + curvature |h|**2 for |h| up to a reach; so no guess is better
    than y by more than (pull - held)**2 / (4 curvature). docs/proofs/planar-noise.md.

    Args:
        block: The cells and places.
    """
    w, v = block.kernel * block.weights, block.misses
    mass = w.sum(axis=1)
    elsewhere = np.where(v == 0, 0.0, w)
    usual, most = _pulls(block, elsewhere, mass - elsewhere.sum(axis=1))
    between, farthest = np.einsum("ij,ij->i", w, v) / mass, v.max(axis=1)
    found = np.minimum(between * mass * block.cell.grown, usual * farthest)
    for share in _REACHES:
        reach = np.minimum(share * between, farthest) + _SMALLEST_M
        curvature = _curvature(block, elsewhere, reach)
        # Where the best guess may be farther away than the reach, it is still among the places.
        curvature *= np.where(reach * curvature >= most, 1.0, reach / np.maximum(farthest, reach))
        found = np.minimum(found, np.divide(usual**2, 4 * curvature, out=found.copy(), where=curvature > 0))
    return np.where(most <= 0, 0.0, found) * (1 + _ROUNDING)


def _pulls(block: Block, w: Floats, held: Floats) -> tuple[Floats, Floats]:
    """Return by how much the places elsewhere pull more than the place itself holds: root mean square and maximum.

    For an offset d the pull is g + A d up to second order, with g = sum of w u and
    A = -epsilon sum of w u n', u and n being the directions from the cell's place and to its middle.

    Args:
        block: The cells and places.
        w: The weights of the places elsewhere, array (m, n).
        held: The weight of the cell's place itself, array (m,).
    """
    cell, epsilon, x, y, r = block.cell, block.cell.epsilon, block.points, block.targets, block.lengths
    along = np.divide(w, block.misses, out=np.zeros_like(w), where=block.misses > 0)
    g = along @ x - along.sum(axis=1, keepdims=True) * y
    both = epsilon * np.divide(along, r, out=np.zeros_like(r), where=r > 0)
    square = np.zeros(len(y))
    for i in range(2):
        for k in range(2):
            u, n = x[:, i] - y[:, i : i + 1], block.centres[:, k : k + 1] - block.spots[:, k]
            square += np.einsum("ij,ij,ij->i", both, u, n) ** 2
    slope = np.sqrt(square)
    close = r <= cell.radius / 4  # their directions from the middle say nothing
    first = 2 * epsilon * np.einsum("ij,ij->i", w, close) + held * epsilon
    bent = np.divide(w, r, out=np.zeros_like(r), where=~close).sum(axis=1)
    second = epsilon / 2 * bent + epsilon**2 / 2 * cell.grown * w.sum(axis=1)
    force, deviation = np.hypot(*g.T) + _ROUNDING * w.sum(axis=1), math.sqrt(cell.variance)
    usual = np.where(
        held > 0, np.maximum(force - held, 0.0) + deviation * slope, np.hypot(force, deviation * slope)
    )
    usual += math.sqrt(2) * deviation * first + math.sqrt(cell.fourth) * second
    most = force - held + cell.radius * (slope + first) + cell.radius**2 * second
    return usual, most


def _curvature(block: Block, w: Floats, reach: Floats) -> Floats:
    """Return a lower bound of the least eigenvalue of the sum of w (I - u u') / (2 (v + reach)) in each cell.

    The weights are those at the middle, lowered to the least in the cell.

    Args:
        block: The cells and places, at distances v in directions u.
        w: Array (m, n).
        reach: Array (m,).
    """
    x, y, v = block.points, block.targets, block.misses
    part = w / (2 * (v + reach[:, None]))
    mass = part.sum(axis=1)
    np.divide(part, v * v, out=part, where=v > 0)
    dx, dy = x[:, 0] - y[:, :1], x[:, 1] - y[:, 1:]
    xx, xy, yy = (np.einsum("ij,ij,ij->i", part, a, b) for a, b in ((dx, dx), (dx, dy), (dy, dy)))
    least = mass - (xx + yy + np.hypot(xx - yy, 2 * xy)) / 2
    found: Floats = np.maximum(least - _ROUNDING * mass, 0.0) / block.cell.grown
    return found
