"""Rounds: solve with a few observables, price all others, add those that would help.

A coarser problem, with fewer secrets, gives the first observables: docs/proofs/column-generation.md.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Final

import numpy as np

from ...core.arrays import Floats
from ...core.immutable import CompactRepr
from ..interior import loop
from ..interior.block_form import first_mechanism, last_mechanism
from ..interior.checkpoints import StateFile
from ..interior.lapack import Workers
from ..interior.loop import Course
from ..solver import Control, OnProgress, Progress, Status
from .price import CostFinder, Price, price_absent
from .program import (
    DETOUR,
    Positions,
    Present,
    Program,
    edges_of,
    first_iterate,
    let_join,
    merge_vanished,
    near_rows,
    nearest_of,
    program,
    staying_mask,
)

_COARSE: Final = 2e-3  # gap of the coarser problems
_FINER: Final = 0.5  # of the gap: the coarser problem's gap, where it is larger
_ROUGH: Final = 2e-3  # gap from which on nothing is priced before the end
_VANISHING_GAPS: Final = 2.0  # times the gap of a stage: observables that shrink from there to its end vanish
_STAGES: Final = (0.03, 0.01, 0.003, 0.001)  # gaps at which observables leave
_EARLY: Final = 0.03  # gap of the iterate that observables join
_PRICED: Final = 0.003  # gap at which absent ones are priced before the end
_NEAR: Final = 0.007  # times that gap and the value: absent ones that cost no more may be needed in the end
_USED: Final = 1e-3  # probability of an observable that is used
_USUAL: Final = 1e-4  # gap from which on a second round costs more than observables that are not needed
_CAREFUL: Final = 0.4  # power of the ratio of gaps: the factor by which more observables count as needed
_CARE_OF_PAIRS: Final = 4.0  # at least, where all pairs count, because pricing uses only some of the rows
_SCOUTS: Final = 4  # rounds of a coarser problem, without proofs
_SCOUTS_OF_PAIRS: Final = 2  # of the edges' rows, where all pairs count
_MOST_SCOUTED: Final = 60  # iterations of each of its programs
_WIDE: Final = 0.01  # gap at which its observables leave last
_SCOUTED: Final = 0.02  # probability of an observable that is used, where the gap is still wide
_SHARE: Final = 0.5  # of the gap, for the restricted program; the rest is for absent observables
_PRICING_GAP: Final = 5e-4  # gap from which on the few that are harmful in the end may be paid for
_PAID_SHARE: Final = 0.25  # of the gap, for the restricted program, from there to the rough ones
_FEW: Final = 0.5  # of the present observables: as many may join without a new start
_LEAST: Final = 8  # observables that join at a time, if that many would help
_MOST: Final = 30  # rounds
_ENOUGH_SECRETS: Final = 150  # secrets that are solved with all observables
_APART: Final = 1.99  # times the step, the least exponent between secrets of the net
_TWO_STEPS: Final = 2.01  # times the step: not more than two steps away
_ROUNDED: Final = 1e-9
_NEAREST: Final = 6  # pairs of a net whose rows few edges do not imply


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ProvedRound(CompactRepr):
    """A restricted program at its end, with the prices of absent observables."""

    observables: Positions  # array (k,), the observables that were present
    course: Course  # the end of the interior-point method
    absent: dict[int, Price]  # the others' prices, by observable; without multipliers where these are not stored
    least: Floats | None  # array (n,), the least reduced costs of all observables by `CostFinder`; None without it
    x: Floats  # array (k, n), a mechanism strictly inside all rows
    value: float  # the loss of the mechanism
    bound: float  # the bound proved for all observables, up to float rounding
    hoped: float  # the bound if no observable that was left out lowers it

    @property
    def harmful(self) -> list[int]:
        """The absent observables that were not proved harmless, those that lack most first."""
        open_ones = [o for o, entry in self.absent.items() if not entry.closed]
        return sorted(open_ones, key=lambda o: -self.absent[o].shortage)

    def cheap_observables(self, limit: float) -> list[int]:
        """Return the harmless absent observables that cost no more than a limit, the cheapest first."""
        closed = [o for o, entry in self.absent.items() if entry.closed and entry.cost <= limit]
        return sorted(closed, key=lambda o: self.absent[o].cost)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RoundsResult(CompactRepr):
    """End of the rounds."""

    observables: Positions  # array (k,), the observables of the mechanism
    x: Floats  # array (k, n), the mechanism, strictly inside all rows
    value: float  # its loss
    best: ProvedRound  # the program with the best bound
    status: Status  # how it ended
    log: tuple[Progress, ...]  # a line for each iteration


def generate(
    master: Program,
    control: Control,
    workers: Workers,
    *,
    most: int,
    observables: Positions | None = None,
    finder: CostFinder | None = None,
    folder: Path | None = None,
) -> RoundsResult:
    """Solve a problem by rounds, from ``observables`` or those of a coarser problem's optimum.

    ``most`` limits the iterations of each program; ``finder`` uses multipliers where there are too many to store.
    """
    rounds = _Rounds(master, control, workers, most, finder, folder)
    return rounds.run(rounds.first() if observables is None else observables)


def _without_values(progress: OnProgress | None, size: int) -> OnProgress | None:
    """Return a callback for a coarser problem of ``size`` secrets, without value and bound."""
    if progress is None:
        return None
    begin = time.monotonic()

    def tell(line: Progress) -> None:
        seconds = time.monotonic() - begin
        blank = replace(line, value=np.inf, bound=-np.inf, gap=np.inf, seconds=seconds, coarse=line.coarse or size)
        progress(blank)

    return tell


class _Rounds:
    def __init__(
        self,
        master: Program,
        control: Control,
        workers: Workers,
        most: int,
        finder: CostFinder | None,
        folder: Path | None,
    ) -> None:
        self._master, self._control, self._workers, self._most = master, control, workers, most
        self._finder, self._folder = finder, folder
        self._start = time.monotonic()
        self._value, self._bound = np.inf, -np.inf
        self._least: tuple[Positions, Course] | None = None  # the course with the best value
        self._tightest: ProvedRound | None = None  # the program with the best bound
        self._log: list[Progress] = []

    @property
    def _rough(self) -> bool:
        return self._control.gap >= _ROUGH

    @property
    def _share(self) -> float:
        return _PAID_SHARE if _PRICING_GAP <= self._control.gap < _ROUGH else _SHARE

    def first(self) -> Positions:
        """Return the observables used by a coarser problem, or by the rows of the edges where all pairs count."""
        master, control = self._master, self._control
        every = np.arange(master.shape[1])
        coarse = coarser(master) if master.threshold is None else (master.loose(), every, every)
        if coarse is None:
            return every
        smaller, net, places = coarse
        tell = _without_values(control.progress, len(net))
        aim = replace(control, gap=max(_COARSE, _FINER * control.gap), progress=tell)
        scout = _Rounds(smaller, aim, self._workers, min(self._most, _MOST_SCOUTED), None, self._folder)
        most = _SCOUTS if master.threshold is None else _SCOUTS_OF_PAIRS
        return np.sort(places[scout.find_used(scout.first(), most)])

    def run(self, observables: Positions) -> RoundsResult:
        control = self._control
        now, early = self._begin(observables)
        best = last = least = self._solve(now)
        harmful: set[int] = set()
        for _ in range(_MOST):
            if self._is_near(least, best) or control.cutoff is not None or not last.harmful:
                break
            used = last.x.max(axis=1) > _USED
            if self._master.threshold is not None:
                # By other rows they were not proved harmless, and would not be without their own.
                used |= np.isin(last.observables, list(harmful))
                harmful.update(last.harmful)
            early = self._join(early, last.observables[used], last)
            last = self._solve(self._follow_stages(early) if self._rough else early)
            best = max(best, last, key=attrgetter("bound", "hoped"))
            least = last if last.value < least.value else least
        best = max(best, self._tightest or best, key=attrgetter("bound"))
        near = self._is_near(least, best)
        status = Status.OPTIMAL if near else control.cutoff or Status.INACCURATE
        observables, x, value = least.observables, least.x, least.value
        if not near and self._least is not None:
            subset, course = self._least
            matrix, loss = _mechanism(course)
            if loss < value:  # stopped in a round whose program is not yet as good as an earlier one
                observables, x, value = subset, matrix, loss
        return RoundsResult(observables, x, value, best, status, tuple(self._log))

    @property
    def _care(self) -> float:
        finer = math.pow(max(1.0, _USUAL / self._control.gap), _CAREFUL)
        return finer if self._master.threshold is None else max(_CARE_OF_PAIRS, finer)

    def find_used(self, observables: Positions, most: int) -> Positions:
        """Return the observables used after some rounds, or once few near them would help, without proof."""
        now, early = self._begin(observables)
        for _ in range(most):
            last = self._price_neighbours(self._course(now, self._share * self._control.gap), now.observables)
            if self._enough(last) or self._control.cutoff is not None:
                break
            early = self._join(early, last.observables[last.x.max(axis=1) > _USED], last)
            now = self._follow_stages(early, _WIDE)
        size = now.point.u.max(axis=1)
        return np.asarray(now.observables[size > min(_SCOUTED, 0.5 * float(size.max()))], dtype=np.intp)

    def _begin(self, observables: Positions) -> tuple[Present, Present]:
        """Return the iterates at the end of the stages, and at an early one that others may join."""
        control = self._control
        now = early = first_iterate(self._master, observables)
        for gap in _STAGES:
            if gap <= self._share * control.gap:
                continue
            before = self._follow(now, _VANISHING_GAPS * gap)
            course = self._course(before, gap)
            now = Present(before.observables, course.rows, course.point)
            look = gap == _PRICED and not self._rough
            near = _NEAR * self._care
            priced = self._prove(course, now.observables, gap, near) if look else None
            now = merge_vanished(self._master, now, staying_mask(before.point.u, now.point.u, gap, self._care))
            if gap == _EARLY:
                early = now
            if priced is not None:
                extras = priced.cheap_observables(near * gap * priced.value)
                if extras or priced.harmful:
                    most = int(_FEW * (len(now.observables) + len(priced.harmful)))
                    early = self._join(early, now.observables, priced, extras[:most])
                    now = self._follow_stages(early, gap)
        return now, early

    def _follow_stages(self, now: Present, last: float = 0.0) -> Present:
        """Follow the path from an early iterate, at most to a last gap; observables leave at each stage."""
        for gap in _STAGES:
            if max(self._share * self._control.gap, last) <= gap < _EARLY:
                before = self._follow(now, _VANISHING_GAPS * gap)
                now = self._follow(before, gap)
                now = merge_vanished(self._master, now, staying_mask(before.point.u, now.point.u, gap, self._care))
        return now

    def _join(
        self, early: Present, used: Positions, last: ProvedRound, extras: Sequence[int] | None = None
    ) -> Present:
        """Return an early iterate with the used observables, and most that would help, or all and others."""
        now = merge_vanished(self._master, early, np.isin(early.observables, used))
        if extras is not None:
            helpful = last.harmful
        elif self._rough:
            helpful = spread(self._master, last.harmful)[: max(_LEAST, len(now.observables))]
        else:
            helpful = last.harmful[: max(_LEAST, len(last.harmful) // 2)]
        more = np.setdiff1d(np.array([*helpful, *(extras or ())], dtype=np.intp), now.observables)
        many = self._rough or len(more) > _FEW * len(now.observables)
        if many or last.course.status is Status.INACCURATE:
            return self._follow(first_iterate(self._master, np.concatenate([now.observables, more])), _EARLY)
        return let_join(self._master, now, more) if len(more) else now

    def _is_near(self, least: ProvedRound, best: ProvedRound) -> bool:
        return least.value - best.bound <= self._control.gap * abs(least.value)

    def _enough(self, last: ProvedRound) -> bool:
        return last.value - last.hoped <= self._control.gap * abs(last.value)

    def _solve(self, now: Present) -> ProvedRound:
        """Solve a restricted program and price the absent observables."""
        gap = self._control.gap
        course = self._course(now, self._share * gap)
        if self._rough:
            # Observables near present ones help most often. While they do, the others are not priced.
            near = self._price_neighbours(course, now.observables)
            if not self._enough(near):
                return near
        return self._prove(course, now.observables, gap)

    def _price_neighbours(self, course: Course, present: Positions) -> ProvedRound:
        near = np.setdiff1d(neighbours(self._master, present), present)
        return self._prove(course, present, self._control.gap, part=near)

    def _follow(self, now: Present, gap: float) -> Present:
        """Follow the path to a gap, or to the final one if that is larger."""
        course = self._course(now, max(gap, self._share * self._control.gap))
        return Present(now.observables, course.rows, course.point)

    def _course(self, now: Present, gap: float) -> Course:
        before = len(self._log)

        control = replace(
            self._control, gap=gap, progress=lambda line: self._tell(self._line(line, before + line.step))
        )
        file = None if self._folder is None else StateFile(self._folder, now.rows.form, gap, None)
        course = loop.follow(
            now.rows,
            now.point,
            self._master.threshold,
            control,
            self._workers,
            begin=self._start,
            most=self._most,
            file=file,
            all_bounds=False,
        )
        # Also the lines of a state on disk, which were reported before.
        self._log += [self._line(line, before + line.step) for line in course.log]
        if course.log[-1].value < self._value:
            self._value, self._least = course.log[-1].value, (now.observables, course)
        return course

    def _line(self, line: Progress, step: int) -> Progress:
        """Return a line with the best value, and the bound of the whole problem."""
        value = min(self._value, line.value)
        gap = max(0.0, (value - self._bound) / abs(value)) if value else np.inf
        return replace(line, step=step, value=value, bound=self._bound, gap=gap)

    def _tell(self, line: Progress) -> None:
        if self._control.progress is not None:
            self._control.progress(line)

    def _prove(
        self, course: Course, present: Positions, gap: float, near: float = -np.inf, part: Positions | None = None
    ) -> ProvedRound:
        """Price all absent observables, or only some, and find those that cost at most ``near`` gaps."""
        master, mu = self._master, course.proof.mu
        x, value = _mechanism(course)
        rest = np.setdiff1d(np.arange(master.shape[1]), present) if part is None else part
        budget, limit = (1 - self._share) * gap * abs(value), near * gap * abs(value)
        now = Present(present, course.rows, course.point)
        more = None if master.threshold is None else partial(near_rows, master, now)
        prices = price_absent(master, mu, rest, budget, limit, self._control, self._workers, self._finder, more)
        if self._finder is not None and part is None:
            edges = np.arange(len(master.edges.upper))
            for o, lam in zip(present, course.proof.pairs.reshape(len(present), -1), strict=True):
                np.minimum(prices.least, self._finder(int(o), edges, lam), out=prices.least)
        hoped = course.proof.bound - float(prices.short.sum())
        least = None if self._finder is None or part is not None else prices.least
        bound = hoped if part is None else -np.inf
        outcome = ProvedRound(present, course, prices.prices, least, x, value, bound, hoped)
        self._value = min(self._value, outcome.value)
        if outcome.bound > self._bound:
            self._bound, self._tightest = outcome.bound, outcome
        self._log.append(self._line(course.log[-1], len(self._log)))
        self._tell(self._log[-1])
        return outcome


def _mechanism(course: Course) -> tuple[Floats, float]:
    """Return the mechanism (k, n) of a course's last iterate, and its loss."""
    columns = course.rows.form.columns
    x = last_mechanism(columns, course.point.u, first_mechanism(columns))
    return x, course.rows.form.value(x)


