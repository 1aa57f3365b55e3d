"""The descriptions of notions that claims speak of, and that no class here measures."""

from __future__ import annotations

from typing import Final

from .description import Description

CONCENTRATED: Final = Description(
    "concentrated-privacy",
    "zero-concentrated privacy",
    ("rho",),
    question="Are all Rényi divergences at most rho times their order?",
    promise="the Rényi divergence of every order a > 1 between the reports of {about} is at most a times {rho}",
    source="Bun and Steinke, TCC 2016",
    audited="in claims only",
    context=("relation",),
)

EVENT_RATIO: Final = Description(
    "event-ratio",
    "event ratio",
    ("rise", "fall"),
    question="By which factors can a report favour a fact, or its opposite?",
    promise=(
        "no report is more than e^{rise} times, or less than e^-{fall} times, as likely when a fact holds as when "
        "it does not"
    ),
    source="Desfontaines, 2.2.6",
    audited="in claims only",
    context=("priors", "events"),
    defaults={"rise": float("inf"), "fall": float("inf")},
)

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
