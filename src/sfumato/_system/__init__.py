"""Files that appear whole, file locks, names of temporary files, and worker processes."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