def coarser(master: Program) -> tuple[Program, Positions, Positions] | None:
    """Return the problem of a net of secrets, which bounds nothing, the net, its observables; None without one."""
    n, _ = master.shape
    if n <= _ENOUGH_SECRETS:
        return None
    net = _net(master.exponents, np.unique(master.anchors))
    if len(net) > 0.7 * n:
        return None
    member = master.exponents[net].argmin(axis=0)
    place = np.full(n, -1)
    place[net] = np.arange(len(net))
    observables = np.flatnonzero(place[master.anchors] >= 0)
    prior, costs = np.zeros(len(net)), np.zeros((len(net), len(observables)))
    np.add.at(prior, member, master.prior)
    np.add.at(costs, member, master.costs[observables].T)
    exponents = master.exponents[np.ix_(net, net)]
    pairs = edges_of(exponents, DETOUR)
    if pairs is None:
        order = np.argsort(exponents, axis=1)[:, 1 : 1 + _NEAREST]
        pairs = np.column_stack([np.repeat(np.arange(len(net)), order.shape[1]), order.ravel()])
        pairs = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    return program(prior, costs, exponents, place[master.anchors[observables]], pairs), net, observables


def neighbours(master: Program, used: Positions) -> Positions:
    """Return the observables at most a step of observables away from used ones."""
    hubs = np.unique(master.anchors[used])
    near = master.exponents[hubs].min(axis=0) <= _step(master) * (1 + _ROUNDED)
    return np.flatnonzero(near[master.anchors])


