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
            "Where parts of tracks within a disc around an address are hidden, a circle through the visible ends "
            "of tracks finds the address.",
            _HASSAN,
            "2018",
        ),
    ),
    model="A disc of 500 m around home; each track ends where it enters the disc, in an even direction, with 5 m "
    "of error.",
    promise="None: the visible ends lie on a circle around home.",
    repeats="each track adds a point of the same circle",
    unknown=(
        "Which services have such zones today is not known here. Streets, which limit where tracks enter, are not "
        "modelled.",
    ),
)
SHIFTED_ZONE: Final = WildScheme(
    key="zone-shifted",
    title="shifted zone (OpenBikeSensor), 500 m",
    who="OpenBikeSensor, an open model of a shifted zone",
    facts=(
        WildFact(
            "The centre of a zone is moved once, when the zone is made, in an even direction by an even distance "
            "between a tenth and nine tenths of its radius, which is 500 m by default.",
            _OPEN,
            _READ,
        ),
        WildFact("Home is always inside.", _OPEN, _READ),
        WildFact(
            "Strava hides the start and the end of activities in an area of up to 1.6 km about an address. Since "
            "about 2018 or 2019 the area is randomised; `Regenerate` draws it again, for all past activities. "
            "Since 2021 a first and last part can be hidden anywhere, 200 m by default.",
            _STRAVA,
            "undated",
        ),
        WildFact("Komoot uses a random polygon, which can be drawn again.", "Komoot's support pages", "undated"),
    ),
    model="A disc of 500 m whose centre is moved once by OpenBikeSensor's law; tracks as for a zone around "
    "home: from home in even directions.",
    promise="None: home is inside the disc that the visible ends show, and the ends crowd on the side of the "
    "disc that is near home.",
    repeats="each track adds a point of the same circle",
    unknown=(
        "Strava's law of the shift is not published: nothing here is a number about Strava, nor about Komoot.",
        "Extending tracks inwards, and total lengths that include the hidden part, were published by others "
        "(freemove.space 2022; Dhondt et al., CCS 2022). They need streets, and are not run here.",
    ),
)
