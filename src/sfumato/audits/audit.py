"""Audits of mechanisms: every notion and measure that applies, with value, side and witness."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from ..core import (
    Bracket,
    Capability,
    Mechanism,
    Metric,
    MetricPrivacy,
    Prior,
    Randomizer,
    Row,
    Side,
    check_known,
    units,
)
from ..core.immutable import CompactRepr
from ..divergences import Divergence
from ..errors import InputError
from ..geo import Cells
from ..mechanisms.planar import Coarsening, CoordinateNoise, coarsen
from ..privacy import Curve, Events, Family, Notion, Priors, Relation, Rivals
from ..proofs import NoiseProof, prove_metric_privacy, prove_planar_noise
from ..rounding import amount_at_most, down, exactly, plural
from ..statistics import Sample
from .findings import Audit, Entry
from .measures import COORDINATE_PRIVACY, check_measure, measures, secret_words, shares_of
from .request import DELTA_AT, DELTAS, DIVERGENCES, ORDERS, AuditInputs, Request, fixed_options, supported_notions
from .samples import SAMPLE_NAMES, audit_sample

_METRIC_KEYS: Final = ("metric-privacy", COORDINATE_PRIVACY)  # which a promise covers better than any coarsening
_ONE_REPORT: Final = (
    "The guarantee is for one report. Over k reports of one person, its epsilon is at most k times as large, with "
    "the same slack."
)
_ROUNDING: Final = 1e-9  # of probabilities, distances and logarithms
_MATRIX_NOTE: Final = (
    "The numbers are of a matrix that lists all reports, with probabilities rounded to integers. Reports are "
    "drawn by an exact recipe instead, so no number is marked as proved."
)


def audit(
    subject: Randomizer | Sample | ArrayLike,
    *,
    prior: Prior | None = None,
    metric: Metric | None = None,
    relation: Relation | None = None,
    events: Events | None = None,
    rivals: Rivals | None = None,
    family: Family | None = None,
    interventions: Iterable[ArrayLike] | Mapping[Any, Mapping[Any, ArrayLike]] | None = None,
    curve: Curve | None = None,
    kinds: Mapping[str, ArrayLike] | None = None,
    deltas: Iterable[float] = DELTAS,
    delta_at: Iterable[float] = DELTA_AT,
    orders: Iterable[float] = ORDERS,
    divergences: Iterable[Divergence] = DIVERGENCES,
    also: Iterable[str | Request] = (),
    failure: float = 0.05,
    progress: Callable[[Entry], None] | None = None,
) -> Audit:
    """Return every notion and measure that applies, with value, side, witness and meaning.

    For a mechanism the values bound the truth from above, rounding included; metric privacy and local differential
    privacy are proved on its integers. For samples the values bound the truth from below, with stated confidence.
    For noise for coordinates the guarantee is proved; all else is an estimate on cells, those of the prior. Raises
    `InputError` if the array is not a mechanism, sizes do not fit, a number is out of range, or an input of
    ``also`` was not given.

    Args:
        subject: A mechanism, where a tupling or a family is listed as a matrix; noise for coordinates; the array
            (secrets, observables) of a mechanism, which is first rounded to integers; or a `Sample` of secrets and
            reports.
        prior: The attacker's prior; without it, notions about beliefs are measured against every prior.
        metric: The distance that epsilon counts per, and that the attacker's error counts in.
        relation: The pairs of secrets that must look alike; all if left out.
        events: The facts that must stay hidden; every single secret if left out.
        rivals: Pairs of facts that must look alike.
        family: Distributions of secrets that must look alike.
        interventions: For each record, array (values, secrets) of positions: the secret that each becomes when the
            record is set to a value; or ``{record: {value: positions}}``, whose names the witness has.
        curve: A trade-off curve that tests must not beat.
        kinds: For each kind, such as a kind of place, its probability in each secret, array (n,); the kind "" is
            no listed place. With a prior the audit measures how often the best attacker guesses the kind; by
            default that of an attribute's events.
        deltas: The deltas above zero for which epsilon is also measured.
        delta_at: The epsilons at which delta is measured.
        orders: The orders of Rényi privacy, each above 0 or ``inf``.
        divergences: The divergences by which reports are compared.
        also: Further requests, such as ``"renyi-privacy(order=8)"``.
        failure: For samples: the probability with which each bound may be wrong.
        progress: Called with each entry.

    Example:
        >>> import sfumato as sf
        >>> found = sf.audit([[0.75, 0.25], [0.25, 0.75]], also=["renyi-privacy(order=8)"])
        >>> round(found.find("bounded-range").number, 6)
        2.197225
        >>> round(found.find("renyi-privacy", order=8).number, 6)
        1.057515
    """
    inputs = AuditInputs(
        prior=prior,
        metric=metric,
        relation=relation,
        events=events,
        rivals=rivals,
        family=family,
        interventions=interventions if isinstance(interventions, Mapping | None) else tuple(interventions),
        curve=curve,
        kinds=kinds,
        deltas=tuple(map(float, deltas)),
        delta_at=tuple(map(float, delta_at)),
        orders=tuple(map(float, orders)),
        divergences=tuple(divergences),
    )
    requests = [request if isinstance(request, Request) else Request.parse(request) for request in also]
    if isinstance(subject, Sample):
        at, delta_at = _levels_of_sample(inputs, requests)
        return audit_sample(subject, prior=prior, metric=metric, deltas=at, delta_at=delta_at, failure=failure)
    if isinstance(subject, Randomizer):
        check_known(subject)
        if subject.supports(Capability.POINTS):
            noise: Any = subject  # a CoordinateNoise: no other known kind serves points
            return _audit_noise(noise, inputs, requests, progress)
    mechanism = subject if isinstance(subject, Randomizer) else Mechanism(subject)
    if prior is not None and mechanism.secrets is not None:
        mechanism.secrets.check_order(prior.space, "the prior")
    return plan_audit(mechanism, inputs, requests).measure(progress)


def _levels_of_sample(inputs: AuditInputs, requests: Iterable[Request]) -> tuple[list[float], list[float]]:
    """Return the deltas and epsilons at which samples are measured; refuse inputs that only a matrix can use."""
    for name, value in (*inputs.context.items(), ("kinds", inputs.kinds)):
        if value is not None and name not in ("priors", "metric"):
            raise InputError(f"{name} was given for samples.", f"leave {name} out; only a matrix can use it.")
    deltas, delta_at = list(inputs.deltas), list(inputs.delta_at[:1])
    for request in requests:
        if request.name not in SAMPLE_NAMES:
            raise InputError(f"samples cannot show {request}.", f"they can show {', '.join(SAMPLE_NAMES)}.")
        deltas += [float(value) for name, value in request.options.items() if name == "delta"]
        delta_at += [float(value) for name, value in request.options.items() if name == "epsilon"]
    return list(dict.fromkeys(deltas)), list(dict.fromkeys(delta_at))


def _audit_noise(
    noise: CoordinateNoise,
    inputs: AuditInputs,
    also: Iterable[Request],
    progress: Callable[[Entry], None] | None = None,
) -> Audit:
    """Return the proved guarantee of noise, and what is measured on cells: the prior's, or about a hundred."""
    inputs.check_kinds()
    cells = None if inputs.prior is None else inputs.prior.space
    if cells is not None and not isinstance(cells, Cells):
        raise InputError(f"the prior is on {cells!r}, which are not cells on the ground.", "use one on a Grid.")
    proof = prove_planar_noise(noise.promise, noise.noise.rate, noise.step_m, noise.reach_m)
    if cells is None and noise.remap is None:
        note = "The distribution of people is unknown: give a prior on cells to measure leakage, too."
        return Audit(repr(noise), (_promise(proof, None),), (_ONE_REPORT, note))
    coarse = coarsen(noise, cells)
    promise = _promise(proof, coarse)
    if progress is not None:
        progress(promise)
    if inputs.metric is None:
        inputs = replace(inputs, metric=coarse.cells.metric("euclidean", unit="km"))
    requests = [request for request in also if request.name not in _METRIC_KEYS]
    coarse_audit = plan_audit(coarse.mechanism, inputs, requests).measure(progress)
    entries = [_as_estimate(entry) for entry in coarse_audit.entries if entry.key not in _METRIC_KEYS]
    return Audit(repr(noise), (promise, *entries), (_ONE_REPORT, coarse.sentence))


