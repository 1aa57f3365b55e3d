"""Reports for people: summaries in words, and figures."""

from .best import best_section
from .curves import (
    bands_figure,
    epsilon_by_distance_figure,
    profile_figure,
    save_audit_figures,
    trade_off_figure,
)
from .drawing import save_picture
from .frontier import frontier, save_rows
from .noise import noise_maps, summarise_noise
from .picture import picture
from .promises import coordinate_extremes, extremes, promises
from .summary import Section, Summary, attack_sentences, audited, chance_sentence, place_sentence, summarise

__all__ = [
    "Section",
    "Summary",
    "attack_sentences",
    "audited",
    "bands_figure",
    "best_section",
    "chance_sentence",
    "coordinate_extremes",
    "epsilon_by_distance_figure",
    "extremes",
    "frontier",
    "noise_maps",
    "picture",
    "place_sentence",
    "profile_figure",
    "promises",
    "save_audit_figures",
    "save_picture",
    "save_rows",
    "summarise",
    "summarise_noise",
    "trade_off_figure",
]
