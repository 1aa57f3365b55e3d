"""Grounds: what is made private in a workspace, places on a map or values of a column."""

from .ground import Measures, StudioGround, Where
from .opened import ground_of
from .places import PlacesGround
from .values import ValuesGround

__all__ = ["Measures", "PlacesGround", "StudioGround", "ValuesGround", "Where", "ground_of"]
