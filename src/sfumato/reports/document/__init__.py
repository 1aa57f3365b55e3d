"""The document that a privacy officer signs: facts, words, a page that opens offline, and JSON."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
