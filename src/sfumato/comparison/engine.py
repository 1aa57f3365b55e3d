"""Engine of comparisons: entries that make their rows in shared time."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

import numpy as np

from ..core import Bracket, units
from ..errors import InfeasibleError, InputError, SfumatoError, SolverError
from ..rounding import amount_at_least

NOT_REACHED: Final = "not reached in the time"
"""The problem of a mechanism for which no time was left."""

ANY: Final = "any mechanism"
"""The row of a bound that no mechanism goes below."""

Row = TypeVar("Row")


class SharedTime:
    """Seconds for pieces of work by name; each gets its relative part of what is left when it begins."""

    def __init__(
        self, seconds: float, parts: Mapping[Any, float], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock, self._parts = clock, dict(parts)
        self._end = clock() + seconds

    @property
    def seconds_left(self) -> float:
        """Seconds that are left for everything, not below 0."""
        return max(0.0, self._end - self._clock())

    def share(self, name: Hashable) -> float:
        """Return the seconds for a piece of work that begins now."""
        part = self._parts.pop(name)
        seconds: float = self.seconds_left * part / (part + sum(self._parts.values()))
        return seconds

    def countdown(self, name: Hashable) -> Callable[[], float]:
        """Return a function of the seconds left for a piece of work that begins now."""
        end = self._clock() + self.share(name)
        return lambda: max(0.0, end - self._clock())


class Clock(NamedTuple):
    """Seconds that are left, not below 0: for one entry at one value, and for the whole comparison."""

    left: Callable[[], float]
    total: Callable[[], float]


def check_time(seconds: float) -> float:
    """Return the seconds, or raise SolverError if there are none."""
    if not seconds > 0:
        raise SolverError(f"{NOT_REACHED}.", "allow more time.")
    return seconds


class Contestant(NamedTuple, Generic[Row]):
    """Mechanism, family or bound in a comparison."""

    name: str
    part: float  # of the time, relative to the others
    rows: Callable[[float, Clock], Iterable[Row]]  # from the common epsilon or loss
    missing: Callable[[float, SfumatoError, Clock], Row]  # the row in place of those that failed


def run(
    contestants: Sequence[Contestant[Row]],
    values: Sequence[float],
    seconds: float,
    progress: Callable[[str], None] | None,
    emit: Callable[[Row], None] | None,
) -> list[Row]:
    """Return the rows of the contestants, ordered by value; each is made at all values before the next.

    `progress` is called with the name of a contestant before it is made for a value, `emit` with each row.
    """
    rows: list[list[Row]] = [[] for _ in values]
    work = [(contestant, k) for contestant in contestants for k in range(len(values))]
    budget = SharedTime(seconds, {place: contestant.part for place, (contestant, _) in enumerate(work)})
    for place, (contestant, k) in enumerate(work):
        if progress is not None:
            progress(contestant.name)
        clock = Clock(budget.countdown(place), lambda: budget.seconds_left)
        for row in _attempt(contestant, values[k], clock):
            rows[k].append(row)
            if emit is not None:
                emit(row)
    return [row for group in rows for row in group]


def _attempt(contestant: Contestant[Row], value: float, clock: Clock) -> Iterator[Row]:
    """Yield the rows of a contestant, and after an error its missing row; errors of the caller pass through."""
    try:
        yield from contestant.rows(value, clock)
    except SfumatoError as error:
        yield contestant.missing(value, error, clock)


def check_common(epsilon: object, max_loss: object) -> None:
    """Raise InputError unless one of the two is given."""
    if (epsilon is None) == (max_loss is None):
        raise InputError(
            f"epsilon {epsilon} and max_loss {max_loss} were given.",
            "give one of them: what the mechanisms have in common.",
        )


def epsilons_of(epsilon: float | str | Sequence[float | str]) -> list[float | str]:
    """Return one epsilon, or several, as a list; raise InputError if there is none."""
    epsilons = [epsilon] if isinstance(epsilon, str | float | int | np.number) else list(epsilon)
    if not epsilons:
        raise InputError("no epsilon was given.", "use '1/km'.")
    return epsilons


def check_loss(limit: float, unit: str, blind: Bracket) -> None:
    """Raise InfeasibleError if a report that is always the same loses no more than the limit."""
    if limit >= blind.lower:
        raise InfeasibleError(
            f"a loss of {units.show(limit, unit)} was asked for, but always reporting the same place loses "
            f"{units.show(blind.value, unit)} and reveals nothing.",
            f"compare at less than {amount_at_least(blind.lower, unit)}.",
        )
