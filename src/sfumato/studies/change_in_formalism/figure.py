"""Figure of the change in formalism: the band of posteriors of four notions, computed and as published."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...report.drawing import blank
from .study import PANELS, ChangeInFormalismResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figures(found: ChangeInFormalismResults) -> dict[str, Figure]:
    """Return the figure ``change-in-formalism``.

    It has a panel for each notion, with the band as lines and the published values as points.

    Args:
        found: What `study` returned.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    figure = blank(9, 9.4)
    p = np.linspace(0, 1, 2001)
    for ax, panel in zip(figure.subplots(2, 2, sharex=True, sharey=True).flat, PANELS, strict=True):
        own = panel.band
        ax.fill_between(p, own.lower(p), own.upper(p), color="#0072B2", alpha=0.18, linewidth=0)
        ax.plot(p, own.upper(p), color="#0072B2", linewidth=1.8, label="computed here")
        ax.plot(p, own.lower(p), color="#0072B2", linewidth=1.8)
        ax.plot([0, 1], [0, 1], color="0.4", linestyle=":", linewidth=1, label="nothing learned")
        published = [(value.prior, value.published) for value in found.values if value.panel == panel.name]
        ax.plot(
            *zip(*published, strict=True),
            color="#D55E00",
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
    return {"change-in-formalism": figure}
