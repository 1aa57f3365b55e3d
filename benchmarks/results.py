"""Results on disk: one JSON file per invocation, rewritten after every run."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sfumato import __version__

from .registry import ALL, Instance

FOLDER = Path(__file__).resolve().parent / "results"
_PACKAGES = ("numpy", "scipy", "highspy", "clarabel", "ortools", "qif")


@dataclass(frozen=True, slots=True)
class Invocation:
    """All runs of one command; only these are compared with each other.

    Attributes:
        suite: What was run.
        started: UTC time.
        machine: Processor, cores, system and versions.
        runs: The records, as `run` returns them.
    """

    suite: str
    started: str
    machine: dict[str, Any]
    runs: list[dict[str, Any]]

    @classmethod
    def new(cls, suite: str) -> Invocation:
        """Return an invocation that starts now."""
        return cls(suite, datetime.now(UTC).strftime("%Y-%m-%dT%H%M%SZ"), _machine(), [])

    def write(self) -> Path:
        """Write what there is so far."""
        FOLDER.mkdir(exist_ok=True)
        target = FOLDER / f"{self.started}-{self.suite}.json"
        plain = {"suite": self.suite, "started": self.started, "machine": self.machine, "runs": self.runs}
        target.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
        return target


def newest(suites: Sequence[str]) -> list[Invocation]:
    """Return the newest invocation of each suite that has one."""
    found = []
    for suite in suites:
        files = sorted(FOLDER.glob(f"*-{suite}.json"))
        if files:
            found.append(Invocation(**json.loads(files[-1].read_text(encoding="utf-8"))))
    return found


def _machine() -> dict[str, Any]:
    versions = {"sfumato": __version__}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": versions,
    }


def _processor() -> str:
    """Return the processor's name, if the system has it."""
    told = Path("/proc/cpuinfo")
    if told.is_file():
        for line in told.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def cpu_s(run: dict[str, Any]) -> float:
    """Return the CPU seconds of the solve, or of the whole process where it was ended."""
    return float(run.get("solve_cpu_s", run["process_cpu_s"]))


def reached(run: dict[str, Any]) -> bool:
    """Return whether a run ended by itself and, where a gap is proved over all pairs, with the gap asked for."""
    asked = Instance(**run["instance"])
    return run["outcome"] == "solved" and (asked.pairs != ALL or run.get("gap") is None or run["gap"] <= asked.gap)
