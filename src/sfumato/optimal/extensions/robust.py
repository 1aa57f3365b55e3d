"""The mechanism whose largest expected loss over several priors is least, with the prior that proves it.

A tiny linear program gives the best mixture of the mechanisms so far, and the prior that is worst for it; a design
for that prior is the next mechanism (column generation).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import sparse

from ...core import AnyLoss, Guarantee, Guarantees, Loss, Mechanism, Prior, Space
from ...core.arguments import check_arguments
from ...core.arrays import Floats, readonly
from ...core.naming import EXPECTED
from ...errors import InputError, SolverError, python
from ...proofs import EpsilonProof, expected_loss_above, prove_guarantees, relative_gap
from ...rounding import UNIT, amount_at_most, at_most, lower_end, underflow
from ..problem import Problem, least_loss
from ..row_generation import LinearProgram
from ..session import SolveSession
from ..solver import (
    Answer,
    BoundedSearch,
    Control,
    OnProgress,
    Progress,
    Solver,
    Status,
    Stop,
    check_gap,
    checked_time_limit,
    prove_answer,
    repair_answer,
    spread,
    with_promises,
)
from ..solver_registry import Highs

_ROUNDS: Final = 300
_PATIENCE: Final = 8  # designs that changed neither value nor bound
_SHARE: Final = 0.2  # of the wanted gap, for the single designs
_FIRST, _OF_GAP = 1e-2, 0.1  # the gap of the first designs, and of later ones, as a share of the gap so far
_LATE: Final = 0.3  # of the time that was left, before a design ends for want of it
_MEMORY: Final = 12  # mechanisms that are remembered though the best mixture does not use them
_SECONDS: Final = 60.0  # a program of a few rows takes thousandths


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RobustDesign:
    """A mechanism of nearly the least largest expected loss over several priors, with its proofs.

    The expected loss is linear in the prior, so what is proved for the k priors holds for all their mixtures. All
    figures are proved over the integers of the mechanism, with rounding on the safe side.

    Attributes:
        mechanism: The mechanism.
        priors: The priors.
        loss: The loss.
        guarantees: What the mechanism guarantees.
        status: Whether the wanted gap was reached; its value is a sentence.
        value: Upper bound of the largest expected loss, in the unit of the loss.
        lower_bound: Proved lower bound of the same for every mechanism with the guarantees: their loss for
            ``least_favourable``.
        losses: Upper bounds of the expected loss for each prior.
        weights: The shares of the priors in the least favourable one, array (k,).
        least_favourable: The mixture of the priors whose least expected loss is the lower bound: the witness.
        metric_privacy: One proof per guarantee.
        negligible: The smallest value that the gap is measured relative to.
        log: The progress, step by step; its bounds are proved, its values computed in plain floats.
        seconds: The time it took.
    """

    mechanism: Mechanism
    priors: tuple[Prior, ...]
    loss: Loss
    guarantees: tuple[Guarantee, ...]
    status: Status
    value: float
    lower_bound: float
    losses: tuple[float, ...]
    weights: Floats
    least_favourable: Prior
    metric_privacy: tuple[EpsilonProof, ...]
    negligible: float
    log: tuple[Progress, ...]
    seconds: float

    @property
    def gap(self) -> float:
        """The largest distance of the value from the least one, relative to it; see `relative_gap`."""
        return relative_gap(self.value, self.lower_bound, self.negligible)

    @property
    def epsilon_upper(self) -> float:
        """The proved epsilon of the first guarantee, per unit of its metric."""
        return self.metric_privacy[0].upper

    def __repr__(self) -> str:
        promise = ", ".join(str(guarantee) for guarantee in self.guarantees)
        return (
            f"RobustDesign of {self.mechanism!r}: {promise}; expected loss at most "
            f"{amount_at_most(self.value, self.loss.unit)} for {len(self.priors)} priors and their mixtures, "
            f"gap {at_most(self.gap, 2)} ({self.status.name})"
        )


def best_mixture(losses: Floats) -> tuple[Floats, Floats]:
    """Return the equilibrium of the game of losses (mechanisms, priors), at least 0: the shares of both sides."""
    count, priors = losses.shape
    scale = float(losses.max()) or 1.0
    rows = np.zeros((priors + 1, count + 1))
    rows[:priors, :count], rows[:priors, count] = losses.T / scale, -1.0
    rows[priors, :count] = 1.0
    program = LinearProgram(
        np.append(np.zeros(count), 1.0),
        sparse.csr_array(rows),
        np.append(np.full(priors, -np.inf), 1.0),
        np.append(np.zeros(priors), 1.0),
        np.zeros(count + 1),
    )
    solution = Highs("simplex").solve(program, time_limit=_SECONDS, stop=lambda: False)
    if solution.x is None or solution.duals is None:
        raise SolverError("the mixture of designs for the priors was not found.", "use fewer priors.")
    shares, weights = np.maximum(solution.x[:count], 0.0), np.maximum(-solution.duals[:priors], 0.0)
    total = float(weights.sum())
    return shares / shares.sum(), weights / total if total > 0 else np.full(priors, 1.0 / priors)


@check_arguments
def design_robust(
    priors: Sequence[Prior],
    *,
    loss: AnyLoss,
    guarantees: Guarantees,
    observables: Space | None = None,
    solver: Solver | str | None = None,
    gap: float = 1e-6,
    time_limit: float = math.inf,
    stop: Stop | None = None,
    progress: OnProgress | None = None,
) -> RobustDesign:
    """Return the mechanism with metric privacy whose largest expected loss over several priors is least.

    minimise  max over i of sum over s, o of prior_i(s) p(o|s) l(s, o)

    It is for people whose own prior is unknown: if it is one of these or a mixture of them, they lose at most the
    value. The result includes the witness, the mixture for which every mechanism loses at least the lower bound:
    `design` for it has the same least loss. It takes about ten to thirty designs for a few priors, each for the
    mixture that is worst for the mechanisms so far.

    The priors are on the same n secrets, and no loss is below 0. ``guarantees`` are one or several of
    `MetricPrivacy`, `ThresholdPrivacy` and `CoordinatePrivacy`. The arguments are those of `design`; ``progress``
    is called after each design. Raises `InputError` if sizes, units or options do not fit, the priors are on
    different secrets, a loss is negative, or a guarantee depends on a prior. Raises `SolverError` if there is no
    answer within the time.

    Source:
        Wald, Statistical Decision Functions, 1950 (minimax decisions and least favourable priors); Dantzig and
        Wolfe, Operations Research 8, 1960 (column generation).

    Example:
        >>> import sfumato as sf
        >>> from sfumato.optimal import design_robust
        >>> bit = sf.Space("ab")
        >>> leaning = [sf.Prior(bit, [0.9, 0.1]), sf.Prior(bit, [0.1, 0.9])]
        >>> found = design_robust(leaning, loss=sf.hamming(bit), guarantees=sf.MetricPrivacy(1.0, sf.hamming(bit)))
        >>> round(found.value, 4), found.least_favourable.probabilities.round(4).tolist()
        (0.2689, [0.5, 0.5])
    """
    check_gap(gap)
    deadline = time.monotonic() + checked_time_limit(time_limit)
    control = Control(gap, deadline, stop or (lambda: False), progress)
    return _Game(tuple(priors), loss, guarantees, observables, solver, control).play()


class _Game(BoundedSearch):
    def __init__(
        self,
        priors: tuple[Prior, ...],
        loss: AnyLoss,
        guarantees: Guarantees,
        observables: Space | None,
        solver: Solver | str | None,
        control: Control,
    ) -> None:
        if not priors:
            raise InputError("there is no prior.", python("pass one or several, such as [Prior.uniform(space)]."))
        for number, prior in enumerate(priors):
            if prior.space != priors[0].space:
                raise InputError(
                    f"the prior at position {number} is on other secrets ({prior.space!r}) than the first one "
                    f"({priors[0].space!r}).",
                    "use one space for all priors.",
                )
        self.priors, self.solver = priors, solver
        self.masses = np.array([prior.probabilities for prior in priors])
        self.loss, self.guarantees, self.observables = loss, guarantees, observables
        self.weights: Floats = np.full(len(priors), 1.0 / len(priors))
        self.next = self.weights
        self.even = self._problem(self.weights)
        if self.even.attackers:
            raise InputError(
                f"{self.even.attackers[0]} depends on a prior, and there are several.",
                python("pass MetricPrivacy, ThresholdPrivacy or CoordinatePrivacy."),
            )
        if (self.even.loss.array < 0).any():
            raise InputError(
                "the largest of several expected losses needs losses of at least 0.", "add a constant to the loss."
            )
        super().__init__(control, self.even.negligible)
        self.matrices: list[Floats] = []  # of the mechanisms
        self.losses: list[Floats] = []  # of each, by prior
        self.best: Floats = np.empty(self.even.shape)
        self.last: Answer | None = None

    def play(self) -> RobustDesign:
        """Add designs until the gap is reached, nothing is gained, or time is over."""
        return self._result(self.repeat(self._step, _ROUNDS, _PATIENCE, 1 - _SHARE))

    def _step(self) -> Status | None:
        """Add a design, take the best mixture of all, and drop mechanisms that it does not need."""
        begin, limit = time.monotonic(), self.control.deadline
        try:
            self._add_design(self.next)
        except (SolverError, InputError) as error:
            if not self.matrices:
                raise
            # A problem of this size was accepted before: it is refused where the time left is too short.
            late = isinstance(error, InputError) or time.monotonic() - begin >= _LATE * (limit - begin)
            status = Status.TIME_LIMIT if late and math.isfinite(limit) else Status.INACCURATE
            return self.control.cutoff or status
        shares, self.next = best_mixture(np.array(self.losses))
        value = float((shares @ np.array(self.losses)).max())
        if value < self.value:
            self.value, self.best = value, np.tensordot(shares, np.array(self.matrices), axes=1)
        support = [k for k, share in enumerate(shares) if share > 0 or k >= len(self.matrices) - _MEMORY]
        self.matrices, self.losses = [self.matrices[k] for k in support], [self.losses[k] for k in support]
        self.report()
        return None

    def _problem(self, weights: Floats) -> Problem:
        prior = Prior(self.priors[0].space, weights @ self.masses)
        return least_loss(prior, self.loss, self.guarantees, EXPECTED, self.observables)

    def _add_design(self, weights: Floats) -> None:
        """Add the design of least loss for a mixture of the priors, and its bound."""
        problem = self._problem(weights)
        nearness = max(_SHARE * self.control.gap, min(_FIRST, _OF_GAP * self.gap))
        left = max(self.control.remaining, 1e-3)
        session = SolveSession(nearness, solver=self.solver, time_limit=left, stop=self.control.stop)
        self.last = answer = session.solve(problem, self.last)
        matrix = answer.matrix if answer.mechanism is None else answer.mechanism.matrix
        if answer.used is not None:
            matrix = spread(matrix, answer.used, problem.shape[1])
        self.matrices.append(matrix)
        self.losses.append(self.masses @ (matrix * problem.loss.array).sum(axis=1))
        # The rounded mixture exceeds a true one by no more than this, and no loss is negative.
        count, most = len(self.priors), float(problem.loss.array.max())
        bound = answer.bound * (1 - 2 * (2 * count + 8) * UNIT) if answer.bound > 0 else answer.bound
        bound = lower_end(bound, underflow(count * problem.shape[0], most))
        if bound > self.bound:
            self.bound, self.weights = bound, weights

    def _result(self, status: Status) -> RobustDesign:
        """Quantise the best mixture and prove it for every prior."""
        problem = self.even
        matrix, share = repair_answer(problem, self.best)
        proof = prove_answer(problem, Answer(matrix, share, self.value, self.bound, status, (), ""))
        if proof is None:
            raise SolverError(
                "the mixture of designs could not be proved to satisfy the guarantees after rounding to integers.",
                "try another solver.",
            )
        mechanism, _ = proof
        losses = tuple(expected_loss_above(mechanism, prior, problem.loss) for prior in self.priors)
        value = max(losses)
        if status in (Status.OPTIMAL, Status.INACCURATE):
            is_close = relative_gap(value, self.bound, problem.negligible) <= self.control.gap
            status = Status.OPTIMAL if is_close else Status.INACCURATE
        return RobustDesign(
            with_promises(mechanism, problem.guarantees),
            self.priors,
            problem.loss,
            problem.guarantees,
            status,
            value,
            self.bound,
            losses,
            readonly(self.weights),
            Prior(problem.prior.space, self.weights @ self.masses),
            prove_guarantees(mechanism, problem.prior, problem.guarantees)[0],
            problem.negligible,
            tuple(self.log),
            time.monotonic() - self.start,
        )
