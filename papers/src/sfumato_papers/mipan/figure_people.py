"""Figures of users of a city: what each mechanism hides, and where it reports them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sfumato.reports.theme import LIGHT, blank

from ..curve_labels import label_curve
from .contest import ContestRow
from .looks import bars
from .parts import CloudCell
from .summary import of, over_field, values
from .vocabulary import NO_NOISE, NOISE, OPTIMUM, TABLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DRAWN: Final = (NO_NOISE, NOISE, TABLE, OPTIMUM)
_LARGEST: Final = 400.0  # of a dot


def people_figure(rows: Sequence[ContestRow]) -> Figure:
    """Return a panel for each source, with the fewest users and the smaller loss.

    Marks are filled for the visits learned from, hollow for the held-out ones.

    Args:
        rows: Rows of contests.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    sources = values(rows, "source")
    figure = blank(7.4, 3.4)
    axes = figure.subplots(1, len(sources), squeeze=False, sharex=True, sharey=True)[0]
    for ax, source in zip(axes, sources, strict=True):
        users = [row for row in of(rows, source=source) if row.hidden.endswith("users")]
        labels = min(row.labels for row in users)
        mine = of(users, labels=labels, max_loss_m=min(row.max_loss_m for row in users))
        _panel(ax, mine)
        ax.set_title(f"{source}: {mine[0].hidden}, {mine[0].max_loss_m:,.0f} m", fontsize=10)
    axes[0].set_xlim(0, 1.05)
    figure.supxlabel("error of the best guess", fontsize=10)
    return figure


def _panel(ax: Axes, rows: Sequence[ContestRow]) -> None:
    largest, blind = (over_field(rows, field).value for field in ("largest_error", "blind_error"))
    ax.axvline(largest, color=LIGHT.series[1], linestyle="--", linewidth=1.2)
    label_curve(ax, (largest, 0.5), "proved largest", LIGHT.series[1], (-5, 0), "right")
    ax.axvline(blind, color=LIGHT.muted, linestyle=":", linewidth=1.2)
    label_curve(ax, (blind, 1), "without\na report", LIGHT.muted)
    names = values(rows, "mechanism")
    for field, name, fill, shift in (
        ("error", "training", LIGHT.series[0], -0.14),
        ("held_out_error", "held out", LIGHT.paper, 0.14),
    ):
        found = [over_field(of(rows, mechanism=each), field) for each in names]
        style: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 5, "color": LIGHT.series[0]}
        ax.errorbar(
            [each.value for each in found],
            [place + shift for place in range(len(names))],
            xerr=bars(found),
            markerfacecolor=fill,
            capsize=2,
            elinewidth=1,
            **style,
        )
        label_curve(ax, (found[0].upper, shift), name, LIGHT.series[0], (5, -20 * shift))
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="x", alpha=0.3)


def people_cloud_figure(cells: Sequence[CloudCell]) -> Figure:
    """Return a map for each source and mechanism at the smaller loss: the larger a dot, the more reports.

    Args:
        cells: How often users are reported in cells.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    loss = min(row.max_loss_m for row in cells)
    sources = values(cells, "source")
    wide, high = (max(abs(getattr(row, name)) for row in cells) / 1000 + 0.6 for name in ("x_m", "y_m"))
    figure = blank(10.5, 0.9 + len(sources) * (2.3 * high / wide + 0.35))
    axes = figure.subplots(len(sources), len(_DRAWN), squeeze=False, sharex=True, sharey=True)
    for (line, source), (column, name) in product(enumerate(sources), enumerate(_DRAWN)):
        ax = axes[line, column]
        mine = of(cells, source=source, mechanism=name, max_loss_m=loss)
        step = min(np.diff(sorted({row.x_m for row in of(cells, source=source)}))) / 1000
        users = sorted(values(of(cells, source=source), "user"))
        for k, user in enumerate(users):
            own = of(mine, user=user)
            turn = 2 * np.pi * k / len(users)
            ax.scatter(
                [row.x_m / 1000 + 0.22 * step * np.cos(turn) for row in own],
                [row.y_m / 1000 + 0.22 * step * np.sin(turn) for row in own],
                s=[_LARGEST * row.share + 1 for row in own],
                color=LIGHT.series[k % 8],
                alpha=0.75,
                linewidth=0,
                label=f"user {user}",
            )
        ax.set_title(f"{source}, {name}" if len(sources) > 1 else name, fontsize=9)
        ax.set(xlim=(-wide, wide), ylim=(-high, high), aspect="equal")
        ax.grid(alpha=0.3)
    figure.supxlabel("km east of the middle", fontsize=11)
    figure.supylabel("km north of the middle", fontsize=11)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    legend = figure.legend(handles, labels, fontsize=9, loc="outside upper center", ncols=len(labels))
    for handle in legend.legend_handles:
        if handle is not None and hasattr(handle, "set_sizes"):
            handle.set_sizes([30.0])
    return figure
