"""The optimal attack: the guess of least expected error for every report."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..core import AnyLoss, Mechanism, Prior
from ..core.arguments import checked
from ..core.arrays import Floats
from .attack import Attack, evaluate, fitting

_BLOCK: Final = 2**23  # errors held at once: 64 MiB


@checked
def optimal(mechanism: Mechanism, prior: Prior, distance: AnyLoss) -> Attack:
    """Return the attack that errs least on average: no strategy does better.

    error = sum over o of min over g of sum over s of prior(s) p(o|s) d(g, s)

    Each report has one guess. Guesses whose errors differ by less than rounding are
    tied, and the first in order is taken; for a report that the prior holds impossible
    it is the best guess without any report. With the Hamming distance this is the
    guess of maximum a posteriori probability, and its error the Bayes error.

    Args:
        mechanism: The mechanism that is attacked.
        prior: What the adversary believes, and what is true.
        distance: d(guess, s), array (guesses, secrets), a `Loss` or a `Metric`; the
            guesses need not be the secrets.

    Returns:
        The attack; its error is the mechanism's distortion privacy.

    Raises:
        InputError: If the prior or the distance does not fit the mechanism.

    Source:
        Shokri, "Privacy Games", equations 19 and 33 to 35.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.attacks import optimal
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> attack = optimal(coin, sf.Prior(coin.secrets, [0.5, 0.5]), sf.hamming(coin.secrets))
        >>> attack.error, attack.estimates.tolist()
        (0.25, [0, 1])
    """
    strategy = optimal_strategy(mechanism, prior, distance)
    return evaluate(mechanism, prior, distance, strategy, name="optimal")


@checked
def optimal_strategy(mechanism: Mechanism, belief: Prior, distance: AnyLoss) -> Floats:
    """Return the strategy of least error under a belief, array (observables, guesses) of zeros and ones."""
    d = fitting(mechanism, belief, distance).array
    joint = mechanism.joint(belief)
    guesses = best_guesses(d, joint)
    guesses[~joint.any(axis=0)] = best_guesses(d, belief.probabilities[:, None])[0]
    strategy = np.zeros((len(guesses), len(d)))
    strategy[np.arange(len(guesses)), guesses] = 1.0
    return strategy


def best_guesses(distance: Floats, joint: Floats) -> NDArray[np.intp]:
    """Return the guess of least error in each column of a joint distribution, the first among ties.

    Args:
        distance: Array (guesses, secrets).
        joint: Array (secrets, observables).

    Returns:
        Positions of guesses, array (observables,).
    """
    # No more than the rounding of a sum of n products, so no error is given away.
    rounding = np.finfo(float).eps * joint.shape[0] * np.abs(distance).max()
    width = max(1, _BLOCK // len(distance))
    found = np.empty(joint.shape[1], dtype=np.intp)
    for start in range(0, joint.shape[1], width):
        block = joint[:, start : start + width]
        errors = distance @ block
        best = errors.min(axis=0) + rounding * block.sum(axis=0)
        found[start : start + width] = np.argmax(errors <= best, axis=0)
    return found
