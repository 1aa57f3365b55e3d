"""Rows that grow while the method runs (a build-up interior-point method).

Every iterate is strictly inside *all* pair rows, present or not: a trial step is checked
against all pairs and observables; rows that it breaks or nearly breaks join the system,
and the step is cut short of the first absent row it would break. So stopping anywhere
gives a private mechanism, no row is present that never mattered, and no second round is
needed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ._arrays import Floats, Ints
from ._bound import Proof
from ._pairs import PairRows, search
from ._rows import Point, Rows
from ._workers import Workers

NEAR = 0.8
BACK = 0.9
MULTIPLIER_CAP = 0.1
LEAST_CAP = 1e-6


def limits(ratio: Floats, wanted: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> Floats:
    """Return the thresholds of the search: e^E times the nearness factor, +inf for implied pairs.

    The factor NEAR ** min(E, 1) tends to one for tight pairs (small E), where x_s and x_t are
    always close.

    Args:
        ratio: Array (n, n) of log ratios E.
        wanted: Array (n, n), pairs that no others imply.
    """
    return np.where(wanted, np.exp(ratio + np.log(NEAR) * np.minimum(ratio, 1.0)), np.inf)


def shorten(rows: Rows, here: Floats, there: Floats, new: Ints) -> float:
    """Return the share of the step between two points that stays strictly inside the new rows.

    Args:
        rows: The rows present.
        here: Array (blocks, n), where the step starts.
        there: Array (blocks, n), where it would end.
        new: Keys of the rows that are about to join.
    """
    n = rows.form.secrets
    ratio = rows.form.program.ratio
    block, rest = np.divmod(new, n * n)
    s, t = np.divmod(rest, n)
    up, down = np.exp(ratio[s, t] / 2), np.exp(-ratio[s, t] / 2)
    before = up * here[block, t] - down * here[block, s]
    after = up * there[block, t] - down * there[block, s]
    broken = after <= 0
    if not broken.any():
        return 1.0
    return BACK * float((before[broken] / (before[broken] - after[broken])).min())


def extend(rows: Rows, point: Point, proof: Proof, new: Ints, residual: float) -> tuple[Rows, Point, Proof]:
    """Return the rows with new ones added, and the point and the proof with multipliers for them.

    The point's new multipliers sit on the central path unless that would spoil the dual residual;
    the proof's are zero.

    Args:
        rows: The rows present.
        point: The iterate, strictly inside the new rows too.
        proof: The best bound so far.
        new: Sorted keys of the rows that join.
        residual: The largest dual residual of the iterate.
    """
    form, old = rows.form, rows.pairs
    mean = float(point.lam @ rows.slack(point.u, point.w)) / rows.count
    n, ratio = form.secrets, form.program.ratio
    block, rest = np.divmod(new, n * n)
    s, t = np.divmod(rest, n)
    z = np.exp(ratio[s, t] / 2) * point.u[block, t] - np.exp(-ratio[s, t] / 2) * point.u[block, s]
    largest = max(float(np.abs(form.program.expected).max()), 1e-300)
    cap = min(MULTIPLIER_CAP * largest, max(residual, LEAST_CAP * largest))
    place = np.searchsorted(old.keys, new)
    lam = np.insert(point.lam, place, np.minimum(mean / z, cap))
    grown = Rows(form, PairRows(np.insert(old.keys, place, new), ratio, form.blocks, form.size))
    moved = Point(point.u, point.w, point.v, lam, point.mu)
    return grown, moved, replace(proof, pairs=np.insert(proof.pairs, place, 0.0))


def broken(rows: Rows, x: Floats, threshold: Floats, workers: Workers) -> Ints:
    """Return the keys of absent rows that a point (blocks, n) breaks or nearly breaks."""
    return search(x, threshold, rows.pairs.keys, workers)
