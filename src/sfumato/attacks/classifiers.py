"""Attacks that learn from examples: nearest neighbours, random forests, gradient boosting."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Mechanism, Prior, Space
from ..core.arrays import Floats, Positions, floats, numbers, readonly
from ..core.immutable import assign
from ..errors import InputError, MissingExtraError
from ..leakage import joint_information_bits

__all__ = [
    "Classifier",
    "Confusion",
    "Examples",
    "FittedRule",
    "GradientBoosting",
    "LearnedAttack",
    "NearestNeighbours",
    "RandomForest",
    "learn_attack",
]

_CHUNK: Final = 4096  # outputs looked up at a time


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Examples:
    """Pairs of a secret and a report, the report as numbers.

    Raises `InputError` if sizes differ, or a position is outside the space.

    Args:
        secrets: Array (k,) of positions in the space.
        points: Array (k, features), the reports; (k,) becomes (k, 1).
        space: The secrets.
    """

    secrets: Positions
    points: Floats
    space: Space

    def __init__(self, secrets: ArrayLike, points: ArrayLike, space: Space) -> None:
        positions = floats(secrets, "the secrets", shape=(None,))
        wrong = (positions != np.rint(positions)) | (positions < 0) | (positions >= len(space))
        if wrong.any():
            raise InputError(f"a secret is not a position below {len(space)}.", "pass labels to Examples.of.")
        reports = numbers(points, "the reports")
        reports = reports[:, None] if reports.ndim == 1 else reports
        array = floats(reports, "the reports", shape=(len(positions), None))
        if len(positions) < 2 or array.shape[1] == 0:
            raise InputError(f"{len(positions)} examples of {array.shape[1]} numbers.", "collect at least two.")
        assign(self, secrets=readonly(positions.astype(np.intp)), points=array, space=space)

    @classmethod
    def of(cls, secrets: Iterable[Hashable], outputs: Any, space: Space | None = None) -> Examples:
        """Return the examples of labels and outputs, array (k,) or (k, features), by default on these labels."""
        labels = list(secrets)
        secrets_space = space if space is not None else Space(dict.fromkeys(labels))
        return cls(secrets_space.positions(labels), outputs, secrets_space)

    @classmethod
    def of_mechanism(cls, mechanism: Mechanism, prior: Prior, size: int, *, seed: int | None = None) -> Examples:
        """Return simulated examples of a mechanism: secrets drawn from the prior, and their reports.

        A report becomes the coordinates of its observable, where there are coordinates; else a unit vector, so
        that different observables are equally far apart. A seed, for studies, makes the draws reproducible. Raises
        `InputError` if the prior does not fit, or the size is below two.
        """
        joint = mechanism.joint(prior)
        rng = np.random.default_rng(seed)
        cells = rng.choice(joint.size, size=_positive(size), p=joint.ravel() / joint.sum())
        secrets, reports = np.unravel_index(cells, joint.shape)
        places = mechanism.observables.coordinates
        points = np.eye(joint.shape[1]) if places is None else places
        return cls(secrets, points[reports], mechanism.secrets)

    @classmethod
    def of_black_box(
        cls, ask: Callable[[Hashable], Any], prior: Prior, size: int, *, seed: int | None = None
    ) -> Examples:
        """Return the answers of a function, numbers or rows of numbers, for secrets drawn from the prior.

        It is called ``size`` times, at least two. The seed is of the choice of the secrets; the function has its
        own randomness. Answers of different shapes are an `InputError`.
        """
        rng = np.random.default_rng(seed)
        p = prior.probabilities / prior.probabilities.sum()
        secrets = rng.choice(len(prior), size=_positive(size), p=p)
        answers = [np.atleast_1d(numbers(ask(prior.space.labels[s]), "the answer")) for s in secrets]
        if len({answer.shape for answer in answers}) > 1:
            raise InputError("the answers differ in shape.", "return as many numbers for every secret.")
        return cls(secrets, np.stack(answers), prior.space)

    def __len__(self) -> int:
        return len(self.secrets)

    def __repr__(self) -> str:
        k = self.points.shape[1]
        return f"Examples: {len(self)} reports of {k} number{'s' if k > 1 else ''}, {len(self.space)} secrets"

    @property
    def shares(self) -> Floats:
        """The share of each secret, array (secrets,)."""
        return np.asarray(np.bincount(self.secrets, minlength=len(self.space)) / len(self))

    def split(self, share: float, *, seed: int | None = None) -> tuple[Examples, Examples]:
        """Return a random part, with a share between 0 and 1 of the examples, and the rest.

        Raises `InputError` if a part would have fewer than two examples.
        """
        first = round(share * len(self)) if 0 < share < 1 else 0
        if not 2 <= first <= len(self) - 2:
            raise InputError(
                f"a share of {share} of {len(self)} examples leaves a part without two of them.",
                "use a share between 0 and 1, such as 0.5, or more examples.",
            )
        order = np.random.default_rng(seed).permutation(len(self))
        head, tail = order[:first], order[first:]
        left = Examples(self.secrets[head], self.points[head], self.space)
        return left, Examples(self.secrets[tail], self.points[tail], self.space)


def _positive(size: int) -> int:
    if size < 2:
        raise InputError(f"{size} examples were requested.", "use at least two.")
    return size


class FittedRule(ABC):
    """A rule that has learned."""

    __slots__ = ()

    @abstractmethod
    def probabilities(self, points: Floats) -> Floats:
        """Return the believed posterior of each report, array (k, secrets), for points (k, features)."""

    def guesses(self, points: Floats) -> Positions:
        """Return the position of the most probable secret of each report, array (k,)."""
        return np.asarray(self.probabilities(points).argmax(axis=1))


class Classifier(ABC):
    """A rule that can learn from examples."""

    __slots__ = ()

    name: ClassVar[str]

    @abstractmethod
    def fit(self, examples: Examples, *, seed: int | None = None) -> FittedRule:
        """Return the rule that has learned from examples; a seed, for studies, makes it reproducible.

        Raises `MissingExtraError` if the library that the rule comes from is not installed.
        """


@dataclass(frozen=True, slots=True)
class NearestNeighbours(Classifier):
    """The secret that is most frequent among the k nearest examples, with all that are as near as the last.

    Equal outputs are thus counted together, and where each was seen k times it is the frequentist's guess. With k
    = 1 and outputs that never repeat, its error tends to at most R (2 - R n / (n - 1)), R being the Bayes error
    and n the number of secrets (Cover and Hart, 1967). With k growing, and k / examples tending to 0, it tends to
    the Bayes error itself, for every distribution (Stone, 1977), but at no common rate.

    Attributes:
        k: The number of neighbours; None for the natural logarithm of the number of examples.

    Source:
        Cherubin, Chatzikokolakis and Palamidessi, "F-BLEAU", S&P 2019.
    """

    name: ClassVar[str] = "nearest neighbours"
    k: int | None = None

    def __post_init__(self) -> None:
        if self.k is not None and self.k < 1:
            raise InputError(f"{self.k} neighbours were requested.", "use at least one.")

    def fit(self, examples: Examples, *, seed: int | None = None) -> FittedRule:  # noqa: ARG002 - nothing is random
        """Return the rule that has learned from examples; nothing is random in it."""
        from scipy.spatial import cKDTree

        k = max(1, round(math.log(len(examples)))) if self.k is None else self.k
        distinct, where = np.unique(examples.points, axis=0, return_inverse=True)
        counts = np.zeros((len(distinct), len(examples.space)))
        np.add.at(counts, (where.ravel(), examples.secrets), 1)
        return _Neighbours(cKDTree(distinct), counts, k)


@dataclass(frozen=True, slots=True)
class RandomForest(Classifier):
    """Many trees on random parts of the examples and features, with ``leaf`` or more examples in a leaf."""

    name: ClassVar[str] = "random forest"
    trees: int = 100
    leaf: int = 5

    def fit(self, examples: Examples, *, seed: int | None = None) -> FittedRule:
        """Return the rule that has learned from examples."""
        kind = _ensemble("The attack by a random forest").RandomForestClassifier
        return _fit(kind(self.trees, min_samples_leaf=self.leaf, random_state=seed), examples)


@dataclass(frozen=True, slots=True)
class GradientBoosting(Classifier):
    """Small trees, ``rounds`` per secret, each correcting the ones before it by the ``rate``, from 0 to 1."""

    name: ClassVar[str] = "gradient boosting"
    rounds: int = 100
    rate: float = 0.1

    def fit(self, examples: Examples, *, seed: int | None = None) -> FittedRule:
        """Return the rule that has learned from examples."""
        kind = _ensemble("The attack by gradient boosting").HistGradientBoostingClassifier
        return _fit(kind(max_iter=self.rounds, learning_rate=self.rate, random_state=seed), examples)


@dataclass(frozen=True, slots=True)
class _Neighbours(FittedRule):
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
            mask = np.cumsum(sizes, axis=1) - sizes < self.k
            votes = (near * mask[:, :, None]).sum(axis=1)
            beliefs[part] = votes / votes.sum(axis=1, keepdims=True)
        return beliefs


@dataclass(frozen=True, slots=True)
class _Model(FittedRule):
    """A model of the secrets that examples had; None where that was one secret only, which is then certain."""

    model: Any
    classes: Positions
    size: int

    def probabilities(self, points: Floats) -> Floats:
        beliefs = np.zeros((len(points), self.size))
        beliefs[:, self.classes] = 1.0 if self.model is None else self.model.predict_proba(points)
        return beliefs


def _ensemble(feature: str) -> Any:
    """Return scikit-learn's ensembles of trees; `MissingExtraError` without it."""
    try:
        import sklearn.ensemble
    except ImportError:
        raise MissingExtraError(feature, "learn") from None
    return sklearn.ensemble


