"""Statements of the thesis that are wrong as printed: their words, the number as printed and the right one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.core.immutable import CompactRepr
from sfumato.divergences import Renyi
from sfumato.privacy import DifferentialPrivacy, ProbabilisticDifferentialPrivacy, TestingRegion

from .relation import coin
from .relations_tests import RARE

_EPSILON: Final = 1.0
_REGION_DELTA: Final = 0.1
_PARTS: Final = (0.5, 1.0)
_ORDER: Final = 2.0
_SUPPRESSED: Final = 0.1


@dataclass(frozen=True, slots=True, repr=False)
class ErratumRow(CompactRepr):
    """A statement that is wrong as printed.

    Attributes:
        erratum: A name of its own.
        where: Its place in the thesis.
        printed: The statement, in a sentence of ours.
        quote: The words of the thesis.
        right: What is right.
        instance: The channel that shows the error, in words.
        what: What the numbers are.
        by_print: The number that the print gives.
        found: The number that is found.
    """

    erratum: str
    where: str
    printed: str
    quote: str
    right: str
    instance: str
    what: str
    by_print: float
    found: float


def errata() -> list[ErratumRow]:
    """Return the errata, with their numbers computed."""
    return [_two_names(), _total_error(), _region(), _concentrated(), _logarithm()]


def _two_names() -> ErratumRow:
    first, second = coin(_EPSILON).rows
    return ErratumRow(
        "P_FA twice",
        "2.2.6, hypothesis testing",
        "The probability of a missed detection has the name of that of a false alarm, P_FA.",
        "The probability of missed detection (type II error), when the null hypothesis is false but retained, is "
        "P_FA = P[M(D2) ∈ O∕S]",
        "It is P_MD, as the next sentence calls it.",
        "randomised response at epsilon 1, and the test that never rejects",
        "P_FA",
        float(second.sum()),
        float(first[:0].sum()),
    )


def _total_error() -> ErratumRow:
    rows = RARE.rows
    least = TestingRegion.of(rows).lower.least_total_error
    return ErratumRow(
        "or equivalently",
        "2.2.6, hypothesis testing",
        "A total error P_FA + P_MD of at least 2 / (1 + e^epsilon) for every test is equivalent to epsilon-DP.",
        "a mechanism is ε-DP iff for all S ⊆ O, P_FA + e^ε P_MD ≥ 1 and e^ε P_FA + P_MD ≥ 1; or equivalently, iff "
        "P_FA + P_MD ≥ 2 / (1 + e^ε)",
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
        "(epsilon, delta)-DP makes the errors of all tests the set of (a, b) with 1 - a <= e^epsilon b + delta.",
        "a mechanism is (ε, δ)-DP iff (P_FA, P_MD) = {(α, β) ∈ [0, 1] × [0, 1] | (1 − α ≤ e^ε β + δ)}",
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
        "2.2.9, proposition 18, item 8",
        "Two mechanisms of (xi1, rho1) and (xi2, rho2) compose to (xi1 + xi2, xi1 + xi2).",
        "(ξ1, ρ1)-zCoDP and (ξ2, ρ2)-zCoDP, then M1+2 is (ξ1 + ξ2, ξ1 + ξ2)-zCoDP",
        "They compose to (xi1 + xi2, rho1 + rho2); items 9 and 10 repeat the slip.",
        "two answers by randomised response, at epsilon .5 and 1, both with xi = 0",
        "the Renyi divergence of order 2, at most xi + 2 rho,",
        0.0,
        float(Renyi(_ORDER)(*together)),
    )


def _logarithm() -> ErratumRow:
    delta = _SUPPRESSED
    parts = np.array([[1.0, 0.0], [1 - delta, delta]]), np.array([[0.0, 1.0], [0.0, 1.0]])
    mixture = (1 - 2 * delta) * parts[0] + 2 * delta * parts[1]
    return ErratumRow(
        "1 / (1 - delta)",
        "2.2.9, proof of proposition 13",
        "A mixture of two mechanisms has a least epsilon of probabilistic DP above 1 / (1 - delta).",
        "M is a convex combination of M1 and M2, but the reader can verify that it is not (1/(1−δ), δ)-ProDP",
        "Its least epsilon is smaller, but above ln(1 / (1 - delta)), which the two mechanisms satisfy: with this "
        "logarithm the proof is right.",
        "reports suppressed with probability .1, mixed with 20 % of the report 1",
        "the least epsilon at delta .1",
        1 / (1 - delta),
        ProbabilisticDifferentialPrivacy(delta=delta).measure(mixture).value,
    )
