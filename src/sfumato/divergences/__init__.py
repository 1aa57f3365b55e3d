"""Divergences between two distributions, privacy profiles and their witnesses."""

from .divergence import Divergence
from .f_divergence import CHI_SQUARED, HELLINGER, KL, NAMED, REVERSE_KL, TOTAL_VARIATION, FDivergence, named
from .hockey_stick import HockeyStick, hockey_stick
from .max_divergence import MaxDivergence, MaxDivergenceWitness, max_divergence
from .profile import Profile
from .renyi import Renyi

__all__ = [
    "CHI_SQUARED",
    "HELLINGER",
    "KL",
    "NAMED",
    "REVERSE_KL",
    "TOTAL_VARIATION",
    "Divergence",
    "FDivergence",
    "HockeyStick",
    "MaxDivergence",
    "MaxDivergenceWitness",
    "Profile",
    "Renyi",
    "hockey_stick",
    "max_divergence",
    "named",
]
