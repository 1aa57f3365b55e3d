"""The mechanism whose largest expected loss over several priors is least, with the prior that proves it.

A tiny linear program gives the best mixture of the mechanisms so far, and the prior that is worst for it; a design
for that prior is the next mechanism (column generation).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

import numpy as np

from ...core import AnyLoss, Guarantee, Guarantees, Loss, Mechanism, Metric, Prior, Space, as_loss
from ...core.arguments import check_arguments
from ...core.arrays import Floats, readonly
from ...core.naming import EXPECTED
from ...errors import InputError, SolverError, python
from ...proofs import EpsilonProof, expected_loss_above, relative_gap
from ...rounding import UNIT, amount_at_most, at_most, lower_end, plural, underflow
from ..baseline import fallback
from ..problem import Problem, least_loss
from ..result import Design
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
    repair_answer,
    spread,
)
from .constrained import MARGIN, with_integers
from .demands import Demands
from .mixtures import best_mixture, private_forms

_ROUNDS: Final = 300
_PATIENCE: Final = 8  # designs that changed neither value nor bound
_SHARE: Final = 0.2  # of the wanted gap, for the single designs
_FIRST, _OF_GAP = 1e-2, 0.1  # the gap of the first designs, and of later ones, as a share of the gap so far
_LATE: Final = 0.3  # of the time that was left, before a design ends for want of it
_MEMORY: Final = 12  # mechanisms that are remembered though the best mixture does not use them


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RobustDesign:
    """A mechanism of nearly the least largest expected loss over several priors, with its proofs.

    The expected loss is linear in the prior, so what is proved for the k priors holds for all their mixtures. All
    figures are proved over the integers of the mechanism, with rounding on the safe side.

    Attributes:
        design: The mechanism as a design for the least favourable prior, which is what a mechanism file holds. Its
            loss and its bound are those for this prior.
        priors: The priors.
        status: Whether the wanted gap was reached; its value is a sentence.
        value: Upper bound of the largest expected loss, in the unit of the loss.
        lower_bound: Proved lower bound of the same for every mechanism with the guarantees: their loss for
            ``least_favourable``.
        losses: Upper bounds of the expected loss for each prior.
        weights: The shares of the priors in the least favourable one, array (k,).
        negligible: The smallest value that the gap is measured relative to.
        log: The progress, step by step; its bounds are proved, its values computed in plain floats.
        seconds: The time it took.
    """

    design: Design
    priors: tuple[Prior, ...]
    status: Status
    value: float
    lower_bound: float
    losses: tuple[float, ...]
    weights: Floats
    negligible: float
    log: tuple[Progress, ...]
    seconds: float

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism."""
        mechanism: Mechanism = self.design.mechanism
        return mechanism

    @property
    def loss(self) -> Loss:
        """The loss; with one for each prior, that of the least favourable prior."""
        return self.design.problem.loss

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """The guarantees of the mechanism."""
        return self.design.problem.guarantees

    @property
    def least_favourable(self) -> Prior:
        """The mixture of the priors whose least expected loss is the lower bound: the witness."""
        return self.design.problem.prior

    @property
    def metric_privacy(self) -> tuple[EpsilonProof, ...]:
        """One proof per guarantee of metric privacy."""
        return tuple(self.design.certificate.metric_privacy)

    @property
    def gap(self) -> float:
        """The largest distance of the value from the least one, relative to it; see `relative_gap`."""
        return relative_gap(self.value, self.lower_bound, self.negligible)

    @property
    def epsilon_upper(self) -> float:
        """The proved epsilon of the first metric privacy, per unit of its metric; ``inf`` without any."""
        return self.metric_privacy[0].upper if self.metric_privacy else math.inf

    def __repr__(self) -> str:
        promise = ", ".join(str(guarantee) for guarantee in self.guarantees)
        return (
            f"RobustDesign of {self.mechanism!r}: {promise}; expected loss at most "
            f"{amount_at_most(self.value, self.loss.unit)} for {plural(len(self.priors), 'prior')} and their "
            f"mixtures, gap {at_most(self.gap, 2)} ({self.status.name})"
        )


