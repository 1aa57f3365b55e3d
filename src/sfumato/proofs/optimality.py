"""Optimality: prices that prove a bound on the objective of a design, as stored in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..core import (
    DistortionPrivacy,
    Guarantee,
    Loss,
    Mechanism,
    MetricPrivacy,
    Prior,
    Space,
    as_errors,
    implied_distances,
)
from ..core.arrays import Floats, Positions, freeze
from ..core.immutable import CompactRepr, Immutable, assign
from ..core.naming import DISTORTION, EXPECTED, WORST_CASE
from ..errors import InputError
from .bounds import ManyMultipliers, Multipliers, distortion_bound, loss_bound, many_loss_bound
from .constraints import LinearConstraint, expected_loss_above
from .family_privacy import family_rows
from .place_distortion import PlaceDistortion

_DAMAGED = "the prices are damaged or belong to another design: leave them out."


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Candidates(Immutable, CompactRepr):
    """All m observables that a design could have used, with their loss (n, m), if its mechanism uses some."""

    observables: Space
    loss: Loss


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Optimality(Immutable, CompactRepr):
    """The prices that prove a bound on the objective of a design.

    Attributes:
        objective: ``expected`` or ``worst-case`` loss, or ``distortion`` (the dual game).
        multipliers: The prices; their exponents are not trusted but computed again.
        distance: The adversary's distance, where the objective is ``distortion``.
        max_loss: The bound on the expected loss, where the objective is ``distortion``.
        candidates: The observables that the prices are for, where the mechanism reports some of them only.
        further: The prices of the guesses of all attackers but the first, whose prices are in the multipliers.
        limits: Array (constraints,), the prices of linear constraints; None for none.
        families: Array (pairs, observables), the prices of distribution privacy; None for none.
    """

    objective: str
    multipliers: Multipliers
    distance: Loss | None = None
    max_loss: float = np.inf
    candidates: Candidates | None = None
    further: tuple[Floats, ...] = ()
    limits: Floats | None = None
    families: Floats | None = None

    def __post_init__(self) -> None:
        further = (freeze(np.asarray(prices, dtype=np.float64)) for prices in self.further)
        limits = None if self.limits is None else freeze(np.asarray(self.limits, dtype=np.float64))
        families = None if self.families is None else freeze(np.asarray(self.families, dtype=np.float64))
        assign(self, further=tuple(further), limits=limits, families=families)

    @classmethod
    def of_many(cls, objective: str, prices: ManyMultipliers) -> Optimality:
        """Return the optimality of a general program."""
        worst = prices.masses if objective == WORST_CASE else None
        multipliers = replace(prices.rows, guesses=next(iter(prices.attackers), None), worst=worst)
        limits = prices.constraints if len(prices.constraints) else None
        families = prices.families if prices.families is not None and len(prices.families) else None
        return cls(objective, multipliers, further=prices.attackers[1:], limits=limits, families=families)

    @property
    def of_general_program(self) -> bool:
        """Whether linear constraints, further attackers or pairs of distributions have prices."""
        return bool(self.further) or self.limits is not None or self.families is not None


def check_optimality(
    mechanism: Mechanism,
    prior: Prior | None,
    loss: Loss | None,
    guarantees: Sequence[Guarantee],
    optimality: Optimality,
    constraints: Sequence[LinearConstraint] = (),
) -> None:
    """Refuse prices that prove nothing about the stated objective, for the loss of the mechanism's observables.

    Raises `InputError` if there is no prior or no loss; the objective is unknown or the prices are those of
    another one; the mechanism's observables are not among the candidates, or have another loss; the prices do not
    fit the secrets, observables and guarantees; or the mechanism loses more than the bound on the loss in the dual
    game.
    """
    if prior is None or loss is None:
        raise InputError(
            f"prices of an optimum come without a {'prior' if prior is None else 'loss'}, so they prove nothing.",
            "give both, or leave the prices out.",
        )
    if optimality.candidates is not None:
        _check_among(mechanism, loss, optimality.candidates)
    _check(_priced_loss(loss, optimality), guarantees, optimality, constraints)
    if optimality.objective == DISTORTION:
        loss_upper = expected_loss_above(mechanism, prior, loss)
        if not loss_upper <= optimality.max_loss:
            raise InputError(
                f"the mechanism loses up to {loss_upper:.6g} on average, but the prices are for a loss of at most "
                f"{optimality.max_loss:.6g}.",
                "give the bound on the loss that the mechanism was designed for.",
            )


def prove_optimality(
    prior: Prior,
    loss: Loss,
    guarantees: Sequence[Guarantee],
    optimality: Optimality,
    constraints: Sequence[LinearConstraint] = (),
) -> float:
    """Return the bound on the objective for every mechanism with the guarantees and constraints.

    It is a lower bound on the loss, or an upper bound on the distortion. Where there are candidates, their loss
    counts instead of ``loss``, that of the mechanism's observables. Raises `InputError` if prices name secrets or
    observables that do not exist, price constraints that are not required, or are those of another objective.
    """
    loss = _priced_loss(loss, optimality)
    _check(loss, guarantees, optimality, constraints)
    prices = optimality.multipliers
    exponents = _implied_exponents(guarantees, prices.secrets, prices.rivals)
    # An infinite exponent constrains nothing, so its price does not count.
    bound = np.isfinite(exponents)
    prices = replace(prices, exponents=np.where(bound, exponents, 0.0), local=np.where(bound, prices.local, 0.0))
    if optimality.objective == DISTORTION and optimality.distance is not None:
        distance = optimality.distance.array
        return distortion_bound(prior.probabilities, loss.array, distance, optimality.max_loss, prices)
    if optimality.of_general_program:
        return _of_general_program(prior, loss, guarantees, replace(optimality, multipliers=prices), constraints)
    distortion = _distortion(guarantees)
    if distortion is None:
        return loss_bound(prior.probabilities, loss.array, prices)
    return loss_bound(prior.probabilities, loss.array, prices, distortion.distance.array, distortion.minimum)


def _of_general_program(
    prior: Prior,
    loss: Loss,
    guarantees: Sequence[Guarantee],
    optimality: Optimality,
    constraints: Sequence[LinearConstraint],
) -> float:
    """Return the bound on the loss by prices of linear constraints, several attackers or distributions."""
    prices, mass = optimality.multipliers, prior.probabilities
    attackers = _distortions(guarantees)
    unpriced = [np.zeros((len(attacker.distance.array), loss.array.shape[1])) for attacker in attackers]
    guesses = (*([] if prices.guesses is None else [prices.guesses]), *optimality.further)
    # Without prices constraints do not count, and where there are candidates their coefficients are for some only.
    limits = np.empty(0) if optimality.limits is None else optimality.limits
    constraints = () if optimality.limits is None else constraints
    worst = optimality.objective == WORST_CASE
    masses = np.eye(len(mass)) if worst else mass[None, :]
    weights = np.ones(1) if prices.worst is None else prices.worst
    many = ManyMultipliers(prices, weights, (*guesses, *unpriced[len(guesses) :]), limits, optimality.families)
    pairs = family_rows(guarantees, len(mass))
    return many_loss_bound(
        masses, loss.array, many, prior=mass, attackers=attackers, constraints=constraints, families=pairs
    )


def _priced_loss(loss: Loss, optimality: Optimality) -> Loss:
    """Return the loss of all observables that the prices are for."""
    return loss if optimality.candidates is None else optimality.candidates.loss


def _check_among(mechanism: Mechanism, loss: Loss, candidates: Candidates) -> None:
    """Refuse candidates that do not contain the mechanism's observables at the same loss."""
    every, used = candidates.observables, mechanism.observables
    shape = (len(mechanism.secrets), len(every))
    if candidates.loss.array.shape != shape or candidates.loss.unit != loss.unit:
        raise InputError("the losses of the candidates do not fit the secrets and observables.", _DAMAGED)
    kinds = [(space.unit, space.crs, space.period, space.coordinates is None) for space in (every, used)]
    if kinds[0] != kinds[1]:
        raise InputError("the candidates are not of the same kind as the mechanism's observables.", _DAMAGED)
    places = every.positions(used.labels)
    is_elsewhere = (
        every.coordinates is not None
        and used.coordinates is not None
        and not np.array_equal(every.coordinates[places], used.coordinates)
    )
    if is_elsewhere or not np.array_equal(candidates.loss.array[:, places], loss.array):
        raise InputError("the candidates have the mechanism's observables at another place or loss.", _DAMAGED)


