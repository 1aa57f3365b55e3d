"""Multipliers of rows of privacy as flows of cost between the secrets of one observable.

The multiplier of the row x_o(s) <= e^E x_o(t), scaled to e^{E/2} x_o(t) - e^{-E/2} x_o(s), takes
e^{E/2} from the reduced cost of t and gives e^{-E/2} to that of s: cost flows from t to s and
shrinks by e^{-E}. Reduced costs must be no smaller than the prices; what they are above them is
left over, and where they are below, cost is lacking.
"""

from __future__ import annotations

import numpy as np

from ._arrays import Floats, Ints
from ._pairs import PairRows

# The share of what a secret carries elsewhere that may be diverted at once.
DIVERTED = 0.5


class Flow:
    """The flows of some observables, with their secrets in order of probability.

    Args:
        pairs: All rows of privacy.
        x: Array (all blocks, n) of probabilities.
        blocks: Array (k,), the observables, ascending.

    Attributes:
        rows: Array (r,), the rows of these observables.
        block: Array (r,), the row's place among them.
    """

    def __init__(self, pairs: PairRows, x: Floats, blocks: Ints) -> None:
        chosen = np.zeros(len(x), dtype=np.bool_)
        chosen[blocks] = True
        self.rows = pairs.among(chosen)
        old, lower = np.divmod(pairs.lower[self.rows], pairs.size)
        upper = pairs.upper[self.rows] - old * pairs.size
        place = np.cumsum(chosen) - 1
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
        """Carry what is left over inward, and what is lacking too by carrying less, from the smallest entry on.

        All rows by which a secret passes cost to larger entries change by the same factor.

        Args:
            lam: Array (r,), multipliers, not negative; overwritten.
            left: Array (k, n), reduced costs minus prices; overwritten.
        """
        flat, moved = left.reshape(-1), lam[self._inward]
        block, inner, root = self.block[self._inward], self._upper[self._inward], self._root[self._inward]
        for k, here in enumerate(self._visits):
            part = slice(self._cuts[k], self._cuts[k + 1])
            if part.start == part.stop:
                continue
            weight, scale = moved[part], root[part]
            carried = np.bincount(block[part], weights=weight * scale, minlength=len(left))
            share = np.divide(flat[here], carried, out=np.zeros_like(carried), where=carried > 0)
            np.maximum(share, -1.0, out=share)
            flat[here] -= share * carried
            change = share[block[part]] * weight
            weight += change
            # One secret of each block is visited, so no inner end occurs twice.
            flat[inner[part]] += change / scale
        lam[self._inward] = np.maximum(moved, 0.0)

    def divert(self, lam: Floats, left: Floats) -> None:
        """Send cost to secrets that lack it, from neighbours that carry cost to secrets that do not.

        A neighbour gives in proportion to what it carries elsewhere, and the less the more is lost on the way.

        Args:
            lam: Array (r,), multipliers, not negative; overwritten.
            left: Array (k, n), reduced costs minus prices; overwritten.
        """
        flat = left.reshape(-1)
        lacking = flat < 0
        size, root = len(flat), self._root
        elsewhere = np.flatnonzero((lam > 0) & ~lacking[self._upper])
        giver, taker = self._lower[elsewhere], self._upper[elsewhere]
        carried = np.bincount(giver, weights=lam[elsewhere] * root[elsewhere], minlength=size)
        useful = np.flatnonzero(lacking[self._upper] & (carried[self._lower] > 0) & ~lacking[self._lower])
        source, sink, scale = self._lower[useful], self._upper[useful], root[useful]
        weight = carried[source] / scale**2
        total = np.bincount(sink, weights=weight, minlength=size)
        more = -flat[sink] * weight / total[sink] * scale
        asked = np.bincount(source, weights=more * scale, minlength=size)
        most = np.divide(DIVERTED * carried, asked, out=np.ones(size), where=asked > 0)
        more *= np.minimum(1.0, most)[source]
        given = np.bincount(source, weights=more * scale, minlength=size)
        less = np.divide(given, carried, out=np.zeros(size), where=carried > 0)[giver] * lam[elsewhere]
        lam[useful] += more
        lam[elsewhere] -= less
        flat += np.bincount(sink, weights=more / scale, minlength=size)
        flat -= np.bincount(taker, weights=less / root[elsewhere], minlength=size)
