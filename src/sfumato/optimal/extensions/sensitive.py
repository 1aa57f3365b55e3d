"""Mechanisms that reveal least about a sensitive value within a limit of the loss, with proofs."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError

from ...core import AnyLoss, Guarantees, Loss, Mechanism, Prior, Space, units
from ...core.arrays import Floats, readonly
from ...errors import InfeasibleError
from ...proofs import (
    Multipliers,
    class_error_below,
    class_information_above_bits,
    class_information_bound_bits,
    class_loss_above,
    class_vulnerability_above,
    class_vulnerability_bound,
    prove_guarantees,
    relative_gap,
)
from ..program_design import maximise_distortion
from ..solver import BoundedSearch, Control, OnProgress, Progress, Status, Stop, check_gap, checked_time_limit
from .sensitive_newton import InformationSteps, VulnerabilitySteps
from .sensitive_problem import (
    INFORMATION,
    VULNERABILITY,
    LeakProgram,
    SensitiveDesign,
    SensitiveProblem,
    leak_program,
)

_STEPS: Final = 200
_PATIENCE: Final = 12  # steps without a better value or bound
_DOUBT: Final = 1e-9  # of the guesses, where the bound is the least loss itself
_SHARE: Final = 0.5  # of the wanted gap: the rest is for rounding to integers
_DROPPED: Final = (2.0**-26, 1e-10, 0.0)  # probabilities that are left out, if that costs nothing that counts


@dataclass(frozen=True, slots=True, eq=False)
class SearchEnd:
    """Prices of the best bound, and how the work ended."""

    strategy: Floats  # array (classes, m), the weights of the adversary's guesses
    price: float  # the price of the loss, in its own unit
    status: Status  # how the work ended
    log: tuple[Progress, ...]  # the progress
    rows: Multipliers | None = None  # the prices of the rows of metric privacy; None without guarantees


def least_private(problem: SensitiveProblem, control: Control) -> tuple[Mechanism, SearchEnd]:
    """Return a private mechanism of least vulnerability, and the prices that prove its gap."""
    weights, joint = problem.weights, problem.joint
    right = np.divide(joint, weights, out=np.zeros_like(joint), where=weights > 0)
    errors = Loss(np.maximum(1.0 - right, 0.0), name="chance of a wrong guess")
    blind = float(problem.classes.max())
    most = max(1.0 - blind, problem.negligible)
    tell = control.progress
    design = maximise_distortion(
        Prior(problem.secrets, weights),
        loss=problem.loss,
        distance=errors,
        max_loss=problem.max_loss - problem.rounding,
        guarantees=problem.guarantees,
        observables=problem.observables,
        gap=min(_SHARE, _SHARE * control.gap * max(blind, problem.negligible) / most),
        time_limit=control.remaining if math.isfinite(control.deadline) else math.inf,
        stop=control.stop,
        progress=None if tell is None else lambda step: tell(_of_vulnerability(problem, step)),
    )
    status = Status.INACCURATE if design.status is Status.OPTIMAL else design.status
    log = tuple(_of_vulnerability(problem, step) for step in design.log)
    prices = None if design.optimality is None else design.optimality.multipliers
    if prices is None or prices.guesses is None:
        blindly: Floats = np.tile(problem.classes[:, None], (1, len(problem.observables)))
        return design.mechanism, SearchEnd(blindly, 0.0, status, log)
    rows = replace(prices, guesses=None, loss=0.0)
    return design.mechanism, SearchEnd(prices.guesses, prices.loss, status, log, rows)


def _of_vulnerability(problem: SensitiveProblem, step: Progress) -> Progress:
    """Return a line of progress of the adversary's error as one of their success."""
    if step.coarse:
        return step
    value, bound = 1.0 - step.value, 1.0 - step.bound
    gap = relative_gap(value, bound, problem.negligible) if math.isfinite(value) else math.inf
    return replace(step, value=value, bound=bound, gap=gap)


