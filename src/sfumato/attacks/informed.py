"""The informed attack: the best strategy of someone who is told more than the report."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..core import AnyLoss, Mechanism, Prior
from ..core.arguments import checked
from ..core.arrays import Floats, floats, readonly
from ..errors import InputError
from .attack import ROW_TOLERANCE, Attack
from .optimal import optimal


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


def told_of_main_places(prior: Prior, share: float, *, places: int = 2) -> Floats:
    """Return the side information of an attacker who may see whether someone is at a main place.

    With probability ``share`` they are told whether the secret is one of the likeliest
    (home and work, say), though not which; else they are told nothing.

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
