"""Repairs far from an observable's own place, where a few rows would stop a step or ruin a bound.

Costs travel inward (`Flow`), and probabilities outward: docs/proofs/interior-point.md.
"""

from __future__ import annotations

import numpy as np

from ...core.arrays import Floats
from .block_form import Iterate, Rows
from .newton import Direction
from .pair_rows import Ints, PairRows

DIVERTED = 0.5  # share of a secret's flow to other secrets that may be diverted at once
ROUNDS = 6  # in which blocks that still lack something may divert what their secrets carry
NEGLIGIBLE = 0.01  # of what all lack per secret: what a block may lack without another round
LENGTHS = (0.9, 0.8, 0.7)
# A lifted step leaves each row at least this share of its slack, and keeps its product with the multiplier above a
# share of the mean, up to the tolerance: or a row that is repaired again and again ends at a slack of 1e-17.
LEAST_SLACK, CENTRAL, TOLERANCE = 0.2, 0.1, 1e-3
PASSES = 40
MOST_DRAWN = 0.3  # share of the room at a secret that may be taken to make up for raised entries


class Tails:
    """Repairs at one iterate with slacks z (rows,); its probabilities give the order."""

    def __init__(self, rows: Rows, point: Iterate, z: Floats) -> None:
        self._rows, self._point, self._z = rows, point, z
        self._x = point.u[:, : rows.form.secrets]

    def carry(self, lam: Floats, costs: Floats, mu: Floats) -> tuple[Floats, Floats]:
        """Return multipliers that carry costs inward towards the prices mu (n,), and their reduced costs."""
        lam, left = lam.copy(), costs - mu
        Flow(self._rows.pairs, self._x, np.arange(len(left))).inward(lam, left)
        for _ in range(ROUNDS):
            deficit = np.maximum(-left, 0.0)
            few = NEGLIGIBLE * float(deficit.max(axis=0).mean())
            hurt = np.flatnonzero((deficit > few).any(axis=1))
            if len(hurt) == 0:
                break
            part = Flow(self._rows.pairs, self._x, hurt)
            multipliers, there = lam[part.rows], left[hurt]
            part.divert(multipliers, there)
            part.inward(multipliers, there)
            better = np.maximum(-there, 0.0).sum(axis=1) < (1 - NEGLIGIBLE) * deficit[hurt].sum(axis=1)
            if not better.any():
                break
            improved = better[part.block]
            lam[part.rows[improved]] = multipliers[improved]
            left[hurt[better]] = there[better]
        return lam, left + mu

    def lift(self, direction: Direction, primal: float) -> tuple[Floats, float] | None:
        """Return the repaired end (blocks, n) of a step longer than ``primal``, and its length, or None."""
        for length in LENGTHS:
            if length > primal and (end := self._lift(direction, length)) is not None:
                return end, length
        return None

    def _lift(self, direction: Direction, length: float) -> Floats | None:
        pairs, form = self._rows.pairs, self._rows.form
        plain = self._point.u + length * direction.u
        end = plain.copy()
        flat = end.reshape(-1)
        slack = self._z + length * direction.z
        central = CENTRAL * float(self._point.lam @ self._z) / len(self._z) / self._point.lam
        least = np.maximum(LEAST_SLACK * self._z, np.minimum(central, np.maximum(self._z, slack)))
        lower, root, upper = pairs.lower, pairs.root, np.ascontiguousarray(pairs.upper)
        rows = np.flatnonzero(slack < least)
        for _ in range(PASSES):
            lack = least[rows] - (root[rows] * flat[lower[rows]] - flat[upper[rows]] / root[rows])
            short = lack > TOLERANCE * least[rows]
            rows, lack = rows[short], lack[short]
            if len(rows) == 0:
                break
            entries = lower[rows]
            np.maximum.at(flat, entries, flat[entries] + lack / root[rows])
            # What was raised may now break the rows in which it is the upper end: rows are in the order of these.
            places = np.unique(entries)
            begins, ends = (np.searchsorted(upper, places, side=side) for side in ("left", "right"))
            counts = ends - begins
            rows = np.repeat(begins - (np.cumsum(counts) - counts), counts) + np.arange(int(counts.sum()))
        else:
            return None
        raised = end - plain
        room = self._room(end)
        free = (raised.reshape(-1) == 0) & np.isfinite(room)
        spare = np.where(free, np.minimum(room, flat), 0.0).reshape(end.shape)
        excess, there = form.total(raised), form.total(spare)
        if (excess > MOST_DRAWN * there).any():
            return None
        cut: Floats = spare * np.divide(excess, there, out=np.zeros_like(excess), where=there > 0)
        return end - cut

    def _room(self, end: Floats) -> Floats:
        """Return how much each entry may be lowered until one of its rows is tight, array (blocks * n,)."""
        pairs, form = self._rows.pairs, self._rows.form
        room, least = np.full(end.shape, np.inf), pairs.slack(end) / pairs.root
        if form.columns.edges is None:
            np.minimum.at(room.reshape(-1), pairs.lower, least)
            return room.reshape(-1)
        # All blocks have the same rows, so one order serves all, and minima of runs are quick.
        lower = pairs.ends(0)[1]
        order = np.argsort(lower, kind="stable")
        first = np.flatnonzero(np.diff(lower[order], prepend=-1))
        entries = lower[order[first]]
        for here, row in zip(room, least.reshape(len(room), -1), strict=True):
            here[entries] = np.minimum.reduceat(row[order], first)
        return room.reshape(-1)