def least_vulnerability(
    joint: ArrayLike,
    secrets: Space,
    loss: AnyLoss,
    max_loss: float | str,
    *,
    observables: Space | None = None,
    guarantees: Guarantees = (),
    gap: float = 1e-6,
    time_limit: float = math.inf,
    stop: Stop | None = None,
    progress: OnProgress | None = None,
) -> SensitiveDesign:
    """Return the mechanism that makes the sensitive X hardest to guess from the report Z.

    minimise  sum over z of max over x of sum over w of P(x, w) p(z|w) subject to  sum over w, z of P(w) p(z|w)
    l(w, z) <= max_loss and, with guarantees,  p(z|w) <= exp(epsilon d(w, w')) p(z|w') for all w, w', z

    X is the sensitive value (a person, a home borough), W the useful one that is reported (a place), Z the report.
    No mechanism within the loss and the guarantees leaves the best adversary a larger Bayes error than 1 -
    `lower_bound`. With guarantees it is the game of `maximise_distortion` for an adversary whose guess x has the
    error 1 - P(x|w) on w.

    ``joint`` is P(x, w), array (classes, n), with sum one; ``secrets`` are the n values of W, and ``observables``
    the m values of Z, by default the secrets. ``max_loss`` is the largest expected loss, in its unit or as text
    (``"173 m"``). ``guarantees`` are metric privacy of W, one or several, which holds for all its values, also for
    those that never occur. The other arguments are those of `design`. Raises `InputError` if sizes, guarantees or
    options do not fit, or the joint distribution is not a distribution. Raises `UnitError` if the unit of the
    limit does not fit. Raises `InfeasibleError` if no mechanism satisfies the limit and the guarantees; the
    message gives the least loss. Raises `SolverError` if there is no answer with the guarantees within the time.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, section II, for the game; Shokri, "Privacy Games",
        PoPETs 2015, equation 10, for the guarantees.

    Example:
        Two people, each at a corner; half the way between them all is hidden.

        >>> import sfumato as sf
        >>> from sfumato.optimal import least_vulnerability
        >>> corners, reports = sf.Space(["west", "east"]), sf.Space(["west", "middle", "east"])
        >>> metres = [[0, 50, 100], [100, 50, 0]]
        >>> hidden = least_vulnerability([[0.5, 0], [0, 0.5]], corners, metres, 25, observables=reports)
        >>> round(hidden.bayes_error, 6), round(hidden.loss, 3), hidden.status.name
        (0.25, 25.0, 'OPTIMAL')

        An epsilon of 0.5 for the place leaves no room below a loss of 37.8.

        >>> promise = sf.MetricPrivacy(0.5, sf.hamming(corners))
        >>> both = least_vulnerability(
        ...     [[0.5, 0], [0, 0.5]], corners, metres, 40, observables=reports, guarantees=promise
        ... )
        >>> round(both.bayes_error, 5), both.epsilon_upper <= 0.5
        (0.4, True)
    """
    problem = SensitiveProblem(joint, secrets, loss, max_loss, VULNERABILITY, observables, guarantees)
    return _least_leak(problem, gap, time_limit, stop, progress)


def least_information(
    joint: ArrayLike,
    secrets: Space,
    loss: AnyLoss,
    max_loss: float | str,
    *,
    observables: Space | None = None,
    gap: float = 1e-6,
    time_limit: float = math.inf,
    stop: Stop | None = None,
    progress: OnProgress | None = None,
) -> SensitiveDesign:
    """Return the mechanism whose report Z reveals least about the sensitive X, in bits.

    minimise  I(X; Z) = sum over x, z of P(x, z) log2( P(x, z) / (P(x) P(z)) ) subject to  sum over w, z of P(w)
    p(z|w) l(w, z) <= max_loss

    Where X = W (a diagonal joint distribution) the least value is the rate-distortion function of W. Arguments,
    result and errors are those of `least_vulnerability`, without guarantees.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, equation 14.

    Example:
        A fair bit that may be wrong one time in ten reveals 1 - h(0.1) bits.

        >>> import sfumato as sf
        >>> from sfumato.optimal import least_information
        >>> bit = sf.Space([0, 1])
        >>> hidden = least_information([[0.5, 0], [0, 0.5]], bit, sf.hamming(bit), 0.1)
        >>> round(hidden.value, 6), round(hidden.lower_bound, 6)
        (0.531004, 0.531004)
    """
    problem = SensitiveProblem(joint, secrets, loss, max_loss, INFORMATION, observables)
    return _least_leak(problem, gap, time_limit, stop, progress)


