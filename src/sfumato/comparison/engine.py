"""Engine of comparisons: entries make their rows one after the other in shared time."""

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
    """Seconds for pieces of work, by their names; each gets its part of what the ones before it have left.

    Args:
        seconds: For all of them; ``inf`` for no limit.
        parts: How much of the time each may take, relative to the others, if all take what they may.
        clock: Seconds that have passed since any moment.
    """

    def __init__(
        self, seconds: float, parts: Mapping[Any, float], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock, self._parts = clock, dict(parts)
        self._end = clock() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left for everything, not below 0."""
        return max(0.0, self._end - self._clock())

    def share(self, name: Hashable) -> float:
        """Return the seconds for a piece of work that begins now: its part of what is left."""
        part = self._parts.pop(name)
        seconds: float = self.left * part / (part + sum(self._parts.values()))
        return seconds

    def countdown(self, name: Hashable) -> Callable[[], float]:
        """Return how many seconds are left for a piece of work that begins now, whenever that is called."""
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
    """Mechanism, family or bound in a comparison.

    Attributes:
        name: Its name in tables.
        part: Its share of the time, relative to the others.
        rows: From the common epsilon or loss and the time to its rows.
        missing: From that value, the error and the time to the row that says why there is no other.
    """

    name: str
    part: float
    rows: Callable[[float, Clock], Iterable[Row]]
    missing: Callable[[float, SfumatoError, Clock], Row]


def run(
    contestants: Sequence[Contestant[Row]],
    values: Sequence[float],
    seconds: float,
    progress: Callable[[str], None] | None,
    found: Callable[[Row], None] | None,
) -> list[Row]:
    """Return the rows of each contestant at all values; the rows of one value are together.

    Args:
        contestants: In the order in which they are made, each at all values before the next.
        values: The epsilons, or the loss, that the mechanisms have in common.
        seconds: For everything.
        progress: Called with the name of each contestant before it is made for a value.
        found: Called with each row when it is there.
    """
    rows: list[list[Row]] = [[] for _ in values]
    work = [(contestant, k) for contestant in contestants for k in range(len(values))]
    shared = SharedTime(seconds, {place: contestant.part for place, (contestant, _) in enumerate(work)})
    for place, (contestant, k) in enumerate(work):
        if progress is not None:
            progress(contestant.name)
        clock = Clock(shared.countdown(place), lambda: shared.left)
        for row in _attempt(contestant, values[k], clock):
            rows[k].append(row)
            if found is not None:
                found(row)
    return [row for each in rows for row in each]


def _attempt(contestant: Contestant[Row], value: float, clock: Clock) -> Iterator[Row]:
    """Yield the rows of a contestant up to an error, and what is missing then; callers' errors pass through."""
    rows = iter(contestant.rows(value, clock))
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except SfumatoError as error:
            yield contestant.missing(value, error, clock)
            return
        yield row


def check_common(epsilon: object, max_loss: object) -> None:
    """Raise InputError unless one of the two is given."""
    if (epsilon is None) == (max_loss is None):
        raise InputError(
            f"epsilon {epsilon} and max_loss {max_loss} were given.",
            "give one of them: what the mechanisms have in common.",
        )


def epsilons_of(epsilon: float | str | Sequence[float | str]) -> list[float | str]:
    """Return one epsilon, or several, as a list.

    Raises:
        InputError: If there is none.
    """
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
