"""Repeated releases: fresh noise for each report, one report kept as a memo, and fresh noise on a memo."""

from .figure import figures, repeated_figure
from .study import BOTH, FRESH, MEMO, REPORTS, RepeatedReleasesResults, RepeatedRow, repetition, study

__all__ = [
    "BOTH",
    "FRESH",
    "MEMO",
    "REPORTS",
    "RepeatedReleasesResults",
    "RepeatedRow",
    "figures",
    "repeated_figure",
    "repetition",
    "study",
]
