"""Atlas of notions: implications, post-processing and composition."""

from .claims import Basis, Claim, Edge, Goal, Refusal, Tightness
from .derivations import NOTION_KEYS, SEPARATIONS, Derivation, convert, implications, table
from .edges import ATLAS
from .properties import PROPERTIES, Property, PropertyAnswer, answer, compose

__all__ = [
    "ATLAS",
    "NOTION_KEYS",
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
