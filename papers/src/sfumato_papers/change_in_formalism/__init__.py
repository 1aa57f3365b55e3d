"""Change in formalism: what notions of privacy let a report do to a belief, and how they relate.

``sfumato reproduce change-in-formalism`` runs everything.

Source: D. Desfontaines, "Lowering the cost of anonymization", PhD thesis, ETH Zurich 2020, sections
2.1, 2.2.6 and 2.2.9.
"""

from .claims import RelationSummary, erratum_words, property_table, relation_table, summaries
from .properties import ENTRIES, PropertyRow, property_rows
from .published import PANELS, ErratumRow, band_values, errata, published_figure
from .relations import FORMAL_RELATIONS, KnownRow, RelationRow, known, tried

__all__ = [
    "ENTRIES",
    "FORMAL_RELATIONS",
    "PANELS",
    "ErratumRow",
    "KnownRow",
    "PropertyRow",
    "RelationRow",
    "RelationSummary",
    "band_values",
    "errata",
    "erratum_words",
    "known",
    "property_rows",
    "property_table",
    "published_figure",
    "relation_table",
    "summaries",
    "tried",
]
