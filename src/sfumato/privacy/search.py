"""The largest of many pairs' values, found without computing those that a cheap bound leaves behind."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats
from .rows import Mask

Positions = NDArray[np.intp]

Values = Callable[[Positions, Positions], Floats]
"""From the pairs (s, t), two arrays (k,), to their values, array (k,)."""

Errors = Callable[[Floats, Positions, Positions], Floats]
"""From values and their pairs to how far each may be off, array (k,)."""

_ENTRIES: Final = 2**20  # bounds held at a time
_AT_ONCE: Final = 2**11  # pairs whose values are computed together
_CLOSE: Final = 2**16  # pairs that rounding cannot tell from the largest, kept for exact arithmetic


class Limits(NamedTuple):
    """Numbers that no value exceeds, together with its error.

    Attributes:
        of: From positions of rows s, array (b,), to a bound for each pair (s, t), array (b, n). It is infinite
            wherever the value is.
        of_rows: A bound for each s and any t, array (n,); None where there is none that is cheap.
    """

    of: Callable[[Positions], Floats]
    of_rows: Floats | None = None


class Top(NamedTuple):
    """The largest value of some pairs.

    Attributes:
        value: The value; 0 where there are no pairs.
        pair: The first pair that has it, by rows; None where there are none.
        above: No value is larger, errors included.
        close: The pairs that may have the largest value, by rows, array (k, 2); None where they are very many, or
            the value is infinite.
    """

    value: float
    pair: tuple[int, int] | None
    above: float
    close: Positions | None


def search(mask: Mask, values: Values, limits: Limits | None = None, errors: Errors | None = None) -> Top:
    """Return the largest value of the pairs in a mask.

    A pair is left out only if its limit is below a value, less its error, that another pair has: it can neither
    be the largest nor be taken for it.

    Args:
        mask: Ordered pairs, array (n, n).
        values: What is looked for.
        limits: What values cannot exceed; without it all pairs are looked at.
        errors: How far computed values may be off; not at all by default.
    """
    found = _Found(values, errors)
    rows = np.flatnonzero(mask.any(axis=1))
    if limits is not None and limits.of_rows is not None and len(rows):
        found.look(mask, rows[[int(np.argmax(limits.of_rows[rows]))]], limits)
        if found.value == math.inf:
            found = _Found(values, errors)  # the first infinite pair is wanted, not the largest bound
    size = max(1, _ENTRIES // max(1, len(mask)))
    for begin in range(0, len(rows), size):
        part = rows[begin : begin + size]
        if limits is not None and limits.of_rows is not None:
            part = part[limits.of_rows[part] >= found.known]
        if len(part):
            found.look(mask, part, limits)
        if found.value == math.inf:
            break
    return found.top()


def falling(
    mask: Mask, rows: Positions, of: Callable[[Positions], Floats], known: Callable[[], float], size: int
) -> Iterator[Positions]:
    """Yield the pairs of a mask whose limit is above what is known, block after block, arrays (k, 2).

    Args:
        mask: Ordered pairs, array (n, n).
        rows: The rows s to look at, in turn: each block of them is sorted from the largest limit.
        of: See `Limits`.
        known: Returns what is known by now.
        size: The most pairs that are yielded together.
    """
    step = max(1, _ENTRIES // len(mask))
    for first in range(0, len(rows), step):
        part = rows[first : first + step]
        bounds = np.where(mask[part], of(part), -np.inf)
        at, others = np.nonzero(bounds > known())
        order = np.argsort(-bounds[at, others], kind="stable")
        at, others = at[order], others[order]
        for begin in range(0, len(at), size):
            if bounds[at[begin], others[begin]] <= known():
                break
            here = slice(begin, begin + size)
            yield np.stack([part[at[here]], others[here]], axis=1)


@dataclass(slots=True)
class _Found:
    """The findings of a search so far."""

    values: Values
    errors: Errors | None
    value: float = -math.inf
    known: float = -math.inf  # some pair has this value for certain
    above: float = -math.inf
    pair: tuple[int, int] | None = None
    dropped: float = -math.inf  # the largest value, error included, of a pair that was not kept
    kept: list[tuple[Positions, Positions, Floats]] = field(default_factory=list)

    def look(self, mask: Mask, rows: Positions, limits: Limits | None) -> None:
        """Look at the pairs of some rows."""
        if limits is None:
            at, targets = np.nonzero(mask[rows])
            self._all(rows[at], targets, None)
            return
        bounds = np.where(mask[rows], limits.of(rows), -np.inf)
        at, targets = np.nonzero(bounds == np.inf)
        if len(at):
            self._all(rows[at], targets, None)
            if self.value == math.inf:
                return
            bounds[at, targets] = -np.inf
        best = np.unravel_index(int(np.argmax(bounds)), bounds.shape)
        if bounds[best] < self.known or bounds[best] == -np.inf:
            return
        self._these(rows[best[0] : best[0] + 1], np.array([best[1]], dtype=np.intp))
        bounds[best] = -np.inf
        at, targets = np.nonzero((bounds >= self.known) & (bounds > -np.inf))
        order = np.argsort(-bounds[at, targets], kind="stable")
        self._all(rows[at[order]], targets[order], bounds[at[order], targets[order]])

    def top(self) -> Top:
        """Return what was found."""
        if self.pair is None:
            return Top(0.0, None, 0.0, np.empty((0, 2), dtype=np.intp))
        if self.value == math.inf or self.dropped >= self.known:
            return Top(self.value, self.pair, self.above, None)
        self._forget()
        s, t, _ = (np.concatenate(column) for column in zip(*self.kept, strict=True))
        return Top(self.value, self.pair, self.above, np.unique(np.stack([s, t], axis=1), axis=0))

    def _all(self, s: Positions, t: Positions, falling: Floats | None) -> None:
        """Look at listed pairs, until their falling bounds are below what is known."""
        for begin in range(0, len(s), _AT_ONCE):
            part = slice(begin, begin + _AT_ONCE)
            if falling is not None and falling[begin] < self.known:
                return
            self._these(s[part], t[part])
            if self.value == math.inf:
                return

    def _these(self, s: Positions, t: Positions) -> None:
        found = self.values(s, t)
        top = float(found.max())
        if top >= self.value:
            ties = np.flatnonzero(found == top)
            first = ties[np.lexsort((t[ties], s[ties]))[0]]
            pair = int(s[first]), int(t[first])
            if top > self.value or self.pair is None or pair < self.pair:
                self.value, self.pair = top, pair
        if top == math.inf:
            self.above = math.inf
            return
        off = np.zeros_like(found) if self.errors is None else self.errors(found, s, t)
        with np.errstate(over="ignore"):
            upper, lower = found + off, float((found - off).max())
        self.above = max(self.above, float(upper.max()))
        self.known = max(self.known, lower)
        near = np.flatnonzero(upper >= self.known)
        if len(near):
            self.kept.append((s[near], t[near], upper[near]))
            if sum(len(each[0]) for each in self.kept) > _CLOSE:
                self._forget()

    def _forget(self) -> None:
        """Forget pairs below what is known; and if still too many are kept, all of them."""
        s, t, upper = (np.concatenate(column) for column in zip(*self.kept, strict=True))
        near = upper >= self.known
        self.kept = [(s[near], t[near], upper[near])]
        if near.sum() > _CLOSE:
            self.dropped = max(self.dropped, float(upper[near].max()))
            self.kept = [(s[:0], t[:0], upper[:0])]
