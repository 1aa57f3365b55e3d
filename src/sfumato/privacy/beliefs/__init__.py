"""Beliefs: what an adversary may think before and after a report."""

from .adversarial import AdversarialPrivacy, DeltaOfAdversarialPrivacy
from .bands import Band, attained_band, band
from .causal import CausalPrivacy
from .events import Events
from .inferential import IdentityPrivacy, InferentialPrivacy
from .information import InformationPrivacy
from .membership import MembershipPrivacy, NegativeMembershipPrivacy, PositiveMembershipPrivacy
from .noiseless import AposterioriNoiselessPrivacy, NoiselessPrivacy
from .priors import Priors
from .pufferfish import Pufferfish, Rivals
from .semantic import SemanticPrivacy

__all__ = [
    "AdversarialPrivacy",
    "AposterioriNoiselessPrivacy",
    "Band",
    "CausalPrivacy",
    "DeltaOfAdversarialPrivacy",
    "Events",
    "IdentityPrivacy",
    "InferentialPrivacy",
    "InformationPrivacy",
    "MembershipPrivacy",
    "NegativeMembershipPrivacy",
    "NoiselessPrivacy",
    "PositiveMembershipPrivacy",
    "Priors",
    "Pufferfish",
    "Rivals",
    "SemanticPrivacy",
    "attained_band",
    "band",
]
