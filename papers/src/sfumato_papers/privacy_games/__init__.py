"""Privacy games: metric privacy, distortion privacy and both, at the least cost for each user.

Source: R. Shokri, "Privacy Games: Optimal User-Centric Data Obfuscation", PoPETs 2015.
"""

from .claims import informed_table, scenario_table, slope_table
from .figures import (
    attackers_figure,
    bayes_figure,
    cost_figure,
    error_figure,
    joint_figure,
    threshold_figure,
    time_figure,
)
from .games import ApartRow, GameRow, InformedRow, LineRow, PriceRow, SlopeRow, densest_corner
from .pruning import AttackRow, PairRow, TimeRow
from .pruning_claims import guess_table, pair_table

__all__ = [
    "ApartRow",
    "AttackRow",
    "GameRow",
    "InformedRow",
    "LineRow",
    "PairRow",
    "PriceRow",
    "SlopeRow",
    "TimeRow",
    "attackers_figure",
    "bayes_figure",
    "cost_figure",
    "densest_corner",
    "error_figure",
    "guess_table",
    "informed_table",
    "joint_figure",
    "pair_table",
    "scenario_table",
    "slope_table",
    "threshold_figure",
    "time_figure",
]
