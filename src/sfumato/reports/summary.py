"""Summaries of designs, files and noise in words, for the terminal and for Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Any, Final

import numpy as np

from ..core import CoordinatePrivacy, Guarantee, Metric, MetricPrivacy, units
from ..core.immutable import CompactRepr
from ..core.naming import quote
from ..core.units import per_unit
from ..escaping import markdown, plain
from ..files import MechanismFile
from ..geo import Lattice, Visits
from ..optimal import CoordinateBound, Design, RobustDesign, Status
from ..proofs import FamilyPrivacy, NoiseCertificate, VertexPrivacy
from ..rounding import about, amount, amount_at_least, amount_at_most, at_most, plural
from .facts import Overview, all_hold, of_design, of_file, of_noise
from .sentences import (
    FAMILY_REPETITION,
    REPETITION,
    attack_words,
    constraint_item,
    cost_words,
    formal_words,
    held_out_words,
    information_words,
    no_guarantee_words,
    nothing_words,
    optimum_words,
    risk_words,
    robust_words,
    secret_nouns,
    short_words,
    smoothed_words,
    spread_words,
    stopped_words,
    table_words,
    tie_words,
    title_words,
    unfinished_words,
    witness_words,
)

_REVEALS_ALL: Final = 10.0  # e^10 is 22,026: the report all but reveals the secret
_REVEALS_NOTHING: Final = 0.01  # no report is more than 1.01 times as likely from one secret as from another
_NEAR_M: Final = 100.0  # metres: a block of houses


@dataclass(frozen=True, slots=True, repr=False)
class Section(CompactRepr):
    """A heading and its sentences."""

    title: str
    sentences: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "sentences", tuple(plain(sentence) for sentence in self.sentences))


@dataclass(frozen=True, slots=True, repr=False)
class Summary(CompactRepr):
    """A report in words."""

    title: str
    sections: tuple[Section, ...]
    brief: tuple[str, ...] = ()  # the most important sentences
    remarks: tuple[str, ...] = ()  # what the report of the file cannot state from the file

    def markdown(self) -> str:
        """Return title and sections as Markdown."""
        parts = [f"# {markdown(self.title)}"]
        for section in self.sections:
            parts.append(f"## {markdown(section.title)}")
            parts += map(markdown, section.sentences)
        return "\n\n".join(parts) + "\n"


def summarise(
    design: Design,
    ground: Metric | None = None,
    *,
    source: str = "",
    visits: Visits | None = None,
    held_out: Visits | None = None,
    remarks: Sequence[str] = (),
    of: str = "visits",
    robust: RobustDesign | None = None,
    names: Sequence[str] = (),
) -> Summary:
    """Return a design in words.

    ``ground`` is the metric of cost and errors, where it is not the loss, and ``source`` names that of the prior.
    With the visits of a prior on places, called ``of``, cost and errors are also stated from the true point.
    Visits held out, which the design has not seen, have a second loss. Remarks are on how the design was made. A
    robust design, whose design this is, is stated with the names of its priors.
    """
    facts = of_design(design, ground, visits, held_out)
    subject = facts.subject
    is_stopped = not design.is_finished and design.status is not Status.RESTRICTED
    status = (unfinished_words(stopped_words(design)),) if is_stopped else ()
    guarantees = (*_guarantees(facts), *map(constraint_item, facts.constraints))
    costs = _costs(facts, of)
    smoothed = () if facts.smoothed is None else (smoothed_words(facts.smoothed, subject, f"the {of}"),)
    holdout: tuple[str, ...] = ()
    if held_out is not None and facts.held_out_visits:
        holdout = (held_out_words(facts.held_out, facts.held_out_visits, "the design"),)
    spread = spread_words(facts.radius)
    optimum = _optimum(facts, " (proved by duality)")
    priors = () if robust is None else robust_words(robust, names, facts.costs[-1].kind, subject)
    sections = [
        Section("Guarantee", guarantees),
        Section("Priors", priors),
        Section("Cost", (*costs, *smoothed, *holdout, *spread)),
        Section("Optimality", (*status, optimum, *_remarks(design))),
        Section("Attack", _attacks(facts, of)),
        Section("How it was made", (*remarks, *_provenance(design, secret_nouns(subject)[1], source))),
    ]
    title = title_words(subject, design.mechanism.secrets.circle)
    short = (short_words(promise, subject) for promise in facts.promises)
    loss = priors or (*costs[:1], *smoothed)
    attacks = _attacks(facts, of, brief=True)
    brief = (title, *status, *short, *loss, *holdout, *spread, *attacks, *([] if priors else [optimum]))
    return Summary(title, tuple(section for section in sections if section.sentences), brief, priors)


def design_sentences(design: Design, **options: Any) -> tuple[str, ...]:
    """Return the sentences of a design's summary; options are those of `summarise` or `summarise_noise`."""
    if design.has_program:
        summary = summarise(design, **options)
    else:
        summary = summarise_noise(MechanismFile.of_design(design), design.certificate, **options)
    return tuple(sentence for section in summary.sections for sentence in section.sentences)


