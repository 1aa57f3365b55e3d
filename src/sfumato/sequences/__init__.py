"""Sequences of reports: how people move, what an attacker learns from all reports, and estimates from them."""

from ..core.arguments import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
