"""The results as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from .overview import overview
from .registry import OURS, Instance
from .results import Invocation, cpu_s, reached

TARGET = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"

_TITLES = {
    "headline": "10 x 10 cells, all pairs",
    "growth": "Growth to 1,024 cells",
    "quick": "Small instances",
    "families": "Every family of priors and losses",
    "full": "All families",
}
_ROOM = 1e-6  # relative: a true epsilon this little above what was asked is rounding, and is not marked

_INTRO = """# Benchmarks

Each run has its own process. **CPU s** and **wall s** are those of the solve alone; for sfumato's own
solver and for the back-ends with generated rows they include quantising to integers and the proof over all pairs.
*Plain* means that the general solver was given every row of the program, as its user would write it, with the gap
below as its tolerance if it takes one (qif does not); building that program is not counted. BLAS and the general
solvers use one thread, the structured method two. **Peak** is the memory of the whole process, the libraries
included. **Ratio** is CPU seconds divided by those of the structured method without symmetry (with it, if only
that was run), in the same invocation; `>` marks a run that did not finish.

**True epsilon** is recomputed over all pairs and observables from the matrix that came back, clipped at zero and
with rows scaled to one; above what was asked it is in bold. *Infinite* means that one secret produces an
observable that another never does, with the number of such ordered pairs of secrets. **Proved epsilon** and
**gap** are from the certificate; the general solvers alone prove neither. With a spanner the gap is to the
optimum over all pairs. A run that was stopped at its limit, or whose proved gap is larger than the one asked for,
is listed as *not finished*.

Run them again, and rewrite this page, with one of

    uv run --group bench python -m benchmarks --suite quick
    uv run --group bench python -m benchmarks --suite headline
    uv run --group bench python -m benchmarks --suite growth
    uv run --group bench python -m benchmarks --suite families
    uv run --group bench python -m benchmarks --suite full

![CPU seconds and peak memory against the number of cells](images/benchmarks.png)
"""

_COLUMNS = (
    "Solver",
    "CPU s",
    "Wall s",
    "Ratio",
    "Peak GiB",
    "Cost",
    "Gap",
    "Iterations",
    "Rows",
    "True epsilon",
    "Proved epsilon",
    "Outcome",
)
_LEFT = ("Solver", "True epsilon", "Outcome")


def write(invocations: Sequence[Invocation]) -> Path:
    """Write the page and return its path."""
    parts = [_INTRO]
    for invocation in sorted(invocations, key=lambda found: list(_TITLES).index(found.suite)):
        parts += [f"## {_TITLES[invocation.suite]}\n", _where(invocation)]
        if invocation.suite == "families":
            parts.append(overview(grouped(invocation.runs)))
            continue
        for instance, runs in grouped(invocation.runs):
            parts += [_heading(instance), _table(instance, runs)]
    TARGET.write_text("\n".join(parts), encoding="utf-8")
    return TARGET


def ratios(runs: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return CPU seconds over those of the structured method, by contender, of the runs of one instance."""
    spent = {run["contender"]: cpu_s(run) for run in runs if run["outcome"] != "failed"}
    ours = next((spent[name] for name in OURS if name in spent), None)
    return {} if ours is None else {name: seconds / ours for name, seconds in spent.items()}


def _where(invocation: Invocation) -> str:
    machine = invocation.machine
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    return (
        f"{invocation.started[:10]}, {machine['processor']}, {machine['cores']} cores, {machine['system']}, "
        f"Python {machine['python']}; {versions}.\n"
    )


def grouped(runs: Iterable[dict[str, Any]]) -> list[tuple[Instance, list[dict[str, Any]]]]:
    """Return the runs of each instance, in the order of the first."""
    found: dict[Instance, list[dict[str, Any]]] = {}
    for run in runs:
        found.setdefault(Instance(**run["instance"]), []).append(run)
    return list(found.items())


def _heading(instance: Instance) -> str:
    pairs = "all pairs" if instance.pairs == "all" else "the pairs of a spanner"
    return (
        f"### {instance.columns} x {instance.rows}, {instance.prior} prior, {instance.loss} loss, {pairs}\n\n"
        f"epsilon {instance.epsilon:g}, relative gap {instance.gap:g}, {instance.cells:,} cells\n"
    )


def _table(instance: Instance, runs: Sequence[dict[str, Any]]) -> str:
    compared = ratios(runs)
    lines = [_COLUMNS, tuple(":--" if name in _LEFT else "--:" for name in _COLUMNS)]
    lines += [_row(instance, run, compared.get(run["contender"])) for run in runs]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _row(instance: Instance, run: dict[str, Any], ratio: float | None) -> tuple[str, ...]:
    more = "" if reached(run) else "> "
    rows = run.get("rows")
    return (
        run["contender"],
        more + _seconds(cpu_s(run)),
        more + _seconds(float(run.get("solve_wall_s", run["process_wall_s"]))),
        "" if ratio is None else f"{more}{ratio:.3g}",
        f"{run['peak_gib']:.2f}",
        _number(run.get("cost"), ".6f"),
        _number(run.get("gap"), ".1e"),
        _number(run.get("iterations"), ",d"),
        _number(rows, ",d") if rows else "",
        _epsilon(instance, run),
        _number(run.get("proved_epsilon"), ".9f"),
        _outcome(run),
    )


def _seconds(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _epsilon(instance: Instance, run: dict[str, Any]) -> str:
    infinite, finite = run.get("infinite_pairs"), run.get("epsilon")
    if infinite:
        return f"**infinite** ({infinite:,} of {run['pairs']:,} pairs)"
    if finite is None:
        return ""
    shown = f"{finite:.9f}"
    return f"**{shown}**" if finite > instance.epsilon * (1 + _ROOM) else shown


def _outcome(run: dict[str, Any]) -> str:
    if reached(run):
        return "solved"
    if run["outcome"] == "solved":
        return "not finished: gap above the one asked"
    reason = run["status"] if run["outcome"] == "failed" else run["status"].partition(":")[0]
    return f"{run['outcome']}: {reason}"
