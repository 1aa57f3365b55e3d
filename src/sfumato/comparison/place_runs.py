"""The rows and bounds of a comparison for places, made one after the other in the time there is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from ..errors import SfumatoError, SolverError
from ..optimal import CoordinateBound, coordinate_bound
from .place_contestants import CELLS, HAT, NAMES, RAW, REMAPPED, SPLINE, UNIT, Made, PlaceFamilies
from .place_rows import ANY, PlaceRow
from .shared_time import NOT_REACHED, SharedTime

_PART_OF_BOUND: Final = 4.0
_MORE: Final = 1.005  # than 2 / loss: an epsilon at which planar Laplace noise loses no more
_FIRST: Final = 0.8  # of the least epsilon of a mechanism: the first one that is tried for the bound
_NEAR: Final = 1.04  # times the loss: a bound that is good enough
_LESS: Final = 0.98  # of the epsilon that is thought to be the largest with such a bound
_POWER: Final = 1.4  # of the loss by which it is thought to change
_BOUNDS: Final = 3  # epsilons tried
_DIGITS: Final = 3  # of them
SLOPE: Final = -0.7
"""Of the logarithm of the loss by that of epsilon, where no other one is known."""

_CLOSE: Final = 0.01  # to the loss asked for
_TRIES: Final = 8  # epsilons for one mechanism

_STEEPEST, _FLATTEST = -3.0, -0.15


class PlaceMatch(NamedTuple):
    """The row of a family at a loss, and the slope by which its epsilon was found."""

    row: PlaceRow
    slope: float


def matched(
    make: Callable[[float], Made], name: str, limit: float, first: float, slope: float = SLOPE
) -> PlaceMatch:
    """Return the row of the least epsilon that is found to lose no more than a limit, and hardly less.

    The secant method in logarithms, held between an epsilon that loses too much and one that does not.

    Args:
        make: Makes the mechanism of an epsilon per kilometre.
        name: The family.
        limit: The loss.
        first: The first epsilon to try.
        slope: A guess of the slope of the logarithm of the loss by that of epsilon.
    """
    x = math.log(first)
    low, high = -math.inf, math.inf  # logarithms of an epsilon that loses too much, and of one that does not
    before: tuple[float, float] | None = None
    best: Made | None = None
    problem = "no epsilon that was tried loses so little."
    for _ in range(_TRIES):
        try:
            made = make(math.exp(x))
        except SolverError:
            problem = NOT_REACHED
            break
        except SfumatoError as error:
            problem = error.problem
            break
        loss = made.row.loss.upper
        if loss <= limit and (best is None or made.row.epsilon < best.row.epsilon):
            best = made
        value = math.log(loss / limit) + _CLOSE / 2
        if abs(value) <= _CLOSE / 2:
            break
        low, high = (x, high) if value > 0 else (low, x)
        if before is not None and x != before[0]:
            slope = min(max((value - before[1]) / (x - before[0]), _STEEPEST), _FLATTEST)
        before = (x, value)
        x -= value / slope
        if not low < x < high:
            x = (low + high) / 2
    if best is None:
        return PlaceMatch(PlaceRow.missing(name, math.exp(x), problem), slope)
    return PlaceMatch(best.attacked, slope)


# What is quick first, so that little time still brings something; how much of it each may take.
_PARTS: Final = {REMAPPED: 2.0, RAW: 1.0, SPLINE: 4.0, CELLS: 2.0, HAT: 4.0}


Progress = Callable[[str], None]
Found = Callable[[PlaceRow], None]


class PlaceRun(ABC):
    """The work of one comparison: what is made, when it must end, and who is told."""

    def __init__(
        self,
        families: PlaceFamilies,
        seconds: float,
        parts: dict[Any, float],
        bound_time: float,
        progress: Progress,
        found: Found,
    ) -> None:
        self.families, self.bound_time = families, bound_time
        self.progress, self.found = progress, found
        self.time = SharedTime(seconds, parts)
        self.rows: list[PlaceRow] = []
        self.bounds: list[CoordinateBound] = []

    @abstractmethod
    def work(self) -> None:
        """Make the rows and the bounds."""

    @abstractmethod
    def place(self, row: PlaceRow) -> tuple[float, int]:
        """Return what rows are ordered by."""

    def done(self) -> tuple[tuple[PlaceRow, ...], tuple[CoordinateBound, ...]]:
        """Return the rows in the order of a table, and the bounds."""
        self.work()
        return tuple(sorted(self.rows, key=self.place)), tuple(self.bounds)

    def add(self, row: PlaceRow) -> None:
        """Take a row up."""
        self.rows.append(row)
        self.found(row)

    def bound(self, epsilon: float, seconds: float) -> CoordinateBound | None:
        """Return the bound for an epsilon; None where there is no time to prove one."""
        if not seconds > 0:
            return None
        bound = coordinate_bound(self.families.visits, epsilon, unit=UNIT, time_limit=seconds)
        return bound if bound.lower > 0 else None

    def keep(self, bound: CoordinateBound | None, epsilon: float) -> None:
        """Take a bound up, or say that there is none."""
        if bound is None:
            self.add(PlaceRow.missing(ANY, epsilon, NOT_REACHED))
            return
        self.bounds.append(bound)
        detail = f"proved with {bound.heads} places as secrets"
        self.add(PlaceRow(ANY, bound.epsilon, bound.epsilon, 0.0, bound.least, None, None, detail))


class EqualEpsilon(PlaceRun):
    """All mechanisms at some epsilons, each with its bound."""

    def __init__(
        self,
        families: PlaceFamilies,
        rates: Iterable[float],
        seconds: float,
        bound_time: float,
        progress: Progress,
        found: Found,
    ) -> None:
        self.rates = tuple(rates)
        parts: dict[Any, float] = {(name, rate): part for name, part in _PARTS.items() for rate in self.rates}
        if bound_time:
            parts |= {(ANY, rate): _PART_OF_BOUND for rate in self.rates}
        super().__init__(families, seconds, parts, bound_time, progress, found)

    def work(self) -> None:
        """Make each family at all epsilons, then the bounds."""
        for name in _PARTS:
            for epsilon in self.rates:
                self.progress(name)
                self.add(self._row(name, epsilon))
        for epsilon in self.rates if self.bound_time else ():
            self.progress(ANY)
            self.keep(self.bound(epsilon, min(self.bound_time, self.time.share((ANY, epsilon)))), epsilon)

    def place(self, row: PlaceRow) -> tuple[float, int]:
        """Return the position of the epsilon, and that of the name."""
        return self.rates.index(row.epsilon), (*NAMES, ANY).index(row.name)

    def _row(self, name: str, epsilon: float) -> PlaceRow:
        try:
            made = self.families.made(name, epsilon, self.time.share((name, epsilon)))
        except SolverError:
            return PlaceRow.missing(name, epsilon, NOT_REACHED)
        except SfumatoError as error:
            return PlaceRow.missing(name, epsilon, error.problem)
        return made.attacked if self.time.left else made.row


class EqualLoss(PlaceRun):
    """Each family's least epsilon that loses no more than a limit, and one that is too small for any mechanism."""

    def __init__(
        self,
        families: PlaceFamilies,
        limit: float,
        seconds: float,
        bound_time: float,
        progress: Progress,
        found: Found,
    ) -> None:
        self.limit = limit
        parts: dict[Any, float] = {**_PARTS}
        if bound_time:
            parts[ANY] = _PART_OF_BOUND
        super().__init__(families, seconds, parts, bound_time, progress, found)

    def work(self) -> None:
        """Search with noise, which is quick; the programs are searched for near its epsilon."""
        raw = _MORE * 2 / self.limit
        first, slope = raw, SLOPE
        for name in _PARTS:
            self.progress(name)
            make = self._maker(name, self.time.countdown(name))
            if name == RAW:
                self.add(matched(make, name, self.limit, raw, slope=-1.0).row)
                continue
            row, found = matched(make, name, self.limit, first, slope)
            self.add(row)
            if name == REMAPPED and not row.problem:
                first, slope = row.epsilon, found
        if self.bound_time:
            self.progress(ANY)
            self._needed()

    def _maker(self, name: str, left: Callable[[], float]) -> Callable[[float], Made]:
        """Return what makes a family's mechanism of an epsilon in the seconds that are left."""
        return lambda epsilon: self.families.made(name, epsilon, left())

    def place(self, row: PlaceRow) -> tuple[float, int]:
        """Return the position of the name."""
        return 0.0, (*NAMES, ANY).index(row.name)

    def _needed(self) -> None:
        """Find an epsilon, as large as may be, with which every mechanism loses more than the limit."""
        least = min((row.epsilon for row in self.rows if math.isfinite(row.epsilon_upper)), default=None)
        left = self.time.countdown(ANY)
        if least is None:
            return
        best: CoordinateBound | None = None
        epsilon, most = _FIRST * least, least
        for _ in range(_BOUNDS):
            epsilon = float(f"{epsilon:.{_DIGITS}g}")
            bound = self.bound(epsilon, min(self.bound_time, left()))
            if bound is None:
                break
            if bound.lower <= self.limit:
                most = epsilon
            elif best is None or bound.epsilon > best.epsilon:
                best = bound
            if self.limit < bound.lower < _NEAR * self.limit:
                break
            epsilon = min(_LESS * most, _LESS * epsilon * (bound.lower / self.limit) ** _POWER)
            if best is not None and epsilon <= best.epsilon:
                break
        self.keep(best, epsilon)
