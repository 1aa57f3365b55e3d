"""Epsilon as odds: how far one or several reports may move a belief."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.core.immutable import CompactRepr
from sfumato.privacy import band

ODDS_EPSILONS: Final = (0.1, 0.5, 1.0, 2.0, 4.0)
PRIORS: Final = (0.01, 0.1, 0.5)
REPORTS: Final = (1, 2, 5, 10, 20, 50)


@dataclass(frozen=True, slots=True, repr=False)
class OddsRow(CompactRepr):
    """The largest belief in a fact, given the reports.

    Attributes:
        epsilon: The epsilon of each report.
        reports: How many.
        total: The epsilon of all.
        prior: The belief before.
        posterior: The largest belief afterwards.
        factor: The growth of the odds.
    """

    epsilon: float
    reports: int
    total: float
    prior: float
    posterior: float
    factor: float


def odds_rows() -> list[OddsRow]:
    """Return the largest beliefs after reports."""
    found = []
    for epsilon in ODDS_EPSILONS:
        for reports in REPORTS:
            total = epsilon * reports
            for prior in PRIORS:
                after = float(band("differential-privacy", total).upper(prior))
                found.append(OddsRow(epsilon, reports, total, prior, after, float(np.exp(total))))
    return found
