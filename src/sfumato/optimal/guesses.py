"""Guesses for the program of an attacker who may guess anywhere: finer where its mechanism uses the gaps."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..core.arrays import Floats
from ..evidence import PlaceDistortion
from ..geo.true_points import Guesses
from .result import Design

_SHARE: Final = 0.98  # of what guesses are missing: what is left is not worth more of them
_RINGS: Final = 2  # of guesses around the best one
_STEP: Final = 1 / 3  # of the distance to the nearest known guess, between the new ones
_ALIKE: Final = 0.6  # of that step: guesses nearer than this are one
_UNUSED: Final = 1e-3  # of the price of a report's error: a guess that never has more is left out


def finer(asked: PlaceDistortion, found: Design, attack: Guesses) -> PlaceDistortion:
    """Return the distortion with guesses around the best ones against a mechanism, and without those of no use.

    Where the best guess for a report is far from those that the program knew, it is given that one and others
    around it: in the next program the best guess lies beside it.

    Args:
        asked: The distortion, with the guesses that the program knew.
        found: Its design.
        attack: The best guesses against that.
    """
    likely = found.problem.prior.probabilities @ found.mechanism.matrix
    away = _nearest(attack.points, asked.guesses)
    missing = likely * away**2  # near its least value an error grows with the square of the distance
    order = np.argsort(-missing)
    covered = np.cumsum(missing[order])
    used = order[: int(np.searchsorted(covered, _SHARE * covered[-1])) + 1]
    known = _used(asked.guesses, found)
    side = _STEP * away[used]
    tried = np.concatenate(
        [attack.points[used], *(attack.points[used] + side[:, None] * each for each in _patch())]
    )
    apart = _ALIKE * np.tile(side, len(tried) // len(used))
    near = _nearest(tried, known) if len(known) else np.full(len(tried), np.inf)
    added: list[Floats] = []
    for guess, least, distance in zip(tried, apart, near, strict=True):
        if distance > least and (not added or _nearest(guess[None], np.array(added))[0] > least):
            added.append(guess)
    return asked.with_guesses(np.array(added).reshape(-1, 2), known)


def _used(guesses: Floats, found: Design) -> Floats:
    """Return the guesses that have a price for some report, array (k, 2)."""
    prices = None if found.optimality is None else found.optimality.multipliers.guesses
    if prices is None or prices.shape[0] != len(guesses):
        return guesses
    total = prices.sum(axis=0)
    kept = (prices > _UNUSED * total).any(axis=1)
    return guesses[kept] if kept.any() else guesses


def _nearest(points: Floats, others: Floats) -> Floats:
    """Return how far each point is from the nearest of the others, array (len(points),), metres."""
    away: Floats = np.hypot(*(points[:, None] - others[None]).transpose(2, 0, 1)).min(axis=1)
    return away


def _patch() -> list[Floats]:
    """Return the vertices around the origin of a triangular lattice with steps of length one."""
    steps = range(-_RINGS, _RINGS + 1)
    return [
        np.array((a + b / 2, b * np.sqrt(3) / 2))
        for a in steps
        for b in steps
        if 0 < max(abs(a), abs(b), abs(a + b)) <= _RINGS
    ]
