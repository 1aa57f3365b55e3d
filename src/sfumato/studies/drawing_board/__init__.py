"""Back to the drawing board: mechanisms after the best remap, by loss and conditional entropy.

Source: Oya, Troncoso and Pérez-González, "Back to the drawing board: revisiting the design of optimal location
privacy-preserving mechanisms", CCS 2017.
"""

from .figure import figures
from .measure import Measure, advantage, of_mechanism, of_noise
from .published import (
    CIRCLE,
    EXPONENTIAL,
    EXPOST,
    GAUSSIAN,
    LAPLACE,
    LEVELS_KM,
    PUBLISHED,
    PUBLISHED_COIN,
    PUBLISHED_PRIOR_BITS,
)
from .study import COIN, COIN_KM, DrawingBoardResults, coins, measures, spots, study

__all__ = [
    "CIRCLE",
    "COIN",
    "COIN_KM",
    "EXPONENTIAL",
    "EXPOST",
    "GAUSSIAN",
    "LAPLACE",
    "LEVELS_KM",
    "PUBLISHED",
    "PUBLISHED_COIN",
    "PUBLISHED_PRIOR_BITS",
    "DrawingBoardResults",
    "Measure",
    "advantage",
    "coins",
    "figures",
    "measures",
    "of_mechanism",
    "of_noise",
    "spots",
    "study",
]
