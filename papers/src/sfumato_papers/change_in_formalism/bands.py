"""Figures 2.1 and 2.2: the posteriors that differential privacy allows, and those of randomised response."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.core.immutable import CompactRepr
from sfumato.privacy import band

from .relation import coin

BAND_EPSILONS: Final = (math.log(3), 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)
"""That of Figure 2.1, and every second one of Figure 2.2."""

_POINTS: Final = 201


@dataclass(frozen=True, slots=True, repr=False)
class PosteriorRow(CompactRepr):
    """The posteriors that differential privacy allows at a prior probability of a fact.

    Attributes:
        epsilon: The epsilon.
        prior: The probability of the fact before the report.
        lower: The least probability afterwards.
        upper: The largest.
        answered_no: The probability after randomised response says that the fact is false, by Bayes' rule.
        answered_yes: The same after it says that it is true.
    """

    epsilon: float
    prior: float
    lower: float
    upper: float
    answered_no: float
    answered_yes: float


def posterior_rows() -> list[PosteriorRow]:
    """Return the bands of Figures 2.1 and 2.2, point by point."""
    priors = np.linspace(0, 1, _POINTS)
    rows = []
    for epsilon in BAND_EPSILONS:
        own = band("differential-privacy", epsilon)
        answers = coin(epsilon).rows
        for p, low, high in zip(priors, own.lower(priors), own.upper(priors), strict=True):
            joint = np.array([[p], [1 - p]]) * answers
            yes, no = (float(column[0] / column.sum()) for column in joint.T)
            rows.append(PosteriorRow(epsilon, float(p), float(low), float(high), no, yes))
    return rows
