"""The frontier of a sweep: what privacy costs, as a table and a figure."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.atomic import atomically
from ..errors import InputError
from ..escaping import csv_row
from ..escaping import figure as outside
from ..optimal import Point
from ..rounding import amount
from .drawing import blank

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = (
    "prior",
    "epsilon",
    "distortion_asked",
    "loss",
    "loss_lower_bound",
    "gap",
    "epsilon_upper",
    "distortion",
    "hit_rate",
    "tie_gap",
    "seconds",
    "status",
)


def rows(points: Sequence[Point]) -> list[tuple[object, ...]]:
    """Return one row per point, in the order of `COLUMNS`; numbers in the units of loss and metric."""
    found: list[tuple[object, ...]] = []
    for point in points:
        if point.design is None:
            found.append((point.who, point.epsilon, point.minimum, *(None,) * 8, point.failure))
            continue
        c = point.design.certificate
        upper = c.epsilon_upper if point.epsilon is not None else None
        found.append(
            (
                point.who,
                point.epsilon,
                point.minimum,
                c.value,
                c.bound,
                c.gap,
                upper,
                point.distortion,
                point.hit_rate,
                point.design.tie_gap,
                point.design.seconds,
                point.design.status.name,
            )
        )
    return found


def save_rows(points: Sequence[Point], path: str | os.PathLike[str]) -> None:
    """Write the rows as CSV, whole or not at all.

    Raises:
        FileError: If the file cannot be written.
    """
    with atomically(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(map(csv_row, rows(points)))


def frontier(points: Sequence[Point], unit: str) -> Figure:
    """Return two panels: loss against epsilon, and the attacker's error against loss.

    Args:
        points: The points of a sweep.
        unit: The unit of the metric.

    Raises:
        InputError: If no point has a design.
        MissingExtraError: If matplotlib is not installed.
    """
    done = [point for point in points if point.design is not None]
    if not done:
        raise InputError("no point of the sweep has a design.", "see why each failed, and ask for less.")
    label, unit = outside(_label(done[0])), outside(unit)
    figure = blank(11, 4.4)
    left, right = figure.subplots(1, 2)
    kinds = list(dict.fromkeys(point.minimum for point in done))
    styles = ("-", "--", ":", "-.")
    colours = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
    people = list(dict.fromkeys(point.who for point in done))
    markers = "osD^vPX*<>"
    for i, who in enumerate(people):
        for k, minimum in enumerate(kinds):
            mine = [point for point in done if point.who == who and point.minimum == minimum]
            if not mine:
                continue
            losses = [point.design.certificate.value for point in mine if point.design is not None]
            text = who if minimum is None else f"{who}, at least {amount(minimum, unit)}"
            style = {
                "linestyle": styles[k % len(styles)],
                "marker": markers[i % len(markers)],
                "color": colours[i % len(colours)],
                "markersize": 5,
            }
            with_epsilon = [
                (p.epsilon, loss) for p, loss in zip(mine, losses, strict=True) if p.epsilon is not None
            ]
            if with_epsilon:
                left.plot(*zip(*with_epsilon, strict=True), label=outside(text), **style)
            right.plot(losses, [point.distortion for point in mine], label=outside(text), **style)
    left.set_xlabel(f"epsilon (per {unit})" if unit else "epsilon")
    left.set_ylabel(label)
    left.set_title("What privacy costs", fontsize=11)
    right.set_xlabel(label)
    right.set_ylabel("error of the best attacker" + (f" ({unit})" if unit else ""))
    right.set_title("What it buys", fontsize=11)
    for ax in (left, right):
        ax.grid(alpha=0.3)
        ax.set_ylim(bottom=0)
    if len(people) * len(kinds) > 1:
        figure.legend(*right.get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    return figure


def _label(point: Point) -> str:
    if point.design is None:
        return "loss"
    loss = point.design.problem.loss
    return f"{loss.name} loss ({loss.unit})" if loss.unit else f"{loss.name} loss"
