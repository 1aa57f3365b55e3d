"""The atlas: which notion implies which, and what the notions keep through processing and repetition."""

from .catalogue import NOTIONS, SEPARATIONS, implications, table
from .claims import Claim
from .convert import Derivation, convert
from .edge import Basis, Edge, Goal, Refusal, Tightness
from .edges import ATLAS
from .properties import PROPERTIES, Property, PropertyAnswer, answer, compose

__all__ = [
    "ATLAS",
    "NOTIONS",
    "PROPERTIES",
    "SEPARATIONS",
    "Basis",
    "Claim",
    "Derivation",
    "Edge",
    "Goal",
    "Property",
    "PropertyAnswer",
    "Refusal",
    "Tightness",
    "answer",
    "compose",
    "convert",
    "implications",
    "table",
]
