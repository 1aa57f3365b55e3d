"""Closed forms: mechanisms that need no solver, families by name, and the sensitivity of queries."""

from ..core.arguments import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