def _least_leak(
    problem: SensitiveProblem, gap: float, time_limit: float, stop: Stop | None, progress: OnProgress | None
) -> SensitiveDesign:
    check_gap(gap)
    checked_time_limit(time_limit)
    start = time.monotonic()
    control = Control(gap, start + time_limit, stop or (lambda: False), progress)
    program = leak_program(problem)
    silent = _silent(problem, program)
    candidates: Iterable[Mechanism]
    if silent is not None:
        candidates = candidates_of(problem, program, silent)
        end = SearchEnd(np.tile(problem.classes[:, None], (1, program.shape[1])), 0.0, Status.OPTIMAL, ())
    elif problem.guarantees:
        mechanism, end = least_private(problem, control)
        candidates = (mechanism,)
    else:
        search = _Search(problem, program, control)
        end = search.run()
        candidates = candidates_of(problem, program, search.rows)
    return prove_best(problem, candidates, end, gap, time.monotonic() - start)


def _silent(problem: SensitiveProblem, program: LeakProgram) -> Floats | None:
    """Return constant rows, where the limit allows them or there is nothing to reveal; else None."""
    if len(program.classes) == 1 and not problem.guarantees:
        return program.nearest
    losses = problem.weights @ problem.loss.array
    best = int(np.argmin(losses))
    # The loss of a constant is proved like any other; one that is only just within the bound may not pass.
    if program.tight or float((program.cost[:, best]).sum()) > program.limit:
        return None
    rows = np.zeros(program.shape)
    rows[:, best] = 1.0
    return rows


class _Search(BoundedSearch):
    """The steps of one call, with the best value and the best bound of any step."""

    def __init__(self, problem: SensitiveProblem, program: LeakProgram, control: Control) -> None:
        super().__init__(control, problem.negligible)
        self.problem, self.program = problem, program
        vulnerable = problem.objective == VULNERABILITY
        self.steps = VulnerabilitySteps(program) if vulnerable else InformationSteps(program)
        self.rows, self.guesses, self.price = self.steps.y, self.steps.guesses, 0.0

    def run(self) -> SearchEnd:
        """Step until the gap is reached, nothing is gained, or time is over."""
        status = self.repeat(self._step, _STEPS, _PATIENCE, _SHARE)
        strategy = np.zeros((len(self.problem.classes), len(self.problem.observables)))
        strategy[self.program.positions] = self.guesses
        return SearchEnd(strategy, self.price, status, tuple(self.log))

    def _step(self) -> Status | None:
        """Advance, but for the first step, and report the iterate; end where rounding breaks the system."""
        try:
            with np.errstate(over="raise", invalid="raise", divide="raise"):
                if self.log:
                    self.steps.advance()
        except (LinAlgError, FloatingPointError):
            return Status.INACCURATE
        program, steps = self.program, self.steps
        rows = program.feasible_rows(steps.y)
        guesses = steps.guesses / steps.guesses.sum(axis=0)
        joint = program.onto @ rows
        if program.tight:
            # What no report may show now would cost any price if it were held impossible.
            guesses = (1 - _DOUBT) * guesses + _DOUBT * program.classes[:, None]
        if self.problem.objective == VULNERABILITY:
            value, gain, unit = float(joint.max(axis=0).sum()), guesses, 1.0
        else:
            total = joint.sum(axis=0)
            believed = joint / np.where(total > 0, total, 1.0) / program.classes[:, None]
            logs = np.log(believed, out=np.zeros_like(believed), where=believed > 0)
            value, gain = float((joint * logs).sum()), np.log(guesses / program.classes[:, None])
            unit = math.log(2)
        earned = program.onto.T @ gain
        if program.tight:
            loss = self.problem.loss.array[program.rows]
            above = self.problem.weights[program.rows, None] * (loss - loss.min(axis=1, keepdims=True))
            best = np.where(program.open, earned, np.inf).min(axis=1, keepdims=True)
            # The least price at which no report that loses too much pays.
            prices = np.divide(best - earned, above, out=np.zeros_like(above), where=~program.open)
            price, bound = max(0.0, float(prices.max())), float(best.sum())
        else:
            price = steps.price / program.unit_of_cost
            bound = float((earned + steps.price * program.cost).min(axis=1).sum()) - steps.price * program.limit
        value, bound = value / unit, bound / unit
        if value < self.value:
            self.value, self.rows = value, rows
        if bound > self.bound:
            self.bound, self.guesses, self.price = bound, guesses, price
        self.report()
        return None


