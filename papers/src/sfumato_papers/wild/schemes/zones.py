"""Privacy zones: tracks without their parts near home, as Strava documents them and OpenBikeSensor builds them."""

from __future__ import annotations

from typing import Final

from ..scheme import WildFact, WildScheme

_STRAVA: Final = "Strava's support pages on map visibility"
_OPEN: Final = "openbikesensor/OpenBikeSensorFirmware, src/gps.cpp"
_READ: Final = "commit 5b279c4, 2026-07"
_HASSAN: Final = "Hassan, Hussain and Bates, USENIX Security"

CENTRED_ZONE: Final = WildScheme(
    key="zone-centred",
    title="zone around home, 500 m",
    who="Services whose zone is a disc around the address",
    facts=(
        WildFact(
            "If tracks are hidden within a disc around an address, a circle through their visible ends finds the "
            "address.",
            _HASSAN,
            "2018",
        ),
    ),
    model="A disc of 500 m around home. Each track ends where it enters the disc, in a uniform direction, with 5 "
    "m of error.",
    promise="None: the visible ends lie on a circle around home.",
    repeats="each track adds a point of the same circle",
    unknown=("Which services have such zones today is not known. Streets are not modelled.",),
)
SHIFTED_ZONE: Final = WildScheme(
    key="zone-shifted",
    title="shifted zone (OpenBikeSensor), 500 m",
    who="OpenBikeSensor, an open model of a shifted zone",
    facts=(
        WildFact(
            "The centre is moved once, when the zone is made, in a uniform direction by a uniform distance "
            "between a tenth and nine tenths of the radius, 500 m by default. Home is always inside.",
            _OPEN,
            _READ,
        ),
        WildFact(
            "Strava hides starts and ends in an area of up to 1.6 km around an address, randomised since about "
            "2018 or 2019.",
            _STRAVA,
            "undated",
        ),
        WildFact("Komoot uses a random polygon, which can be drawn again.", "Komoot's support pages", "undated"),
    ),
    model="A disc of 500 m whose centre is moved once by OpenBikeSensor's rule; tracks leave home in uniform "
    "directions.",
    promise="None: home is inside the disc that the visible ends show, and more ends lie on the side near home.",
    repeats="each track adds a point of the same circle",
    unknown=(
        "Strava's rule for the shift is not published: no number here is about Strava or Komoot.",
        "Published attacks that extend tracks inwards or use total lengths need streets, and are not run here "
        "(freemove.space 2022; Dhondt et al., CCS 2022).",
    ),
)
