"""Counterexamples: small instances on which statements fail, of the paper or that readers may take from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from sfumato.core import Metric
from sfumato.core.immutable import CompactRepr
from sfumato.divergences import HockeyStick
from sfumato.mechanisms import PairAccountant, PublishedBound
from sfumato.privacy import Family, Relation

from ..reproduction import Tables
from .statements import STATEMENTS, CheckResult, Instance

_BITS: Final = (np.eye(2)[[0, 0, 1, 1]], np.eye(2)[[0, 1, 0, 1]])
_PARITY: Final = {"equal": np.array([0.5, 0.0, 0.0, 0.5]), "unequal": np.array([0.0, 0.5, 0.5, 0.0])}


@dataclass(frozen=True, slots=True, repr=False)
class CounterexampleRow(CompactRepr):
    """An instance on which a stated number is exceeded, or far from needed."""

    key: str
    instance: str  # in full
    value: float  # the true number
    bound: float  # the stated one
    refuted: bool


def counterexamples() -> Tables:
    """Return all counterexamples, each measured again."""
    pair = _two((0.125, 0.0, 0.125, 0.75), (0.0, 0.125, 0.125, 0.75), delta=0.13)
    every = Family.lift(_PARITY, Relation.all(4))
    bits = Instance(*_BITS, every, Metric(1.0 - np.eye(4)), (0.0, 0.0), np.eye(2), np.eye(4))
    cases: dict[str, tuple[str, CheckResult]] = {
        "xdp-mean": (
            "Two secrets a unit apart, reports (3/4, 1/4) and (1/4, 3/4): epsilon is ln 3. From the first "
            "secret to an even mixture of both W_1 is 1/2, and the reports differ by ln 2. Per unit of W_1:",
            _check("xdp-mean", _two((0.75, 0.25), (0.25, 0.75), (1.0, 0.0), (0.5, 0.5))),
        ),
        "pdistp-back": (
            "Reports (0.6, 0.4) and (0.5, 0.5) of two secrets, delta 0.1: epsilon 0 for every event, but no set "
            "of reports of probability 0.1 can be left out.",
            _check("pdistp-back", _two((0.6, 0.4), (0.5, 0.5), delta=0.1)),
        ),
        "same-input-pairs": (
            "Of the secrets 00, 01, 10, 11 the equal ones against the unequal ones; one report is the first bit, "
            "the other the second. Each hides the pair (epsilon 0); together they reveal it.",
            _check("same-input-pairs", bits),
        ),
        "post-pdistp": (
            "Reports (1/8, 0, 1/8, 3/4) and (0, 1/8, 1/8, 3/4), delta 0.13: epsilon 0. With the first and third "
            "merged, and the second and fourth, they are (1/4, 3/4) and (1/8, 7/8), which need ln 2.",
            _check("post-pdistp", replace(pair, merge=np.eye(2)[[0, 1, 0, 1]])),
        ),
        "tupling eta": (
            "Ten observables, one dummy, and two groups that always report different observables: beta is "
            "arbitrarily small, eta 1/10, epsilon nearly 0. With eta the probability of a report above beta it is "
            f"a theorem, whose delta here is {PublishedBound(1, 10, 1.0, 0.05).delta:g}.",
            _observables(),
        ),
        "domain": (
            "400 places; the true one with probability 0.001, else a uniform one: (0, 0.001)-DP. With the factor "
            "|Phi| the delta for all pairs is 0.001 times 159,600, more than 1. The true delta between the "
            "western and the eastern half is at most 0.001 at epsilon 0.",
            _domain(),
        ),
    }
    rows = []
    for key, (instance, checked) in cases.items():
        # A large domain refutes by a delta far below its bound, the others by a value above theirs.
        small = checked.value <= 1e-3 * (1 + 1e-9)
        refuted = small if key == "domain" else checked.value > checked.bound + 1e-12
        rows.append(CounterexampleRow(key, instance, *checked, refuted))
    return {"counterexamples": rows}


def _check(key: str, instance: Instance) -> CheckResult:
    (check,) = STATEMENTS[key].checks
    checked = check(instance)
    if checked is None:
        raise ValueError(key)
    return checked


def _two(
    left: tuple[float, ...],
    right: tuple[float, ...],
    first: tuple[float, float] = (1.0, 0.0),
    second: tuple[float, float] = (0.0, 1.0),
    delta: float = 0.0,
) -> Instance:
    """Return two secrets a unit apart, the reports of each, and two distributions of them."""
    matrix = np.array([left, right])
    family = Family.lift({"first": first, "second": second}, Relation.all(2))
    metric = Metric([[0.0, 1.0], [1.0, 0.0]])
    return Instance(matrix, matrix, family, metric, (delta, delta), np.eye(len(left)), np.eye(2))


def _observables() -> CheckResult:
    """Return the true delta where eta is the share of observables, not the probability of a report."""
    m, dummies, beta = 10, 1, 1e-6
    p, q = np.eye(m)[:2]
    account = PairAccountant(p, q, np.full(m, 1 / m), dummies)
    # The printed epsilon and delta with eta = 1/m, at an alpha that makes the second nearly eta.
    alpha = 10 * beta
    epsilon = math.log((dummies + (alpha + beta) * m) / (dummies - alpha * m))
    return CheckResult(account.delta(epsilon).lower, 2 * math.exp(-2 * alpha**2 / (dummies * beta**2)) + 1 / m)


def _domain() -> CheckResult:
    """Return the delta of a mechanism that is (0, 0.001)-DP, and the one that the factor |Phi| gives."""
    n, delta = 400, 1e-3
    matrix = np.full((n, n), (1 - delta) / n) + delta * np.eye(n)
    family = Family({"west": np.repeat([2 / n, 0.0], n // 2), "east": np.repeat([0.0, 2 / n], n // 2)})
    return CheckResult(HockeyStick(0.0)(*(family.distributions @ matrix)), min(1.0, delta * n * (n - 1)))
