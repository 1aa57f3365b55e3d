"""Tupling: a report among dummies, its exact privacy, its utility, and how many dummies to use."""

from .accountant import PairAccountant
from .bound import PublishedBound, mass_above, published_for_delta, published_for_epsilon
from .dummies import DummyChoice, mixture_dummies, optimised_dummies, uniform_dummies
from .family import FamilyAccountant, Worst
from .mechanism import Tupling
from .planner import DummyPlan, plan_dummies
from .promise import TuplePrivacy, TupleProof
from .utility import attack_success, quality_loss, quality_loss_of_secrets

__all__ = [
    "DummyChoice",
    "DummyPlan",
    "FamilyAccountant",
    "PairAccountant",
    "PublishedBound",
    "TuplePrivacy",
    "TupleProof",
    "Tupling",
    "Worst",
    "attack_success",
    "mass_above",
    "mixture_dummies",
    "optimised_dummies",
    "plan_dummies",
    "published_for_delta",
    "published_for_epsilon",
    "quality_loss",
    "quality_loss_of_secrets",
    "uniform_dummies",
]
