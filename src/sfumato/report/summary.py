"""A design or a mechanism file in words: promise, cost, and what an attacker achieves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..attacks import goals
from ..core import DistortionPrivacy, Guarantee, Loss, Mechanism, Metric, MetricPrivacy, Prior, hamming
from ..core.guarantees import ThresholdPrivacy
from ..core.units import per_unit
from ..escaping import markdown, plain
from ..evidence import (
    Certificate,
    DistortionProof,
    EpsilonProof,
    Optimality,
    distortion_below,
    expected_loss_above,
    prove_optimality,
    relative_gap,
    worst_loss_above,
)
from ..files import MechanismFile
from ..geo import Places
from ..leakage import mutual_information_bits
from ..optimal import Design, Status
from ..rounding import amount, amount_at_least, at_least, at_most, gap_at_most, percent


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its sentences."""

    title: str
    sentences: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "sentences", tuple(plain(sentence) for sentence in self.sentences))


@dataclass(frozen=True, slots=True)
class Summary:
    """A report in words.

    Attributes:
        title: One line.
        sections: The sections in reading order.
    """

    title: str
    sections: tuple[Section, ...]

    def markdown(self) -> str:
        """Return the summary as Markdown."""
        parts = [f"# {markdown(self.title)}"]
        for section in self.sections:
            parts.append(f"## {markdown(section.title)}")
            parts += map(markdown, section.sentences)
        return "\n\n".join(parts) + "\n"


def summarise(design: Design, ground: Metric | None = None, *, source: str = "") -> Summary:
    """Return a design in words.

    Args:
        design: The design.
        ground: The metric in which cost and errors are told, where it is not the loss.
        source: Where the prior comes from, in a few words.
    """
    problem, mechanism, certificate = design.problem, design.mechanism, design.certificate
    promise = promises(mechanism, problem.guarantees, certificate.metric_privacy, certificate.distortion)
    sections = [
        Section("Promise", tuple(promise)) if promise else None,
        Section("Cost", tuple(_cost(mechanism, problem.prior, problem.loss, ground, certificate))),
        Section("Optimality", tuple(_optimality(design))),
        Section("Attack", tuple(attack_sentences(mechanism, problem.prior, ground))),
        Section("How it was made", tuple(_making(design, source))),
    ]
    nouns = "places" if isinstance(mechanism.secrets, Places) else "values"
    title = f"A mechanism for {len(mechanism.secrets):,} {nouns}"
    return Summary(title, tuple(section for section in sections if section is not None))


def audited(
    held: MechanismFile, epsilons: Sequence[EpsilonProof], distortions: Sequence[DistortionProof]
) -> Summary:
    """Return in words what an audit of a mechanism file proved.

    Args:
        held: The file.
        epsilons: One proof per metric guarantee.
        distortions: One proof per distortion guarantee.
    """
    mechanism, prior, loss = held.mechanism, held.prior, held.loss
    promised = promises(mechanism, held.guarantees, epsilons, distortions)
    sections = [Section("Promise", tuple(promised) or ("It promises nothing, so nothing was proved.",))]
    witnesses = [_witness(mechanism, proof) for proof in epsilons]
    if witnesses:
        sections.append(Section("Where it is tight", tuple(witnesses)))
    if prior is not None and loss is not None:
        expected, worst = expected_loss_above(mechanism, prior, loss), worst_loss_above(mechanism, loss)
        mean, most = amount(expected, loss.unit), amount(worst, loss.unit)
        costs = [f"The {loss.name} loss is {mean} on average, {most} at worst."]
        if held.optimality is not None:
            kept = all(proof.holds for proof in epsilons) and all(proof.holds for proof in distortions)
            costs.append(
                _rechecked(held, prior, loss, held.optimality, expected, worst)
                if kept
                else "How near it is to the best mechanism with this promise means nothing, because it was not "
                "proved to keep the promise."
            )
        sections.append(Section("Cost", tuple(costs)))
    if prior is not None:
        sections.append(Section("Attack", tuple(attack_sentences(mechanism, prior, None))))
    if held.stated:
        sections.append(Section("Not checked", tuple(f"{note[0].upper()}{note[1:]}." for note in held.stated)))
    return Summary(f"Audit of a {mechanism!r}", tuple(sections))


