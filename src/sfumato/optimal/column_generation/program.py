"""Problems whose observables are generated, near pairs of secrets, and restricted programs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...core import paths_along
from ...core.arrays import Floats
from ...core.immutable import CompactRepr
from ..interior import loop
from ..interior.block_form import Iterate, Rows, build_form, complete_iterate, first_mechanism
from ..interior.blocks import cuthill_mckee
from ..interior.lapack import Workers
from ..interior.loop import limits
from ..interior.pair_rows import CAP, Columns, irreducible, trivial_symmetry

_NEAR: Final = 1.5  # times the nearest: on a lattice the neighbours, along diagonals, too
_MOST: Final = 16  # pairs per secret, and no more, are few
_TOLERANCE: Final = 1e-12
_LONGEST: Final = 1.5  # times a pair: the way along edges that nearly imply all rows
DETOUR: Final = 0.25
"""By which a first step towards a pair's other end may be a way around, where edges only show who is near whom."""

_LITTLE: Final = 0.06  # times the square root of the gap: a probability that nothing depends on
_VANISHING: Final = (0.7, 0.05)  # most share of its size before, and most probability, of one that leaves
_PACE: Final = 0.1  # quantile of the remaining shares of observables: the pace at which they vanish
_NEIGHBOURS: Final = 3  # present observables whose rows are looked at for one that is absent
_WORTHWHILE: Final = 0.9  # of the observables: where more would stay, all do

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Positions = NDArray[np.intp]


def edges_of(exponents: Floats, detour: float = _TOLERANCE) -> Ints | None:
    """Return few pairs (s, t) whose rows imply all others, both ways, array (k, 2); None where there are not.

    They are the nearest ones, and every pair without a near secret u of s such that E(s, u) + E(u, t) <= (1 +
    detour) E(s, t). With a detour above rounding, rows are implied nearly.
    """
    n = len(exponents)
    bare = exponents.copy()
    np.fill_diagonal(bare, np.inf)
    nearest = bare.min(axis=1)
    if n < 2 or not np.isfinite(nearest).all() or not np.array_equal(exponents, exponents.T):
        return None
    near = bare <= _NEAR * nearest[:, None]
    near |= near.T
    if near.sum() > _MOST * n:
        return None
    parts: list[Ints] = []
    for s in range(n):
        nearby = np.flatnonzero(near[s])
        way = (bare[s, nearby, None] + exponents[nearby]).min(axis=0)
        direct = near[s] | (way > bare[s] * (1 + detour))
        direct[s] = False
        parts.append(np.column_stack([np.full(int(direct.sum()), s), np.flatnonzero(direct)]))
        if sum(map(len, parts)) > _MOST * n:
            return None
    pairs = np.concatenate(parts)
    pairs = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    return None if bare[pairs[:, 0], pairs[:, 1]].max() > CAP else pairs


def graph_of(exponents: Floats) -> tuple[Ints, bool] | None:
    """Return the pairs of `edges_of` and whether they imply all others, or else nearly; None without any."""
    pairs = edges_of(exponents)
    if pairs is not None:
        return pairs, True
    pairs = edges_of(exponents, DETOUR) if exponents.max() <= CAP else None
    if pairs is None:
        return None
    once = pairs[pairs[:, 0] < pairs[:, 1]]
    ways = paths_along(once, exponents[once[:, 0], once[:, 1]], len(exponents))
    return (pairs, False) if (ways <= _LONGEST * exponents).all() else None