@check_arguments
def design_robust(
    priors: Sequence[Prior],
    *,
    loss: AnyLoss | Sequence[Loss | Metric],
    guarantees: Guarantees,
    observables: Space | None = None,
    solver: Solver | str | None = None,
    gap: float = 1e-6,
    time_limit: float = math.inf,
    stop: Stop | None = None,
    progress: OnProgress | None = None,
) -> RobustDesign:
    """Return the mechanism with metric privacy whose largest expected loss over several priors is least.

    minimise  max over i of sum over s, o of prior_i(s) p(o|s) l_i(s, o)

    It is for people whose own prior is unknown: if it is one of these or a mixture of them, they lose at most the
    value. The result includes the witness, the mixture for which every mechanism loses at least the lower bound:
    `design` for it has the same least loss. It takes about ten to thirty designs for a few priors, each for the
    mixture that is worst for the mechanisms so far.

    The priors are on the same n secrets, and no loss is below 0. ``loss`` is one for all priors, array (n, m), or
    one `Loss` for each, in the same unit, as for the mean distance from the true points of several groups of
    visits. ``guarantees`` are one or several of `MetricPrivacy`, `ThresholdPrivacy`, `CoordinatePrivacy` and
    `FamilyPrivacy`. The other arguments are those of `design`; ``progress`` is called after each design. Raises
    `InputError` if sizes, units or options do not fit, the priors are on different secrets, a loss is negative, or
    a guarantee depends on a prior. Raises `SolverError` if there is no answer within the time.

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
        loss: AnyLoss | Sequence[Loss | Metric],
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
        self.guarantees, self.observables = guarantees, observables
        self.costs = _losses(loss, priors, observables)
        self.weights: Floats = np.full(len(priors), 1.0 / len(priors))
        self.next = self.weights
        self.even = self._problem(self.weights)
        if self.even.attackers:
            raise InputError(
                f"{self.even.attackers[0]} depends on a prior, and there are several.",
                python("pass MetricPrivacy, ThresholdPrivacy, CoordinatePrivacy or FamilyPrivacy."),
            )
        if any((cost.array < 0).any() for cost in self.costs):
            raise InputError(
                "the largest of several expected losses needs losses of at least 0.", "add a constant to the loss."
            )
        super().__init__(control, self.even.negligible)
        self.matrices: list[Floats] = []  # of the mechanisms
        self.losses: list[Floats] = []  # of each, by prior
        self.best: Floats = np.empty(self.even.shape)
        self.last: Answer | None = None
        self.witness: Answer | None = None  # with the prices of the best bound

    def play(self) -> RobustDesign:
        """Add designs until the gap is reached, nothing is gained, or time is over."""
        status = self.repeat(self._step, _ROUNDS, _PATIENCE, 1 - _SHARE)
        if status is not Status.OPTIMAL:
            self._add_simple()
        return self._result(status)

    def _add_simple(self) -> None:
        """Add constant reports and other closed forms, and the bound of the truth for each prior."""
        constants = np.array([mass @ cost.array for mass, cost in zip(self.masses, self.costs, strict=True)])
        for o in {int(constants.max(axis=0).argmin()), *constants.argmin(axis=1).tolist()}:
            self._add_mechanism(np.tile(np.eye(1, constants.shape[1], o), (len(self.even.prior), 1)))
        for matrix in private_forms(Demands.of(self.even), MARGIN):
            self._add_mechanism(matrix)
        self._mix()
        for weights in np.eye(len(self.priors)):
            answer = fallback(self._problem(weights), Status.TIME_LIMIT, quick=True)
            if answer is not None and answer.bound > self.bound:
                self.bound, self.weights, self.witness = answer.bound, weights, answer
        self.report()

    def _step(self) -> Status | None:
        """Add a design, and take the best mixture of all."""
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
        self._mix()
        self.report()
        return None

    def _mix(self) -> None:
        """Take the best mixture of the mechanisms, and drop those that it does not need."""
        shares, self.next = best_mixture(np.array(self.losses))
        value = float((shares @ np.array(self.losses)).max())
        if value < self.value:
            self.value, self.best = value, np.tensordot(shares, np.array(self.matrices), axes=1)
        support = [k for k, share in enumerate(shares) if share > 0 or k >= len(self.matrices) - _MEMORY]
        self.matrices, self.losses = [self.matrices[k] for k in support], [self.losses[k] for k in support]

    def _problem(self, weights: Floats) -> Problem:
        prior = Prior(self.priors[0].space, weights @ self.masses)
        loss = self._mixture_loss(weights, prior.probabilities)
        return least_loss(prior, loss, self.guarantees, EXPECTED, self.observables)

    def _mixture_loss(self, weights: Floats, masses: Floats) -> Loss:
        """Return the loss whose mean under a mixture of the priors is the mixture of their expected losses."""
        first, count = self.costs[0], len(self.costs)
        if all(cost is first for cost in self.costs):
            return first
        parts, even = weights[:, None] * self.masses, np.full(self.masses.shape, 1.0 / count)
        shares = np.divide(parts, masses, out=even, where=masses > 0)
        array = np.zeros_like(first.array)
        for share, cost in zip(shares, self.costs, strict=True):
            array += share[:, None] * cost.array
        return replace(first, array=readonly(array), points=None)

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
        self._add_mechanism(matrix)
        # The rounded mixture exceeds a true one by no more than this, and no loss is negative.
        count, most = len(self.priors), max(float(cost.array.max()) for cost in self.costs)
        bound = answer.bound * (1 - 2 * (4 * count + 16) * UNIT) if answer.bound > 0 else answer.bound
        bound = max(0.0, lower_end(bound, underflow(4 * count * problem.shape[0], most)))
        if bound > self.bound or self.witness is None:
            self.bound, self.weights, self.witness = max(bound, self.bound), weights, answer

    def _add_mechanism(self, matrix: Floats) -> None:
        """Add a mechanism, array (n, m), and its expected losses."""
        every = zip(self.masses, self.costs, strict=True)
        self.matrices.append(matrix)
        self.losses.append(np.array([mass @ (matrix * cost.array).sum(axis=1) for mass, cost in every]))

    def _result(self, status: Status) -> RobustDesign:
        """Quantise the best mixture and prove it for every prior."""
        problem, witness = self._problem(self.weights), self.witness
        if witness is None:
            raise SolverError("no design for a mixture of the priors ended in time.", "allow more time.")
        matrix, share = repair_answer(problem, self.best)
        answer = replace(witness, matrix=matrix, share=share, status=status, mechanism=None, used=None, state=None)
        if problem.general:
            answer = with_integers(Demands.of(problem), answer, self.control.gap)
        design = SolveSession(self.control.gap, solver=self.solver).prove(problem, answer)
        mechanism = design.mechanism
        every = zip(self.priors, self.costs, strict=True)
        losses = tuple(expected_loss_above(mechanism, prior, cost) for prior, cost in every)
        value, negligible = max(losses), self.even.negligible
        if status in (Status.OPTIMAL, Status.INACCURATE):
            is_close = relative_gap(value, self.bound, negligible) <= self.control.gap
            status = Status.OPTIMAL if is_close else Status.INACCURATE
        log, seconds = tuple(self.log), time.monotonic() - self.start
        program = replace(design.program, status=status, log=log)
        design = Design.of_program(mechanism, design.certificate, program, seconds)
        return RobustDesign(
            replace(design, is_finished=status is Status.OPTIMAL),
            self.priors,
            status,
            value,
            self.bound,
            losses,
            readonly(self.weights),
            negligible,
            log,
            seconds,
        )


def _losses(
    loss: AnyLoss | Sequence[Loss | Metric], priors: Sequence[Prior], observables: Space | None
) -> tuple[Loss, ...]:
    """Return the loss of each prior."""
    space = priors[0].space
    size = len(space), len(observables if observables is not None else space)
    several = loss if isinstance(loss, Sequence) and all(isinstance(cost, Loss | Metric) for cost in loss) else ()
    if not several:
        return (as_loss(cast("AnyLoss", loss), *size),) * len(priors)
    if len(several) != len(priors):
        raise InputError(
            f"the losses and the priors differ in number: {len(several):,} and {len(priors):,}.",
            "pass one loss, or one for each prior.",
        )
    costs = tuple(as_loss(cost, *size) for cost in several)
    if len({(cost.unit, cost.name) for cost in costs}) > 1:
        raise InputError("the losses differ in name or unit.", "use one kind of loss and one unit for all priors.")
    return costs
