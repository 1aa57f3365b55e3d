"""An attack that is learned on one part of the examples and judged on the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core import Space
from ...core.arrays import Floats, floats, readonly
from ...errors import InputError
from ...leakage import joint_information_bits
from .classifiers import Classifier, Fitted
from .examples import Examples


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Confusion:
    """Number of guesses of each secret for each true one.

    Args:
        counts: Array (secrets, guesses) of whole numbers; row x, column y counts the guesses
            y where x was true.

    Attributes:
        counts: The same, as integers.

    Raises:
        InputError: If the array is not square, empty of counts, or has an entry that is
            negative or not whole.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, equations 18 to 22.

    Example:
        >>> from sfumato.attacks.learned import Confusion
        >>> Confusion([[8, 2], [4, 6]])
        Confusion of 20 guesses among 2 secrets: accuracy 0.7, F1 0.697
    """

    counts: NDArray[np.int64]

    def __init__(self, counts: ArrayLike) -> None:
        array = floats(counts, "the counts", shape=(None, None))
        if array.shape[0] != array.shape[1]:
            raise InputError(
                f"the counts are {array.shape[0]} x {array.shape[1]}.", "pass a row and a column for each secret."
            )
        if (array < 0).any() or (array != np.rint(array)).any() or not array.sum() > 0:
            raise InputError(
                "the counts are negative, not whole, or all zero.", "pass how often each guess was made."
            )
        object.__setattr__(self, "counts", readonly(array.astype(np.int64)))

    @classmethod
    def of(cls, secrets: NDArray[np.intp], guesses: NDArray[np.intp], size: int) -> Confusion:
        """Return the counts of pairs: the i-th guess was made for the i-th secret.

        Args:
            secrets: Array (k,) of positions of the true secrets.
            guesses: Array (k,) of positions of the guesses.
            size: How many secrets there are.
        """
        counts = np.zeros((size, size))
        np.add.at(counts, (secrets, guesses), 1)
        return cls(counts)

    def __len__(self) -> int:
        return int(self.counts.sum())

    def __repr__(self) -> str:
        return (
            f"Confusion of {len(self)} guesses among {len(self.counts)} secrets: "
            f"accuracy {self.accuracy:.3g}, F1 {self.f1:.3g}"
        )

    @property
    def hits(self) -> int:
        """Number of right guesses."""
        return int(np.trace(self.counts))

    @property
    def accuracy(self) -> float:
        """The share of right guesses."""
        return self.hits / len(self)

    @property
    def recall(self) -> Floats:
        """The share of right guesses where each secret was true, array (secrets,); 0 if it never was."""
        return _shares(np.diagonal(self.counts), self.counts.sum(axis=1))

    @property
    def precision(self) -> Floats:
        """The share of right guesses where each secret was guessed, array (secrets,); 0 if it never was."""
        return _shares(np.diagonal(self.counts), self.counts.sum(axis=0))

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall of the secrets that occur: the accuracy if all were equally frequent."""
        return float(self.recall[self.counts.any(axis=1)].mean())

    @property
    def f1(self) -> float:
        """The mean over the secrets that occur of 2 P R / (P + R), with P precision and R recall."""
        rows, columns = self.counts.sum(axis=1), self.counts.sum(axis=0)
        each = _shares(2 * np.diagonal(self.counts), rows + columns)
        return float(each[rows > 0].mean())

    @property
    def information_bits(self) -> float:
        """The mutual information of secret and guess in these counts, in bits: a plug-in, too large."""
        return joint_information_bits(self.counts / len(self))

    @property
    def bayes_error(self) -> float:
        """The error of the best guess from the guess, 1 - sum over y of max over x of p(x, y).

        At most 1 - `accuracy`: consistent errors of an attacker can be corrected.
        """
        return 1.0 - int(self.counts.max(axis=0).sum()) / len(self)


def _shares(hits: NDArray[np.int64], trials: NDArray[np.int64]) -> Floats:
    shares: Floats = np.divide(hits, trials, out=np.zeros(len(hits)), where=trials > 0)
    return shares


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
