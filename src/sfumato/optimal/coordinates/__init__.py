"""The least loss of any mechanism that keeps a promise per metre."""

from .bound import coordinate_bound
from .result import CoordinateBound, Round

__all__ = ["CoordinateBound", "Round", "coordinate_bound"]
