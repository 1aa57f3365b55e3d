"""Time that several pieces of work share: each gets its part of what the ones before it have left."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final

NOT_REACHED: Final = "not reached in the time"
"""The problem of a mechanism for which no time was left."""


class SharedTime:
    """Seconds for pieces of work, by their names.

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
        """Return how many seconds are left for a piece of work that begins now, whenever that is asked."""
        end = self._clock() + self.share(name)
        return lambda: max(0.0, end - self._clock())
