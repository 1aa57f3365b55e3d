"""Promises in words: what is proved of each, where it is tight, and whether it is too weak or too strong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from ..core import (
    CoordinatePrivacy,
    DistortionPrivacy,
    Guarantee,
    Mechanism,
    Metric,
    MetricPrivacy,
    Space,
    ThresholdPrivacy,
    units,
)
from ..core.naming import label_phrase, name_phrase, quote
from ..core.units import per_unit
from ..files import DistanceSource, promised_pairs, source_of
from ..geo import TRUE_POINT, Cells, Lattice
from ..proofs import (
    ConstraintProof,
    DistortionProof,
    EpsilonProof,
    LinearConstraint,
    PlaceDistortion,
    VertexPrivacy,
)
from ..rounding import (
    about,
    amount,
    amount_at_least,
    amount_at_most,
    at_most,
    at_most_against,
    counted,
    exactly,
    factor_at_most,
)

_TELLS_ALL: Final = 10.0  # e^10 is 22,026: the report all but reveals the secret
_BORDER: Final = (
    "Distances are between the centres of cells: two people a metre apart, on the two sides of a border, count as "
    "far apart as the centres of their cells."
)
_BY: Final = {
    DistanceSource.LABELS: "By the distances that are stated, ",
    DistanceSource.UNCONFIRMED: "By distances that are stated and that nothing confirms, ",
}
_NEAR_M: Final = 100.0  # metres: a block of houses
_VERTICES: Final = (
    "This is about the vertices that points are rounded to at random: nothing per distance follows for two points."
)
_TELLS_NOTHING: Final = 0.01  # no report is more than 1.01 times likelier from one secret than from another


def promises(
    mechanism: Mechanism,
    guarantees: Sequence[Guarantee],
    epsilons: Sequence[EpsilonProof],
    distortions: Sequence[DistortionProof],
) -> list[str]:
    """Return what is proved, a sentence or two per guarantee."""
    noun, _ = nouns(mechanism.secrets)
    m = mechanism.shape[1]
    sentences = []
    proofs = iter(epsilons)
    others = iter(distortions)
    for guarantee in guarantees:
        if isinstance(guarantee, MetricPrivacy):
            proof = next(proofs)
            source = source_of(mechanism, guarantee)
            if not promised_pairs(guarantee.metric):
                sentences.append(f"No two {noun}s are at a finite distance, so nothing is promised of any pair.")
                continue
            sentence = _ratio_sentence(guarantee, noun)
            begin = _BY.get(source, "")
            if not proof.holds:
                begin = f"It promises this: {begin[:1].lower()}{begin[1:]}"
            sentences.append(f"{begin}{sentence[0].lower()}{sentence[1:]}" if begin else sentence)
            confirmed = source is DistanceSource.CONFIRMED
            if isinstance(mechanism.secrets, Cells) and guarantee.metric.unit and confirmed:
                sentences.append(_BORDER)
            if mechanism.secrets.circle and guarantee.metric.name == "absolute" and confirmed:
                sentences.append(f"Distances are counted {mechanism.secrets.circle}, the shorter way around.")
            if isinstance(mechanism.secrets, Lattice) and not isinstance(guarantee, VertexPrivacy):
                sentences.append(_VERTICES)
            proved = f"{at_most_against(proof.upper, proof.claimed)}{per_unit(proof.unit)}"
            of_vertices = " of vertices" if isinstance(guarantee, VertexPrivacy) else ""
            counted_in = "" if confirmed else " at these distances"
            sentences.append(
                f"Proved on the integers that are sampled, for {_pairs(guarantee.metric)}{of_vertices}{counted_in}"
                f" and {counted(m, 'report')}: epsilon is at most {proved}."
                if proof.holds
                else f"NOT PROVED: epsilon is up to {proved}."
                if math.isfinite(proof.upper)
                else "NOT PROVED for any epsilon."
            )
        elif isinstance(guarantee, DistortionPrivacy):
            found = next(others)
            claim, lower = (
                amount_at_least(guarantee.minimum, found.unit),
                amount_at_least(found.lower, found.unit),
            )
            source = source_of(mechanism, guarantee)
            of_what, begin = _of_what(mechanism.secrets, guarantee, source), _BY.get(source, "")
            proved = "proved for these distances" if begin else "proved"
            sentences.append(
                f"{begin}{'even' if begin else 'Even'} the best attacker with this prior{_knowing(guarantee)} "
                f"errs by at least {claim} on average{of_what} ({proved}: {lower})."
                if found.holds
                else f"NOT PROVED: an error of at least {claim} on average{of_what}; what is proved"
                f"{' for the distances that are stated' if begin else ''} is {lower}."
            )
    return sentences


def constraint_sentences(constraints: Sequence[LinearConstraint], proofs: Sequence[ConstraintProof]) -> list[str]:
    """Return what is proved of linear constraints, a sentence for each."""
    sentences = []
    for constraint, proof in zip(constraints, proofs, strict=True):
        what, unit = f"linear constraint called {quote(constraint.name)}", proof.unit
        claim = f"{exactly(proof.claimed)}{unit and f' {unit}'}"
        upper = f"{at_most_against(proof.upper, proof.claimed)}{unit and f' {unit}'}"
        sentences.append(
            f"The {what} is kept: its sum is at most {claim} (proved: {upper})."
            if proof.holds
            else f"NOT PROVED: the {what} asks for a sum of at most {claim}; what is proved is {upper}."
        )
    return sentences


def _knowing(guarantee: DistortionPrivacy) -> str:
    """Return what an attacker knows beside the prior."""
    if not isinstance(guarantee, PlaceDistortion):
        return ""
    places = len(guarantee.degrees)
    where = "at the one place" if places == 1 else f"at which of {places:,} places"
    return f", who knows {where} the {int(guarantee.times.sum()):,} visits were and nothing more,"


def _of_what(space: Space, guarantee: DistortionPrivacy, source: DistanceSource) -> str:
    """Return from where the attacker errs, and where they may guess."""
    if source is DistanceSource.REPORTS:
        return ", if they guess one of the reports; elsewhere they may err less"
    if isinstance(guarantee, PlaceDistortion):
        return " from where people truly are, wherever they guess"
    if guarantee.distance.name.endswith(TRUE_POINT):
        guesses = len(guarantee.distance.array)
        return (
            f" from where people truly are, if they guess one of {guesses:,} points; elsewhere they may err less"
        )
    if isinstance(space, Lattice):
        return " about the vertex that you are rounded to, from which nothing follows for the point"
    if source is not DistanceSource.CONFIRMED:
        return ""
    if space.circle and guarantee.distance.name == "absolute":
        return f", counted {space.circle}"
    return ", counted between centres of cells" if isinstance(space, Cells) and guarantee.distance.unit else ""


def nouns(space: Space) -> tuple[str, str]:
    """Return what the members of a space are called, one and several."""
    if isinstance(space, Lattice):
        return "vertex", "vertices"
    return ("cell", "cells") if isinstance(space, Cells) else ("value", "values")


def extremes(guarantee: Guarantee) -> list[str]:
    """Return what to say about a promise of metric privacy that hides nothing, or reveals nothing.

    Args:
        guarantee: The promise; of other kinds there is nothing to say.

    Returns:
        Sentences; none where epsilon times the distance between values is moderate.
    """
    if not isinstance(guarantee, MetricPrivacy):
        return []
    epsilon, metric = guarantee.epsilon, guarantee.metric
    if isinstance(guarantee, VertexPrivacy):
        epsilon, metric = guarantee.promise.epsilon, guarantee.lattice.metric("euclidean", guarantee.promise.unit)
    apart = metric.array[(metric.array > 0) & np.isfinite(metric.array)]
    if not apart.size:
        return []
    nearest, farthest = float(apart.min()), float(apart.max())
    shown = f"epsilon {about(epsilon)}{per_unit(metric.unit)}"
    if epsilon * nearest >= _TELLS_ALL:
        return [
            f"{shown} hides almost nothing: even of the nearest values, {amount(nearest, metric.unit)} apart, "
            f"reports may differ in likelihood by a factor of {_factor(epsilon * nearest)}. Ask for a smaller one."
        ]
    if epsilon * farthest <= _TELLS_NOTHING:
        return [
            f"{shown} leaves nothing to learn: even for values {amount(farthest, metric.unit)} apart all reports "
            "are almost equally likely. Ask for a larger one."
        ]
    return []


def coordinate_extremes(promise: CoordinatePrivacy, lattice: Lattice) -> list[str]:
    """Return what to say about a promise per metre that hides nothing, or reveals nothing.

    Args:
        promise: The promise.
        lattice: What it is for.

    Returns:
        A sentence, or none where epsilon is moderate.
    """
    per_m = promise.epsilon * units.factor("m", promise.unit)
    shown = f"epsilon {about(promise.epsilon)}{per_unit(promise.unit)}"
    if per_m * _NEAR_M >= _TELLS_ALL:
        return [
            f"{shown} hides almost nothing: for points {_NEAR_M:g} m apart, reports may differ in likelihood by a "
            f"factor of {_factor(per_m * _NEAR_M)}. Ask for a smaller one."
        ]
    farthest_m = float(lattice.metric("euclidean").array.max())
    if per_m * farthest_m <= _TELLS_NOTHING:
        return [
            f"{shown} leaves nothing to learn: even for points {amount(farthest_m, 'm')} apart all reports are "
            "almost equally likely. Ask for a larger one."
        ]
    return []


def witness(mechanism: Mechanism, proof: EpsilonProof) -> str:
    """Return at which pair and report a promise is tightest, or broken most."""
    s, t = proof.worst_pair
    labels = mechanism.secrets.labels
    report = mechanism.observables.labels[proof.worst_observable]
    how = "comes closest to the bound" if proof.holds else "breaks the promise most"
    pair = f"{label_phrase(labels[s])} and {label_phrase(labels[t])}"
    return f"The pair {pair} {how}, at the report {label_phrase(report)}."


def _pairs(metric: Metric) -> str:
    """Return how many ordered pairs a promise is about: those at a finite distance."""
    n, finite = len(metric), promised_pairs(metric)
    if finite == n * (n - 1):
        return f"all {finite:,} ordered pairs"
    return f"the {finite:,} ordered pairs at a finite distance (of {n * (n - 1):,})"


def _ratio_sentence(guarantee: MetricPrivacy, noun: str) -> str:
    epsilon, unit, name = guarantee.epsilon, guarantee.metric.unit, guarantee.metric.name
    if isinstance(guarantee, VertexPrivacy):
        return _points_sentence(guarantee)
    times = factor_at_most(epsilon)
    if isinstance(guarantee, ThresholdPrivacy):
        return (
            f"Of two near {noun}s ({name_phrase(name)}), no report is more than {times} times "
            "likelier from one than from the other; farther apart, that factor counts once per hop."
        )
    exponent = f"{at_most(epsilon, 6)} x distance"
    if not unit:
        return (
            f"No report is more than e^({exponent}) times likelier from one {noun} than from another "
            f"({name_phrase(name)}): {times} times at distance 1."
        )
    return (
        f"No report is more than e^({exponent} in {unit}) times likelier from one {noun} than from "
        f"another: {times} times for {noun}s 1 {unit} apart ({name_phrase(name, 'distance')})."
    )


def _points_sentence(guarantee: VertexPrivacy) -> str:
    epsilon, unit = guarantee.promise.epsilon, guarantee.promise.unit
    added = amount_at_most(1000 * guarantee.lattice.slack_m, "mm")
    return (
        f"{guarantee.promise.sentence('that the lattice serves')}: {factor_at_most(epsilon)} times for points 1 "
        f"{unit} apart. Positions are snapped first, which adds at most {added} to a distance."
    )


def _factor(exponent: float) -> str:
    return f"{math.exp(exponent):,.0f}" if exponent < 30 else f"e^{exponent:,.0f}"
