"""Attack success rate: the best attacker learns from one half of the users, and is judged on the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.geo import Grid
from sfumato.mechanisms import Tupling, attack_success, mixture_dummies, quality_loss

from ..reproduction import Made
from ..results import columns_of
from .groups import Groups
from .tupled import noise

SUCCESS: Final = "success"
RADIUS_KM: Final = 2.0
_DRAWS: Final = 4_000  # of the dummies of a tuple


@dataclass(frozen=True, slots=True, repr=False)
class SuccessRow(CompactRepr):
    """The success of an attacker who names one of two groups of equal size, from one tuple.

    Attributes:
        groups: Who is compared.
        seed: Of the halves.
        dummies: k, of the mixture that the learning half reports.
        slope_per_km: Of restricted Laplace noise within 2 km.
        loss_km: The expected distance of a user of the judging half to the best of the k + 1 answers.
        learned_from: The share right on the half that the attacker learned from, proved from above.
        judged_on: The share right on the other half: an estimate, over drawn dummies and the exact law of reports.
        at_most: The share right of an attacker who knows the other half's distributions, proved from above.
    """

    groups: str
    seed: int
    dummies: int
    slope_per_km: float
    loss_km: float
    learned_from: float
    judged_on: float
    at_most: float


def attacked(
    halves: tuple[Groups, Groups], city: Grid, seed: int, dummies: Sequence[int], slopes: Sequence[float]
) -> Made:
    """Return the success of attackers who learned from the first half, on both halves.

    Args:
        halves: The groups of the half that is learned from, and of the other.
        city: Their cells.
        seed: Of the halves, and of the dummies drawn.
        dummies: The numbers k.
        slopes: Of the noise, per km.
    """
    known, others = halves
    rows = []
    for slope in slopes:
        inner = noise(known, city, slope, RADIUS_KM)
        nu = mixture_dummies(inner, known.distributions)
        for k in dummies:
            tupling = Tupling(inner, k, nu)
            believed, true = (inner.lift(groups.distributions) for groups in halves)
            random = np.random.Generator(np.random.PCG64([seed, k, round(1000 * slope)]))
            rows.append(
                SuccessRow(
                    known.title,
                    seed,
                    k,
                    slope,
                    quality_loss(tupling, others.everyone, others.metric),
                    attack_success(tupling, *known.distributions).upper,
                    success_of(believed, true, nu.probabilities, k, random),
                    attack_success(tupling, *others.distributions).upper,
                )
            )
    return {SUCCESS: [columns_of(row) for row in rows]}


def success_of(
    believed: Floats, true: Floats, nu: Floats, dummies: int, random: np.random.Generator, draws: int = _DRAWS
) -> float:
    """Return how often the rule that is best for believed laws of reports names the right group.

    The rule names the first group where the sum of (p(y) - q(y)) / nu(y) over the tuple is positive, and tosses a
    coin where it is 0. The dummies' part of the sum is drawn; given it, the probability over the true report is
    exact.

    Args:
        believed: The laws p and q of reports that the attacker believes in, array (2, m).
        true: Those of the tuples that they see, array (2, m).
        nu: The law of dummies, array (m,).
        dummies: k; without dummies nothing is drawn.
        random: Draws the dummies.
        draws: How many tuples' dummies are drawn.
    """
    scores = (believed[0] - believed[1]) / nu
    sums = np.zeros(1)
    if dummies:
        ends = np.cumsum(nu)
        sums = np.zeros(draws)
        for _ in range(dummies):
            places = np.searchsorted(ends, random.random(draws) * ends[-1], side="right")
            sums += scores[np.minimum(places, len(nu) - 1)]
    order = np.argsort(scores, kind="stable")
    below = np.concatenate([np.zeros((2, 1)), np.cumsum(true[:, order], axis=1)], axis=1)
    # Named first: a score above -sum; with rounding in mind, scores within it count as equal.
    edge = 1e-12 * float(np.abs(scores).max())
    under = np.searchsorted(scores[order], -sums - edge, side="left")
    upto = np.searchsorted(scores[order], -sums + edge, side="right")
    for_second = (below[:, under] + below[:, upto]) / 2
    first, second = for_second.mean(axis=1)
    return float((1 - first) / 2 + second / 2)
