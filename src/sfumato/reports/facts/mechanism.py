"""Subject, guarantees with their proofs, and costs of a mechanism file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from ...core import (
    Bracket,
    DistortionPrivacy,
    Guarantee,
    Loss,
    Mechanism,
    Metric,
    MetricPrivacy,
    NumberBins,
    Prior,
    Space,
    ThresholdPrivacy,
    is_hamming,
    units,
)
from ...core.arrays import Floats
from ...errors import InputError
from ...escaping import plain, shorten
from ...files import DistanceSource, MechanismFile, promised_pairs, source_of
from ...geo import Cells, ChosenPlaces, Lattice, Places, Projection, Visits
from ...intervals import exp_above
from ...mechanisms.planar import CoordinateNoise
from ...proofs import (
    CoordinateProof,
    DistortionProof,
    EpsilonProof,
    FamilyPrivacy,
    LinearConstraint,
    PlaceDistortion,
    VertexPrivacy,
    distortion_below,
    error_radius,
    expected_loss_above,
    prove_constraint,
    prove_families,
    prove_guarantees,
    prove_optimality,
    worst_loss_above,
)
from ...rounding import sum_error, up, upper_end
from .types import (
    BeliefFacts,
    ConstraintFacts,
    CostFacts,
    Evidence,
    FamilyFacts,
    FormalFacts,
    PromiseFacts,
    Quantity,
    RadiusFacts,
    SubjectFacts,
)

REPORTS: Final = (1, 10, 100)  # numbers of fresh reports
_LENGTHS_M: Final = (100.0, 500.0, 1000.0)
_UNCONFIRMED: Final = (DistanceSource.UNCONFIRMED, DistanceSource.STATED_MAP)
_EVIDENCE: Final = dict.fromkeys((DistanceSource.LABELS, *_UNCONFIRMED), Evidence.STATED)
_STEPS: Final = (1, 2, 5, 10, 20, 50)
_LONGEST = 40  # characters of a label


def promises_of(
    file: MechanismFile, proofs: tuple[Sequence[EpsilonProof], Sequence[DistortionProof]] | None = None
) -> tuple[PromiseFacts, ...]:
    """Return the guarantees of a file and their proofs, made from its integers or its recipe if None."""
    if not file.has_matrix:
        return (_promise_of_noise(file),)
    mechanism = file.report_channel
    prior = file.prior or Prior.uniform(mechanism.secrets)  # metric privacy needs none
    proofs = proofs or prove_guarantees(mechanism, prior, file.guarantees)
    epsilons, errors = iter(proofs[0]), iter(proofs[1])
    return tuple(
        _of_metric(mechanism, guarantee, next(epsilons))
        if isinstance(guarantee, MetricPrivacy)
        else _of_family(mechanism, guarantee)
        if isinstance(guarantee, FamilyPrivacy)
        else _of_error(mechanism, guarantee, next(errors))
        for guarantee in file.guarantees
    )


def constraints_of(mechanism: Mechanism, constraints: Iterable[LinearConstraint]) -> tuple[ConstraintFacts, ...]:
    """Prove linear constraints on the integers of a mechanism."""
    facts = []
    for constraint in constraints:
        proof = prove_constraint(mechanism, constraint)
        claimed = Quantity.exact(proof.claimed, proof.unit, Evidence.STATED)
        bound = Quantity.at_most(proof.upper, proof.unit)
        facts.append(ConstraintFacts(plain(constraint.name), claimed, bound, proof.holds))
    return tuple(facts)


def belief_of(
    distance: Quantity, exponent: float, reports: int = 1, known: Evidence = Evidence.PROVED
) -> BeliefFacts:
    """Return the meaning of reports whose probabilities differ by at most a factor e^exponent."""
    factor = float(exp_above(np.array([exponent]))[0])
    belief = Quantity.at_most(belief_above(exponent), known=known)
    return BeliefFacts(distance, reports, Quantity.at_most(factor, known=known), belief)


def belief_above(exponent: float) -> float:
    """Return a float at least e^x / (1 + e^x): the most that a belief of 50 % can become."""
    times = float(exp_above(np.array([exponent]))[0])
    return 1.0 if math.isinf(times) else min(1.0, up(up(up(times / (1.0 + times)))))


def _of_metric(mechanism: Mechanism, guarantee: MetricPrivacy, proof: EpsilonProof) -> PromiseFacts:
    unit, slack = proof.unit, 0.0
    near, metric, space = None, guarantee.metric, mechanism.secrets
    source, pairs = source_of(mechanism, guarantee), promised_pairs(guarantee.metric)
    known = _EVIDENCE.get(source, Evidence.PROVED)
    if not pairs:
        kind, distances = "nothing", []
    elif isinstance(guarantee, VertexPrivacy):
        width_m = float(np.hypot(*np.ptp(centres_m(guarantee.lattice), axis=0)))
        kind, distances, slack = "points", _lengths(width_m), guarantee.lattice.slack_m
    elif isinstance(guarantee, ThresholdPrivacy):
        kind, distances = "near", [Quantity.exact(1.0)]
        near = Quantity.exact(guarantee.within, guarantee.distance.unit)
    else:
        kind = "cells" if isinstance(space, Cells) and metric.unit else "values"
        distances = _example_distances(metric, cells=kind == "cells")
    if isinstance(proof, CoordinateProof):
        slack = proof.slack_m
    rate = f"/{unit}" if unit else ""
    holds, unconfirmed = proof.holds and kind != "nothing", source is DistanceSource.UNCONFIRMED
    n = len(metric)
    round_trip = space.circle if source is DistanceSource.CONFIRMED and not guarantee.for_any_two else ""
    return PromiseFacts(
        kind,
        holds and not unconfirmed,
        holds and unconfirmed,
        Quantity.exact(proof.claimed, rate, Evidence.STATED),
        Quantity.at_most(proof.upper, rate, known),
        metric.name,
        source.value,
        unit,
        near,
        0,
        n * (n - 1) - pairs,
        tuple(_beliefs(proof.upper, unit, distances, slack, known)),
        FormalFacts(n, pairs, mechanism.shape[1], slack, circle=round_trip),
        symmetric=metric.symmetric,
    )


def _of_error(mechanism: Mechanism, guarantee: Guarantee, proof: DistortionProof) -> PromiseFacts:
    source = source_of(mechanism, guarantee)
    distance = guarantee.distance if isinstance(guarantee, DistortionPrivacy) else None
    visits = places = guesses = 0
    circle = error = ""
    if isinstance(guarantee, PlaceDistortion):
        visits, places = int(guarantee.times.sum()), len(guarantee.degrees)
        error = guarantee.kind
    elif distance is not None:
        guesses = len(distance.array) if distance.true_point else 0
        circle = "" if is_hamming(distance, mechanism.secrets, mechanism.secrets) else mechanism.secrets.circle
    unconfirmed = source in _UNCONFIRMED
    return PromiseFacts(
        "error",
        proof.holds and not unconfirmed,
        proof.holds and unconfirmed,
        Quantity.exact(proof.claimed, proof.unit, Evidence.STATED),
        Quantity.at_least(proof.lower, proof.unit, _EVIDENCE.get(source, Evidence.PROVED)),
        "" if distance is None else distance.name,
        source.value,
        proof.unit,
        visits=visits,
        error=error,
        formal=FormalFacts(reports=mechanism.shape[1], guesses=guesses, places=places, circle=circle),
    )


def _of_family(mechanism: Mechanism, guarantee: FamilyPrivacy) -> PromiseFacts:
    (proof,) = prove_families(mechanism, [guarantee])
    notion, rate = guarantee.notion, f"/{proof.unit}" if proof.unit else ""
    family, name = notion.family, "" if guarantee.distance is None else guarantee.distance.name
    images = family.distributions @ mechanism.matrix
    mean = float(images.max(axis=0).sum()) / len(family)
    success = min(1.0, upper_end(mean, sum_error(sum(mechanism.shape), mean)))
    every = len(family) * (len(family) - 1) == len(np.unique(family.pairs, axis=0)) and guarantee.distance is None
    if every and proof.upper == 0 and notion.delta == 0:  # all reports are equal
        success = 1 / len(family)
    return PromiseFacts(
        "family",
        proof.holds,
        False,
        Quantity.exact(proof.claimed, rate, Evidence.STATED),
        Quantity.at_most(proof.upper, rate),
        name,
        source_of(mechanism, guarantee).value,
        proof.unit,
        formal=FormalFacts(family.size, reports=mechanism.shape[1]),
        family=FamilyFacts(
            plain(str(family)),
            len(family),
            len(family.pairs),
            notion.delta,
            notion.sides,
            getattr(notion, "far_pairs_note", ""),
            Quantity.at_most(success),
        ),
    )


def _promise_of_noise(file: MechanismFile) -> PromiseFacts:
    proof = file.noise_proof
    unit, distances = proof.promise.unit, _lengths(2 * proof.reach_m)
    return PromiseFacts(
        "points",
        proof.holds,
        False,
        Quantity.exact(proof.promise.epsilon, f"/{unit}", Evidence.STATED),
        Quantity.at_most(proof.upper, f"/{unit}"),
        "euclidean",
        DistanceSource.CONFIRMED.value,
        unit,
        beliefs=tuple(_beliefs(proof.upper, unit, distances, proof.slack_m)),
        formal=FormalFacts(slack_m=proof.slack_m, claimed_slack_m=proof.promise.slack_m, reach_m=proof.reach_m),
    )


def _beliefs(
    epsilon: float, unit: str, distances: Iterable[Quantity], slack_m: float, known: Evidence = Evidence.PROVED
) -> list[BeliefFacts]:
    beliefs = []
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
            beliefs.append(belief_of(distance, exponent, reports, known))
    return beliefs


def _lengths(most_m: float, above_m: float = 0.0) -> list[Quantity]:
    return [Quantity.exact(length, "m") for length in _LENGTHS_M if above_m < length <= most_m]


def _example_distances(metric: Metric, *, cells: bool) -> list[Quantity]:
    """Return the least distance of two secrets, and round ones up to the largest, at least one for values.

    Where directions differ, the longer one counts.
    """
    array = metric.array if metric.symmetric else np.maximum(metric.array, metric.array.T)
    apart = array[(array > 0) & np.isfinite(array)]
    if not apart.size:
        return []
    nearest, farthest = float(apart.min()), float(apart.max())
    if nearest == farthest:
        return [Quantity.exact(nearest, metric.unit)]
    if metric.unit in ("m", "km"):
        to_m = units.factor(metric.unit, "m")
        rounded = _lengths(farthest * to_m, nearest * to_m)
    else:
        rounded = [Quantity.exact(float(step), metric.unit) for step in _STEPS if nearest < step <= farthest][:2]
    if not rounded and not cells:  # one distance alone would read as that of any two
        rounded = [Quantity.exact(farthest, metric.unit)]
    return [Quantity.exact(nearest, metric.unit), *rounded]


def subject_of(file: MechanismFile) -> SubjectFacts:
    """Return the subject of a file."""
    prior: Prior | None = file.prior
    impossible = 0 if prior is None else len(prior) - len(prior.support)
    if not file.has_matrix:
        reach, plane = file.noise.reach_m, file.noise.projection
        corner = np.array([reach, reach])
        region = () if plane is None else _box(plane, -corner, corner)
        return SubjectFacts("noise", 0, 0, 0, impossible, region, (2 * reach, 2 * reach), "", "", "m")
    mechanism = file.report_channel
    secrets, reports = mechanism.secrets, mechanism.observables
    of_places = isinstance(secrets, Places)
    region, size = _extent(secrets) if isinstance(secrets, Places) else ((), ())
    return SubjectFacts(
        kind_of(secrets),
        len(secrets),
        len(reports),
        int((~(mechanism.weights != 0).any(axis=0)).sum()),
        impossible,
        region,
        size,
        shorten(plain(secrets.labels[0]), _LONGEST),
        shorten(plain(secrets.labels[-1]), _LONGEST),
        "m" if of_places else plain(secrets.unit),
        of_places and reports.crs is not None and not isinstance(reports, Places | ChosenPlaces),
        None if secrets.period is None else Quantity.exact(secrets.period, plain(secrets.unit), Evidence.STATED),
    )


def kind_of(space: Space) -> str:
    """Return ``points``, ``cells``, ``ranges`` (of numbers), ``numbers`` or ``categories``."""
    if isinstance(space, Places):
        return "points" if isinstance(space, Lattice) else "cells"
    if isinstance(space, NumberBins) and space.width > 1:
        return "ranges"
    return "numbers" if of_numbers(space) else "categories"


def of_numbers(space: Space) -> bool:
    """Return whether values are numbers, or bins of numbers, on one line or circle."""
    xy = space.coordinates
    return xy is not None and space.crs is None and xy.shape[1] == 1


def centres_m(space: Places) -> Floats:
    """Return the middles of places on their plane, metres, array (n, 2)."""
    return np.asarray(space.coordinates, dtype=np.float64)


def _extent(places: Places) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the box around the positions that places serve (S, W, N, E in degrees), and its size in metres."""
    xy = centres_m(places)
    if isinstance(places, Lattice):
        pieces = places.pieces
        if places.kind == "square":
            xy, half = xy[pieces[:, 4]], places.spacing_m / 2
            xy = np.concatenate([xy - half, xy + half])
        else:
            xy = xy[np.unique(pieces)]
    elif isinstance(places, Cells):
        corners = places.outlines_latlon().reshape(-1, 2)
        xy = places.projection.forward(*corners.T)
    low, high = xy.min(axis=0), xy.max(axis=0)
    return _box(places.projection, low, high), tuple(map(float, high - low))


