"""The atlas: which notion implies which, and what the notions keep through processing and repetition."""

from .catalogue import ATLAS, NOTIONS, implications, table
from .claims import Claim
from .convert import Derivation, convert
from .edge import Basis, Edge, Tightness
from .properties import PROPERTIES, Property, PropertyAnswer, answer, compose

__all__ = [
    "ATLAS",
    "NOTIONS",
    "PROPERTIES",
    "Basis",
    "Claim",
    "Derivation",
    "Edge",
    "Property",
    "PropertyAnswer",
    "Tightness",
    "answer",
    "compose",
    "convert",
    "implications",
    "table",
]
