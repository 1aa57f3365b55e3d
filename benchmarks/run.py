"""Running cases, one subprocess each, and keeping what they reported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .registry import Case

_ROOT = Path(__file__).resolve().parents[1]
_GRACE_S = 120.0  # beyond the limit: to build the program, to end by itself and to prove the answer
_POLL_S = 0.02
_KIB = 1 if sys.platform == "darwin" else 1024  # the unit of ru_maxrss, in bytes
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")


def run(case: Case, limit_s: float) -> dict[str, Any]:
    """Return the record of one case; a run that was ended at the limit, or failed, has one too."""
    asked = {"instance": asdict(case.instance), "contender": case.contender.name, "limit_s": limit_s}
    with tempfile.TemporaryDirectory() as folder:
        answer, complaints = Path(folder) / "answer.json", Path(folder) / "stderr.txt"
        command = [sys.executable, "-m", "benchmarks.worker", json.dumps(asked), str(answer)]
        environment = {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
        start = time.monotonic()
        with complaints.open("w", encoding="utf-8") as errors:
            process = subprocess.Popen(  # noqa: S603 (our own worker)
                command, cwd=_ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=errors
            )
            killed, usage = waited(process, start + limit_s + _GRACE_S)
        record = {
            **asked,
            "process_cpu_s": usage.ru_utime + usage.ru_stime,
            "process_wall_s": time.monotonic() - start,
            "peak_gib": usage.ru_maxrss * _KIB / 2**30,
        }
        if answer.is_file():
            found = json.loads(answer.read_text(encoding="utf-8"))
            return {**record, **found, "outcome": "solved" if found["finished"] else "not finished"}
        if killed:
            return {**record, "outcome": "not finished", "status": f"ended after {limit_s:g} s"}
        last = complaints.read_text(encoding="utf-8").strip().splitlines()
        status = f"exit code {process.returncode}" + (f": {last[-1]}" if last else "")
        return {**record, "outcome": "failed", "status": status}


def waited(process: subprocess.Popen[bytes], deadline: float) -> tuple[bool, Any]:
    """Wait for a process, end it at the deadline, and return whether that was needed and what it used."""
    killed = False
    while True:
        pid, status, usage = os.wait4(process.pid, 0 if killed else os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return killed, usage
        if time.monotonic() > deadline:
            process.kill()
            killed = True
        else:
            time.sleep(_POLL_S)
