"""Relations of beliefs about a value: noiseless, distribution and information privacy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from sfumato.core import Prior, Space
from sfumato.privacy import (
    AposterioriNoiselessPrivacy,
    DifferentialPrivacy,
    DistributionPrivacy,
    Events,
    Family,
    InformationPrivacy,
    MembershipPrivacy,
    NoiselessPrivacy,
    Notion,
    Priors,
    Pufferfish,
)

from .channels import FormalCase, case_of
from .posteriors import DIGITS, beliefs, bounded
from .relation import Ask, FormalRelation, Measured, both_ways, coin, implied, same

_NOISELESS: Final = "2.2.6, definition 39"
_INFORMATION: Final = "2.2.6, definition 41"
_TABLE: Final = "2.2.9, table 2.20"

# Two secrets of small probability, one likelier and one less likely than the rest to make the first report.
_FACTORS: Final = np.array([2.0, 0.5, 1.0]) / 4
_TWO_RARE: Final = case_of(
    np.column_stack([_FACTORS, 1 - _FACTORS]), Prior(Space(range(3)), [1e-6, 1e-6, 1 - 2e-6])
)
_RARE_VALUE: Final = case_of(
    np.array([[0.8, 0.2], [0.2, 0.8]]),
    Prior(Space(range(2)), [1e-6, 1 - 1e-6]),
)
_STEPS: Final = np.exp(np.array([[0.0, 0.0], [0.5, 0.0], [1.0, 0.0], [1.5, 0.0]]))
_LADDER: Final = case_of(_STEPS / _STEPS.sum(axis=1, keepdims=True))


def _dp(_: FormalCase) -> Notion:
    return DifferentialPrivacy()


def _noiseless(case: FormalCase) -> Notion:
    return NoiselessPrivacy(case.given)


def _afterwards(case: FormalCase) -> Notion:
    return AposterioriNoiselessPrivacy(case.given)


def _information(case: FormalCase) -> Notion:
    return InformationPrivacy(case.given)


def _twice(value: float) -> float:
    return 2 * value


def _singletons(case: FormalCase) -> Events:
    return Events.singletons(case.size)


def _conditioned(case: FormalCase) -> DistributionPrivacy:
    """The prior given each value of an attribute, as a family of two distributions."""
    weights = case.halves.masks * case.prior.probabilities
    return DistributionPrivacy(Family(weights / weights.sum(axis=1, keepdims=True)))


def _factors(case: FormalCase) -> float:
    """The largest |ln(posterior / prior)| of a value, by Bayes' rule."""
    before, after = beliefs(case, _singletons(case))
    with np.errstate(divide="ignore"):
        return float(np.abs(np.log(after / before[:, None])).max())


def _odds(case: FormalCase) -> float:
    """The largest change of the odds of two values, as a logarithm, by Bayes' rule."""
    before, after = beliefs(case, _singletons(case))
    with np.errstate(divide="ignore"):
        logs = np.log(after / before[:, None])
    return float((logs.max(axis=0) - logs.min(axis=0)).max())


def _by_hand(
    name: str, other: str, where: str, value: Callable[[FormalCase], float], end: Ask, says: Sequence[str]
) -> list[FormalRelation]:
    """Return the two halves of an equivalence, one side computed from posteriors."""

    def forth(case: FormalCase) -> Measured | None:
        allowed, found = value(case), end(case).measure(case.rows)
        return Measured(allowed + DIGITS, found.lower, found.value) if math.isfinite(allowed) else None

    def back(case: FormalCase) -> Measured | None:
        allowed, found = end(case).measure(case.rows).upper, value(case)
        return Measured(allowed, found - DIGITS, found) if math.isfinite(allowed) else None

    return [
        FormalRelation(f"{name} to {other}", where, says[0], forth, coin()),
        FormalRelation(f"{other} to {name}", where, says[1], back, coin()),
    ]


NOISELESS: Final = (
    FormalRelation(
        "NPr to ANPr",
        _NOISELESS,
        "epsilon-NPr is epsilon-ANPr.",
        implied(_noiseless, _afterwards, same),
        _RARE_VALUE,
    ),
    FormalRelation(
        "ANPr to NPr, twice",
        _NOISELESS,
        "epsilon-ANPr is (2 epsilon)-NPr.",
        implied(_afterwards, _noiseless, _twice),
        _TWO_RARE,
    ),
    FormalRelation(
        "ANPr to NPr, the same",
        _NOISELESS,
        "epsilon-ANPr is epsilon-NPr.",
        implied(_afterwards, _noiseless, same),
        _TWO_RARE,
        published=False,
    ),
    FormalRelation(
        "ANPr to posteriors",
        _NOISELESS,
        "epsilon-ANPr keeps a posterior between max(e^-epsilon p, 1 - e^epsilon (1 - p)) and min(e^epsilon p, 1 - "
        "e^-epsilon (1 - p)).",
        bounded("aposteriori-noiseless", _afterwards, _singletons),
        coin(),
    ),
    *_by_hand(
        "ANPr",
        "MPr",
        _NOISELESS,
        _factors,
        lambda case: MembershipPrivacy(case.given),
        ("epsilon-ANPr is epsilon-MPr for one prior.", "epsilon-MPr for one prior is epsilon-ANPr."),
    ),
    *_by_hand(
        "bounded odds",
        "NPr",
        "2.2.6, inferential privacy and identity DP",
        _odds,
        _noiseless,
        (
            "Where a report changes the odds of any two values by at most e^epsilon, it is epsilon-NPr.",
            "epsilon-NPr lets a report change the odds of any two values by at most e^epsilon.",
        ),
    ),
    *both_ways(
        "Pufferfish",
        "distribution privacy",
        "2.2.5, definition 35",
        lambda case: Pufferfish(case.given, case.halves),
        _conditioned,
        (
            "Pufferfish privacy is privacy of the distributions given each rival.",
            "Privacy of these distributions is Pufferfish privacy.",
        ),
    ),
    FormalRelation(
        "DP to InfPr",
        _INFORMATION,
        "epsilon-DP of all pairs of secrets is epsilon-InfPr for every prior.",
        implied(_dp, _information, same),
        _RARE_VALUE,
        published=False,
    ),
    FormalRelation(
        "InfPr to DP, twice",
        _INFORMATION,
        "epsilon-InfPr, for a prior that holds every secret possible, is (2 epsilon)-DP of all pairs.",
        implied(_information, _dp, _twice),
        _TWO_RARE,
    ),
    FormalRelation(
        "InfPr to DP, the same",
        _INFORMATION,
        "epsilon-InfPr for one prior is epsilon-DP.",
        implied(_information, _dp, same),
        _TWO_RARE,
        published=False,
    ),
    FormalRelation(
        "DP of neighbours to InfPr",
        _TABLE,
        "epsilon-DP of neighbours alone is epsilon-InfPr for every prior.",
        implied(lambda case: DifferentialPrivacy(case.chain), lambda _: InformationPrivacy(Priors.all()), same),
        _LADDER,
        published=False,
    ),
)
"""In the order of the thesis."""
