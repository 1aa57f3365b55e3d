"""Repeated reports: what they spend, what is remembered, and what an attacker learns from all of them."""

from ..core.arguments import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
