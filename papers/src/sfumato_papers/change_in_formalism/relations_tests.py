"""Relations of hypothesis tests: differential privacy, trade-off curves and Gaussian privacy."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from scipy.stats import norm

from sfumato.divergences import TOTAL_VARIATION
from sfumato.privacy import (
    DeltaOfDifferentialPrivacy,
    DifferentialPrivacy,
    DivergencePrivacy,
    GaussianPrivacy,
    TestingRegion,
    TradeOff,
    TradeOffPrivacy,
)

from .channels import FormalCase, case_of
from .relation import FormalRelation, Measured, coin, implied

_SECTION: Final = "2.2.6, hypothesis testing"
_CURVES: Final = "2.2.6, definition 36"
_GAUSS: Final = "2.2.6, Gaussian privacy"
_DIGITS: Final = 1e-9  # of curves in floating point

RARE: Final = case_of(np.array([[0.98, 0.02, 0.0], [0.98, 0.0, 0.02]]))
"""A channel that almost always says nothing, and otherwise everything: small total error, and no epsilon."""


def _pure(_: FormalCase) -> DifferentialPrivacy:
    return DifferentialPrivacy()


def _total(_: FormalCase) -> DivergencePrivacy:
    return DivergencePrivacy(TOTAL_VARIATION)


def _delta(case: FormalCase) -> DeltaOfDifferentialPrivacy:
    return DeltaOfDifferentialPrivacy(case.epsilon)


def _from_total_error(variation: float) -> float:
    """The epsilon for which 2 / (1 + e**epsilon) is the least total error."""
    return 2 * math.atanh(variation) if variation < 1 else math.inf


def _of_errors(case: FormalCase) -> float:
    """The least delta with 1 - a <= e**epsilon b + delta and 1 - b <= e**epsilon a + delta for all tests."""
    corners = TestingRegion.of(case.rows).vertices
    grown = math.exp(case.epsilon)
    a, b = corners[:, 0], corners[:, 1]
    return max(0.0, float(np.max(1 - a - grown * b)), float(np.max(1 - b - grown * a)))


def _region_of_delta(case: FormalCase) -> Measured:
    delta = _delta(case).measure(case.rows)
    found = _of_errors(case)
    return Measured(delta.upper, found - _DIGITS, found)


def _delta_of_region(case: FormalCase) -> Measured:
    delta = _delta(case).measure(case.rows)
    return Measured(_of_errors(case) + _DIGITS, delta.lower, delta.value)


def _curve_of_delta(case: FormalCase) -> Measured:
    """By how much tests fall short of f at the delta that is kept, plus 1."""
    delta = min(1.0, _delta(case).measure(case.rows).upper)
    slack = TradeOffPrivacy(TradeOff.of_epsilon(case.epsilon, delta)).measure(case.rows)
    return Measured(1.0, 1 + slack.lower - _DIGITS, 1 + slack.value)


def _delta_of_curve(case: FormalCase) -> Measured:
    """The least delta for which f lies nowhere above the convex curve of the channel, checked at its vertices."""
    curve = TradeOff.of(case.rows)
    grown, a, b = math.exp(case.epsilon), curve.alphas, curve.betas
    least = max(0.0, float(np.max(1 - b - grown * a)), float(np.max(1 - a - grown * b)))
    delta = _delta(case).measure(case.rows)
    return Measured(least + _DIGITS, delta.lower, delta.value)


def _gaussian_delta(case: FormalCase) -> Measured | None:
    mu = GaussianPrivacy().measure(case.rows).upper
    if not 0 < mu < math.inf:
        return None
    first, second = -case.epsilon / mu + mu / 2, -case.epsilon / mu - mu / 2
    allowed = float(norm.cdf(first) - math.exp(case.epsilon) * norm.cdf(second))
    found = _delta(case).measure(case.rows)
    return Measured(allowed + _DIGITS, found.lower, found.value)


def _mu_of_epsilon(epsilon: float) -> float:
    return 2 * float(norm.isf(1 / (1 + math.exp(epsilon))))


TESTS: Final = (
    FormalRelation(
        "DP to total error",
        _SECTION,
        "epsilon-DP gives every test a total error of at least 2 / (1 + e^epsilon), which is a total variation of "
        "at most tanh(epsilon / 2).",
        implied(_pure, _total, lambda epsilon: math.tanh(epsilon / 2)),
        coin(),
    ),
    FormalRelation(
        "total error to DP",
        _SECTION,
        "If every test has a total error of at least 2 / (1 + e^epsilon), the channel is epsilon-DP.",
        implied(_total, _pure, _from_total_error),
        RARE,
        published=False,
    ),
    FormalRelation(
        "DP to both errors",
        _SECTION,
        "(epsilon, delta)-DP gives every test 1 - a <= e^epsilon b + delta and 1 - b <= e^epsilon a + delta.",
        _region_of_delta,
        coin(),
    ),
    FormalRelation(
        "both errors to DP",
        _SECTION,
        "Tests that keep both inequalities make the channel (epsilon, delta)-DP.",
        _delta_of_region,
        coin(),
    ),
    FormalRelation(
        "DP to f-DP",
        _CURVES,
        "(epsilon, delta)-DP is f-DP for f = max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a)).",
        _curve_of_delta,
        coin(),
    ),
    FormalRelation(
        "f-DP to DP",
        _CURVES,
        "A channel that is f-DP for that f is (epsilon, delta)-DP.",
        _delta_of_curve,
        coin(),
    ),
    FormalRelation(
        "Gaussian DP to DP",
        _GAUSS,
        "mu-GDP gives delta = Phi(-epsilon / mu + mu / 2) - e^epsilon Phi(-epsilon / mu - mu / 2).",
        _gaussian_delta,
        coin(),
    ),
    FormalRelation(
        "DP to Gaussian DP",
        _GAUSS,
        "epsilon-DP is mu-GDP for mu = 2 Phi^-1(e^epsilon / (1 + e^epsilon)).",
        implied(_pure, lambda _: GaussianPrivacy(), _mu_of_epsilon),
        coin(),
        published=False,
    ),
)
"""In the order of the thesis."""
