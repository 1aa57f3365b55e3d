"""Figures of the study, drawn from the tables that a run wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from sfumato.reports.theme import LIGHT, blank

from ..curve_labels import label_curve
from ..reproduction import RunTables
from .found import FoundRow
from .maps import walk_map, week_map, zone_map
from .pictures import PicturePoint, ZonePicture
from .rounded_distances import DistanceRow
from .summary import over_seeds
from .vocabulary import ALONE, AS_DOCUMENTED, KNOWS, NO_REPORT, REMEMBERED, REPORTS
from .zones import CIRCLE, ZoneRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTIONS: Final = {
    "how-close": "Median error of an attacker with the reports alone, after 1 report of one place and after 100 "
    "(zones: tracks; distances: queries). A row without a square: more reports reduce the error by under 10 %, "
    "or are not linked (trips). Triangles are certified noise, drawn once for a remembered place, with the "
    "scheme's average displacement; for zones it is matched to the average distance of track ends from home, for "
    "whole miles to the error of rounding.",
    "how-close-knowing": "The same for an attacker who knows where people of the city go. The dashed line is "
    "the error without a report.",
    "week": "One week of an invented person under two schemes, and under certified noise whose places are "
    "remembered: true places (black squares) and reports (open circles). Below each title is the mean "
    "displacement. All maps have the same scale.",
    "borders": "One walk, from the left to the right, with a report every 800 m. Where the report of a fixed grid "
    "changes (orange), the walker has just crossed a border; with an offset under the grid the border is blurred. "
    "The certified noise has the mean displacement of the drifting offset, not of the grid of 5 km.",
    "zones": "The visible ends of twelve tracks and the circle through them. Home is the black square. In the "
    "shifted zone more ends lie on the side near home.",
}
"""Captions by the names of figures."""

_LEAST_M: Final = 1.0
_TICKS: Final = {1.0: "1 m or less", 10.0: "10 m", 100.0: "100 m", 1000.0: "1 km", 10_000.0: "10 km"}
_Runs = Mapping[tuple[str, int], Sequence[Any]]
_SAME: Final = 1.1  # times: marks at smaller ratios are one mark
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
        "week": week_map(tables.rows("week", PicturePoint), 1 if narrow else 3),
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
    figure = blank(4.6, 0.8 + 0.5 * len(lines)) if narrow else blank(7.4, 0.8 + 0.31 * len(lines))
    ax: Any = figure.subplots()
    _dots(ax, lines, narrow)
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
        figure = blank(4.2 + 3.2 * len(cities), 1.1 + 0.31 * count)
        axes = figure.subplots(1, len(cities), sharey=True, squeeze=False)
    for ax, city in zip(axes.flat, cities, strict=True):
        own = [row for row in knowing if row.city == city and row.mechanism == NO_REPORT]
        blind = over_seeds(own, lambda row: row.median_m).value
        ax.axvline(blind, color=LIGHT.muted, linestyle="--", linewidth=1.2)
        label_curve(ax, (blind, count - 0.5), "without a report", LIGHT.muted, (-5, 0), "right")
        ax.set_title(city)
        _dots(ax, lines[city], narrow)
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


def _dots(ax: Any, lines: Mapping[str, _Runs], narrow: bool) -> None:
    """Draw a row for each scheme on a scale of metres: its marks have names in the row where they are farthest."""
    rows = [_row(runs) for runs in lines.values()]
    named = max(range(len(rows)), key=lambda place: rows[place][0] / rows[place][1])
    for place, (first, last, certified) in enumerate(rows):
        height, spread = len(rows) - 1 - place, first / last
        ax.plot([first, last], [height, height], color=LIGHT.grid, linewidth=2, zorder=1)
        ax.plot(first, height, "o", color=LIGHT.series[0], markersize=6, zorder=2)
        if spread > _SAME:
            ax.plot(last, height, "s", color=LIGHT.series[1], markersize=6.5, zorder=3)
        ax.plot(certified, height - 0.26, "^", color=_CERTIFIED, markersize=5, zorder=4)
        if place == named:
            label_curve(ax, (first, height), f"after {REPORTS[0]} report", LIGHT.series[0], (5, 10), "right")
            label_curve(ax, (last, height), f"after {REPORTS[-1]} reports", LIGHT.series[1], (6, -9))
            label_curve(ax, (certified, height - 0.26), "certified", _CERTIFIED)
    _scale(ax, list(lines), narrow)


def _row(runs: _Runs) -> tuple[float, float, float]:
    """Return the mean errors after the fewest and the most reports, and those under certified noise, metres."""
    counts = [count for count in REPORTS if (AS_DOCUMENTED, count) in runs]
    ends = [(AS_DOCUMENTED, counts[0]), (AS_DOCUMENTED, counts[-1]), (REMEMBERED, counts[-1])]
    first, last, certified = (max(over_seeds(runs[end], lambda row: row.median_m).value, _LEAST_M) for end in ends)
    return first, last, certified


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
