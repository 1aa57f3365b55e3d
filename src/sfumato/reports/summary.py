"""A design or a mechanism file in words: promise, cost, and what an attacker achieves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..attacks import PlaceAttack, goals, true_place
from ..core import Loss, Mechanism, Metric, MetricPrivacy, Prior, hamming
from ..core.immutable import CompactRepr
from ..escaping import markdown, plain
from ..files import MechanismFile, promised_pairs
from ..geo import Cells, Lattice, Places, Visits
from ..geo.places import TRUE_POINT
from ..leakage import mutual_information_bits
from ..optimal import Design, Status
from ..proofs import (
    DistortionProof,
    EpsilonProof,
    Optimality,
    covered,
    distortion_below,
    expected_loss_above,
    prove_constraint,
    prove_optimality,
    worst_loss_above,
)
from ..rounding import (
    UNIT,
    about,
    about_percent,
    amount,
    amount_at_least,
    amount_at_most,
    at_most,
    gap_at_most,
    percent_at_most,
    sum_above,
    up,
)
from .certain import always_found
from .costs import cost_sentences, loss_sentence
from .promises import constraint_sentences, nouns, promises, witness
from .within_radius import radius_sentence

_NOTHING: Final = "It promises nothing, so nothing was proved."


@dataclass(frozen=True, slots=True, repr=False)
class Section(CompactRepr):
    """A heading and its sentences."""

    title: str
    sentences: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "sentences", tuple(plain(sentence) for sentence in self.sentences))


@dataclass(frozen=True, slots=True, repr=False)
class Summary(CompactRepr):
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


def summarise(
    design: Design,
    ground: Metric | None = None,
    *,
    source: str = "",
    visits: Visits | None = None,
    held_out: Visits | None = None,
    remarks: Sequence[str] = (),
    of: str = "visits",
) -> Summary:
    """Return a design in words.

    Args:
        design: The design.
        ground: The metric in which cost and errors are stated, where it is not the loss.
        source: Where the prior comes from, in a few words.
        visits: The visits of the prior, on places: cost and errors are then also stated from the true point.
        held_out: Visits that the design has not seen, on which its loss is stated, too.
        remarks: Sentences on how it was made.
        of: The word for the visits, where points stand for them.
    """
    problem, mechanism, certificate = design.problem, design.mechanism, design.certificate
    if isinstance(mechanism.secrets, Lattice):
        ground = None  # distances between vertices are not those of the points that are rounded to them
    promise = promises(mechanism, problem.guarantees, certificate.metric_privacy, certificate.distortion)
    promise += constraint_sentences(problem.constraints, certificate.constraints)
    sections = [
        Section("Promise", tuple(promise)) if promise else None,
        Section("Cost", tuple(cost_sentences(design, ground, visits, held_out, of))),
        Section("Optimality", (*_optimality(design), *([design.choice.sentence] if design.choice else ()))),
        Section("Attack", tuple(attack_sentences(mechanism, problem.prior, ground, visits, of))),
        Section("How it was made", (*remarks, *_making(design, source))),
    ]
    secrets = mechanism.secrets
    title = f"A mechanism for {len(secrets):,} {nouns(secrets)[1]} {secrets.circle}".strip()
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
    mechanism, prior, loss = held.report_channel, held.prior, held.loss
    promised = promises(mechanism, held.guarantees, epsilons, distortions)
    limits = [prove_constraint(mechanism, each) for each in held.constraints]
    nothing = "Of one report alone nothing is promised." if held.tupling is not None else _NOTHING
    nothing = "It promises no privacy." if limits and not held.tupling else nothing
    sections = [Section("Promise", tuple(promised) or (nothing,))]
    if limits:
        sections.append(Section("What it keeps besides", tuple(constraint_sentences(held.constraints, limits))))
    metrics = [guarantee.metric for guarantee in held.guarantees if isinstance(guarantee, MetricPrivacy)]
    witnesses = [
        witness(mechanism, proof)
        for metric, proof in zip(metrics, epsilons, strict=True)
        if promised_pairs(metric)
    ]
    if witnesses:
        sections.append(Section("Where it is tight", tuple(witnesses)))
    if prior is not None and loss is not None:
        expected, worst = expected_loss_above(mechanism, prior, loss), worst_loss_above(mechanism, loss)
        costs = [loss_sentence(mechanism, loss, expected, worst, checked=not held.loss_is_stated)]
        if held.optimality is not None:
            promise = all(proof.holds for proof in epsilons) and all(proof.holds for proof in distortions)
            kept = promise and all(proof.holds for proof in limits)
            costs.append(
                _rechecked(held, prior, loss, held.optimality, expected, worst)
                if kept
                else "How near it is to the best mechanism of its kind means nothing, because it was not proved "
                f"to keep what it promises{' and its linear constraints' if limits else ''}."
            )
        sections.append(Section("Cost", tuple(costs)))
    if prior is not None:
        sections.append(Section("Attack", tuple(attack_sentences(mechanism, prior, None))))
    if held.stated:
        sections.append(Section("Not checked", tuple(f"{note[0].upper()}{note[1:]}." for note in held.stated)))
    return Summary(f"Audit: {mechanism!r}", tuple(sections))


def _rechecked(
    held: MechanismFile, prior: Prior, loss: Loss, optimality: Optimality, expected: float, worst: float
) -> str:
    """Return what the prices in the file prove of the optimum."""
    bound = prove_optimality(prior, loss, held.guarantees, optimality, held.constraints)
    if optimality.objective == "distortion" and optimality.distance is not None:
        distance = optimality.distance
        value, unit = distortion_below(held.report_channel, prior, distance), distance.unit
        most = f"a loss of at most {amount_at_least(optimality.max_loss, loss.unit)} on average"
        others = covered(held.report_channel.secrets, held.guarantees, held.constraints, loss=most)
        what = (
            f"no mechanism {others} makes the best attacker{_with(distance)} err by more than "
            f"{amount_at_most(bound, unit)}"
        )
        return f"By the prices in the file, {what}; {_near(value, bound, unit)}."
    at_worst = optimality.objective == "worst-case"
    others = covered(held.report_channel.secrets, held.guarantees, held.constraints)
    what = f"no mechanism {others} loses less than {amount_at_least(bound, loss.unit)} " + (
        "at worst" if at_worst else "on average"
    )
    return f"By the prices in the file, {what}; {_near(bound, worst if at_worst else expected, loss.unit)}."


def _with(distance: Loss) -> str:
    """Return which guesses an attacker has, where those of points are listed."""
    listed = distance.name.endswith(TRUE_POINT)
    return f" who guesses one of {len(distance.array):,} points" if listed else ""


def _near(low: float, high: float, unit: str) -> str:
    """Return how far a mechanism is from the best possible: relative to that, or else absolute.

    Args:
        low: The lower end of where the optimum lies: its bound, or what the mechanism reaches.
        high: The upper end: what the mechanism reaches, or the bound.
        unit: The unit of both.
    """
    if low >= high:
        return "this one reaches it"
    apart = sum_above((high, -low))
    least = min(abs(low), abs(high)) if low * high > 0 else 0.0  # the optimum is no smaller
    if apart > 0.5 * least:
        return f"this one is within {amount_at_most(apart, unit)} of the best of them"
    return f"this one is within {gap_at_most(up(apart / least))} of the best of them"


def attack_sentences(
    mechanism: Mechanism, prior: Prior, ground: Metric | None, visits: Visits | None = None, of: str = "visits"
) -> list[str]:
    """Return what the best attacker achieves, who knows the prior and the mechanism: first in distances."""
    noun, several = nouns(mechanism.secrets)
    exact = hamming(prior.space)
    even = bool((prior.probabilities == prior.probabilities[0]).all())
    knowing = (
        f"If all {several} are equally likely, the best attacker"
        if even and len(prior) > 1
        else f"The best attacker, who knows how likely each {noun} is,"
    )
    before = goals(mechanism, prior, exact if ground is None else ground)
    hits = min(1.0, -distortion_below(mechanism, prior, -np.eye(len(prior))))
    space = mechanism.secrets
    limit = percent_at_most(hits)
    often = "every time" if always_found(mechanism, prior) else f"at most {limit} of the time"
    if limit == "100 %" and often != "every time":
        often = "perhaps every time (no useful limit is proved)"
    blind = f"{about_percent(before.blind_hit_rate)} without seeing a report"
    share = f"{knowing} finds yours {often}: {blind}, 100 % without the mechanism."
    if isinstance(space, Lattice):
        apart = amount(space.spacing_m, "m")
        share = (
            f"{knowing} finds the one that you are rounded to {often}: {blind}. Vertices are {apart} apart, and a "
            "guess of the next one counts as wrong."
        )
    if visits is not None and isinstance(space, Places):
        sentences = [radius_sentence(mechanism, visits), place_sentence(true_place(mechanism, visits), of), share]
    elif ground is not None:
        error = distortion_below(mechanism, prior, ground)
        between = ", counted between centres of cells" if isinstance(space, Cells) else ""
        sentences = [
            share,
            f"Their best guess errs by at least {amount_at_least(error, ground.unit)} on average{between}: about "
            f"{amount(before.near_blind.error, ground.unit)} without seeing a report, 0 without the mechanism.",
        ]
    else:
        sentences = [share]
    bits = _bits_above(mechanism, prior)
    told, whole = at_most(bits), about(prior.entropy_bits)
    sentences.append(
        f"One report tells at most {told} bits of the {noun}, of about {whole} in all."
        if bits <= prior.entropy_bits
        else f"One report may tell all that there is to know of the {noun}, about {whole} bits."
    )
    return sentences


def place_sentence(found: PlaceAttack, of: str = "visits") -> str:
    """Return how far the best attacker errs from where people truly are."""
    unit = found.unit
    low, high = amount_at_least(found.error.lower, unit), amount_at_most(found.error.upper, unit)
    return (
        f"Wherever they guess, the best attacker errs from where you truly are by at least {low} and at most "
        f"{high} on average over these {of}, if that is all they know: about "
        f"{amount(found.blind.value, unit)} without seeing a report, 0 without the mechanism."
    )


def _bits_above(mechanism: Mechanism, prior: Prior) -> float:
    """Return an upper bound of what a report reveals on average, in bits; 0 where it cannot reveal anything."""
    n, m = mechanism.shape
    rows = mechanism.weights[prior.support]
    if (rows == rows[0]).all():
        return 0.0
    bits = mutual_information_bits(mechanism, prior) + (n + m + 16) * 8 * UNIT * (1 + math.log2(n * m))
    whole = min(len(rows), m)  # as many values, or reports, are told apart at most
    return min(bits, math.log2(whole) if whole.bit_count() == 1 else up(math.log2(whole)))


def _optimality(design: Design) -> list[str]:
    c = design.certificate
    if c.objective == "distortion":
        unit = design.problem.distance.unit if design.problem.distance is not None else ""
        others = covered(
            design.mechanism.secrets, design.problem.guarantees, design.problem.constraints, loss="this loss"
        )
        best = f"No mechanism {others} makes the best attacker err by more than {amount_at_most(c.bound, unit)}"
        near = _near(c.value, c.bound, unit)
    else:
        kind = "a worst-case" if c.objective == "worst-case" else "an average"
        others = covered(design.mechanism.secrets, design.problem.guarantees, design.problem.constraints)
        best = f"No mechanism {others} has {kind} loss below {amount_at_least(c.bound, c.loss_unit)}"
        near = _near(c.bound, c.value, c.loss_unit)
    sentences = [f"{best}; {near} (proved by duality)."]
    if design.optimality is None and design.answer is not None and design.answer.proved:
        sentences.append(
            "This was proved while the design was made. Its prices are too many to keep, so the file does not "
            "prove it again."
        )
    if design.status is Status.RESTRICTED:
        sentences.append(f"It is {design.status.value}.")
    elif not design.finished:
        sentences.insert(0, f"NOT FINISHED: {design.status.value}.")
    return sentences


def _making(design: Design, source: str) -> list[str]:
    prior = design.problem.prior
    _, several = nouns(prior.space)
    sentences = [
        f"Prior: {source or 'as given'}; {len(prior.support):,} of {len(prior):,} {several} are possible.",
        f"{design.solver}, {len(design.log)} step{'' if len(design.log) == 1 else 's'}, "
        f"{about(design.seconds, 2)} s; {design.mechanism.bits}-bit integers; "
        f"share mixed in to correct the solver's answer: {at_most(design.certificate.repair_weight, 2)}.",
    ]
    if design.tie_gap is not None:
        sentences.append(
            "Among mechanisms of equal loss, one with the most distortion privacy was chosen "
            f"(within {gap_at_most(design.tie_gap)} of the most)."
        )
    sentences.append(
        "The promise is for one report. k reports of one person add up to k times epsilon; what else is "
        "published beside the report is not covered."
    )
    return sentences
