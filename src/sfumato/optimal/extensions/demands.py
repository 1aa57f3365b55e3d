"""Demands of a general program: a loss to minimise, and the constraints on the mechanism."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.arrays import Floats
from ...core.immutable import CompactRepr
from ...core.naming import WORST_CASE
from ...mechanisms import repair_to_private
from ...proofs import FamilyRows, ManyMultipliers, Multipliers, family_rows, many_loss_bound
from ..problem import Problem
from .families import TightRows, repair_to_families


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Demands(CompactRepr):
    """A loss to minimise, and the constraints on the mechanism."""

    problem: Problem
    masses: Floats  # array (k, n): the objective is the largest of the expected losses for these k masses
    exponents: Floats  # array (n, n) as in `Problem`, `inf` off the diagonal for unconstrained pairs
    families: FamilyRows  # of distribution privacy

    @classmethod
    def of(cls, problem: Problem) -> Demands:
        """Return the demands of a problem."""
        every = np.eye(problem.shape[0])
        masses = every if problem.objective == WORST_CASE else problem.prior.probabilities[None, :]
        free = np.where(every > 0, 0.0, np.inf)
        exponents = free if problem.exponents is None else problem.exponents
        return cls(problem, masses, exponents, family_rows(problem.guarantees, problem.shape[0]))

    @property
    def scales(self) -> Floats:
        """The unit in which each constraint is measured: its largest coefficient, or largest distance."""
        large = [float(attacker.distance.array.max()) for attacker in self.problem.attackers]
        large += [float(np.abs(constraint.coefficients).max()) for constraint in self.problem.constraints]
        return np.array([scale or 1.0 for scale in large])

    @property
    def has_pairs(self) -> bool:
        """Whether there is metric privacy for two different secrets."""
        return int(np.isfinite(self.exponents).sum()) > len(self.exponents)

    @property
    def of_families_alone(self) -> bool:
        """Whether it is about an expected loss, and all constraints are distribution privacy."""
        return len(self.families) > 0 and len(self.masses) == 1 and not self.has_pairs and not self.names

    @property
    def of_families_and_pairs(self) -> bool:
        """Whether it has metric and distribution privacy, and at most one attacker."""
        limits, attackers = self.problem.constraints, self.problem.attackers
        return len(self.families) > 0 and self.has_pairs and not limits and len(attackers) < 2

    @property
    def names(self) -> list[str]:
        """The constraints in words, attackers first."""
        return [*map(str, self.problem.attackers), *map(str, self.problem.constraints)]

    @property
    def coefficients(self) -> int:
        """The number of coefficients of the program, other than those of metric and distribution privacy."""
        guesses = sum(len(attacker.distance.array) for attacker in self.problem.attackers)
        return (guesses + len(self.problem.constraints)) * self.problem.loss.array.size

    def losses(self, matrix: Floats) -> Floats:
        """Return the expected loss of a matrix for each mass, array (k,), in plain floats."""
        return np.asarray(self.masses @ (matrix * self.problem.loss.array).sum(axis=1))

    def best_constant(self) -> Floats:
        """Return the constant report of least loss, array (n, m)."""
        constant = np.zeros(self.problem.shape)
        constant[:, int((self.masses @ self.problem.loss.array).max(axis=0).argmin())] = 1.0
        return constant

    def excess(self, matrix: Floats) -> Floats:
        """Return by how much of its scale a matrix breaks each constraint; negative where there is room."""
        problem = self.problem
        joint = problem.prior.probabilities[:, None] * matrix
        over = [
            *(
                attacker.minimum - float((attacker.distance.array @ joint).min(axis=0).sum())
                for attacker in problem.attackers
            ),
            *(
                float((constraint.coefficients * matrix).sum()) - constraint.at_most
                for constraint in problem.constraints
            ),
        ]
        return np.asarray(np.array(over) / self.scales, dtype=np.float64)

    def private(self, matrix: Floats, margin: float) -> Floats:
        """Return a row-stochastic matrix with metric and distribution privacy, near a solver's."""
        rows = repair_to_private(matrix, self.exponents if self.has_pairs else None, margin=margin)[0]
        return repair_to_families(rows, TightRows.of(self.families, margin))

    def bound(self, prices: ManyMultipliers, *, of_loss: bool = True) -> float:
        """Return the lower bound of the value that prices prove; without a loss, a positive one is infeasible."""
        problem = self.problem
        return many_loss_bound(
            self.masses if of_loss else np.zeros((1, problem.shape[0])),
            problem.loss.array,
            prices,
            prior=problem.prior.probabilities,
            attackers=problem.attackers,
            constraints=problem.constraints,
            families=self.families,
        )

    def no_prices(self) -> ManyMultipliers:
        """Return prices of the trivial bound."""
        m, attackers = self.problem.shape[1], self.problem.attackers
        guesses = tuple(np.zeros((len(attacker.distance.array), m)) for attacker in attackers)
        limits = np.zeros(len(self.problem.constraints))
        return ManyMultipliers(Multipliers.without_rows(), np.ones(len(self.masses)), guesses, limits)
