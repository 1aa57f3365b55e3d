"""Beliefs: what an attacker may think before and after a report."""

from typing import Final

from ..notion import Notion
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

NOTIONS: Final[tuple[type[Notion], ...]] = (
    EventRatio,
    FallOfEventRatio,
    PositiveMembershipPrivacy,
    NegativeMembershipPrivacy,
    MembershipPrivacy,
    AdversarialPrivacy,
    DeltaOfAdversarialPrivacy,
    NoiselessPrivacy,
    AposterioriNoiselessPrivacy,
    InferentialPrivacy,
    IdentityPrivacy,
    InformationPrivacy,
    SemanticPrivacy,
    CausalPrivacy,
    Pufferfish,
)
"""The notions of this room, as the documentation lists them."""

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
