"""Tupling: a report among dummies, its exact privacy, its utility, and how many dummies to use."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
