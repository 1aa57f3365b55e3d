"""Loss and bound against time: what a design has when it is stopped early. ``python -m benchmarks.anytime``.

Twelve problems are solved with a time limit, and each line of progress is recorded. The results go to
``benchmarks/results``, the pictures are ``docs/images/anytime.png`` (one of the runs) and
``docs/images/anytime-all.png``. Instances on real places are left out where their data are absent.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from matplotlib.axes import Axes

import sfumato as sf
from sfumato.optimal import Progress
from sfumato.reports import LIGHT, save_picture
from sfumato.reports.theme import blank

from .instances import build
from .registry import Instance
from .results import Invocation, newest

IMAGES: Final = Path(__file__).resolve().parents[1] / "docs" / "images"
GAP: Final = 1e-3
ONE: Final = 4  # the run that the documentation shows
INSTANCES: Final = (
    Instance("uniform", "euclidean", 14, 14),
    Instance("uniform", "euclidean", 20, 20, epsilon=0.25),
    Instance("uniform", "euclidean", 32, 31),
    Instance("skewed", "euclidean", 14, 14),
    Instance("skewed", "euclidean", 20, 20),
    Instance("skewed", "euclidean", 32, 31, epsilon=0.25),
    Instance("dirichlet", "euclidean", 20, 20, epsilon=1.4),
    Instance("foursquare 1", "great-circle", 20, 15, epsilon=0.45),
    Instance("foursquare town 10", "great-circle", 20, 20, epsilon=0.5),
    Instance("foursquare town 10", "great-circle", 20, 20, epsilon=2.0),
    Instance("gowalla town 10", "great-circle", 32, 31, epsilon=1.0),
    Instance("paris town 10", "great-circle", 32, 31, epsilon=0.5),
)


def solve(instance: Instance, limit_s: float) -> dict[str, Any]:
    """Return the progress of one design: seconds, loss and bound of each line that changes them."""
    built = build(instance)
    lines: list[tuple[float, float, float]] = []
    begun = time.monotonic()

    def record(line: Progress) -> None:
        now = (line.value, line.bound)
        if not lines or lines[-1][1:] != now:
            lines.append((round(time.monotonic() - begun, 2), *now))

    made = sf.design(
        built.prior,
        loss=built.loss,
        guarantees=sf.MetricPrivacy(instance.epsilon, built.metric),
        gap=GAP,
        time_limit=limit_s,
        tie_break=False,
        method="table",
        progress=record,
    )
    proof = made.certificate
    lines.append((round(time.monotonic() - begun, 2), proof.loss, proof.bound))
    constant = float((built.prior.probabilities @ built.loss_array).min())
    return {
        "name": instance.name,
        "title": f"{instance.prior}, {instance.columns} x {instance.rows}, epsilon {instance.epsilon:g}",
        "lines": [
            [round(seconds, 2), *numbers] for seconds, *numbers in lines if max(map(abs, numbers)) < float("inf")
        ],
        "constant": constant,
        "status": made.status.name,
    }


def draw(runs: Sequence[dict[str, Any]]) -> None:
    """Draw all runs in one picture, and one run in another."""
    figure = blank(8.4, 8)
    for number, (axes, run) in enumerate(zip(figure.subplots(4, 3).flat, runs, strict=False)):
        _panel(axes, run)
        axes.set_title(run["title"], fontsize=8)
        axes.tick_params(labelsize=7)
        if number == 0:
            axes.legend(fontsize=7, frameon=False)
    figure.supxlabel("seconds since the start", fontsize=9)
    figure.supylabel("share of a constant report's loss", fontsize=9)
    save_picture(figure, IMAGES / "anytime-all.png")
    figure = blank(6, 3.2)
    axes = figure.subplots()
    _panel(axes, runs[ONE])
    axes.set(xlabel="seconds since the start", ylabel="share of a constant report's loss")
    axes.legend(frameon=False)
    save_picture(figure, IMAGES / "anytime.png")


def _panel(axes: Axes, run: dict[str, Any]) -> None:
    seconds, values, bounds = zip(*run["lines"], strict=True)
    losses, limits = ([each / run["constant"] for each in numbers] for numbers in (values, bounds))
    axes.step(seconds, losses, where="post", color=LIGHT.series[1], label="loss of the design")
    axes.step(seconds, limits, where="post", color=LIGHT.series[0], label="proved bound")
    axes.fill_between(seconds, losses, limits, step="post", color=LIGHT.grid, alpha=0.5, linewidth=0)
    axes.set(xlim=(0, None), ylim=(0, 1.05))
    axes.grid(visible=True, which="major", color=LIGHT.grid)


def main() -> None:
    """Solve the problems that are asked for, and draw all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.anytime", description=__doc__)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of wall time for each design")
    parser.add_argument("--render", action="store_true", help="only draw the newest results")
    asked = parser.parse_args()
    if asked.render:
        invocation = newest(["anytime"])[0]
    else:
        invocation = Invocation.new("anytime")
        for instance in INSTANCES:
            if instance.available:
                invocation.runs.append(solve(instance, asked.limit))
                last = invocation.runs[-1]
                sys.stdout.write(f"{last['name']}: {last['status']}, {last['lines'][0]} to {last['lines'][-1]}\n")
                sys.stdout.flush()
        invocation.write()
    draw(invocation.runs)


if __name__ == "__main__":
    main()
