"""Fewer secrets that stand for all, and the observables near those that they use: where to begin."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...core.arrays import Floats
from .edges import edges_of
from .program import Positions, Program, program

_FEW: Final = 150  # secrets that are solved with all observables
_STEPS: Final = 1.99  # times the least exponent, between secrets of the net
_NEAREST: Final = 6  # pairs of a net whose rows few edges do not imply


def coarser(given: Program) -> tuple[Program, Positions, Positions] | None:
    """Return the problem of a net of secrets, the net, and its observables; None where there is none.

    Every secret is near one of the net, which takes over its cost. Observables are those whose anchor is in the
    net. The problem only shows where to look: it bounds nothing.
    """
    n, _ = given.shape
    if n <= _FEW:
        return None
    net = _net(given.exponents)
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
    pairs = edges_of(exponents)
    if pairs is None:
        order = np.argsort(exponents, axis=1)[:, 1 : 1 + _NEAREST]
        pairs = np.column_stack([np.repeat(np.arange(len(net)), order.shape[1]), order.ravel()])
        pairs = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    found = program(prior, costs, exponents, place[given.anchors[kept]], pairs)
    return None if found is None else (found, net, kept)


def around(given: Program, net: Positions, used: Positions) -> Positions:
    """Return the observables near used ones: as near as any secret is to the net."""
    radius = float(given.exponents[net].min(axis=0).max()) * (1 + 1e-9)
    hubs = np.unique(given.anchors[used])
    near = given.exponents[hubs].min(axis=0) <= radius
    return np.flatnonzero(near[given.anchors])


def _net(exponents: Floats) -> Positions:
    """Return secrets that are no nearer to each other than about two steps, with every other one near them."""
    bare = exponents + np.diag(np.full(len(exponents), np.inf))
    apart = _STEPS * float(np.median(bare.min(axis=1)))
    free = np.ones(len(exponents), dtype=np.bool_)
    chosen: list[int] = []
    for s in range(len(exponents)):
        if free[s]:
            chosen.append(s)
            free &= exponents[s] >= apart
    return np.asarray(chosen, dtype=np.intp)
