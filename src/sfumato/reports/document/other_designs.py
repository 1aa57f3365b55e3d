"""Designs with other epsilons, computed in limited time or read from the table of a sweep."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...core import CoordinatePrivacy, DesignGuarantee, Loss, MetricPrivacy, Prior, ThresholdPrivacy
from ...core.immutable import CompactRepr
from ...core.units import is_length
from ...errors import DataError, InputError, SfumatoError, argument
from ...files import MechanismFile
from ...geo import Places, Visits
from ...mechanisms.planar import CoordinateNoise
from ...optimal import design
from ...proofs import VertexPrivacy, expected_loss_above, worst_loss_above
from ...rounding import down, up
from ...tables import read_columns
from ..facts import ConstraintFacts, CostFacts, Evidence, FrontierFacts, PromiseFacts, Quantity

SECONDS: Final = 60.0
"""Default time for the other designs."""

_TIMES: Final = (0.5, 2.0, 0.25, 4.0)  # of the epsilon of this design
_GAP: Final = 2e-3  # that ends a design; the page states the gap that is left
_SLACK: Final = 1e-9  # relative: the same losses
_EXPECTED, _WORST = "expected", "worst-case"
_FINENESS: Final = 0.5  # of the tables of noise, in units of 1 / epsilon
_ROWS: Final = 500  # of a sweep


@dataclass(frozen=True, slots=True, repr=False)
class OtherDesigns(CompactRepr):
    """The time limit for designs with other epsilons; raises `InputError` if it is negative or infinite."""

    seconds: float = SECONDS  # for all of them; 0 for none
    stop: Callable[[], bool] | None = None  # polled: whether to skip the rest
    progress: Callable[[int, int], None] | None = None  # called before each with its number and their count

    def __post_init__(self) -> None:
        if not 0 <= self.seconds < math.inf:
            raise InputError(
                f"{self.seconds:g} is not a number of seconds for other designs.",
                f"use {argument('frontier_time', 60)}, or 0 for none.",
            )

    def schedule(self) -> Iterator[tuple[float, float]]:
        """Yield the factors of epsilon, and the seconds for each: its share of the time that is left."""
        end = time.monotonic() + self.seconds
        for count, times in enumerate(_TIMES):
            left = end - time.monotonic()
            if left <= 0 or (self.stop is not None and self.stop()):
                return
            if self.progress is not None:
                self.progress(count + 1, len(_TIMES))
            yield times, left / (len(_TIMES) - count)


def other_designs(
    file: MechanismFile,
    promises: Sequence[PromiseFacts],
    limits: Sequence[ConstraintFacts],
    cost: CostFacts,
    visits: Visits | None,
    options: OtherDesigns,
) -> tuple[tuple[FrontierFacts, ...], str]:
    """Return the design among designs with other epsilons, or the reason why there are none.

    They have the prior, the loss, the reports, the linear constraints and all other guarantees of the file. The
    lower bound of a loss is about all such designs, the upper bound about the design itself.
    """
    rates = [promise for promise in promises if promise.rates_secrets]
    if not options.seconds:
        return (), "left out on purpose"
    if len(rates) != 1:
        return (), "several epsilons are promised" if rates else "no epsilon is promised"
    is_proved = all(promise.is_proved for promise in promises) and all(promise.holds for promise in limits)
    if not is_proved or not rates[0].holds:
        return (), "the promise is not proved"
    if not file.has_matrix:
        if visits is None or cost.expected is None:
            return (), "the cost is not known"
        current = FrontierFacts(rates[0].proved, cost.expected, True, _EXPECTED)
        rivals = list(_noises(file.noise, visits, options))
    else:
        prior, loss = file.prior, file.loss
        if prior is None or loss is None:
            return (), "the cost is not known"
        known = _loss_evidence(file, loss, visits)
        current = FrontierFacts(rates[0].proved, _loss_of(file, prior, loss, cost, known), True, _objective(file))
        rivals = list(_designs(file, prior, loss, options, known))
    if not rivals:
        return (), "none was ready in time"
    return tuple(sorted([current, *rivals], key=lambda design: design.epsilon.value)), ""


def _loss_of(file: MechanismFile, prior: Prior, loss: Loss, cost: CostFacts, known: Evidence) -> Quantity:
    objective, mechanism = _objective(file), file.report_channel
    at_worst = objective == _WORST
    upper = worst_loss_above(mechanism, loss) if at_worst else expected_loss_above(mechanism, prior, loss)
    best = cost.best.lower if cost.best is not None and cost.objective == objective else None
    return Quantity(None if best is None else min(best, upper), upper, upper, loss.unit, known)


def _objective(file: MechanismFile) -> str:
    at_worst = file.optimality is not None and file.optimality.objective == _WORST
    return _WORST if at_worst else _EXPECTED


def _loss_evidence(file: MechanismFile, loss: Loss, visits: Visits | None) -> Evidence:
    """Return whether the file's places, or these visits, confirm its table of losses."""
    places = file.report_channel.secrets
    if file.loss_is_stated and visits is not None and isinstance(places, Places) and is_length(loss.unit):
        reports = file.report_channel.observables
        if reports.coordinates is not None and loss.true_point == "euclidean":
            true = places.loss(visits, unit=loss.unit, observables=reports)
            return Evidence.PROVED if np.allclose(loss.array, true.array, rtol=_SLACK, atol=0) else Evidence.STATED
    return Evidence.STATED if file.loss_is_stated else Evidence.PROVED


