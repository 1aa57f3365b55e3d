"""The atlas: which notion implies which, and what the notions keep through processing and repetition."""

from ._edge import Edge, Status, Tightness
from .catalogue import ATLAS, NOTIONS, implications, table
from .claims import Claim
from .convert import Chain, convert
from .properties import PROPERTIES, Answer, Property, answer, compose

__all__ = [
    "ATLAS",
    "NOTIONS",
    "PROPERTIES",
    "Answer",
    "Chain",
    "Claim",
    "Edge",
    "Property",
    "Status",
    "Tightness",
    "answer",
    "compose",
    "convert",
    "implications",
    "table",
]
