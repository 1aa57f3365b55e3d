"""The results as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from .overview import agreement, overview, private_and_reached
from .registry import OURS, Instance
from .results import Invocation, cpu_s, reached

TARGET = Path(__file__).resolve().parents[1] / "benchmarks" / "solvers.md"

_TITLES = {
    "headline": "10 x 10 cells, all pairs",
    "growth": "Growth to 1,024 cells",
    "towns": "Real towns, 400 cells",
    "quick": "Every solver on small instances",
    "families": "Every family of priors and losses",
    "full": "All families",
}
_ROOM = 1e-6  # relative: a true epsilon this little above what was asked is rounding, and is not marked

_INTRO = """# Benchmarks

How long an optimal mechanism takes, how much memory, and whether what comes back keeps its promise: sfumato's own
solvers and general ones. Lattices of up to ten thousand places have [pages](benchmarks-lattices.md) of
[their own](ten-thousand.md).

{short}
![CPU seconds and peak memory against the number of cells](images/benchmarks.png)

## What is measured

- **CPU s** are those of the solve alone, in a process of its own. *Plain* means that the general solver was given
  every row of the program, with the gap as its tolerance if it takes one (qif does not); building that program is
  not counted. *Rows generated* means that sfumato gives it only the rows that its answers break. There, and for
  sfumato's own solvers (*structured* and *observables generated*), quantising to integers and the proof over all
  pairs are counted. General solvers and BLAS use one thread, sfumato's own two. `>` marks a run that did not
  finish: it was stopped at its limit, or ended by itself above the gap asked for.
- **True epsilon** is recomputed over all pairs and observables from the matrix that came back, clipped at zero and
  with rows scaled to one; above what was asked it is in bold. *Infinite* means that one secret produces an
  observable that another never does, with the number of such ordered pairs of secrets.
- **Ratio** is CPU seconds divided by those of the structured method without symmetry.
- **Peak** is the memory of the whole process, the libraries included.
- **Gap** is proved, relative to the loss; general solvers alone prove none. With a spanner it is the gap to the
  optimum over all pairs, which a spanner need not reach; such a run counts as finished where its program
  ended.

Wall times, iterations, rows and proved epsilons are in `benchmarks/results`. Run it again, and rewrite this page,
with one of

    uv run --group bench python -m benchmarks --suite quick
    uv run --group bench python -m benchmarks --suite headline
    uv run --group bench python -m benchmarks --suite growth
    uv run --group bench python -m benchmarks --suite towns
    uv run --group bench python -m benchmarks --suite families
    uv run --group bench python -m benchmarks --suite full
"""

_COLUMNS = ("Solver", "CPU s", "True epsilon", "Ratio", "Peak GiB", "Cost", "Gap")
_LEFT = ("Solver", "True epsilon")
_COMPARED = ("quick", "towns", "families", "full")  # suites of many instances: a line for each instance


def write(invocations: Sequence[Invocation]) -> Path:
    """Write the page and return its path."""
    parts = [_INTRO.format(short=in_short(invocations))]
    for invocation in sorted(invocations, key=lambda found: list(_TITLES).index(found.suite)):
        parts += [f"## {_TITLES[invocation.suite]}\n", _where(invocation)]
        if invocation.suite in _COMPARED:
            parts.append(overview(grouped(invocation.runs)))
            continue
        if invocation.suite == "growth":
            parts.append(_growth(grouped(invocation.runs)))
            continue
        for instance, runs in grouped(invocation.runs):
            parts += [_heading(instance), _table(instance, runs)]
    TARGET.write_text("\n".join(parts), encoding="utf-8")
    return TARGET


def in_short(invocations: Sequence[Invocation]) -> str:
    """Return in a list what the headline and the largest instance took, and who kept the promise."""
    by = {invocation.suite: grouped(invocation.runs) for invocation in invocations}
    lines = []
    for instance, runs in by.get("headline", []):
        ours = [run for run in runs if run["contender"] in OURS and reached(run)]
        others = [run for run in runs if run["contender"] not in OURS]
        private = [run for run in others if private_and_reached(instance, run)]
        if ours and others:
            kept = f": {_spent(private)} CPU s" if private else ""
            lines.append(
                f"- **{instance.columns} x {instance.rows} cells, all pairs**: {_spent(ours)} CPU s. Of "
                f"{len(others)} general solvers {len(private)} ended with a true epsilon at most a millionth "
                f"above the one asked{kept}."
            )
    for instance, runs in by.get("growth", [])[-1:]:
        memory = ", ".join(f"{run['peak_gib']:.1f}" for run in runs)
        lines.append(
            f"- **{instance.cells:,} cells, all pairs**: {_spent(runs)} CPU s and {memory} GiB, to a "
            f"relative gap of {instance.gap:g}."
        )
    if "families" in by:
        lines.append(f"- **Every family of priors and losses**: {agreement(by['families'])[0]}")
    return "\n".join(lines) + "\n"


def _spent(runs: Sequence[dict[str, Any]]) -> str:
    return ", ".join(f"{_seconds(cpu_s(run))} ({run['contender']})" for run in runs)


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


def _growth(found: Sequence[tuple[Instance, list[dict[str, Any]]]]) -> str:
    """Return one table of several sizes, whose first column is the number of cells."""
    first, _ = found[0]
    columns = ("Cells", *_COLUMNS, "Gap asked")
    lines = [columns, tuple(":--" if name in _LEFT else "--:" for name in columns)]
    for instance, runs in found:
        compared = ratios(runs)
        lines += [
            (f"{instance.cells:,}", *_row(instance, run, compared.get(run["contender"])), f"{instance.gap:.0e}")
            for run in runs
        ]
    said = f"Square grids, {first.prior} prior, {first.loss} loss, all pairs, epsilon {first.epsilon:g}\n\n"
    return said + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _row(instance: Instance, run: dict[str, Any], ratio: float | None) -> tuple[str, ...]:
    more = "" if reached(run) else "> "
    return (
        run["contender"],
        more + _seconds(cpu_s(run)),
        _epsilon(instance, run),
        "" if ratio is None else f"{more}{ratio:.3g}",
        f"{run['peak_gib']:.2f}",
        _number(run.get("cost"), ".6f"),
        _number(run.get("gap"), ".1e"),
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