def spread(master: Program, observables: Sequence[int]) -> list[int]:
    """Return those of some observables, in turn, that are more than a step from each one before."""
    near = _step(master) * (1 + _ROUNDED)
    picks: list[int] = []
    for o in observables:
        anchor = master.anchors[o]
        if not picks or master.exponents[anchor, master.anchors[picks]].min() > near:
            picks.append(o)
    return picks


def _step(master: Program) -> float:
    """Return the median exponent between neighbouring observables."""
    hubs = np.unique(master.anchors)
    return float(np.median(nearest_of(master.exponents[np.ix_(hubs, hubs)])))


def _net(exponents: Floats, first: Positions) -> Positions:
    """Return secrets no nearer to each other than about two steps, with all others near them."""
    step = float(np.median(nearest_of(exponents)))
    free = np.ones(len(exponents), dtype=np.bool_)
    net_nearby = np.zeros(len(exponents), dtype=np.intp)  # how many of the net are two steps away
    picks: list[int] = []

    def choose(s: int) -> None:
        picks.append(s)
        free[exponents[s] < _APART * step] = False
        net_nearby[exponents[s] <= _TWO_STEPS * step] += 1

    for s in first.tolist():
        if free[s]:
            choose(s)
    # Holes are filled so that they fit: a lattice stays one.
    while free.any():
        choose(int(np.where(free, net_nearby, -1).argmax()))
    return np.sort(np.asarray(picks, dtype=np.intp))