def _promise(proof: NoiseProof, coarse: Coarsening | None) -> Entry:
    lower, witness = (0.0, "") if coarse is None else _at_least(proof, coarse)
    upper = proof.upper
    return Entry(
        COORDINATE_PRIVACY,
        "Coordinate privacy",
        "epsilon",
        Bracket(min(lower, upper), upper, upper),
        unit=proof.promise.unit,
        per=True,
        is_proved=True,
        witness=witness,
        sentence=f"{proof.sentence} {proof.proof}",
        source="Andres et al., CCS 2013, definition 3.3; docs/proofs/planar-noise.md",
        slack=amount_at_most(proof.slack_m, "m"),
    )


def _at_least(proof: NoiseProof, coarse: Coarsening) -> tuple[float, str]:
    """Return an epsilon that is needed between two middles of cells, and its witness."""
    p = coarse.mechanism.matrix
    cells, unit = coarse.cells, proof.promise.unit
    distance = cells.metric("great-circle", unit=unit).array
    slack = proof.slack_m * units.factor("m", unit)
    best, witness = 0.0, ""
    for s in range(len(p)):
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log((p[s] - coarse.off) * (1 - _ROUNDING) / (p + coarse.off))
        # Great circles are within 0.6 % of the ellipsoid's distances.
        epsilons = np.where(p[s] > coarse.off, logs, -math.inf) / (1.006 * distance[s][:, None] + slack)
        epsilons[s] = -math.inf
        t, o = np.unravel_index(int(np.argmax(epsilons)), epsilons.shape)
        if epsilons[t, o] > best:
            best = float(epsilons[t, o])
            names = cells.labels
            witness = f"the middles of {names[s]} and {names[int(t)]}, reports in {names[int(o)]}"
    return max(0.0, down(best * (1 - _ROUNDING))), witness


