"""Designs by a program, the dual game, broken ties and equilibria."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Unpack

import numpy as np

from ..core import (
    AnyLoss,
    Guarantee,
    Guarantees,
    Loss,
    Metric,
    MetricPrivacy,
    Prior,
    Space,
    as_distance,
    as_guarantees,
    as_loss,
    units,
)
from ..core.arguments import check_arguments
from ..core.arrays import Floats, readonly
from ..core.immutable import CompactRepr
from ..core.naming import DISTORTION, EXPECTED, WORST_CASE
from ..errors import InfeasibleError, InputError, SolverError, python
from ..geo import Visits
from ..proofs import PlaceDistortion, VertexPrivacy, as_constraints, distortion_below, distortion_bound
from ..rounding import amount_at_least, amount_at_most
from .baseline import closed_form_answer
from .extensions.free_reports import FreeGame, free_loss, solve_on_plane
from .extensions.true_point import design_for_points, maximise_point_error
from .problem import Constraints, Problem, attackers_of, guarantees_for, least_loss, limit_amount, most_distortion
from .result import Design
from .session import SolveOptions, SolveSession
from .solver import Answer, OnProgress, Solver, Status, Stop, gap_of, objective_of, repair_answer, spread

_ENOUGH: Final = 2e-3  # default gap that counts as reached for points, which need several programs
PLANE_GAP: Final = 0.02  # default gap between a design and the bound for all reports on the plane
_TIES: Final = 15_000  # probabilities up to which ties are broken unasked
_USELESS: Final = 0.5  # a tie that is broken no better than this is not called broken
_TIE_GAP: Final = 1e-3  # of the distortion


def solve_program(
    prior: Prior,
    *,
    loss: AnyLoss,
    guarantees: Guarantees,
    objective: str = EXPECTED,
    observables: Space | None = None,
    gap: float | None = None,
    tie_break: bool | None = None,
    start: Design | None = None,
    constraints: Constraints = (),
    **options: Unpack[SolveOptions],
) -> Design:
    """Return the mechanism of least loss that a program finds; `design` also considers noise."""
    session, promises = SolveSession(gap, **options), as_guarantees(guarantees)
    target = next((promise for promise in promises if isinstance(promise, PlaceDistortion)), None)
    if target is not None:
        rest = [promise for promise in promises if promise is not target]
        attackers_of(prior, [*rest, target])
        if as_constraints(constraints):
            raise InputError(
                "PlaceDistortion cannot be combined with linear constraints.",
                python("use its finite part, PlaceDistortion.finite, or leave constraints= out."),
            )
        target.check_possible(prior)
        enough, time_limit = _ENOUGH if gap is None else session.enough, options.get("time_limit", np.inf)
        free = free_loss(prior, loss, target, objective, observables)
        if free is not None:
            promises = guarantees_for(prior.space, rest)
            plane_gap = PLANE_GAP if gap is None else enough
            game = _free_game(prior, free, target, promises, options, enough, start, plane_gap=plane_gap)
            return game.least_loss(free)

        def solve(distortion: PlaceDistortion, nearness: float, seconds: float) -> Design:
            return solve_program(
                prior,
                loss=loss,
                guarantees=[*rest, distortion.finite],
                objective=objective,
                observables=observables,
                gap=nearness,
                tie_break=False,
                start=start,
                **options | {"time_limit": seconds},
            )

        return design_for_points(target, solve, enough, time_limit)
    problem = least_loss(prior, loss, promises, objective, observables, constraints)
    answer = session.solve(problem, start.answer if start is not None else None)
    may_break = problem.shape[0] * problem.shape[1] <= _TIES if tie_break is None else tie_break
    breaks = may_break and objective == EXPECTED and not problem.general and answer.status is Status.OPTIMAL
    return session.prove(problem, answer, break_ties(problem, answer, session) if breaks else None)


@check_arguments
def maximise_distortion(
    prior: Prior,
    *,
    loss: AnyLoss,
    distance: AnyLoss | PlaceDistortion | None = None,
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
    medians: Visits | None = None,
) -> Design:
    """Return the mechanism of most distortion privacy whose expected loss is bounded.

    It is the dual of `design`: the zero-sum game between a user with a budget of loss and an adversary who knows
    the mechanism. ``distance`` is the adversary's, array (guesses, n); by default the loss, where it is a
    `Metric`. With a `PlaceDistortion` the adversary guesses any point, the error is the distance from the true
    point, its minimum is ignored, and the gap is 2e-3 by default. If the loss is the same distance of the same
    true points and there are no ``observables``, reports are anywhere on the plane, and so is the bound. For an
    adversary with finitely many guesses ``medians``, the visits that the loss is from, have the same effect, with
    a gap of 0.02 by default; see `Certificate.free_reports`.

    ``max_loss`` is the largest expected loss, in the loss's unit or as text (``"500 m"``); ``guarantees`` are
    metric privacy that must hold too. The other arguments are those of `design`. Raises `InputError` if sizes,
    units or options do not fit. Raises `InfeasibleError` if no mechanism satisfies the limit; the message gives
    the least loss. Raises `SolverError` if there is no answer within the time.

    Source:
        Shokri et al., CCS 2012 (user's and adversary's strategies).
    """
    if distance is None:
        if not isinstance(loss, Metric):
            raise InputError(
                "the adversary's distance is missing.", python("pass distance=, an array of guesses x secrets.")
            )
        distance = Loss(loss.array.T, loss.unit, name=loss.name)
    options = SolveOptions(
        solver=solver, pairs=pairs, dilation=dilation, time_limit=time_limit, stop=stop, progress=progress
    )
    if isinstance(distance, PlaceDistortion):
        enough = SolveSession(_ENOUGH if gap is None else gap, **options).enough
        free = free_loss(prior, loss, distance, EXPECTED, observables)
        if free is not None:
            promises = guarantees_for(prior.space, guarantees)
            most = units.parse(max_loss, unit=free.unit, subject="the largest loss")
            return _free_game(prior, free, distance, promises, options, enough).most_error(free, most)

        def solve(goal: PlaceDistortion, nearness: float, seconds: float) -> Design:
            limits = options | {"time_limit": seconds}
            return _most_private(prior, loss, goal.distance, max_loss, guarantees, observables, nearness, limits)

        return maximise_point_error(distance, solve, enough, time_limit)
    if medians is None:
        return _most_private(prior, loss, distance, max_loss, guarantees, observables, gap, options)
    deadline = time.monotonic() + time_limit

    def solve_at(costs: AnyLoss, space: Space | None, nearness: float) -> Design:
        limits = options | {"time_limit": max(deadline - time.monotonic(), 1e-3)}
        return _most_private(prior, costs, distance, max_loss, guarantees, space, nearness, limits)

    return solve_on_plane(
        prior,
        loss,
        medians,
        solve_at,
        gap=PLANE_GAP if gap is None else gap,
        time_limit=time_limit,
        stop=stop or (lambda: False),
    )


def _free_game(
    prior: Prior,
    loss: Loss,
    target: PlaceDistortion,
    guarantees: Sequence[Guarantee],
    options: SolveOptions,
    enough: float,
    start: Design | None = None,
    *,
    plane_gap: float = PLANE_GAP,
) -> FreeGame:
    """Return the game with reports anywhere on the plane."""
    time_limit = options.get("time_limit", np.inf)
    deadline = time.monotonic() + time_limit

    def solve(costs: AnyLoss, observables: Space | None, gap: float) -> Design:
        return solve_program(
            prior,
            loss=costs,
            guarantees=guarantees,
            observables=observables,
            gap=min(enough, gap),
            tie_break=False,
            start=start if observables is None else None,
            **options | {"time_limit": max(deadline - time.monotonic(), 1e-3)},
        )

    stop = options.get("stop") or (lambda: False)
    limits = {"enough": enough, "plane_gap": plane_gap, "time_limit": time_limit}
    return FreeGame(prior, loss.unit, target, guarantees, solve, **limits, stop=stop)


def _most_private(
    prior: Prior,
    loss: AnyLoss,
    distance: AnyLoss,
    max_loss: float | str,
    guarantees: Guarantees,
    observables: Space | None,
    gap: float | None,
    options: SolveOptions,
) -> Design:
    """Return the design of `maximise_distortion` for an attacker with finitely many guesses."""
    space = observables if observables is not None else prior.space
    unit = as_loss(loss, len(prior), len(space)).unit
    most = units.parse(max_loss, unit=unit, subject="the largest loss")
    problem = most_distortion(prior, loss, distance, most, guarantees, observables)
    session = SolveSession(gap, **options)
    try:
        return session.prove(problem, session.solve(problem))
    except (InfeasibleError, SolverError) as error:
        if session.control.cutoff is not None or (
            options.get("solver") is not None and isinstance(error, SolverError)
        ):
            raise
        # Next to the least loss there is too little room for solvers. Is the least itself within the limit?
        easier = SolveSession(1e-6)
        least_loss_problem = replace(problem, objective=EXPECTED, distance=None, max_loss=np.inf)
        least = easier.prove(least_loss_problem, easier.solve(least_loss_problem))
    least_value, bound = least.certificate.loss, least.certificate.bound
    if least_value <= most:
        return session.prove(problem, closed_form_answer(problem, least.mechanism))
    limit, text = limit_amount(most, unit), amount_at_least(bound if bound > most else least_value, unit)
    message = (
        f"no mechanism {problem.scope} loses at most {limit}: the least possible with them is {text}."
        if bound > most
        else f"no mechanism could be proved to lose at most {limit}: the least proved is {text}."
    )
    more = ", or raise epsilon" if problem.guarantees else ""
    raise InfeasibleError(message, f"allow at least {amount_at_most(least_value, unit)}{more}.")


def break_ties(problem: Problem, answer: Answer, session: SolveSession) -> tuple[Answer, float] | None:
    """Return a mechanism of the answer's loss with most distortion privacy, and its gap; None without a better."""
    distance = problem.distance if problem.distance is not None else _ground(problem)
    if distance is None or np.array_equal(distance.array, problem.loss.array.T):
        return None
    if answer.used is not None:
        whole = spread(answer.matrix, answer.used, len(problem.observables))
        answer = replace(answer, matrix=whole, used=None)
    room = max(session.control.gap - gap_of(problem, answer.value, answer.bound), 0.0)
    slack = answer.value + 0.5 * room * abs(answer.value)
    game = replace(problem, objective=DISTORTION, distance=distance, max_loss=slack, minimum=0.0)
    try:
        private = session.solve(game, answer, gap=max(session.control.gap, _TIE_GAP))
    except (SolverError, InfeasibleError):
        return None
    matrix, share = repair_answer(problem, private.matrix)
    value = objective_of(problem, matrix)
    if value > slack:
        return None
    before, after = (objective_of(replace(game, max_loss=np.inf), m) for m in (answer.matrix, matrix))
    off = gap_of(game, max(before, after), private.bound)
    if off > _USELESS:
        return None
    if before >= after:
        return answer, off
    better = replace(answer, matrix=matrix, share=max(private.share, share), value=value, mechanism=None)
    return better, off


