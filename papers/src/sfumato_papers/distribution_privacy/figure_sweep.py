"""Figure of the distribution privacy study: epsilon against service quality loss."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Final

from sfumato.errors import InputError
from sfumato.reports.theme import LIGHT, blank

from .rows import NONE, DistributionRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FAMILIES: Final = tuple(LIGHT.series[i] for i in (0, 4, 2, 7, 3, 1))
_ALONE: Final = LIGHT.ink


def sweep_figure(
    rows: Sequence[DistributionRow], *, panels: Sequence[str], compared: int, source: str = "mixture", delta: float
) -> Figure:
    """Return a panel for each line, by number of dummies, and one that compares the lines.

    Args:
        rows: Rows of a `sweep`.
        panels: The lines that get a panel, five for a full page.
        compared: The number of dummies with which the last panel compares the lines.
        source: Where the dummies of solid lines are drawn from.
        delta: At which epsilon was proved.

    Raises:
        InputError: If there are no rows.
        MissingExtraError: If matplotlib is not installed.
    """
    if not rows:
        raise InputError("there are no rows to draw.", "run a sweep first.")
    across = 3
    down = -(-(len(panels) + 1) // across)
    figure = blank(11.5, 3.9 * down + 0.9)
    axes = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).ravel()
    numbers = sorted({row.dummies for row in rows})
    with_dummies = [k for k in numbers if k]
    colour = {k: LIGHT.series[place % len(LIGHT.series)] for place, k in enumerate(with_dummies)} | {0: _ALONE}
    for ax, name in zip(axes, panels, strict=False):
        for k in numbers:
            for drawn in (source, "uniform") if k else (NONE,):
                label = (f"k = {k}" if k else "no dummies") if drawn != "uniform" else None
                style = ":" if drawn == "uniform" else "-"
                _line(ax, _of(rows, name, k, drawn), color=colour[k], linestyle=style, label=label)
        ax.set_title(name, fontsize=11)
    last = axes[len(panels)]
    for place, name in enumerate(panels):
        shade = _FAMILIES[place % len(_FAMILIES)]
        _line(last, _of(rows, name, 0, NONE), color=shade, label=name)
        _line(last, _of(rows, name, compared, source), color=shade, linestyle="--")
    last.plot([], [], color=_ALONE, linestyle="--", label=f"the same among {compared} dummies")
    last.set_title(f"without dummies, and among {compared}", fontsize=11)
    last.legend(fontsize=8)
    figure.legend(
        *axes[0].get_legend_handles_labels(),
        fontsize=9,
        ncols=len(numbers),
        loc="outside upper center",
        title="solid: mixture, dotted: uniform",
        title_fontsize=9,
    )
    for ax in axes[: len(panels) + 1]:
        ax.set(xscale="log", yscale="log", xlim=(0.01, None), ylim=(0.01, None))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.3)
    for ax in axes[len(panels) + 1 :]:
        ax.set_axis_off()
    figure.supxlabel("service quality loss: expected distance to the best of the k + 1 answers (km)", fontsize=11)
    figure.supylabel(f"proved epsilon at delta {delta:g}", fontsize=11)
    return figure


def _of(rows: Sequence[DistributionRow], name: str, dummies: int, source: str) -> list[DistributionRow]:
    wanted = (name, dummies, source)
    found = [row for row in rows if (row.mechanism, row.dummies, row.source) == wanted]
    shown = [row for row in found if isfinite(row.epsilon.upper) and row.epsilon.upper > 0 and row.loss_km > 0]
    return sorted(shown, key=lambda row: row.loss_km)


def _line(ax: Axes, rows: Sequence[DistributionRow], **style: object) -> None:
    ax.plot(
        [row.loss_km for row in rows],
        [row.epsilon.upper for row in rows],
        marker="o",
        markersize=2.5,
        linewidth=1.4,
        **style,  # type: ignore[arg-type]
    )
