"""Notions of privacy: the least value of each definition for a mechanism, with a witness."""

from ..core.arguments import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
