"""The notions of privacy that apply to a mechanism, measured on its integers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import fields

from ..core import Mechanism, Metric, MetricPrivacy, Prior, hamming
from ..divergences import CHI_SQUARED, HELLINGER, TOTAL_VARIATION
from ..evidence import prove_metric_privacy
from ..privacy import (
    AdversarialPrivacy,
    AposterioriNoiselessPrivacy,
    BoundedRange,
    DeltaOfDifferentialPrivacy,
    DifferentialPrivacy,
    DistributionPrivacy,
    DivergencePrivacy,
    Events,
    Family,
    Finding,
    GaussianPrivacy,
    InformationPrivacy,
    KLPrivacy,
    MembershipPrivacy,
    MetricDifferentialPrivacy,
    NegativeMembershipPrivacy,
    NoiselessPrivacy,
    Notion,
    PositiveMembershipPrivacy,
    Priors,
    ProbabilisticDifferentialPrivacy,
    Relation,
    RenyiPrivacy,
    SemanticPrivacy,
)
from .findings import Entry

_NUMBERS = ("delta", "epsilon", "order")


def point_notions(metric: Metric | None, relation: Relation | None, deltas: Iterable[float]) -> Iterator[Notion]:
    """Yield the notions that compare the reports of two secrets.

    Args:
        metric: Where epsilon counts per unit of a distance.
        relation: The pairs that must look alike; all if None.
        deltas: The deltas at which epsilon is wanted too.
    """
    positive = [delta for delta in deltas if delta > 0]
    if metric is not None:
        yield MetricDifferentialPrivacy(metric)
        for delta in positive:
            yield MetricDifferentialPrivacy(metric, delta)
    yield DifferentialPrivacy(relation)
    for delta in positive:
        yield DifferentialPrivacy(relation, delta)
        yield ProbabilisticDifferentialPrivacy(relation, delta)
    yield DeltaOfDifferentialPrivacy(0.0, relation)
    yield DeltaOfDifferentialPrivacy(1.0, relation)
    yield GaussianPrivacy(relation)
    yield BoundedRange(relation)
    yield KLPrivacy(relation)
    yield RenyiPrivacy(2.0, relation)
    for divergence in (TOTAL_VARIATION, CHI_SQUARED, HELLINGER):
        yield DivergencePrivacy(divergence, relation)


def belief_notions(prior: Prior | None, events: Events | None) -> Iterator[Notion]:
    """Yield the notions that compare what an adversary believes before and after.

    Args:
        prior: What he believes before; notions against all priors need none.
        events: The facts that must stay hidden; every single secret if None.
    """
    yield MembershipPrivacy(Priors.all(), events)
    yield SemanticPrivacy()
    if prior is None:
        return
    given = Priors.of(prior)
    for kind in (
        PositiveMembershipPrivacy,
        NegativeMembershipPrivacy,
        MembershipPrivacy,
        NoiselessPrivacy,
        AposterioriNoiselessPrivacy,
    ):
        yield kind(given, events)
    yield AdversarialPrivacy(given, events=events)
    yield InformationPrivacy(given)


def family_notions(family: Family, deltas: Iterable[float]) -> Iterator[Notion]:
    """Yield the notions that compare the reports of two distributions of secrets."""
    yield DistributionPrivacy(family)
    for delta in deltas:
        if delta > 0:
            yield DistributionPrivacy(family, delta)


def measured(notion: Notion, mechanism: Mechanism) -> Entry:
    """Return the entry of one notion, proved over the integers where that is possible."""
    finding = notion.measure(mechanism)
    upper, proved = finding.upper, False
    metric = _metric_to_prove(notion, mechanism)
    if metric is not None and math.isfinite(finding.value):
        proof = prove_metric_privacy(mechanism, MetricPrivacy(max(finding.upper, 1e-12), metric))
        upper, proved = min(upper, proof.upper), True
    return Entry(
        key=_key(notion),
        title=_title(notion),
        parameter=notion.parameter,
        value=finding.value,
        lower=finding.lower,
        upper=upper,
        unit=_unit(notion),
        per=bool(_unit(notion)),
        given=_given(notion),
        proved=proved,
        witness=_witness(finding, mechanism),
        sentence=notion.sentence(upper),
        source=notion.source,
    )


def _key(notion: Notion) -> str:
    """Return the notion's key; against every prior it is another promise than under the given one."""
    priors = getattr(notion, "priors", None)
    return f"{notion.key}-of-every-prior" if priors is not None and not priors.listed else notion.key


def _metric_to_prove(notion: Notion, mechanism: Mechanism) -> Metric | None:
    """Return the metric whose privacy is this notion, where evidence over the integers exists."""
    if isinstance(notion, MetricDifferentialPrivacy) and notion.delta == 0:
        return notion.metric
    if isinstance(notion, DifferentialPrivacy) and notion.delta == 0 and notion.relation is None:
        return hamming(mechanism.secrets)
    return None


def _unit(notion: Notion) -> str:
    metric = getattr(notion, "metric", getattr(notion, "distance", None))
    return "" if metric is None else str(metric.unit)


def _given(notion: Notion) -> dict[str, float]:
    """Return what the notion holds fixed; a delta of zero goes without saying."""
    names = {field.name for field in fields(notion)}  # type: ignore[arg-type]
    found = {name: float(getattr(notion, name)) for name in _NUMBERS if name in names}
    return {name: value for name, value in found.items() if value != 0 or name != "delta"}


def _title(notion: Notion) -> str:
    parts = [f"{name} {value:g}" for name, value in _given(notion).items()]
    divergence = getattr(notion, "divergence", None)
    if divergence is not None:
        parts.insert(0, divergence.name)
    priors = getattr(notion, "priors", None)
    if priors is not None:
        parts.append(f"under {priors}")
    return f"{notion.title} ({', '.join(parts)})" if parts else notion.title


def _witness(finding: Finding, mechanism: Mechanism) -> str:
    return finding.witness.describe(mechanism.secrets, mechanism.observables)
