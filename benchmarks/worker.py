"""One run in its own process: ``python -m benchmarks.worker CASE ANSWER``, both JSON."""

from __future__ import annotations

import json
import resource
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from .registry import CONTENDERS, Instance

_MOST_BYTES = 14 * 2**30  # of address space, so that a run ends itself and not its neighbours


def main() -> None:
    """Solve the case of the first argument and write the answer to the file of the second."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    case = json.loads(sys.argv[1])
    answer = answered(Instance(**case["instance"]), case["contender"], case["limit_s"])
    Path(sys.argv[2]).write_text(json.dumps(answer), encoding="utf-8")


def answered(instance: Instance, name: str, limit_s: float) -> dict[str, Any]:
    """Return the record of one run as plain values."""
    # numpy is loaded here and not above, after the limit of memory is set.
    from .instances import build
    from .seen import seen

    contender = CONTENDERS[name]
    solve = import_module(f"benchmarks.{contender.module}").solve
    built = build(instance)
    solved = solve(built, limit_s, **contender.options)
    found = {} if solved.matrix is None else seen(built, solved.matrix)
    return {
        "finished": solved.finished,
        "status": solved.status,
        "solve_cpu_s": solved.watch.cpu_s,
        "solve_wall_s": solved.watch.wall_s,
        "iterations": solved.iterations,
        "rows": solved.rows,
        "gap": solved.gap,
        "proved_epsilon": solved.proved_epsilon,
        **found,
    }


if __name__ == "__main__":
    main()
