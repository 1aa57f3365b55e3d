"""A structured interior-point method for optimal obfuscation mechanisms.

The unknowns of different observables meet only in the row sums and a few loss rows, so
Newton's method factors one small block per observable. Rows join as the iterate meets
them, and every iterate is strictly private for all pairs.
"""

from ._result import Entry, Multipliers, Result, Status
from ._start import Infeasible
from ._workers import StoppedError
from .solve import solve

__all__ = ["Entry", "Infeasible", "Multipliers", "Result", "Status", "StoppedError", "solve"]
