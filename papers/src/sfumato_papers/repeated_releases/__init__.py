"""Repeated releases: fresh noise for each report, one report kept as a memo, and fresh noise on a memo."""

from .paper import BOTH, FRESH, MEMO, REPORTS, RepeatedRow, repeated_figure, repetition

__all__ = ["BOTH", "FRESH", "MEMO", "REPORTS", "RepeatedRow", "repeated_figure", "repetition"]
