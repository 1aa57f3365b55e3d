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
        WildFact(
            "The public point is uniform in the cell that holds the true one, drawn once and stored.",
            _INATURALIST,
            _READ,
        ),
        WildFact(
            "The stated accuracy is at least the diagonal of the cell.",
            _INATURALIST,
            _READ,
        ),
        WildFact("With the setting `private` no point is shown.", _INATURALIST, _READ),
    ),
    model="A uniform point of the cell, stored, at 40 degrees north. It depends on the cell alone, so anyone "
    "could draw it from the cell.",
    promise="None for two points on the two sides of a border: epsilon is infinite. Points of one cell, about "
    "22 km x 17 km here, are never told apart by this coordinate alone.",
    repeats="the same report; another one from the same cell would tell nothing new",
    unknown=(
        "What else a record says (its date, its text, other records of the same person) is not part of this.",
    ),
    channel=FixedCells.of_degrees(0.2, LATITUDE, spread=True),
)


def _generalised(digits: int, category: int) -> WildScheme:
    step = 10.0**-digits
    return WildScheme(
        key=f"generalised-{step:g}",
        title=f"{step:g} degrees (guide for GBIF)",
        who=f"Chapman's guide for GBIF, category {category}",
        facts=(
            WildFact(
                f"Coordinates of category {category} are generalised to {step:g} degrees.",
                _CHAPMAN,
                "version 1.1, 2023",
            ),
            WildFact("Randomising coordinates is advised against, strongly.", _CHAPMAN, "version 1.1, 2023"),
        ),
        model=f"Every point of a cell of {step:g} degrees is reported as its centre, at 40 degrees north.",
        promise="None for two points on the two sides of a border: epsilon is infinite. Points of one cell are "
        "never told apart by this coordinate alone.",
        repeats="the same report, however often",
        unknown=("Publishers choose categories, and some round in other ways.",),
        channel=FixedCells.of_degrees(step, LATITUDE),
    )


GENERALISED: Final = (_generalised(1, 2), _generalised(2, 3), _generalised(3, 4))
"""Chapman's categories 2 to 4; in category 1 coordinates are withheld, or rounded to one degree."""
