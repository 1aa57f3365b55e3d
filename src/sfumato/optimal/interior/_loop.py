"""The interior-point loop with growing rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from . import _blocks, _start
from ._arrays import Floats, Ints
from ._bound import Proof, prove
from ._form import Form
from ._growth import broken, extend, limits, shorten
from ._newton import System
from ._pairs import PairRows, irreducible, nearest
from ._program import CAP
from ._result import Entry, Status
from ._rows import BreakdownError, Point, Rows
from ._steps import compute, end
from ._tails import Tails
from ._workers import StoppedError, Workers

NEIGHBOURS = 4
FLOOR = 1e-9
SHORTEST_STEP = 1e-7
PATIENCE = 5
OVERSHOOT = 0.1
# The aimed mean of slack times multiplier, at most, as a share of the present one: after a plain step, and
# after one that was longer than its rows allow.
AIM, LIFTED_AIM = 0.5, 0.3
# Primal steps shorter than this are lengthened and mended.
SHORT = 0.7
# A bound lags where the gap is more than this times what slacks and multipliers leave.
LAG = 1.2
ENDS, MENDED_END = (1.0, 0.0), 0.4

Progress = Callable[[int, float, float, float, float], None]


@dataclass(frozen=True, slots=True)
class Control:
    """When to stop and whom to tell.

    Attributes:
        gap: Relative gap to reach.
        deadline: A value of `time.perf_counter`, or None.
        started: The same clock at the start of the solve.
        iterations: The most iterations.
        stop: Asked between blocks; True ends the solve.
        progress: Told iteration, value, bound, gap and seconds.
        below: Stop once the value is below this (phase one of the game), or None.
    """

    gap: float
    deadline: float | None
    started: float
    iterations: int
    stop: Callable[[], bool] | None
    progress: Progress | None
    below: float | None = None

    def verdict(self, entry: Entry) -> Status | None:
        """Return why to stop after this entry, or None to go on."""
        if entry.gap <= self.gap or (
            self.below is not None and (entry.value < self.below or entry.bound > self.below)
        ):
            return Status.OPTIMAL
        return self.over() or (Status.ITERATION_LIMIT if entry.iteration >= self.iterations else None)

    def over(self) -> Status | None:
        """Return why the work must stop now, or None."""
        if self.stop is not None and self.stop():
            return Status.STOPPED
        if self.deadline is not None and time.perf_counter() >= self.deadline:
            return Status.TIME_LIMIT
        return None


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where the loop ended.

    Attributes:
        rows: The rows present at the end.
        point: The last iterate.
        proof: The best bound that was proved on the way, with multipliers for all rows.
        status: Why the loop ended.
        growths: Iterations at which rows joined.
        log: One entry per iteration.
    """

    rows: Rows
    point: Point
    proof: Proof
    status: Status
    growths: int
    log: tuple[Entry, ...]


def floor(form: Form) -> float:
    """Return the value below which the relative gap is measured against this value instead.

    It is a billionth of the cheapest constant report's loss, but no less than what floating
    point can tell apart beside the dearest one's.
    """
    losses = np.abs(form.program.expected).sum(axis=1)
    return max(FLOOR * float(losses.min()), 2.0**-50 * float(losses.max()), 1e-300)


def first_rows(form: Form, workers: Workers, warm: Ints | None) -> tuple[PairRows, Floats]:
    """Return the rows to begin with and the thresholds of the search.

    Args:
        form: The program in block-angular form.
        workers: The pool.
        warm: Keys of rows of an earlier solve, or None.
    """
    ratio, n = form.program.ratio, form.secrets
    wanted = irreducible(ratio, workers)
    flat = np.flatnonzero(nearest(ratio, wanted, NEIGHBOURS, CAP).reshape(-1)).astype(np.int64)
    keys = (np.arange(form.blocks, dtype=np.int64)[:, None] * (n * n) + flat[None, :]).reshape(-1)
    if warm is not None and len(warm) and warm.min() >= 0 and warm.max() < form.blocks * n * n:
        rest = warm % (n * n)
        keys = np.union1d(keys, warm[rest // n != rest % n])
    return PairRows(keys, ratio, form.blocks, form.size), limits(ratio, wanted)


def _bound_of(proof: Proof) -> float:
    return proof.bound


def run(form: Form, x: Floats, pairs: PairRows, threshold: Floats, control: Control, workers: Workers) -> Outcome:
    """Follow the central path from a strictly interior mechanism.

    Args:
        form: The program in block-angular form.
        x: Array (blocks, n), strictly inside all pair rows and demands.
        pairs: The rows to begin with.
        threshold: Array (n, n), see `limits`.
        control: When to stop.
        workers: The pool.
    """
    n = form.secrets
    rows, point = _start.point(form, pairs, x)
    blocks = _blocks.choose(form, workers)
    least = floor(form)
    log: list[Entry] = []
    best = prove(rows, point)
    growths = short = 0
    primal = dual = 0.0
    aim = AIM
    while True:
        value = form.value(point.u)
        gap = max(0.0, value - best.bound) / max(abs(value), least)
        seconds = time.perf_counter() - control.started
        entry = Entry(len(log), value, best.bound, gap, seconds, rows.count, primal, dual)
        log.append(entry)
        if control.progress is not None:
            control.progress(entry.iteration, value, best.bound, gap, seconds)
        status = control.verdict(entry)
        if status is None and short >= PATIENCE:
            status = Status.STALLED
        if status is not None:
            return Outcome(rows, point, best, status, growths, tuple(log))
        z = rows.slack(point.u, point.w)
        try:
            system = System(rows, point, z, blocks, workers)
            floor_of_mean = OVERSHOOT * control.gap * max(abs(value), least) / rows.count
            step = compute(system, point, z, floor_of_mean, aim, workers)
            best = max([best, *(prove(rows, end(point, step, share)) for share in ENDS)], key=_bound_of)
            lags = value - best.bound > LAG * float(point.lam @ z)
            tails = Tails(rows, point, z) if lags or step.primal < SHORT else None
            if lags:
                best = max(best, prove(rows, end(point, step, MENDED_END), tails), key=_bound_of)
            d, primal, dual = step.direction, step.primal, step.dual
            there, aim = point.u + primal * d.u, AIM
            if tails is not None and primal < SHORT and rows.pairs.count == rows.count:
                lifted = tails.lift(d, primal)
                if lifted is not None:
                    (there, primal), aim = lifted, LIFTED_AIM
            new = broken(rows, there[:, :n], threshold, workers)
        except BreakdownError:
            return Outcome(rows, point, best, Status.STALLED, growths, tuple(log))
        except StoppedError:
            return Outcome(rows, point, best, control.over() or Status.STOPPED, growths, tuple(log))
        kept = shorten(rows, point.u[:, :n], there[:, :n], new) if len(new) else 1.0
        primal *= kept
        moved = Point(
            point.u + kept * (there - point.u),
            point.w + primal * d.w,
            point.v + primal * d.v,
            point.lam + dual * d.lam,
            point.mu + dual * d.mu,
        )
        if not (
            np.isfinite(moved.mu).all() and (rows.slack(moved.u, moved.w) > 0).all() and (moved.lam > 0).all()
        ):
            return Outcome(rows, point, best, Status.STALLED, growths, tuple(log))
        point = moved
        short = short + 1 if max(primal, dual) < SHORTEST_STEP else 0
        if len(new):
            growths += 1
            residual = (1 - dual) * float(np.abs(system.dual_residual).max())
            del system, step, d, tails, there, moved, z
            rows, point, best = extend(rows, point, best, new, residual)
