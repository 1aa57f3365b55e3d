"""Problems in units that suit floating point.

Losses and distances are divided by powers of two, so that their largest is between one and
two, and prior masses that cannot matter are left out. Mechanisms have no unit; values,
bounds and prices are multiplied back, which is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..core import Loss, Prior
from ..core.arrays import Floats, readonly
from ..core.frozen import Short
from ..evidence import Multipliers
from .problem import DISTORTION, Problem
from .solver import Answer, OnProgress, Progress, objective_of, proved_bound

_MODERATE = 100  # binary exponents of units in which nothing that matters underflows
_NO_MASS = 2.0**-900  # of a prior: what is smaller underflows beside losses and probabilities


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scaled(Short):
    """A problem in units of powers of two.

    Attributes:
        problem: The scaled problem, for a solver.
        original: The problem as it was asked.
        loss: Binary exponent of the unit of losses.
        distance: Binary exponent of the unit of the adversary's distances.
    """

    problem: Problem
    original: Problem
    loss: int
    distance: int

    @property
    def exact(self) -> bool:
        """Whether a bound for the scaled problem is one for the original, times a power of two."""
        same = self.problem.prior is self.original.prior
        return same and max(abs(self.loss), abs(self.distance)) <= _MODERATE

    @property
    def objective(self) -> int:
        """Binary exponent of the unit of the objective."""
        return self.distance if self.problem.objective == DISTORTION else self.loss

    def answer(self, found: Answer) -> Answer:
        """Return an answer to the scaled problem as one to the original."""
        prices = found.prices
        bound = math.nan
        with np.errstate(over="ignore", invalid="ignore"):
            if prices is not None:
                prices = self._prices(prices)
                # Powers of two scale a proof without rounding, away from the ends of the floats' range.
                same = self.exact and math.isfinite(found.bound)
                bound = math.ldexp(found.bound, self.objective) if same else proved_bound(self.original, prices)
            elif found.proved and self.exact:
                bound = math.ldexp(found.bound, self.objective)
            log = tuple(map(self.step, found.log))
        if math.isnan(bound):  # without prices, or where they leave the range of floats
            prices, bound = None, math.inf if self.problem.objective == DISTORTION else -math.inf
        value = objective_of(self.original, found.matrix, found.used)
        return replace(found, value=value, bound=bound, log=log, prices=prices)

    def step(self, step: Progress) -> Progress:
        """Return a line of progress in the original unit."""
        unit = self.objective
        return replace(step, value=float(np.ldexp(step.value, unit)), bound=float(np.ldexp(step.bound, unit)))

    def told(self, progress: OnProgress | None) -> OnProgress | None:
        """Return a callback for the solver that passes its progress on in the original unit."""
        return None if progress is None else lambda step: progress(self.step(step))

    def _prices(self, prices: Multipliers) -> Multipliers:
        guesses = prices.guesses
        if guesses is not None and self.problem.objective != DISTORTION:
            guesses = np.ldexp(guesses, self.loss - self.distance)
        return replace(
            prices,
            local=np.ldexp(prices.local, self.objective),
            guesses=guesses,
            loss=float(np.ldexp(prices.loss, self.distance - self.loss)),
        )


def scaled(problem: Problem) -> Scaled:
    """Return a problem whose largest loss and distance are between one and two."""
    loss = _exponent(problem.loss.array)
    distance = 0 if problem.distance is None else _exponent(problem.distance.array)
    prior, mass = problem.prior, problem.prior.probabilities
    if ((mass > 0) & (mass < _NO_MASS)).any():
        prior = Prior(prior.space, np.where(mass < _NO_MASS, 0.0, mass))
    found = replace(
        problem,
        prior=prior,
        loss=_divided(problem.loss, loss),
        distance=None if problem.distance is None else _divided(problem.distance, distance),
        minimum=float(np.ldexp(problem.minimum, -distance)),
        max_loss=float(np.ldexp(problem.max_loss, -loss)),
    )
    return Scaled(found, problem, loss, distance)


def _exponent(array: Floats) -> int:
    largest = float(max(array.max(initial=0.0), -array.min(initial=0.0)))
    return math.frexp(largest)[1] - 1 if largest > 0 else 0


def _divided(loss: Loss, exponent: int) -> Loss:
    return loss if exponent == 0 else Loss(readonly(np.ldexp(loss.array, -exponent)), loss.unit, name=loss.name)
