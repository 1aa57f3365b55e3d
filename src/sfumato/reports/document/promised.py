"""Promises of a file, proved anew, and what they mean for beliefs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

import numpy as np

from ...core import DistortionPrivacy, Guarantee, Metric, MetricPrivacy, Prior, ThresholdPrivacy, units
from ...escaping import plain
from ...files import DistanceSource, MechanismFile, promised_pairs, source_of
from ...geo import Cells, Lattice
from ...intervals import exp_above
from ...proofs import (
    CoordinateProof,
    DistortionProof,
    EpsilonProof,
    PlaceDistortion,
    VertexPrivacy,
    prove_constraint,
    prove_guarantees,
)
from ...rounding import up
from ..promises import promises
from .facts import BeliefFacts, ConstraintFacts, PromiseFacts
from .quantity import Known, Quantity
from .subject import centres_m

REPORTS: Final = (1, 10, 100)
"""The numbers of fresh reports that a report speaks of."""

_LENGTHS_M: Final = (100.0, 500.0, 1000.0)
_KNOWN: Final = {DistanceSource.LABELS: Known.STATED, DistanceSource.UNCONFIRMED: Known.STATED}
_STEPS: Final = (1, 2, 5, 10, 20, 50)


def promises_of(held: MechanismFile) -> tuple[PromiseFacts, ...]:
    """Prove what a file promises, from its integers or its recipe, and return what that means."""
    if not held.has_matrix:
        return (_of_noise(held),)
    mechanism = held.report_channel
    prior = held.prior or Prior.uniform(mechanism.secrets)  # metric privacy needs none
    epsilons, distortions = prove_guarantees(mechanism, prior, held.guarantees)
    first, second = iter(epsilons), iter(distortions)
    found = []
    for guarantee in held.guarantees:
        if isinstance(guarantee, MetricPrivacy):
            proof = next(first)
            formal = tuple(promises(mechanism, [guarantee], [proof], []))
            cells, source = isinstance(mechanism.secrets, Cells), source_of(mechanism, guarantee)
            found.append(_of_metric(guarantee, proof, formal, source, cells=cells))
        else:
            error = next(second)
            formal = tuple(promises(mechanism, [guarantee], [], [error]))
            found.append(_of_error(guarantee, error, formal, source_of(mechanism, guarantee)))
    return tuple(found)


def constraints_of(held: MechanismFile) -> tuple[ConstraintFacts, ...]:
    """Prove the linear constraints of a file from its integers."""
    if not held.has_matrix:
        return ()
    proofs = [prove_constraint(held.report_channel, each) for each in held.constraints]
    return tuple(
        ConstraintFacts(
            plain(each.name),
            Quantity.exact(proof.claimed, proof.unit, Known.STATED),
            Quantity.at_most(proof.upper, proof.unit),
            proof.holds,
        )
        for each, proof in zip(held.constraints, proofs, strict=True)
    )


def belief_above(exponent: float) -> float:
    """Return a float at least e^x / (1 + e^x): what somebody believes at most who thought both equally likely."""
    times = float(exp_above(np.array([exponent]))[0])
    return 1.0 if math.isinf(times) else min(1.0, up(up(up(times / (1.0 + times)))))


def _of_metric(
    guarantee: MetricPrivacy,
    proof: EpsilonProof,
    formal: tuple[str, ...],
    source: DistanceSource,
    *,
    cells: bool,
) -> PromiseFacts:
    unit, slack = proof.unit, 0.0
    near = None
    known = _KNOWN.get(source, Known.PROVED)
    if not promised_pairs(guarantee.metric):
        kind, distances, formal = "nothing", [], ()
    elif isinstance(guarantee, VertexPrivacy):
        kind = "points"
        distances = _points(guarantee.lattice)
        slack = guarantee.lattice.slack_m
    elif isinstance(guarantee, ThresholdPrivacy):
        kind, distances = "near", [Quantity.exact(1.0)]
        near = Quantity.exact(guarantee.within, guarantee.distance.unit)
    else:
        kind = "cells" if cells and guarantee.metric.unit else "values"
        distances = _between(guarantee.metric)
    if isinstance(proof, CoordinateProof):
        slack = proof.slack_m
    rate = f"/{unit}" if unit else ""
    return PromiseFacts(
        kind,
        proof.holds and kind != "nothing" and source is not DistanceSource.UNCONFIRMED,
        proof.holds and kind != "nothing" and source is DistanceSource.UNCONFIRMED,
        Quantity.exact(proof.claimed, rate, Known.STATED),
        Quantity.at_most(proof.upper, rate, known),
        guarantee.metric.name,
        source.value,
        unit,
        near,
        0,
        len(guarantee.metric) * (len(guarantee.metric) - 1) - promised_pairs(guarantee.metric),
        tuple(_beliefs(proof.upper, unit, distances, slack, known)),
        formal,
    )


def _of_error(
    guarantee: Guarantee, proof: DistortionProof, formal: tuple[str, ...], source: DistanceSource
) -> PromiseFacts:
    distance = guarantee.distance if isinstance(guarantee, DistortionPrivacy) else None
    visits = int(guarantee.times.sum()) if isinstance(guarantee, PlaceDistortion) else 0
    return PromiseFacts(
        "error",
        proof.holds and source is not DistanceSource.UNCONFIRMED,
        proof.holds and source is DistanceSource.UNCONFIRMED,
        Quantity.exact(proof.claimed, proof.unit, Known.STATED),
        Quantity.at_least(proof.lower, proof.unit, _KNOWN.get(source, Known.PROVED)),
        "" if distance is None else distance.name,
        source.value,
        proof.unit,
        None,
        visits,
        0,
        (),
        formal,
    )


def _of_noise(held: MechanismFile) -> PromiseFacts:
    proof = held.noise_proof
    unit = proof.promise.unit
    distances = [Quantity.exact(each, "m") for each in _LENGTHS_M if each <= 2 * proof.reach_m]
    return PromiseFacts(
        "points",
        proof.holds,
        False,
        Quantity.exact(proof.promise.epsilon, f"/{unit}", Known.STATED),
        Quantity.at_most(proof.upper, f"/{unit}"),
        "euclidean",
        DistanceSource.CONFIRMED.value,
        unit,
        None,
        0,
        0,
        tuple(_beliefs(proof.upper, unit, distances, proof.slack_m)),
        (proof.sentence, proof.proof),
    )


def _beliefs(
    epsilon: float, unit: str, distances: Iterable[Quantity], slack_m: float, known: Known = Known.PROVED
) -> list[BeliefFacts]:
    """Return what an epsilon means at some distances, for one fresh report and for several."""
    found = []
    for distance in distances if math.isfinite(epsilon) else ():
        apart = distance.value
        if distance.unit != unit:
            apart = up(up(apart * units.factor(distance.unit, unit)))
        if slack_m:
            apart = up(apart + up(slack_m * units.factor("m", unit)))
        for reports in REPORTS:
            exponent = epsilon * apart
            exponent = exponent if apart in (0.0, 1.0) else up(exponent)
            exponent = exponent if reports == 1 else up(reports * exponent)
            factor = float(exp_above(np.array([exponent]))[0])
            belief = Quantity.at_most(belief_above(exponent), known=known)
            found.append(BeliefFacts(distance, reports, Quantity.at_most(factor, known=known), belief))
    return found


def _points(lattice: Lattice) -> list[Quantity]:
    xy = centres_m(lattice)
    widest = float(np.hypot(*(xy.max(axis=0) - xy.min(axis=0))))
    return [Quantity.exact(each, "m") for each in _LENGTHS_M if each <= widest]


def _between(metric: Metric) -> list[Quantity]:
    """Return some distances that occur between secrets, or lie between those that do."""
    apart = metric.array[(metric.array > 0) & np.isfinite(metric.array)]
    if not apart.size:
        return []
    nearest, farthest = float(apart.min()), float(apart.max())
    if nearest == farthest:
        return [Quantity.exact(nearest, metric.unit)]
    if metric.unit in ("m", "km"):
        to_m = units.factor(metric.unit, "m")
        rounded = [Quantity.exact(each, "m") for each in _LENGTHS_M if nearest * to_m < each <= farthest * to_m]
    else:
        rounded = [Quantity.exact(float(each), metric.unit) for each in _STEPS if nearest < each <= farthest][:2]
    return [Quantity.exact(nearest, metric.unit), *rounded]
