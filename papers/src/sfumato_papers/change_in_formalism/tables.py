"""Names of the study's tables."""

from __future__ import annotations

from typing import Final

FIGURE: Final = "figure-2-8"
EDGES: Final = "figure-2-2"
BANDS: Final = "figures-2-1-and-2-2"
REGIONS: Final = "regions"
ERRATA: Final = "errata"
RELATIONS: Final = "relations"
KNOWN: Final = "known-channels"
PROPERTIES: Final = "properties"
