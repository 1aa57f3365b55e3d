"""Estimation from reports: the population's distribution, its intervals, and what reports cannot identify."""

from .bootstrap import bootstrap_intervals
from .fit import ReportsFit, reports_fit
from .frequencies import support_estimate
from .held_out import cross_validated_updates
from .identifiability import Identifiability, identifiability
from .least_squares import least_squares
from .likelihood import bayesian_updates, maximum_likelihood
from .population import estimate_population
from .profile import profile_intervals
from .reports import Reports, check_mark, read_points, read_reports
from .result import ConfidenceIntervals, Estimate
from .rounds import CollectionRound, incremental
from .unbiased import Inverse, unbiased

__all__ = [
    "CollectionRound",
    "ConfidenceIntervals",
    "Estimate",
    "Identifiability",
    "Inverse",
    "Reports",
    "ReportsFit",
    "bayesian_updates",
    "bootstrap_intervals",
    "check_mark",
    "cross_validated_updates",
    "estimate_population",
    "identifiability",
    "incremental",
    "least_squares",
    "maximum_likelihood",
    "profile_intervals",
    "read_points",
    "read_reports",
    "reports_fit",
    "support_estimate",
    "unbiased",
]
