"""The plan of an audit: what it will measure of a mechanism, settled before the first measurement."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, final

from ..core import Bracket, Mechanism, MetricPrivacy, Randomizer, Row
from ..core.immutable import CompactRepr
from ..divergences import Divergence
from ..privacy import Notion, Priors
from ..proofs import prove_metric_privacy
from ..rounding import counted, exactly
from .findings import Audit, Entry
from .measures import check_measure, measures, secret_words
from .request import AuditInputs, Request, fixed_options, requested_notion, supported_notions

_LISTED: Final = (
    "The numbers are of a matrix that lists all reports, with probabilities rounded to integers. Reports are "
    "drawn by an exact recipe instead, so no number is marked as proved."
)


@final
@dataclass(frozen=True, slots=True, repr=False)
class AuditPlan(CompactRepr):
    """The notions that an audit measures, with their inputs, after every check.

    Attributes:
        mechanism: The mechanism.
        inputs: The further inputs.
        notions: The notions, each under a name of its own.
        listed: The mechanism in words, where its matrix lists what an exact recipe draws; else empty.
    """

    mechanism: Mechanism
    inputs: AuditInputs
    notions: tuple[Notion, ...]
    listed: str = ""

    def measure(self, progress: Callable[[Entry], None] | None = None) -> Audit:
        """Return the entries of the notions and measures; ``progress`` is called with each."""
        prior, metric = self.inputs.prior, self.inputs.metric
        notions = (_entry(notion, self.mechanism) for notion in self.notions)
        entries = []
        for each in chain(notions, measures(self.mechanism, prior, metric)):
            entry = replace(each, proved=False) if self.listed else each
            if progress is not None:
                progress(entry)
            entries.append(entry)
        notes = [
            "The values are for one report. Over k reports of one person, the epsilon of differential, metric and "
            "coordinate privacy is at most k times as large; what is promised under a prior may grow by more."
        ]
        if note := secret_words(self.mechanism.secrets).note:
            notes.append(note)
        if prior is None:
            notes.append("No prior was given: what an attacker gains under one was not measured.")
        if metric is None:
            notes.append("No metric was given: epsilon per unit of distance and errors were not measured.")
        if self.listed:
            notes.append(_LISTED)
        secrets, reports = self.mechanism.shape
        size = f"a mechanism of {counted(secrets, 'secret')} and {counted(reports, 'report')}"
        return Audit(self.listed or size, tuple(entries), tuple(notes))


def _draws_rows(mechanism: Randomizer, matrix: Mechanism) -> bool:
    """Return whether reports are drawn from just this matrix."""
    if mechanism is matrix:
        return True
    recipe = mechanism.recipe()
    return isinstance(recipe, Row) and recipe.mechanism == matrix


def plan_audit(mechanism: Randomizer, inputs: AuditInputs, also: Iterable[Request]) -> AuditPlan:
    """Return the plan of an audit.

    Args:
        mechanism: The mechanism; a tupling or a family is listed as a matrix.
        inputs: The further inputs.
        also: Requests for more than the usual notions.

    Raises:
        InputError: If the matrix is too large to list, a request names nothing that can be measured, or something
            that it needs was not given.
    """
    named = [_notion(each, inputs) for each in also]
    wanted = chain(supported_notions(inputs), (notion for notion in named if notion is not None))
    matrix: Mechanism = mechanism.channel()
    listed = "" if _draws_rows(mechanism, matrix) else repr(mechanism)
    return AuditPlan(matrix, inputs, tuple(_distinct(wanted)), listed)


def _notion(request: Request, inputs: AuditInputs) -> Notion | None:
    """Return the notion of a request; None if it names a measure, which is measured anyway. Refuse other names."""
    notion = requested_notion(request, inputs)
    if notion is None:
        check_measure(request.name, inputs.prior, inputs.metric)
    return notion


def _distinct(notions: Iterable[Notion]) -> Iterable[Notion]:
    """Yield the notions without a second one of the same name."""
    seen = set()
    for notion in notions:
        name = (notion.key, notion.parameter, *sorted(fixed_options(notion).items()))
        if name not in seen:
            seen.add(name)
            yield notion


def _entry(notion: Notion, mechanism: Mechanism) -> Entry:
    """Return the entry of one notion: measured, and proved over the integers where that is possible."""
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
        bracket=Bracket(finding.lower, finding.value, upper),
        unit=notion.unit,
        per=bool(notion.unit),
        given=fixed_options(notion),
        proved=proved,
        witness=finding.witness.describe(mechanism.secrets, mechanism.observables),
        sentence=notion.sentence(upper),
        source=notion.description.source,
        vacuous=notion.vacuous,
    )


def _title(notion: Notion) -> str:
    """Return the notion's name with all that distinguishes it from others of the same key."""
    parts: list[str] = []
    for name, value in notion.stated.items():
        if isinstance(value, Divergence):
            parts.insert(0, value.name)
        elif isinstance(value, Priors):
            parts.append(f"under {value}")
        elif isinstance(value, int | float) and name in fixed_options(notion):
            parts.append(f"{name} {exactly(value)}")
    return f"{notion.heading} ({', '.join(parts)})" if parts else notion.heading
