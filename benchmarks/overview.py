"""One line per instance: every family at a glance, and whether the solvers agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .registry import ALL, CONTENDERS, OURS, Instance
from .results import cpu_s, reached

_TEXT = """CPU seconds of each solver. **inf**: some pair of secrets can be distinguished with certainty;
**eps**: the true epsilon is more than a millionth above the one asked; `>`: not finished in {limit:.0f} s;
an empty cell: not tried.

"""
_ROOM = 1e-6

Grouped = Sequence[tuple[Instance, list[dict[str, Any]]]]


def overview(found: Grouped) -> str:
    """Return the summary of what the runs agree on, and tables with one line per instance."""
    limit = min(run["limit_s"] for _, runs in found for run in runs)
    by: dict[tuple[str, ...], list[tuple[Instance, list[dict[str, Any]]]]] = {}
    for instance, runs in found:
        size = f"{instance.columns} x {instance.rows}"
        ran = [run["contender"] for run in runs]
        alone = len(ran) == 1
        by.setdefault(("", ran[0]) if alone else (size, instance.pairs), []).append((instance, runs))
    tables = [_sizes(each, key[1]) if not key[0] else _beside(each) for key, each in by.items()]
    summary = "\n".join([agreement(found)[0], "", *agreement(found)[1:]])
    return f"{summary}\n\n{_TEXT.format(limit=limit)}" + "\n".join(tables)


def _beside(found: Grouped) -> str:
    """Return a table of instances with a column for each solver that ran on one of them."""
    ran = {run["contender"] for _, runs in found for run in runs}
    names = [name for name in CONTENDERS if name in ran]
    lines = [("Instance", *names), (":--", *("--:" for _ in names))]
    for instance, runs in found:
        cells = {run["contender"]: _cell(instance, run) for run in runs}
        lines.append((_title(instance), *(cells.get(name, "") for name in names)))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _sizes(found: Grouped, name: str) -> str:
    """Return a table of what one solver took, with a column for each size."""
    sizes = list(dict.fromkeys(f"{instance.columns} x {instance.rows}" for instance, _ in found))
    rows: dict[str, dict[str, str]] = {}
    for instance, runs in found:
        size, _, rest = _title(instance).partition(", ")
        rows.setdefault(rest, {})[size] = _cell(instance, runs[0])
    lines = [(f"{name}, CPU s", *sizes), (":--", *("--:" for _ in sizes))]
    lines += [(rest, *(cells.get(size, "") for size in sizes)) for rest, cells in rows.items()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def agreement(found: Grouped) -> list[str]:
    """Return, a line each, what our mechanisms promise, how the costs compare and what the others return."""
    ours = [(instance, run) for instance, runs in found for run in runs if run["contender"] in OURS]
    solved = [(instance, run) for instance, run in ours if reached(run)]
    proved = max((run["proved_epsilon"] / instance.epsilon for instance, run in solved), default=float("nan"))
    above, below, compared = 0.0, 0.0, 0
    for instance, runs in found:
        if instance.pairs != ALL:
            continue
        others = [run for run in runs if run["contender"] not in OURS and private_and_reached(instance, run)]
        for run in (run for run in runs if run["contender"] in OURS and reached(run)):
            for other in others:
                difference = (run["cost"] - other["cost"]) / max(abs(other["cost"]), 1e-9)
                above, below, compared = max(above, difference), min(below, difference), compared + 1
    ran = {run["contender"] for _, runs in found for run in runs}
    others_that_ran = [name for name in CONTENDERS if name in ran and name not in OURS]
    beside = (
        f"In {compared} comparisons with answers that are private, its cost was at most {above:.1e} above and "
        f"{-below:.1e} below the other solver's, relative."
        if compared
        else f"The costs by its methods differ by at most {_apart(found):.1e}, relative."
    )
    lines = [
        f"sfumato solved {len(solved)} of {len(ours)} runs to the gap asked; the largest proved epsilon was "
        f"{proved:.9f} of the one asked. {beside}",
    ]
    for name in others_that_ran:
        theirs = [(instance, run) for instance, every in found for run in every if run["contender"] == name]
        done = [(instance, run) for instance, run in theirs if reached(run)]
        infinite = sum(bool(run.get("infinite_pairs")) for _, run in done)
        more = sum(
            not run.get("infinite_pairs") and not private_and_reached(instance, run) for instance, run in done
        )
        lines.append(
            f"- {name}: finished {len(done)} of {len(theirs)}; {infinite} with infinite epsilon, "
            f"{more} above the one asked."
        )
    return lines


def _apart(found: Grouped) -> float:
    """Return by how much, relative, our methods' costs of one instance differ at most."""
    costs = [[run["cost"] for run in runs if run["contender"] in OURS and reached(run)] for _, runs in found]
    return max((max(each) / min(each) - 1 for each in costs if each and min(each) > 0), default=0.0)


def private_and_reached(instance: Instance, run: dict[str, Any]) -> bool:
    """Return whether a finished run returned what was asked."""
    epsilon = run.get("epsilon")
    private = not run.get("infinite_pairs") and epsilon is not None and epsilon <= instance.epsilon * (1 + _ROOM)
    return reached(run) and run.get("cost") is not None and private


def _cell(instance: Instance, run: dict[str, Any]) -> str:
    if run["outcome"] == "failed":
        return "failed"
    mark = "" if reached(run) else "> "
    if not mark and run.get("infinite_pairs"):
        note = " **inf**"
    else:
        note = "" if mark or private_and_reached(instance, run) else " **eps**"
    return f"{mark}{cpu_s(run):.2f}{note}"


def _title(instance: Instance) -> str:
    pairs = "" if instance.pairs == ALL else ", spanner"
    town, apart, km = instance.prior.partition(" town ")
    prior = f"{town}, {km} km, {instance.epsilon:g}/km" if apart else instance.prior
    return f"{instance.columns} x {instance.rows}, {prior}, {instance.loss}{pairs}"