def _fit(model: Any, examples: Examples) -> FittedRule:
    classes = np.unique(examples.secrets)
    if len(classes) == 1:
        return _Model(None, classes, len(examples.space))
    model.fit(examples.points, examples.secrets)
    return _Model(model, np.asarray(model.classes_, dtype=np.intp), len(examples.space))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Confusion:
    """The number of guesses of each secret for each true one.

    Row x and column y of the array (secrets, guesses) count the guesses y where x was true. Raises `InputError` if
    the array is not square, empty of counts, or has an entry that is negative or not whole.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, equations 18 to 22.

    Example:
        >>> from sfumato.attacks.classifiers import Confusion
        >>> Confusion([[8, 2], [4, 6]])
        Confusion of 20 guesses among 2 secrets: accuracy 0.7, F1 0.697
    """

    counts: NDArray[np.int64]

    def __init__(self, counts: ArrayLike) -> None:
        array = floats(counts, "the counts", shape=(None, None))
        if array.shape[0] != array.shape[1]:
            raise InputError(f"the counts are {array.shape[0]} x {array.shape[1]}.", "they must be square.")
        if (array < 0).any() or (array != np.rint(array)).any() or not array.sum() > 0:
            raise InputError("counts are negative, not whole, or all zero.", "pass how often each guess was made.")
        object.__setattr__(self, "counts", readonly(array.astype(np.int64)))

    @classmethod
    def of(cls, secrets: Positions, guesses: Positions, size: int) -> Confusion:
        """Return the counts of pairs of positions of secrets and guesses, arrays (k,), among ``size`` secrets."""
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
        scores = _shares(2 * np.diagonal(self.counts), rows + columns)
        return float(scores[rows > 0].mean())

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
    return np.asarray(np.divide(hits, trials, out=np.zeros(len(hits)), where=trials > 0))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LearnedAttack:
    """A learned attack and its success on examples that it had not seen.

    It is one attacker, so it proves no privacy. Others may do better: on average its error is never below the
    Bayes error of the mechanism.

    Attributes:
        name: The name of the rule in texts.
        rule: The rule that has learned.
        confusion: The guesses for the held-out examples.
        space: The secrets.
        learned_from: The number of examples that it learned from.
        blind_hits: The hits of a guess without the report, on the secret most frequent among the learned examples,
            among the held-out ones.
    """

    name: str
    rule: FittedRule
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
        """The gain in the share of right guesses over a guess without the report; negative if it is less."""
        return self.confusion.accuracy - self.blind_hits / len(self.confusion)

    def __repr__(self) -> str:
        return (
            f"LearnedAttack by {self.name}: error {self.error:.4g} on {len(self.confusion)} held-out examples, "
            f"{1 - self.blind_hits / len(self.confusion):.4g} without the report"
        )


def learn_attack(
    examples: Examples,
    rule: Classifier,
    held_out: Examples | None = None,
    *,
    share: float = 0.5,
    seed: int | None = None,
) -> LearnedAttack:
    """Return an attack learned from examples and judged on others.

    Held-out examples judge; by default they are a random part of those given, of which the share learns. A seed,
    for studies, makes the split and the rule reproducible. Raises `InputError` if there are too few examples.
    Raises `MissingExtraError` if the rule's library is not installed.

    Source:
        Cherubin, Chatzikokolakis and Palamidessi, S&P 2019.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.attacks.classifiers import Examples, NearestNeighbours, learn_attack
        >>> truth = sf.Mechanism([[1.0, 0.0], [0.0, 1.0]])
        >>> examples = Examples.of_mechanism(truth, sf.Prior.uniform(truth.secrets), 100, seed=1)
        >>> learn_attack(examples, NearestNeighbours(), seed=1).error
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
