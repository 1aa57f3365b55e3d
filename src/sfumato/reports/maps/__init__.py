"""Maps: outlines to draw on, contours around places, and what a reader needs to find their way."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
