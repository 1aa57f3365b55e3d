"""The optimal mechanism for stated guarantees, repaired, quantised and proved."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from ..core import (
    AnyLoss,
    DistortionPrivacy,
    Guarantees,
    Loss,
    Metric,
    MetricPrivacy,
    Prior,
    Space,
    as_distance,
    as_loss,
    units,
)
from ..core.arguments import checked
from ..core.arrays import Floats
from ..core.guarantees import as_guarantees
from ..errors import InfeasibleError, InputError, SolverError, argument, python
from ..evidence import Certificate, Optimality, PlaceDistortion, VertexPrivacy
from ..rounding import amount, amount_at_least, amount_at_most
from .answered import Design
from .effort import check_time
from .fallback import fallback, standing_in
from .problem import DISTORTION, EXPECTED, Problem, least_loss, most_distortion
from .scaling import scaled
from .solver import (
    Answer,
    Control,
    OnProgress,
    Progress,
    Solver,
    Status,
    Stop,
    gap_of,
    mended,
    objective_of,
    proved,
)
from .solvers import solver_of
from .true_place import design_for_points

_AIM, _ENOUGH = 1e-6, 1e-4  # the gap aimed at, and the largest that counts as reached, where none was asked for
PAIRS = ("generated", "all", "spanner")
_TIES = 15_000  # probabilities up to which ties are broken unasked
_USELESS = 0.5  # a tie that is broken no better than this is not called broken
_TIE_GAP = 1e-3  # of the distortion, where ties are broken


@checked
def design(
    prior: Prior,
    *,
    loss: AnyLoss,
    guarantees: Guarantees,
    objective: str = EXPECTED,
    observables: Space | None = None,
    solver: Solver | str | None = None,
    pairs: str = "generated",
    dilation: float = 1.1,
    gap: float | None = None,
    tie_break: bool | None = None,
    time_limit: float = float("inf"),
    stop: Stop | None = None,
    progress: OnProgress | None = None,
    start: Design | None = None,
) -> Design:
    """Return the mechanism of least loss that keeps the guarantees.

    Among mechanisms of (nearly) equal expected loss, the one of most distortion privacy
    is returned: optimal faces are large, and their corners differ in what an adversary
    can infer. Where the loss is the adversary's distance itself, every optimum already
    has as much distortion as loss, and no tie is left.

    Args:
        prior: The prior on the n secrets.
        loss: The loss, array (n, m), a `Loss` or a `Metric`.
        guarantees: One or several: `MetricPrivacy`, `ThresholdPrivacy`, `CoordinatePrivacy` and at most one
            `DistortionPrivacy` or `PlaceDistortion`.
        objective: ``expected`` or ``worst-case`` loss.
        observables: The m observables; by default the secrets.
        solver: A solver or its name in `SOLVERS`; by default ``auto``, which chooses and says what it
            chose.
        pairs: ``generated`` guarantees all pairs exactly by adding rows as they are
            broken; ``all`` starts from all; ``spanner`` guarantees all pairs through the
            edges of a spanner at epsilon divided by its realised dilation, which is
            faster and costs some loss.
        dilation: The largest dilation of the spanner.
        gap: The relative gap to reach. By default 1e-6 is aimed at, and up to 1e-4 counts as reached;
            see `Design.finished`.
        tie_break: Whether to break ties as described, which takes longer than the design
            itself; by default in spaces of up to about a hundred values.
        time_limit: Seconds; when they are over, the best proved answer is returned.
        stop: Asked from time to time whether to stop, with the same effect.
        progress: Called with the progress of each step.
        start: A design for a similar problem, whose rows the solver starts from.

    Raises:
        InputError: If sizes, units or options do not fit.
        InfeasibleError: If no mechanism can keep the guarantees.
        SolverError: If there is no answer within the time.

    Source:
        Shokri, "Privacy Games: Optimal User-Centric Data Obfuscation", PoPETs 2015,
        equations 21 to 24.
    """
    run = _Run(solver, pairs, dilation, gap, time_limit, stop, progress)
    of_points = [each for each in as_guarantees(guarantees) if isinstance(each, PlaceDistortion)]
    if of_points:
        others = [each for each in as_guarantees(guarantees) if each is not of_points[0]]
        of_points[0].check_possible(prior)

        def solve(finite: DistortionPrivacy, nearness: float, seconds: float) -> Design:
            return design(
                prior,
                loss=loss,
                guarantees=[*others, finite],
                objective=objective,
                observables=observables,
                solver=solver,
                pairs=pairs,
                dilation=dilation,
                gap=nearness,
                tie_break=False,
                time_limit=seconds,
                stop=stop,
                progress=progress,
                start=start,
            )

        return design_for_points(of_points[0], solve, enough=run.enough, time_limit=time_limit)
    problem = least_loss(prior, loss, guarantees, objective, observables)
    answer = run.solve(problem, start.answer if start is not None else None)
    untied: tuple[Answer, float] | None = None
    small = problem.shape[0] * problem.shape[1] <= _TIES
    wanted = small if tie_break is None else tie_break
    if wanted and objective == EXPECTED and answer.status is Status.OPTIMAL:
        untied = _untied(problem, answer, run)
    return run.finished(problem, answer, untied)


@checked
def design_private(
    prior: Prior,
    *,
    loss: AnyLoss,
    distance: AnyLoss | None = None,
    max_loss: float | str,
    guarantees: Guarantees = (),
    observables: Space | None = None,
    solver: Solver | str | None = None,
    pairs: str = "generated",
    dilation: float = 1.1,
    gap: float | None = None,
    time_limit: float = float("inf"),
    stop: Stop | None = None,
    progress: OnProgress | None = None,
) -> Design:
    """Return the mechanism of most distortion privacy whose expected loss is bounded.

    It is the dual of `design`: the zero-sum game between a user with a budget of loss
    and an adversary who knows the mechanism.

    Args:
        prior: The prior on the n secrets.
        loss: The loss, array (n, m), a `Loss` or a `Metric`.
        distance: The adversary's distance, array (guesses, n); by default the loss,
            where it is a `Metric`.
        max_loss: The largest expected loss, in the loss's unit or as text (``"500 m"``).
        guarantees: Metric privacy to keep besides.
        observables: The m observables; by default the secrets.
        solver: See `design`.
        pairs: See `design`.
        dilation: See `design`.
        gap: See `design`.
        time_limit: See `design`.
        stop: See `design`.
        progress: See `design`.

    Raises:
        InputError: If sizes, units or options do not fit.
        InfeasibleError: If no mechanism keeps the bound; the message says the least loss.
        SolverError: If there is no answer within the time.

    Source:
        Shokri et al., CCS 2012 (user's and adversary's strategies).
    """
    if distance is None:
        if not isinstance(loss, Metric):
            raise InputError(
                "the adversary's distance is missing.", python("pass distance=, an array of guesses x secrets.")
            )
        distance = loss
    space = observables if observables is not None else prior.space
    unit = as_loss(loss, len(prior), len(space)).unit
    most = units.parse(max_loss, unit=unit, what="the largest loss")
    problem = most_distortion(prior, loss, distance, most, guarantees, observables)
    run = _Run(solver, pairs, dilation, gap, time_limit, stop, progress)
    try:
        return run.finished(problem, run.solve(problem))
    except (InfeasibleError, SolverError) as error:
        if run.control.stopped is not None or (solver is not None and isinstance(error, SolverError)):
            raise
        # Next to the least loss there is too little room for solvers. Is the least itself within the limit?
        least = _of_least_loss(problem)
    reached, bound = least.certificate.loss, least.certificate.bound
    if reached <= most:
        return run.finished(problem, standing_in(problem, least.mechanism))
    limit, shown = amount(most, unit), amount_at_least(bound if bound > most else reached, unit)
    what = (
        f"no mechanism with these guarantees loses at most {limit}: the least possible is {shown}."
        if bound > most
        else f"no mechanism could be proved to lose at most {limit}: the least proved is {shown}."
    )
    more = ", or raise epsilon" if problem.guarantees else ""
    raise InfeasibleError(what, f"allow at least {amount_at_most(reached, unit)}{more}.")


def _of_least_loss(problem: Problem) -> Design:
    """Return the design of least loss under the guarantees of a game."""
    least = replace(problem, objective=EXPECTED, distance=None, max_loss=np.inf)
    run = _Run(None, "generated", 1.1, 1e-6, np.inf, None, None)
    return run.finished(least, run.solve(least))


class _Run:
    """One call's options and clock."""

    def __init__(
        self,
        solver: Solver | str | None,
        pairs: str,
        dilation: float,
        gap: float | None,
        time_limit: float,
        stop: Stop | None,
        progress: OnProgress | None,
    ) -> None:
        if pairs not in PAIRS:
            raise InputError(f"{argument('pairs', pairs)} is unknown.", f"use one of {', '.join(PAIRS)}.")
        if not dilation > 1:
            raise InputError(
                f"a dilation of {dilation} is not above 1.", f"use 1.1, or {argument('pairs', 'generated')}."
            )
        if gap is not None and not gap > 0:
            raise InputError(f"a gap of {gap} is not positive.", "use 1e-6.")
        if not time_limit > 0:
            raise InputError(
                f"a time limit of {time_limit:g} seconds is not positive.", f"use {argument('time_limit', 60)}."
            )
        self.solver = solver_of(solver)
        self.start = time.monotonic()
        self.enough = _ENOUGH if gap is None else gap
        self.control = Control(
            _AIM if gap is None else gap,
            self.start + time_limit,
            stop or (lambda: False),
            progress,
            pairs,
            dilation,
        )
        self.log: list[Progress] = []
        self.kept: float | None = None

    def solve(self, problem: Problem, start: Answer | None = None, gap: float | None = None) -> Answer:
        """Solve a problem; where the time is over before there is an answer, a closed form stands in."""
        small = scaled(problem)
        control = self.control
        if np.isfinite(control.deadline):
            if self.kept is None:
                self.kept = check_time(*problem.shape, control.remaining)
            control = replace(control, deadline=control.deadline - self.kept)
        control = replace(control, gap=gap or control.gap, progress=small.told(control.progress))
        try:
            found = self.solver.answer(small.problem, control, start)
        except SolverError:
            ended = control.stopped
            closed = fallback(small.problem, ended, "no answer in time") if ended is not None else None
            if closed is None:
                raise
            found = closed
        answer = small.answer(found)
        self.log += answer.log
        return answer

    def finished(self, problem: Problem, answer: Answer, untied: tuple[Answer, float] | None = None) -> Design:
        """Prove an answer, or the untied one where that costs nothing of the wanted gap."""
        tie_gap: float | None = None
        found = None if untied is None else proved(problem, untied[0])
        if untied is not None and found is not None and self._reached(problem, found[1]):
            answer, tie_gap = untied
        else:
            found = proved(problem, answer)
        if found is None:
            closed = fallback(problem, Status.INACCURATE, "the solver's answer could not be proved")
            if closed is not None:
                answer = replace(closed, bound=answer.bound, prices=answer.prices)
                found = proved(problem, answer)
        if found is None:
            raise SolverError(
                "the answer could not be proved to keep what was asked after rounding to integers.",
                "try another solver, or report this with the input: it should not happen.",
            )
        mechanism, certificate = found
        status = answer.status
        if status in (Status.OPTIMAL, Status.INACCURATE):
            short = Status.RESTRICTED if self.control.pairs == "spanner" else Status.INACCURATE
            status = Status.OPTIMAL if self._reached(problem, certificate) else short
        promised = [each for each in problem.guarantees if isinstance(each, MetricPrivacy)]
        return Design(
            mechanism.promising(promised),
            certificate,
            status,
            problem,
            answer.solver,
            tuple(self.log),
            time.monotonic() - self.start,
            tie_gap,
            self.enough,
            _optimality(problem, answer),
            answer,
        )

    def _reached(self, problem: Problem, certificate: Certificate) -> bool:
        return gap_of(problem, certificate.value, certificate.bound) <= self.control.gap


