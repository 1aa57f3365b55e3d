"""A design problem: the prior, the loss, the guarantees and the objective."""

from __future__ import annotations

from collections.abc import Sequence
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
    as_loss,
    blind_error,
)
from ..core.arrays import Floats
from ..core.frozen import Short
from ..core.guarantees import as_errors, as_guarantees
from ..core.shortest_paths import shortest_paths
from ..errors import InfeasibleError, InputError, argument, python
from ..evidence.coordinates import bound_to
from ..geo import Lattice
from ..rounding import amount, amount_at_least, amount_at_most

EXPECTED, WORST_CASE, DISTORTION = "expected", "worst-case", "distortion"

# A distortion this close to its maximum leaves no room for rounding.
_ROOM = 1e-6


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Problem(Short):
    """One design problem, checked and found feasible.

    Attributes:
        prior: The prior on the n secrets.
        observables: The m observables.
        loss: The loss, array (n, m).
        guarantees: What the mechanism must guarantee.
        objective: ``expected`` or ``worst-case`` loss to be least, or ``distortion`` to
            be most.
        distance: The adversary's distance, array (guesses, n): of the distortion
            guarantee, or of the objective ``distortion``; None if neither is there.
        minimum: The distortion guaranteed, in the distance's unit; 0 for none.
        max_loss: The largest expected loss allowed (objective ``distortion``).
        exponents: Array (n, n): p(o|s) <= exp(exponents[s, s']) p(o|s'), ``inf`` where
            nothing is asked; None without metric privacy. Shortest paths are already
            in them, so they keep the triangle inequality.
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

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of secrets and of observables."""
        n, m = self.loss.array.shape
        return n, m

    @property
    def loss_scale(self) -> float:
        """The largest absolute loss, or 1 where all are 0."""
        return float(np.abs(self.loss.array).max()) or 1.0

    @property
    def distance_scale(self) -> float:
        """The adversary's largest distance, or 1 where all are 0 or none is given."""
        return 1.0 if self.distance is None else float(self.distance.array.max()) or 1.0

    @property
    def scale(self) -> float:
        """The scale of the objective."""
        return self.distance_scale if self.objective == DISTORTION else self.loss_scale

    @property
    def negligible(self) -> float:
        """A value so small that no solver can be asked for a gap relative to it.

        It is a thousandth of what the best constant report typically loses: the median over
        the prior, which a few far secrets do not move, or a billionth of the mean, or what
        floating point leaves of the largest.
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
    prior: Prior, loss: AnyLoss, given: Guarantees, objective: str, observables: Space | None
) -> Problem:
    """Return the problem of the least loss under guarantees (Privacy Games, 21 to 24).

    Raises:
        InputError: If sizes differ, there is no guarantee, or the objective is unknown.
        InfeasibleError: If more distortion is asked for than any mechanism can give.
    """
    if objective not in (EXPECTED, WORST_CASE):
        raise InputError(f"the objective {objective!r} is unknown.", f"use {EXPECTED!r} or {WORST_CASE!r}.")
    guarantees = _bound(prior.space, given)
    if not guarantees:
        raise InputError(
            "no guarantee was asked for, and without one the best mechanism reports the secret itself.",
            f"ask for one with {argument('epsilon', '1/km')}",
            python("pass MetricPrivacy, ThresholdPrivacy or DistortionPrivacy in guarantees=."),
        )
    space = observables if observables is not None else prior.space
    found = as_loss(loss, len(prior), len(space))
    if objective == WORST_CASE and (found.array < 0).any():
        raise InputError("the worst-case objective needs losses of at least 0.", "add a constant to the loss.")
    exponents, distortion = _split(prior, guarantees)
    distance = distortion.distance if distortion else None
    minimum = distortion.minimum if distortion else 0.0
    if distance is not None:
        most = blind_error(prior.probabilities, distance.array)
        if minimum > most * (1 - _ROOM):
            unit = distance.unit
            raise InfeasibleError(
                f"a distortion of {amount(minimum, unit)} was asked for, but an attacker who sees no report "
                f"errs by at most {amount_at_most(most, unit)} with their best guess: no mechanism can make "
                f"them err by more.",
                f"ask for less than {amount_at_least(most * (1 - 1e-3), unit)}.",
            )
    return Problem(prior, space, found, tuple(guarantees), objective, distance, minimum, np.inf, exponents)


def most_distortion(
    prior: Prior,
    loss: AnyLoss,
    distance: AnyLoss,
    max_loss: float,
    given: Guarantees,
    observables: Space | None,
) -> Problem:
    """Return the dual problem: the most distortion privacy under a bound on the expected loss.

    Raises:
        InputError: If sizes differ or a distortion guarantee is among the guarantees.
        InfeasibleError: If even the truth loses more than the bound.

    Source:
        Shokri et al., "Protecting Location Privacy: Optimal Strategy against
        Localization Attacks", CCS 2012.
    """
    guarantees = _bound(prior.space, given)
    space = observables if observables is not None else prior.space
    found = as_loss(loss, len(prior), len(space))
    exponents, distortion = _split(prior, guarantees)
    if distortion is not None:
        raise InputError(
            "the dual game maximises distortion privacy itself.", python("leave DistortionPrivacy out.")
        )
    least = float(prior.probabilities @ found.array.min(axis=1))
    if max_loss <= least:
        raise InfeasibleError(
            f"a loss of at most {amount(max_loss, found.unit)} was asked for, but the best report for every "
            f"secret already loses {amount(least, found.unit)}, and rounding needs some room.",
            f"allow more than {amount_at_most(least, found.unit)}.",
        )
    d = _distance(prior, as_errors(distance))
    return Problem(prior, space, found, tuple(guarantees), DISTORTION, d, 0.0, max_loss, exponents)


def _bound(space: Space, given: Guarantees) -> tuple[Guarantee, ...]:
    """Return guarantees as rows of the secrets.

    Raises:
        InputError: If one makes no sense for the points that a lattice serves.
    """
    found = bound_to(space, as_guarantees(given))
    if isinstance(space, Lattice) and any(isinstance(each, ThresholdPrivacy) for each in found):
        raise InputError(
            "the promise for near secrets was asked for on a lattice: it would be about the vertices that points "
            "are rounded to at random, and promise nothing for two points.",
            python("ask for CoordinatePrivacy, or design on sf.Grid."),
        )
    return found


def _split(prior: Prior, guarantees: Sequence[Guarantee]) -> tuple[Floats | None, DistortionPrivacy | None]:
    exponents: Floats | None = None
    distortion: DistortionPrivacy | None = None
    for guarantee in guarantees:
        if isinstance(guarantee, MetricPrivacy):
            guarantee.check_secrets(prior.space)
            with np.errstate(over="ignore"):  # what is too large for a float constrains nothing
                found = guarantee.epsilon * guarantee.metric.array
            if exponents is not None or not guarantee.metric.triangle:
                found = shortest_paths(found if exponents is None else np.minimum(exponents, found))
            exponents = found
        elif distortion is not None:
            raise InputError("two distortion guarantees were given.", "ask for one; it may use any distance.")
        else:
            _distance(prior, guarantee.distance)
            distortion = guarantee
    return exponents, distortion


def _distance(prior: Prior, distance: Loss) -> Loss:
    if distance.array.shape[1] != len(prior):
        raise InputError(
            f"the adversary's distance has {distance.array.shape[1]} columns, but there are {len(prior)} secrets.",
            "pass an array of guesses x secrets.",
        )
    return distance
