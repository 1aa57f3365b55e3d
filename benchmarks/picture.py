"""The growth of time and memory with the number of cells, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from sfumato.reports import LIGHT, save_picture
from sfumato.reports.theme import blank

from .registry import ALL, CONTENDERS, SIZES, Instance
from .results import Invocation, cpu_s, reached

TARGET = Path(__file__).resolve().parents[1] / "docs" / "images" / "benchmarks.png"

# A colour for each solver, a line for what it is given; the markers differ as well.
_COLOURS = (LIGHT.ink, *(LIGHT.series[i] for i in (1, 5, 0, 4, 2, 0, 4, 2, 3, 7)))
_MARKERS = ("o", "s", "*", "^", "v", "D", "<", ">", "d", "P", "X")
_LINES = ("-",) * 3 + (":",) * 3 + ("--",) * 5
_STYLES = dict(zip(CONTENDERS, zip(_COLOURS, _MARKERS, _LINES, strict=True), strict=True))


def draw(invocations: Sequence[Invocation]) -> Path:
    """Draw all runs with a uniform prior, Euclidean loss and all pairs, and return the picture's path."""
    runs = [run for found in invocations for run in found.runs if _shown(Instance(**run["instance"]))]
    figure = blank(4.6, 7)
    time, memory = figure.subplots(2, 1)
    for name in CONTENDERS:
        mine = _latest(run for run in runs if run["contender"] == name and run["outcome"] != "failed")
        if mine:
            _line(time, name, mine, [cpu_s(run) for run in mine])
            _line(memory, name, mine, [float(run["peak_gib"]) for run in mine])
    for axes, label in ((time, "CPU time of the solve (s)"), (memory, "peak memory of the process (GiB)")):
        axes.set(xscale="log", yscale="log", xlabel="number of cells", ylabel=label)
        axes.set_xlim(20, 1300)
        axes.xaxis.set_major_locator(FixedLocator([columns * rows for columns, rows in SIZES if columns == rows]))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda cells, _: f"{cells:,.0f}"))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.grid(visible=True, which="major", color=LIGHT.grid)
    time.set_title("Time")
    memory.set_title("Memory")
    figure.suptitle(
        "Uniform prior, Euclidean loss, all pairs, epsilon 0.7,\n"
        "gap 1e-6 (1,024 cells: 1e-4). Hollow: unfinished.",
        fontsize=10,
    )
    handles, labels = time.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=9, frameon=False)
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    save_picture(figure, TARGET)
    return TARGET


def _shown(instance: Instance) -> bool:
    # Square maps only: the others have less symmetry.
    square = instance.columns == instance.rows
    return square and (instance.prior, instance.loss, instance.pairs) == ("uniform", "euclidean", ALL)


def _latest(runs: Any) -> list[dict[str, Any]]:
    """Return one run per number of cells, the last one, in order of size."""
    found = {Instance(**run["instance"]).cells: run for run in runs}
    return [found[cells] for cells in sorted(found)]


def _line(axes: Axes, name: str, runs: Sequence[dict[str, Any]], values: Sequence[float]) -> None:
    colour, marker, style = _STYLES[name]
    cells = [Instance(**run["instance"]).cells for run in runs]
    ours = name.startswith("structured")
    width = 2.2 if ours else 1.2
    axes.plot(
        cells,
        values,
        color=colour,
        linestyle=style,
        linewidth=width,
        marker=marker,
        markersize=6,
        zorder=3 if ours else 2,
        label=name,
    )
    for x, y, run in zip(cells, values, runs, strict=True):
        if not reached(run):
            axes.plot(
                [x], [y], color=colour, marker=marker, markersize=9, markerfacecolor="white", linestyle="none"
            )
