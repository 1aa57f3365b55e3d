"""Change in formalism: what four notions of privacy let a report do to the belief in a fact.

Source: D. Desfontaines, "Lowering the cost of anonymization", PhD thesis, ETH Zurich 2020, section 2.2.6.
"""

from .figure import figures
from .study import EPSILON, PANELS, PRIORS, READ, BandValue, ChangeInFormalismResults, Panel, study

__all__ = [
    "EPSILON",
    "PANELS",
    "PRIORS",
    "READ",
    "BandValue",
    "ChangeInFormalismResults",
    "Panel",
    "figures",
    "study",
]
