"""Points of the pictures: a week, a walk, and the tracks of one home. All are invented."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.geo import Projection

from ..invented_city import CENTRE, invented_city
from .attack_errors import FRESH
from .channels import DriftingOffset, FixedCells
from .radial import CertifiedNoise
from .schemes import WildScheme
from .zones import PrivacyZone, circle_through

_PERSON: Final = "u000"
_DAYS: Final = 7
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


def week(schemes: Sequence[WildScheme], certified_m: float, seed: int) -> list[PicturePoint]:
    """Return a week of one person of the synthetic city under schemes, and under certified noise."""
    visits = invented_city(days=_DAYS).of_user(_PERSON)
    points = Projection(*CENTRE).forward(visits.lat, visits.lon)
    rounded, same = np.unique(np.round(points / 200), axis=0, return_inverse=True)
    anchors = np.array([points[same.ravel() == place][0] for place in range(len(rounded))])
    generator = np.random.default_rng(seed)
    rows = []
    for scheme in schemes:
        if scheme.channel is not None:
            drawn = scheme.channel.reports(points, 1, generator)[:, 0]
            rows += _rows(scheme.title, points, drawn, scheme.channel.mean_m)
    noise = CertifiedNoise.of_mean(certified_m, renewed=False)
    kept = noise.reports(anchors, 1, generator)[:, 0]
    return rows + _rows("certified noise, places remembered", points, kept[same.ravel()], certified_m)


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
