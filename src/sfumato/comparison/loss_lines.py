"""Axes of losses against epsilon: a line for each mechanism, with a proved bound below all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Final

from ..reports.theme import LIGHT
from ..rounding import about, amount_at_most

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TOP: Final = 1.25
"""Of the loss of always the same report: what loses more leaves the figure."""

_PER_LINE: Final = 44  # letters of the label of the losses


@dataclass(frozen=True, slots=True)
class LossLine:
    """A mechanism's losses.

    Attributes:
        label: Its name in the legend.
        colour: Of line and marks.
        mark: Of each loss.
        line: The style of the line.
        losses: By epsilon.
        hollow: Whether marks are white inside.
    """

    label: str
    colour: str
    mark: str
    line: str
    losses: dict[float, float]
    hollow: bool = False


def draw_losses(
    ax: Axes, lines: Sequence[LossLine], bounds: dict[float, float], bound_label: str, blind: float, per: str
) -> None:
    """Draw a line for each mechanism, the bound as a shade, and the loss of always the same report.

    Args:
        ax: The axes.
        lines: The mechanisms that exist.
        bounds: The proved losses by epsilon, which no mechanism goes below.
        bound_label: What was proved.
        blind: The loss of always the same report.
        per: The unit that epsilon counts per.
    """
    for each in lines:
        epsilons = sorted(each.losses)
        ax.plot(
            epsilons,
            [each.losses[epsilon] for epsilon in epsilons],
            color=each.colour,
            marker=each.mark,
            markerfacecolor=LIGHT.paper if each.hollow else each.colour,
            linestyle=each.line,
            markersize=6,
            linewidth=1.6,
            label=each.label,
        )
    if bounds:
        x = sorted(bounds)
        y = [bounds[epsilon] for epsilon in x]
        (bound,) = ax.plot(x, y, color=LIGHT.ink, linewidth=1.2, marker="D", label=bound_label, zorder=1.5)
        bound.set(markersize=8, markerfacecolor=LIGHT.paper)
        ax.fill_between(x, 0, y, color=LIGHT.ink, alpha=0.07, linewidth=0)
    ax.axhline(blind, color=LIGHT.ink, linewidth=0.8, linestyle=":")
    ax.annotate(
        "always the same report, which reveals nothing",
        (0.995, blind),
        xycoords=("axes fraction", "data"),
        xytext=(0, 1.5),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=8,
    )
    epsilons = sorted({*bounds, *(epsilon for each in lines for epsilon in each.losses)})
    ax.set_xscale("log")
    ax.set_xticks(epsilons, [about(each, 3) for each in epsilons])
    ax.set_xticks([], minor=True)
    ax.set_xlabel(f"epsilon{f' (per {per})' if per else ''}: larger promises less")
    ax.set_ylim(0, TOP * blind)
    ax.grid(alpha=0.25)
    ax.set_axisbelow(True)


def label_losses(ax: Axes, text: str, unit: str) -> None:
    """Write what the losses are, with their unit, along their axis."""
    ax.set_ylabel(fill(f"{text} ({unit})" if unit else text, _PER_LINE))


def mark_leaving(ax: Axes, line: LossLine, unit: str) -> None:
    """Write how far up a line goes on that leaves the figure to the left."""
    top = ax.get_ylim()[1]
    epsilons = sorted(line.losses)
    above = [epsilon for epsilon in epsilons if line.losses[epsilon] > top]
    if not above:
        return
    first, at = above[0], above[-1]
    if len(epsilons) > len(above):
        after, last = epsilons[len(above)], line.losses[above[-1]]
        at *= (after / at) ** ((last - top) / (last - line.losses[after]))
    ax.annotate(
        leaving(line, first, unit, unit),
        (at, top),
        xytext=(-8, -4),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=8,
        color=line.colour,
    )


def leaving(line: LossLine, epsilon: float, unit: str, per: str) -> str:
    """Return the words for the loss at an epsilon, per such a unit, that lies above the figure."""
    return f"up to {amount_at_most(line.losses[epsilon], unit)} at {about(epsilon, 3)}{f'/{per}' if per else ''}"
