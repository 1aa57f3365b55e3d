"""Estimation from reports: the population's distribution, its intervals, and what reports cannot identify."""

from .accuracy import Accuracy, accuracy
from .bootstrap import bootstrap_intervals
from .districts import expected_districts, settled_districts
from .fit import ReportsFit, reports_fit
from .frequencies import support_estimate
from .held_out import cross_validated_updates
from .identifiability import Identifiability, identifiability
from .least_squares import least_squares
from .likelihood import bayesian_updates, maximum_likelihood
from .margins import estimated_margins
from .points_fit import PointsFit, characteristic_most, points_fit
from .population import estimate_population
from .profile import profile_intervals
from .reading import check_mark, read_joint_reports, read_points, read_reports
from .reports import Reports
from .result import ConfidenceIntervals, Districts, Estimate
from .rounds import CollectionRound, incremental
from .unbiased import Inverse, unbiased

__all__ = [
    "Accuracy",
    "CollectionRound",
    "ConfidenceIntervals",
    "Districts",
    "Estimate",
    "Identifiability",
    "Inverse",
    "PointsFit",
    "Reports",
    "ReportsFit",
    "accuracy",
    "bayesian_updates",
    "bootstrap_intervals",
    "characteristic_most",
    "check_mark",
    "cross_validated_updates",
    "estimate_population",
    "estimated_margins",
    "expected_districts",
    "identifiability",
    "incremental",
    "least_squares",
    "maximum_likelihood",
    "points_fit",
    "profile_intervals",
    "read_joint_reports",
    "read_points",
    "read_reports",
    "reports_fit",
    "settled_districts",
    "support_estimate",
    "unbiased",
]
