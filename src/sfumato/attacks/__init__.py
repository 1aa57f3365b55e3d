"""Adversaries: each sees the report, guesses the secret, and is off by an expected amount."""

from ..core.arguments import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
