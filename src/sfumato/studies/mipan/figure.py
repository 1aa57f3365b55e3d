"""Figures of the learned mechanisms: Example 1 round by round, and the contest at each loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError
from ...report.drawing import blank
from .contest import ContestRow
from .study import MipanResults
from .swapping import Swapping

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "#555555"


def figures(found: MipanResults) -> dict[str, Figure]:
    """Return the figures ``learned-swapping`` and ``learned-mechanisms``.

    Args:
        found: What `study` returned.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    return {"learned-swapping": swapping_figure(found.games), "learned-mechanisms": contest_figure(found.contests)}


def swapping_figure(games: Sequence[Swapping]) -> Figure:
    """Return a panel for each target: where Alice and Bob are reported, round by round.

    Args:
        games: What `play_swapping` returned for each target.

    Raises:
        InputError: If there is none.
        MissingExtraError: If matplotlib is not installed.
    """
    if not games:
        raise InputError("no game was given.", "pass those of play_swapping.")
    figure = blank(4.8 * len(games), 4.0)
    axes = figure.subplots(1, len(games), squeeze=False, sharey=True)
    for ax, game in zip(axes[0], games, strict=True):
        number = np.arange(1, len(game.accuracy) + 1)
        ax.plot(number, game.reports_a[:, 0], color=_BLUE, marker="o", markersize=3, label="Alice reported at a")
        ax.plot(number, game.reports_a[:, 1], color=_ORANGE, marker="s", markersize=3, label="Bob reported at a")
        ax.plot(number, game.accuracy, color=_GREY, linestyle="--", label="classifier right")
        ax.set_title(f"Trained with {game.target}: {game.swaps} swaps", fontsize=11)
        ax.set_xlabel("round")
        ax.set_ylim(-0.03, 1.03)
        ax.grid(alpha=0.3)
    axes[0, 0].set_ylabel("probability")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), fontsize=9, loc="outside lower center", ncols=3)
    return figure


def contest_figure(rows: Sequence[ContestRow]) -> Figure:
    """Return a panel for each label and loss: filled on the visits learned from, hollow on the held-out ones.

    Args:
        rows: Rows of contests.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    kinds = list(dict.fromkeys(row.hidden for row in rows))
    losses = sorted({row.max_loss_m for row in rows})
    names = list(dict.fromkeys(row.mechanism for row in rows))
    figure = blank(4.3 * len(kinds) + 1.6, 2.6 * len(losses) + 0.6)
    axes = figure.subplots(len(losses), len(kinds), squeeze=False, sharex="col", sharey=True)
    for line, loss in zip(axes, losses, strict=True):
        for ax, kind in zip(line, kinds, strict=True):
            _panel(ax, [row for row in rows if (row.hidden, row.max_loss_m) == (kind, loss)], names)
            most = max(max(r.error, r.held_out_error, r.blind_error) for r in rows if r.hidden == kind)
            ax.set_xlim(0, 1.05 * most)
            ax.set_title(f"{kind}, loss {loss:,.0f} m", fontsize=11)
    axes[0, 0].invert_yaxis()
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=9, loc="outside upper center", ncols=len(labels))
    figure.supxlabel("error of the best guess", fontsize=11)
    return figure


def _panel(ax: Axes, rows: Sequence[ContestRow], names: Sequence[str]) -> None:
    places = [names.index(row.mechanism) for row in rows]
    ax.axvline(rows[0].largest_error, color="#D55E00", linestyle="--", linewidth=1, label="proved largest")
    ax.axvline(rows[0].blind_error, color="#555555", linestyle=":", linewidth=1, label="without a report")
    style: dict[str, Any] = {"linestyle": "", "marker": "o", "color": "#0072B2"}
    ax.plot([row.error for row in rows], places, label="learned from", **style)
    ax.plot([row.held_out_error for row in rows], places, label="held out", markerfacecolor="none", **style)
    ax.set_yticks(range(len(names)), names, fontsize=9)
    ax.grid(alpha=0.3)
