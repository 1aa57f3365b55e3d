"""All that a general program asks of a mechanism, in numbers, and how far a matrix is from keeping it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...core import DistortionPrivacy, Prior
from ...core.arrays import Floats
from ...core.frozen import Short
from ...evidence import LinearConstraint, ManyMultipliers, Multipliers, many_loss_bound
from ...mechanisms import made_private
from ..problem import WORST_CASE, Problem


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Demands(Short):
    """A loss that is to be least, and the constraints that are to be kept.

    Attributes:
        masses: Array (k, n): the largest of the k expected losses, by these masses, is to be least.
        loss: Array (n, m).
        exponents: Array (n, n) as in `Problem`, ``inf`` off the diagonal where nothing is asked.
        prior: What the attackers know.
        attackers: The distortion to be kept.
        constraints: The linear constraints to be kept.
    """

    masses: Floats
    loss: Floats
    exponents: Floats
    prior: Prior
    attackers: tuple[DistortionPrivacy, ...]
    constraints: tuple[LinearConstraint, ...]

    @classmethod
    def of(cls, problem: Problem) -> Demands:
        """Return those of a problem."""
        n, _ = problem.shape
        mass = problem.prior.probabilities
        return cls(
            np.eye(n) if problem.objective == WORST_CASE else mass[None, :],
            problem.loss.array,
            asked_exponents(problem.exponents, n),
            problem.prior,
            problem.attackers,
            problem.constraints,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of secrets and of observables."""
        n, m = self.loss.shape
        return n, m

    @property
    def loss_scale(self) -> float:
        """The largest absolute loss, or 1 where all are 0."""
        return float(np.abs(self.loss).max()) or 1.0

    @property
    def scales(self) -> Floats:
        """The unit in which each constraint is measured: its largest coefficient, or largest distance."""
        large = [float(each.distance.array.max()) for each in self.attackers]
        large += [float(np.abs(each.coefficients).max()) for each in self.constraints]
        return np.array([each or 1.0 for each in large])

    @property
    def names(self) -> list[str]:
        """The constraints in words, attackers first."""
        return [*map(str, self.attackers), *map(str, self.constraints)]

    def value(self, matrix: Floats) -> float:
        """Return the largest of the expected losses of a matrix, in plain floats."""
        return float((self.masses @ (matrix * self.loss).sum(axis=1)).max())

    def lacking(self, matrix: Floats) -> Floats:
        """Return by how much of its scale a matrix breaks each constraint; negative where there is room."""
        joint = self.prior.probabilities[:, None] * matrix
        errors = [float((each.distance.array @ joint).min(axis=0).sum()) for each in self.attackers]
        sums = [float((each.coefficients * matrix).sum()) for each in self.constraints]
        wanted = [each.minimum for each in self.attackers]
        limits = [each.at_most for each in self.constraints]
        over = np.array([*np.subtract(wanted, errors), *np.subtract(sums, limits)])
        return np.asarray(over / self.scales, dtype=np.float64)

    def private(self, matrix: Floats, margin: float) -> Floats:
        """Return a row-stochastic matrix that keeps metric privacy, near a solver's."""
        return made_private(matrix, self.exponents, margin=margin)[0]

    def bound(self, prices: ManyMultipliers) -> float:
        """Return the lower bound of the value that prices prove."""
        return many_loss_bound(
            self.masses,
            self.loss,
            prices,
            prior=self.prior.probabilities,
            attackers=self.attackers,
            constraints=self.constraints,
        )

    def without_loss(self) -> Demands:
        """Return the same for no loss at all: a positive bound of it proves that nobody keeps the demands."""
        return replace(self, masses=np.zeros((1, len(self.loss))))

    def no_prices(self) -> ManyMultipliers:
        """Return prices that prove what is always true."""
        none, nothing = np.empty(0, dtype=np.intp), np.empty(0)
        guesses = tuple(np.zeros((len(each.distance.array), self.loss.shape[1])) for each in self.attackers)
        rows = Multipliers(none, none, none, nothing, nothing)
        return ManyMultipliers(rows, np.ones(len(self.masses)), guesses, np.zeros(len(self.constraints)))


def asked_exponents(exponents: Floats | None, secrets: int) -> Floats:
    """Return exponents of all pairs, array (n, n), where None asks for nothing."""
    if exponents is not None:
        return exponents
    return np.where(np.eye(secrets, dtype=bool), 0.0, np.inf)
