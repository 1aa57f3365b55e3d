"""Frequency oracles: randomised response, unary encodings and subset selection."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import ClassVar, Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import (
    AliasTables,
    AnyGuarantee,
    Integers,
    LocalPrivacy,
    Mechanism,
    MetricPrivacy,
    Recipe,
    Space,
    Words,
    hamming,
)
from ..core.arrays import Floats
from ..core.immutable import assign
from ..errors import InputError
from ..sampling.coins import draw_below
from .family import MechanismFamily, check_listable, pure_epsilon
from .strict_privacy import lower_exponents, strictly_private

Kind = Literal["symmetric", "optimised"]
_BIT: Final = Space((0, 1))
_ONE: Final = Space(("own",))


class FrequencyOracle(MechanismFamily):
    """A family on k categories whose report supports each category or not.

    The secret's category is supported with probability p, any other with probability q, so (share - q) / (p - q)
    estimates a category's frequency without bias from the share of supporting reports.

    Source:
        Wang, Blocki, Li and Jha, "Locally differentially private protocols for frequency estimation", USENIX
        Security 2017 ("pure" protocols).
    """

    __slots__ = ()
    space: Space
    _epsilon: float

    @property
    def epsilon(self) -> float:
        """The epsilon that was given; every pair attains it."""
        return self._epsilon

    @property
    def secrets(self) -> Space:
        """The categories."""
        return self.space

    @property
    def stated_guarantees(self) -> tuple[AnyGuarantee, ...]:
        """The epsilon between any two categories."""
        return (LocalPrivacy(self.epsilon),)

    def _matrix(self, build: Callable[[float], Floats], reports: Space) -> Mechanism:
        """Return the matrix that ``build`` gives for a scale of epsilon, with its guarantee."""
        matrix = lower_exponents(build, np.array([self._epsilon]), self.space, reports)
        return matrix.promising(MetricPrivacy(self._epsilon, hamming(self.space)))

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """(p, q): the probabilities that a report supports the secret's category, and another one."""

    @abstractmethod
    def support_counts(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Return the number of reports that support each category, array (categories,).

        Reports are an array (reports, ...), as a sampler draws them: positions; k bits; (a, b, bucket) of a hash;
        or the positions of a subset. Others are an `InputError`.
        """

    def estimate_variance(self, frequency: float, reports: int) -> float:
        """Return the variance of a category's estimated frequency, exactly.

        (f p (1 - p) + (1 - f) q (1 - q)) / (reports (p - q)**2) for a fixed population with share f. Raises
        `InputError` if the frequency is not a share, or there are no reports.

        Example:
            >>> import sfumato as sf
            >>> from sfumato.mechanisms import UnaryEncoding
            >>> UnaryEncoding(sf.Space(range(100)), 1.0, "optimised").estimate_variance(0.0, 1000)
            0.003682...
        """
        if not 0 <= frequency <= 1:
            raise InputError(f"the frequency {frequency} is not a share.", "use a number from 0 to 1.")
        if reports < 1:
            raise InputError(f"{reports} reports were given.", "an estimate needs at least one.")
        p, q = self.support
        return (frequency * p * (1 - p) + (1 - frequency) * q * (1 - q)) / (reports * (p - q) ** 2)


@dataclass(frozen=True, slots=True, repr=False)
class UnaryEncoding(FrequencyOracle):
    """Reports one bit per category: the secret's is 1 with probability p, every other with probability q.

    ``symmetric`` (basic RAPPOR, one time): p = e^(epsilon/2) / (e^(epsilon/2) + 1), q = 1 - p. ``optimised``: p =
    1/2, q = 1 / (e^epsilon + 1), the least variance for rare categories. Two secrets change two bits, so the
    likelihood ratio is at most p (1 - q) / (q (1 - p)) = e^epsilon, and attains it. There are at least 2
    categories, and epsilon is a pure number. Raises `InputError` if epsilon is not positive, there is one category
    only, or the kind is unknown.

    Source:
        Erlingsson, Pihur and Korolova, "RAPPOR", CCS 2014; Wang, Blocki, Li and Jha, USENIX Security 2017, section
        4. Proof: docs/proofs/categories.md.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.mechanisms import UnaryEncoding
        >>> UnaryEncoding(sf.Space("abc"), 2.0, "optimised").support
        (0.5, 0.1192...)
    """

    name: ClassVar[str] = "unary encoding"
    space: Space
    kind: Kind
    _epsilon: float

    def __init__(self, space: Space, epsilon: float | str, kind: Kind) -> None:
        if kind not in get_args(Kind):
            raise InputError(f"kind={kind!r} is unknown.", "use 'symmetric' or 'optimised'.")
        assign(self, space=space, kind=kind, _epsilon=categorical(space, epsilon))

    @property
    def support(self) -> tuple[float, float]:
        """(p, q), the probabilities of a 1."""
        return bit_probabilities(self.kind, self._epsilon)

    @property
    def hamming_loss(self) -> float:
        """The loss of the decoder that picks a supported category, or any if there is none, uniformly.

        1 - p (1 - (1 - q)^k) / (k q) - (1 - p) (1 - q)^(k-1) / k. No decoder does better.
        """
        k = len(self.space)
        p, q = self.support
        supported = p * (-math.expm1(k * math.log1p(-q)) / q if q > 0 else k)  # q underflows for large epsilon
        return 1 - (supported + (1 - p) * (1 - q) ** (k - 1)) / k

    def mechanism(self) -> Mechanism:
        """Return the mechanism on all 2^k frozensets of supported labels; `InputError` if k is above about 16."""
        k = len(self.space)
        check_listable(k, 1 << k, f"the {self.kind} unary encoding")
        patterns = np.arange(1 << k)[:, None] >> np.arange(k) & 1
        labels = self.space.labels
        sets = Space([frozenset(labels[i] for i in np.flatnonzero(row)) for row in patterns])

        def build(scale: float) -> Floats:
            other, same = self._bit(scale)[:, patterns.T]
            return np.array(
                [np.vstack([other[:s], same[s : s + 1], other[s + 1 :]]).prod(axis=0) for s in range(k)]
            )

        return self._matrix(build, sets)

    def support_counts(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Return the number of reports with each category's bit set, from bits (reports, k)."""
        bits = reports_of(reports, (len(self.space),), 1, "one bit per category")
        return np.asarray(bits.sum(axis=0), dtype=np.int64)

    def recipe(self) -> Bits:
        """Return the recipe: one bit's mechanism, with a product of both ratios of at most e^epsilon."""
        return Bits(len(self.space), lower_exponents(self._bit, np.array([self._epsilon]), _BIT, _BIT, ratios=2))

    def _bit(self, scale: float) -> Floats:
        return _bit_matrix(self.kind, self._epsilon * scale)


def bit_probabilities(kind: Kind, epsilon: float) -> tuple[float, float]:
    """Return (p, q): the probability that a category's bit is 1, for the secret's category and for others."""
    bit = _bit_matrix(kind, epsilon)
    return float(bit[1, 1]), float(bit[0, 1])


def _bit_matrix(kind: Kind, epsilon: float) -> Floats:
    if kind == "symmetric":
        odds = math.exp(-epsilon / 2)
        return np.array([[1, odds], [odds, 1]]) / (1 + odds)
    odds = math.exp(-epsilon)
    return np.array([[1 / (1 + odds), odds / (1 + odds)], [0.5, 0.5]])


@dataclass(frozen=True, slots=True)
class Bits(Recipe):
    """Send each of ``count`` bits, of which the secret's is 1, through one binary mechanism (2 x 2)."""

    rowwise: ClassVar[bool] = True
    count: int
    bit: Mechanism
    _tables: AliasTables = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_tables", AliasTables.of(self.bit.weights, self.bit.bits))

    @property
    def secrets(self) -> int:
        """The number of categories."""
        return self.count

    @property
    def shape(self) -> tuple[int, ...]:
        """One bit per category."""
        return (self.count,)

    def draw(self, rows: Integers, words: Words) -> NDArray[np.int64]:
        """Return k bits for each row, array (count, k)."""
        same = (rows[:, None] == np.arange(self.count)).astype(np.intp)
        return self._tables.draw(same.ravel(), words).reshape(same.shape).astype(np.int64)


@dataclass(frozen=True, slots=True, repr=False)
class SubsetSelection(FrequencyOracle):
    """Reports a set of d categories; sets with the secret are e^epsilon times as likely as others.

    The secret's category is in it with probability p = d e^epsilon / (d e^epsilon + k - d); given that, the set is
    uniform. For d = 1 it is randomised response. There are k >= 2 categories, and epsilon is a pure number; d is
    from 1 to k - 1, by default the one of least variance for a rare category. Raises `InputError` if epsilon is
    not positive, there is one category only, or d is out of range.

    Source:
        Ye and Barg, "Optimal schemes for discrete distribution estimation under locally differential privacy",
        2018; Wang et al., "Mutual information optimally local private discrete distribution estimation", 2016.
        Proof: docs/proofs/categories.md.
    """

    name: ClassVar[str] = "subset selection"
    space: Space
    size: int
    _epsilon: float

    def __init__(self, space: Space, epsilon: float | str, size: int | None = None) -> None:
        value, k = categorical(space, epsilon), len(space)
        assign(self, space=space, _epsilon=value)
        if size is not None and not 1 <= size < k:
            raise InputError(f"subsets of {size} out of {k} categories were requested.", f"use 1 to {k - 1}.")
        object.__setattr__(self, "size", _best_size(k, value) if size is None else size)

    @property
    def support(self) -> tuple[float, float]:
        """p, and q = p (d - 1) / (k - 1) + (1 - p) d / (k - 1)."""
        return _support(len(self.space), self.size, self._epsilon)

    @property
    def hamming_loss(self) -> float:
        """The loss of the decoder that picks a member of the set uniformly: 1 - p / d. No decoder does better."""
        return 1 - self.support[0] / self.size

    def mechanism(self) -> Mechanism:
        """Return the mechanism on all frozensets of d labels; `InputError` if they are too many to list."""
        k, d = len(self.space), self.size
        check_listable(k, math.comb(k, d), "subset selection")
        sets = list(combinations(range(k), d))
        inside = np.zeros((k, len(sets)), dtype=bool)
        for column, members in enumerate(sets):
            inside[list(members), column] = True
        labels = self.space.labels
        reports = Space([frozenset(labels[i] for i in members) for members in sets])

        def build(scale: float) -> Floats:
            odds = math.exp(-self._epsilon * scale)
            return np.asarray(np.where(inside, 1.0, odds) / (math.comb(k - 1, d - 1) + math.comb(k - 1, d) * odds))

        return self._matrix(build, reports)

    def support_counts(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Return the number of reports that hold each category, from positions (reports, d)."""
        k = len(self.space)
        sets = reports_of(reports, (self.size,), k - 1, "positions of categories")
        return np.bincount(sets.ravel(), minlength=k).astype(np.int64)

    def recipe(self) -> Subset:
        """Return the recipe: a coin for the secret's category, and a uniform subset of the others."""
        k, d = len(self.space), self.size

        def coin(scale: float) -> Floats:
            left_out = (k - d) / d * math.exp(-self._epsilon * scale)
            return np.array([[left_out, 1.0]]) / (1 + left_out)

        return Subset(k, d, lower_exponents(coin, np.array([self._epsilon]), _ONE, _BIT))


@dataclass(frozen=True, slots=True)
class Subset(Recipe):
    """Draw a coin; then a uniform subset of the other categories fills the report of ``size`` of ``count``.

    The coin has one secret and reports 1 where the secret's category is in it, with size - 1 others, else 0.
    """

    count: int
    size: int
    coin: Mechanism
    _tables: AliasTables = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_tables", AliasTables.of(self.coin.weights, self.coin.bits))

    @property
    def secrets(self) -> int:
        """The number of categories."""
        return self.count

    @property
    def shape(self) -> tuple[int, ...]:
        """The positions of the subset, in rising order."""
        return (self.size,)

    def draw(self, rows: Integers, words: Words) -> NDArray[np.int64]:
        """Return one sorted subset for each row, array (count, d), by a partial Fisher-Yates shuffle."""
        n, k, d = len(rows), self.count, self.size
        categories = np.tile(np.arange(k - 1), (n, 1))
        categories += categories >= rows[:, None]
        every = np.arange(n)
        for place in range(min(d, k - 1)):
            partner = place + draw_below(k - 1 - place, n, words)
            swapped = categories[every, partner]
            categories[every, partner] = categories[:, place]
            categories[:, place] = swapped
        sets = categories[:, :d].copy()
        inside = self._tables.draw(np.zeros(n, dtype=np.intp), words) == 1
        sets[inside, d - 1] = rows[inside]
        return np.sort(sets, axis=1)


def _support(k: int, d: int, epsilon: float) -> tuple[float, float]:
    out = (k - d) * math.exp(-epsilon)
    p = d / (d + out)
    return p, (p * (d - 1) + out / (d + out) * d) / (k - 1)


def _best_size(k: int, epsilon: float) -> int:
    """Return the d of least q (1 - q) / (p - q)**2, near k / (e^epsilon + 1)."""
    near = int(k / (math.exp(min(epsilon, 700.0)) + 1))

    def variance(d: int) -> float:
        p, q = _support(k, d, epsilon)
        return q * (1 - q) / (p - q) ** 2

    return min(range(max(1, near - 1), min(k - 1, near + 2) + 1), key=variance)


def randomised_response(space: Space, epsilon: float | str) -> Mechanism:
    """Return k-ary randomised response: the truth with odds exp(epsilon) to 1 against each other value.

    p(s|s) = exp(epsilon) / (exp(epsilon) + k - 1); the other k - 1 values share the rest evenly. It is
    epsilon-locally differentially private: metric privacy for `hamming`. No value has a probability below 2**-71,
    so beyond an epsilon of about 49 it is more private than requested.

    The secrets are also the observables, and epsilon is a pure number. Raises `InputError` if epsilon is not
    positive.

    Source:
        Warner, "Randomized response", 1965; for k values: Kairouz, Oh and Viswanath, "Extremal mechanisms for
        local differential privacy", 2014.
    """

    def build(exponents: Floats) -> Floats:
        matrix = np.exp(-exponents)
        return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))

    return strictly_private(build, space, MetricPrivacy(epsilon, hamming(space)))


