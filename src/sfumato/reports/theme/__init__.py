"""One look for every figure: colours, blank figures, and how they are saved, in light and in dark."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
