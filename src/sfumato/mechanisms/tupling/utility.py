"""The quality loss of a tuple for its user, and the success of an attacker who guesses between two groups."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ...core import AnyLoss, Bracket, Prior, as_loss
from ...core.arrays import Floats
from ...errors import InputError
from .accountant import PairAccountant
from .mechanism import FARTHEST, Tupling


def quality_loss_of_secrets(tupling: Tupling, loss: AnyLoss) -> Floats:
    """Return the expected loss of each secret when its user keeps the best of the k + 1 answers.

    E[min_i l(s, y_i)] = v_1 + sum over j of (v_{j+1} - v_j) P(l(s, A(s)) > v_j) P(l(s, R) > v_j)**k

    over the sorted losses v_1 < v_2 < ... of s, for a dummy R. Computed in floating point.

    Args:
        tupling: The mechanism.
        loss: l(s, o), array (secrets, observables), a `Loss` or a `Metric`.

    Returns:
        Array (secrets,), in the loss's unit.

    Raises:
        InputError: If the loss does not fit the mechanism.

    Source:
        Kawamoto and Murakami, expected service quality loss; derived in docs/proofs/tupling.md.
    """
    array = as_loss(loss, *tupling.inner.shape).array
    order = np.argsort(array, axis=1, kind="stable")
    values = np.take_along_axis(array, order, axis=1)
    own = np.take_along_axis(tupling.inner.matrix, order, axis=1)
    others = tupling.distribution[order]
    survivals = _beyond(own) * _beyond(others) ** tupling.dummies
    losses: Floats = values[:, 0] + (np.diff(values, axis=1) * survivals).sum(axis=1)
    return losses


def quality_loss(tupling: Tupling, prior: Prior, loss: AnyLoss) -> float:
    """Return the expected loss of a user who keeps the best of the k + 1 answers, in the loss's unit.

    It falls with k, at the price of `Tupling.queries` requests.

    Args:
        tupling: The mechanism.
        prior: The distribution of secrets.
        loss: l(s, o), array (secrets, observables), a `Loss` or a `Metric`.

    Raises:
        InputError: If the prior or the loss does not fit the mechanism.

    Example:
        >>> from sfumato.core import Mechanism, Prior
        >>> coin = Mechanism([[0.5, 0.5], [0.5, 0.5]])
        >>> tupled = Tupling(coin, 2, [0.5, 0.5])
        >>> quality_loss(tupled, Prior.uniform(coin.secrets), [[0, 1], [1, 0]])
        0.125
    """
    if len(prior) != tupling.inner.shape[0]:
        raise InputError(
            f"the prior has {len(prior)} values, but the mechanism has {tupling.inner.shape[0]} secrets.",
            "use a prior on the mechanism's secrets.",
        )
    tupling.inner.secrets.check_order(prior.space, "the prior")
    return float(prior.probabilities @ quality_loss_of_secrets(tupling, loss))


def attack_success(
    tupling: Tupling, first: ArrayLike, second: ArrayLike, prior: float = 0.5, tolerance: float = 1e-4
) -> Bracket:
    """Return bounds of how often the best attacker names the right one of two groups from a tuple.

    For prior a <= 1/2 of the first group it is 1 - a + a delta(ln((1 - a) / a)), with the
    accountant's delta of the first against the second distribution; for a > 1/2 both change places.
    At a = 1/2 it is (1 + total variation) / 2.

    Args:
        tupling: The mechanism.
        first: The secrets' distribution in the first group, array (secrets,).
        second: The one in the second group.
        prior: The first group's share, from 0 to 1.
        tolerance: As for `PairAccountant.delta`.

    Raises:
        InputError: If the prior is not a probability, or a distribution is not valid.

    Example:
        >>> from sfumato.core import Mechanism
        >>> coin = Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> alone, hidden = Tupling(coin, 0, [0.5, 0.5]), Tupling(coin, 99, [0.5, 0.5])
        >>> [round(attack_success(m, [1, 0], [0, 1]).upper, 3) for m in (alone, hidden)]
        [0.75, 0.52]
    """
    if not 0 <= prior <= 1:
        raise InputError(f"the prior {prior} is not a share.", "use a number from 0 to 1.")
    if prior > 0.5:
        return attack_success(tupling, second, first, 1 - prior, tolerance)
    accountant = PairAccountant.of(tupling, first, second)
    epsilon = math.log((1 - prior) / prior) if prior > 0 else math.inf
    if epsilon > FARTHEST:
        return Bracket.between(1 - prior, 1.0)
    found = accountant.delta(epsilon, tolerance)
    # The logarithm's rounding moves delta by as much, and the last sums round once each.
    rounding = (8 + 4 * epsilon) * 2.0**-52
    lower, upper = (1 - prior) + prior * found.lower - rounding, (1 - prior) + prior * found.upper + rounding
    return Bracket.between(max(1 - prior, lower), min(1.0, upper))


def _beyond(masses: Floats) -> Floats:
    """Return the mass right of each position but the last, array (n, m - 1), summed from the far end."""
    tails: Floats = np.cumsum(masses[:, :0:-1], axis=1)[:, ::-1]
    return tails
