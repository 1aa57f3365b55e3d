"""Attackers who see several fresh reports of one secret, simulated: a study, which releases nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ...core import Bracket
from ...core.arrays import Floats
from ...core.immutable import CompactRepr
from ...geo.geometric_median import medians

CONFIDENCE: Final = 0.99
"""The probability with which each of the two bounds of a simulated number holds together."""

_NEVER: Final = -1e6  # stands for the logarithm of 0: one impossible report outweighs a hundred possible ones
_DRAWS: Final = 1000  # simulated cases
_ENTRIES: Final = 2_400_000  # of beliefs held at once
_FEWEST: Final = 200  # cases that are worth stating
_TOLERANCE_M: Final = 0.01  # of the expected distance of a guess
SEED: Final = 20260
"""Of simulated cases: a report says the same when it is written again."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class RepeatedAttack(CompactRepr):
    """The success of an attacker who sees several fresh reports of one secret.

    Attributes:
        reports: How many they see.
        hit: How often their guess is the secret; None where that is not counted.
        error: How far they err on average; None where nothing is said of distances.
        draws: In how many simulated cases.
    """

    reports: int
    hit: Bracket | None
    error: Bracket | None
    draws: int


def repeated_attacks(
    channel: Floats,
    prior: Floats,
    reports: tuple[int, ...],
    *,
    distance: Floats | None = None,
    points: Floats | None = None,
) -> tuple[RepeatedAttack, ...]:
    """Return what an attacker achieves who knows prior and mechanism and combines several reports.

    Secrets are drawn from the prior, reports from the mechanism. The attacker's belief is computed exactly in each
    case, and its best guess is counted by that belief, which scatters less than counting hits. The bounds are
    those of Maurer and Pontil (2009, theorem 4), with the sample's variance, and hold with probability 0.99.

    Args:
        channel: p(o|s), array (n, m).
        prior: Array (n,).
        reports: How many reports are seen.
        distance: d(guess, s), array (guesses, n), for the error of the best of these guesses.
        points: Instead of it: where secrets are, array (n, 2): the guess is then a point near the best one.

    Returns:
        One for each number of reports; none where there are too many secrets to simulate enough cases.
    """
    possible = np.flatnonzero(prior > 0)
    channel, prior = channel[possible], prior[possible] / prior[possible].sum()
    draws = min(_DRAWS, _ENTRIES // len(prior))
    if draws < _FEWEST:
        return ()
    rows = channel / channel.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        logs = np.where(rows > 0, np.log(rows), _NEVER)
    randomness = np.random.default_rng(SEED)
    secrets = randomness.choice(len(prior), size=draws, p=prior)
    found = []
    for count in reports:
        seen = randomness.multinomial(count, rows[secrets])
        belief = seen @ logs.T + np.log(prior)
        belief = np.exp(belief - belief.max(axis=1, keepdims=True))
        belief /= belief.sum(axis=1, keepdims=True)
        hit = bounded_mean(belief.max(axis=1), 1.0)
        error = None
        if distance is not None:
            d = distance[:, possible]
            error = bounded_mean((belief @ d.T).min(axis=1), float(d.max()))
        elif points is not None:
            error = bounded_mean(near_best(belief, points[possible])[1], widest(points[possible]))
        found.append(RepeatedAttack(count, hit, error, draws))
    return tuple(found)


def bounded_mean(values: Floats, most: float) -> Bracket:
    """Return the mean of values between 0 and the most, with bounds of Maurer and Pontil.

    Args:
        values: Of independent cases, array (n,).
        most: The largest that one can be.
    """
    n, mean = len(values), float(values.mean())
    if most == 0:
        return Bracket.exact(0.0)
    log = math.log(4 / (1 - CONFIDENCE))
    spread = float(values.std(ddof=1)) / most
    off = most * (math.sqrt(2 * spread**2 * log / n) + 7 * log / (3 * (n - 1)))
    return Bracket(max(0.0, mean - off), mean, min(most, mean + off))


def near_best(belief: Floats, points: Floats) -> tuple[Floats, Floats]:
    """Return a point near the best guess for each belief, array (draws, 2), and its expected distance, (draws,).

    Args:
        belief: The probability of each point, array (draws, n).
        points: Where they are, array (n, 2).
    """
    guesses = medians(points, belief, belief @ points, _TOLERANCE_M)
    errors = (belief * np.hypot(guesses[:, :1] - points[:, 0], guesses[:, 1:] - points[:, 1])).sum(axis=1)
    return guesses, errors


def widest(points: Floats) -> float:
    """Return a distance that no two of these points are farther apart than, array (n, 2)."""
    return float(np.hypot(*(points.max(axis=0) - points.min(axis=0))))