def nearest_of(exponents: Floats) -> Floats:
    """Return the least exponent between each secret and another one, array (n,)."""
    positions = np.arange(len(exponents) - 1)
    return np.array([row[positions + (positions >= s)].min(initial=np.inf) for s, row in enumerate(exponents)])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Edges(CompactRepr):
    """Rows of one observable: x(upper) <= e^E x(lower), scaled to e^{E/2} x(lower) - e^{-E/2} x(upper) > 0."""

    upper: Ints  # array (k,), sorted
    lower: Ints  # array (k,)
    root: Floats  # array (k,), e^{E/2}
    size: int  # the number of secrets

    @classmethod
    def of(cls, pairs: Ints, exponents: Floats) -> Edges:
        """Return the rows of pairs (k, 2) of secrets with exponents (n, n)."""
        s, t = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].T
        return cls(s, t, np.exp(exponents[s, t] / 2), len(exponents))

    def slack(self, x: Floats) -> Floats:
        """Return G x, array (k,)."""
        return self.root * x[self.lower] - x[self.upper] / self.root

    def adjoint(self, weights: Floats) -> Floats:
        """Return G' times weights, array (size,)."""
        outflow = np.bincount(self.lower, weights * self.root, self.size)
        return np.asarray(outflow - np.bincount(self.upper, weights / self.root, self.size))

    def among(self, mask: Bools) -> tuple[Edges, Ints]:
        """Return the rows between chosen secrets, which are renumbered, and the positions of these rows."""
        rows = np.flatnonzero(mask[self.upper] & mask[self.lower])
        place = np.cumsum(mask) - 1
        part = Edges(place[self.upper[rows]], place[self.lower[rows]], self.root[rows], int(mask.sum()))
        return part, rows


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Program(CompactRepr):
    """Costs, exponents and edges, with secrets ordered so that the ends of an edge are close."""

    prior: Floats  # array (n,), mass
    costs: Floats  # array (m, n), prior-weighted loss of each observable
    exponents: Floats  # array (n, n)
    pairs: Ints  # array (k, 2), the edges, both ways
    edges: Edges  # the rows of one observable
    anchors: Positions  # array (m,), the secret that each observable costs least
    order: Positions  # array (n,), which secret each one is
    threshold: Floats | None = None  # array (n, n), see `loop.limits`; None where only the rows of edges count

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of secrets and of observables."""
        m, n = self.costs.shape
        return n, m

    def columns(self, observables: Positions) -> Columns:
        """Return the problem with some of the observables."""
        n = len(self.prior)
        return Columns(
            prior=self.prior,
            expected=np.ascontiguousarray(self.costs[observables]),
            ratio=self.exponents,
            capped=np.zeros((n, n), dtype=np.bool_),
            members=np.arange(n),
            edges=self.pairs if self.threshold is None else None,
        )

    def loose(self) -> Program:
        """Return the problem with the rows of its edges alone."""
        return replace(self, threshold=None)

    def strict(self, workers: Workers) -> Program:
        """Return the problem with the rows of all pairs, of which those of the edges are present at first."""
        return replace(self, threshold=limits(self.exponents, irreducible(self.exponents, workers)))


def program(prior: Floats, costs: Floats, exponents: Floats, anchors: Positions, pairs: Ints) -> Program:
    """Return a problem in the order of its edges (k, 2), with their rows alone, of prior-weighted costs (n, m)."""
    n = len(prior)
    order = cuthill_mckee(pairs[:, 0], pairs[:, 1], n)
    place = np.empty(n, dtype=np.intp)
    place[order] = np.arange(n)
    ratio = np.ascontiguousarray(exponents[np.ix_(order, order)])
    there = place[pairs]
    ordered, edges = np.ascontiguousarray(costs[order].T), Edges.of(there, ratio)
    return Program(prior[order], ordered, ratio, there, edges, place[anchors], order)


@dataclass(frozen=True, slots=True)
class Present:
    """An iterate of the program with k observables."""

    observables: Positions  # array (k,)
    rows: Rows
    point: Iterate


def first_iterate(master: Program, observables: Positions) -> Present:
    """Return the first iterate of a program with some observables."""
    rows = rows_of(master, observables)
    return Present(observables, rows, complete_iterate(rows, first_mechanism(rows.form.columns)))


def rows_of(master: Program, observables: Positions, keys: Ints | None = None) -> Rows:
    """Return rows of a program with some observables: those with some keys, or those of its edges."""
    part = master.columns(observables)
    form = build_form(part, trivial_symmetry(len(part.prior), len(observables)))
    return loop.all_rows(form, master.pairs) if keys is None else Rows.of(form, keys)


def staying_mask(before: Floats, after: Floats, gap: float, care: float = 1.0) -> Bools:
    """Return which observables stay, array (k,), by their probabilities (k, n) before and after a stage.

    Near the optimum unused observables vanish at one pace. No secret may lose much of its probability at once.
    """
    here, (most, large) = after.max(axis=1), _VANISHING
    ratio = here / before.max(axis=1)
    pace = min(float(np.quantile(ratio, _PACE)) ** 0.75, most)
    return np.asarray((here > _LITTLE * (gap / care) ** 0.5) & ((ratio > pace) | (here > large)))


def merge_vanished(master: Program, now: Present, stay: Bools) -> Present:
    """Return the point with observables that do not stay merged into the nearest ones that do; all rows hold."""
    survivors, x = np.flatnonzero(stay), now.point.u
    if len(survivors) == 0 or len(survivors) > _WORTHWHILE * len(x):
        return now
    anchors, size = master.anchors[now.observables], x.max(axis=1)
    into = master.exponents[np.ix_(anchors, anchors[survivors])].argmin(axis=1)
    into[survivors] = np.arange(len(survivors))
    whole = np.bincount(into, size, len(survivors))
    sums = np.zeros((len(survivors), x.shape[1]))
    np.add.at(sums, into, x)
    (block, s, t), n = now.rows.pairs.triples(), len(master.prior)
    keys, place = np.unique((into[block] * n + s) * n + t, return_inverse=True)
    mean = np.zeros(len(keys))
    np.add.at(mean, place, (size / whole[into])[block] * now.point.lam)
    observables = now.observables[survivors]
    return Present(observables, rows_of(master, observables, keys), replace(now.point, u=sums, lam=mean))


def let_join(master: Program, now: Present, more: Positions) -> Present:
    """Return the point with more observables, each with a share of the nearest present one's column."""
    x, lam, pairs = now.point.u, now.point.lam, now.rows.pairs
    every, anchors = np.concatenate([now.observables, more]), master.anchors
    near = master.exponents[np.ix_(anchors[more], anchors[now.observables])].argmin(axis=1)
    source = np.concatenate([np.arange(len(x)), near])
    share = 1.0 / np.bincount(source, minlength=len(x))[source]
    cuts, square = [pairs.block_slice(o) for o in source.tolist()], len(master.prior) ** 2
    keys = np.concatenate([pairs.keys[cut] % square + o * square for o, cut in enumerate(cuts)])
    lam = np.concatenate([lam[cut] for cut in cuts])
    point = replace(now.point, u=share[:, None] * x[source], lam=lam)
    return Present(every, rows_of(master, every, keys), point)


def near_rows(master: Program, now: Present, o: int) -> Edges:
    """Return rows of an absent observable: those of the edges, and of the nearest present observables."""
    away = master.exponents[master.anchors[o], master.anchors[now.observables]]
    pairs, edges, n = now.rows.pairs, master.edges, len(master.prior)
    near = [pairs.keys[pairs.block_slice(k)] % n**2 for k in np.argsort(away)[:_NEIGHBOURS].tolist()]
    s, t = np.divmod(np.unique(np.concatenate([edges.upper * n + edges.lower, *near])), n)
    return Edges(s, t, np.exp(master.exponents[s, t] / 2), n)
