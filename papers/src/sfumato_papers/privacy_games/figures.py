"""Figures 2 to 8 of "Privacy Games" from the tables of a run, and those of prices and of the attacker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ..reproduction import SECONDS, RunTables
from .apart import APART, ApartRow
from .figure_apart import apart_figure
from .figure_attacker import attacker_figure
from .figure_games import attackers_figure, bayes_figure, cost_figure, error_figure, joint_figure
from .figure_informed import informed_figure
from .figure_prices import prices_figure
from .figure_pruned import pruned_figure, times_figure
from .games import GAMES, INFORMED, PRICES, GameRow, InformedRow, PriceRow
from .pruning import ATTACK_TIMES, ATTACKS, PAIR_TIMES, PAIRS, AttackRow, PairRow, TimeRow
from .slopes import GUESSES, HABITS, SLOPES, GuessRow, HabitRow, SlopeRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTIONS: Final = {
    "figure-2a": "Figure 2a: the error of the best attacker against metric for each epsilon. Each thin "
    "line is a user, the thick one the median.",
    "figure-2b": "Figure 2b: the cost of each mechanism against the error of the best attacker, which distortion "
    "and joint are designed to match. Thin lines are users, marks medians for each epsilon.",
    "figure-3": "Figure 3: each mark is a user at an epsilon. Above the line the Bayesian attacker's "
    "error is larger against metric than against distortion of the same distortion privacy.",
    "figure-4": "Figure 4: the error of the best attacker against the Bayesian one's, for each mechanism. "
    "Each mark is a user at an epsilon; on the line both are equal.",
    "figure-5": "Figure 5: the errors that joint, metric and distortion force, in scenarios 1 and 2.",
    "figure-6": "Figure 6: users have stronger habits than the design assumed, and the attacker knows "
    "it. On the left medians over epsilons, for each user (thin) and for all (thick); on the right "
    "each user at each epsilon, at the largest share moved.",
    "figure-7": "Figure 7: epsilon and d_m chosen separately. Top: privacy and cost of joint against the "
    "larger of the two others. Bottom: the same for the first user.",
    "figure-8": "Figure 8: rows left out beyond a threshold. Top: metric privacy without far pairs: the "
    "true epsilon and the cost, where near pairs connect all cells. Bottom: "
    "distortion without far guesses, and joint without far guesses and far pairs (on a coarser map in the "
    "full size): the remaining shares of the requested error and of the cost.",
    f"figure-8{SECONDS}": "Figure 8: solver times, which differ from run to run. Programs "
    "without far guesses are solved by a general back-end, all others by the structured method.",
    "prices": "The cost of one more metre of error. Left: scenarios 1 and 2. Right: the "
    "price (mark) between the proved slopes of the least cost on both sides (bar).",
    "attacker": "The equilibrium of one user. Arrows lead from reports to guesses, wider for more probable "
    "pairs of report and guess; a ring is a report that the attacker guesses itself. Pairs rarer than 1 in 500 "
    "are omitted. Discs show how often the user visits each cell.",
}


def figures(tables: RunTables) -> Mapping[str, Figure]:
    """Return the figures by the names of their files."""
    every = tables.rows(GAMES, GameRow)
    coarse = max(row.gap_asked for row in every)
    games = [row for row in every if row.gap_asked == coarse]
    pairs, attacks = tables.rows(PAIRS, PairRow), tables.rows(ATTACKS, AttackRow)
    return {
        "figure-2a": error_figure(games),
        "figure-2b": cost_figure(games),
        "figure-3": bayes_figure(games),
        "figure-4": attackers_figure(games),
        "figure-5": joint_figure(games),
        "figure-6": informed_figure(tables.rows(INFORMED, InformedRow)),
        "figure-7": apart_figure(tables.rows(APART, ApartRow)),
        "figure-8": pruned_figure(pairs, attacks),
        f"figure-8{SECONDS}": times_figure(tables.rows(PAIR_TIMES, TimeRow), tables.rows(ATTACK_TIMES, TimeRow)),
        "prices": prices_figure(tables.rows(PRICES, PriceRow), tables.rows(SLOPES, SlopeRow)),
        "attacker": attacker_figure(tables.rows(GUESSES, GuessRow), tables.rows(HABITS, HabitRow)),
    }
