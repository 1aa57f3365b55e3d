"""Figures of the study: errors by scheme from the tables of a run, and maps of invented examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.geo import Projection
from sfumato.reports.theme import LIGHT, blank

from ..curve_labels import label_curve
from ..invented_city import CENTRE, invented_city
from ..reproduction import RunTables
from ..results import where
from .attack_errors import ALONE, AS_DOCUMENTED, FRESH, REMEMBERED, REPORTS, ErrorRow, FoundRow, metres, over_seeds
from .channels import DriftingOffset, FixedCells
from .published_attacks import CIRCLE, PrivacyZone, circle_through
from .radial import CertifiedNoise
from .schemes import WildScheme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTIONS: Final = {
    "how-close": "Median error of an attacker with the reports alone, after 1 report of one place and after 100 "
    "(zones: tracks; distances: queries). A row without a square: more reports reduce the error by under 10 %, or "
    "are not linked (trips). Triangles are certified noise, drawn once for a remembered place, with the scheme's "
    "average displacement; for zones it is matched to the average distance of track ends from home, for whole "
    "miles to the error of rounding.",
    "week": "One week of an invented person under two schemes, and under certified noise whose places are "
    "remembered: true places (black squares) and reports (open circles). Below each title is the mean "
    "displacement. All maps have the same scale.",
    "borders": "One walk, from the left to the right, with a report every 800 m. Where the report of a fixed grid "
    "changes (orange), the walker has just crossed a border; with an offset under the grid the border is blurred. "
    "The certified noise has the mean displacement of the drifting offset, not of the grid of 5 km.",
    "zones": "The visible ends of twelve tracks and the circle through them. Home is the black square. In the "
    "shifted zone more ends lie on the side near home.",
}

_LEAST_M: Final = 1.0
_TICKS: Final = {1.0: "1 m or less", 10.0: "10 m", 100.0: "100 m", 1000.0: "1 km", 10_000.0: "10 km"}
_SAME: Final = 1.1  # times: marks at smaller ratios are one mark
_BLUE, _ORANGE, _CERTIFIED = LIGHT.series[:3]
_WALK_KM: Final = 4.2  # to each side of a map
_ZONE_TICKS_M: Final = (-1000, -500, 0, 500, 1000)
_WALK_M: Final = 4_000.0
_STEP_M: Final = 800.0


@dataclass(frozen=True, slots=True)
class PicturePoint:
    """A true point and its report, the mean displacement, and the side of a cell or 0."""

    panel: str
    number: int
    x_m: float
    y_m: float
    report_x_m: float
    report_y_m: float
    moved_m: float
    cell_m: float = 0.0


@dataclass(frozen=True, slots=True)
class ZonePicture:
    """The end of a track of a home at the origin, and the circle through all ends."""

    panel: str
    x_m: float
    y_m: float
    circle_x_m: float
    circle_y_m: float
    radius_m: float


_Point = TypeVar("_Point", PicturePoint, ZonePicture)


def week(schemes: Sequence[WildScheme], certified_m: float, seed: int) -> list[PicturePoint]:
    """Return a week of one person of the synthetic city under schemes, and under certified noise."""
    visits = invented_city(days=7).of_user("u000")
    points = Projection(*CENTRE).forward(visits.lat, visits.lon)
    rounded, same = np.unique(np.round(points / 200), axis=0, return_inverse=True)
    anchors = np.array([points[same.ravel() == place][0] for place in range(len(rounded))])
    generator = np.random.default_rng(seed)
    rows = []
    for scheme in schemes:
        if scheme.channel is not None:
            reports = scheme.channel.reports(points, 1, generator)[:, 0]
            rows += _rows(scheme.title, points, reports, scheme.channel.mean_m)
    noise = CertifiedNoise.of_mean(certified_m, renewed=False)
    memo = noise.reports(anchors, 1, generator)[:, 0]
    return rows + _rows("certified noise, places remembered", points, memo[same.ravel()], certified_m)


def border_walk(grid: FixedCells, drifting: DriftingOffset, seed: int) -> list[PicturePoint]:
    """Return one walk across borders under a fixed grid, a drifting offset, and certified noise."""
    generator = np.random.default_rng(seed)
    way = np.array([np.cos(0.45), np.sin(0.45)])
    walk = (np.arange(-_WALK_M / 2, _WALK_M / 2 + 1, _STEP_M)[:, None] * way)[None]
    rows = []
    for panel, channel, cell in (
        ("fixed grid of 5 km", replace(grid, origin_m=(-300.0, -3200.0)), grid.width_m),
        ("drifting offset under a grid of 2 km", replace(drifting, origin_m=(-300.0, -1100.0)), drifting.step_m),
    ):
        rows += _rows(panel, walk[0], channel.along(walk, generator)[0], channel.mean_m, cell)
    fresh = CertifiedNoise.of_mean(drifting.mean_m, renewed=True)
    rows += _rows(FRESH, walk[0], fresh.along(walk, generator)[0], fresh.mean_m)
    once = np.repeat(fresh.along(walk[:, :1], generator)[0], len(walk[0]), axis=0)
    return rows + _rows("certified, one report for the walk", walk[0], once, fresh.mean_m)


def zone_pictures(seed: int, tracks: int = 12) -> list[ZonePicture]:
    """Return the ends of tracks of one home, under a centred and a shifted zone."""
    rows = []
    for panel, zone in (("zone centred on home", PrivacyZone()), ("shifted zone", PrivacyZone(shifted=True))):
        generator = np.random.default_rng(seed)
        ends = zone.ends(zone.centres(1, generator), tracks, generator)[0]
        (east, north), radius = circle_through(ends)
        rows += [ZonePicture(panel, float(x), float(y), float(east), float(north), radius) for x, y in ends]
    return rows


def _rows(panel: str, points: Floats, reports: Floats, moved_m: float, cell: float = 0.0) -> list[PicturePoint]:
    return [
        PicturePoint(panel, number, x, y, east, north, moved_m, cell)
        for number, (x, y, east, north) in enumerate(np.column_stack([points, reports]).tolist())
    ]


def figures(tables: RunTables) -> Mapping[str, Figure]:
    """Return the figures by the names of their files without ending."""
    return {
        "how-close": _how_close(tables),
        "week": _week(tables.rows("week", PicturePoint)),
        "borders": _walk(tables.rows("walk", PicturePoint)),
        "zones": _zones(tables.rows("zone", ZonePicture)),
    }


def _how_close(tables: RunTables) -> Figure:
    schemes = tables.texts("schemes")
    lines: dict[str, dict[tuple[str, int], list[Any]]] = {}
    for scheme in schemes:
        for row in where(tables.rows("found", FoundRow), scheme=scheme["key"], attacker=ALONE):
            if scheme["linked"] == str(True) or row.reports == REPORTS[0]:
                lines.setdefault(scheme["title"], {}).setdefault((row.mechanism, row.reports), []).append(row)
    titles, zones = {row["key"]: row["title"] for row in schemes}, tables.rows("zones", ErrorRow)
    better = {row.scheme for row in zones if row.attack not in (CIRCLE, "")}  # than the circle
    for error in [*zones, *tables.rows("distances", ErrorRow)]:
        if error.attack != CIRCLE or error.scheme not in better:
            group = lines.setdefault(titles.get(error.scheme, f"distance in {error.scheme}"), {})
            group.setdefault((error.mechanism, error.count), []).append(error)
    figure = blank(7.4, 0.8 + 0.31 * len(lines))
    ax = figure.subplots()
    rows = [_row(runs) for runs in lines.values()]
    example = max(range(len(rows)), key=lambda place: rows[place][0] / rows[place][1])
    for place, (first, last, certified) in enumerate(rows):
        height = len(rows) - 1 - place
        ax.plot([first, last], [height, height], color=LIGHT.grid, linewidth=2, zorder=1)
        ax.plot(first, height, "o", color=_BLUE, markersize=6, zorder=2)
        if first / last > _SAME:
            ax.plot(last, height, "s", color=_ORANGE, markersize=6.5, zorder=3)
        ax.plot(certified, height - 0.26, "^", color=_CERTIFIED, markersize=5, zorder=4)
        if place == example:
            label_curve(ax, (first, height), f"after {REPORTS[0]} report", _BLUE, (5, 10), "right")
            label_curve(ax, (last, height), f"after {REPORTS[-1]} reports", _ORANGE, (6, -9))
            label_curve(ax, (certified, height - 0.26), "certified", _CERTIFIED)
    ax.set(xscale="log", xlabel="median distance from the true point", ylim=(-0.7, len(lines) - 0.1))
    ax.set_yticks(range(len(lines)), list(lines)[::-1])
    ax.tick_params(axis="y", length=0)
    low, high = ax.get_xlim()
    ticks = [tick for tick in _TICKS if low <= tick <= high * 1.01]
    ax.set_xticks(ticks, [_TICKS[tick] for tick in ticks])
    ax.set_xlim(low, high)
    ax.xaxis.set_minor_formatter("")
    ax.grid(axis="x", alpha=0.5)
    return figure


def _row(runs: Mapping[tuple[str, int], Sequence[Any]]) -> tuple[float, float, float]:
    """Return the mean errors after the fewest and the most reports, and those under certified noise."""
    counts = [count for count in REPORTS if (AS_DOCUMENTED, count) in runs]
    ends = [(AS_DOCUMENTED, counts[0]), (AS_DOCUMENTED, counts[-1]), (REMEMBERED, counts[-1])]
    first, last, certified = (max(over_seeds(runs[end], "median_m").value, _LEAST_M) for end in ends)
    return first, last, certified


def _week(points: Sequence[PicturePoint]) -> Figure:
    """Return a map for each scheme: true points, and their reports on top."""
    figure, panels = _panels(points, 3, 2.5, 2.8, 0.2)
    reach = 1.1 * float(np.abs(_km(points)).max())
    for ax, panel, subset in panels:
        colour = _CERTIFIED if panel.startswith("certified") else _ORANGE
        _moves(ax, subset, colour)
        ax.plot(*_km(subset)[:2], "s", color=LIGHT.ink, markersize=4)
        _reports(ax, subset, colour, 7)
        ax.set_title(f"{_wrap(panel, 26)}\n{metres(subset[0].moved_m)} on average", fontsize=9)
        _frame(ax, reach, "km").grid(alpha=0.4)
    ax, _, subset = panels[0]
    x, y, report_x, report_y = _km(subset)[:, 0]
    label_curve(ax, (x, y), "true place", LIGHT.ink, (0, -9), "center")
    label_curve(ax, (report_x, report_y), "report", _ORANGE, (-7, 0), "right")
    return figure


def _walk(points: Sequence[PicturePoint]) -> Figure:
    """Return a map for each channel of one walk, with the cells and where the report changes."""
    figure, panels = _panels(points, 2, 4.4, 4.5, 0.6)
    for ax, panel, subset in panels:
        x, y, report_x, report_y = _km(subset)
        cell = subset[0].cell_m / 1000
        if cell:
            for k in range(-9, 10):
                look = {"color": LIGHT.muted, "linewidth": 0.7, "alpha": 0.7}
                ax.axvline(report_x[0] - cell / 2 + cell * k, **look)
                ax.axhline(report_y[0] - cell / 2 + cell * k, **look)
        _moves(ax, subset, _BLUE)
        ax.plot(x, y, "s-", color=LIGHT.ink, markersize=4, linewidth=1.2, label="walk")
        _reports(ax, subset, _BLUE, 8)
        if cell:
            look = {"color": _ORANGE, "linewidth": 4.5, "zorder": 3, "label": "where the report changes"}
            for old, new in pairwise(range(len(subset))):
                if (report_x[old], report_y[old]) != (report_x[new], report_y[new]):
                    ax.plot(x[[old, new]], y[[old, new]], **look)
        ax.set_title(f"{panel}\n{metres(subset[0].moved_m)} on average", fontsize=10)
        _frame(ax, _WALK_KM, "km").grid(visible=False)
    _legend(figure, panels[0][0])
    return figure


def _zones(points: Sequence[ZonePicture]) -> Figure:
    """Return a map for each zone, with the ends of tracks and the circle through them."""
    from matplotlib.patches import Circle

    figure, panels = _panels(points, 2, 4.8, 4.6, 0.6)
    for ax, panel, subset in panels:
        middle = (subset[0].circle_x_m, subset[0].circle_y_m)
        ax.add_patch(Circle(middle, subset[0].radius_m, facecolor=_ORANGE, edgecolor=_ORANGE, alpha=0.18))
        ends = [p.x_m for p in subset], [p.y_m for p in subset]
        ax.plot(*ends, "o", color=_BLUE, markersize=6, label="visible ends of tracks")
        ax.plot(*middle, "x", color=_ORANGE, markersize=10, markeredgewidth=2, label="middle of the circle")
        ax.plot(0, 0, "s", color=LIGHT.ink, markersize=6, label="home")
        ax.set_title(panel, fontsize=10.5)
        _frame(ax, 1000, "m").grid(alpha=0.4)
        ax.set(xticks=_ZONE_TICKS_M, yticks=_ZONE_TICKS_M)
    _legend(figure, panels[0][0])
    return figure


def _km(points: Sequence[PicturePoint]) -> Floats:
    """Return the coordinates of true points and of reports, array (4, n), km."""
    return np.array([(p.x_m, p.y_m, p.report_x_m, p.report_y_m) for p in points]).T / 1000


def _panels(
    points: Sequence[_Point], columns: int, width: float, height: float, rest: float
) -> tuple[Figure, list[tuple[Any, str, list[_Point]]]]:
    """Return a figure, sized in inches per map and the rest below, and the axes, title and points of each map."""
    panels: dict[str, list[_Point]] = {}
    for point in points:
        panels.setdefault(point.panel, []).append(point)
    rows = -(-len(panels) // columns)
    figure = blank(width * columns, height * rows + rest)
    axes: Any = figure.subplots(rows, columns, sharex=True, sharey=True)
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    return figure, [(ax, panel, panels[panel]) for ax, panel in zip(axes.flat, panels, strict=False)]


def _frame(ax: Any, reach: float, unit: str) -> Any:
    """Set the limits and labels of a map, and return it."""
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    ax.set(xlabel=f"{unit} east", ylabel=f"{unit} north")
    ax.label_outer()
    return ax


def _legend(figure: Figure, ax: Axes) -> None:
    """Draw the legend of one of the maps below all of them, each name once."""
    handles, labels = ax.get_legend_handles_labels()
    known = dict(zip(labels, handles, strict=True))
    figure.legend(known.values(), known.keys(), loc="outside lower center", ncols=3, fontsize=9.5, frameon=False)


def _moves(ax: Axes, points: Sequence[PicturePoint], colour: str) -> None:
    for x, y, report_x, report_y in _km(points).T:
        ax.plot([x, report_x], [y, report_y], color=colour, alpha=0.45, linewidth=0.9)


def _reports(ax: Any, points: Sequence[PicturePoint], colour: str, size: float) -> None:
    """Draw reports as open circles, which hide nothing below them."""
    look = {"color": colour, "markerfacecolor": "none", "markersize": size, "markeredgewidth": 1.4}
    ax.plot(*_km(points)[2:], "o", label="reports", zorder=4, **look)


def _wrap(title: str, room: int) -> str:
    """Return a long title in two lines."""
    if len(title) <= room:
        return title
    middle = title.rfind(" ", 0, room)
    return f"{title[:middle]}\n{title[middle + 1 :]}"
