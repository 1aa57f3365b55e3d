"""Repeated releases: fresh noise for each report, one report kept as a memo, and fresh noise on a memo."""

from .figure import figures
from .study import BOTH, FRESH, MEMO, REPORTS, RepeatedReleasesResults, repetition, study

__all__ = ["BOTH", "FRESH", "MEMO", "REPORTS", "RepeatedReleasesResults", "figures", "repetition", "study"]
