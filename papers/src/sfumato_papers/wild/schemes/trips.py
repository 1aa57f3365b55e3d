"""Tables of trips: Louisville's scooters and Chicago's taxis and ride-hailing."""

from __future__ import annotations

from typing import Final

from ..degrees import degree_m
from ..fixed_cells import FixedCells
from ..radial import EvenRadius, RadialNoise
from ..scheme import WildFact, WildScheme
from .biodiversity import LATITUDE

_LOUISVILLE: Final = "louisvillemetro-innovation/Dockless-Open-Data"
_READ: Final = "commit cfe56a4, 2020"
_CHICAGO: Final = "City of Chicago, blog on taxi and ride-hailing data"
_EAST, _NORTH = degree_m(LATITUDE)
_THOUSANDTH: Final = (0.001 * _EAST, 0.001 * _NORTH)
_UNKNOWN: Final = (
    "Such tables name no riders, so that one trip is one report. Whether trips can be linked to a person is not "
    "part of this.",
)

COMMON_TRIP: Final = WildScheme(
    key="trips-louisville",
    title="Louisville's trips, common",
    who="Louisville's scooter trips, pairs with more than four trips",
    facts=(
        WildFact(
            "Starts and ends are rounded to three decimals of a degree, times to 15 minutes.", _LOUISVILLE, _READ
        ),
    ),
    model="Every point of a cell of 0.001 degrees is reported as its centre, at 40 degrees north.",
    promise="None for two points on the two sides of a border: epsilon is infinite. Points of one cell are never "
    "told apart by this coordinate alone.",
    repeats="not linked",
    linked=False,
    unknown=_UNKNOWN,
    channel=FixedCells(*_THOUSANDTH),
)
RARE_TRIP: Final = WildScheme(
    key="trips-louisville-rare",
    title="Louisville's trips, rare",
    who="Louisville's scooter trips, pairs with four trips or fewer",
    facts=(
        WildFact(
            "Where a pair of start and end has four trips or fewer, both are moved at random, by up to 0.004 "
            "degrees of latitude and 0.005 of longitude, and cut to three decimals.",
            _LOUISVILLE,
            _READ,
        ),
    ),
    model="An even distance up to 440 m, in an even direction; then the centre of a cell of 0.001 degrees is "
    "reported.",
    promise="None: a report excludes every place further away than 440 m and half the diagonal of a cell, "
    "about 510 m, so epsilon is infinite.",
    repeats="not linked",
    linked=False,
    unknown=(
        *_UNKNOWN,
        "That direction and distance are even is a simplification of the city's formula.",
        "A cut coordinate is a corner of its cell. It is taken as the cell's centre here, as a reader who "
        "knows of the cut would.",
    ),
    channel=RadialNoise(EvenRadius(0.0, 440.0), renewed=False, cells=_THOUSANDTH),
)
TRACT: Final = WildScheme(
    key="trips-chicago",
    title="Chicago's trips, by tract",
    who="Chicago's taxi and ride-hailing trips",
    facts=(
        WildFact(
            "Times are rounded to 15 minutes, places to the census tract, of which there are about 800.",
            _CHICAGO,
            "2019",
        ),
        WildFact(
            "Where at most two trips share a tract and a quarter of an hour, only the community area is given, of "
            "which there are 77; this leaves about a third of tracts blank.",
            _CHICAGO,
            "2019",
        ),
    ),
    model="Squares of 870 m, taking the city for 600 km2 in 800 parts: real tracts are no squares and differ in "
    "size.",
    promise="None for two points on the two sides of a border: epsilon is infinite. Points of one tract are "
    "not told apart by the tract alone. Whether a tract is given depends on other people's trips.",
    repeats="not linked",
    linked=False,
    unknown=(
        *_UNKNOWN,
        "Which trips share a tract and a quarter of an hour is not modelled: all get their tract.",
    ),
    channel=FixedCells(870.0, 870.0),
)
