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
    "of success, generator and classifier alternate between truth and swap without end. With the other "
    "two payoffs, swapping gains nothing.",
    "swapping": "Example 1, round by round. With cross entropy the two lines cross repeatedly, and a changes its "
    "meaning. With mutual information they meet.",
    "alternation": "Algorithm 1 on Example 1 against a trained classifier, from each start: how often the best "
    "guess is right after each round, with a new classifier in each round and with one trained further.",
    "clouds-1": "Experiment 1 (270 m): one report of each test record, in the colour of its person. Where "
    "colours overlap, a report does not reveal its person. Reports of one cell are spread over it.",
    "clouds-2": "Experiment 2 (173 m): the same. The limit allows partial hiding. The tables report cells near "
    "the corner, in the middle or between corners; the network stays, or goes to a blurred middle.",
    "grids": "Bayes errors by grid, with intervals of 95 % over seeds; the dotted line is a blind guess. On the "
    "coarsest grid even true places look hidden: compare on equal grids only.",
    "hits": "Bayes errors on the finest grid by the number of reports of each record. Counts from few "
    "reports are too low (left); the correction removes most of this bias (right).",
    "people": "The fewest users of a city at the smaller limit: the error of the best guess against mechanisms of "
    "the same loss, on training visits (filled) and held-out ones (hollow), with 95 % intervals over random "
    "splits. Dashed: proved upper bound for all tables of the cells on the training visits. people.csv has the "
    "other cases.",
    "people-clouds": "Where users are reported, at the smaller limit: the area of a dot is the share of a user's "
    "reports in a cell. Users are drawn next to each other within a cell.",
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
