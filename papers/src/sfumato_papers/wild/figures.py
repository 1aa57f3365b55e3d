"""Figures of the study, drawn from the tables that a run wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from sfumato.reports.theme import LIGHT, blank

from ..reproduction import RunTables
from .found import FoundRow
from .maps import walk_map, week_map, zone_map
from .pictures import PicturePoint, ZonePicture
from .rounded_distances import DistanceRow
from .summary import over_seeds
from .vocabulary import ALONE, AS_DOCUMENTED, KNOWS, NO_REPORT, REMEMBERED, REPORTS
from .zones import CIRCLE, ZoneRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTIONS: Final = {
    "how-close": "Median error of an attacker with the reports alone, after 1, 10 and 100 reports of one place "
    "(zones: tracks; distances: queries). Dots on each other mean that more reports add nothing; trips have one "
    "dot, because they are not linked. Diamonds are certified noise with the scheme's average displacement, drawn "
    "once for a remembered place. Triangles are certified noise matched otherwise: for zones, to the average "
    "distance of track ends from home; for whole miles, to the error of rounding. Horizontal lines are 95 % "
    "intervals over runs, left out where they reach down to 1 m.",
    "how-close-knowing": "The same for an attacker who knows where people of the city go. The dashed line is "
    "the error without a report.",
    "week": "One week of an invented person under eight schemes, and under certified noise whose places are "
    "remembered: true places (black squares) and reports (open circles). Below each title is the scheme's mean "
    "displacement; these differ much. All maps have the same scale.",
    "borders": "One walk, from the left to the right, with a report every 800 m. Where the report of a fixed grid "
    "changes (orange), the walker has just crossed a border; with an offset under the grid the border is blurred. "
    "The certified noise has the mean displacement of the drifting offset, not of the grid of 5 km.",
    "zones": "The visible ends of twelve tracks and the circle through them. Home is the black square. In the "
    "shifted zone more ends lie on the side near home.",
}
"""Captions by the names of figures."""

_LEAST_M: Final = 1.0
_TICKS: Final = {1.0: "1 m or less", 10.0: "10 m", 100.0: "100 m", 1000.0: "1 km", 10_000.0: "10 km"}
_EXACT: Final = "whole miles"
_Runs = Mapping[tuple[str, int], Sequence[Any]]
_COLOURS: Final = {1: LIGHT.series[4], 10: LIGHT.series[0], 100: LIGHT.series[1]}
_SIZES: Final = {1: 4.5, 10: 6.5, 100: 8.5}
_CERTIFIED: Final = LIGHT.series[2]


def figures(tables: RunTables) -> Mapping[str, Figure]:
    """Return the figures by the names of their files without ending.

    Args:
        tables: The tables of a run.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    return _drawn(tables, narrow=False)


