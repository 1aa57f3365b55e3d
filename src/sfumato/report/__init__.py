"""What people read and look at: summaries in words, and pictures."""

from .picture import picture, save_picture
from .summary import Section, Summary, attack_sentences, promises, summarise

__all__ = ["Section", "Summary", "attack_sentences", "picture", "promises", "save_picture", "summarise"]
