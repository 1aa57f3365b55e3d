"""A design or a mechanism file in words: promise, cost, and what an attacker achieves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..core import Loss, Mechanism, Metric, MetricPrivacy, Prior
from ..core.immutable import CompactRepr
from ..core.naming import name_phrase, quote
from ..escaping import markdown, plain
from ..files import MechanismFile, promised_pairs
from ..geo import DISTANCES, TRUE_POINT, Cells, Lattice, Places, Visits
from ..optimal import CoordinateBound, Design, Status
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
    about,
    amount,
    amount_at_least,
    amount_at_most,
    at_most,
    counted,
    gap_at_most,
    percent_at_most,
    sum_above,
    up,
)
from .attack_summary import attack_sentences
from .promises import constraint_sentences, nouns, promises, witness

_NOTHING: Final = "It promises nothing, so nothing was proved."
_SAME: Final = 1e-9  # relative, between a prior and that of the visits


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
    return Summary(f"Audit: {held.mechanism!r}", tuple(sections))


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


def cost_sentences(
    design: Design, ground: Metric | None, visits: Visits | None, held_out: Visits | None, of: str = "visits"
) -> list[str]:
    """Return what the reports of a design cost.

    Args:
        design: The design.
        ground: The metric on the secrets in which the cost is stated, where it is not the loss.
        visits: The visits of the prior, where the secrets are places.
        held_out: Visits that the design has not seen.
        of: The word for the visits of the prior.
    """
    mechanism, problem, certificate = design.mechanism, design.problem, design.certificate
    space, prior, loss = mechanism.secrets, problem.prior, design.loss
    place, of_points = isinstance(space, Places), loss.name.endswith(TRUE_POINT)
    sentences = []
    if of_points:
        sentences += _of_visits(mechanism, prior, loss, certificate.loss, visits, of)
    elif visits is not None and isinstance(space, Places) and mechanism.observables.coordinates is not None:
        true, seen = space.loss(visits, observables=mechanism.observables), Prior.from_visits(space, visits)
        sentences.append(_true_sentence(true, expected_loss_above(mechanism, seen, true), of))
    elif ground is not None and mechanism.observables == space:
        expected = amount_at_most(expected_loss_above(mechanism, prior, ground), ground.unit)
        worst = amount_at_most(worst_loss_above(mechanism, ground), ground.unit)
        way = ", the shorter way around the circle" if space.circle and ground.name == "absolute" else ""
        sentences.append(
            f"From the centre of your cell to that of the reported one it is at most {expected} on average (at "
            f"most {worst} for the worst cell). Where in the cell you are is not counted."
            if place
            else f"On average the report is off by at most {expected} (at most {worst} for the worst value){way}."
        )
    if loss.name == "hamming":
        what = "another place than the true one" if place else "another value than the true one"
        if isinstance(space, Lattice):
            what = "another vertex than the one that you are rounded to"
        sentences.append(f"At most {percent_at_most(certificate.loss)} of the reports name {what}.")
    elif not of_points and (ground is None or visits is not None or loss.name != ground.name):
        sentences.append(loss_sentence(mechanism, loss, certificate.loss, certificate.worst_case_loss))
    return [*sentences, *_held_out(mechanism, loss, held_out)]


def loss_sentence(mechanism: Mechanism, loss: Loss, expected: float, worst: float, *, checked: bool = True) -> str:
    """Return bounds of a loss; an average over points says nothing about the worst case.

    Args:
        mechanism: The mechanism.
        loss: The loss.
        expected: A bound of its mean.
        worst: A bound of its mean at the worst secret.
        checked: Whether the loss is that of the coordinates and labels; else it is a table of the file's writer.
    """
    if not checked:
        return (
            f"By a table of losses that the file states under the name {quote(loss.name)}, and nothing confirms, "
            f"a report loses at most {amount_at_most(expected, loss.unit)} on average."
        )
    if isinstance(mechanism.secrets, Lattice) or loss.name.endswith(TRUE_POINT):
        return f"The loss ({name_phrase(loss.name)}) is at most {amount_at_most(expected, loss.unit)} on average."
    centres = " between centres of cells" if isinstance(mechanism.secrets, Cells) and loss.unit else ""
    if mechanism.secrets.circle and loss.name == "absolute":
        centres = f" {mechanism.secrets.circle}"
    name = name_phrase(loss.name, "loss")
    return (
        f"The {name}{centres} is at most {amount_at_most(expected, loss.unit)} on average "
        f"and at most {amount_at_most(worst, loss.unit)} at worst."
    )


def _of_visits(
    mechanism: Mechanism, prior: Prior, loss: Loss, expected: float, visits: Visits | None, of: str
) -> list[str]:
    """Return the loss on visits, and that under the prior where it is another one, as with smoothing."""
    space, points = prior.space, loss.points
    if visits is not None and isinstance(space, Places):
        seen = Prior.from_visits(space, visits)
    elif points is not None:
        seen = Prior(space, points.masses / points.masses.sum())
    else:
        return [_true_sentence(loss, expected, of)]
    if np.allclose(seen.probabilities, prior.probabilities, rtol=_SAME, atol=0):
        return [_true_sentence(loss, expected, of)]
    nobody = "vertex" if isinstance(space, Lattice) else "place"
    return [
        _true_sentence(loss, expected_loss_above(mechanism, seen, loss), of),
        f"The prior is not that of the {of}, as with smoothing. Under it the loss is at most "
        f"{amount_at_most(expected, loss.unit)} on average, where a {nobody} without {of} counts as if people "
        "were at it.",
    ]


def _true_sentence(loss: Loss, expected: float, of: str) -> str:
    kind = loss.name.removesuffix(TRUE_POINT)
    distance = "" if kind == "euclidean" else f" ({name_phrase(kind, 'distance')})"
    amount_of = amount_at_most(expected, loss.unit)
    return f"On average over the {of}, you appear at most {amount_of} from where you truly are{distance}."


def _held_out(mechanism: Mechanism, loss: Loss, visits: Visits | None) -> list[str]:
    places, reports = mechanism.secrets, mechanism.observables
    if visits is None or not isinstance(places, Places) or reports.coordinates is None:
        return []
    inside = int(places.inside(visits.lat, visits.lon).sum())
    if not inside:
        given = counted(len(visits), "visit")
        return [f"None of the {given} held out is in the region, so nothing is said of them."]
    kind = loss.name.removesuffix(TRUE_POINT)
    true = places.loss(visits, kind if kind in DISTANCES else "euclidean", loss.unit or "km", observables=reports)
    expected = mechanism.expected_loss(Prior.from_visits(places, visits), true)
    return [
        f"On {counted(inside, 'visit')} held out, which the design has not seen, you appear about "
        f"{amount(expected, true.unit)} from where you truly are on average. That is an estimate, not a bound."
    ]


def best_section(bound: CoordinateBound, loss: float) -> Section:
    """Return what a bound of all mechanisms says of one.

    Args:
        bound: The bound.
        loss: The mechanism's expected loss on the same places, or more; in the bound's unit.

    Raises:
        InputError: If no mechanism with the promise can have this loss.
    """
    stated = amount_at_most(loss, bound.loss_unit)
    return Section(
        "The best conceivable",
        (
            f"On the places that the bound is for it loses at most {stated} on average.",
            bound.sentence,
            bound.compared(loss),
        ),
    )
