"""Tables in memory, in and out: what comes back is of the caller's kind."""

from .duckdb import create_duckdb_function
from .kind import FrameKind
from .kinds import kind_of
from .prepared import PreparedFrame, ReleasedFrame, prepare_frame

__all__ = ["FrameKind", "PreparedFrame", "ReleasedFrame", "create_duckdb_function", "kind_of", "prepare_frame"]
