"""The entry point of the structured interior-point method."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...errors import SolverError
from . import _finish, _form, _loop, _program, _start, _symmetry
from ._arrays import Floats
from ._loop import Control, Outcome, Progress
from ._program import Program
from ._result import Multipliers, Result, Status
from ._start import Infeasible
from ._workers import Workers

NEAR_LIMIT = 0.999
# The loop aims a little closer, to leave room for the last normalisation and mix.
INNER = 0.7
ROOM = 1e-11  # of the largest loss, below its limit: less is no room in floats
NEAR = 1e-10  # relative gap at which the least loss counts as found, before the game begins


def solve(
    prior: Floats,
    cost: Floats,
    log_ratio: Floats,
    *,
    distortion: tuple[Floats, float | None] | None = None,
    worst_case: bool = False,
    loss_bound: float | None = None,
    gap: float = 1e-6,
    time_limit: float | None = None,
    iteration_limit: int = 500,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
    warm: Result | None = None,
    threads: int = 2,
    symmetry: bool = True,
    memory: Callable[[int, int], None] | None = None,
) -> Result:
    """Solve a program of optimal design: expected or worst-case loss, or the zero-sum game.

    Minimise sum_s prior[s] sum_o p(o|s) cost[s,o] (or the largest secret's own loss) subject to
    p(o|s) <= e^{log_ratio[s,t]} p(o|t) for all pairs and observables and, if asked, an expected
    distortion of at least ``minimum`` against the best guesser. With ``loss_bound`` the roles
    change: the distortion is maximised under that limit of the loss.

    Args:
        prior: Array (n,) of probabilities, zeros allowed.
        cost: Array (n, m), loss of reporting o when the secret is s.
        log_ratio: Array (n, n), epsilon times the distance; +inf leaves a pair free, zero makes
            two rows equal.
        distortion: (distance (guesses, n), minimum); the minimum is None in the game.
        worst_case: Count the worst secret's loss (all secrets, also those without prior mass)
            instead of the expected one.
        loss_bound: Limit of the loss; turns the program into the game.
        gap: Relative gap between value and proved bound at which to stop.
        time_limit: Seconds, or None.
        iteration_limit: The most interior-point iterations.
        progress: Called once per iteration with iteration, value, bound, gap and seconds.
        stop: Asked between blocks; True ends the solve.
        warm: An earlier result of a similar program; its pair rows are present from the start.
        threads: Worker threads; BLAS is held to one thread in each.
        symmetry: Whether to look for symmetries and use them.
        memory: Told the number of blocks and the size of each before memory is taken; may raise.

    Returns:
        The mechanism, its value, the proved bound and the multipliers behind it. Every way of
        stopping returns a mechanism strictly inside all demands.

    Raises:
        InputError: If the data does not fit.
        Infeasible: If no mechanism meets the demands strictly.
        StoppedError: If the time is over, or a stop was asked for, before the first iterate.

    Source:
        Shokri, "Privacy Games", programs 21 to 24.
    """
    started = time.perf_counter()
    distance, minimum = (None, None) if distortion is None else distortion
    program = _program.build(prior, cost, log_ratio, distance, minimum, worst_case, loss_bound)
    if (
        distance is not None
        and minimum is not None
        and loss_bound is None
        and minimum >= NEAR_LIMIT * float((distance @ prior).min())
    ):
        # Next to the limit the joint program has hardly an interior; often the pairs alone reach
        # the distortion already.
        plain = solve(
            prior,
            cost,
            log_ratio,
            worst_case=worst_case,
            gap=gap,
            time_limit=time_limit,
            iteration_limit=iteration_limit,
            progress=progress,
            stop=stop,
            warm=warm,
            threads=threads,
            symmetry=symmetry,
            memory=memory,
        )
        if float((distance @ (prior[:, None] * plain.matrix)).min(axis=0).sum()) >= minimum:
            return plain
    control = Control(
        INNER * gap, None if time_limit is None else started + time_limit, started, iteration_limit, stop, progress
    )
    with Workers(threads, lambda: control.over() is not None) as workers:
        keys = None if warm is None else warm.keys
        interior, spent = _interior(program, control, workers)
        group = _symmetry.detect(program) if symmetry else _symmetry.trivial(len(program.prior), len(program.kept))
        form = _form.build(program, group)
        if memory is not None:
            memory(form.blocks, form.size)
        pairs, threshold = _loop.first_rows(form, workers, keys)
        outcome = _loop.run(form, interior[group.representatives], pairs, threshold, control, workers)
    return _result(outcome, interior, started, spent, gap)


def _interior(program: Program, control: Control, workers: Workers) -> tuple[Floats, int]:
    """Return a strictly interior mechanism and the iterations spent on it.

    The game first lowers the loss below its limit.
    """
    point = _start.mechanism(program)
    limit = program.loss_bound
    if limit is None:
        return point, 0
    room = ROOM * max(abs(limit), float(np.abs(program.expected).max()))
    if program.loss(point) < limit - room:
        return point, 0
    plain = replace(program, weighted=None, minimum=None, loss_bound=None)
    group = _symmetry.trivial(len(program.prior), len(program.kept))
    form = _form.build(plain, group)
    pairs, threshold = _loop.first_rows(form, workers, None)
    lowering = replace(control, below=limit - room, gap=min(control.gap, NEAR))
    outcome = _loop.run(form, point, pairs, threshold, lowering, workers)
    x = outcome.point.u[:, : form.secrets]
    if program.loss(x) >= limit - room:
        if outcome.proof.bound < limit:
            raise SolverError(
                f"no mechanism within the loss bound {limit:.6g} was found: {outcome.status.value}",
                "allow more loss or more time.",
            )
        raise Infeasible(
            f"the loss bound {limit:.6g} is below {outcome.proof.bound:.6g}, the least loss that the privacy "
            "demands allow.",
            "allow more loss or ask for less privacy.",
        )
    return x, len(outcome.log) - 1


def _result(outcome: Outcome, interior: Floats, started: float, spent: int, wanted: float) -> Result:
    form = outcome.rows.form
    program, group = form.program, form.symmetry
    x = _finish.mechanism(program, group.expand(outcome.point.u[:, : form.secrets]), interior)
    value = program.value(x)
    bound = outcome.proof.bound
    gap = max(0.0, value - bound) / max(abs(value), _loop.floor(form))
    status = Status.STALLED if outcome.status is Status.OPTIMAL and gap > wanted else outcome.status
    return Result(
        matrix=_finish.expand(program, x),
        cost=value,
        lower_bound=bound,
        gap=gap,
        status=status,
        multipliers=_multipliers(outcome),
        merged=program.merged,
        kept=program.kept,
        iterations=len(outcome.log) - 1 + spent,
        growths=outcome.growths,
        rows=outcome.rows.count,
        symmetry=group.order,
        keys=outcome.rows.pairs.keys,
        seconds=time.perf_counter() - started,
        log=outcome.log,
    )


def _multipliers(outcome: Outcome) -> Multipliers:
    """Return the proof's multipliers, one block per observable."""
    form, proof = outcome.rows.form, outcome.proof
    group = form.symmetry
    # The row is scaled by e^{-E/2}; its plain form e^E x_t - x_s has the multiplier divided by e^{E/2}.
    block, upper, lower = outcome.rows.pairs.triples()
    weight = proof.pairs * np.exp(-form.program.ratio[upper, lower] / 2)
    if group.order > 1:
        first = np.full(group.images.shape[1], -1)
        for k, image in enumerate(group.images):
            place = image[group.representatives]
            first[place] = np.where(first[place] < 0, k, first[place])
        parts = []
        for k, image in enumerate(group.images):
            place = image[group.representatives][block]
            mine = first[place] == k
            # Several representatives never share an image, so `place` and k together pick each observable once.
            parts.append((place[mine], group.secrets[k][upper[mine]], group.secrets[k][lower[mine]], weight[mine]))
        block, upper, lower, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Multipliers(
        proof.mu, proof.theta, proof.eta, block, upper, lower, weight, proof.guesses, form.program.weighted
    )
