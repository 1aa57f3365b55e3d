"""The entry of one notion: measured on a mechanism, and proved over its integers where that is possible."""

from __future__ import annotations

import math

from ..core import Mechanism, MetricPrivacy
from ..divergences import Divergence
from ..evidence import prove_metric_privacy
from ..privacy import Notion, Priors
from ..rounding import exactly
from .choice import fixed
from .findings import Entry


def measured(notion: Notion, mechanism: Mechanism) -> Entry:
    """Return the entry of one notion, proved over the integers where that is possible."""
    finding = notion.measure(mechanism)
    upper, proved = finding.upper, False
    metric = notion.as_metric_privacy(mechanism.secrets)
    if metric is not None and math.isfinite(finding.value):
        proof = prove_metric_privacy(mechanism, MetricPrivacy(max(finding.upper, 1e-12), metric))
        upper, proved = min(upper, proof.upper), True
    return Entry(
        key=notion.key,
        title=_title(notion),
        parameter=notion.parameter,
        value=finding.value,
        lower=finding.lower,
        upper=upper,
        unit=notion.unit,
        per=bool(notion.unit),
        given=fixed(notion),
        proved=proved,
        witness=finding.witness.describe(mechanism.secrets, mechanism.observables),
        sentence=notion.sentence(upper),
        source=notion.description.source,
    )


def _title(notion: Notion) -> str:
    """Return the notion's name with what tells it from others of the same key."""
    parts: list[str] = []
    for name, value in notion.stated.items():
        if isinstance(value, Divergence):
            parts.insert(0, value.name)
        elif isinstance(value, Priors):
            parts.append(f"under {value}")
        elif isinstance(value, int | float) and name in fixed(notion):
            parts.append(f"{name} {exactly(value)}")
    return f"{notion.heading} ({', '.join(parts)})" if parts else notion.heading
