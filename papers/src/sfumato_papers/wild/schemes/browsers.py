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
            "The location is snapped to a deterministic grid of about 5 km; the longitude step is step / "
            "cos(latitude). The stated accuracy is never below the cell.",
            "w3c/geolocation, comment on pull request 233",
            "2026-08",
        ),
        WildFact(
            "Apple's reduced accuracy gives a region around a nearby point, usually accurate to 1 to 20 km, a "
            "few times an hour. Fixes may be 20 minutes old; the country and typically the city are preserved.",
            "Apple's documentation of kCLLocationAccuracyReduced",
            "undated",
        ),
    ),
    model="Every point of a fixed square cell of 5 km is reported as its centre.",
    promise="None across a border (epsilon infinite). Points of one cell give the same report.",
    repeats="the same report, however often",
    unknown=(
        "How often WebKit renews a report, and which latitude enters the cosine, is not documented.",
        "How Apple draws its regions is not published: no number here is about Apple.",
    ),
    channel=GRID_CELLS,
)
