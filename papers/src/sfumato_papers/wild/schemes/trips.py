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
_UNKNOWN: Final = "Trips name no riders, so one trip is one report; linking trips to a person is not covered."
_FACTS: Final = (
    WildFact(
        "Starts and ends are rounded to three decimals of a degree, times to 15 minutes. Pairs of start and end "
        "with four trips or fewer are moved at random by up to 0.004 degrees of latitude and 0.005 of longitude, "
        "and cut to three decimals.",
        _LOUISVILLE,
        _READ,
    ),
)

COMMON_TRIP: Final = WildScheme(
    key="trips-louisville",
    title="Louisville's trips, common",
    who="Louisville's scooter trips",
    facts=_FACTS,
    model="Common pairs: every point of a cell of 0.001 degrees is reported as its centre, at 40 degrees north.",
    promise="Common pairs: none across a border (epsilon infinite); points of one cell give the same report.",
    repeats="not linked",
    linked=False,
    unknown=(_UNKNOWN,),
    channel=FixedCells(*_THOUSANDTH),
)
RARE_TRIP: Final = WildScheme(
    key="trips-louisville-rare",
    title="Louisville's trips, rare",
    who="Louisville's scooter trips",
    facts=_FACTS,
    model="Rare pairs: a uniform distance up to 440 m in a uniform direction, then the centre of a cell of 0.001 "
    "degrees.",
    promise="Rare pairs: none; a report excludes every place farther away than 440 m and half the diagonal of a "
    "cell, about 510 m, so epsilon is infinite.",
    repeats="not linked",
    linked=False,
    unknown=(
        _UNKNOWN,
        "Uniform direction and distance simplify the city's formula.",
        "A cut coordinate is a corner of its cell; it is taken as the centre here, as an informed reader would.",
    ),
    channel=RadialNoise(EvenRadius(0.0, 440.0), renewed=False, cells=_THOUSANDTH),
)
TRACT: Final = WildScheme(
    key="trips-chicago",
    title="Chicago's trips, by tract",
    who="Chicago's taxi and ride-hailing trips",
    facts=(
        WildFact(
            "Times are rounded to 15 minutes, places to one of about 800 census tracts. If at most two trips "
            "share a tract and a quarter of an hour, only one of 77 community areas is given; this blanks about "
            "a third of tracts.",
            _CHICAGO,
            "2019",
        ),
    ),
    model="Squares of 870 m (600 km2 in 800 parts); real tracts differ in shape and size. Every trip has its "
    "tract.",
    promise="None across a border (epsilon infinite). Points of one tract give the same tract. Whether a tract "
    "is given depends on other people's trips.",
    repeats="not linked",
    linked=False,
    unknown=(_UNKNOWN,),
    channel=FixedCells(870.0, 870.0),
)