def _check(
    loss: Loss, guarantees: Sequence[Guarantee], optimality: Optimality, constraints: Sequence[LinearConstraint]
) -> None:
    """Refuse prices that are not those of the objective, or do not fit the problem."""
    n, m = loss.array.shape
    prices, objective = optimality.multipliers, optimality.objective
    for places, size in ((prices.secrets, n), (prices.rivals, n), (prices.observables, m)):
        if len(places) != len(prices.local) or (len(places) and not 0 <= places.min() <= places.max() < size):
            raise InputError("a price is for a secret or observable that does not exist.", _DAMAGED)
    of_rows = (prices.local, prices.guesses, prices.worst, np.array(prices.loss))
    for array in (*of_rows, *optimality.further, optimality.limits, optimality.families):
        if array is not None and not np.isfinite(array).all():
            raise InputError("one of the prices is not finite.", _DAMAGED)
    part = _components(guarantees, n)
    priced = prices.local > 0
    if (part[prices.secrets] != part[prices.rivals])[priced].any():
        raise InputError("a price is for a pair that no guarantee is about.", _DAMAGED)
    dual, worst = objective == DISTORTION, objective == WORST_CASE
    if not dual and not worst and objective != EXPECTED:
        names = f"{EXPECTED!r}, {WORST_CASE!r} or {DISTORTION!r}"
        raise InputError(f"the objective {objective!r} is unknown.", f"use {names}.")
    if optimality.distance is not None:
        as_errors(optimality.distance)
    distortion = _distortion(guarantees)
    attacker = optimality.distance if dual else distortion.distance if distortion is not None else None
    checks = {
        "prices of the worst secrets": (prices.worst is not None, worst),
        "an attacker's distance": (optimality.distance is not None, dual),
        "a bound on the loss": (bool(np.isfinite(optimality.max_loss)), dual),
    }
    for noun, (is_present, is_needed) in checks.items():
        if is_present != is_needed:
            raise InputError(
                f"the objective {objective!r} {'needs' if is_needed else 'has no'} {noun}: "
                "the prices are those of another objective.",
                _DAMAGED,
            )
    if not dual and prices.loss != 0:
        raise InputError(f"the objective {objective!r} has no price of the loss.", _DAMAGED)
    if worst and (loss.array < 0).any():
        raise InputError(f"the objective {WORST_CASE!r} needs losses of at least 0.", "add a constant to them.")
    if prices.worst is not None and prices.worst.shape != (n,):
        raise InputError("the prices of the worst secrets do not fit the secrets.", _DAMAGED)
    guesses = None if attacker is None else (len(attacker.array), m)
    if prices.guesses is not None and prices.guesses.shape != guesses:
        raise InputError("the prices of guesses do not fit the attacker's distance.", _DAMAGED)
    if optimality.of_general_program:
        _check_general(loss, guarantees, optimality, constraints)


