"""Fewer secrets that stand for all, and the observables near those that they use: where to begin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...core.arrays import Floats
from .program import DETOUR, Positions, Program, edges_of, nearest_of, program

_FEW: Final = 150  # secrets that are solved with all observables
_APART: Final = 1.99  # times the step, the least exponent between secrets of the net
_BESIDE: Final = 2.01  # times the step: not more than two steps away
_ROUNDED: Final = 1e-9
_NEAREST: Final = 6  # pairs of a net whose rows few edges do not imply


def coarser(given: Program) -> tuple[Program, Positions, Positions] | None:
    """Return the problem of a net of secrets, the net, and its observables; None where there is none.

    Every secret is near one of the net, which takes over its cost. Observables are those whose anchor is in the
    net. The problem only shows where to look: it bounds nothing.
    """
    n, _ = given.shape
    if n <= _FEW:
        return None
    net = _net(given.exponents, np.unique(given.anchors))
    if len(net) > 0.7 * n:
        return None
    member = given.exponents[net].argmin(axis=0)
    place = np.full(n, -1)
    place[net] = np.arange(len(net))
    kept = np.flatnonzero(place[given.anchors] >= 0)
    prior, costs = np.zeros(len(net)), np.zeros((len(net), len(kept)))
    np.add.at(prior, member, given.prior)
    np.add.at(costs, member, given.costs[kept].T)
    exponents = given.exponents[np.ix_(net, net)]
    pairs = edges_of(exponents, DETOUR)
    if pairs is None:
        order = np.argsort(exponents, axis=1)[:, 1 : 1 + _NEAREST]
        pairs = np.column_stack([np.repeat(np.arange(len(net)), order.shape[1]), order.ravel()])
        pairs = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    return program(prior, costs, exponents, place[given.anchors[kept]], pairs), net, kept


def beside(given: Program, used: Positions) -> Positions:
    """Return the observables at most a step of observables away from used ones."""
    hubs = np.unique(given.anchors[used])
    near = given.exponents[hubs].min(axis=0) <= _step(given) * (1 + _ROUNDED)
    return np.flatnonzero(near[given.anchors])


def spread(given: Program, some: Sequence[int]) -> list[int]:
    """Return those of some observables, in turn, that are more than a step of observables from each one before."""
    near = _step(given) * (1 + _ROUNDED)
    found: list[int] = []
    for o in some:
        anchor = given.anchors[o]
        if not found or given.exponents[anchor, given.anchors[found]].min() > near:
            found.append(o)
    return found


def _step(given: Program) -> float:
    """Return the median exponent between observables that are next to each other."""
    hubs = np.unique(given.anchors)
    return float(np.median(nearest_of(given.exponents[np.ix_(hubs, hubs)])))


def _net(exponents: Floats, first: Positions) -> Positions:
    """Return secrets that are no nearer to each other than about two steps, with every other one near them.

    Args:
        exponents: Array (n, n).
        first: The secrets that are taken first, if they are apart: where observables are.
    """
    step = float(np.median(nearest_of(exponents)))
    free = np.ones(len(exponents), dtype=np.bool_)
    beside = np.zeros(len(exponents), dtype=np.intp)  # how many of the net are two steps away
    chosen: list[int] = []

    def choose(s: int) -> None:
        chosen.append(s)
        free[exponents[s] < _APART * step] = False
        beside[exponents[s] <= _BESIDE * step] += 1

    for s in first.tolist():
        if free[s]:
            choose(s)
    # Holes are filled so that they fit: a lattice stays one.
    while free.any():
        choose(int(np.where(free, beside, -1).argmax()))
    return np.sort(np.asarray(chosen, dtype=np.intp))
