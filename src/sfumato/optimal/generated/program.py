"""A problem whose observables are generated: all numbers by observable, with secrets near their neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...core.frozen import Short
from ..interior.loop import limits
from ..interior.pairs import Columns, irreducible
from ..interior.workers import Workers
from .edges import Edges, Ints, ordered

Positions = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Program(Short):
    """Costs, exponents and edges; secrets are ordered so that the ends of an edge are near each other.

    Attributes:
        prior: Array (n,), mass.
        costs: Array (m, n), prior-weighted loss of each observable.
        exponents: Array (n, n).
        pairs: Array (k, 2), the edges, both ways.
        edges: The rows of one observable.
        anchors: Array (m,), the secret that each observable costs least.
        order: Array (n,), which secret each one is.
        threshold: Array (n, n), see `interior.loop.limits`, where the rows of all pairs count; None where those of
            the edges do.
    """

    prior: Floats
    costs: Floats
    exponents: Floats
    pairs: Ints
    edges: Edges
    anchors: Positions
    order: Positions
    threshold: Floats | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of secrets and of observables."""
        m, n = self.costs.shape
        return n, m

    def columns(self, chosen: Positions) -> Columns:
        """Return the problem with some of the observables."""
        n = len(self.prior)
        return Columns(
            prior=self.prior,
            expected=np.ascontiguousarray(self.costs[chosen]),
            ratio=self.exponents,
            capped=np.zeros((n, n), dtype=np.bool_),
            members=np.arange(n),
            weighted=None,
            minimum=None,
            secret_loss=None,
            max_loss=None,
            edges=self.pairs if self.threshold is None else None,
        )

    def loose(self) -> Program:
        """Return the problem with the rows of its edges alone."""
        return replace(self, threshold=None)

    def strict(self, workers: Workers) -> Program:
        """Return the problem with the rows of all pairs, of which those of the edges are present at first."""
        return replace(self, threshold=limits(self.exponents, irreducible(self.exponents, workers)))


def program(prior: Floats, costs: Floats, exponents: Floats, anchors: Positions, pairs: Ints) -> Program:
    """Return a problem in the order of its edges, with their rows alone.

    Args:
        prior: Array (n,).
        costs: Array (n, m), prior-weighted.
        exponents: Array (n, n), a metric.
        anchors: Array (m,), the secret that each observable costs least.
        pairs: Array (k, 2), the edges.
    """
    n = len(prior)
    order = ordered(pairs, n)
    place = np.empty(n, dtype=np.intp)
    place[order] = np.arange(n)
    moved = np.ascontiguousarray(exponents[np.ix_(order, order)])
    there = place[pairs]
    return Program(
        prior[order],
        np.ascontiguousarray(costs[order].T),
        moved,
        there,
        Edges.of(there, moved),
        place[anchors],
        order,
    )