def _untied(problem: Problem, answer: Answer, run: _Run) -> tuple[Answer, float] | None:
    """Return, among mechanisms of the answer's loss, one of most distortion privacy, and its gap from the most.

    None where no tie is left to break, or no better mechanism was found in time.
    """
    distance = problem.distance if problem.distance is not None else _ground(problem)
    if distance is None or _same(distance.array, problem.loss.array.T):
        return None
    slack = answer.value + 0.5 * max(run.control.gap - gap_of(problem, answer.value, answer.bound), 0.0) * abs(
        answer.value
    )
    game = replace(problem, objective=DISTORTION, distance=distance, max_loss=slack, minimum=0.0)
    try:
        found = run.solve(game, answer, gap=max(run.control.gap, _TIE_GAP))
    except (SolverError, InfeasibleError):
        return None
    matrix, share = mended(problem, found.matrix)
    value = objective_of(problem, matrix)
    if value > slack:
        return None
    before, after = (objective_of(replace(game, max_loss=np.inf), m) for m in (answer.matrix, matrix))
    off = gap_of(game, max(before, after), found.bound)
    if off > _USELESS:
        return None
    if before >= after:
        return answer, off
    untied = replace(answer, matrix=matrix, share=max(found.share, share), value=value, mechanism=None)
    return untied, off


def _optimality(problem: Problem, answer: Answer) -> Optimality | None:
    if answer.prices is None:
        return None
    distance = problem.distance if problem.objective == DISTORTION else None
    return Optimality(problem.objective, answer.prices, distance, problem.max_loss)


def _ground(problem: Problem) -> Loss | None:
    """Return the distance of the first metric guarantee, to stand in for the adversary's own.

    Steps of a lattice do not: they are between vertices, not between the points that are rounded to them.
    """
    for guarantee in problem.guarantees:
        if isinstance(guarantee, VertexPrivacy):
            continue
        if isinstance(guarantee, MetricPrivacy) and np.isfinite(guarantee.metric.array).all():
            return as_distance(guarantee.metric)
    return None


def _same(a: Floats, b: Floats) -> bool:
    return a.shape == b.shape and np.array_equal(a, b)
