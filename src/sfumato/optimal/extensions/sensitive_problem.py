"""The problem of hiding a sensitive X behind a useful W, reported as Z within a limit of the loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ...core import AnyLoss, Guarantees, Loss, Mechanism, MetricPrivacy, Space, as_loss, units
from ...core.arrays import Floats, floats, readonly
from ...core.immutable import assign
from ...core.units import per_unit
from ...errors import InfeasibleError, InputError, python
from ...proofs import EpsilonProof, Multipliers, relative_gap
from ...rounding import UNIT, amount_at_most, at_least, at_most
from ..problem import exponents_of, guarantees_for
from ..solver import Progress, Status

VULNERABILITY: Final = "vulnerability"
INFORMATION: Final = "information"
_SUM_TOLERANCE: Final = 1e-9
_TIGHT: Final = 1e-9  # of the scale: a bound nearer to the least loss leaves no room for an interior
_TIE: Final = 1e-13  # of the scale: losses that differ by less are equal, but for rounding
_START_SHARE: Final = 0.5  # of the room for loss that the exponential mechanism of the start takes,
_LATER_SHARE: Final = 0.9  # and that it takes after being mixed with even rows
_LEAST_PRICE: Final = 1e-4  # of the loss, in the scale of the program, where the search for the start begins
_PRICE_STEP: Final = 1.2
_EVEN: Final = 0.05  # the even rows' share in the start, at most


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SensitiveProblem:
    """The sensitive value, the useful value, and the limit of the loss.

    Raises `InputError` if sizes or guarantees do not fit, or the joint distribution is not a distribution. Raises
    `UnitError` if the unit of the limit does not fit. ``classes`` are P(x), and ``weights`` P(w), array (n,).

    Args:
        joint: P(x, w), array (classes, secrets), non-negative, with sum one (within 1e-9).
        secrets: The n values of W that the mechanism takes.
        loss: The loss l(w, z), array (n, m), a `Loss` or a `Metric`.
        max_loss: The largest expected loss, in its unit or as text (``"173 m"``).
        objective: ``vulnerability`` or ``information``.
        observables: The m values of Z; by default the secrets.
        guarantees: Metric privacy of W that must hold too, for the objective ``vulnerability``: one or several.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, section II (the chain X - W - Z).
    """

    joint: Floats
    secrets: Space
    observables: Space
    loss: Loss
    max_loss: float
    objective: str
    guarantees: tuple[MetricPrivacy, ...]
    classes: Floats = field(init=False)
    weights: Floats = field(init=False)

    def __init__(
        self,
        joint: ArrayLike,
        secrets: Space,
        loss: AnyLoss,
        max_loss: float | str,
        objective: str,
        observables: Space | None = None,
        guarantees: Guarantees = (),
    ) -> None:
        array = floats(joint, "the joint distribution", shape=(None, len(secrets)))
        if (array < 0).any():
            x, w = np.argwhere(array < 0)[0]
            raise InputError(
                f"the joint distribution is negative at class {x}, secret {w}: {array[x, w]:g}.",
                "use probabilities of at least 0.",
            )
        total = float(array.sum())
        if abs(total - 1.0) > _SUM_TOLERANCE:
            raise InputError(
                f"the joint distribution sums to {total:.12g}, not to 1.", "divide counts by their sum first."
            )
        if objective not in (VULNERABILITY, INFORMATION):
            raise InputError(
                f"the objective {objective!r} is unknown.", f"use {VULNERABILITY!r} or {INFORMATION!r}."
            )
        space = observables if observables is not None else secrets
        costs = as_loss(loss, len(secrets), len(space))
        assign(
            self,
            joint=array,
            secrets=secrets,
            observables=space,
            loss=costs,
            max_loss=units.parse(max_loss, unit=costs.unit, subject="the largest loss"),
            objective=objective,
            guarantees=_metric_privacy(secrets, objective, guarantees),
            classes=readonly(array.sum(axis=1)),
            weights=readonly(array.sum(axis=0)),
        )

    def __repr__(self) -> str:
        k, n = self.joint.shape
        promises = "".join(f", {guarantee}" for guarantee in self.guarantees)
        return (
            f"SensitiveProblem of least {self.objective}: {k} classes behind {n} secrets, {len(self.observables)} "
            f"observables, loss at most {units.show(self.max_loss, self.loss.unit)}{promises}"
        )

    @property
    def rounding(self) -> float:
        """The room that the final proof of the loss may need for rounding, in the unit of the loss."""
        size = float(self.weights @ np.abs(self.loss.array).max(axis=1))
        return 8 * (sum(self.joint.shape) + len(self.observables) + 16) * UNIT * size

    @property
    def negligible(self) -> float:
        """A thousandth of the most that this number of classes could leak: gaps are relative to no less."""
        if self.objective == VULNERABILITY:
            return 1e-3
        return 1e-3 * max(1.0, float(np.log2(np.count_nonzero(self.classes))))


def _metric_privacy(secrets: Space, objective: str, guarantees: Guarantees) -> tuple[MetricPrivacy, ...]:
    """Return guarantees as rows of the secrets; raise `InputError` where they or the objective do not fit."""
    bound = guarantees_for(secrets, guarantees)
    if bound and objective != VULNERABILITY:
        raise InputError(
            f"the objective {objective!r} takes no guarantees.",
            python("use least_vulnerability, or leave guarantees= out."),
        )
    metric = tuple(guarantee for guarantee in bound if isinstance(guarantee, MetricPrivacy))
    if len(metric) < len(bound):
        other = next(guarantee for guarantee in bound if not isinstance(guarantee, MetricPrivacy))
        raise InputError(
            f"{other} is not possible here: the design already maximises the error of an attacker who guesses the "
            "sensitive value.",
            python("pass MetricPrivacy, ThresholdPrivacy or CoordinatePrivacy."),
        )
    exponents_of(secrets, metric)
    return metric


@dataclass(frozen=True, slots=True, eq=False)
class LeakProgram:
    """Minimise a leak over y >= 0 with rows of sum one and sum of cost y at most `limit`."""

    onto: Any  # p(x, w) of possible classes and secrets, (k, n): an array, or sparse where `kinds` is set
    kinds: NDArray[np.intp] | None  # the class of each secret where it determines its class, else None
    cost: Floats  # array (n, m), P(w) l(w, z) less its least entry per row, at most 1; zero where `tight`
    limit: float  # the bound on the scaled cost
    open: NDArray[np.bool_]  # array (n, m): where y may be positive
    nearest: Floats  # array (n, m): the rows of least loss, evenly over the reports that lose least
    tight: bool  # whether the bound is the least loss itself, so that `open` alone enforces it
    classes: Floats  # array (k,), P(x)
    weights: Floats  # array (n,), P(w)
    unit_of_cost: float  # a scaled cost of one, in the unit of the loss
    rows: NDArray[np.intp]  # the positions of the possible secrets
    positions: NDArray[np.intp]  # the positions of the possible classes

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of possible secrets and of reports."""
        n, m = self.cost.shape
        return n, m

    def feasible_rows(self, y: Floats) -> Floats:
        """Return rows scaled to sum one, mixed with the nearest ones just enough to satisfy the limit."""
        rows: Floats = y / y.sum(axis=1, keepdims=True)
        cost = float((self.cost * rows).sum())
        if cost > self.limit:
            share = min(1.0, (1 - self.limit / cost) * (1 + 1e-12))
            rows = (1 - share) * rows + share * self.nearest
        return rows

    def start(self) -> tuple[Floats, float]:
        """Return an exponential mechanism mixed with even rows, strictly feasible, and a price that suits it."""
        even = self.open / self.open.sum(axis=1, keepdims=True)
        steps = self.cost / self.weights[:, None]
        price = _LEAST_PRICE
        while True:
            weights = even * np.exp(-price * steps)
            rows = weights / weights.sum(axis=1, keepdims=True)
            cost = float((self.cost * rows).sum())
            if cost <= _START_SHARE * self.limit:
                break
            price *= _PRICE_STEP
        excess = float((self.cost * even).sum()) - cost
        share = min(_EVEN, (_LATER_SHARE * self.limit - cost) / excess) if excess > 0 else _EVEN
        return (1 - share) * rows + share * even, price


