"""The rules that learn a guess from examples: nearest neighbours, and those of scikit-learn."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...errors import InputError, MissingExtraError
from .examples import Examples

_CHUNK: Final = 4096  # outputs looked up at a time


class Fitted(ABC):
    """A rule that has learned."""

    __slots__ = ()

    @abstractmethod
    def probabilities(self, points: Floats) -> Floats:
        """Return the believed posterior of each report, array (k, secrets), for points (k, features)."""

    def guesses(self, points: Floats) -> NDArray[np.intp]:
        """Return the position of the likeliest secret of each report, array (k,)."""
        best: NDArray[np.intp] = self.probabilities(points).argmax(axis=1)
        return best


class Classifier(ABC):
    """A rule that can learn from examples."""

    __slots__ = ()

    name: ClassVar[str]

    @abstractmethod
    def fit(self, examples: Examples, *, seed: int | None = None) -> Fitted:
        """Learn from examples.

        Args:
            examples: The examples.
            seed: For studies: makes what is random in the rule the same each time.

        Raises:
            MissingExtraError: If the library that the rule comes from is not installed.
        """


@dataclass(frozen=True, slots=True)
class NearestNeighbours(Classifier):
    """The secret that is most frequent among the k nearest examples, with all that are as near as the last.

    Equal outputs are thus counted together, and where each was seen k times it is the
    frequentist's guess. With k = 1 and outputs that never repeat, its error tends to at most
    R (2 - R n / (n - 1)), R being the Bayes error and n the number of secrets (Cover and
    Hart, 1967). With k growing, and k / examples tending to 0, it tends to the Bayes error
    itself, whatever the distribution (Stone, 1977); at no rate that holds for all.

    Attributes:
        k: How many neighbours; None for the natural logarithm of the number of examples.

    Source:
        Cherubin, Chatzikokolakis and Palamidessi, "F-BLEAU", S&P 2019.
    """

    name: ClassVar[str] = "nearest neighbours"
    k: int | None = None

    def __post_init__(self) -> None:
        if self.k is not None and self.k < 1:
            raise InputError(f"{self.k} neighbours were asked for.", "ask for at least one.")

    def fit(self, examples: Examples, *, seed: int | None = None) -> Fitted:  # noqa: ARG002 - nothing is random
        """Learn from examples; nothing is random in it."""
        from scipy.spatial import cKDTree

        k = max(1, round(math.log(len(examples)))) if self.k is None else self.k
        distinct, where = np.unique(examples.points, axis=0, return_inverse=True)
        counts = np.zeros((len(distinct), len(examples.space)))
        np.add.at(counts, (where.ravel(), examples.secrets), 1)
        return _Neighbours(cKDTree(distinct), counts, k)


@dataclass(frozen=True, slots=True)
class RandomForest(Classifier):
    """Many trees on random parts of the examples, each asking about random features.

    Attributes:
        trees: How many.
        leaf: The least number of examples in a leaf.
    """

    name: ClassVar[str] = "random forest"
    trees: int = 100
    leaf: int = 5

    def fit(self, examples: Examples, *, seed: int | None = None) -> Fitted:
        """Learn from examples."""
        kind = _ensemble("The attack by a random forest").RandomForestClassifier
        return _fitted(kind(self.trees, min_samples_leaf=self.leaf, random_state=seed), examples)


@dataclass(frozen=True, slots=True)
class GradientBoosting(Classifier):
    """Small trees, each correcting the errors of the ones before it.

    Attributes:
        rounds: How many trees per secret.
        rate: By how much each corrects, from 0 to 1.
    """

    name: ClassVar[str] = "gradient boosting"
    rounds: int = 100
    rate: float = 0.1

    def fit(self, examples: Examples, *, seed: int | None = None) -> Fitted:
        """Learn from examples."""
        kind = _ensemble("The attack by gradient boosting").HistGradientBoostingClassifier
        return _fitted(kind(max_iter=self.rounds, learning_rate=self.rate, random_state=seed), examples)


@dataclass(frozen=True, slots=True)
class _Neighbours(Fitted):
    tree: Any
    counts: Floats
    k: int

    def probabilities(self, points: Floats) -> Floats:
        nearest = np.arange(1, min(self.k, len(self.counts)) + 1)
        beliefs = np.empty((len(points), self.counts.shape[1]))
        for start in range(0, len(points), _CHUNK):
            part = slice(start, start + _CHUNK)
            near = self.counts[self.tree.query(points[part], k=nearest)[1]]
            sizes = near.sum(axis=2)
            wanted = np.cumsum(sizes, axis=1) - sizes < self.k
            seen = (near * wanted[:, :, None]).sum(axis=1)
            beliefs[part] = seen / seen.sum(axis=1, keepdims=True)
        return beliefs


@dataclass(frozen=True, slots=True)
class _Learned(Fitted):
    model: Any
    seen: NDArray[np.intp]
    size: int

    def probabilities(self, points: Floats) -> Floats:
        beliefs = np.zeros((len(points), self.size))
        beliefs[:, self.seen] = self.model.predict_proba(points)
        return beliefs


@dataclass(frozen=True, slots=True)
class _Single(Fitted):
    """The rule learned from examples of one secret only: it is always this one."""

    secret: int
    size: int

    def probabilities(self, points: Floats) -> Floats:
        beliefs = np.zeros((len(points), self.size))
        beliefs[:, self.secret] = 1.0
        return beliefs


def _ensemble(feature: str) -> Any:
    """Return scikit-learn's rules of many trees.

    Raises:
        MissingExtraError: If scikit-learn is not installed.
    """
    try:
        import sklearn.ensemble
    except ImportError:
        raise MissingExtraError(feature, "learn") from None
    return sklearn.ensemble


def _fitted(model: Any, examples: Examples) -> Fitted:
    seen = np.unique(examples.secrets)
    if len(seen) == 1:
        return _Single(int(seen[0]), len(examples.space))
    model.fit(examples.points, examples.secrets)
    return _Learned(model, np.asarray(model.classes_, dtype=np.intp), len(examples.space))
