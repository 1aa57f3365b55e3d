"""Estimation from reports: the population's distribution, its intervals, and what reports cannot identify."""

from ..core.arguments import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
