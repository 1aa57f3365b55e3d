"""Restricted programs: a point of one, which observables vanish from it, and how some leave and others join."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ...core.arrays import Floats
from ..interior import form, inside, loop, symmetry
from ..interior.form import Iterate, Rows
from ..interior.pairs import PairRows
from .edges import Bools, Edges, Ints
from .program import Positions, Program

_LITTLE: Final = 0.06  # times the square root of the gap: a probability that nothing depends on
_VANISHING: Final = (0.7, 0.05)  # most of what was there before, and most probability, of what leaves
_PACE: Final = 0.1  # quantile of what is left of observables: those that vanish
_NEIGHBOURS: Final = 3  # present observables whose rows are looked at for one that is absent
_WORTHWHILE: Final = 0.9  # of the observables: where more would stay, all do


@dataclass(frozen=True, slots=True)
class Present:
    """A restricted program and a point of it.

    Attributes:
        chosen: Array (k,), the observables that are present.
        rows: Its rows.
        point: An iterate.
    """

    chosen: Positions
    rows: Rows
    point: Iterate


def cold(given: Program, chosen: Positions) -> Present:
    """Return the first iterate of a program with some observables."""
    rows = rows_of(given, chosen)
    rows, point = inside.completed(rows.form, rows.pairs, inside.first(rows.form.columns))
    return Present(chosen, rows, point)


def rows_of(given: Program, chosen: Positions, keys: Ints | None = None) -> Rows:
    """Return rows of a program with some observables: those with some keys, or those of its edges."""
    seen = given.columns(chosen)
    found = form.build(seen, symmetry.trivial(len(seen.prior), len(chosen)))
    if keys is None:
        return Rows(found, loop.all_rows(found, given.pairs))
    return Rows(found, PairRows(keys, seen.ratio, found.blocks, found.size))


def staying(before: Floats, after: Floats, gap: float, care: float = 1.0) -> Bools:
    """Return which observables stay, array (k,), by their probabilities (k, n) before and after a stage.

    Where a program is nearly solved, what it does not use vanishes at one pace, and the rest stays. No secret
    may lose much of its probability at once.

    Args:
        before: Where the stage begins to be near.
        after: At its end.
        gap: The gap of the stage.
        care: What may be lost is divided by the square root of this.
    """
    here, (most, large) = after.max(axis=1), _VANISHING
    ratio = here / before.max(axis=1)
    pace = min(float(np.quantile(ratio, _PACE)) ** 0.75, most)
    return np.asarray((here > _LITTLE * (gap / care) ** 0.5) & ((ratio > pace) | (here > large)))


def kept(given: Program, now: Present, stay: Bools) -> Present:
    """Merge observables that do not stay into the nearest ones that do.

    Columns are added, and multipliers averaged by the sizes of the columns. So all rows hold, reduced costs
    are those of a mean of the merged observables, and products of slacks and multipliers grow by about their
    number.
    """
    some, x = np.flatnonzero(stay), now.point.u
    if len(some) == 0 or len(some) > _WORTHWHILE * len(x):
        return now
    anchors, size = given.anchors[now.chosen], x.max(axis=1)
    into = given.exponents[np.ix_(anchors, anchors[some])].argmin(axis=1)
    into[some] = np.arange(len(some))
    whole = np.bincount(into, size, len(some))
    merged = np.zeros((len(some), x.shape[1]))
    np.add.at(merged, into, x)
    (block, s, t), n = now.rows.pairs.triples(), len(given.prior)
    keys, place = np.unique((into[block] * n + s) * n + t, return_inverse=True)
    mean = np.zeros(len(keys))
    np.add.at(mean, place, (size / whole[into])[block] * now.point.lam)
    chosen = now.chosen[some]
    return Present(chosen, rows_of(given, chosen, keys), replace(now.point, u=merged, lam=mean))


def joined(given: Program, now: Present, more: Positions) -> Present:
    """Let observables join: the nearest one that is present shares its column and multipliers with them."""
    x, lam, pairs = now.point.u, now.point.lam, now.rows.pairs
    every, anchors = np.concatenate([now.chosen, more]), given.anchors
    near = given.exponents[np.ix_(anchors[more], anchors[now.chosen])].argmin(axis=1)
    source = np.concatenate([np.arange(len(x)), near])
    share = 1.0 / np.bincount(source, minlength=len(x))[source]
    cuts, square = [pairs.cut(o) for o in source.tolist()], len(given.prior) ** 2
    keys = np.concatenate([pairs.keys[cut] % square + o * square for o, cut in enumerate(cuts)])
    lam = np.concatenate([lam[cut] for cut in cuts])
    point = replace(now.point, u=share[:, None] * x[source], lam=lam)
    return Present(every, rows_of(given, every, keys), point)


def near_rows(given: Program, now: Present, o: int) -> Edges:
    """Return rows of an absent observable: those of the edges, and of the present ones that are nearest to it."""
    away = given.exponents[given.anchors[o], given.anchors[now.chosen]]
    pairs, edges, n = now.rows.pairs, given.edges, len(given.prior)
    near = [pairs.keys[pairs.cut(k)] % n**2 for k in np.argsort(away)[:_NEIGHBOURS].tolist()]
    s, t = np.divmod(np.unique(np.concatenate([edges.upper * n + edges.lower, *near])), n)
    return Edges(s, t, np.exp(given.exponents[s, t] / 2), n)
