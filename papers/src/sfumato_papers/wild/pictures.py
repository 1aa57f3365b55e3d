"""Examples for pictures: a week, a walk, and the tracks of one home. All are invented."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.geo import CENTRE, Projection, synthetic_city

from .certified import CertifiedNoise
from .channel import WildChannel
from .drifting import DriftingOffset
from .fixed_cells import FixedCells
from .scheme import WildScheme
from .vocabulary import FRESH
from .zone_edges import PrivacyZone, circle_through

_PERSON: Final = "u000"
_DAYS: Final = 7
_WALK_M: Final = 4_000.0
_STEP_M: Final = 800.0


@dataclass(frozen=True, slots=True, repr=False)
class PicturePoint(CompactRepr):
    """A true point and its report in a picture.

    Attributes:
        panel: The title of the panel.
        number: The number of the point, in the order of time.
        x_m: Metres east of the middle of the picture.
        y_m: Metres north.
        report_x_m: Of the report.
        report_y_m: Of the report.
        moved_m: The mean distance from an even point to its report, metres.
        cell_m: The side of a cell of a grid, or 0.
    """

    panel: str
    number: int
    x_m: float
    y_m: float
    report_x_m: float
    report_y_m: float
    moved_m: float
    cell_m: float = 0.0


def week(schemes: list[WildScheme], certified_m: float, seed: int) -> list[PicturePoint]:
    """Return a week of one person of the synthetic city under schemes, and under certified noise.

    Args:
        schemes: Those with a channel are shown.
        certified_m: The mean distance of the certified noise, metres.
        seed: Of the study.
    """
    visits = synthetic_city(days=_DAYS).of_user(_PERSON)
    points = Projection(*CENTRE).forward(visits.lat, visits.lon)
    rounded, same = np.unique(np.round(points / 200), axis=0, return_inverse=True)
    anchors = np.array([points[same.ravel() == place][0] for place in range(len(rounded))])
    generator = np.random.default_rng(seed)
    rows = []
    for scheme in schemes:
        if scheme.channel is not None:
            drawn = _once_each(scheme.channel, points, generator)
            rows += _rows(scheme.title, points, drawn, scheme.channel.mean_m)
    noise = CertifiedNoise.of_mean(certified_m, renewed=False)
    kept = noise.reports(anchors, 1, generator)[:, 0]
    rows += _rows("certified noise, places remembered", points, kept[same.ravel()], certified_m)
    return rows


def _once_each(channel: WildChannel, points_m: Floats, generator: np.random.Generator) -> Floats:
    """Return a report for each point of one person, whose offset drifts."""
    if isinstance(channel, DriftingOffset):
        offsets = channel.offsets(1, len(points_m), generator)[0]
        cells = FixedCells(channel.step_m, channel.step_m, channel.origin_m)
        return cells.centres(points_m + offsets)
    return channel.reports(points_m, 1, generator)[:, 0]


def border_walk(grid: FixedCells, drifting: DriftingOffset, seed: int) -> list[PicturePoint]:
    """Return one walk across borders under a fixed grid, a drifting offset, and certified noise.

    Args:
        grid: The fixed grid.
        drifting: The drifting offset.
        seed: Of the study.
    """
    generator = np.random.default_rng(seed)
    way = np.array([np.cos(0.45), np.sin(0.45)])
    walk = (np.arange(-_WALK_M / 2, _WALK_M / 2 + 1, _STEP_M)[:, None] * way)[None]
    rows = []
    for panel, channel, cell in (
        ("fixed grid of 5 km", grid.moved((-300.0, -3200.0)), grid.width_m),
        ("drifting offset under a grid of 2 km", drifting.moved((-300.0, -1100.0)), drifting.step_m),
    ):
        rows += _rows(panel, walk[0], channel.along(walk, generator)[0], channel.mean_m, cell)
    fresh = CertifiedNoise.of_mean(drifting.mean_m, renewed=True)
    rows += _rows(FRESH, walk[0], fresh.along(walk, generator)[0], fresh.mean_m)
    once = fresh.along(walk[:, :1], generator)[0]
    same = np.repeat(once, len(walk[0]), axis=0)
    return rows + _rows("certified, one report for the walk", walk[0], same, fresh.mean_m)


@dataclass(frozen=True, slots=True, repr=False)
class ZonePicture(CompactRepr):
    """Ends of the tracks of one home at the origin, and the circle through them.

    Attributes:
        panel: The title of the panel.
        x_m: Of the end, metres east of home.
        y_m: Metres north.
        circle_x_m: Of the centre of the circle through all ends.
        circle_y_m: Of the same.
        radius_m: Its radius.
    """

    panel: str
    x_m: float
    y_m: float
    circle_x_m: float
    circle_y_m: float
    radius_m: float


def zone_pictures(seed: int, tracks: int = 12) -> list[ZonePicture]:
    """Return the ends of tracks of one home, under a zone that is centred on it and one that is shifted.

    Args:
        seed: Of the study.
        tracks: How many.
    """
    rows = []
    for panel, zone in (("zone centred on home", PrivacyZone()), ("shifted zone", PrivacyZone(shifted=True))):
        generator = np.random.default_rng(seed)
        ends = zone.ends(zone.centres(1, generator), tracks, generator)[0]
        centre, radius = circle_through(ends)
        east, north = (float(each) for each in centre)
        rows += [ZonePicture(panel, float(x), float(y), east, north, radius) for x, y in ends]
    return rows


def _rows(panel: str, points: Floats, reports: Floats, moved_m: float, cell: float = 0.0) -> list[PicturePoint]:
    both = np.column_stack([points, reports]).tolist()
    return [
        PicturePoint(panel, number, x, y, east, north, moved_m, cell)
        for number, (x, y, east, north) in enumerate(both)
    ]
