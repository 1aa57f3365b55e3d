"""Figures of the study from the tables of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from sfumato.errors import InputError
from sfumato.reports.theme import LIGHT, blank

from ..curve_labels import label_curve
from ..reproduction import RunTables
from ..results import distinct, where
from .claims import over_field
from .contest import ContestRow
from .games import SwappingRound, games_of, swaps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


CAPTIONS: Final = {
    "swapping": "Example 1, round by round. With cross entropy the two lines cross repeatedly, and a changes its "
    "meaning. With mutual information they meet.",
    "people": "The fewest users of a city at the smaller limit: the error of the best guess against mechanisms of "
    "the same loss, on training visits (filled) and held-out ones (hollow), with 95 % intervals over random "
    "splits. Dashed: proved upper bound for all tables of the cells on the training visits. people.csv has the "
    "other cases.",
}

_BLUE, _ORANGE, _GREY = LIGHT.series[0], LIGHT.series[1], LIGHT.muted


def figures(tables: RunTables) -> Mapping[str, Figure]:
    """Return the figures by the names of their files without ending."""
    return {
        "swapping": swapping_figure(tables.rows("swapping", SwappingRound)),
        "people": people_figure(tables.rows("people", ContestRow)),
    }


def swapping_figure(rounds: Sequence[SwappingRound]) -> Figure:
    """Return a panel for each target: where Alice and Bob are reported from the usual start, round by round."""
    games = games_of(where(rounds, seed=0))
    if not games:
        raise InputError("no game was given.", "pass those of play_swapping.")
    figure = blank(4.8 * len(games), 4.0)
    axes = figure.subplots(1, len(games), squeeze=False, sharey=True)
    for ax, game in zip(axes[0], games, strict=True):
        for field, label, look in (
            ("alice_at_a", "Alice reported at a", {"color": _BLUE, "marker": "o", "markersize": 3}),
            ("bob_at_a", "Bob reported at a", {"color": _ORANGE, "marker": "s", "markersize": 3}),
            ("accuracy", "classifier right", {"color": _GREY, "linestyle": "--"}),
        ):
            ax.plot(range(1, len(game) + 1), [getattr(row, field) for row in game], label=label, **look)
        ax.set_title(f"Trained with {game[0].target}: {swaps(game)} swaps", fontsize=11)
        ax.set(xlabel="round", ylim=(-0.03, 1.03))
        ax.grid(alpha=0.3)
    axes[0, 0].set_ylabel("probability")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), fontsize=9, loc="outside lower center", ncols=3)
    return figure


def people_figure(rows: Sequence[ContestRow]) -> Figure:
    """Return a panel for each source: fewest users, smaller loss, training (filled) and held-out visits."""
    sources = distinct(rows, "source")
    figure = blank(7.4, 3.4)
    axes = figure.subplots(1, len(sources), squeeze=False, sharex=True, sharey=True)[0]
    for ax, source in zip(axes, sources, strict=True):
        users = [row for row in where(rows, source=source) if row.hidden.endswith("users")]
        labels = min(row.labels for row in users)
        fewest = where(users, labels=labels, max_loss_m=min(row.max_loss_m for row in users))
        _panel(ax, fewest)
        ax.set_title(f"{source}: {fewest[0].hidden}, {fewest[0].max_loss_m:,.0f} m", fontsize=10)
    axes[0].set_xlim(0, 1.05)
    figure.supxlabel("error of the best guess", fontsize=10)
    return figure


def _panel(ax: Axes, rows: Sequence[ContestRow]) -> None:
    largest, blind = (over_field(rows, field).value for field in ("largest_error", "blind_error"))
    ax.axvline(largest, color=_ORANGE, linestyle="--", linewidth=1.2)
    label_curve(ax, (largest, 0.5), "proved largest", _ORANGE, (-5, 0), "right")
    ax.axvline(blind, color=_GREY, linestyle=":", linewidth=1.2)
    label_curve(ax, (blind, 1), "without\na report", _GREY)
    names = distinct(rows, "mechanism")
    for field, name, fill, shift in (
        ("error", "training", _BLUE, -0.14),
        ("held_out_error", "held out", LIGHT.paper, 0.14),
    ):
        errors = [over_field(where(rows, mechanism=each), field) for each in names]
        values, places = [each.value for each in errors], [place + shift for place in range(len(names))]
        bars = [[each.value - each.lower for each in errors], [each.upper - each.value for each in errors]]
        look: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 5, "color": _BLUE}
        ax.errorbar(values, places, xerr=bars, markerfacecolor=fill, capsize=2, elinewidth=1, **look)
        label_curve(ax, (errors[0].upper, shift), name, _BLUE, (5, -20 * shift))
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="x", alpha=0.3)
