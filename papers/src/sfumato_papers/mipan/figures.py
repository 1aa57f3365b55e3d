"""Figures of the study, drawn from the tables that a run wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ..reproduction import RunTables
from .alternation import AlternationRow
from .contest import ContestRow
from .experiments import EXPERIMENT_1, EXPERIMENT_2
from .figure_games import alternation_figure, payoff_figure, swapping_figure
from .figure_people import people_cloud_figure, people_figure
from .figure_square import cloud_figure, grid_figure, hits_figure
from .generators import GridRow
from .parts import CloudCell, CloudPoint
from .summary import of
from .swapping import PayoffRow, Swapping, SwappingRound

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTIONS: Final = {
    "payoffs": "Figure 1. What the classifier gains in each of the 16 cases of Example 1. With the probability "
    "of success the generator leaves truth for swap and the classifier follows, again and again; with the other "
    "two payoffs to swap changes nothing.",
    "swapping": "Example 1, round by round. With cross entropy the two lines cross again and again: a comes to "
    "mean the other person. With mutual information they meet.",
    "alternation": "Algorithm 1 on Example 1 against a trained classifier, from each start: how often the best "
    "guess is right after each round, with a new classifier in each round and with one that goes on.",
    "clouds-1": "Experiment 1 (270 m): one report of each test record, in the colour of its person. Where "
    "colours lie on each other, a report does not tell whose it is. Reports of one cell are spread over it.",
    "clouds-2": "Experiment 2 (173 m): the same. The limit allows hiding a part. The tables report cells near "
    "the corner, in the middle or between corners; the network stays, or goes to a blurred middle.",
    "grids": "Bayes errors by grid, with intervals of 95 % over seeds; the dotted line is a blind guess. On the "
    "coarsest grid everything looks hidden, with the true places, too: compare on equal grids only.",
    "hits": "Bayes errors on the finest grid by the number of reports of each record. Counted from few reports "
    "they are too low (left); the correction takes most of that away (right).",
    "people": "Users of a city, and where people live: the error of the best guess that mechanisms of the same "
    "loss leave, on the visits learned from and on held-out ones, with intervals of 95 % over random splits. The "
    "dashed line is what no table of the cells exceeds on the visits learned from.",
    "people-clouds": "Where users are reported, at the smaller limit: the area of a dot is the share of a user's "
    "reports in a cell. Users are set apart within a cell so that they do not hide each other.",
}
"""Captions by the names of figures."""


def figures(tables: RunTables) -> Mapping[str, Figure]:
    """Return the figures by the names of their files without ending.

    Args:
        tables: The tables of a run.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    games = [game for game in Swapping.of_rounds(tables.rows("swapping", SwappingRound)) if game.seed == 0]
    clouds, square = tables.rows("clouds", CloudPoint), tables.rows("square", GridRow)
    return {
        "payoffs": payoff_figure(tables.rows("payoffs", PayoffRow)),
        "swapping": swapping_figure(games),
        "alternation": alternation_figure(tables.rows("alternation", AlternationRow)),
        "clouds-1": cloud_figure(of(clouds, experiment=EXPERIMENT_1.name)),
        "clouds-2": cloud_figure(of(clouds, experiment=EXPERIMENT_2.name)),
        "grids": grid_figure(square),
        "hits": hits_figure(square),
        "people": people_figure(tables.rows("people", ContestRow)),
        "people-clouds": people_cloud_figure(tables.rows("people-clouds", CloudCell)),
    }
