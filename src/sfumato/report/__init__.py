"""Reports for people: summaries in words, and figures."""

from .audit_figures import AuditFigures, audit_figures
from .best import best_section
from .curves import bands_figure, profile_figure, trade_off_figure
from .distances import epsilon_by_distance_figure
from .frontier import frontier, save_rows
from .noise import noise_maps, summarise_noise
from .picture import picture
from .promises import coordinate_extremes, extremes, promises
from .summary import Section, Summary, attack_sentences, audited, place_sentence, summarise
from .theme import DARK, LIGHT, as_svg, save_picture, style_sheet
from .values import values_picture
from .within_radius import chance_sentence

__all__ = [
    "DARK",
    "LIGHT",
    "AuditFigures",
    "Section",
    "Summary",
    "as_svg",
    "attack_sentences",
    "audit_figures",
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
    "save_picture",
    "save_rows",
    "style_sheet",
    "summarise",
    "summarise_noise",
    "trade_off_figure",
    "values_picture",
]