def prove_best(
    problem: SensitiveProblem, candidates: Iterable[Mechanism], end: SearchEnd, gap: float, seconds: float
) -> SensitiveDesign:
    """Return the proved design of the first mechanism within the gap, or else of the one that leaks least."""
    joint, loss_array, vulnerable = problem.joint, problem.loss.array, problem.objective == VULNERABILITY
    limits = joint, loss_array, problem.max_loss, end.strategy, end.price
    leak = class_vulnerability_above if vulnerable else class_information_above_bits
    bound = class_vulnerability_bound(*limits, end.rows) if vulnerable else class_information_bound_bits(*limits)
    best: tuple[float, float, Mechanism] | None = None
    for mechanism in candidates:
        loss = class_loss_above(mechanism, joint, loss_array)
        if loss > problem.max_loss:
            least = loss
            continue
        value = leak(mechanism, joint)
        if best is None or value < best[0]:
            best = value, loss, mechanism
        if relative_gap(value, bound, problem.negligible) <= gap:
            break
    if best is None:
        unit = problem.loss.unit
        raise InfeasibleError(
            "no mechanism with these reports can be proved to lose at most "
            f"{units.show(problem.max_loss, unit)} on average: "
            f"the least that can be proved is {units.show(least, unit)} ({least:.17g}).",
            "allow at least that much, or add observables that lose less.",
        )
    value, loss, mechanism = best
    status = end.status
    if status in (Status.OPTIMAL, Status.INACCURATE):
        is_close = relative_gap(value, bound, problem.negligible) <= gap
        status = Status.OPTIMAL if is_close else Status.INACCURATE
    privacy, _ = prove_guarantees(mechanism, Prior(problem.secrets, problem.weights), problem.guarantees)
    return SensitiveDesign(
        mechanism.promising(problem.guarantees),
        problem,
        status,
        value,
        bound,
        class_vulnerability_above(mechanism, joint),
        class_error_below(mechanism, joint),
        class_information_above_bits(mechanism, joint),
        loss,
        privacy,
        readonly(end.strategy),
        end.price,
        end.rows,
        end.log,
        seconds,
    )


def candidates_of(problem: SensitiveProblem, program: LeakProgram, rows: Floats) -> Iterator[Mechanism]:
    """Yield mechanisms of rows p(z|w), the first without an interior answer's tiny probabilities."""
    for threshold in _DROPPED:
        likely = program.feasible_rows(np.where(rows < threshold, 0.0, rows))
        # Nothing is known of a secret that never occurs: its report reveals as little as possible.
        marginal = problem.weights[program.rows] @ likely
        matrix = np.tile(marginal / marginal.sum(), (len(problem.secrets), 1))
        matrix[program.rows] = likely
        yield Mechanism(matrix, problem.secrets, problem.observables)
