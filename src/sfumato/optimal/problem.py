"""A design problem: the prior, the loss, the guarantees and the objective."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..core import (
    AnyLoss,
    DistortionPrivacy,
    Guarantee,
    Guarantees,
    Loss,
    MetricPrivacy,
    Prior,
    Space,
    ThresholdPrivacy,
    as_errors,
    as_guarantees,
    as_loss,
    blind_error,
    implied_distances,
)
from ..core.arrays import Floats
from ..core.immutable import CompactRepr
from ..core.naming import DISTORTION, EXPECTED, WORST_CASE
from ..errors import InfeasibleError, InputError, python, shell
from ..geo import Lattice
from ..proofs import FamilyPrivacy, LinearConstraint, PlaceDistortion, as_constraints, bound_to, scope_text
from ..rounding import amount, amount_at_least, amount_at_most, exactly

Constraints = LinearConstraint | Iterable[LinearConstraint]
_ROOM = 1e-6  # a distortion this close to its maximum leaves no room for rounding


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Problem(CompactRepr):
    """One design problem, checked and found feasible.

    Attributes:
        prior: The prior on the n secrets.
        observables: The m observables.
        loss: The loss, array (n, m).
        guarantees: What the mechanism must guarantee.
        objective: ``expected`` or ``worst-case`` (minimise this loss), or ``distortion`` (maximise it).
        distance: The adversary's distance, array (guesses, n), of the distortion guarantee or of the objective
            ``distortion``; None without either, or with several `attackers`.
        minimum: The distortion to guarantee, in the distance's unit; 0 for none.
        max_loss: The largest expected loss allowed (objective ``distortion``).
        exponents: Array (n, n): p(o|s) <= exp(exponents[s, s']) p(o|s'), closed under shortest paths, ``inf`` for
            unconstrained pairs; None without metric privacy.
        constraints: Linear constraints that must hold too.
    """

    prior: Prior
    observables: Space
    loss: Loss
    guarantees: tuple[Guarantee, ...]
    objective: str
    distance: Loss | None
    minimum: float
    max_loss: float
    exponents: Floats | None
    constraints: tuple[LinearConstraint, ...] = ()

    @property
    def attackers(self) -> tuple[DistortionPrivacy, ...]:
        """The distortion guarantees."""
        return tuple(guarantee for guarantee in self.guarantees if isinstance(guarantee, DistortionPrivacy))

    @property
    def general(self) -> bool:
        """Whether it needs a general program: for linear constraints, several attackers or distributions."""
        has_families = any(isinstance(guarantee, FamilyPrivacy) for guarantee in self.guarantees)
        return bool(self.constraints) or len(self.attackers) > 1 or has_families

    @property
    def scope(self) -> str:
        """The mechanisms with its metric and distribution privacy, in words that follow "no mechanism"."""
        promises = len(self.guarantees) - len(self.attackers)
        return scope_text(promises, lattice=isinstance(self.prior.space, Lattice))

    @property
    def sign(self) -> float:
        """1 where the objective is minimised, -1 where it is maximised."""
        return -1.0 if self.objective == DISTORTION else 1.0

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of secrets and of observables."""
        n, m = self.loss.array.shape
        return n, m

    @property
    def loss_scale(self) -> float:
        """The largest absolute loss, or 1 where all are 0."""
        return float(max(self.loss.array.max(), -self.loss.array.min())) or 1.0

    @property
    def distance_scale(self) -> float:
        """The adversary's largest distance, or 1 where all are 0 or there is none."""
        return 1.0 if self.distance is None else float(self.distance.array.max()) or 1.0

    @property
    def scale(self) -> float:
        """The scale of the objective."""
        return self.distance_scale if self.objective == DISTORTION else self.loss_scale

    @property
    def negligible(self) -> float:
        """The smallest value that a gap is measured relative to.

        It is the largest of: a thousandth of the best constant report's median loss under the prior, a billionth
        of its mean loss, and the floating-point resolution of the largest loss.
        """
        if self.objective == DISTORTION and self.distance is not None:
            losses = self.distance.array
        else:
            losses = self.loss.array.T
        means = losses @ self.prior.probabilities
        best = int(np.argmin(np.abs(means)))
        sizes = np.abs(losses[best])
        order = np.argsort(sizes)
        masses = np.cumsum(self.prior.probabilities[order])
        median = float(sizes[order[int(np.searchsorted(masses, 0.5 * masses[-1]))]])
        return max(1e-3 * median, 1e-9 * abs(float(means[best])), 1e-15 * self.scale)


def least_loss(
    prior: Prior,
    loss: AnyLoss,
    requested: Guarantees,
    objective: str,
    observables: Space | None,
    constraints: Constraints = (),
) -> Problem:
    """Return the problem of least loss under guarantees (Privacy Games, programs 21 to 24), checked."""
    if objective not in (EXPECTED, WORST_CASE):
        raise InputError(f"the objective {objective!r} is unknown.", f"use {EXPECTED!r} or {WORST_CASE!r}.")
    guarantees = guarantees_for(prior.space, requested)
    limits = as_constraints(constraints)
    if not guarantees and not limits:
        raise InputError(
            "there is no guarantee, and without one the best mechanism reports the secret itself.",
            shell("add one with --epsilon 1/km."),
            python(
                "pass MetricPrivacy, ThresholdPrivacy, DistortionPrivacy or FamilyPrivacy in guarantees=, or "
                "constraints=."
            ),
        )
    space = observables if observables is not None else prior.space
    losses = as_loss(loss, len(prior), len(space))
    if objective == WORST_CASE and (losses.array < 0).any():
        raise InputError("the worst-case objective needs losses of at least 0.", "add a constant to the loss.")
    for limit in limits:
        limit.check_shape(len(prior), len(space))
    attackers = attackers_of(prior, guarantees)
    for attacker in attackers:
        unit, minimum = attacker.distance.unit, attacker.minimum
        most = blind_error(prior.probabilities, attacker.distance.array)
        if minimum > most * (1 - _ROOM):
            raise InfeasibleError(
                f"a distortion of {limit_amount(minimum, unit)} is out of reach: without a report, the best guess "
                f"is off by at most {amount_at_most(most, unit)}, and no mechanism can increase that.",
                f"require less than {amount_at_least(most * (1 - 1e-3), unit)}.",
            )
    is_single = len(attackers) == 1
    distance, minimum = (attackers[0].distance, attackers[0].minimum) if is_single else (None, 0.0)
    exponents = exponents_of(prior.space, guarantees)
    return Problem(prior, space, losses, guarantees, objective, distance, minimum, np.inf, exponents, limits)


def most_distortion(
    prior: Prior,
    loss: AnyLoss,
    distance: AnyLoss,
    max_loss: float,
    requested: Guarantees,
    observables: Space | None,
) -> Problem:
    """Return the dual problem (Shokri et al., CCS 2012), checked: most distortion privacy within a loss."""
    guarantees = guarantees_for(prior.space, requested)
    space = observables if observables is not None else prior.space
    losses = as_loss(loss, len(prior), len(space))
    if attackers_of(prior, guarantees):
        raise InputError(
            "the dual game maximises distortion privacy itself.", python("leave DistortionPrivacy out.")
        )
    if any(isinstance(guarantee, FamilyPrivacy) for guarantee in guarantees):
        raise InputError(
            "the dual game takes no distribution privacy.",
            python("use sf.design with DistortionPrivacy and FamilyPrivacy, which minimises the loss."),
        )
    least = float(prior.probabilities @ losses.array.min(axis=1))
    if max_loss <= least:
        raise InfeasibleError(
            f"a loss of at most {limit_amount(max_loss, losses.unit)} is out of reach: the best report for every "
            f"secret already loses {limit_amount(least, losses.unit)}, and rounding needs some room.",
            f"allow more than {amount_at_most(least, losses.unit)}.",
        )
    d = _distance(prior, as_errors(distance))
    exponents = exponents_of(prior.space, guarantees)
    return Problem(prior, space, losses, tuple(guarantees), DISTORTION, d, 0.0, max_loss, exponents)


def guarantees_for(space: Space, guarantees: Guarantees) -> tuple[Guarantee, ...]:
    """Return guarantees bound to the secrets; raise `InputError` for one that is meaningless on a lattice."""
    bound = bound_to(space, as_guarantees(guarantees))
    for guarantee in bound:
        if isinstance(guarantee, FamilyPrivacy):
            guarantee.check_secrets(space)
    if isinstance(space, Lattice) and any(isinstance(guarantee, ThresholdPrivacy) for guarantee in bound):
        raise InputError(
            "ThresholdPrivacy is not possible on a lattice: it would be about the vertices that points are "
            "rounded to at random, and guarantee nothing for two points.",
            python("use CoordinatePrivacy, or design on sf.Grid."),
        )
    return bound


def exponents_of(space: Space, guarantees: Sequence[Guarantee]) -> Floats | None:
    """Return the exponents (n, n) of metric privacy as in `Problem`; raise `InputError` for one on others."""
    exponents: Floats | None = None
    for guarantee in guarantees:
        if not isinstance(guarantee, MetricPrivacy):
            continue
        guarantee.check_secrets(space)
        with np.errstate(over="ignore"):  # an overflow constrains nothing
            product = guarantee.epsilon * guarantee.metric.array
        if exponents is not None or not guarantee.metric.triangle:
            product = implied_distances(product if exponents is None else np.minimum(exponents, product))
        exponents = product
    return exponents


def attackers_of(prior: Prior, guarantees: Sequence[object]) -> list[DistortionPrivacy]:
    """Return the distortion guarantees; refuse other secrets, and a `PlaceDistortion` with another one."""
    attackers = [guarantee for guarantee in guarantees if isinstance(guarantee, DistortionPrivacy)]
    for attacker in attackers:
        _distance(prior, attacker.distance)
    if len(attackers) > 1 and any(isinstance(attacker, PlaceDistortion) for attacker in attackers):
        raise InputError(
            "PlaceDistortion cannot be combined with another distortion guarantee.",
            python("use one of them, or DistortionPrivacy only."),
        )
    return attackers


def limit_amount(value: float, unit: str) -> str:
    """Write a limit to six digits, or in all of its digits where these would show 0."""
    text = amount(value, unit, 6)
    return f"{exactly(value)} {unit}".rstrip() if value and text == amount(0.0, unit) else text


def _distance(prior: Prior, distance: Loss) -> Loss:
    if distance.array.shape[1] != len(prior):
        raise InputError(
            f"the adversary's distance has {distance.array.shape[1]} columns, but there are {len(prior)} secrets.",
            "pass an array of guesses x secrets.",
        )
    return distance
