"""Obfuscation in the wild: deployed schemes as channels that anyone can audit, and published attacks on them.

Each scheme in `SCHEMES` has its facts with their sources, its channel as its makers document it, and what is not
known. Channels are for studies: they draw in floats, with seeds. ``sfumato reproduce wild`` runs everything.
"""

from .attack import BelievedPlaces, believed
from .averaging import AveragingRow, copies_averaged, drift_averaged, drift_reported
from .borders import BorderRow, at_border
from .certified import CertifiedNoise
from .channel import WildChannel
from .claims import WildTables, claims_of
from .degrees import degree_m
from .drifting import DriftingOffset
from .figures import figures
from .fixed_cells import FixedCells
from .flat_prior import geometric_medians, least_error
from .found import AttackedTown, FoundRow, measured, town_of
from .people import PeopleMap
from .radial import (
    EvenRadius,
    FoldedRadius,
    GaussianRadius,
    LaplaceRadius,
    MixedRadius,
    RadialNoise,
    RadiusLaw,
)
from .rounded_distances import DistanceRow, RoundedDistance, asked, trilaterated
from .scheme import WildFact, WildScheme
from .schemes import SCHEMES, mesh_cells
from .summary import CloseRow, close_rows
from .walks import CrossingRow, Crossings, averaged_on_road, crossings, straight_walks, walked
from .words import claim_words, close_table, near_table, scheme_words
from .zone_edges import PrivacyZone, circle_through, home_guesses
from .zone_law import end_density, homes_by_law
from .zones import ZoneRow, zoned

__all__ = [
    "SCHEMES",
    "AttackedTown",
    "AveragingRow",
    "BelievedPlaces",
    "BorderRow",
    "CertifiedNoise",
    "CloseRow",
    "CrossingRow",
    "Crossings",
    "DistanceRow",
    "DriftingOffset",
    "EvenRadius",
    "FixedCells",
    "FoldedRadius",
    "FoundRow",
    "GaussianRadius",
    "LaplaceRadius",
    "MixedRadius",
    "PeopleMap",
    "PrivacyZone",
    "RadialNoise",
    "RadiusLaw",
    "RoundedDistance",
    "WildChannel",
    "WildFact",
    "WildScheme",
    "WildTables",
    "ZoneRow",
    "asked",
    "at_border",
    "averaged_on_road",
    "believed",
    "circle_through",
    "claim_words",
    "claims_of",
    "close_rows",
    "close_table",
    "copies_averaged",
    "crossings",
    "degree_m",
    "drift_averaged",
    "drift_reported",
    "end_density",
    "figures",
    "geometric_medians",
    "home_guesses",
    "homes_by_law",
    "least_error",
    "measured",
    "mesh_cells",
    "near_table",
    "scheme_words",
    "straight_walks",
    "town_of",
    "trilaterated",
    "walked",
    "zoned",
]
