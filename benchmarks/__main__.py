"""The command: ``python -m benchmarks --suite quick``."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from .registry import SUITES, suite
from .results import Invocation, newest
from .run import run


def main() -> None:
    """Run a suite one case at a time, then write the table and the plots."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--suite", choices=sorted(SUITES), help="what to run")
    parser.add_argument(
        "--only", default="", help="only runs whose name contains this; they are not shown on the page"
    )
    parser.add_argument("--limit", type=float, help="seconds of wall time per run, instead of the suite's")
    parser.add_argument("--list", action="store_true", help="only name the runs")
    parser.add_argument("--render", action="store_true", help="only write table and plots of earlier runs")
    asked = parser.parse_args()
    if asked.suite is None and not asked.render:
        parser.error("choose a --suite, or --render the results that there are")
    if not asked.render:
        cases = [case for case in suite(asked.suite) if asked.only in case.name]
        if asked.list:
            sys.stdout.writelines(f"{case.name}\n" for case in cases)
            return
        # A part of a suite is kept, but does not take the whole suite's place on the page.
        invocation = Invocation.new(f"{asked.suite}-part" if asked.only else asked.suite)
        for number, case in enumerate(cases, 1):
            sys.stdout.write(f"[{number}/{len(cases)}] {case.name} ... ")
            sys.stdout.flush()
            limit_s = case.limit_s if asked.limit is None else asked.limit
            invocation.runs.append(run(case, limit_s))
            invocation.write()
            sys.stdout.write(f"{_line(invocation.runs[-1])}\n")
    # Loaded last: the parent of the runs must stay small (see registry).
    from .picture import draw
    from .table import write

    invocations = newest(list(SUITES))
    sys.stdout.write(f"wrote {write(invocations)} and {draw(invocations)}\n")


def _line(record: dict[str, Any]) -> str:
    cpu_s = record.get("solve_cpu_s", record["process_cpu_s"])
    return f"{record['outcome']}, {cpu_s:.2f} CPU s, {record['peak_gib']:.2f} GiB ({record['status']})"


if __name__ == "__main__":
    main()
