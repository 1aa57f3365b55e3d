"""Places: reading visits, projecting them, and dividing the ground into cells."""

from ..core.arguments import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
