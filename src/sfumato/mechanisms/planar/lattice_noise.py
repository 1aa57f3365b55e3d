"""Planar geometric noise on the square lattice: probability proportional to exp(-rate |z|), drawn exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core import Bracket, Words
from ...core.immutable import Immutable
from ...errors import InputError
from ...sampling import ScalarCoins
from ..discrete_laplace import LaplaceNoise
from ..noise import check_scale
from . import sums
from .root_coins import RootExponent

Integers = NDArray[np.signedinteger[Any]]

_BLOCK: Final = 1 << 15  # tries at a time: what a block needs stays in the processor's cache
_FINE: Final = 1 << 10  # how finely the scale of the proposal is chosen


@dataclass(frozen=True, slots=True)
class LatticeNoise(Immutable):
    """Noise z = (i, j) in whole steps with probability exp(-rate |z|) / Z, |z| the Euclidean length.

    Both coordinates are drawn from discrete Laplace noise of a rational slope just below
    rate / sqrt(2), and the pair is accepted with probability exp(-(rate |z| - slope (|i| + |j|))):
    the exponent is never negative, as |i| + |j| <= sqrt(2) |z|. About pi / 4 of all pairs are
    accepted where the rate is small. No float decides about a draw, whose time depends on the
    noise alone.

    Attributes:
        rate: Per step, a positive rational number.
        exponent: The exponent of the acceptance.
        proposal: The noise of each coordinate.

    Raises:
        InputError: If the rate is not positive, or too small for the words that samplers use.

    Source:
        docs/proofs/planar-noise.md; the coins are those of Canonne, Kamath and Steinke, "The
        discrete Gaussian for differential privacy", 2020.

    Example:
        >>> from fractions import Fraction
        >>> from sfumato.sampling import SeededWords
        >>> LatticeNoise(Fraction(1, 500)).noise(2, SeededWords(7))
        array([[...]])
    """

    rate: Fraction
    exponent: RootExponent = field(init=False, repr=False, compare=False)
    proposal: LaplaceNoise = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.rate > 0:
            raise InputError(f"the rate {self.rate} is not positive.", "use a number above 0.")
        scale = _scale(self.rate)
        check_scale(scale)
        object.__setattr__(self, "exponent", RootExponent(self.rate, 1 / scale))
        object.__setattr__(self, "proposal", LaplaceNoise(scale))

    def noise(self, count: int, words: Words) -> NDArray[np.int64]:
        """Return independent noise in steps, array (count, 2)."""
        found: list[NDArray[np.int64]] = []
        missing = count
        while missing > 0:
            accepted = self._accepted(min(_BLOCK, missing + missing // 2 + 16), words)[:missing]
            found.append(accepted)
            missing -= len(accepted)
        return np.concatenate(found) if found else np.empty((0, 2), dtype=np.int64)

    def noise_one(self, coins: ScalarCoins) -> tuple[int, int]:
        """Return one noise in steps, drawn with plain integers; see `noise`."""
        while True:
            i, j = coins.signed(self.proposal.scale), coins.signed(self.proposal.scale)
            if self.exponent.accepted_one(i, j, coins):
                return i, j

    def _accepted(self, tries: int, words: Words) -> NDArray[np.int64]:
        proposed = self.proposal.noise(2 * tries, words).reshape(tries, 2)
        accepted: NDArray[np.int64] = proposed[self.exponent.accepted(proposed, words)]
        return accepted

    @property
    def acceptance(self) -> Bracket:
        """The share of proposals that is accepted, Z tanh(slope / 2)**2, between proved bounds."""
        total = sums.total(self.rate)
        most = math.tanh(float(self.exponent.slope) / 2) ** 2
        return Bracket(total.lower * most * (1 - 1e-12), total.value * most, total.upper * most * (1 + 1e-12))


def _scale(rate: Fraction) -> Fraction:
    """Return a rational number that is at least sqrt(2) / rate, and close to it."""
    s = max(1, math.ceil(rate * _FINE))
    p, q = rate.numerator, rate.denominator
    return Fraction(isqrt((2 * s * s * q * q - 1) // (p * p)) + 1, s)
