"""Privacy games: metric privacy, distortion privacy and both, at the least cost for each user.

Source: R. Shokri, "Privacy Games: Optimal User-Centric Data Obfuscation", PoPETs 2015.
"""

from .apart import ApartRow
from .figure_games import attackers_figure, bayes_figure, cost_figure, error_figure, joint_figure
from .games import DISTORTION, JOINT, METRIC, GameRow, InformedRow, PriceRow
from .line import LineRow
from .people import Person, choose, densest_corner
from .pruning import AttackRow, PairRow
from .slopes import GuessRow, HabitRow, SlopeRow
from .words import informed_table, pair_table, scenario_table, slope_table

__all__ = [
    "DISTORTION",
    "JOINT",
    "METRIC",
    "ApartRow",
    "AttackRow",
    "GameRow",
    "GuessRow",
    "HabitRow",
    "InformedRow",
    "LineRow",
    "PairRow",
    "Person",
    "PriceRow",
    "SlopeRow",
    "attackers_figure",
    "bayes_figure",
    "choose",
    "cost_figure",
    "densest_corner",
    "error_figure",
    "informed_table",
    "joint_figure",
    "pair_table",
    "scenario_table",
    "slope_table",
]
