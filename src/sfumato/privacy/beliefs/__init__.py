"""Privacy of beliefs: what an attacker may believe before and after a report."""

from typing import Final

from ..notion import notions_of
from . import membership, noiseless, pufferfish, semantic
from .attackers import Events, Priors
from .bands import Band, attained_band, band
from .membership import (
    AdversarialPrivacy,
    DeltaOfAdversarialPrivacy,
    EventRatio,
    FallOfEventRatio,
    MembershipPrivacy,
    NegativeMembershipPrivacy,
    PositiveMembershipPrivacy,
)
from .noiseless import (
    AposterioriNoiselessPrivacy,
    IdentityPrivacy,
    InferentialPrivacy,
    InformationPrivacy,
    NoiselessPrivacy,
)
from .pufferfish import CausalPrivacy, Pufferfish, Rivals
from .semantic import SemanticPrivacy

NOTION_CLASSES: Final = notions_of(membership, noiseless, semantic, pufferfish)
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
