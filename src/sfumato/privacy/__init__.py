"""Notions of privacy: what each definition means for a mechanism, with who attains the value."""

from .finding import Finding, Witness
from .notion import Notion
from .relation import Relation

__all__ = [
    "Finding",
    "Notion",
    "Relation",
    "Witness",
]
