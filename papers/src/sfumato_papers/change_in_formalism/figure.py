"""Figure 2.8: the band of posteriors of four notions, computed and as published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sfumato.reports.theme import LIGHT, blank

from .published import PANELS, BandValue

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def published_figure(values: Sequence[BandValue]) -> Figure:
    """Return Figure 2.8: a panel for each notion, the band as lines and the published values as points.

    Args:
        values: The values, computed and published.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    figure = blank(9, 9.4)
    p = np.linspace(0, 1, 2001)
    for ax, panel in zip(figure.subplots(2, 2, sharex=True, sharey=True).flat, PANELS, strict=True):
        own = panel.band
        ax.fill_between(p, own.lower(p), own.upper(p), color=LIGHT.series[0], alpha=0.18, linewidth=0)
        ax.plot(p, own.upper(p), color=LIGHT.series[0], linewidth=1.8, label="computed here")
        ax.plot(p, own.lower(p), color=LIGHT.series[0], linewidth=1.8)
        ax.plot([0, 1], [0, 1], color=LIGHT.muted, linestyle=":", linewidth=1, label="nothing learned")
        published = [(value.prior, value.published) for value in values if value.panel == panel.name]
        ax.plot(
            *zip(*published, strict=True),
            color=LIGHT.series[1],
            marker="o",
            linestyle="none",
            markersize=5.5,
            clip_on=False,
            zorder=3,
            label="published curves",
        )
        epsilon = "epsilon ln 3" + (f", delta {panel.delta:g}" if panel.delta else "")
        ax.set_title(f"{panel.name}\n{epsilon}", fontsize=10.5)
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.grid(alpha=0.3)
    figure.supxlabel("probability of the fact before the report", fontsize=11)
    figure.supylabel("probability after the report", fontsize=11)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, fontsize=10, frameon=False)
    return figure
