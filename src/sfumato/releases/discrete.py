"""Exact noise on all integers, from whole random bits."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..mechanisms import Family, GaussianNoise, LaplaceNoise, Noise, StaircaseNoise
from .entropy import SystemWords, Words

_BLOCK = 1 << 16
Integers = NDArray[Any]
Truths = NDArray[np.bool_]
Recipe = LaplaceNoise | GaussianNoise | StaircaseNoise


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NoiseSampler:
    """Adds discrete Laplace, Gaussian or staircase noise with the operating system's randomness.

    Every probability is exact: all coins have rational probabilities and are thrown by
    comparing random words with integers; no float takes part. It takes no seed. The time
    a draw takes depends on the noise drawn, never on the answer.

    Args:
        family: Noise on all integers, such as `DiscreteLaplace`.

    Attributes:
        family: The family.

    Raises:
        InputError: If the family is for studies only, or is not noise on all integers.

    Source:
        Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy",
        2020, algorithms 1 to 3.
    """

    family: Noise
    _noise: Recipe
    _words: Words

    def __init__(self, family: Family) -> None:
        if family.study_only:
            raise InputError(
                f"{family.name} is for studies only and cannot be released.",
                f"use {family.instead}.",
            )
        steps = family.steps() if isinstance(family, Noise) else None
        if not isinstance(steps, LaplaceNoise | GaussianNoise | StaircaseNoise):
            raise InputError(f"{family.name} is not noise on all integers.", "use sampler(family.mechanism()).")
        object.__setattr__(self, "family", family)
        object.__setattr__(self, "_noise", steps)
        object.__setattr__(self, "_words", SystemWords())

    def __repr__(self) -> str:
        return f"NoiseSampler of {self.family!r}: exact, cryptographic"

    def noise(self, count: int) -> NDArray[np.int64]:
        """Return fresh, independent noise, array (count,)."""
        return draw_noise(self._noise, count, self._words)

    def draw(self, answers: ArrayLike) -> NDArray[np.int64]:
        """Return the answers with fresh noise added to each.

        Args:
            answers: Integers of any shape, of magnitude below 2**62.

        Raises:
            InputError: If the answers are not such integers.
        """
        given = np.asarray(answers)
        if given.dtype.kind not in "iu" or (given.size and max(int(given.max()), -int(given.min())) >= 1 << 62):
            raise InputError(
                "the answers are not integers below 2**62.", "round them to multiples of a unit, and count these."
            )
        return given.astype(np.int64) + self.noise(given.size).reshape(given.shape)


def draw_noise(noise: Recipe, count: int, words: Words) -> NDArray[np.int64]:
    """Return independent noise of the recipe, array (count,).

    Args:
        noise: The recipe.
        count: How many.
        words: Where the randomness comes from.
    """
    found: list[NDArray[np.int64]] = []
    missing = count
    while missing > 0:
        accepted = _accepted(noise, min(_BLOCK, 2 * missing + 64), words)[:missing]
        found.append(accepted)
        missing -= len(accepted)
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


def _accepted(noise: Recipe, tries: int, words: Words) -> NDArray[np.int64]:
    """Return the draws that were accepted out of ``tries``."""
    if isinstance(noise, GaussianNoise):
        return _gaussian(noise, tries, words)
    if isinstance(noise, StaircaseNoise):
        return _staircase(noise, tries, words)
    return _signed(_magnitudes(noise.scale, tries, words), words)


def _magnitudes(scale: Fraction, tries: int, words: Words) -> Integers:
    """Return k >= 0 with probability proportional to exp(-k / scale), accepted out of ``tries`` (algorithm 2).

    For the scale t / s it is floor((u + t v) / s): u below t is accepted with
    probability exp(-u / t), and v + 1 coins of probability exp(-1) are thrown.
    """
    t, s = scale.numerator, scale.denominator
    u = below(t, tries, words)
    u = u[_decays(u, t, words)]
    v = _successes(len(u), words)
    if max(t, s).bit_length() + int(v.max(initial=0)).bit_length() > 61:
        u, v = u.astype(object), v.astype(object)
    magnitudes: Integers = (u + t * v) // s
    if len(magnitudes) and int(magnitudes.max()) >= 1 << 62:
        raise InputError("noise of more than 2**62 was drawn.", "use a coarser unit.")
    return magnitudes.astype(np.int64)


def _gaussian(noise: GaussianNoise, tries: int, words: Words) -> NDArray[np.int64]:
    """Return accepted draws of the proposal (algorithm 3)."""
    k = draw_noise(noise.proposal, tries, words)
    distinct, where = np.unique(np.abs(k), return_inverse=True)
    gammas = [noise.rejection(magnitude) for magnitude in distinct.tolist()]
    base = lcm(*(gamma.denominator for gamma in gammas))
    whole = np.array([gamma.numerator // gamma.denominator for gamma in gammas], dtype=object)[where]
    parts = np.array([int(gamma % 1 * base) for gamma in gammas], dtype=object)[where]
    kept = _decays(parts, base, words)
    steep = np.flatnonzero(kept & np.asarray(whole > 0, dtype=bool))
    kept[steep] = np.asarray(_successes(len(steep), words) >= whole[steep], dtype=bool)
    accepted: NDArray[np.int64] = k[kept]
    return accepted


def _staircase(noise: StaircaseNoise, tries: int, words: Words) -> NDArray[np.int64]:
    """Return accepted draws: a place in a stair, late ones with probability exp(-epsilon), and its number."""
    place = below(noise.width, tries, words)
    kept = (place < noise.step) | (_stairs(noise.epsilon, tries, words) > 0)
    place = place[kept]
    return _signed(_stairs(noise.epsilon, len(place), words) * noise.width + place, words)


def _stairs(epsilon: Fraction, count: int, words: Words) -> Integers:
    """Return k >= 0 with probability proportional to exp(-epsilon k), array (count,)."""
    found = np.empty(0, dtype=np.int64)
    while len(found) < count:
        more = _magnitudes(1 / epsilon, 2 * (count - len(found)) + 16, words)
        found = np.concatenate([found, more])
    return found[:count]


def _signed(magnitude: Integers, words: Words) -> NDArray[np.int64]:
    """Return the magnitudes with random signs; of both zeros one is rejected."""
    negative = words.draw(len(magnitude)) >> np.uint64(63) == 1
    signed: NDArray[np.int64] = np.where(negative, -magnitude, magnitude)[~(negative & (magnitude == 0))]
    return signed


def _successes(count: int, words: Words) -> NDArray[np.int64]:
    """Return how many coins of probability exp(-1) succeed in a row, array (count,).

    It is `_decays` for n / d = 1, whose first coin always succeeds.
    """
    successes = np.zeros(count, dtype=np.int64)
    alive = np.arange(count)
    while alive.size:
        alive = alive[_first_failure_odd(np.ones(alive.size, dtype=np.int64), 1, 2, words)]
        successes[alive] += 1
    return successes


def _decays(numerators: Integers, denominator: int, words: Words) -> Truths:
    """Throw coins of probability exp(-n / d), 0 <= n < d (algorithm 1).

    The first failure among coins of probability n / d, n / (2 d), n / (3 d), ... has an
    odd number with this probability.
    """
    return _first_failure_odd(numerators, denominator, 1, words)


def _first_failure_odd(numerators: Integers, denominator: int, start: int, words: Words) -> Truths:
    odd = np.zeros(len(numerators), dtype=bool)
    alive, k = np.arange(len(numerators)), start
    while alive.size:
        success = _coins(numerators[alive], denominator * k, words)
        odd[alive[~success]] = k % 2 == 1
        alive, k = alive[success], k + 1
    return odd


def _coins(numerators: Integers, denominator: int, words: Words) -> Truths:
    """Throw coins of probability n / d, 0 <= n < d: random digits in base 2**64 against those of n / d."""
    digits, rest = _digit(numerators, denominator)
    word = words.draw(len(digits))
    success: Truths = word < digits
    tie = np.flatnonzero(word == digits)
    if tie.size:
        success[tie] = _coins(rest[tie], denominator, words)
    return success


def _digit(numerators: Integers, denominator: int) -> tuple[NDArray[np.uint64], Integers]:
    """Return floor(2**64 n / d) and the remainder, by exact integers."""
    if denominator < 1 << 32:
        d, half = np.uint64(denominator), np.uint64(32)
        high, rest = np.divmod(numerators.astype(np.uint64) << half, d)
        low, rest = np.divmod(rest << half, d)
        return high << half | low, rest
    distinct, where = np.unique(numerators, return_inverse=True)
    parts = [divmod(int(numerator) << 64, denominator) for numerator in distinct.tolist()]
    digits = np.array([digit for digit, _ in parts], dtype=np.uint64)
    return digits[where], np.array([rest for _, rest in parts], dtype=object)[where]


def below(bound: int, count: int, words: Words) -> Integers:
    """Return uniform integers from 0 to bound - 1, array (count,): int64, or Python's where bound needs them."""
    bits = (bound - 1).bit_length()
    if bits == 0:
        return np.zeros(count, dtype=np.int64)
    found = _bits(bits, count, words)
    bad = np.flatnonzero(np.asarray(found >= bound, dtype=bool))
    while bad.size:
        found[bad] = _bits(bits, bad.size, words)
        bad = bad[np.asarray(found[bad] >= bound, dtype=bool)]
    return found


def _bits(bits: int, count: int, words: Words) -> Integers:
    if bits <= 62:
        return (words.draw(count) >> np.uint64(64 - bits)).astype(np.int64)
    number = words.draw(count).astype(object) >> (-bits % 64)
    for _ in range((bits - 1) // 64):
        number = (number << 64) | words.draw(count).astype(object)
    return number
