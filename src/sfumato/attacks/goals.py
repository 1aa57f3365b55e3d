"""The two goals of an attacker, near and exact, with and without the report."""

from __future__ import annotations

from dataclasses import dataclass

from ..core import AnyLoss, Mechanism, Prior, hamming
from ..core.arguments import checked
from .attack import Attack, evaluate
from .blind import silence
from .optimal import optimal_strategy


@dataclass(frozen=True, slots=True, eq=False)
class Goals:
    """The best attacks for the two goals; errors and hits of all four count alike.

    Who wants to be near and who wants to be exactly right guess differently. All that is
    said of "the best attacker", in sentences, tables and figures, is read from here.

    Attributes:
        near: The attack of least expected error.
        hit: The attack that finds the secret most often.
        near_blind: The guess of least expected error without a report.
        hit_blind: The likeliest secret, guessed without a report.
        hit_rate: How often ``hit`` finds the secret: the Bayes vulnerability.
        blind_hit_rate: How often ``hit_blind`` does.
    """

    near: Attack
    hit: Attack
    near_blind: Attack
    hit_blind: Attack
    hit_rate: float
    blind_hit_rate: float


@checked
def goals(mechanism: Mechanism, prior: Prior, distance: AnyLoss) -> Goals:
    """Return the best attacks for both goals, and what they achieve without the report.

    Args:
        mechanism: The mechanism that is attacked.
        prior: What the attacker believes, and what is true.
        distance: d(guess, s), array (secrets, secrets), a `Loss` or a `Metric`.

    Raises:
        InputError: If the prior or the distance does not fit the mechanism.

    Source:
        Shokri, "Privacy Games", equation 19, with the distance and with the Hamming distance.
    """
    exact = hamming(prior.space)

    def measured(seen: Mechanism, aim: AnyLoss, name: str) -> Attack:
        return evaluate(seen, prior, distance, optimal_strategy(seen, prior, aim), name=name)

    def right(seen: Mechanism, found: Attack) -> float:
        return float((seen.joint(prior) * found.strategy.T).sum())

    silent = silence(prior)
    hit, hit_blind = measured(mechanism, exact, "likeliest"), measured(silent, exact, "blind likeliest")
    return Goals(
        measured(mechanism, distance, "optimal"),
        hit,
        measured(silent, distance, "blind"),
        hit_blind,
        right(mechanism, hit),
        right(silent, hit_blind),
    )
