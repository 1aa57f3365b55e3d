"""Distribution privacy: what a report may reveal about the distribution of the secret."""

from typing import Final

from ..notion import notions_of
from . import distribution, distribution_divergence
from .close_beliefs import WorstBeliefs, close_beliefs, worst_beliefs
from .distribution import DistributionPrivacy, MetricDistributionPrivacy, ProbabilisticDistributionPrivacy
from .distribution_divergence import DivergenceDistributionPrivacy, DivergenceMetricDistributionPrivacy
from .family import Family, FamilyDistance
from .family_reports import BayesFactors, bayes_factors
from .preprocessing import Stability, pre_process, stability
from .promise import (
    Promise,
    Reason,
    independent_inputs,
    lifted_differential_privacy,
    lifted_divergence_privacy,
    lifted_metric_privacy,
    post_process,
    privacy_of_points,
    product_channel,
    same_input,
)

NOTION_CLASSES: Final = notions_of(distribution, distribution_divergence)
"""The notions of this package, in the order of the documentation."""

__all__ = [
    "BayesFactors",
    "DistributionPrivacy",
    "DivergenceDistributionPrivacy",
    "DivergenceMetricDistributionPrivacy",
    "Family",
    "FamilyDistance",
    "MetricDistributionPrivacy",
    "ProbabilisticDistributionPrivacy",
    "Promise",
    "Reason",
    "Stability",
    "WorstBeliefs",
    "bayes_factors",
    "close_beliefs",
    "independent_inputs",
    "lifted_differential_privacy",
    "lifted_divergence_privacy",
    "lifted_metric_privacy",
    "post_process",
    "pre_process",
    "privacy_of_points",
    "product_channel",
    "same_input",
    "stability",
    "worst_beliefs",
]