def _box(projection: Projection, low: Floats, high: Floats) -> tuple[float, ...]:
    corners = np.array([(x, y) for x in (low[0], high[0]) for y in (low[1], high[1])])
    degrees = projection.inverse(corners)
    return tuple(map(float, (*degrees.min(axis=0), *degrees.max(axis=0))))


def cost_of(file: MechanismFile, visits: Visits | None, *, is_proved: bool) -> CostFacts:
    """Return the cost of a file's reports, and a bound of the best where all of its claims are proved."""
    if not file.has_matrix:
        bracket = None if visits is None else loss_of_noise(file.noise, visits)
        return CostFacts("unknown", "") if bracket is None else noise_cost(bracket)
    mechanism, prior, loss = file.report_channel, file.prior, file.loss
    places = mechanism.secrets
    kind, name, checked = "unknown", "", True
    expected: Quantity | None = None
    worst: Quantity | None = None
    if prior is not None and loss is not None:
        checked = not file.loss_is_stated
        # A table that nothing confirms is no distance, whatever its name says.
        kind, name = kind_of_loss(mechanism, loss) if checked else "loss", plain(loss.name)
        expected, worst = _of_loss(mechanism, prior, loss, Evidence.PROVED if checked else Evidence.STATED)
        worst = None if loss.true_point else worst
    best, objective, value = _best(file) if is_proved else (None, "", None)
    if visits is not None and isinstance(places, Places) and mechanism.observables.coordinates is not None:
        true, law = places.loss(visits, observables=mechanism.observables), Prior.from_visits(places, visits)
        expected, _ = _of_loss(mechanism, law, true, Evidence.PROVED)
        kind, name, worst, checked = "true point", true.true_point, None, True
    errors = None if file.optimality is None else file.optimality.distance
    error = "" if errors is None else errors.true_point
    return CostFacts(kind, name, expected, worst, best, objective, value, checked, error=error)


