"""What people read and look at: summaries in words, and pictures."""

from .frontier import frontier, save_rows
from .picture import picture, save_picture
from .summary import Section, Summary, attack_sentences, audited, promises, summarise

__all__ = [
    "Section",
    "Summary",
    "attack_sentences",
    "audited",
    "frontier",
    "picture",
    "promises",
    "save_picture",
    "save_rows",
    "summarise",
]
