"""What people read and look at: summaries in words, and pictures."""

from .curves import (
    bands_figure,
    epsilon_by_distance_figure,
    profile_figure,
    save_audit_figures,
    trade_off_figure,
)
from .frontier import frontier, save_rows
from .picture import picture, save_picture
from .summary import Section, Summary, attack_sentences, audited, promises, summarise

__all__ = [
    "Section",
    "Summary",
    "attack_sentences",
    "audited",
    "bands_figure",
    "epsilon_by_distance_figure",
    "frontier",
    "picture",
    "profile_figure",
    "promises",
    "save_audit_figures",
    "save_picture",
    "save_rows",
    "summarise",
    "trade_off_figure",
]
