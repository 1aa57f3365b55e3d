"""Privacy of beliefs: what an attacker may believe before and after a report."""

from typing import Final

from ..notion import notions_of
from . import membership, pufferfish, semantic
from .attackers import Events, Priors
from .membership import (
    AdversarialPrivacy,
    AposterioriNoiselessPrivacy,
    DeltaOfAdversarialPrivacy,
    EventRatio,
    FallOfEventRatio,
    IdentityPrivacy,
    InferentialPrivacy,
    InformationPrivacy,
    MembershipPrivacy,
    NegativeMembershipPrivacy,
    NoiselessPrivacy,
    PositiveMembershipPrivacy,
)
from .posterior import Band, attained_band, band
from .pufferfish import CausalPrivacy, InferenceBasedCausalPrivacy, Pufferfish, Rivals
from .semantic import SemanticPrivacy

NOTION_CLASSES: Final = notions_of(membership, semantic, pufferfish)
"""The notions of this package, in the order of the documentation."""

__all__ = [
    "AdversarialPrivacy",
    "AposterioriNoiselessPrivacy",
    "Band",
    "CausalPrivacy",
    "DeltaOfAdversarialPrivacy",
    "EventRatio",
    "Events",
    "FallOfEventRatio",
    "IdentityPrivacy",
    "InferenceBasedCausalPrivacy",
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
