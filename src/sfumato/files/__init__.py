"""The mechanism file (.sfm): written, read back and checked; and matrices and tables of other programs."""

from ..core.arguments import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
