"""Change in formalism: what notions of privacy let a report do to a belief, and how they relate.

``sfumato reproduce change-in-formalism`` runs everything.

Source: D. Desfontaines, "Lowering the cost of anonymization", PhD thesis, ETH Zurich 2020, sections
2.1, 2.2.6 and 2.2.9.
"""

from .claims import RelationSummary, erratum_words, property_table, relation_table, summaries
from .properties import PropertyRow
from .thesis_values import ErratumRow, errata

__all__ = [
    "ErratumRow",
    "PropertyRow",
    "RelationSummary",
    "errata",
    "erratum_words",
    "property_table",
    "relation_table",
    "summaries",
]
