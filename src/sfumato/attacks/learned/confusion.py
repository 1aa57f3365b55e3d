"""Counts of guesses against true secrets, and the measures read from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core.arrays import Floats, floats, readonly
from ...errors import InputError
from ...leakage import joint_information_bits


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