def _check_general(
    loss: Loss, guarantees: Sequence[Guarantee], optimality: Optimality, constraints: Sequence[LinearConstraint]
) -> None:
    """Refuse prices of further attackers, linear constraints or distributions that do not fit these."""
    if optimality.objective == DISTORTION:
        raise InputError(f"the objective {DISTORTION!r} has no prices of constraints or attackers.", _DAMAGED)
    attackers = _distortions(guarantees)[1:]
    shapes = [(len(attacker.distance.array), loss.array.shape[1]) for attacker in attackers]
    if [prices.shape for prices in optimality.further] not in ([], shapes):
        raise InputError("the prices of guesses do not fit the further attackers.", _DAMAGED)
    if optimality.further and optimality.multipliers.guesses is None:
        raise InputError("further attackers have prices, but the first has none.", _DAMAGED)
    if optimality.limits is not None and optimality.limits.shape != (len(constraints),):
        raise InputError(
            f"there are {optimality.limits.size} prices for {len(constraints)} linear constraints.",
            "give the constraints of the same design, or leave the prices out.",
        )
    n, m = loss.array.shape
    pairs = (len(family_rows(guarantees, n)), m)
    if optimality.families is not None and optimality.families.shape != pairs:
        raise InputError("the prices of pairs of distributions do not fit the guarantees.", _DAMAGED)
    if optimality.limits is not None and optimality.candidates is not None:
        raise InputError("linear constraints have prices, but coefficients for some observables only.", _DAMAGED)


def _distortions(guarantees: Sequence[Guarantee]) -> list[DistortionPrivacy]:
    """Return the distortions known to the program, of finitely many guesses."""
    distortions = (guarantee for guarantee in guarantees if isinstance(guarantee, DistortionPrivacy))
    return [demand.finite if isinstance(demand, PlaceDistortion) else demand for demand in distortions]


def _distortion(guarantees: Sequence[Guarantee]) -> DistortionPrivacy | None:
    """Return the first of these."""
    return next(iter(_distortions(guarantees)), None)


def _components(guarantees: Sequence[Guarantee], n: int) -> Positions:
    """Return for each secret the first of its component; guarantees constrain every pair within a component."""
    demands = [guarantee for guarantee in guarantees if isinstance(guarantee, MetricPrivacy)]
    if any(demand.metric.finite for demand in demands):
        return np.zeros(n, dtype=np.intp)
    near = np.zeros((n, n), dtype=bool)
    for guarantee in demands:
        near |= np.isfinite(guarantee.metric.array)
    near |= near.T
    part = np.full(n, -1)
    for first in range(n):
        new = np.array([first] if part[first] < 0 else [], dtype=np.intp)
        while len(new):
            part[new] = first
            new = np.flatnonzero(near[new].any(axis=0) & (part < 0))
    return part


def _implied_exponents(guarantees: Sequence[Guarantee], s: Positions, t: Positions) -> Floats:
    """Return the exponents that the guarantees together imply for listed pairs, array (k,)."""
    demands = [guarantee for guarantee in guarantees if isinstance(guarantee, MetricPrivacy)]
    with np.errstate(over="ignore"):
        if not demands:
            return np.full(len(s), np.inf)
        if len(demands) == 1 and demands[0].metric.triangle:
            return demands[0].epsilon * demands[0].metric.at(s, t)
        exponents = demands[0].epsilon * demands[0].metric.array
        for demand in demands[1:]:
            exponents = np.minimum(exponents, demand.epsilon * demand.metric.array)
    return np.asarray(implied_distances(exponents)[s, t])
