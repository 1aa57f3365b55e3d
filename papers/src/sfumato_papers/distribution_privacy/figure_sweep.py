"""Figure of the distribution privacy study: epsilon against service quality loss."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sfumato.errors import InputError
from sfumato.reports.theme import LIGHT, blank

from ..curve_labels import label_curve
from .rows import NONE, DistributionRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LEAST: Final = 0.01  # of both axes
_SOURCES: Final = {"mixture": "dummies from the mixture", "uniform": "uniform dummies"}


def sweep_figure(rows: Sequence[DistributionRow], *, mechanism: str, delta: float) -> Figure:
    """Return epsilon against loss of one mechanism: a panel for each source of dummies, a curve for each number.

    Args:
        rows: Rows of a `sweep`.
        mechanism: The line that is drawn.
        delta: At which epsilon was proved.

    Raises:
        InputError: If there are no rows.
        MissingExtraError: If matplotlib is not installed.
    """
    if not rows:
        raise InputError("there are no rows to draw.", "run a sweep first.")
    figure = blank(7.4, 3.7)
    axes: Any = figure.subplots(1, 2, sharex=True, sharey=True)
    numbers = sorted({row.dummies for row in rows if row.dummies})[::2]  # names of more curves would overlap
    for ax, (source, title) in zip(axes, _SOURCES.items(), strict=True):
        for k in (0, *numbers):
            curve = _of(rows, mechanism, k, source if k else NONE)
            if curve:
                colour = LIGHT.series[0] if k else LIGHT.ink
                losses, epsilons = [row.loss_km for row in curve], [row.epsilon.upper for row in curve]
                ax.plot(losses, epsilons, "o-", color=colour, markersize=2.5, linewidth=1.4)
                height = float(np.interp(_LEAST, losses, epsilons))
                label_curve(ax, (_LEAST, height), f"{k} dummies" if k else "no dummies", colour, (6, -11))
        ax.set(xscale="log", yscale="log", xlim=(_LEAST, None), ylim=(_LEAST, None))
        ax.set_title(title)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.3)
    figure.supxlabel("expected distance to the best answer (km)", fontsize=10)
    axes[0].set_ylabel(f"proved epsilon at delta {delta:g}")
    return figure


def _of(rows: Sequence[DistributionRow], name: str, dummies: int, source: str) -> list[DistributionRow]:
    wanted = (name, dummies, source)
    found = [row for row in rows if (row.mechanism, row.dummies, row.source) == wanted]
    shown = [row for row in found if isfinite(row.epsilon.upper) and row.epsilon.upper > 0 and row.loss_km > 0]
    return sorted(shown, key=lambda row: row.loss_km)
