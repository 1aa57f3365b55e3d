"""Rounds: solve with a few observables, price all others, let those join that would help.

Every restricted program holds all secrets, so its mechanism is one of the whole problem. Its prices mu are those
of the whole problem too, once every absent observable is harmless at them: what mu must be lowered by until they
are is taken from the bound.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ...core.arrays import Floats
from ...core.frozen import Short
from ..interior import form, inside, loop, symmetry
from ..interior.form import Iterate, Rows
from ..interior.loop import Course
from ..interior.workers import StoppedError, Workers
from ..solver import Control, Progress, Status
from .coarse import around, coarser
from .price import Price, begun, price, unpriced
from .program import Positions, Program

_COARSE: Final = 1e-3  # gap of the coarser problems
_STAGES: Final = ((0.03, 0.01), (0.01, 0.008), (0.003, 0.005))  # gaps, and probabilities of what is hardly used
_USED: Final = 1e-3  # probability of an observable that is used
_SHARE: Final = 0.5  # of the gap, for the restricted program; the rest is for absent observables
_SMALL: Final = 1e-3  # probability with which an observable joins
_FEW: Final = 0.25  # of the observables that are present: as many may join without beginning anew
_LEAST: Final = 8  # observables that join at a time, if so many would help
_MOST: Final = 30  # rounds


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Proved(Short):
    """A restricted program at its end, with the prices of what was absent.

    Attributes:
        chosen: Array (k,), the observables that were present.
        course: The end of the interior-point method.
        absent: The others' prices, by observable.
        value: The loss of the mechanism.
        bound: What is proved for all observables, up to float rounding.
    """

    chosen: Positions
    course: Course
    absent: dict[int, Price]
    value: float
    bound: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ended(Short):
    """The end of the rounds.

    Attributes:
        chosen: Array (k,), the observables of the mechanism.
        x: Array (k, n), the mechanism, strictly inside all rows.
        value: Its loss.
        proved: The program with the best bound.
        status: How it ended.
        log: A line for each iteration.
    """

    chosen: Positions
    x: Floats
    value: float
    proved: Proved
    status: Status
    log: tuple[Progress, ...]


def generate(
    given: Program, control: Control, workers: Workers, *, most: int, chosen: Positions | None = None
) -> Ended:
    """Solve a problem by rounds.

    Args:
        given: The problem.
        control: How far and how long to go, and who is told.
        workers: The pool.
        most: The most iterations of each restricted program.
        chosen: Array (k,), the observables to begin with; by default those near what a coarser problem uses.
    """
    rounds = _Rounds(given, control, workers, most)
    return rounds.run(_first(given, control, workers, most) if chosen is None else chosen)


def _first(given: Program, control: Control, workers: Workers, most: int) -> Positions:
    found = coarser(given)
    if found is None:
        return np.arange(given.shape[1])
    smaller, net, kept = found
    rough = generate(smaller, replace(control, gap=max(_COARSE, control.gap), progress=None), workers, most=most)
    used = rough.x.max(axis=1) > _USED
    return around(given, net, kept[rough.chosen[used]])


class _Rounds:
    """The rounds of one problem."""

    def __init__(self, given: Program, control: Control, workers: Workers, most: int) -> None:
        self._given, self._control, self._workers, self._most = given, control, workers, most
        self._started = time.monotonic()
        self._bound = -np.inf
        self._log: list[Progress] = []

    def run(self, chosen: Positions) -> Ended:
        control = self._control
        rows, point = self._cold(chosen)
        for gap, least in _STAGES:
            if gap > 2 * control.gap:
                course = self._follow(rows, point, gap)
                rows, point, chosen = self._without(course, chosen, least)
        # Late iterates are too near the boundary to begin from: observables join this one.
        middle = rows, point, chosen
        found = best = self._solved(rows, point, chosen)
        for _ in range(_MOST):
            harmful = [o for o, each in found.absent.items() if not each.closed]
            if self._near(found, best) or control.stopped is not None or not harmful:
                break
            harmful.sort(key=lambda o: -float(found.absent[o].short.sum()))
            more = np.asarray(harmful[: max(_LEAST, len(harmful) // 2)])
            if len(more) > _FEW * len(found.chosen) or found.course.status is Status.INACCURATE:
                middle = self._again(np.concatenate([found.chosen, more]))
            else:
                middle = self._with(*middle, more)
            found = self._solved(*middle)
            best = found if found.bound > best.bound else best
        seen = found.course.rows.form.columns
        x = inside.last(seen, found.course.point.u, inside.first(seen))
        near = self._near(found, best)
        status = Status.OPTIMAL if near else control.stopped or Status.INACCURATE
        return Ended(found.chosen, x, found.value, best, status, tuple(self._log))

    def _cold(self, chosen: Positions) -> tuple[Rows, Iterate]:
        rows = self._rows(chosen)
        return inside.completed(rows.form, rows.pairs, inside.first(rows.form.columns))

    def _again(self, chosen: Positions) -> tuple[Rows, Iterate, Positions]:
        """Begin anew, and come near enough to the end that observables may join."""
        rows, point = self._cold(chosen)
        if _STAGES[-1][0] > 2 * self._control.gap:
            course = self._follow(rows, point, _STAGES[-1][0])
            rows, point = course.rows, course.point
        return rows, point, chosen

    def _near(self, found: Proved, best: Proved) -> bool:
        return found.value - best.bound <= self._control.gap * abs(found.value)

    def _solved(self, rows: Rows, point: Iterate, chosen: Positions) -> Proved:
        """Solve a restricted program and price what is absent."""
        course = self._follow(rows, point, _SHARE * self._control.gap)
        found = self._proved(course, chosen)
        self._bound = max(self._bound, found.bound)
        self._tell(course.log[-1])
        return found

    def _follow(self, rows: Rows, point: Iterate, gap: float) -> Course:
        control = replace(self._control, gap=gap, progress=self._tell)
        return loop.follow(rows, point, None, control, self._workers, started=self._started, most=self._most)

    def _tell(self, line: Progress) -> None:
        """Pass a line on with the bound of the whole problem."""
        gap = (line.value - self._bound) / abs(line.value) if line.value else np.inf
        self._log.append(replace(line, step=len(self._log), bound=self._bound, gap=max(0.0, gap)))
        if self._control.progress is not None:
            self._control.progress(self._log[-1])

    def _rows(self, chosen: Positions) -> Rows:
        seen = self._given.columns(chosen)
        found = form.build(seen, symmetry.trivial(len(seen.prior), len(chosen)))
        return Rows(found, loop.all_rows(found, self._given.pairs))

    def _without(self, course: Course, chosen: Positions, least: float) -> tuple[Rows, Iterate, Positions]:
        """Merge observables that are hardly used into the nearest others: their columns are added."""
        x = course.point.u
        kept = np.flatnonzero(x.max(axis=1) > least)
        if len(kept) in (0, len(chosen)):
            return course.rows, course.point, chosen
        anchors = self._given.anchors[chosen]
        into = self._given.exponents[np.ix_(anchors, anchors[kept])].argmin(axis=1)
        into[kept] = np.arange(len(kept))
        merged = np.zeros((len(kept), x.shape[1]))
        np.add.at(merged, into, x)
        rows = self._rows(chosen[kept])
        # The products of slacks and multipliers stay, and with them the distance from the central path.
        before = course.rows.slack(x, course.point.w).reshape(len(x), -1)[kept].ravel()
        lam = course.point.lam.reshape(len(x), -1)[kept].ravel()
        lam = lam * before / rows.slack(merged, course.point.w)
        return rows, replace(course.point, u=merged, lam=lam), chosen[kept]

    def _with(
        self, rows: Rows, point: Iterate, chosen: Positions, more: Positions
    ) -> tuple[Rows, Iterate, Positions]:
        """Let observables join, each with a little of a point on the path of its own program."""
        given = self._given
        mean = float(point.lam @ rows.slack(point.u, point.w)) / len(point.lam)
        x, lam = [point.u], [point.lam]
        for o in more:
            anchor = int(given.anchors[o])
            start = begun(given.edges, given.costs[o] - point.mu, given.exponents[anchor], anchor, mean / _SMALL)
            x.append(_SMALL * start[0][None])
            lam.append(start[1])
        every = np.concatenate([chosen, more])
        joined = Iterate(np.concatenate(x), point.w, point.v, np.concatenate(lam), point.mu)
        return self._rows(every), joined, every

    def _proved(self, course: Course, chosen: Positions) -> Proved:
        """Price all absent observables."""
        given, mu, value = self._given, course.proof.mu, course.rows.form.value(course.point.u)
        rest = np.setdiff1d(np.arange(given.shape[1]), chosen)
        budget = (1 - _SHARE) * self._control.gap * abs(value)

        def some(share: range) -> list[Price]:
            found = []
            for k in share:
                o = int(rest[k])
                w, anchor = given.costs[o] - mu, int(given.anchors[o])
                if self._control.stopped is not None:
                    found.append(unpriced(w))
                else:
                    found.append(
                        price(given.edges, w, given.exponents[anchor], anchor, budget / len(rest), budget)
                    )
            return found

        short, absent = np.zeros(given.shape[0]), {}
        if len(rest):
            try:
                results = [each for part in self._workers.share(some, len(rest)) for each in part]
            except StoppedError:
                results = [unpriced(given.costs[o] - mu) for o in rest]
            absent = dict(zip(rest.tolist(), results, strict=True))
            short = np.max([each.short for each in results], axis=0)
        return Proved(chosen, course, absent, value, course.proof.bound - float(short.sum()))
