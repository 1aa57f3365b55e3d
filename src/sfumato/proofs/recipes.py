"""Proofs of promises from recipes, whose reports are too many to list: noise on whole numbers, bits and subsets.

Every bound is exact: a fraction, or the logarithm of one, rounded up. docs/proofs/recipes.md.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..rounding import Logarithm


def laplace_epsilon(scale: Fraction, sensitivity: int) -> Fraction:
    """Return the epsilon of noise k with probability proportional to exp(-|k| / scale), exactly.

    ``| |o - s| - |o - s'| | <= |s - s'|``, so the exponents differ by at most |s - s'| / scale, and do where the
    report lies beyond both.

    Args:
        scale: Positive.
        sensitivity: The largest difference of the two true numbers.

    Raises:
        InputError: If an argument is not positive.
    """
    _positive(scale=scale, sensitivity=sensitivity)
    return sensitivity / scale


def staircase_epsilon(epsilon: Fraction, width: int, step: int, sensitivity: int) -> Fraction:
    """Return an epsilon of noise k with probability proportional to exp(-epsilon stair(|k|)).

    With |k| = q width + j, the stair is q for j < step and q + 1 beyond. It never falls, and
    stair(m + width) = stair(m) + 1; so of two true numbers n widths apart or less it differs by at most n.

    Args:
        epsilon: The fall of one stair, positive.
        width: The width of a stair.
        step: How much of it lies before the fall, 1 to ``width``.
        sensitivity: The largest difference of the two true numbers.

    Raises:
        InputError: If an argument is not positive, or the step is wider than the stair.
    """
    _positive(epsilon=epsilon, width=width, step=step, sensitivity=sensitivity)
    if step > width:
        raise InputError(f"the step {step} is wider than the stair, {width}.", "use 1 to the stair's width.")
    return -(-sensitivity // width) * epsilon


def gaussian_rho(variance: Fraction, sensitivity: int) -> Fraction:
    """Return rho of noise k with probability proportional to exp(-k**2 / (2 variance)), exactly.

    The Renyi divergence of order a of two answers is at most a rho, for every a > 1.

    Args:
        variance: Positive.
        sensitivity: The largest difference of the two true numbers.

    Raises:
        InputError: If an argument is not positive.

    Source:
        Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", 2020, theorem 4 (rho is
        epsilon**2 / 2 there, for sigma**2 = sensitivity**2 / epsilon**2).
    """
    _positive(variance=variance, sensitivity=sensitivity)
    return Fraction(sensitivity**2) / (2 * variance)


def bits_epsilon(weights: NDArray[np.generic]) -> float:
    """Return the epsilon of one bit for each category, all drawn independently, rounded up.

    Two categories change two bits, one from the row of 0 to that of 1 and one back: the likelihood ratio is at
    most that of the one bit times that of the other.

    Args:
        weights: The integers of the mechanism of a bit, array (2, 2): the rows of another category's bit and of
            the own.

    Returns:
        The bound; infinite where a bit can never come of one of the two rows.
    """
    ratios = [_ratio(own, other) for other, own in zip(*weights.tolist(), strict=True)]
    inverse = [_ratio(other, own) for other, own in zip(*weights.tolist(), strict=True)]
    return _logarithm_of(_most(ratios), _most(inverse))


def subset_epsilon(categories: int, size: int, left_out: int, inside: int) -> float:
    """Return the epsilon of a set of categories that holds the own one or not, and is uniform given that; above.

    A set that holds the own category has the probability inside / C(k - 1, d - 1), and one that does not
    left_out / C(k - 1, d), up to the same factor.

    Args:
        categories: The number k of categories, at least 2.
        size: The number d of categories in a report, 1 to k - 1.
        left_out: The integer weight of reports without the own category.
        inside: That of reports that hold it.

    Raises:
        InputError: If there is no such report.
    """
    if not 1 <= size < categories:
        raise InputError(f"subsets of {size} out of {categories} categories have no promise.", "use 1 to k - 1.")
    held, missing = inside * comb(categories - 1, size), left_out * comb(categories - 1, size - 1)
    return _logarithm_of(_most([_ratio(held, missing), _ratio(missing, held)]))


def _ratio(above: int, below: int) -> Fraction | None:
    """Return how many times likelier one is; None for infinitely, 1 where neither happens."""
    if below:
        return Fraction(above, below)
    return None if above else Fraction(1)


def _most(ratios: list[Fraction | None]) -> Fraction | None:
    known = [each for each in ratios if each is not None]
    return max(known) if len(known) == len(ratios) else None


def _logarithm_of(*factors: Fraction | None) -> float:
    product = Fraction(1)
    for each in factors:
        if each is None:
            return float("inf")
        product *= each
    return Logarithm(max(product, Fraction(1)))


def _positive(**values: Fraction | int) -> None:
    for name, value in values.items():
        if not value > 0:
            raise InputError(f"the {name} is {value}.", "use a positive number.")
