"""Figure of AIPO: its loss and the losses of others on our cities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sfumato.reports.theme import LIGHT, blank

from ..reproduction import interval
from .anchors_beside import AIPO, AIPO_WIDE, BOUND, CERTIFIED, EM, LP, RELAXED, AnchorRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOOKS: Final[dict[str, dict[str, Any]]] = {
    EM: {"color": LIGHT.series[2], "marker": "s", "label": "exponential, 20 reports"},
    AIPO: {"color": LIGHT.series[1], "marker": "o", "label": "AIPO, 20 reports"},
    AIPO_WIDE: {"color": LIGHT.series[1], "marker": "o", "fillstyle": "none", "label": AIPO_WIDE},
    CERTIFIED: {"color": LIGHT.series[0], "marker": "^", "label": "certified noise"},
    BOUND: {"color": LIGHT.ink, "marker": "_", "linestyle": "--", "label": "no mechanism is below"},
    LP: {"color": LIGHT.muted, "marker": "x", "linestyle": ":", "label": "program on cells (no guarantee)"},
    RELAXED: {"color": LIGHT.muted, "marker": "D", "linestyle": ":", "label": "AIPO-R (no guarantee)"},
}


def anchors_figure(rows: Sequence[AnchorRow]) -> Figure:
    """Return the loss of each mechanism against epsilon, in each city; means over draws of the reports."""
    cities = list(dict.fromkeys(row.city for row in rows))
    figure = blank(7.4, 4.2)
    panels = np.atleast_1d(figure.subplots(1, len(cities), sharey=True))
    for ax, city in zip(panels, cities, strict=True):
        for name, look in _LOOKS.items():
            groups: dict[float, list[float]] = {}
            for row in rows:
                if (row.city, row.mechanism) == (city, name):
                    groups.setdefault(row.epsilon, []).append(row.loss)
            if groups:
                points = [(epsilon, interval(losses).value) for epsilon, losses in sorted(groups.items())]
                ax.plot(*zip(*points, strict=True), markersize=5, linewidth=1.3, **look)
        most = max(row.epsilon for row in rows)
        ax.set(xlabel="epsilon (per km)", title=city, xlim=(0, 1.1 * most))
        ax.grid(alpha=0.3)
    panels[0].set_ylim(bottom=0)
    panels[0].set_ylabel("mean distance from the true point (km)")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8.5, loc="outside lower center", ncols=3, frameon=False)
    return figure
