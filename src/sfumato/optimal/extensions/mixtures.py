"""Best mixtures of mechanisms, by small linear programs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy import sparse

from ...core.arrays import Floats
from ...core.immutable import CompactRepr
from ...errors import SolverError
from ...proofs import ManyMultipliers
from ..baseline import closed_forms, coarse_prices
from ..row_generation import LinearProgram
from ..solver import Control
from ..solver_registry import SMALL_PROBLEM, Highs
from .demands import Demands

CLOSED: Final = "closed form: mixture of simple mechanisms"
"""Their name in reports."""

_SECONDS: Final = 60.0  # a program of a few rows takes thousandths


def best_mixture(losses: Floats, excess: Floats | None = None, room: float = 0.0) -> tuple[Floats, Floats]:
    """Return the equilibrium of the game of losses (mechanisms, priors): the shares of both sides.

    With an ``excess``, array (mechanisms, constraints), that of the mixture is at most ``-room`` for each
    constraint. Raises `SolverError` if there is no such mixture.
    """
    count, priors = losses.shape
    limits = np.empty((count, 0)) if excess is None else excess
    scale = float(np.abs(losses).max()) or 1.0
    rows = np.zeros((priors + limits.shape[1] + 1, count + 1))
    rows[:priors, :count], rows[:priors, count] = losses.T / scale, -1.0
    rows[priors:-1, :count] = limits.T
    rows[-1, :count] = 1.0
    program = LinearProgram(
        np.append(np.zeros(count), 1.0),
        sparse.csr_array(rows),
        np.append(np.full(len(rows) - 1, -np.inf), 1.0),
        np.concatenate([np.zeros(priors), np.full(limits.shape[1], -room), [1.0]]),
        np.append(np.zeros(count), -np.inf),
    )
    solution = Highs("simplex").solve(program, time_limit=_SECONDS, stop=lambda: False)
    if solution.x is None or solution.duals is None:
        raise SolverError("the best mixture of mechanisms was not found.", "use fewer priors.")
    shares, weights = np.maximum(solution.x[:count], 0.0), np.maximum(-solution.duals[:priors], 0.0)
    total = float(weights.sum())
    return shares / shares.sum(), weights / total if total > 0 else np.full(priors, 1.0 / priors)


def mixture_share(excess: Floats, room: Floats, least: float) -> float:
    """Return the least share of a mechanism with room that leaves the mixture ``least`` room in each constraint.

    ``excess`` is that of the other mechanism, ``room`` that of the one with room, arrays (constraints,). The
    errors of attackers are concave, so the mixture has at least the mixed room.
    """
    demand = np.maximum(excess + least, 0.0)
    return float((demand / np.maximum(demand - (room + least), 1e-300)).max(initial=0.0))


def private_forms(demands: Demands, margin: float) -> list[Floats]:
    """Return closed forms, arrays (n, m), with the metric and distribution privacy of some demands."""
    forms = list(closed_forms(demands.problem).values())
    return [demands.private(form, margin) for form in forms] if len(demands.families) else forms


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SimpleMechanisms(CompactRepr):
    """Constant reports and other closed forms, each with its losses and its excess over the constraints."""

    secrets: int
    channels: tuple[Floats, ...]  # other than constant reports, arrays (n, m)
    losses: Floats  # array (m + channels, masses)
    excess: Floats  # array (m + channels, constraints)

    @classmethod
    def of(cls, demands: Demands, margin: float) -> SimpleMechanisms:
        """Return those with the metric and distribution privacy of some demands."""
        problem, m = demands.problem, demands.problem.shape[1]
        channels = private_forms(demands, margin)
        rows = [
            np.full(m, attacker.minimum - float((attacker.distance.array @ problem.prior.probabilities).min()))
            for attacker in problem.attackers
        ]
        rows += [limit.coefficients.sum(axis=0) - limit.at_most for limit in problem.constraints]
        constants = np.reshape(rows, (-1, m)).T / demands.scales
        losses = np.vstack([(demands.masses @ problem.loss.array).T, *map(demands.losses, channels)])
        return cls(
            len(problem.prior), tuple(channels), losses, np.vstack([constants, *map(demands.excess, channels)])
        )

    def with_most_room(self) -> Floats:
        """Return the mixture with the least excess, array (n, m)."""
        return self._mix(best_mixture(self.excess)[0])

    def best(self, room: float) -> Floats | None:
        """Return the mixture of least loss with room in each constraint, array (n, m); None if there is none."""
        try:
            return self._mix(best_mixture(self.losses, self.excess, room)[0])
        except SolverError:
            return None

    def _mix(self, shares: Floats) -> Floats:
        m = len(self.losses) - len(self.channels)
        matrix = np.tile(shares[:m], (self.secrets, 1))
        for share, channel in zip(shares[m:], self.channels, strict=True):
            matrix += share * channel
        return matrix


def simple_prices(demands: Demands, control: Control) -> Iterator[tuple[ManyMultipliers, str]]:
    """Yield prices of bounds that need no program of the demands, and what they are from.

    An attacker whose distance is the loss can guess the report, with the loss as error. A large problem under a
    time limit is at least as costly as one with fewer secrets and without constraints.
    """
    problem, none = demands.problem, demands.no_prices()
    masses = problem.prior.probabilities if len(demands.masses) > 1 else none.masses
    for j, attacker in enumerate(problem.attackers):
        if np.array_equal(attacker.distance.array.T, problem.loss.array):
            guesses = list(none.attackers)
            guesses[j] = np.eye(len(attacker.distance.array))
            yield replace(none, masses=masses, attackers=tuple(guesses)), "guesses that are the reports"
    is_large = math.prod(problem.shape) > SMALL_PROBLEM
    if is_large and math.isfinite(control.deadline) and control.cutoff is None:
        plain = replace(problem, guarantees=(), constraints=(), distance=None, minimum=0.0)
        rows = coarse_prices(plain, control)
        if rows is not None:
            yield replace(none, rows=rows), "a problem with fewer secrets"
