"""An attack that is learned on one part of the examples and judged on the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core import Space
from .classifiers import Classifier, Fitted
from .confusion import Confusion
from .examples import Examples


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LearnedAttack:
    """A learned attack and what it achieved on examples that it had not seen.

    Its error is that of one attacker. Others may do better: on average it is never below
    the Bayes error of the mechanism, and it proves no privacy.

    Attributes:
        name: What the rule is called in texts.
        rule: The rule that has learned.
        confusion: What it guessed for the held-out examples.
        space: The secrets.
        learned_from: How many examples it learned from.
        blind_hits: How many held-out examples were of the secret most frequent among those
            that it learned from: what a guess without the report would have got right.
    """

    name: str
    rule: Fitted
    confusion: Confusion
    space: Space
    learned_from: int
    blind_hits: int

    @property
    def hit_rate(self) -> float:
        """The share of right guesses among the held-out examples."""
        return self.confusion.accuracy

    @property
    def error(self) -> float:
        """The share of wrong guesses among the held-out examples."""
        return 1.0 - self.hit_rate

    @property
    def advantage(self) -> float:
        """Gain in the share of right guesses over a guess without the report; negative if less often."""
        return self.confusion.accuracy - self.blind_hits / len(self.confusion)

    def __repr__(self) -> str:
        return (
            f"LearnedAttack by {self.name}: error {self.error:.4g} on {len(self.confusion)} held-out examples, "
            f"{1 - self.blind_hits / len(self.confusion):.4g} without the report"
        )


def learned(
    examples: Examples,
    rule: Classifier,
    held_out: Examples | None = None,
    *,
    share: float = 0.5,
    seed: int | None = None,
) -> LearnedAttack:
    """Learn an attack from examples and judge it on others.

    Args:
        examples: Secrets and their reports.
        rule: How to learn.
        held_out: The examples that judge; by default a random part of those given.
        share: The part that learns, where none are held out.
        seed: For studies: makes the split and the rule the same each time.

    Raises:
        InputError: If there are too few examples.
        MissingExtraError: If the rule's library is not installed.

    Source:
        Cherubin, Chatzikokolakis and Palamidessi, S&P 2019.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.attacks.learned import Examples, NearestNeighbours, learned
        >>> truth = sf.Mechanism([[1.0, 0.0], [0.0, 1.0]])
        >>> examples = Examples.of_mechanism(truth, sf.Prior.uniform(truth.secrets), 100, seed=1)
        >>> learned(examples, NearestNeighbours(), seed=1).error
        0.0
    """
    learning, judging = examples.split(share, seed=seed) if held_out is None else (examples, held_out)
    fitted = rule.fit(learning, seed=seed)
    guesses = fitted.guesses(judging.points)
    usual = int(np.argmax(learning.shares))
    return LearnedAttack(
        rule.name,
        fitted,
        Confusion.of(judging.secrets, guesses, len(judging.space)),
        judging.space,
        len(learning),
        int(np.count_nonzero(judging.secrets == usual)),
    )
