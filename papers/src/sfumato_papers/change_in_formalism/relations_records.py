"""Relations of records and of losses: semantic privacy, bounded range, and divergences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from sfumato.core import Mechanism, Space
from sfumato.divergences import TOTAL_VARIATION
from sfumato.leakage import shannon_capacity
from sfumato.privacy import (
    BoundedRange,
    ConcentratedPrivacy,
    DifferentialPrivacy,
    DivergencePrivacy,
    KLPrivacy,
    Notion,
    Relation,
    SemanticPrivacy,
)

from .channels import FormalCase, case_of
from .relation import FormalRelation, Measured, coin, implied

_SEMANTIC: Final = "2.2.6, definition 40"
_RANGE: Final = "2.2.6, range-bounded privacy"
_LOSS: Final = "2.2.2, KL privacy"
_CAPACITY_DIGITS: Final = 1e-6
_PUBLISHED_UP_TO: Final = 1.35

UNSEEN: Final = case_of(np.array([[0.5, 0.5], [1.0, 0.0]]))
"""The default, the second secret, never makes the second report."""

GOLDEN: Final = case_of(np.array([[0.4, 0.1, 0.5], [0.2, 0.2, 0.6], [0.04, 0.01, 0.95], [0.02, 0.02, 0.96]]))
"""Secrets in pairs, with and without a record: a set of two reports reveals more than any single one."""

_ODD: Final = case_of(np.array([[1e-6, 1 - 1e-6], [1e-6 * math.e, 1 - 1e-6 * math.e]]))
"""A rare report that is e times as likely for one secret, and another that says next to nothing."""


def _dp(_: FormalCase) -> Notion:
    return DifferentialPrivacy()


def _exchange(case: FormalCase) -> Notion:
    return SemanticPrivacy(case.exchange)


def _alone(case: FormalCase) -> Notion:
    return SemanticPrivacy(case.taken_out, sets=False)


def _together(case: FormalCase) -> Notion:
    return SemanticPrivacy(case.taken_out)


def _defaults(_: FormalCase) -> Notion:
    return SemanticPrivacy()


def _one_default(case: FormalCase) -> Notion:
    return SemanticPrivacy.replacing(case.size, case.size - 1)


def _from_default(case: FormalCase) -> Notion:
    """Differential privacy between the default, which is the last secret, and each other one."""
    last = np.arange(case.size) == case.size - 1
    return DifferentialPrivacy(Relation(last[:, None] ^ last[None, :], "a secret and the default"))


def _tanh(share: float) -> Callable[[float], float]:
    return lambda epsilon: math.tanh(share * epsilon)


def _artanh(factor: float, inner: float) -> Callable[[float], float]:
    return lambda sigma: factor * math.atanh(inner * sigma) if inner * sigma < 1 else math.inf


def _six(sigma: float) -> float:
    return 6 * sigma if 6 * sigma <= _PUBLISHED_UP_TO else math.inf


def information(case: FormalCase, pair: tuple[int, int]) -> tuple[float, float]:
    """Return bounds of the most information, in nats, that a report gives about which of two secrets it is."""
    m = case.rows.shape[1]
    two = Mechanism(case.rows[list(pair)], Space(range(2)), Space(range(m)))
    found = shannon_capacity(two, tolerance_bits=_CAPACITY_DIGITS).bits
    return found.lower * math.log(2), found.upper * math.log(2)


def _kl_to_information(case: FormalCase) -> Measured | None:
    """Of the pair with the largest divergence."""
    held = KLPrivacy().measure(case.rows)
    if not math.isfinite(held.upper) or held.witness.pair is None:
        return None
    low, _ = information(case, held.witness.pair)
    return Measured(held.upper, low, low)


def _information_to_total(case: FormalCase) -> Measured | None:
    """Of the pair with the largest total variation."""
    found = _total(case).measure(case.rows)
    if found.witness.pair is None:
        return None
    _, high = information(case, found.witness.pair)
    return Measured(math.sqrt(2 * high), found.lower, found.value)


def _total(_: FormalCase) -> Notion:
    return DivergencePrivacy(TOTAL_VARIATION)


RECORDS: Final = (
    FormalRelation(
        "DP to SemPr",
        _SEMANTIC,
        "epsilon-DP is (e^epsilon - 1)-semantic privacy.",
        implied(_dp, _exchange, math.expm1),
        coin(0.01),
    ),
    FormalRelation(
        "DP to SemPr, sharp",
        _SEMANTIC,
        "epsilon-DP is tanh(epsilon / 2)-semantic privacy.",
        implied(_dp, _exchange, _tanh(1 / 2)),
        coin(),
        published=False,
    ),
    FormalRelation(
        "DP to SemPr of defaults",
        _SEMANTIC,
        "epsilon-DP of all pairs is tanh(epsilon / 4)-semantic privacy where a record is replaced by a default.",
        implied(_dp, _defaults, _tanh(1 / 4)),
        coin(),
        published=False,
    ),
    FormalRelation(
        "SemPr to DP",
        _SEMANTIC,
        "(1/2 - 1 / (e^epsilon + 1))-semantic privacy is epsilon-DP, where the default can make every report.",
        implied(_one_default, _from_default, _artanh(2, 2), positive=True),
        coin(0.01),
        published=False,
    ),
    FormalRelation(
        "SemPr to DP, up to 1.35",
        _SEMANTIC,
        "(epsilon / 6)-semantic privacy is epsilon-DP for epsilon up to 1.35, where the default can make every "
        "report.",
        implied(_one_default, _from_default, _six, positive=True),
        coin(0.01),
        published=False,
    ),
    FormalRelation(
        "SemPr to DP, sharp",
        _SEMANTIC,
        "tanh(epsilon / 4)-semantic privacy is epsilon-DP, where the default can make every report.",
        implied(_one_default, _from_default, _artanh(4, 1), positive=True),
        coin(),
        published=False,
    ),
    FormalRelation(
        "SemPr to DP, any default",
        _SEMANTIC,
        "(1/2 - 1 / (e^epsilon + 1))-semantic privacy is epsilon-DP, for any default.",
        implied(_one_default, _from_default, _artanh(2, 2)),
        UNSEEN,
        published=False,
    ),
    FormalRelation(
        "SemPr by single reports",
        _SEMANTIC,
        "Semantic privacy over single reports is semantic privacy over sets of reports.",
        implied(_alone, _together, lambda sigma: sigma),
        GOLDEN,
        published=False,
    ),
    FormalRelation(
        "bounded range to DP",
        _RANGE,
        "eta-bounded range is eta-DP.",
        implied(lambda _: BoundedRange(), _dp, lambda eta: eta),
        _ODD,
    ),
    FormalRelation(
        "DP to bounded range",
        _RANGE,
        "epsilon-DP is (2 epsilon)-bounded range.",
        implied(_dp, lambda _: BoundedRange(), lambda epsilon: 2 * epsilon),
        coin(),
    ),
    FormalRelation(
        "bounded range to concentrated DP",
        _RANGE,
        "eta-bounded range is (eta^2 / 8)-zCDP.",
        implied(lambda _: BoundedRange(), lambda _: ConcentratedPrivacy(), lambda eta: eta**2 / 8),
        coin(0.01),
    ),
    FormalRelation(
        "DP to concentrated DP",
        _RANGE,
        "epsilon-DP is (epsilon^2 / 2)-zCDP.",
        implied(_dp, lambda _: ConcentratedPrivacy(), lambda epsilon: epsilon**2 / 2),
        coin(0.01),
    ),
    FormalRelation(
        "DP to concentrated DP, sharp",
        _RANGE,
        "epsilon-DP is (epsilon tanh(epsilon / 2))-zCDP.",
        implied(_dp, lambda _: ConcentratedPrivacy(), lambda epsilon: epsilon * math.tanh(epsilon / 2)),
        coin(),
        published=False,
    ),
    FormalRelation(
        "DP to KL",
        _LOSS,
        "epsilon-DP is min(epsilon, epsilon^2)-KL privacy.",
        implied(_dp, lambda _: KLPrivacy(), lambda epsilon: min(epsilon, epsilon**2)),
        coin(5.0),
    ),
    FormalRelation(
        "DP to KL, sharp",
        _LOSS,
        "epsilon-DP is (epsilon tanh(epsilon / 2))-KL privacy.",
        implied(_dp, lambda _: KLPrivacy(), lambda epsilon: epsilon * math.tanh(epsilon / 2)),
        coin(),
        published=False,
    ),
    FormalRelation(
        "KL to mutual information",
        _LOSS,
        "epsilon-KL privacy lets a report give at most epsilon nats about which of two secrets it is.",
        _kl_to_information,
        coin(0.1),
    ),
    FormalRelation(
        "mutual information to total error",
        _LOSS,
        "At most epsilon nats of information make the channel (0, sqrt(2 epsilon))-DP.",
        _information_to_total,
        coin(0.3),
    ),
    FormalRelation(
        "KL to total error, sharp",
        _LOSS,
        "epsilon-KL privacy makes the channel (0, sqrt(epsilon / 2))-DP.",
        implied(lambda _: KLPrivacy(), _total, lambda epsilon: math.sqrt(epsilon / 2)),
        coin(0.1),
        published=False,
    ),
)
"""In the order of the thesis."""
