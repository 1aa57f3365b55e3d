"""A browser's fixed grid: WebKit's approximate location, with what is documented of Apple's reduced accuracy."""

from __future__ import annotations

from typing import Final

from ..fixed_cells import FixedCells
from ..scheme import WildFact, WildScheme

GRID_CELLS: Final = FixedCells(5000.0, 5000.0)
FIXED_GRID: Final = WildScheme(
    key="fixed-grid",
    title="grid of 5 km (WebKit)",
    who="WebKit, approximate location",
    facts=(
        WildFact(
            "WebKit's approximate location is a deterministic grid of about 5 km, with a step of longitude of "
            "step / cos(latitude), and the accuracy it states is never below the cell.",
            "w3c/geolocation, comment on pull request 233",
            "2026-08",
        ),
        WildFact(
            "Apple's reduced accuracy gives a region with a nearby point as its centre, its accuracy usually 1 to "
            "20 km, a few times an hour; fixes may be 20 minutes old, the country is kept, the city typically.",
            "Apple's documentation of kCLLocationAccuracyReduced",
            "undated",
        ),
        WildFact(
            "The stated order of its accuracy is 5 km.",
            "Apple's header CoreLocation, kCLLocationAccuracyReduced",
            "undated",
        ),
        WildFact(
            "Chromium has a flag for approximate location, which is off by default, and uses the coarse source of "
            "the operating system.",
            "Chromium, flag kApproximateGeolocationPermission",
            "undated",
        ),
    ),
    model="Every point of a fixed square cell of 5 km is reported as its centre.",
    promise="None for two points on the two sides of a border: they are told apart for certain, so epsilon is "
    "infinite. Points of one cell are never told apart by this position alone.",
    repeats="the same report, however often",
    unknown=(
        "How often WebKit renews a report is not known here.",
        "Which latitude enters the cosine of WebKit's grid is not said.",
        "How Apple draws the regions of its reduced accuracy is not published: nothing here is a number about "
        "Apple.",
    ),
    channel=GRID_CELLS,
)
