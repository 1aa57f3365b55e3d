"""The description of the notion that claims speak of, and that no class here measures."""

from __future__ import annotations

from typing import Final

from .description import Description

DISTORTION: Final = Description(
    "distortion",
    "distortion privacy",
    ("error",),
    question="How far does the best attacker err on average?",
    promise="the best attack errs by at least {error} on average",
    source="Shokri, Privacy Games, equation 19",
    audited="with a prior and a metric",
    context=("distance", "priors"),
    required=("distance",),
    larger_hides=True,
)
