"""Trials of a search for epsilon: a program, with its reports moved from one to the next, or planar noise."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ...core import CoordinatePrivacy, MetricPrivacy, Prior
from ...errors import SolverError
from ...geo import Visits
from ..coordinates.rival import FINE, ROUGH, Rival, Rivalry, noise_estimate, noise_rival
from ..design import GAIN, choose
from ..medians import moved
from ..program_design import solve_program
from ..result import Design
from ..solver import Stop
from .goals import DesignGoal
from .search import Tried

Promise = Callable[[float], CoordinatePrivacy | MetricPrivacy]

_GUESS_S: Final = 1.0  # for one estimate
_GUESSES: Final = 8
_NEAR: Final = 0.003  # relative: of estimates, where the search of them ends
_LONGEST_S: Final = 30.0
_LEAST_S: Final = 1.0
_SHARE: Final = 0.3  # of the time that is left, for one look


@dataclass(slots=True)
class NoiseTrials:
    """Planar noise for each epsilon, with the remap that is best for it.

    Attributes:
        asked: What noise and program can both keep, for any epsilon.
        promise: From an epsilon to the promise.
        limit: Of the loss.
        rivals: What was found for each epsilon.
    """

    asked: Rivalry
    promise: Callable[[float], CoordinatePrivacy]
    limit: float
    rivals: dict[float, Rival] = field(default_factory=dict)

    def __call__(self, epsilon: float, seconds: float) -> Tried:
        """Return the loss of the noise between bounds; near the limit from a finer look."""
        found = self.look(epsilon, ROUGH, seconds)
        near = found.loss.value
        if found.noise.remap is not None and found.loss.lower <= self.limit < found.loss.upper:
            finer = self.look(epsilon, FINE, seconds)
            found = finer if finer.loss.upper < found.loss.upper else found
            near = found.loss.upper
        self.rivals[epsilon] = found
        return Tried(found.loss, near)

    def guess(self, begin: float) -> float:
        """Return about the epsilon with which the noise reaches the limit, from estimates alone."""
        low, high, epsilon = 0.0, math.inf, begin
        for _ in range(_GUESSES):
            lost = noise_estimate(self._at(epsilon), _GUESS_S)
            if abs(lost - self.limit) <= _NEAR * self.limit:
                break
            low, high = (epsilon, high) if lost > self.limit else (low, epsilon)
            tried = epsilon * lost / self.limit
            epsilon = tried if low < tried < high else math.sqrt(low * high)
        return float(f"{epsilon:.4g}")

    def better(self, epsilon: float, made: Design | None, seconds: tuple[float, float]) -> Design:
        """Return the program, with what the noise would lose, or the noise where it loses less.

        Args:
            epsilon: The epsilon.
            made: The program; None where none was designed.
            seconds: How long it took so far, and how much time is left.
        """
        spent, left = seconds
        rival = self.rivals.get(epsilon) or self.look(epsilon, ROUGH, left)
        if rival.noise.remap is not None and (made is None or made.certificate.loss > rival.loss.lower):
            finer = self.look(epsilon, FINE, left)
            rival = finer if finer.loss.upper < rival.loss.upper else rival
        return choose(made, rival, self.promise(epsilon), self.asked.loss.unit, spent)

    def look(self, epsilon: float, fineness: float, seconds: float) -> Rival:
        """Return the noise of an epsilon."""
        return noise_rival(self._at(epsilon), fineness, max(_LEAST_S, min(_LONGEST_S, _SHARE * seconds)))

    def _at(self, epsilon: float) -> Rivalry:
        return replace(self.asked, promise=self.promise(epsilon))


@dataclass(slots=True)
class ProgramTrials:
    """A program for each epsilon, which starts from that of the nearest epsilon before.

    Attributes:
        prior: The prior.
        promise: From an epsilon to the promise.
        goal: The goal.
        medians: The visits of the loss, where reports are moved to the best places for what they reveal.
        options: More of the design.
        stop: Asked whether to stop.
        designs: What was found for each epsilon.
    """

    prior: Prior
    promise: Promise
    goal: DesignGoal
    medians: Visits | None
    options: dict[str, Any]
    stop: Stop
    designs: dict[float, Design] = field(default_factory=dict)

    def __call__(self, epsilon: float, seconds: float) -> Tried | None:
        """Return what is measured of the design for an epsilon; None where there was no time for one."""
        try:
            made = self._designed(epsilon, seconds, math.inf)
        except SolverError:
            if self.stop():
                return None
            raise
        return self._kept(epsilon, made)

    def against(self, epsilon: float, seconds: float, most: float) -> Tried | None:
        """Return what the first design loses; given up where it is proved to lose more than the noise may."""
        try:
            return self._kept(epsilon, self._designed(epsilon, seconds, most))
        except SolverError:
            return None

    def _kept(self, epsilon: float, made: Design) -> Tried:
        self.designs[epsilon] = made
        measured = self.goal.measured(made)
        return Tried(measured, measured.upper)

    def _designed(self, epsilon: float, seconds: float, most: float) -> Design:
        deadline = time.monotonic() + seconds
        promise = self.promise(epsilon)
        near: Design | None = None
        if self.designs:
            near = self.designs[min(self.designs, key=lambda other: abs(math.log(other / epsilon)))]
        if near is not None and self.medians is not None:
            return self._moved(near, self.medians, promise, deadline)
        room, bound = 1.0 if self.medians is None else 1 - GAIN, -math.inf

        def watched(step: Any) -> None:
            nonlocal bound
            bound = max(bound, step.bound)

        made = solve_program(
            self.prior,
            guarantees=promise,
            tie_break=False,
            time_limit=seconds,
            start=near,
            stop=lambda: self.stop() or room * bound > most,
            progress=watched,
            **self.options,
        )
        if self.medians is None or not made.finished:
            return made
        try:
            again = self._moved(made, self.medians, promise, deadline)
        except SolverError:
            return made
        return again if again.certificate.loss < made.certificate.loss else made

    def _moved(
        self, near: Design, visits: Visits, promise: CoordinatePrivacy | MetricPrivacy, deadline: float
    ) -> Design:
        return moved(
            near,
            visits,
            guarantees=promise,
            solver=self.options["solver"],
            gap=self.options["gap"],
            time_limit=max(deadline - time.monotonic(), 1e-3),
            stop=self.stop,
            start=near,
        )
