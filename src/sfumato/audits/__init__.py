"""Audits: every notion and measure that applies to a mechanism, samples of one, or a black box."""

from ..core.arguments import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
