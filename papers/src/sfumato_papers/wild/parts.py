"""The parts of the study, each a function that depends on its arguments alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from sfumato.core.immutable import CompactRepr
from sfumato.geo import Visits, synthetic_city
from sfumato.mechanisms import PlanarLaplace

from ..reproduction import Made, Setting, StudyPart
from ..results import columns_of
from .averaging import copies_averaged, drift_averaged, drift_reported
from .borders import at_border
from .certified import CertifiedNoise
from .fixed_cells import FixedCells
from .found import measured, town_of, unseen
from .pictures import border_walk, week, zone_pictures
from .rounded_distances import MILE_M, RoundedDistance, asked
from .schemes import (
    CENTRED_ZONE,
    DRIFTING,
    FIXED_GRID,
    GRID_CELLS,
    GUARD_RADIUS_M,
    LATITUDE,
    OFFSET,
    SCHEMES,
    SHIFTED_ZONE,
    mesh_cells,
)
from .vocabulary import AS_DOCUMENTED, FRESH, REMEMBERED
from .walks import walked
from .zone_edges import PrivacyZone
from .zones import zoned

APPS: Final = {
    "whole miles": RoundedDistance(),
    "whole miles to a cell of 0.001 degrees": RoundedDistance(cells=FixedCells.of_degrees(0.001, LATITUDE)),
    "whole miles to a cell of a mile": RoundedDistance(cells=FixedCells(MILE_M, MILE_M)),
}
"""What is shown, in words, and its rule."""

_PICTURED: Final = ("fixed-grid", "location-guard")
_WEEK_M: Final = 500.0
_WALK_M: Final = 4_000.0  # 50 minutes on foot: the offset stays within the hour


@dataclass(frozen=True, slots=True, repr=False)
class Size(CompactRepr):
    """The amounts of a run.

    Attributes:
        seeds: How many runs.
        alone: True points for an attacker with the reports alone.
        knowing: True points for one who knows where people go.
        places: Places whose reports are averaged, and walks.
        homes: Homes behind zones.
        people: People behind distances.
    """

    seeds: int
    alone: int
    knowing: int
    places: int
    homes: int
    people: int


QUICK: Final = Size(seeds=3, alone=150, knowing=20, places=200, homes=60, people=25)
FULL: Final = Size(seeds=10, alone=400, knowing=80, places=1_000, homes=200, people=100)


def parts_of(setting: Setting) -> list[StudyPart]:
    """Return the parts for a setting."""
    size = QUICK if setting.quick else FULL
    parts = [
        StudyPart("facts", facts),
        StudyPart("pictures", pictures),
        StudyPart("two people at a border", borders),
    ]
    parts += [StudyPart(f"averages, seed {seed}", averages, (seed, size)) for seed in _seeds(size)]
    parts += [StudyPart(f"walks, seed {seed}", walks, (seed, size)) for seed in _seeds(size)]
    parts += [StudyPart(f"zones, seed {seed}", zones, (seed, size)) for seed in _seeds(size)]
    parts += [StudyPart(f"distances, seed {seed}", distances, (seed, size)) for seed in _seeds(size)]
    cities = {"synthetic city": synthetic_city(), **setting.data} if setting.given else setting.data
    for number, (city, visits) in enumerate(cities.items()):
        town_of(city, visits)  # fails now, not after an hour
        parts += [
            StudyPart(f"{city}, no report, seed {seed}", blind, (city, visits, seed, size))
            for seed in _seeds(size)
        ]
        parts += [
            StudyPart(
                f"{city}, {scheme.key}, seed {seed}", found, (scheme.key, city, visits, seed, size, number == 0)
            )
            for scheme in SCHEMES
            if scheme.channel is not None
            for seed in _seeds(size)
        ]
    return parts


def _seeds(size: Size) -> range:
    return range(1, size.seeds + 1)


def facts() -> Made:
    """Return the schemes, their facts with sources, what is not known of them, and sizes that follow from them."""
    return {
        "schemes": [
            {
                name: getattr(each, name)
                for name in ("key", "title", "who", "model", "promise", "repeats", "linked")
            }
            for each in SCHEMES
        ],
        "facts": [{"scheme": each.key, **columns_of(fact)} for each in SCHEMES for fact in each.facts],
        "not-known": [{"scheme": each.key, "says": says} for each in SCHEMES for says in each.unknown],
        "sizes": _sizes(),
    }


def _sizes() -> list[dict[str, object]]:
    guard = PlanarLaplace(2 / GUARD_RADIUS_M)
    rows: list[dict[str, object]] = [
        {"what": "Location Guard, radius of 90 % over mean", "value": float(guard.quantile(0.9)) / guard.absolute}
    ]
    for lat in (0.0, 44.0):
        cells = FixedCells.of_degrees(0.2, lat, spread=True)
        rows += [
            {"what": f"0.2 degree cell at {lat:g} degrees, diagonal, km", "value": cells.diagonal_m / 1000},
            {"what": f"0.2 degree cell at {lat:g} degrees, mean displacement, km", "value": cells.mean_m / 1000},
        ]
    rows += [
        {"what": f"{bits} bits at the equator, cell, km", "value": mesh_cells(bits, 0.0).width_m / 1000}
        for bits in (10, 12, 13, 14, 15, 16, 19)
    ]
    rows += [
        {"what": f"drifting offset, mu for 100 m and {count} hourly reports", "value": OFFSET.mu(100.0, count)}
        for count in (1, 100, 8760)
    ]
    rows.append(
        {"what": "drifting offset, days until e times forgotten", "value": -1 / math.log(OFFSET.kept) / 24}
    )
    return rows


def pictures() -> Made:
    """Return the points of the pictures."""
    shown = [each for each in SCHEMES if each.key in _PICTURED]
    return {
        "week": [columns_of(row) for row in week(shown, _WEEK_M, seed=4)],
        "walk": [columns_of(row) for row in border_walk(GRID_CELLS, OFFSET, seed=3)],
        "zone": [columns_of(row) for row in zone_pictures(seed=5)],
    }


def borders() -> Made:
    """Return the audited epsilons of each scheme of cells for two people a metre apart."""
    return {
        "borders": [
            columns_of(at_border(each.key, each.channel))
            for each in SCHEMES
            if isinstance(each.channel, FixedCells)
        ]
    }


def averages(seed: int, size: Size) -> Made:
    """Return averages of copies, and of hourly offsets up to a year."""
    rows = [copies_averaged(count, seed, size.places) for count in (1, 10, 50)]
    rows += [
        averaged(OFFSET, count, seed, size.places)
        for count in (1, 10, 100, 1000, 8760)
        for averaged in (drift_averaged, drift_reported)
    ]
    return {"averages": [columns_of(row) for row in rows]}


def walks(seed: int, size: Size) -> Made:
    """Return what walks show, step by step of 100 m and of ten minutes on foot."""
    rows = [
        walked(FIXED_GRID.key, AS_DOCUMENTED, GRID_CELLS, step, seed, size.places, _WALK_M)
        for step in (100.0, 800.0)
    ]
    rows.append(walked(DRIFTING.key, AS_DOCUMENTED, OFFSET, 800.0, seed, size.places, _WALK_M))
    for key, channel in ((FIXED_GRID.key, GRID_CELLS), (DRIFTING.key, OFFSET)):
        for mechanism, renewed in ((REMEMBERED, False), (FRESH, True)):
            noise = CertifiedNoise.of_mean(channel.mean_m, renewed=renewed)
            rows.append(walked(key, mechanism, noise, 800.0, seed, size.places, _WALK_M))
    return {"walks": [columns_of(row) for row in rows]}


def zones(seed: int, size: Size) -> Made:
    """Return what the ends of tracks show."""
    rows = []
    for key, shifted in ((CENTRED_ZONE.key, False), (SHIFTED_ZONE.key, True)):
        for tracks in (1, 3, 10, 100):
            rows += zoned(key, PrivacyZone(shifted=shifted), tracks, seed, size.homes)
    return {"zones": [columns_of(row) for row in rows]}


def distances(seed: int, size: Size) -> Made:
    """Return how close askers of rounded distances come."""
    rows = []
    for app, rule in APPS.items():
        for questions in (1, 10, 100):
            rows += asked(app, rule, questions, seed, size.people)
    return {"distances": [columns_of(row) for row in rows]}


def blind(city: str, visits: Visits, seed: int, size: Size) -> Made:
    """Return the error of an attacker without a report."""
    return {"found": [columns_of(row) for row in unseen(town_of(city, visits), seed, 5 * size.knowing)]}


def found(key: str, city: str, visits: Visits, seed: int, size: Size, first: bool) -> Made:
    """Return how close attackers come under a scheme; those with the reports alone need one city only."""
    (channel,) = (each.channel for each in SCHEMES if each.key == key)
    if channel is None:
        return {}
    town = town_of(city, visits)
    rows = measured(key, channel, town, seed, alone=size.alone if first else 0, knowing=size.knowing)
    return {"found": [columns_of(row) for row in rows]}
