"""Records of rare species: iNaturalist's obscured coordinates, and generalisation after Chapman for GBIF."""

from __future__ import annotations

from typing import Final

from ..fixed_cells import FixedCells
from ..scheme import WildFact, WildScheme

LATITUDE: Final = 40.0
"""Of the channels here, degrees: cells of degrees are narrower towards the poles."""

_INATURALIST: Final = "inaturalist/inaturalist, app/models/observation.rb"
_READ: Final = "commit 7d0d1d1, 2026-08"
_CHAPMAN: Final = (
    "Chapman 2020, Current Best Practices for Generalizing Sensitive Species Occurrence Data (GBIF), Table 7"
)

OBSCURED: Final = WildScheme(
    key="obscured",
    title="iNaturalist, obscured",
    who="iNaturalist, obscured coordinates",
    facts=(
        WildFact("A cell measures 0.2 degrees of latitude by 0.2 of longitude.", _INATURALIST, _READ),
        WildFact("The public point is uniform in the true cell, drawn once and stored.", _INATURALIST, _READ),
    ),
    model="A uniform point of the cell, stored, at 40 degrees north. It depends on the cell alone.",
    promise="None across a border (epsilon infinite). Points of one cell, about 22 km x 17 km here, give the same "
    "distribution of reports.",
    repeats="the same report; another one from the same cell would reveal nothing new",
    unknown=("Other content of a record (date, text, the person's other records) is not covered.",),
    channel=FixedCells.of_degrees(0.2, LATITUDE, spread=True),
)

_CATEGORIES: Final = (
    WildFact(
        "Coordinates of categories 2, 3 and 4 are generalised to 0.1, 0.01 and 0.001 degrees. Randomising is "
        "strongly discouraged.",
        _CHAPMAN,
        "version 1.1, 2023",
    ),
)


def _generalised(digits: int) -> WildScheme:
    step = 10.0**-digits
    return WildScheme(
        key=f"generalised-{step:g}",
        title=f"{step:g} degrees (guide for GBIF)",
        who="Chapman's guide for GBIF, categories 2 to 4",
        facts=_CATEGORIES,
        model="Every point of a cell is reported as its centre, at 40 degrees north.",
        promise="None across a border (epsilon infinite). Points of one cell give the same report.",
        repeats="the same report, however often",
        unknown=("Publishers choose categories, and some round differently.",),
        channel=FixedCells.of_degrees(step, LATITUDE),
    )


GENERALISED: Final = (_generalised(1), _generalised(2), _generalised(3))
"""Chapman's categories 2 to 4; in category 1 coordinates are withheld, or rounded to one degree."""
