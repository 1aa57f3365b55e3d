"""Closed forms: mechanisms that need no solver, and the optimal remap of any mechanism."""

from .coin import coin, coin_of_distortion
from .constant import constant
from .exponential import exponential
from .geometric import geometric
from .remap import remapped
from .response import randomised_response
from .tight import tight_constraints

__all__ = [
    "coin",
    "coin_of_distortion",
    "constant",
    "exponential",
    "geometric",
    "randomised_response",
    "remapped",
    "tight_constraints",
]
