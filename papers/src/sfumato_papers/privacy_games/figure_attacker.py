"""The equilibrium of one user: from which reports the attacker guesses what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sfumato.reports.theme import LIGHT, blank

from .games import DISTORTION, JOINT
from .look import style
from .slopes import GuessRow, HabitRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDEST: Final = 2.5  # points
_LARGEST: Final = 350.0  # square points
_OWN: Final = 12.0  # points
_LEAST: Final = 0.002  # of all guesses: rarer arrows would hide the others


def attacker_figure(guesses: Sequence[GuessRow], habits: Sequence[HabitRow]) -> Figure:
    """Return a map for *distortion* and one for *joint*: habits as circles, guesses as arrows from reports."""
    figure = blank(10.5, 3.5)
    axes = figure.subplots(1, 2)
    highest = max(each.probability for each in habits)
    for ax, name in zip(axes, (DISTORTION, JOINT), strict=True):
        visited = [each for each in habits if each.probability > 0]
        ax.scatter(
            [each.x for each in visited],
            [each.y for each in visited],
            [_LARGEST * each.probability / highest for each in visited],
            color=LIGHT.muted,
            alpha=0.4,
            linewidth=0,
            clip_on=False,
        )
        mine = [each for each in guesses if each.mechanism == name]
        most = max(each.report_probability * each.guess_probability for each in mine)
        for each in mine:
            share = each.report_probability * each.guess_probability
            if share < _LEAST:
                continue
            if (each.guess_x, each.guess_y) == (each.report_x, each.report_y):
                size = _OWN * (share / most) ** 0.5
                ring = {"color": style(name)["color"], "fillstyle": "none", "clip_on": False}
                ax.plot(each.guess_x, each.guess_y, "o", markersize=size, **ring)
                continue
            ax.annotate(
                "",
                (each.guess_x, each.guess_y),
                (each.report_x, each.report_y),
                arrowprops={
                    "arrowstyle": "-|>",
                    "mutation_scale": 9,
                    "color": style(name)["color"],
                    "linewidth": _WIDEST * (share / most) ** 0.5,
                    "shrinkA": 0,
                    "shrinkB": 0,
                    "alpha": 0.7,
                },
            )
        ax.set(
            title=f"{name}: from reports to guesses",
            xlabel="km east",
            ylabel="km north",
            xlim=(0, max(each.x + each.width / 2 for each in habits)),
            ylim=(0, max(each.y + each.height / 2 for each in habits)),
            aspect="equal",
        )
    return figure
