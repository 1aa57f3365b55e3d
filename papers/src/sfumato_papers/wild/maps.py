"""Maps of the study: a week, a walk and zones, drawn from the points that a run wrote."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sfumato.reports.theme import LIGHT, blank

from ..curve_labels import label_curve
from .pictures import PicturePoint, ZonePicture
from .summary import metres

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Point = TypeVar("_Point", PicturePoint, ZonePicture)

_CERTIFIED: Final = LIGHT.series[2]
_WALK_KM: Final = 4.2  # to each side of a map
_ZONE_TICKS_M: Final = (-1000, -500, 0, 500, 1000)


def week_map(points: Sequence[PicturePoint], columns: int) -> Figure:
    """Return a map for each scheme: true points, and their reports on top.

    Args:
        points: The points.
        columns: How many maps are in a row.
    """
    figure, panels = _panels(points, columns, 2.5, 2.8, 0.2)
    reach = 1.1 * max(max(abs(p.x_m), abs(p.y_m), abs(p.report_x_m), abs(p.report_y_m)) for p in points) / 1000
    for ax, panel, own in panels:
        colour = _CERTIFIED if panel.startswith("certified") else LIGHT.series[1]
        _joined(ax, own, colour)
        ax.plot([p.x_m / 1000 for p in own], [p.y_m / 1000 for p in own], "s", color=LIGHT.ink, markersize=4)
        _reports(ax, own, colour, 7)
        ax.set_title(f"{_broken(panel, 26)}\n{metres(own[0].moved_m)} on average", fontsize=9)
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel="km east", ylabel="km north")
        ax.label_outer()
        ax.grid(alpha=0.4)
    ax, _, own = panels[0]
    label_curve(ax, (own[0].x_m / 1000, own[0].y_m / 1000), "true place", LIGHT.ink, (0, -9), "center")
    label_curve(
        ax, (own[0].report_x_m / 1000, own[0].report_y_m / 1000), "report", LIGHT.series[1], (-7, 0), "right"
    )
    return figure


def walk_map(points: Sequence[PicturePoint], columns: int) -> Figure:
    """Return a map for each channel of one walk, with the cells and where the report changes.

    Args:
        points: The points.
        columns: How many maps are in a row.
    """
    figure, panels = _panels(points, columns, 4.4, 4.5, 0.6)
    for ax, panel, own in panels:
        cell, first = own[0].cell_m / 1000, own[0]
        if cell:
            for k in range(-9, 10):
                look = {"color": LIGHT.muted, "linewidth": 0.7, "alpha": 0.7}
                ax.axvline(first.report_x_m / 1000 - cell / 2 + cell * k, **look)
                ax.axhline(first.report_y_m / 1000 - cell / 2 + cell * k, **look)
        _joined(ax, own, LIGHT.series[0])
        ax.plot(
            [p.x_m / 1000 for p in own],
            [p.y_m / 1000 for p in own],
            "s-",
            color=LIGHT.ink,
            markersize=4,
            linewidth=1.2,
            label="walk",
        )
        _reports(ax, own, LIGHT.series[0], 8)
        if cell:
            _changes(ax, own)
        ax.set_title(f"{panel}\n{metres(first.moved_m)} on average", fontsize=10)
        ax.set(
            xlim=(-_WALK_KM, _WALK_KM),
            ylim=(-_WALK_KM, _WALK_KM),
            aspect="equal",
            xlabel="km east",
            ylabel="km north",
        )
        ax.label_outer()
        ax.grid(visible=False)
    _legend(figure, panels[0][0], 3)
    return figure


def zone_map(points: Sequence[ZonePicture], columns: int) -> Figure:
    """Return a map for each zone, with the ends of tracks and the circle through them.

    Args:
        points: The ends.
        columns: How many maps are in a row.
    """
    from matplotlib.patches import Circle

    figure, panels = _panels(points, columns, 4.8, 4.6, 0.6)
    for ax, panel, own in panels:
        middle = (own[0].circle_x_m, own[0].circle_y_m)
        zone = LIGHT.series[1]
        ax.add_patch(Circle(middle, own[0].radius_m, facecolor=zone, edgecolor=zone, alpha=0.18))
        ends = [p.x_m for p in own], [p.y_m for p in own]
        ax.plot(*ends, "o", color=LIGHT.series[0], markersize=6, label="visible ends of tracks")
        ax.plot(*middle, "x", color=zone, markersize=10, markeredgewidth=2, label="middle of the circle")
        ax.plot(0, 0, "s", color=LIGHT.ink, markersize=6, label="home")
        ax.set_title(panel, fontsize=10.5)
        ax.set(xlim=(-1000, 1000), ylim=(-1000, 1000), aspect="equal", xlabel="m east", ylabel="m north")
        ax.set(xticks=_ZONE_TICKS_M, yticks=_ZONE_TICKS_M)
        ax.label_outer()
        ax.grid(alpha=0.4)
    _legend(figure, panels[0][0], 3 if columns > 1 else 2)
    return figure


def _panels(
    points: Sequence[_Point], columns: int, width: float, height: float, rest: float
) -> tuple[Figure, list[tuple[Any, str, list[_Point]]]]:
    """Return a figure, sized in inches per map and the rest below, and the axes, title and points of each map."""
    own: dict[str, list[_Point]] = {}
    for point in points:
        own.setdefault(point.panel, []).append(point)
    rows = -(-len(own) // columns)
    figure = blank(width * columns, height * rows + rest)
    axes: Any = figure.subplots(rows, columns, sharex=True, sharey=True)
    for ax in axes.flat[len(own) :]:
        ax.set_visible(False)
    return figure, [(ax, panel, own[panel]) for ax, panel in zip(axes.flat, own, strict=False)]


def _legend(figure: Figure, ax: Axes, columns: int) -> None:
    """Draw the legend of one of the maps below all of them, each name once."""
    handles, labels = ax.get_legend_handles_labels()
    known = dict(zip(labels, handles, strict=True))
    figure.legend(
        known.values(), known.keys(), loc="outside lower center", ncols=columns, fontsize=9.5, frameon=False
    )


def _joined(ax: Axes, points: Sequence[PicturePoint], colour: str) -> None:
    for p in points:
        east, north = [p.x_m / 1000, p.report_x_m / 1000], [p.y_m / 1000, p.report_y_m / 1000]
        ax.plot(east, north, color=colour, alpha=0.45, linewidth=0.9)


def _reports(ax: Axes, points: Sequence[PicturePoint], colour: str, size: float) -> None:
    """Draw reports as open circles: what lies below them stays in sight."""
    ax.plot(
        [p.report_x_m / 1000 for p in points],
        [p.report_y_m / 1000 for p in points],
        "o",
        color=colour,
        markerfacecolor="none",
        markersize=size,
        markeredgewidth=1.4,
        label="reports",
        zorder=4,
    )


def _changes(ax: Axes, points: Sequence[PicturePoint]) -> None:
    for old, new in pairwise(points):
        if (old.report_x_m, old.report_y_m) != (new.report_x_m, new.report_y_m):
            ax.plot(
                [old.x_m / 1000, new.x_m / 1000],
                [old.y_m / 1000, new.y_m / 1000],
                color=LIGHT.series[1],
                linewidth=4.5,
                zorder=3,
                label="where the report changes",
            )


def _broken(title: str, room: int) -> str:
    """Return a long title in two lines."""
    if len(title) <= room:
        return title
    middle = title.rfind(" ", 0, room)
    return f"{title[:middle]}\n{title[middle + 1 :]}"
