"""The picture of the page for apps: where the reports of one place lie, around its places.

Run it as ``python -m docs._made.app_reports``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

import sfumato as sf
from sfumato.reports.theme import LIGHT, blank, save_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HERE: Final = (48.8606, 2.3376)
_SHARES: Final = ((0.5, "-"), (0.95, "--"))


def figure() -> Figure:
    """Draw 300 reports of one place, with the circles that half and 95 % of 20,000 reports are in."""
    from matplotlib.patches import Circle

    lat, lon = np.random.default_rng(1).normal((48.86, 2.35), (0.02, 0.03), (400, 2)).T
    noise = sf.mechanisms.planar.CoordinateNoise.for_visits(sf.Visits(lat, lon), "1/km")
    plane = noise.projection
    if plane is None:
        raise TypeError("noise for visits has a projection")
    here = plane.forward(*(np.array([value]) for value in _HERE))
    places = (plane.forward(lat, lon) - here) / 1000
    reports = (noise.simulate(np.repeat(here, 20_000, axis=0), seed=1) - here) / 1000
    away = np.hypot(*reports.T)

    drawn = blank(4.6, 4.9)
    ax = drawn.subplots()
    ax.scatter(places[:, 0], places[:, 1], s=7, color=LIGHT.muted, alpha=0.6, linewidth=0, label="public places")
    ax.scatter(
        reports[:300, 0], reports[:300, 1], s=9, color=LIGHT.series[0], linewidth=0, label="300 reports, each 1/km"
    )
    ax.plot(0, 0, "o", color=LIGHT.series[1], markersize=9, label="true place")
    for share, style in _SHARES:
        radius = float(np.quantile(away, share))
        ax.add_patch(Circle((0, 0), radius, fill=False, linewidth=1.6, linestyle=style, color=LIGHT.series[1]))
        ax.plot(
            [], [], style, color=LIGHT.series[1], label=f"{share:.0%} within {radius:.1f} km".replace("%", " %")
        )
    edge = 1.25 * float(np.quantile(away, 0.95))
    ax.set(xlim=(-edge, edge), ylim=(-edge, edge), aspect="equal", xlabel="km east", ylabel="km north")
    drawn.legend(loc="outside lower center", ncols=2, fontsize=9, frameon=False)
    return drawn


if __name__ == "__main__":
    save_picture(figure(), Path(__file__).resolve().parents[1] / "images" / "app-reports.png", LIGHT)
