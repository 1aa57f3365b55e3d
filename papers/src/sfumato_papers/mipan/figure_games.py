"""Figures of Example 1: its payoffs, the game round by round, and Algorithm 1 with and without new classifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.errors import InputError
from sfumato.reports.theme import LIGHT, blank

from .alternation import AlternationRow
from .summary import of, values
from .swapping import CLASSIFIERS, GENERATORS, PayoffRow, Swapping

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BLUE, _ORANGE, _GREY = LIGHT.series[0], LIGHT.series[1], LIGHT.muted


def payoff_figure(rows: Sequence[PayoffRow]) -> Figure:
    """Return Figure 1: a table for each payoff, deeper where the classifier gains more.

    Args:
        rows: The 16 cases.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    figure = blank(11, 4.2)
    kinds = {
        "success": "probability of success",
        "information_bits": "mutual information (bits)",
        "vulnerability": "vulnerability",
    }
    by = {(row.generator, row.classifier): row for row in rows}
    for ax, (field, title) in zip(figure.subplots(1, 3, sharey=True), kinds.items(), strict=True):
        table = np.array([[getattr(by[g, c], field) for c in CLASSIFIERS] for g in GENERATORS])
        for (line, column), value in np.ndenumerate(table):
            ax.fill_between(
                [column - 0.48, column + 0.48],
                line - 0.47,
                line + 0.47,
                color=_BLUE,
                alpha=0.6 * value,
                linewidth=0,
            )
            ax.text(column, line, f"{value:g}", ha="center", va="center", fontsize=10, color=LIGHT.ink)
        words = [name.replace(", ", ",\n") for name in CLASSIFIERS]
        ax.set_xticks(range(len(CLASSIFIERS)), words, fontsize=8, rotation=40, ha="right")
        ax.set_yticks(range(len(GENERATORS)), GENERATORS, fontsize=9)
        ax.set(xlim=(-0.5, 3.5), ylim=(3.5, -0.5))
        ax.set_title(title, fontsize=11)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
    figure.supylabel("generator", fontsize=11)
    figure.supxlabel("classifier", fontsize=11)
    return figure


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


def alternation_figure(rows: Sequence[AlternationRow]) -> Figure:
    """Return how often the best guess is right, round by round, from each start.

    Args:
        rows: Rounds of Algorithm 1.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    figure = blank(7, 4)
    ax: Any = figure.subplots()
    looks = {
        True: (_BLUE, "-", "new classifier in each round"),
        False: (_ORANGE, "--", "classifier goes on from the last round"),
    }
    for reset, (colour, line, label) in looks.items():
        for seed in values(rows, "seed"):
            mine = of(rows, seed=seed, reset=reset)
            ax.plot(
                [row.round for row in mine],
                [row.best_right for row in mine],
                color=colour,
                linestyle=line,
                linewidth=1.1,
                alpha=0.8,
                label=label if seed == rows[0].seed else None,
            )
    ax.axhline(0.5, color=_GREY, linewidth=0.8, linestyle=":", label="blind guess")
    ax.set(xlabel="round", ylabel="best guess right (probability)", ylim=(0.47, 1.0))
    ax.grid(alpha=0.3)
    ax.legend(fontsize=9)
    return figure