def summarise_file(file: MechanismFile) -> Summary:
    """Return in words the proofs, cost and attackers of a mechanism file with a matrix."""
    return audit_summary(file, of_file(file))


def audit_summary(file: MechanismFile, facts: Overview) -> Summary:
    """Return the facts of a file in words."""
    optimality, guarantees = file.optimality, _guarantees(facts)
    if not guarantees and file.tupling is not None:
        guarantees = ["The file guarantees nothing about a single report."]
    elif not guarantees:
        guarantees = [no_guarantee_words(constraints=bool(facts.constraints))]
    costs = _costs(facts)
    if costs and optimality is not None:
        if all(promise.is_proved for promise in facts.promises) and all_hold(facts.constraints):
            loss = "this loss"
            if optimality.objective == "distortion" and file.loss is not None:
                loss = f"a loss of at most {amount_at_least(optimality.max_loss, file.loss.unit)} on average"
            distance = optimality.distance
            guesses = len(distance.array) if distance is not None and distance.true_point else 0
            costs.append(_optimum(facts, ", by the dual prices in the file", loss, guesses))
        else:
            also = " and its linear constraints" if facts.constraints else ""
            costs.append(
                f"Its distance from the optimum means nothing, because its guarantees{also} are not all proved."
            )
    sections = (
        Section("Guarantee", tuple(guarantees)),
        Section("Linear constraints", tuple(map(constraint_item, facts.constraints))),
        Section("Where it is tight", tuple(starmap(witness_words, facts.witnesses))),
        Section("Cost", tuple(filter(None, costs))),
        Section("Attack", _attacks(facts)),
        Section("Not checked", tuple(f"{note[0].upper()}{note[1:]}." for note in file.stated)),
    )
    return Summary(f"Audit: {file.mechanism!r}", tuple(section for section in sections if section.sentences))


def summarise_noise(
    file: MechanismFile, certificate: NoiseCertificate | None = None, *, places: str = ""
) -> Summary:
    """Return the noise of a file in words, with a certificate its loss and the attacker's error on some places.

    The places are named in a few words, ``"4,237 visits in paris.csv"``; by default the source of the table.
    """
    facts = of_noise(file, certificate)
    (promise,), subject = facts.promises, facts.subject
    of = places or file.source or "the places given"
    costs = tuple(sentence for cost in facts.costs for sentence in cost_words(cost, subject, of))
    costs += spread_words(facts.radius)
    attacks = attack_words(facts.attacks, subject, points=f"{of} and how often people are at each")
    sections = (
        Section("Guarantee", formal_words(promise, subject)),
        Section("Table", () if file.noise.remap is None else (table_words(file.source),)),
        Section("Cost", costs),
        Section("Attack", attacks),
        Section("How it is drawn", (file.noise.describe()[0], REPETITION)),
        Section("Not checked", _unchecked_claims(file, certified=certificate is not None)),
    )
    if certificate is not None:
        costs = (*cost_words(facts.costs[0], subject, "the visits"), *spread_words(facts.radius))
        attacks = attack_words(facts.attacks, subject, points="where the visits were")
    brief = (title_words(subject), short_words(promise, subject), *costs, *attacks)
    return Summary(title_words(subject), tuple(section for section in sections if section.sentences), brief)


def _unchecked_claims(file: MechanismFile, *, certified: bool) -> tuple[str, ...]:
    sentences = []
    if not certified:
        sentences.append(
            "The cost of a report and an attacker's error depend on the true points, which the recipe does not "
            "contain. 'sfumato attack' estimates the error."
        )
        if file.noise.remap is not None:
            sentences.append(
                "Only the writer states whose places the table was made of. Any table has the guarantee."
            )
    if file.claims:
        names = ", ".join(quote(name) for name in sorted(file.claims)[:20])
        sentences.append(f"Other claims are the writer's own, from which nothing is proved: {names}.")
    return tuple(sentences)


def _guarantees(facts: Overview) -> list[str]:
    sentences: list[str] = []
    for promise in facts.promises:
        sentences += formal_words(promise, facts.subject) or (nothing_words(facts.subject),)
    return sentences


def _costs(facts: Overview, of: str = "visits") -> list[str]:
    return [sentence for cost in facts.costs for sentence in cost_words(cost, facts.subject, f"the {of}")]