@dataclass(frozen=True, slots=True, repr=False)
class RandomisedResponse(FrequencyOracle):
    """k-ary `randomised_response` as a family; `InputError` for epsilon not above 0, or one category only."""

    name: ClassVar[str] = "randomised response"
    space: Space
    _epsilon: float

    def __init__(self, space: Space, epsilon: float | str) -> None:
        assign(self, space=space, _epsilon=categorical(space, epsilon))

    @property
    def support(self) -> tuple[float, float]:
        """(p, q) with p = 1 / (1 + (k - 1) exp(-epsilon)) and q = p exp(-epsilon)."""
        p = 1 / (1 + (len(self.space) - 1) * math.exp(-self._epsilon))
        return p, p * math.exp(-self._epsilon)

    @property
    def hamming_loss(self) -> float:
        """(k - 1) / (exp(epsilon) + k - 1)."""
        return (len(self.space) - 1) * self.support[1]

    def mechanism(self) -> Mechanism:
        """Return `randomised_response` of the space."""
        check_listable(len(self.space), len(self.space), self.name)
        return randomised_response(self.space, self._epsilon)

    @property
    def stated_guarantees(self) -> tuple[AnyGuarantee, ...]:
        """The guarantees of the matrix."""
        return self.mechanism().guarantees

    def support_counts(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Return the number of reports of each category, from positions (reports,)."""
        k = len(self.space)
        return np.bincount(reports_of(reports, (), k - 1, "positions of categories"), minlength=k).astype(np.int64)


def reports_of(reports: ArrayLike, shape: tuple[int, ...], most: int, noun: str) -> NDArray[np.int64]:
    """Return reports as integers from 0 to ``most``, array (reports, *shape); `InputError` for others."""
    array = np.asarray(reports)
    if array.dtype.kind not in "iu" or not array.size or array.shape[1:] != shape:
        raise InputError(
            f"an array of shape {array.shape} and type {array.dtype} was given as reports.",
            f"pass {noun}, as a sampler draws them: integers of shape (reports, {', '.join(map(str, shape))}).",
        )
    wrong = int(array.min()) if int(array.min()) < 0 else int(array.max())
    if not 0 <= wrong <= most:
        raise InputError(f"a report holds the number {wrong}.", f"pass {noun}: integers from 0 to {most}.")
    return array.astype(np.int64, copy=False)


def categorical(space: Space, epsilon: float | str) -> float:
    """Return a pure epsilon for at least two categories; `InputError` for anything else."""
    if len(space) < 2:
        raise InputError("there is one category only.", "one category needs no protection; pass at least two.")
    return pure_epsilon(epsilon)
