"""The orders of one job, and the lines of JSON in which it reports to the studio."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.optimal import Progress

    from ..grounds import StudioGround

Tell = Callable[[Mapping[str, Any]], None]


class Work:
    """Orders of a job, whether it is to stop, and a way to report progress.

    A job that was resumed counts its seconds on from those of its last line.
    """

    def __init__(self, orders: Mapping[str, Any], tell: Tell, stop: Callable[[], bool]) -> None:
        self.orders, self.tell, self.stop = orders, tell, stop
        self.folder = Path(orders["folder"])
        self.request: Mapping[str, Any] = orders["request"]
        self.began = time.monotonic() - orders.get("seconds", 0.0)

    def ground(self) -> StudioGround:
        """Return the ground of the workspace."""
        from ..grounds import ground_of

        return ground_of(self.orders["data"], self.orders["site"], self.folder)

    def step(self, step: Progress) -> None:
        """Write a line of progress."""
        self.tell(
            {
                "event": "progress",
                "seconds": round(time.monotonic() - self.began, 3),
                "value": number(step.value),
                "bound": number(step.bound),
                "gap": number(step.gap),
                "rows": step.rows,
                "step": step.step,
            }
        )


def number(value: float | None) -> float | None:
    """Return a number as JSON has it: None where it is infinite or not known."""
    return None if value is None or not math.isfinite(value) else float(value)