def _ground(problem: Problem) -> Loss | None:
    """Return the distance of the first metric guarantee, but no steps of a lattice, which are of its vertices."""
    for guarantee in problem.guarantees:
        if isinstance(guarantee, VertexPrivacy):
            continue
        if isinstance(guarantee, MetricPrivacy) and np.isfinite(guarantee.metric.array).all():
            return as_distance(guarantee.metric)
    return None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Equilibrium(CompactRepr):
    """Both sides of the game between a user who obfuscates and an attacker who knows how.

    The mechanism forces an error of at least ``error_lower`` on every attacker. No mechanism with the same metric
    privacy and at most the same expected loss forces an error above ``error_upper``: the strategy proves it. Where
    the two are equal, each side's strategy is a best response to the other's.

    Attributes:
        strategy: The attacker's strategy q(guess|o), array (observables, guesses); rows sum to one. Unlike the
            attack of least error on one mechanism, it is randomised in general. With a price of 0 it means
            nothing.
        price: The shadow price of privacy, by the solver's prices: the growth of the least loss per unit of
            required error; 0 where the requirement does not bind, ``inf`` where more loss buys no error.
        error_lower: Proved lower bound of the error that the mechanism forces.
        error_upper: Proved upper bound of the error that any such mechanism can force.
        unit: The unit of errors.
        price_unit: The unit of the loss that the price is paid in; empty for a pure number.
    """

    strategy: Floats
    price: float
    error_lower: float
    error_upper: float
    unit: str
    price_unit: str

    @property
    def gap(self) -> float:
        """Upper bound of the distance between the two sides' values, in ``unit``."""
        return max(self.error_upper - self.error_lower, 0.0)


