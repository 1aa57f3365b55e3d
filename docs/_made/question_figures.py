"""Draw the figures of the page on a sensitive question: ``python -m docs._made.question_figures``.

They are drawn for the width of a phone. The answers are simulated from a seed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

import sfumato as sf
from sfumato.estimation import Reports
from sfumato.reports import LIGHT, save_picture

_IMAGES: Final = Path(__file__).resolve().parents[1] / "images"
_SHARES: Final = {"never": 0.60, "once": 0.25, "often": 0.10, "rather not say": 0.05}
_PEOPLE: Final = 6_077
_DIRECT: Final = 30.0  # so large an epsilon that everybody tells the truth
_BLUE, _ORANGE, _GREEN = LIGHT.series[:3]


def people_figure() -> Figure:
    """Return the margin of all four shares against the number of people, for three epsilons and none."""
    figure = Figure(figsize=(4.2, 3.1), layout="constrained", dpi=130)
    axes = figure.subplots()
    people = np.unique(np.geomspace(500, 20_000, 25).astype(int))
    looks = (
        (1.0, "epsilon 1", _ORANGE, "-"),
        (1.5, "epsilon 1.5", _GREEN, "--"),
        (2.0, "epsilon 2", _BLUE, "-."),
        (_DIRECT, "asked directly", LIGHT.ink, ":"),
    )
    for epsilon, name, colour, line in looks:
        margins = [100 * sf.accuracy(4, epsilon=epsilon, answers=int(n)).margin for n in people]
        axes.plot(people, margins, line, color=colour, label=name)
    axes.plot(_PEOPLE, 5, "o", color=_ORANGE)
    axes.annotate("6,077 people:\n5 points", (_PEOPLE, 5), (6, 4), textcoords="offset points", fontsize=9)
    axes.set(xscale="log", xlim=(500, 20_000), ylim=(0, 20))
    axes.set_xticks([500, 1_000, 2_000, 5_000, 10_000, 20_000])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:,.0f}"))
    axes.minorticks_off()
    axes.set_xlabel("people who answer")
    axes.set_ylabel("margin (percentage points)")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=9)
    return figure


def shares_figure() -> Figure:
    """Return true shares, the counted reports and the estimates with their intervals."""
    labels = list(_SHARES)
    question = sf.mechanisms.RandomisedResponse(sf.Space(labels), 1.0).mechanism()
    rng = np.random.default_rng(1)
    truth = rng.choice(len(labels), _PEOPLE, p=list(_SHARES.values()))
    drawn = sf.simulator(question, 1).draw(truth)
    counts = np.bincount(drawn, minlength=len(labels))
    reports = Reports(question, counts)
    found = sf.estimate_population(reports, method="inversion", intervals="normal")
    intervals = found.intervals
    if intervals is None:
        raise ValueError("the estimate has no intervals")
    low, high = 100 * intervals.lower, 100 * intervals.upper
    figure = Figure(figsize=(4.2, 2.9), layout="constrained", dpi=130)
    axes = figure.subplots()
    at = np.arange(len(labels))
    actual = 100 * np.bincount(truth, minlength=len(labels)) / _PEOPLE
    axes.plot(100 * counts / _PEOPLE, at + 0.22, "D", color=_ORANGE, label="reports, counted")
    axes.hlines(at, low, high, color=_BLUE, lw=2)
    axes.plot(100 * found.probabilities, at, "o", color=_BLUE, label="estimate, 95 % interval")
    axes.plot(actual, at - 0.22, "|", color=LIGHT.ink, ms=12, mew=2, label="true answers")
    axes.set_yticks(at, labels)
    axes.invert_yaxis()
    axes.set_xlim(0, 70)
    axes.set_xlabel("share (%)")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(frameon=False, fontsize=9, loc="lower right")
    return figure


def main() -> None:
    """Write both figures."""
    for name, draw in (("people", people_figure), ("shares", shares_figure)):
        path = _IMAGES / f"sensitive-question-{name}.png"
        save_picture(draw(), path, LIGHT)
        sys.stdout.write(f"Written: {path.name}\n")


if __name__ == "__main__":
    main()
