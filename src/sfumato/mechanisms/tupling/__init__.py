"""Tupling: a report among dummies, its exact privacy, its utility, and how many dummies to use."""

from ...core.arguments import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