@check_arguments
def equilibrium(design: Design) -> Equilibrium:
    """Return the attacker's equilibrium strategy against a design, and the price of its privacy.

    The design is one of least expected loss with `DistortionPrivacy`, or one by `maximise_distortion`. The prices
    of the attack's rows, divided by their sum for each report, are the strategy; the sum is the price. The bound
    that they prove is computed again, so it holds even where they are inexact. Raises `InputError` if it was made
    without a distortion, with several, with a `PlaceDistortion`, with `FamilyPrivacy`, with linear constraints, or
    for the worst-case loss; or if it has no prices.

    Source:
        Shokri et al., CCS 2012 (the two linear programs are each other's dual); Shokri, "Privacy Games", equations
        19 to 24.
    """
    problem, optimality = design.problem, design.optimality
    if problem.general:
        raise InputError(
            "the design is for several attackers or distributions, or has linear constraints, so its privacy has "
            "no single price.",
            python("design with one DistortionPrivacy, without FamilyPrivacy and constraints=."),
        )
    distance = problem.distance
    if distance is None or any(isinstance(guarantee, PlaceDistortion) for guarantee in problem.guarantees):
        raise InputError(
            "the design has no guarantee on the error of an attacker with finitely many guesses.",
            python("design with DistortionPrivacy, or with maximise_distortion."),
        )
    if problem.objective == WORST_CASE:
        raise InputError(
            "the price of privacy is paid in expected loss, but the design is for the worst-case loss.",
            python("leave objective= out."),
        )
    prices = None if optimality is None else optimality.multipliers
    if prices is None:
        raise InputError("the design has no prices, which give the attacker's strategy.", "allow more time.")
    weights = np.zeros((len(distance.array), problem.shape[1])) if prices.guesses is None else prices.guesses
    positive = np.maximum(weights, 0.0)
    sums = positive.sum(axis=0)
    if problem.objective == DISTORTION:
        loss = max(prices.loss, 0.0)
        price, most = (1 / loss if loss > 0 else np.inf), problem.max_loss
        scaled = prices
    else:
        price, most = float(sums.min()), design.certificate.loss
        rate = 1 / price if price > 0 else 0.0
        # Without a price, no guesses: the bound is then the error without a report.
        guesses = positive * rate if price > 0 else None
        scaled = replace(prices, guesses=guesses, local=prices.local * rate, loss=rate)
    strategy = np.divide(positive, sums, out=np.full_like(positive, 1 / len(positive)), where=sums > 0)
    upper = distortion_bound(problem.prior.probabilities, problem.loss.array, distance.array, most, scaled)
    return Equilibrium(
        readonly(np.ascontiguousarray(strategy.T)),
        price,
        distortion_below(design.mechanism, problem.prior, distance),
        upper,
        distance.unit,
        problem.loss.unit,
    )