def narrow_figures(tables: RunTables) -> Mapping[str, Figure]:
    """Return the same figures for narrow screens.

    Args:
        tables: The tables of a run.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    return _drawn(tables, narrow=True)


def _drawn(tables: RunTables, *, narrow: bool) -> Mapping[str, Figure]:
    schemes = tables.texts("schemes")
    found = tables.rows("found", FoundRow)
    zones, distances = tables.rows("zones", ZoneRow), tables.rows("distances", DistanceRow)
    return {
        "how-close": _alone(schemes, found, zones, distances, narrow),
        "how-close-knowing": _knowing(schemes, found, narrow),
        "week": week_map(tables.rows("week", PicturePoint), 2 if narrow else 3),
        "borders": walk_map(tables.rows("walk", PicturePoint), 1 if narrow else 2),
        "zones": zone_map(tables.rows("zone", ZonePicture), 1 if narrow else 2),
    }


def _alone(
    schemes: Sequence[Mapping[str, str]],
    found: Sequence[FoundRow],
    zones: Sequence[ZoneRow],
    distances: Sequence[DistanceRow],
    narrow: bool,
) -> Figure:
    lines = _lines(schemes, [row for row in found if row.attacker == ALONE])
    titles = {row["key"]: row["title"] for row in schemes}
    behind: dict[str, list[tuple[str, int, ZoneRow | DistanceRow]]] = {}
    others = {titles[zone.scheme] for zone in zones} | {f"distance in {_EXACT}"}
    for zone in zones:
        best = [row.attack for row in zones if row.scheme == zone.scheme and row.attack != CIRCLE]
        if zone.attack != CIRCLE or not any(best):  # where there is a better attack than the circle, that one
            behind.setdefault(titles[zone.scheme], []).append((zone.mechanism, zone.tracks, zone))
    for row in distances:
        behind.setdefault(f"distance in {row.app}", []).append((row.mechanism, row.questions, row))
    for title, rows in behind.items():
        lines[title] = {
            (name, count): [row for *about, row in rows if about == [name, count]] for name, count, _ in rows
        }
    figure = blank(4.6, 1.9 + 0.5 * len(lines)) if narrow else blank(9.6, 1.6 + 0.37 * len(lines))
    ax: Any = figure.subplots()
    _dots(ax, lines, narrow, others)
    _legend(figure, ax, narrow, others=True)
    return figure


def _knowing(schemes: Sequence[Mapping[str, str]], found: Sequence[FoundRow], narrow: bool) -> Figure:
    """Draw a panel for each city."""
    knowing = [row for row in found if row.attacker == KNOWS]
    cities = list(dict.fromkeys(row.city for row in knowing))
    lines = {city: _lines(schemes, [row for row in knowing if row.city == city]) for city in cities}
    count = len(lines[cities[0]])
    if narrow:
        figure = blank(4.6, (1.6 + 0.5 * count) * len(cities) + 0.6)
        axes: Any = figure.subplots(len(cities), 1, squeeze=False)
    else:
        figure = blank(4.2 + 5.4 * len(cities), 1.9 + 0.37 * count)
        axes = figure.subplots(1, len(cities), sharey=True, squeeze=False)
    for ax, city in zip(axes.flat, cities, strict=True):
        own = [row for row in knowing if row.city == city and row.mechanism == NO_REPORT]
        blind = over_seeds(own, lambda row: row.median_m).value
        ax.axvline(blind, color=LIGHT.muted, linestyle="--", linewidth=1.2, label="without a report")
        ax.set_title(city)
        _dots(ax, lines[city], narrow)
    _legend(figure, axes.flat[0], narrow)
    return figure


def _lines(schemes: Sequence[Mapping[str, str]], found: Sequence[FoundRow]) -> dict[str, _Runs]:
    """Return the runs of each scheme by its title, those of each mechanism and number of reports together.

    Of reports that are not linked there is one.
    """
    lines: dict[str, _Runs] = {}
    for scheme in schemes:
        runs: dict[tuple[str, int], list[FoundRow]] = {}
        for row in found:
            if row.scheme == scheme["key"] and (scheme["linked"] == str(True) or row.reports == REPORTS[0]):
                runs.setdefault((row.mechanism, row.reports), []).append(row)
        if runs:
            lines[scheme["title"]] = runs
    return lines


def _dots(ax: Any, lines: Mapping[str, _Runs], narrow: bool, others: set[str] | None = None) -> None:
    """Draw a row for each scheme, with a dot for each number of reports on a scale of metres."""
    for place, (title, runs) in enumerate(lines.items()):
        _line(ax, len(lines) - 1 - place, runs, "^" if title in (others or ()) else "D")
    _scale(ax, list(lines), narrow)


def _legend(figure: Figure, ax: Any, narrow: bool, *, others: bool = False) -> None:
    for count in REPORTS:
        ax.plot([], [], "o", color=_COLOURS[count], markersize=_SIZES[count], label=f"after {count}")
    ax.plot([], [], "D", color=_CERTIFIED, markerfacecolor="none", label="certified, same average distance")
    if others:
        ax.plot([], [], "^", color=_CERTIFIED, markerfacecolor="none", label="certified, another rule")
    handles, labels = ax.get_legend_handles_labels()
    columns = 2 if narrow else 5
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=9, frameon=False)


def _line(ax: Axes, height: float, runs: _Runs, mark: str) -> None:
    counts = [count for count in REPORTS if (AS_DOCUMENTED, count) in runs]
    found = {count: over_seeds(runs[AS_DOCUMENTED, count], lambda row: row.median_m) for count in counts}
    values = {count: max(each.value, _LEAST_M) for count, each in found.items()}
    ends = [min(values.values()), max(values.values())]
    ax.plot(ends, [height, height], color=LIGHT.grid, linewidth=2, zorder=1)
    for count in reversed(counts):
        colour = _COLOURS[count]
        ax.plot(values[count], height, "o", color=colour, markersize=_SIZES[count], zorder=3)
        if found[count].lower > _LEAST_M:
            reach = [found[count].lower, found[count].upper]
            ax.plot(reach, [height, height], color=colour, linewidth=1.2, zorder=2)
    certified = over_seeds(runs[REMEMBERED, counts[-1]], lambda row: row.median_m).value
    look: dict[str, Any] = {
        "color": _CERTIFIED,
        "markerfacecolor": "none",
        "markersize": 7.5,
        "markeredgewidth": 1.6,
    }
    ax.plot(certified, height, mark, zorder=4, **look)


def _scale(ax: Any, titles: Sequence[str], narrow: bool) -> None:
    ax.set(xscale="log", xlabel="median distance from the true point", ylim=(-0.7, len(titles) - 0.1))
    low, high = ax.get_xlim()
    if narrow:  # titles above the lines
        ax.set_yticks([])
        ax.set_ylim(-0.5, len(titles) - 0.2)
        for place, title in enumerate(titles[::-1]):
            ax.text(low, place + 0.3, title, fontsize=8.5, va="center")
    else:
        ax.set_yticks(range(len(titles)), titles[::-1])
        ax.tick_params(axis="y", length=0)
    shown = [tick for tick in _TICKS if low <= tick <= high * 1.01]
    ax.set_xticks(shown, [_TICKS[tick].replace(" or ", "\nor ") if narrow else _TICKS[tick] for tick in shown])
    ax.set_xlim(low, high)
    ax.xaxis.set_minor_formatter("")
    ax.grid(axis="x", alpha=0.5)
