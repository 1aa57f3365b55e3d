"""Leakage: what a report reveals about the secret, as the chance of a right guess, as gain and in bits.

Functions raise `InputError` if a prior or a gain does not fit the mechanism.
"""

from ..core.arguments import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
