"""Proofs over integers and with directed rounding; they use nothing of how a mechanism was made."""

from ..core.arguments import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
