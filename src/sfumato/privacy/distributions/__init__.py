"""Distribution privacy: what a report may tell about the distribution that the secret came from."""

from typing import Final

from ..notion import Notion
from .bayes_factors import BayesFactors, bayes_factors
from .close_beliefs import WorstBeliefs, close_beliefs, worst_beliefs
from .composition import independent_inputs, post_processed, product_channel, same_input
from .distribution import DistributionPrivacy, MetricDistributionPrivacy, ProbabilisticDistributionPrivacy
from .distribution_divergence import DivergenceDistributionPrivacy, DivergenceMetricDistributionPrivacy
from .family import Family
from .family_distance import FamilyDistance
from .preprocessing import Stability, pre_processed, stability
from .promise import (
    Promise,
    Reason,
    lifted_differential_privacy,
    lifted_divergence_privacy,
    lifted_metric_privacy,
    privacy_of_points,
)

NOTIONS: Final[tuple[type[Notion], ...]] = (
    DistributionPrivacy,
    ProbabilisticDistributionPrivacy,
    MetricDistributionPrivacy,
    DivergenceDistributionPrivacy,
    DivergenceMetricDistributionPrivacy,
)
"""The notions of this room, as the documentation lists them."""

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
    "post_processed",
    "pre_processed",
    "privacy_of_points",
    "product_channel",
    "same_input",
    "stability",
    "worst_beliefs",
]
