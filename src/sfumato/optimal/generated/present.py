"""Restricted programs: a point of one, which observables vanish from it, and how some leave and others join."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ...core.arrays import Floats
from ..interior import form, inside, loop, symmetry
from ..interior.form import Iterate, Rows
from .edges import Bools
from .program import Positions, Program

_LITTLE: Final = 0.06  # times the square root of the gap: a probability that nothing depends on
_VANISHING: Final = (0.7, 0.05)  # most of what was there before, and most probability, of what leaves
_PACE: Final = 0.1  # quantile of what is left of observables: those that vanish
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


def rows_of(given: Program, chosen: Positions) -> Rows:
    """Return the rows of a program with some observables."""
    seen = given.columns(chosen)
    found = form.build(seen, symmetry.trivial(len(seen.prior), len(chosen)))
    return Rows(found, loop.all_rows(found, given.pairs))


def staying(before: Floats, after: Floats, gap: float) -> Bools:
    """Return which observables stay, array (k,), by their probabilities (k, n) before and after a stage.

    Where a program is nearly solved, what it does not use vanishes at one pace, and the rest stays. No secret
    may lose much of its probability at once.
    """
    here, (most, large) = after.max(axis=1), _VANISHING
    ratio = here / before.max(axis=1)
    pace = min(float(np.quantile(ratio, _PACE)) ** 0.75, most)
    return np.asarray((here > _LITTLE * gap**0.5) & ((ratio > pace) | (here > large)))


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
    merged, lam = np.zeros((len(some), x.shape[1])), now.point.lam.reshape(len(x), -1)
    mean = np.zeros((len(some), lam.shape[1]))
    np.add.at(merged, into, x)
    np.add.at(mean, into, (size / whole[into])[:, None] * lam)
    chosen = now.chosen[some]
    return Present(chosen, rows_of(given, chosen), replace(now.point, u=merged, lam=mean.ravel()))


def joined(given: Program, now: Present, more: Positions) -> Present:
    """Let observables join: the nearest one that is present shares its column and multipliers with them."""
    x, lam = now.point.u, now.point.lam.reshape(len(now.chosen), -1)
    every, anchors = np.concatenate([now.chosen, more]), given.anchors
    near = given.exponents[np.ix_(anchors[more], anchors[now.chosen])].argmin(axis=1)
    source = np.concatenate([np.arange(len(x)), near])
    share = 1.0 / np.bincount(source, minlength=len(x))[source]
    point = replace(now.point, u=share[:, None] * x[source], lam=lam[source].ravel())
    return Present(every, rows_of(given, every), point)
