"""Obfuscation in the wild: deployed schemes as channels that anyone can audit, and published attacks on them.

``sfumato reproduce wild`` runs everything. Channels are for studies: they draw in floats, with seeds.
"""

from .attack import PeopleMap, best_guesses, geometric_medians, least_error
from .channels import DriftingOffset, FixedCells
from .published_attacks import (
    PrivacyZone,
    RoundedDistance,
    at_border,
    circle_through,
    copies_averaged,
    crossings,
    homes_by_law,
    trilaterate,
)
from .radial import (
    CertifiedNoise,
    RadialNoise,
    RadiusLaw,
    even_radius,
    gaussian_radius,
    laplace_radius,
    mixed_radius,
)
from .schemes import SCHEMES, mesh_cells

__all__ = [
    "SCHEMES",
    "CertifiedNoise",
    "DriftingOffset",
    "FixedCells",
    "PeopleMap",
    "PrivacyZone",
    "RadialNoise",
    "RadiusLaw",
    "RoundedDistance",
    "at_border",
    "best_guesses",
    "circle_through",
    "copies_averaged",
    "crossings",
    "even_radius",
    "gaussian_radius",
    "geometric_medians",
    "homes_by_law",
    "laplace_radius",
    "least_error",
    "mesh_cells",
    "mixed_radius",
    "trilaterate",
]
