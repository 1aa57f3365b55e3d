"""The figure of Example 1: what each target does to the reports of two people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..learn.swapping import Swapping
from ..report.drawing import blank

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "#555555"


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
