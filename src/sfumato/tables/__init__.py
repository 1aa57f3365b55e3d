"""Tables: read from text, Parquet and frames in memory, written as CSV or Parquet."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