def _designs(
    file: MechanismFile, prior: Prior, loss: Loss, options: OtherDesigns, known: Evidence
) -> Iterator[FrontierFacts]:
    promise = next(guarantee for guarantee in file.guarantees if isinstance(guarantee, MetricPrivacy))
    guarantees = [guarantee for guarantee in file.guarantees if guarantee is not promise]
    for times, seconds in options.schedule():
        try:
            rate, scaled = _scale_promise(promise, times)
            optimum = design(
                prior,
                loss=loss,
                guarantees=[scaled, *guarantees],
                objective=_objective(file),
                observables=file.report_channel.observables,
                gap=_GAP,
                tie_break=False,
                time_limit=seconds,
                stop=options.stop,
                method="table",
                constraints=file.constraints,
            )
        except SfumatoError:
            continue  # no answer in time, or no memory for it
        proof = optimum.certificate
        least = min(proof.bound, proof.value)
        quantity = Quantity(least, proof.value, proof.value, loss.unit, known)
        yield FrontierFacts(rate, quantity, False, _objective(file))


def _scale_promise(promise: MetricPrivacy, times: float) -> tuple[Quantity, DesignGuarantee]:
    if isinstance(promise, VertexPrivacy):
        of_points = promise.promise
        epsilon = _round_epsilon(times * of_points.epsilon)
        return Quantity.exact(epsilon, f"/{of_points.unit}"), CoordinatePrivacy(epsilon, of_points.unit)
    epsilon = _round_epsilon(times * promise.epsilon)
    if isinstance(promise, ThresholdPrivacy):
        return Quantity.exact(epsilon), ThresholdPrivacy(epsilon, promise.distance, promise.within)
    unit = promise.metric.unit
    return Quantity.exact(epsilon, f"/{unit}" if unit else ""), MetricPrivacy(epsilon, promise.metric)


def _round_epsilon(epsilon: float) -> float:
    """Return an epsilon rounded to four digits, which reports write exactly."""
    return float(f"{epsilon:.4g}")


def _noises(noise: CoordinateNoise, visits: Visits, options: OtherDesigns) -> Iterator[FrontierFacts]:
    """Yield planar noise with other epsilons, with tables of these visits if this one has a table."""
    plane = noise.projection
    inside = noise.serves(visits.lat, visits.lon)
    if plane is None or not inside.any():
        return
    points, weights = plane.forward(visits.lat[inside], visits.lon[inside]), np.ones(int(inside.sum()))
    for times, _ in options.schedule():
        try:
            other = CoordinateNoise(_round_epsilon(times * noise.epsilon), noise.step_m, plane, noise.reach_m)
            if noise.remap is not None:
                other = other.for_places(points, weights, _FINENESS)
            bracket = other.error(points, weights).loss
        except SfumatoError:
            continue  # the table would be too large
        rate = Quantity.exact(other.epsilon, "/km")
        yield FrontierFacts(rate, Quantity.at_most(bracket.upper, "m"), False, _EXPECTED)


def frontier_from(
    path: str | os.PathLike[str], promises: tuple[PromiseFacts, ...], cost: CostFacts
) -> tuple[FrontierFacts, ...]:
    """Return the designs of a sweep with this one; raise `DataError` if the file is no such table."""
    current = _file_design(promises, cost)
    table = read_columns(path, ("epsilon", "loss")).slice(0, _ROWS)
    unit = "" if current is None else current.loss.unit
    rate = "" if current is None else current.epsilon.unit
    designs, hint = [] if current is None else [current], "give the table (.csv) that sfumato sweep wrote."
    for epsilon, loss in zip(table["epsilon"].to_pylist(), table["loss"].to_pylist(), strict=True):
        at, amount = _number(epsilon), _number(loss)
        if at is None or amount is None:
            continue
        if at <= 0 or amount < 0:
            problem = f"{os.fspath(path)!r} states a loss of {amount:g} with epsilon {at:g}, which no design has."
            raise DataError(problem, hint)
        point = Quantity.exact(at, rate, Evidence.STATED), Quantity.exact(amount, unit, Evidence.STATED)
        designs.append(FrontierFacts(*point, this=False, objective=""))
    if len(designs) < 2:
        problem = f"{os.fspath(path)!r} holds no designs: its columns epsilon and loss have no numbers."
        raise DataError(problem, hint)
    return tuple(sorted(designs, key=lambda design: design.epsilon.value))


def _number(cell: object) -> float | None:
    try:
        value = float(str(cell))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _file_design(promises: tuple[PromiseFacts, ...], cost: CostFacts) -> FrontierFacts | None:
    """Return the design of the file, with lengths in kilometres, as sweeps have them."""
    epsilon = next(
        (promise for promise in promises if promise.kind in ("points", "cells", "values") and promise.holds), None
    )
    loss = cost.expected
    if epsilon is None or loss is None:
        return None
    if loss.unit == "m":
        low = None if loss.lower is None else down(loss.lower / 1000)
        high = None if loss.upper is None else up(loss.upper / 1000)
        loss = Quantity(low, loss.value / 1000, high, "km", loss.known)
    return FrontierFacts(epsilon.proved, loss, True, "")
