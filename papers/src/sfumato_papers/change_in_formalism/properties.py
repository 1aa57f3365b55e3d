"""The table of 2.2.9: processing, mixtures and composition of each definition, tried or refuted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final

import numpy as np

from sfumato.core import Prior, Space
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.privacy import (
    AdversarialPrivacy,
    Claim,
    DistributionPrivacy,
    Family,
    MetricDistributionPrivacy,
    Property,
    TradeOff,
    TradeOffPrivacy,
    answer,
    compose,
    product,
)

from .channels import (
    AFTERWARDS,
    GAUSSIAN,
    INDISTINGUISHABLE,
    INFORMATION,
    MEMBERSHIP,
    NEGATIVE,
    POSITIVE,
    RANGE,
    Ask,
    FormalCase,
    cases,
    exchange,
)

_DIGITS: Final = 1e-9
YES, NO, OPEN = "yes", "no", "?"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TableEntry(CompactRepr):
    """A definition of the table, and its answers there."""

    name: str
    key: str  # of its notion here
    says: tuple[str, str, str]  # of processing, mixtures and composition: yes, no, or a question mark
    notion: Ask | None  # None for trade-off curves, which have no number


@dataclass(frozen=True, slots=True, repr=False)
class PropertyRow(CompactRepr):
    """A property of a definition: the answer of the table, and the one found."""

    definition: str
    property: str  # processing, mixtures or composition
    table: str  # yes, no, or a question mark
    here: str  # yes or no
    instances: int  # random pairs of channels that were tried, where the answer is yes
    violations: int
    before: float | None  # larger value of the counterexample's channels; None where there is no counterexample
    after: float | None  # value of the channel made of them
    why: str  # the rule, or what happens in the counterexample


def _two_families(case: FormalCase) -> Family:
    """Return the prior, and the prior read backwards."""
    weights = case.prior.probabilities
    return Family(np.array([weights, weights[::-1]]))


def _metric_privacy(case: FormalCase) -> MetricDistributionPrivacy:
    return MetricDistributionPrivacy(_two_families(case), np.array([[0.0, 0.5], [0.5, 0.0]]))


ENTRIES: Final = (
    TableEntry("IndPr", "indistinguishable", (YES, YES, YES), INDISTINGUISHABLE),
    TableEntry("f-DP", "trade-off", (YES, OPEN, YES), None),
    TableEntry("Gaussian DP", "gaussian", (YES, OPEN, YES), GAUSSIAN),
    TableEntry("PMPr", "positive-membership", (YES, YES, NO), POSITIVE),
    TableEntry("NMPr", "negative-membership", (YES, YES, NO), NEGATIVE),
    TableEntry("MPr", "membership", (YES, YES, NO), MEMBERSHIP),
    TableEntry("AdvPr", "adversarial", (YES, YES, NO), lambda case: AdversarialPrivacy(case.priors, 0.01)),
    TableEntry("ANPr", "aposteriori-noiseless", (YES, YES, OPEN), AFTERWARDS),
    TableEntry("SemPr", "semantic", (OPEN, OPEN, OPEN), exchange),
    TableEntry("RBPr", "bounded-range", (OPEN, OPEN, OPEN), RANGE),
    TableEntry("InfPr", "information", (OPEN, OPEN, OPEN), INFORMATION),
    TableEntry(
        "DnPr", "distribution-privacy", (YES, YES, NO), lambda case: DistributionPrivacy(_two_families(case))
    ),
    TableEntry("EDnPr", "metric-distribution-privacy", (YES, YES, NO), _metric_privacy),
)
"""The definitions of the section in the table's order, with its words."""


def property_rows(entry: TableEntry, seed: int, count: int) -> list[PropertyRow]:
    """Return the properties of a definition, tried on random pairs of channels or refuted by an example."""
    rows = []
    for kind, word, verdict in zip(Property, ("processing", "mixtures", "composition"), entry.says, strict=True):
        case = entry.name, word, verdict
        # Of two families at distance 1, both notions of distributions say the same.
        apart = entry.key == "metric-distribution-privacy" and kind is Property.COMPOSITION
        known = answer("distribution-privacy" if apart else entry.key, kind)
        if known.holds:
            trials = [trial for both in _pairs(seed, count) if (trial := _holds(entry, kind, *both)) is not None]
            rows.append(PropertyRow(*case, YES, len(trials), trials.count(False), None, None, known.why))
        else:
            example = known.counterexample()
            before, after = example.run()
            worst = max(finding.value for finding in before)
            rows.append(PropertyRow(*case, NO, 0, 0, worst, after.value, example.says))
    return rows


def _pairs(seed: int, count: int) -> Iterator[tuple[FormalCase, FormalCase, np.random.Generator]]:
    """Yield pairs of channels on the same secrets, with as many reports."""
    rng = np.random.default_rng([seed, 1])
    for first, second in islice(pairwise(cases(seed, 2 * count)), count):
        size, width = min(first.size, second.size), max(first.rows.shape[1], second.rows.shape[1])
        rows = [np.pad(case.rows[:size], ((0, 0), (0, width - case.rows.shape[1]))) for case in (first, second)]
        weights = first.prior.probabilities[:size]
        prior = Prior(Space(range(size)), weights / weights.sum())
        left, right = (FormalCase(row, prior, first.epsilon) for row in rows)
        yield left, right, rng


def _holds(
    entry: TableEntry, kind: Property, first: FormalCase, second: FormalCase, rng: np.random.Generator
) -> bool | None:
    """Return whether a property holds of two channels; None where their values are infinite."""
    if kind is Property.POST_PROCESSING:
        channel = first.rows @ rng.dirichlet(np.full(3, 0.4), first.rows.shape[1])
    elif kind is Property.CONVEXITY:
        share = rng.random()
        channel = share * first.rows + (1 - share) * second.rows
    else:
        channel = (first.rows[:, :, None] * second.rows[:, None, :]).reshape(first.size, -1)
    if entry.notion is None:
        return _curve_holds(kind, first.rows, second.rows, channel)
    notion = entry.notion(first)
    values = [notion.measure(case.rows) for case in (first, second)]
    if not all(np.isfinite(value.upper) for value in values):
        return None
    if kind is Property.COMPOSITION:
        allowed = next(iter(compose([Claim.of(value) for value in values]).numbers.values()))
    else:
        allowed = max(value.upper for value in (values if kind is Property.CONVEXITY else values[:1]))
    return notion.measure(channel).lower <= allowed * (1 + _DIGITS) + _DIGITS


def _curve_holds(kind: Property, first: Floats, second: Floats, channel: Floats) -> bool:
    curves = [TradeOff.of(first), TradeOff.of(second)]
    if kind is Property.COMPOSITION:
        bound = product(curves)
    else:
        bound = curves[0] if kind is Property.POST_PROCESSING else TradeOff.lowest(curves)
    return TradeOffPrivacy(bound).measure(channel).lower <= _DIGITS
