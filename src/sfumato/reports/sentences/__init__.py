"""The catalogue of sentences: from facts to text, one function for each statement."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
