"""The look of figures of the privacy games: each mechanism by colour, by marker and by line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from sfumato.reports.theme import LIGHT

from .games import DISTORTION, JOINT, METRIC

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_Row = TypeVar("_Row")

NAMES: Final = (METRIC, DISTORTION, JOINT)
BEST: Final = "error of the best attacker (km)"
BAYES: Final = "error of the Bayesian attacker (km)"
COST: Final = "cost (share of false cells)"
EPSILON: Final = "epsilon (per km)"


def style(name: str) -> dict[str, Any]:
    """Return how the line of a mechanism is drawn."""
    look = {
        METRIC: (LIGHT.series[0], "o", "-"),
        DISTORTION: (LIGHT.series[1], "^", "--"),
        JOINT: (LIGHT.ink, "x", ":"),
    }
    colour, marker, line = look[name]
    return {"color": colour, "marker": marker, "linestyle": line, "label": name, "markersize": 5}


def marks(name: str) -> dict[str, Any]:
    """Return how the marks of a mechanism are drawn, without a line."""
    return style(name) | {"linestyle": "none", "markersize": 4.5, "alpha": 0.75}


def grouped(rows: Iterable[_Row], key: Callable[[_Row], float]) -> dict[float, list[_Row]]:
    """Return rows by a key, in the order of the keys."""
    groups: dict[float, list[_Row]] = {}
    for row in sorted(rows, key=key):
        groups.setdefault(key(row), []).append(row)
    return groups


def medians(
    rows: Iterable[_Row], group: Callable[[_Row], float], *values: Callable[[_Row], float]
) -> list[list[float]]:
    """Return the medians of values over each group, in the order of the groups."""
    groups = grouped(rows, group).values()
    return [[float(np.median([value(row) for row in each])) for each in groups] for value in values]


def equal_line(ax: Axes, label: str) -> None:
    """Draw where both axes are equal, over what is drawn already, and let both begin at 0."""
    end = max(ax.get_xlim()[1], ax.get_ylim()[1])
    ax.plot([0, end], [0, end], color=LIGHT.muted, linewidth=0.8, linestyle="--", label=label)
    ax.set(xlim=(0, end), ylim=(0, end))


def finish(ax: Axes, **legend: Any) -> None:
    """Give axes a light grid and a legend."""
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8, **legend)