class Flow:
    """Multipliers of rows of privacy as flows of cost between secrets of the observables ``blocks``, ascending.

    That of e^{E/2} x_o(t) - e^{-E/2} x_o(s) takes e^{E/2} from the reduced cost of t and gives e^{-E/2} to that of
    s. Above the prices cost is left over, below it is lacking. ``rows`` (r,) are in the places ``block`` (r,) of
    these.
    """

    def __init__(self, pairs: PairRows, x: Floats, blocks: Ints) -> None:
        mask = np.zeros(len(x), dtype=np.bool_)
        mask[blocks] = True
        self.rows = pairs.among(mask)
        old, lower = np.divmod(pairs.lower[self.rows], pairs.size)
        upper = pairs.upper[self.rows] - old * pairs.size
        place = np.cumsum(mask) - 1
        n = x.shape[1]
        self.block = place[old]
        self._upper, self._lower = self.block * n + upper, self.block * n + lower
        self._root = pairs.root[self.rows]
        order = np.argsort(x[blocks], axis=1)
        self._visits = np.ascontiguousarray((order + n * np.arange(len(blocks))[:, None]).T)
        rank = np.empty(len(blocks) * n, dtype=np.uint16 if n <= np.iinfo(np.uint16).max else np.int64)
        rank[self._visits] = np.arange(n)[:, None]
        outer = rank[self._lower]
        inward = np.flatnonzero(rank[self._upper] > outer)
        # Sorted by the outer end's rank: with 16 bits by radix.
        self._inward = inward[np.argsort(outer[inward], kind="stable")]
        self._cuts = np.searchsorted(outer[self._inward], np.arange(n + 1))

    def inward(self, lam: Floats, left: Floats) -> None:
        """Carry surplus inward, and less where cost is lacking: overwrites multipliers and costs less prices."""
        flat, multipliers = left.reshape(-1), lam[self._inward]
        block, inner, root = self.block[self._inward], self._upper[self._inward], self._root[self._inward]
        for k, here in enumerate(self._visits):
            part = slice(self._cuts[k], self._cuts[k + 1])
            if part.start == part.stop:
                continue
            weight, scale = multipliers[part], root[part]
            carried = np.bincount(block[part], weights=weight * scale, minlength=len(left))
            share = np.divide(flat[here], carried, out=np.zeros_like(carried), where=carried > 0)
            np.maximum(share, -1.0, out=share)
            flat[here] -= share * carried
            change = share[block[part]] * weight
            weight += change
            # One secret of each block is visited, so no inner end occurs twice.
            flat[inner[part]] += change / scale
        lam[self._inward] = np.maximum(multipliers, 0.0)

    def divert(self, lam: Floats, left: Floats) -> None:
        """Send cost to secrets that lack it, from neighbours that carry cost to secrets that do not."""
        flat = left.reshape(-1)
        is_short = flat < 0
        size, root = len(flat), self._root
        elsewhere = np.flatnonzero((lam > 0) & ~is_short[self._upper])
        giver, taker = self._lower[elsewhere], self._upper[elsewhere]
        carried = np.bincount(giver, weights=lam[elsewhere] * root[elsewhere], minlength=size)
        useful = np.flatnonzero(is_short[self._upper] & (carried[self._lower] > 0) & ~is_short[self._lower])
        source, sink, scale = self._lower[useful], self._upper[useful], root[useful]
        weight = carried[source] / scale**2
        total = np.bincount(sink, weights=weight, minlength=size)
        more = -flat[sink] * weight / total[sink] * scale
        demand = np.bincount(source, weights=more * scale, minlength=size)
        most = np.divide(DIVERTED * carried, demand, out=np.ones(size), where=demand > 0)
        more *= np.minimum(1.0, most)[source]
        outflow = np.bincount(source, weights=more * scale, minlength=size)
        less = np.divide(outflow, carried, out=np.zeros(size), where=carried > 0)[giver] * lam[elsewhere]
        lam[useful] += more
        lam[elsewhere] -= less
        flat += np.bincount(sink, weights=more / scale, minlength=size)
        flat -= np.bincount(taker, weights=less / root[elsewhere], minlength=size)
