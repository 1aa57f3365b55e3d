"""Change in formalism: what notions of privacy let a report do to a belief, and how they relate.

``sfumato reproduce change-in-formalism`` runs everything.

Source: D. Desfontaines, "Lowering the cost of anonymization", PhD thesis, ETH Zurich 2020, sections
2.1, 2.2.6 and 2.2.9.
"""

from .channels import FormalCase, case_of, cases, coin
from .checks import Measured, implied
from .claims import erratum_words, property_table, relation_table
from .figures import published_figure
from .properties import ENTRIES, PropertyRow, TableEntry, property_rows
from .published import (
    BAND_EPSILONS,
    EPSILON,
    PANELS,
    PRIORS,
    READ,
    BandValue,
    CornerRow,
    ErratumRow,
    Panel,
    PosteriorRow,
    band_values,
    corner_rows,
    errata,
    posterior_rows,
)
from .relations import GROUPS, FormalRelation, KnownRow, RelationRow, RelationSummary, known, summaries, tried

__all__ = [
    "BAND_EPSILONS",
    "ENTRIES",
    "EPSILON",
    "GROUPS",
    "PANELS",
    "PRIORS",
    "READ",
    "BandValue",
    "CornerRow",
    "ErratumRow",
    "FormalCase",
    "FormalRelation",
    "KnownRow",
    "Measured",
    "Panel",
    "PosteriorRow",
    "PropertyRow",
    "RelationRow",
    "RelationSummary",
    "TableEntry",
    "band_values",
    "case_of",
    "cases",
    "coin",
    "corner_rows",
    "errata",
    "erratum_words",
    "implied",
    "known",
    "posterior_rows",
    "property_rows",
    "property_table",
    "published_figure",
    "relation_table",
    "summaries",
    "tried",
]
