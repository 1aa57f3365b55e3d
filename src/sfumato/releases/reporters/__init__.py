"""Mechanisms made ready for batches: rows of a table become secrets, and secrets become columns of reports."""

from .columnwise import Columnwise
from .labels import positions_in
from .matrix import MatrixReporter
from .noise import NoiseReporter
from .ready import reporter
from .reporter import BLOCK, Given, Reporter, Secrets

__all__ = [
    "BLOCK",
    "Columnwise",
    "Given",
    "MatrixReporter",
    "NoiseReporter",
    "Reporter",
    "Secrets",
    "positions_in",
    "reporter",
]
