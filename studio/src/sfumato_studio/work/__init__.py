"""Orders of a job, and its progress as lines of JSON."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.optimal import EpsilonTrial, Progress

    from ..domains import Domain

Send = Callable[[Mapping[str, Any]], None]


class Work:
    """Orders of a job, whether it is to stop, and a way to report progress."""

    def __init__(self, orders: Mapping[str, Any], send: Send, stop: Callable[[], bool]) -> None:
        self.orders, self.send, self.stop = orders, send, stop
        self.folder = Path(orders["folder"])
        self.request: Mapping[str, Any] = orders["request"]
        self.began = time.monotonic() - orders.get("seconds", 0.0)

    def domain(self) -> Domain:
        """Return the domain of the workspace."""
        from ..domains import domain_of

        return domain_of(self.orders["data"], self.orders["site"], self.folder)

    def trial(self, trial: EpsilonTrial) -> None:
        """Send that another epsilon was tried."""
        self.send({"event": "trial", "epsilon": trial.epsilon})

    def step(self, step: Progress) -> None:
        """Write a line of progress."""
        self.line(step.value, step.bound, step.gap, step.rows, step.step)

    def line(self, value: float, bound: float, gap: float, rows: int, step: int) -> None:
        """Write a line of progress; what is infinite is not known."""
        numbers = {
            name: number if math.isfinite(number) else None
            for name, number in (("value", value), ("bound", bound), ("gap", gap))
        }
        seconds = round(time.monotonic() - self.began, 3)
        self.send({"event": "progress", "seconds": seconds, **numbers, "rows": rows, "step": step})
