"""Adversaries who learn from examples: nearest neighbours, random forests, gradient boosting."""

from .attack import Confusion, LearnedAttack, learned
from .classifiers import Classifier, Fitted, GradientBoosting, NearestNeighbours, RandomForest
from .examples import Examples

__all__ = [
    "Classifier",
    "Confusion",
    "Examples",
    "Fitted",
    "GradientBoosting",
    "LearnedAttack",
    "NearestNeighbours",
    "RandomForest",
    "learned",
]
