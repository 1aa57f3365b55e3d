"""Statements of the thesis that are wrong as printed, each with the number as printed and the right one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...core.frozen import Short
from ...divergences import Renyi
from ...privacy import DifferentialPrivacy, ProbabilisticDifferentialPrivacy, TestingRegion
from .relation import coin
from .relations_tests import RARE

_EPSILON: Final = 1.0
_REGION_DELTA: Final = 0.1
_PARTS: Final = (0.5, 1.0)
_ORDER: Final = 2.0
_SUPPRESSED: Final = 0.1


@dataclass(frozen=True, slots=True, repr=False)
class ErratumRow(Short):
    """A statement that is wrong as printed.

    Attributes:
        erratum: A name of its own.
        where: Its place in the thesis.
        printed: The statement as it is printed.
        right: What is right.
        instance: The channel that tells, in words.
        what: What the numbers are.
        by_print: The number that the print gives.
        found: The number that is found.
    """

    erratum: str
    where: str
    printed: str
    right: str
    instance: str
    what: str
    by_print: float
    found: float


def errata() -> list[ErratumRow]:
    """Return the errata, with their numbers computed."""
    return [_two_names(), _total_error(), _region(), _concentrated(), _logarithm()]


def _two_names() -> ErratumRow:
    errors = TestingRegion.of(coin(_EPSILON).rows).vertices
    grown = math.exp(_EPSILON)
    least = float(((1 + grown) * errors[:, 0]).min())
    return ErratumRow(
        "P_FA twice",
        "2.2.6, hypothesis testing",
        "The probability of a missed detection is called P_FA, as that of a false alarm is.",
        "P_MD = P[M(D2) is not in S]; epsilon-DP is P_FA + e^epsilon P_MD >= 1 and e^epsilon P_FA + P_MD >= 1.",
        "randomised response at epsilon 1, and the test that never rejects",
        "the least P_FA + e^epsilon P_FA",
        1.0,
        least,
    )


def _total_error() -> ErratumRow:
    rows = RARE.rows
    least = TestingRegion.of(rows).lower.least_total_error
    return ErratumRow(
        "or equivalently",
        "2.2.6, hypothesis testing",
        "epsilon-DP, or equivalently P_FA + P_MD >= 2 / (1 + e^epsilon).",
        "The total error follows from epsilon-DP, and does not give it back.",
        f"two rows that share .98, with a least total error of {least:.2f}",
        "the least epsilon",
        2 * math.atanh(1 - least),
        DifferentialPrivacy().measure(rows).value,
    )


def _region() -> ErratumRow:
    return ErratumRow(
        "region",
        "2.2.6, hypothesis testing",
        "The errors of all tests are the set of (a, b) with 1 - a <= e^epsilon b + delta.",
        "They are a part of it, of the same set with a and b exchanged, and of those of 1 - a and 1 - b.",
        "randomised response at epsilon 1, which is (1, .1)-DP",
        "the area of the possible errors",
        1 - (1 - _REGION_DELTA) ** 2 / (2 * math.exp(_EPSILON)),
        TestingRegion.of(coin(_EPSILON).rows).area,
    )


def _concentrated() -> ErratumRow:
    rows = [coin(epsilon).rows for epsilon in _PARTS]
    together = [np.kron(rows[0][s], rows[1][s]) for s in (0, 1)]
    return ErratumRow(
        "xi twice",
        "2.2.9, proposition 18, items 8 to 10",
        "Two mechanisms of (xi1, rho1) and (xi2, rho2) compose to (xi1 + xi2, xi1 + xi2).",
        "They compose to (xi1 + xi2, rho1 + rho2).",
        "two answers by randomised response, at epsilon .5 and 1, both with xi = 0",
        "the Renyi divergence of order 2, at most xi + 2 rho,",
        0.0,
        float(Renyi(_ORDER)(*together)),
    )


def _logarithm() -> ErratumRow:
    delta = _SUPPRESSED
    rows = np.array([[1.0, 0.0], [1 - delta, delta]])
    found = ProbabilisticDifferentialPrivacy(delta=delta + 1e-9).measure(rows)
    return ErratumRow(
        "1 / (1 - delta)",
        "2.2.9, proof of proposition 13",
        "A report suppressed with probability delta makes epsilon 1 / (1 - delta).",
        "The ratio is 1 / (1 - delta), and epsilon is its logarithm.",
        "a report suppressed with probability .1",
        "the least epsilon of probabilistic DP",
        1 / (1 - delta),
        found.value,
    )