def _attacks(facts: Overview, of: str = "visits", *, brief: bool = False) -> tuple[str, ...]:
    points = f"where the {of} were"
    sentences = attack_words(facts.attacks, facts.subject, even=facts.even, points=points)
    if brief:
        return sentences[:1]
    risk = () if facts.risk is None else risk_words(facts.risk, facts.subject)
    bits = () if facts.information is None else (information_words(facts.information, facts.subject),)
    return (*risk, *sentences, *bits)


def _optimum(facts: Overview, by: str, loss: str = "this loss", guesses: int = 0) -> str:
    counts = len(facts.promises), len(facts.constraints)
    return optimum_words(facts.costs[-1], facts.subject, *counts, by, loss=loss, guesses=guesses)


def _remarks(design: Design) -> list[str]:
    sentences = []
    if design.optimality is None and design.answer is not None and design.answer.has_proof:
        sentences.append(
            "This was proved while the design was made. The file cannot prove it again, because the dual prices "
            "are too many to store."
        )
    if design.status is Status.RESTRICTED:
        sentences.append(f"It is {design.status.value}.")
    return [*sentences, *([] if design.choice is None else [design.choice.sentence])]


def _provenance(design: Design, nouns: str, source: str) -> list[str]:
    prior, steps = design.problem.prior, plural(len(design.log), "step")
    sentences = [
        f"Prior: {source or 'as given'}; {len(prior.support):,} of {len(prior):,} {nouns} are possible.",
        f"{design.solver}, {steps}, {about(design.seconds, 2)} s; {design.mechanism.bits}-bit integers; share "
        f"mixed in to correct the solver's answer: {at_most(design.certificate.repair_weight, 2)}.",
    ]
    if design.tie_gap is not None:
        sentences.append(tie_words(design.tie_gap))
    families = [guarantee for guarantee in design.guarantees if isinstance(guarantee, FamilyPrivacy)]
    alone = len(families) == len(design.guarantees)
    return [*sentences, *([] if families and alone else [REPETITION]), *([FAMILY_REPETITION] if families else [])]


def best_section(bound: CoordinateBound, loss: float) -> Section:
    """Return the comparison of a loss with a bound for all mechanisms.

    Raises `InputError` if no mechanism with the guarantee can have this loss.
    """
    limit = amount_at_most(loss, bound.loss_unit)
    sentence = f"On the places that the bound is for it loses at most {limit} on average."
    return Section("The best conceivable", (sentence, bound.sentence, bound.comparison(loss)))


def extremes(guarantee: Guarantee) -> list[str]:
    """Return a warning about metric privacy that hides nothing or reveals nothing; none where it does neither."""
    if not isinstance(guarantee, MetricPrivacy):
        return []
    epsilon, metric = guarantee.epsilon, guarantee.metric
    if isinstance(guarantee, VertexPrivacy):
        epsilon, metric = guarantee.promise.epsilon, guarantee.lattice.metric("euclidean", guarantee.promise.unit)
    apart = metric.array[(metric.array > 0) & np.isfinite(metric.array)]
    if not apart.size:
        return []
    nearest, farthest = float(apart.min()), float(apart.max())
    return _extreme(
        epsilon,
        metric.unit,
        (epsilon * nearest, f"even of the nearest values, {amount(nearest, metric.unit)} apart"),
        (epsilon * farthest, f"even for values {amount(farthest, metric.unit)} apart"),
    )


def coordinate_extremes(promise: CoordinatePrivacy, lattice: Lattice) -> list[str]:
    """Return a warning about a guarantee for points of a lattice that hides nothing or reveals nothing."""
    per_m = promise.epsilon * units.factor("m", promise.unit)
    farthest_m = float(lattice.metric("euclidean").array.max())
    return _extreme(
        promise.epsilon,
        promise.unit,
        (per_m * _NEAR_M, f"for points {_NEAR_M:g} m apart"),
        (per_m * farthest_m, f"even for points {amount(farthest_m, 'm')} apart"),
    )


def _extreme(epsilon: float, unit: str, near: tuple[float, str], far: tuple[float, str]) -> list[str]:
    """Return a warning by the exponents of a near and of a far pair, each with its words."""
    rate = f"epsilon {about(epsilon)}{per_unit(unit)}"
    if near[0] >= _REVEALS_ALL:
        factor = f"{math.exp(near[0]):,.0f}" if near[0] < 30 else f"e^{near[0]:,.0f}"
        return [
            f"{rate} hides almost nothing: {near[1]}, reports may differ in likelihood by a factor of {factor}. "
            "Use a smaller one."
        ]
    if far[0] <= _REVEALS_NOTHING:
        return [
            f"{rate} leaves nothing to learn: {far[1]} all reports are almost equally likely. Use a larger one."
        ]
    return []
