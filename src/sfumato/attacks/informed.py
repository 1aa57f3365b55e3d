"""Attackers whose knowledge differs from the prior: informed of more, or misinformed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..core import AnyLoss, Mechanism, Prior
from ..core.arguments import checked
from ..core.arrays import Floats, floats, readonly
from ..errors import InputError
from .attack import ROW_TOLERANCE, Attack, evaluate
from .known_prior import optimal, optimal_strategy


@checked
def informed(mechanism: Mechanism, prior: Prior, distance: AnyLoss, told: ArrayLike) -> Attack:
    """Return the best attack with side information, averaged over what the attacker may be told.

    error = sum over y, o of min over g of sum over s of prior(s) told(y|s) p(o|s) d(g, s)

    What is told is true and independent of the report, given the secret. It never raises
    the error above that of `optimal`, whose attacker is told nothing. (An attacker who
    *believes* more than is true is `misinformed`, and never errs less than the best.)

    Where the person's own habits are sharper than the prior of the design, and the
    attacker knows them, attack with them as the truth: ``optimal(mechanism, habits,
    distance)``, beside ``misinformed(mechanism, habits, distance, prior)`` for the
    attacker whom the design expected (Privacy Games, section 9.2).

    Args:
        mechanism: The mechanism that is attacked.
        prior: What the attacker believes before they are told anything, and what is true.
        distance: d(guess, s), array (guesses, secrets), a `Loss` or a `Metric`.
        told: told(y|s), array (secrets, pieces of information); rows sum to one. Columns
            of zeros and ones narrow the secret down to a set;
            `told_of_main_places` makes one.

    Returns:
        The attack. Its strategy has a row for each pair of a piece of information and an
        observable: number ``y * observables + o``.

    Raises:
        InputError: If the prior or the distance does not fit the mechanism, or a row of
            ``told`` is not a distribution.
    """
    channel = _distributions(told, len(prior))
    p = prior.probabilities
    shares = p @ channel
    parts = []
    for y, share in enumerate(shares):
        # What never happens changes no average; some belief keeps its rows defined.
        belief = p * channel[:, y] if share > 0 else p
        parts.append(optimal(mechanism, Prior(prior.space, belief / belief.sum()), distance))
    hits = [part.hit_rate for part in parts if part.hit_rate is not None]
    return replace(
        parts[0],
        name="informed",
        error=float(sum(w * part.error for w, part in zip(shares, parts, strict=True))),
        per_secret=readonly(np.einsum("sy,ys->s", channel, np.stack([part.per_secret for part in parts]))),
        strategy=readonly(np.concatenate([part.strategy for part in parts])),
        hit_rate=float(shares @ np.array(hits)) if hits else None,
    )


@checked
def misinformed(mechanism: Mechanism, prior: Prior, distance: AnyLoss, belief: Prior) -> Attack:
    """Return the attack that is optimal for a belief, with its error under the true prior.

    The belief may know less than the truth (a population's prior against one user) or
    claim more than is true (`Prior.sharpened`: overconfident of home and work); a false
    one never lowers the error below that of the optimal attack. For a report that is
    impossible under the belief, the guess is the belief's best one without any report.

    An attacker who truly knows more is `informed`.

    Args:
        mechanism: The mechanism that is attacked.
        prior: The true prior, by which the error is averaged.
        distance: d(guess, s), array (guesses, secrets), a `Loss` or a `Metric`.
        belief: What the adversary believes.

    Raises:
        InputError: If a prior or the distance does not fit the mechanism.

    Source:
        Shokri, "Privacy Games", section 9.2, with the true prior as the sharper one and the
        design's as the belief: the attacker whom the design expected.
    """
    strategy = optimal_strategy(mechanism, belief, distance)
    return evaluate(mechanism, prior, distance, strategy, name="misinformed")


def told_of_main_places(prior: Prior, share: float, *, places: int = 2) -> Floats:
    """Return the side information of an attacker who may see whether someone is at a main place.

    With probability ``share`` they are told whether the secret is one of the likeliest
    (home and work, say), though not which; otherwise they are told nothing.

    Args:
        prior: How often each secret occurs.
        share: How often they are told.
        places: How many of the likeliest secrets are the main ones.

    Returns:
        Array (secrets, 3) with a column for being told nothing, "a main place" and "another place".

    Raises:
        InputError: If the share is not a probability, or there are fewer secrets than that.
    """
    if not 0 <= share <= 1:
        raise InputError(f"the share {share} is not between 0 and 1.", "use 0.5 to tell half of the time.")
    if not 1 <= places <= len(prior):
        raise InputError(
            f"{places} main places were asked for, of {len(prior)}.", "ask for at least one, at most all."
        )
    main = np.zeros(len(prior), dtype=np.bool_)
    main[np.argsort(-prior.probabilities, kind="stable")[:places]] = True
    return readonly(np.stack([np.full(len(prior), 1 - share), share * main, share * ~main], axis=1))


def _distributions(told: ArrayLike, secrets: int) -> Floats:
    channel = floats(told, "what is told", shape=(secrets, None))
    sums = channel.sum(axis=1)
    worst = int(np.argmax(np.abs(sums - 1)))
    if (channel < 0).any() or abs(sums[worst] - 1) > ROW_TOLERANCE:
        raise InputError(
            f"what is told of secret {worst} sums to {sums[worst]:.12g}, or is negative.",
            "pass told(y|s): every row is a distribution over pieces of information.",
        )
    return channel
