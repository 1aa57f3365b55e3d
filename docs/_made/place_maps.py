"""Maps of the guides to apps, pipelines and survey points, the last two from the blocks of their pages.

Run it as ``python -m docs._made.place_maps``; it needs geopandas.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import sfumato as sf
from sfumato.reports.maps import draw_credit, draw_names, draw_outline, north_arrow, scale_bar, world_outline
from sfumato.reports.theme import LIGHT, blank, save_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DOCS: Final = Path(__file__).resolve().parents[1]
_HERE: Final = (48.8606, 2.3376)
_INCHES: Final = 3.6  # width of a map, at least


def ground(ax: Axes, area: sf.Lattice, half: float, names: int) -> None:
    """Draw the world within some kilometres of the middle of an area, with some names of its largest towns."""
    outline, (east, north) = world_outline(area), area.projection.forward(*area.latlon.T).mean(axis=0) / 1000
    if outline is None:
        raise ValueError("the area is too large for a map")
    ax.set(xlim=(east - half, east + half), ylim=(north - half, north + half), aspect="equal")
    ax.set(xticks=(), yticks=())
    ax.spines[:].set_visible(True)
    draw_outline(ax, outline, area.projection)
    scale_bar(ax)
    north_arrow(ax)
    draw_names(ax, outline.names[:names], area.projection, _INCHES)
    draw_credit(ax, outline)


def pair(area: sf.Lattice, true: Any, reports: Any, half: float, titles: tuple[str, str]) -> Figure:
    """Draw true points and reports, each (latitudes, longitudes), as two maps of an area."""
    drawn = blank(7.6, 4.2)
    axes = drawn.subplots(1, 2)
    for ax, title, points, colour in zip(axes, titles, (true, reports), LIGHT.series[1::-1], strict=True):
        ground(ax, area, half, 20 if points is true else 0)
        at, counts = np.unique(area.projection.forward(*points).round(), axis=0, return_counts=True)
        look: dict[str, Any] = {"color": colour, "alpha": 0.8, "linewidths": 0, "zorder": 2.5}
        ax.scatter(*at.T / 1000, s=4 if points is true else 600 * counts / counts.max(), **look)
        ax.set_title(title.format(most=counts.max()))
    return drawn


def page(name: str, blocks: int | None = None) -> dict[str, Any]:
    """Run Python blocks of a guide in an empty folder, and return what they define."""
    known: dict[str, Any] = {"__name__": "__page__"}
    text = (DOCS / "how-to" / f"{name}.md").read_text(encoding="utf-8")
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for block in re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)[:blocks]:
            exec(compile(block, name, "exec"), known)  # noqa: S102 - the page's own code
        os.chdir(before)
    return known


def survey() -> Figure:
    """Draw the homes of the guide to survey points."""
    known = page("survey-points")
    true, reports = known["homes"].to_crs("EPSG:4326").geometry, known["private"].geometry
    titles = f"{len(true)} homes: keep secret", "private.gpkg (largest circle: {most} homes)"
    return pair(known["area"], (true.y, true.x), (reports.y, reports.x), 4.7, titles)


def pipeline() -> Figure:
    """Draw the visits of the guide to pipelines."""
    known = page("pipeline", 1)
    visits, reports = known["visits"], sf.release(known["design"].mechanism, known["visits"])
    columns = (visits["lat"], visits["lon"]), (reports["latitude"], reports["longitude"])
    return pair(known["city"], *columns, 6.2, ("1,000 true visits", "1,000 reports (largest disc: {most})"))


def app() -> Figure:
    """Draw 300 reports of one place, with the circles that half and 95 % of 20,000 reports are in."""
    from matplotlib.patches import Circle

    places = sf.Visits(*np.random.default_rng(1).normal((48.86, 2.35), (0.02, 0.03), (400, 2)).T)
    noise = sf.mechanisms.planar.CoordinateNoise.for_visits(places, "1/km")
    area = sf.Lattice.covering("6 km x 6 km around {},{}".format(*_HERE), "1 km")
    if (plane := noise.projection) is None:
        raise TypeError("noise for visits has a projection")
    here = plane.forward(*_HERE)
    moved = noise.simulate(np.repeat(here, 20_000, axis=0), seed=1)
    away = np.hypot(*(moved - here).T) / 1000
    look: dict[str, Any]
    drawn = blank(5.0, 5.6)
    ax = drawn.subplots()
    ground(ax, area, 4.0, 4)
    for name, points, colour in (
        ("public places", np.column_stack([places.lat, places.lon]), LIGHT.muted),
        ("300 reports, each 1/km", plane.inverse(moved[:300]), LIGHT.series[0]),
        ("true place", np.array([_HERE]), LIGHT.series[1]),
    ):
        look = {"s": 90 if len(points) == 1 else 10, "linewidth": 0, "zorder": 2.5}
        ax.scatter(*area.projection.forward(*points.T).T / 1000, color=colour, label=name, **look)
    for share, style in ((0.5, "-"), (0.95, "--")):
        radius = float(np.quantile(away, share))
        label = f"{100 * share:g} % within {radius:.1f} km"
        look = {"fill": False, "linewidth": 1.6, "linestyle": style, "color": LIGHT.series[1], "zorder": 2.6}
        ax.add_patch(Circle(area.projection.forward(*_HERE)[0] / 1000, radius, **look))
        ax.plot([], [], style, color=LIGHT.series[1], label=label)
    drawn.legend(loc="outside lower center", ncols=2, fontsize=9, frameon=False)
    return drawn


if __name__ == "__main__":
    for name, figure in (("app-reports", app), ("pipeline", pipeline), ("survey-points", survey)):
        save_picture(figure(), DOCS / "images" / f"{name}.png")