def _rechecked(
    held: MechanismFile, prior: Prior, loss: Loss, optimality: Optimality, expected: float, worst: float
) -> str:
    """Return what the prices in the file prove of the optimum."""
    bound = prove_optimality(prior, loss, held.guarantees, optimality)
    if optimality.objective == "distortion" and optimality.distance is not None:
        distance = optimality.distance
        value = distortion_below(held.mechanism, prior, distance)
        scale, maximise, unit = float(distance.array.max()), True, distance.unit
        most = amount_at_least(optimality.max_loss, loss.unit)
        what = (
            f"no mechanism that keeps its promise and loses at most {most} on average "
            f"makes the best attacker err by more than {amount(bound, unit)}"
        )
    else:
        at_worst = optimality.objective == "worst-case"
        value = worst if at_worst else expected
        scale, maximise = float(np.abs(loss.array).max()), False
        what = f"no mechanism with this promise loses less than {amount(bound, loss.unit)} " + (
            "at worst" if at_worst else "on average"
        )
    off = relative_gap(value, bound, scale, maximise=maximise)
    return f"By the prices in the file, {what}; this one is within {gap_at_most(off)} of that."


def _witness(mechanism: Mechanism, proof: EpsilonProof) -> str:
    s, t = proof.worst_pair
    labels = mechanism.secrets.labels
    report = mechanism.observables.labels[proof.worst_observable]
    return f"The pair {labels[s]} and {labels[t]} comes closest to the bound, at the report {report}."


def promises(
    mechanism: Mechanism,
    guarantees: Sequence[Guarantee],
    epsilons: Sequence[EpsilonProof],
    distortions: Sequence[DistortionProof],
) -> list[str]:
    """Return what is proved, a sentence or two per guarantee."""
    noun = "place" if isinstance(mechanism.secrets, Places) else "value"
    n, m = mechanism.shape
    sentences = []
    proofs = iter(epsilons)
    others = iter(distortions)
    for guarantee in guarantees:
        if isinstance(guarantee, MetricPrivacy):
            proof = next(proofs)
            sentences.append(_ratio_sentence(guarantee, noun))
            sentences.append(
                f"Proved on the integers that are sampled, for all {n * (n - 1):,} ordered pairs and {m:,} "
                f"reports: epsilon is at most {at_most(proof.upper, 7)}{per_unit(proof.unit)}."
                if proof.holds
                else f"NOT PROVED: epsilon is up to {at_most(proof.upper, 7)}{per_unit(proof.unit)}."
            )
        elif isinstance(guarantee, DistortionPrivacy):
            found = next(others)
            claim = amount(guarantee.minimum, found.unit)
            sentences.append(
                f"Even the best attacker with this prior errs by at least {claim} on average "
                f"(proved: {at_least(found.lower)} {found.unit})."
                if found.holds
                else f"NOT PROVED: an error of at least {claim}; proved is {at_least(found.lower)} {found.unit}."
            )
    return sentences


def attack_sentences(mechanism: Mechanism, prior: Prior, ground: Metric | None) -> list[str]:
    """Return what the best attacker achieves who knows the prior and the mechanism."""
    noun = "place" if isinstance(mechanism.secrets, Places) else "value"
    best = goals(mechanism, prior, hamming(prior.space) if ground is None else ground)
    hits, before = best.hit_rate, best.blind_hit_rate
    sentences = [
        f"The best attacker, who knows how likely each {noun} is, finds yours {percent(hits)} of the time: "
        f"{percent(before)} had he seen nothing, 100 % without the mechanism."
    ]
    if ground is not None:
        error, most = best.near.error, best.near_blind.error
        sentences.append(
            f"His best guess errs by {amount(error, ground.unit)} on average: "
            f"{amount(most, ground.unit)} had he seen nothing, 0 without the mechanism."
        )
    bits = mutual_information_bits(mechanism, prior)
    sentences.append(f"One report tells {bits:.2f} of the {prior.entropy_bits:.2f} bits of the {noun}.")
    return sentences


