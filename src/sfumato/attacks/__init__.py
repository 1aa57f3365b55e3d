"""Adversaries: each sees the report, guesses the secret, and is off by an expected amount.

Functions raise `InputError` if a prior or a distance does not fit the mechanism.
"""

from ..core.arguments import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
