"""Proved designs over epsilon, and mixtures of two neighbours."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Bracket
from ..core.arrays import Floats
from ..core.immutable import CompactRepr
from ..errors import InputError, argument
from ..rounding import down, up

Compact = NDArray[np.float32]

_ROOM: Final = 1e-9  # of a step between two designs: for the rounding of logarithms


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LineDesign(CompactRepr):
    """One proved design of a line, with its rows in single precision.

    Attributes:
        name: Its name.
        epsilon: Its guarantee.
        rows: Array (n, m) of p(o|s), for pictures, never for sampling.
        loss: Its expected loss.
        error: The best attacker's error; None where that has no meaning.
        found: The best attacker's chance to find the secret.
    """

    name: str
    epsilon: float
    rows: Compact
    loss: Bracket
    error: Bracket | None
    found: Bracket


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Blend(CompactRepr):
    """The mechanism that uses one of two proved designs, chosen by a biased coin.

    It guarantees the larger epsilon of the two. Its expected loss is the mean of theirs. The attacker's error is
    at least the mean of the two errors, and the chance to find the secret at most the mean of the two chances,
    because learning the coin cannot harm an attacker.

    Attributes:
        lower: The design of the smaller epsilon.
        upper: The design of the larger one; the same where epsilon is that of a design.
        share: The probability of the upper one.
    """

    lower: LineDesign
    upper: LineDesign
    share: float

    @property
    def single(self) -> bool:
        """Whether it is one design, and no mixture."""
        return self.lower is self.upper

    @property
    def loss(self) -> Bracket:
        """The expected loss."""
        return self._mean(self.lower.loss, self.upper.loss)

    @property
    def error(self) -> Bracket | None:
        """The error of the best attacker; a mixture has no upper bound."""
        if self.lower.error is None or self.upper.error is None:
            return None
        mean = self._mean(self.lower.error, self.upper.error)
        return mean if self.single else Bracket(mean.lower, mean.value, math.inf)

    @property
    def found(self) -> Bracket:
        """The chance that the best attacker finds the secret; the lower bound of a mixture is 0."""
        mean = self._mean(self.lower.found, self.upper.found)
        return mean if self.single else Bracket(0.0, mean.value, mean.upper)

    @property
    def rows(self) -> Floats:
        """The rows, array (n, m), each with sum one up to float rounding."""
        if self.single:
            return _whole(self.lower.rows)
        return _whole((1 - self.share) * self.lower.rows.astype(float) + self.share * self.upper.rows)

    def row(self, secret: int) -> Floats:
        """Return the probabilities of reports from one secret, array (m,)."""
        low, high = self.lower.rows[secret].astype(float), self.upper.rows[secret]
        return _whole((1 - self.share) * low + self.share * high)

    def _mean(self, low: Bracket, high: Bracket) -> Bracket:
        if self.single:
            return low
        ends = [
            (1 - self.share) * a + self.share * b
            for a, b in ((low.lower, high.lower), (low.value, high.value), (low.upper, high.upper))
        ]
        lower, upper = down(down(ends[0])), up(up(ends[2]))
        return Bracket(lower, min(max(ends[1], lower), upper), upper)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignLine(CompactRepr):
    """Proved designs by rising epsilon, on the same secrets and observables.

    Args:
        designs: At least one.

    Raises:
        InputError: If there is none, or sizes differ.
    """

    designs: tuple[LineDesign, ...] = field(init=False)

    def __init__(self, designs: Iterable[LineDesign]) -> None:
        ordered = tuple(sorted(designs, key=lambda each: each.epsilon))
        if not ordered:
            raise InputError("there is no design for the line.", "make some designs first.")
        if len({each.rows.shape for each in ordered}) > 1:
            raise InputError("the designs of a line differ in size.", "make them on the same secrets.")
        object.__setattr__(self, "designs", ordered)

    def at(self, epsilon: float) -> Blend:
        """Return the mixture for an epsilon between two designs, in equal steps of its logarithm.

        Args:
            epsilon: From the smallest of the designs to the largest.

        Raises:
            InputError: If it is outside.
        """
        first, last = self.designs[0], self.designs[-1]
        if not first.epsilon <= epsilon <= last.epsilon:
            raise InputError(
                f"{argument('epsilon', epsilon)} is outside the range of the designs.",
                f"use {first.epsilon:.6g} to {last.epsilon:.6g}.",
            )
        place = bisect.bisect_left([each.epsilon for each in self.designs], epsilon)
        upper = self.designs[place]
        if upper.epsilon == epsilon:
            return Blend(upper, upper, 1.0)
        lower = self.designs[place - 1]
        share = math.log(epsilon / lower.epsilon) / math.log(upper.epsilon / lower.epsilon)
        return Blend(lower, upper, min(max(share, 0.0), 1.0))

    def for_loss(self, limit: float) -> float | None:
        """Return the smallest epsilon whose mixture loses at most ``limit``; None where none does."""
        if self.designs[0].loss.upper <= limit:
            return self.designs[0].epsilon
        for low, high in zip(self.designs, self.designs[1:], strict=False):
            if high.loss.upper <= limit:
                share = (low.loss.upper - limit) / (low.loss.upper - high.loss.upper)
                return _between(low, high, share + _ROOM)
        return None

    def for_found(self, limit: float) -> float | None:
        """Return the largest epsilon up to which no mixture is found more often than ``limit``; None for none."""
        if self.designs[0].found.upper > limit:
            return None
        for low, high in zip(self.designs, self.designs[1:], strict=False):
            if high.found.upper > limit:
                share = (limit - low.found.upper) / (high.found.upper - low.found.upper)
                return _between(low, high, share - _ROOM)
        return self.designs[-1].epsilon


def likeliest(probabilities: ArrayLike, share: float) -> NDArray[np.intp]:
    """Return the smallest set of values that together have at least this probability, most probable first.

    Args:
        probabilities: Array (m,), with sum one.
        share: From 0 to 1.
    """
    masses = np.asarray(probabilities, dtype=float)
    order = np.argsort(-masses, kind="stable")
    count = int(np.searchsorted(np.cumsum(masses[order]), share * (1 - 1e-12))) + 1
    return order[: min(count, len(order))]


def _between(low: LineDesign, high: LineDesign, share: float) -> float:
    return low.epsilon * math.pow(high.epsilon / low.epsilon, min(max(share, 0.0), 1.0))


def _whole(rows: Floats | Compact) -> Floats:
    """Return rows scaled to sum one, which single precision lost."""
    doubles = np.asarray(rows, dtype=float)
    whole: Floats = doubles / doubles.sum(axis=-1, keepdims=True)
    return whole
