"""Privacy games: metric privacy, distortion privacy and both, at the least cost for each user.

Source: R. Shokri, "Privacy Games: Optimal User-Centric Data Obfuscation", PoPETs 2015.
"""

from .figure import figures, games_figure
from .people import Person, choose, densest_corner
from .study import DISTORTION, EPSILONS, JOINT, METRIC, SHARES, GameRow, InformedRow, PrivacyGamesResults, study

__all__ = [
    "DISTORTION",
    "EPSILONS",
    "JOINT",
    "METRIC",
    "SHARES",
    "GameRow",
    "InformedRow",
    "Person",
    "PrivacyGamesResults",
    "choose",
    "densest_corner",
    "figures",
    "games_figure",
    "study",
]
