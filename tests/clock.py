"""A clock for the package alone: whatever else runs in the same process, such as a server, keeps the true one."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest


def set_clock(monkeypatch: pytest.MonkeyPatch, clock: Callable[[], float]) -> None:
    """Let every module of the package, and those that test its solvers, measure time by another clock, in seconds.

    To set the clock of the module ``time`` itself would stop servers in other threads: an event loop that
    compares a time of the true clock with one of the other may sleep for as long as the machine has been on.
    """
    mine = SimpleNamespace(**{**vars(time), "monotonic": clock, "perf_counter": clock})
    for name, module in list(sys.modules.items()):
        if name.startswith(("sfumato.", "tests.optimal.")) and vars(module).get("time") is time:
            monkeypatch.setattr(module, "time", mine)


def avoid_midnight(seconds: float) -> None:
    """Wait for the next day (UTC) if this one ends within so many seconds: ledgers renew daily limits then."""
    left = 86_400 - time.time() % 86_400
    if left < seconds:
        time.sleep(left + 1)