def leak_program(problem: SensitiveProblem) -> LeakProgram:
    """Return the program of a problem; raise `InfeasibleError` if every mechanism loses more than the limit."""
    rows, classes = np.flatnonzero(problem.weights), np.flatnonzero(problem.classes)
    weights, loss = problem.weights[rows], problem.loss.array[rows]
    best = loss.min(axis=1)
    above = loss - best[:, None]
    scale = float((weights[:, None] * above).max())
    least = float(weights @ best)
    size = float(weights @ np.abs(loss).max(axis=1))
    room, rounding = problem.max_loss - least, problem.rounding
    if room < -rounding or (room < 0 and size == 0):
        unit = problem.loss.unit
        raise InfeasibleError(
            f"no mechanism with these reports loses at most {units.show(problem.max_loss, unit)} on average: "
            f"the least possible with them is {units.show(least, unit)}.",
            f"allow at least {least + rounding:.17g}, or add observables that lose less.",
        )
    tight = room <= _TIGHT * size + rounding
    ties = above <= _TIE * float(np.abs(loss).max())
    unit_of_cost = scale if scale > 0 else 1.0
    joint = problem.joint[np.ix_(classes, rows)]
    alone = bool(((joint > 0).sum(axis=0) == 1).all())
    return LeakProgram(
        sparse.csr_array(joint) if alone else joint,
        np.argmax(joint, axis=0) if alone else None,
        np.zeros_like(above) if tight else weights[:, None] * above / unit_of_cost,
        1.0 if tight else (room - rounding) / unit_of_cost,
        ties if tight else np.ones_like(ties),
        ties / ties.sum(axis=1, keepdims=True),
        tight,
        problem.classes[classes],
        weights,
        unit_of_cost,
        rows,
        classes,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SensitiveDesign:
    """A mechanism of nearly the least leak of X within a limit of the loss, with its proofs.

    All figures are proved over the integers of the mechanism, with rounding on the safe side.

    Attributes:
        mechanism: The mechanism from W to Z.
        problem: The problem.
        status: Whether the wanted gap was reached; its value is a sentence.
        value: Upper bound of the objective for this mechanism: the Bayes vulnerability of X, or I(X; Z) in bits.
        lower_bound: Proved lower bound for every mechanism within the loss.
        vulnerability: Upper bound of the chance that the best guess of X is right.
        bayes_error: Lower bound of the chance that it is wrong.
        information_bits: Upper bound of I(X; Z).
        loss: Upper bound of the expected loss, in its unit; at most the limit.
        metric_privacy: One proof per guarantee of metric privacy, of the integers of the mechanism.
        strategy: The adversary's strategy that proves the lower bound, array (classes, m); see `proofs.sensitive`.
        price: The price of the loss that proves it, per unit of loss.
        rows: The prices of the rows of metric privacy that prove it; None without guarantees.
        log: The progress, step by step; its bounds are computed in plain floats.
        seconds: The time it took.
        free_reports: Whether the lower bound is for reports anywhere on the plane; strategy and price are not.
    """

    mechanism: Mechanism
    problem: SensitiveProblem
    status: Status
    value: float
    lower_bound: float
    vulnerability: float
    bayes_error: float
    information_bits: float
    loss: float
    metric_privacy: tuple[EpsilonProof, ...]
    strategy: Floats
    price: float
    rows: Multipliers | None
    log: tuple[Progress, ...]
    seconds: float
    free_reports: bool = False

    @property
    def gap(self) -> float:
        """The largest distance of the value from the least one, relative to it; see `relative_gap`."""
        return relative_gap(self.value, self.lower_bound, self.problem.negligible)

    @property
    def epsilon_upper(self) -> float:
        """The proved epsilon of the first guarantee, per unit of its metric; ``inf`` if there is none."""
        return self.metric_privacy[0].upper if self.metric_privacy else float("inf")

    def __repr__(self) -> str:
        unit = self.problem.loss.unit
        if self.problem.objective == VULNERABILITY:
            leak = f"Bayes error at least {at_least(self.bayes_error, 6)}"
        else:
            leak = f"information at most {at_most(self.information_bits, 6)} bits"
        texts = (f"epsilon at most {at_most(p.upper, 6)}{per_unit(p.unit)}, " for p in self.metric_privacy)
        return (
            f"SensitiveDesign of {self.mechanism!r}: {leak}, loss at most {amount_at_most(self.loss, unit)}, "
            f"{''.join(texts)}gap {at_most(self.gap, 2)} ({self.status.name})"
        )
