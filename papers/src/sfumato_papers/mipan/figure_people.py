"""Figures of users of a city: what each mechanism hides, and where it reports them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sfumato.reports.theme import LIGHT, blank

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
    """Return a panel for each label and loss: filled on the visits learned from, hollow on the held-out ones.

    Args:
        rows: Rows of contests.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    kinds = list(dict.fromkeys((row.source, row.hidden) for row in rows))
    losses = sorted(values(rows, "max_loss_m"))
    names = values(rows, "mechanism")
    figure = blank(4.1 * len(losses) + 2.0, 2.35 * len(kinds) + 0.7)
    axes = figure.subplots(len(kinds), len(losses), squeeze=False, sharex="row", sharey=True)
    for line, (source, hidden) in zip(axes, kinds, strict=True):
        for ax, loss in zip(line, losses, strict=True):
            mine = of(rows, source=source, hidden=hidden, max_loss_m=loss)
            _panel(ax, mine, names)
            ax.set_title(f"{source}: {hidden}, {loss:,.0f} m", fontsize=10)
        line[0].set_xlim(left=0)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=9, loc="outside upper center", ncols=len(labels))
    figure.supxlabel("error of the best guess", fontsize=11)
    return figure


def _panel(ax: Axes, rows: Sequence[ContestRow], names: Sequence[str]) -> None:
    here = [name for name in names if of(rows, mechanism=name)]
    places = [names.index(name) for name in here]
    largest = over_field(rows, "largest_error").value
    blind = over_field(rows, "blind_error").value
    ax.axvline(largest, color=LIGHT.series[1], linestyle="--", linewidth=1, label="proved largest")
    ax.axvline(blind, color=LIGHT.muted, linestyle=":", linewidth=1, label="without a report")
    for field, label, fill, shift in (
        ("error", "learned from", LIGHT.series[0], -0.14),
        ("held_out_error", "held out", LIGHT.paper, 0.14),
    ):
        found = [over_field(of(rows, mechanism=name), field) for name in here]
        style: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 4.5, "color": LIGHT.series[0]}
        ax.errorbar(
            [each.value for each in found],
            [place + shift for place in places],
            xerr=bars(found),
            markerfacecolor=fill,
            label=label,
            capsize=2,
            elinewidth=0.9,
            **style,
        )
    ax.set_yticks(range(len(names)), names, fontsize=9)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(alpha=0.3)


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