def _as_estimate(entry: Entry) -> Entry:
    """Return an entry as an estimate: it is about cells, and nothing follows from it for points."""
    bracket = Bracket(-math.inf, entry.bracket.value, math.inf)
    sentence = f"Estimate on cells: {entry.sentence}" if entry.sentence else ""
    return replace(entry, bracket=bracket, side=Side.ESTIMATE, is_proved=False, sentence=sentence)


@dataclass(frozen=True, slots=True, repr=False)
class AuditPlan(CompactRepr):
    """The notions that an audit measures, with their inputs, after every check.

    Attributes:
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
        kinds = shares_of(self.inputs.kinds, self.inputs.events, len(self.mechanism.secrets))
        unlisted = "" in (self.inputs.kinds or {})
        for measurement in chain(notions, measures(self.mechanism, prior, metric, kinds, unlisted=unlisted)):
            entry = replace(measurement, is_proved=False) if self.listed else measurement
            if progress is not None:
                progress(entry)
            entries.append(entry)
        notes = [
            "The values are for one report. Over k reports of one person, the epsilon of differential, metric and "
            "coordinate privacy is at most k times as large; values under a prior may grow by more."
        ]
        if note := secret_words(self.mechanism.secrets).note:
            notes.append(note)
        if prior is None:
            notes.append("No prior was given: what an attacker gains under one was not measured.")
        if metric is None:
            notes.append("No metric was given: epsilon per unit of distance and errors were not measured.")
        if self.listed:
            notes.append(_MATRIX_NOTE)
        secrets, reports = self.mechanism.shape
        size = f"a mechanism of {plural(secrets, 'secret')} and {plural(reports, 'report')}"
        return Audit(self.listed or size, tuple(entries), tuple(notes))


def plan_audit(mechanism: Randomizer, inputs: AuditInputs, also: Iterable[Request]) -> AuditPlan:
    """Return the plan of an audit: of the usual notions and of further requests.

    A tupling or a family is listed as a matrix. Raises `InputError` if the matrix is too large to list, a request
    names nothing that can be measured, or something that it needs was not given.
    """
    notions = []
    matrix: Mechanism = mechanism.channel()
    kinds = shares_of(inputs.kinds, inputs.events, len(matrix.secrets))
    inputs.check_kinds()
    for request in also:
        notion = request.notion(inputs, matrix.secrets)
        if notion is None:  # a measure, which is measured anyway, or an unknown name
            check_measure(request.name, inputs.prior, inputs.metric, kinds)
        else:
            notions.append(notion)
    distinct: dict[tuple[object, ...], Notion] = {}
    for notion in chain(supported_notions(inputs), notions):
        distinct.setdefault((notion.key, notion.parameter, *sorted(fixed_options(notion).items())), notion)
    recipe = None if mechanism is matrix else mechanism.recipe()
    is_exact = recipe is None or (isinstance(recipe, Row) and recipe.mechanism == matrix)  # from just this matrix
    return AuditPlan(matrix, inputs, tuple(distinct.values()), "" if is_exact else repr(mechanism))


def _entry(notion: Notion, mechanism: Mechanism) -> Entry:
    """Return the entry of one notion: measured, and proved over the integers where that is possible."""
    finding = notion.measure(mechanism)
    upper, is_proved = finding.upper, False
    metric = notion.as_metric_privacy(mechanism.secrets)
    if metric is not None and math.isfinite(finding.value):
        proof = prove_metric_privacy(mechanism, MetricPrivacy(max(finding.upper, 1e-12), metric))
        upper, is_proved = min(upper, proof.upper), True
    return Entry(
        key=notion.key,
        title=_title(notion),
        parameter=notion.parameter,
        bracket=Bracket(finding.lower, finding.value, upper),
        unit=notion.unit,
        per=bool(notion.unit),
        options=fixed_options(notion),
        is_proved=is_proved,
        witness=finding.witness.describe(mechanism.secrets, mechanism.observables),
        sentence=notion.sentence(upper),
        source=notion.description.source,
        vacuous=notion.vacuous,
    )


def _title(notion: Notion) -> str:
    parts: list[str] = []
    for name, value in notion.settings.items():
        if isinstance(value, Divergence):
            parts.insert(0, value.name)
        elif isinstance(value, Priors):
            parts.append(f"under {value}")
        elif isinstance(value, int | float) and name in fixed_options(notion):
            parts.append(f"{name} {exactly(value)}")
    return f"{notion.heading} ({', '.join(parts)})" if parts else notion.heading