def radius_of(file: MechanismFile) -> RadiusFacts | None:
    """Return the error radius of a file's reports; None of tuples, without places, or if it is not bounded."""
    near_table = not file.has_matrix and file.noise.remap is not None
    try:
        length = Quantity.at_most(error_radius(file.mechanism, near_table=near_table), "m")
        return RadiusFacts(length, near_table)
    except InputError:
        return None


def kind_of_loss(mechanism: Mechanism, loss: Loss) -> str:
    """Return how a loss is stated: as a share (``hamming``), between ``centres``, or as a ``loss``."""
    if mechanism.observables == mechanism.secrets and is_hamming(loss, mechanism.secrets, mechanism.secrets):
        return "hamming"
    return "centres" if isinstance(mechanism.secrets, Cells) and loss.unit else "loss"


def _of_loss(mechanism: Mechanism, prior: Prior, loss: Loss, known: Evidence) -> tuple[Quantity, Quantity]:
    upper, worst = expected_loss_above(mechanism, prior, loss), worst_loss_above(mechanism, loss)
    value = min(upper, mechanism.expected_loss(prior, loss))
    return Quantity(None, value, upper, loss.unit, known), Quantity.at_most(worst, loss.unit, known)


def _best(file: MechanismFile) -> tuple[Quantity | None, str, Quantity | None]:
    """Return the proved bound of the covered mechanisms, its objective, and the value of this mechanism."""
    mechanism, prior, loss, optimality = file.report_channel, file.prior, file.loss, file.optimality
    if optimality is None or prior is None or loss is None:
        return None, "", None
    bound = prove_optimality(prior, loss, file.guarantees, optimality, file.constraints)
    if not math.isfinite(bound):
        return None, "", None
    if optimality.objective == "distortion" and optimality.distance is not None:
        unit = optimality.distance.unit
        error = distortion_below(mechanism, prior, optimality.distance)
        return Quantity.at_most(bound, unit), optimality.objective, Quantity.at_least(error, unit)
    at_worst = optimality.objective == "worst-case"
    value = worst_loss_above(mechanism, loss) if at_worst else expected_loss_above(mechanism, prior, loss)
    return Quantity.at_least(bound, loss.unit), optimality.objective, Quantity.at_most(value, loss.unit)


def loss_of_noise(noise: CoordinateNoise, visits: Visits) -> Bracket | None:
    """Return the average loss of noise, metres, over the visits that it serves; None where it serves none."""
    inside = noise.serves(visits.lat, visits.lon)
    if not inside.any():
        return None
    plane = noise.projection or Projection(*visits.region().centre)
    points = plane.forward(visits.lat[inside], visits.lon[inside])
    return noise.error(points, np.ones(len(points))).loss


def noise_cost(loss: Bracket) -> CostFacts:
    """Return the cost of noise with a loss in metres."""
    return CostFacts("true point", "euclidean", Quantity.of(loss, "m"))
