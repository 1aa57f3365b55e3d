"""Facts of mechanism files: what they guarantee, cost and reveal, as typed numbers."""

from .attacks import (
    attacks_of,
    information_of,
    point_attacks,
    single_attacks,
    tuples_of,
    visits_in,
)
from .mechanism import constraints_of, cost_of, promises_of, subject_of
from .overview import Overview
from .overview import of_design
from .overview import of_file
from .overview import of_noise
from .requirements import Required
from .requirements import measured
from .requirements import notions_of
from .requirements import read_requirements
from .requirements import risk_within
from .requirements import usual_risk
from .requirements import risk_of
from .types import (
    AttackFacts,
    BeliefFacts,
    ConstraintFacts,
    CostFacts,
    FileFacts,
    FormalFacts,
    FrontierFacts,
    InformationFacts,
    Known,
    NotionFacts,
    PriorFacts,
    PromiseFacts,
    Quantity,
    ReportFacts,
    RiskFacts,
    SubjectFacts,
    TupleFacts,
    all_hold,
    as_json,
)

__all__ = [
    "AttackFacts",
    "BeliefFacts",
    "ConstraintFacts",
    "CostFacts",
    "FileFacts",
    "FormalFacts",
    "FrontierFacts",
    "InformationFacts",
    "Known",
    "NotionFacts",
    "Overview",
    "PriorFacts",
    "PromiseFacts",
    "Quantity",
    "ReportFacts",
    "Required",
    "RiskFacts",
    "SubjectFacts",
    "TupleFacts",
    "all_hold",
    "as_json",
    "attacks_of",
    "constraints_of",
    "cost_of",
    "information_of",
    "measured",
    "notions_of",
    "of_design",
    "of_file",
    "of_noise",
    "point_attacks",
    "promises_of",
    "read_requirements",
    "risk_of",
    "risk_within",
    "single_attacks",
    "subject_of",
    "tuples_of",
    "usual_risk",
    "visits_in",
]