def _ratio_sentence(guarantee: MetricPrivacy, noun: str) -> str:
    epsilon, unit = guarantee.epsilon, guarantee.metric.unit
    if isinstance(guarantee, ThresholdPrivacy):
        return (
            f"Of two near {noun}s ({guarantee.metric.name}), no report is more than {_times(epsilon)} times "
            "likelier from one than from the other; farther apart, that factor counts once per hop."
        )
    if not unit:
        return (
            f"No report is more than e^({epsilon:g} x distance) times likelier from one {noun} than from another "
            f"({guarantee.metric.name}): {_times(epsilon)} times at distance 1."
        )
    return (
        f"No report is more than e^({epsilon:g} x distance in {unit}) times likelier from one {noun} than from "
        f"another: {_times(epsilon)} times for {noun}s 1 {unit} apart ({guarantee.metric.name} distance)."
    )


def _times(exponent: float) -> str:
    return f"{math.exp(exponent):.3g}" if exponent < 30 else f"e^{exponent:.3g}"


def _cost(
    mechanism: Mechanism, prior: Prior, loss: Loss, ground: Metric | None, certificate: Certificate
) -> list[str]:
    place = isinstance(mechanism.secrets, Places)
    sentences = []
    if ground is not None and mechanism.observables == mechanism.secrets:
        expected, worst = mechanism.expected_loss(prior, ground), mechanism.worst_case_loss(ground)
        what = "On average you appear {} from where you are" if place else "On average the report is off by {}"
        sentences.append(
            f"{what.format(amount(expected, ground.unit))} ({amount(worst, ground.unit)} for the worst "
            f"{'place' if place else 'value'})."
        )
    if loss.name == "hamming":
        what = "another place than the true one" if place else "another value than the true one"
        sentences.append(f"{percent(certificate.loss)} of the reports name {what}.")
    elif ground is None or loss.name != ground.name:
        sentences.append(
            f"The {loss.name} loss is {amount(certificate.loss, loss.unit)} on average and "
            f"{amount(certificate.worst_case_loss, loss.unit)} at worst."
        )
    return sentences


def _optimality(design: Design) -> list[str]:
    c = design.certificate
    if c.objective == "distortion":
        unit = design.problem.distance.unit if design.problem.distance is not None else ""
        best = f"No mechanism within this loss makes the best attacker err by more than {amount(c.bound, unit)}"
    else:
        kind = "a worst-case" if c.objective == "worst-case" else "an average"
        best = f"No mechanism with this promise has {kind} loss below {amount(c.bound, c.loss_unit)}"
    sentences = [f"{best}; this one is within {gap_at_most(c.gap)} of that (proved by duality)."]
    if design.status is Status.RESTRICTED:
        sentences.append(f"It is {design.status.value}.")
    elif not design.finished:
        sentences.insert(0, f"NOT FINISHED: {design.status.value}.")
    return sentences


def _making(design: Design, source: str) -> list[str]:
    prior = design.problem.prior
    noun = "place" if isinstance(prior.space, Places) else "value"
    sentences = [
        f"Prior: {source or 'as given'}; it holds {len(prior.support):,} of {len(prior):,} {noun}s possible.",
        f"{design.solver}, {len(design.log)} steps, "
        f"{design.seconds:.1f} s; {design.mechanism.bits}-bit integers; "
        f"share mixed in to mend the solver's answer: {design.certificate.repair_weight:.1e}.",
    ]
    if design.tie_gap is not None:
        sentences.append(
            "Among mechanisms of equal loss, one of most distortion privacy was taken "
            f"(within {gap_at_most(design.tie_gap)} of the most)."
        )
    sentences.append(
        "The promise is for one report. k reports of one person add up to k times epsilon; what else is "
        "published beside the report is not covered."
    )
    return sentences
