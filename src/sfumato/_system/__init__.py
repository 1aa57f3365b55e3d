"""Whole files, file locks, temporary names, worker processes, and pyarrow imported at its first use."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
