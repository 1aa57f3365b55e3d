"""Costs of a file's mechanism, and how near it is to the best with its promise."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...core import Bracket, Loss, Mechanism, Prior
from ...escaping import plain
from ...files import MechanismFile
from ...geo import Cells, Places, Projection, Visits
from ...geo.places import TRUE_POINT
from ...proofs import distortion_below, expected_loss_above, prove_optimality, worst_loss_above
from .facts import ConstraintFacts, CostFacts, PromiseFacts
from .quantity import Known, Quantity

_UNKNOWN = CostFacts("unknown", "", None, None, None, "", None, True)


def cost_of(
    held: MechanismFile,
    kept: Sequence[PromiseFacts | ConstraintFacts],
    visits: Visits | None,
) -> CostFacts:
    """Return what reports of a file cost.

    Args:
        held: The file.
        kept: What is proved of its promises and constraints: how near it is to the best is said only where all
            of them hold.
        visits: Where people were, for the cost from true points.
    """
    if not held.has_matrix:
        return _UNKNOWN if visits is None else _of_noise(held, visits)
    mechanism, prior, loss = held.report_channel, held.prior, held.loss
    places = mechanism.secrets
    expected: Quantity | None = None
    worst: Quantity | None = None
    kind, name, checked = "unknown", "", True
    if prior is not None and loss is not None:
        checked = not held.loss_is_stated
        # A table that nothing confirms is no distance, whatever its name says.
        kind, name = _kind(mechanism, loss) if checked else "loss", plain(loss.name)
        expected, worst = _of_loss(mechanism, prior, loss, Known.PROVED if checked else Known.STATED)
        worst = None if loss.name.endswith(TRUE_POINT) else worst
    best, objective, reached = _best(held, kept)
    if visits is not None and isinstance(places, Places) and mechanism.observables.coordinates is not None:
        true, seen = places.loss(visits, observables=mechanism.observables), Prior.from_visits(places, visits)
        expected, _ = _of_loss(mechanism, seen, true, Known.PROVED)
        kind, name, worst, checked = "true point", true.name, None, True
    return CostFacts(kind, name, expected, worst, best, objective, reached, checked)


def _kind(mechanism: Mechanism, loss: Loss) -> str:
    if loss.name == "hamming" and mechanism.observables == mechanism.secrets:
        return "hamming"
    return "centres" if isinstance(mechanism.secrets, Cells) and loss.unit else "loss"


def _of_loss(mechanism: Mechanism, prior: Prior, loss: Loss, known: Known) -> tuple[Quantity, Quantity]:
    upper, worst = expected_loss_above(mechanism, prior, loss), worst_loss_above(mechanism, loss)
    value = min(upper, mechanism.expected_loss(prior, loss))
    return Quantity(None, value, upper, loss.unit, known), Quantity.at_most(worst, loss.unit, known)


def _best(
    held: MechanismFile, kept: Sequence[PromiseFacts | ConstraintFacts]
) -> tuple[Quantity | None, str, Quantity | None]:
    """Return the proved bound of all mechanisms with the promise, what it is about, and what this one reaches."""
    mechanism, prior, loss, optimality = held.report_channel, held.prior, held.loss, held.optimality
    if optimality is None or prior is None or loss is None or not all(each.holds for each in kept):
        return None, "", None
    bound = prove_optimality(prior, loss, held.guarantees, optimality, held.constraints)
    if not math.isfinite(bound):
        return None, "", None
    if optimality.objective == "distortion" and optimality.distance is not None:
        unit = optimality.distance.unit
        reached = distortion_below(mechanism, prior, optimality.distance)
        return Quantity.at_most(bound, unit), optimality.objective, Quantity.at_least(reached, unit)
    at_worst = optimality.objective == "worst-case"
    lost = worst_loss_above(mechanism, loss) if at_worst else expected_loss_above(mechanism, prior, loss)
    return Quantity.at_least(bound, loss.unit), optimality.objective, Quantity.at_most(lost, loss.unit)


def _of_noise(held: MechanismFile, visits: Visits) -> CostFacts:
    noise = held.mechanism
    inside = noise.serves(visits.lat, visits.lon)
    if not inside.any():
        return _UNKNOWN
    plane = noise.projection or Projection(*visits.region().centre)
    points = plane.forward(visits.lat[inside], visits.lon[inside])
    lost: Bracket = noise.error(points, np.ones(len(points))).loss
    return CostFacts("true point", "euclidean", Quantity.of(lost, "m"), None, None, "", None, True)
