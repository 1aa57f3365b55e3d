"""The least loss of any mechanism that keeps a promise per metre."""

from .bound import coordinate_bound
from .closed_form import certify_noise
from .result import CoordinateBound, Round

__all__ = ["CoordinateBound", "Round", "certify_noise", "coordinate_bound"]
