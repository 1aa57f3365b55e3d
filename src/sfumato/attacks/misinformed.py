"""The misinformed attack: the best strategy for a belief that need not be true."""

from __future__ import annotations

from ..core import AnyLoss, Mechanism, Prior
from ..core.arguments import checked
from .attack import Attack, evaluate
from .optimal import optimal_strategy


@checked
def misinformed(mechanism: Mechanism, prior: Prior, distance: AnyLoss, belief: Prior) -> Attack:
    """Return the attack that is optimal for a belief, with its error under the true prior.

    The belief may know less than the truth (a population's prior against one user) or
    claim more than is true (`Prior.sharpened`: overconfident of home and work); a false
    one never lowers the error below that of the optimal attack. For a report that the
    belief holds impossible the guess is the belief's best one without any report.

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
