"""Designs with a least error of the true point: guesses are added until the program has the best ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from ..._system import cores
from ...core import DistortionPrivacy, Mechanism
from ...core.arrays import Floats
from ...core.naming import WORST_CASE
from ...errors import SolverError
from ...geo import Guesses
from ...proofs import Certificate, PlaceDistortion
from ..baseline import constant_report
from ..problem import Problem
from ..result import Design
from ..solver import Status, certify_mechanism, gap_of, prove_answer, with_promises

_ROUNDS: Final = 16
_FIRST_GAP: Final = 1e-2  # of the first program, whose guesses are not the best
_CLOSER: Final = 0.1  # of the gap so far: the gap of the next program
_LAST: Final = 0.2  # of the sufficient gap: the gap of the last programs
_MARGIN: Final = 1e-8  # of the error: another machine, whose sums differ in their last digits, proves it as well
_SHARES: Final = (1e-9, 1e-7, 1e-5, 1e-3, 1.0)  # of the constant, added for rounding until the error is proved
_SHARE: Final = 0.98  # of the missing error: the rest is not worth more guesses
_RINGS: Final = 2  # of guesses around the best one
_STEP: Final = 1 / 3  # of the distance to the nearest known guess, between the new ones
_ALIKE: Final = 0.6  # of that step: guesses nearer than this are one
_UNUSED: Final = 1e-3  # of the price of a report's error: a guess that never has more is left out


def finer(target: PlaceDistortion, design: Design, attack: Guesses) -> PlaceDistortion:
    """Return the distortion without unused guesses, and with more near best guesses far from the program's."""
    likely = design.problem.prior.probabilities @ design.mechanism.matrix
    away = _nearest(attack.points, target.guesses)
    missing = likely * away**2  # near its least value an error grows with the square of the distance
    order = np.argsort(-missing)
    covered = np.cumsum(missing[order])
    used = order[: int(np.searchsorted(covered, _SHARE * covered[-1])) + 1]
    known = _priced_guesses(target.guesses, design)
    side = _STEP * away[used]
    # The best guesses, and the vertices around each of a triangular lattice with steps of this length.
    steps = range(-_RINGS, _RINGS + 1)
    near_vertices = [(a, b) for a in steps for b in steps if 0 < max(abs(a), abs(b), abs(a + b)) <= _RINGS]
    patch = [np.array((a + b / 2, b * np.sqrt(3) / 2)) for a, b in [(0, 0), *near_vertices]]
    candidates = np.concatenate([attack.points[used] + side[:, None] * offset for offset in patch])
    apart = _ALIKE * np.tile(side, len(candidates) // len(used))
    near = _nearest(candidates, known) if len(known) else np.full(len(candidates), np.inf)
    guesses: list[Floats] = []
    for guess, least, distance in zip(candidates, apart, near, strict=True):
        if distance > least and (not guesses or _nearest(guess[None], np.array(guesses))[0] > least):
            guesses.append(guess)
    return target.with_guesses(np.array(guesses).reshape(-1, 2), known)


def _priced_guesses(guesses: Floats, design: Design) -> Floats:
    """Return the guesses that have a price for some report, array (k, 2)."""
    prices = None if design.optimality is None else design.optimality.multipliers.guesses
    if prices is None or prices.shape[0] != len(guesses):
        return guesses
    total = prices.sum(axis=0)
    used = (prices > _UNUSED * total).any(axis=1)
    return guesses[used] if used.any() else guesses


def _nearest(points: Floats, targets: Floats) -> Floats:
    """Return how far each point is from the nearest of the others, array (len(points),), metres."""
    return np.asarray(np.hypot(*(points[:, None] - targets[None]).transpose(2, 0, 1)).min(axis=1))


Solve = Callable[[PlaceDistortion, float, float], Design]
"""From the distortion with the guesses to use, the gap and seconds to a design for these guesses."""

_SECONDS, _PLACES, _CORES = 70.0, 196, 4  # CPU seconds, measured for this number of places; cores that help


def seconds_for_points(places: int) -> float:
    """Return about how long a design for the error of the true point takes on an idle machine, by its places."""
    return _SECONDS * (places / _PLACES) ** 3 / min(cores(), _CORES)


def design_for_points(target: PlaceDistortion, solve: Solve, enough: float, time_limit: float) -> Design:
    """Return a design with at least the error ``target`` from the true point for guesses anywhere on the plane."""
    start = time.monotonic()
    best: Mechanism | None = None
    value, share, tightest = np.inf, 0.0, -np.inf
    result: tuple[Design, PlaceDistortion] | None = None

    def take(known: PlaceDistortion, design: Design, attack: Guesses) -> float:
        nonlocal best, value, share, tightest, result
        mixture = _keep_error(known, design, attack)
        if mixture is not None and mixture[1] < value:
            best, value, share = mixture
        if result is None or design.certificate.bound >= tightest:
            tightest, result = design.certificate.bound, (design, known)
        return gap_of(design.problem, value, tightest)

    _add_guesses(target, solve, take, enough, start + time_limit)
    if best is None or result is None:
        raise SolverError(
            "no mechanism could be proved to force the distortion of the true point.",
            "allow more time, or require slightly less distortion.",
        )
    design, known = result
    guarantees = tuple(known if isinstance(g, DistortionPrivacy) else g for g in design.problem.guarantees)
    problem = replace(design.problem, guarantees=guarantees)
    proof = certify_mechanism(problem, best, tightest, max(share, design.certificate.repair_weight))
    return _finish(design, problem, best, proof, enough, start, time_limit)


def maximise_point_error(target: PlaceDistortion, solve: Solve, enough: float, time_limit: float) -> Design:
    """Return a design of the largest error from the true point for guesses anywhere on the plane."""
    start = time.monotonic()
    value, tightest = -np.inf, np.inf
    best: Mechanism | None = None
    result: Design | None = None

    def take(known: PlaceDistortion, design: Design, attack: Guesses) -> float:
        nonlocal best, value, tightest, result
        error = known.lower(attack)
        if error > value or best is None:
            best, value = design.mechanism, error
        bound = known.upper(design.certificate.bound)
        if bound <= tightest or result is None:
            tightest, result = bound, design
        return gap_of(design.problem, value, tightest)

    _add_guesses(target, solve, take, enough, start + time_limit)
    if best is None or result is None:  # there is a first round, or an error
        raise SolverError("there was no time for a first round.", "allow more time.")
    proof = certify_mechanism(result.problem, best, tightest, result.certificate.repair_weight)
    proof = replace(proof, value=value)
    return _finish(result, result.problem, best, proof, enough, start, time_limit)


def _finish(
    design: Design,
    problem: Problem,
    mechanism: Mechanism,
    proof: Certificate,
    enough: float,
    start: float,
    time_limit: float,
) -> Design:
    """Return the design with another mechanism and its proof, and why the search ended."""
    status, seconds = design.status, time.monotonic() - start
    if gap_of(problem, proof.value, proof.bound) <= enough:
        status = Status.OPTIMAL
    elif status in (Status.OPTIMAL, Status.INACCURATE):
        status = Status.TIME_LIMIT if seconds >= time_limit else Status.INACCURATE
    program = replace(design.program, status=status, problem=problem, enough=enough)
    return Design.of_program(with_promises(mechanism, problem.guarantees), proof, program, seconds)


def _add_guesses(
    target: PlaceDistortion,
    solve: Solve,
    take: Callable[[PlaceDistortion, Design, Guesses], float],
    enough: float,
    deadline: float,
) -> None:
    """Solve with more and more guesses until the gap that ``take`` returns is small, or nothing is gained."""
    last = _LAST * enough
    aim = max(last, _FIRST_GAP)
    for number in range(_ROUNDS):
        left = deadline - time.monotonic()
        if number and left <= 0:
            return
        try:
            design = solve(target, aim, left)
        except SolverError:
            if not number:
                raise
            return
        attack = target.attack(design.mechanism, design.problem.prior)
        apart = take(target, design, attack)
        if apart <= enough:
            return
        closer = max(last, min(aim, _CLOSER * apart))
        more = finer(target, design, attack)
        stuck = closer == aim and np.array_equal(more.guesses, target.guesses)
        if stuck or design.status in (Status.TIME_LIMIT, Status.INTERRUPTED):
            return
        target, aim = more, closer


def _keep_error(target: PlaceDistortion, design: Design, attack: Guesses) -> tuple[Mechanism, float, float] | None:
    """Return a mechanism with just enough of the best constant report for the error, its loss, and that share."""
    problem, certificate = design.problem, design.certificate
    worst = problem.objective == WORST_CASE
    error = target.lower(attack)
    least = target.minimum * (1 + _MARGIN)
    if error >= least:
        return design.mechanism, certificate.worst_case_loss if worst else certificate.loss, 0.0
    constant = constant_report(problem)
    silent = Mechanism(constant, problem.prior.space, problem.observables)
    most = target.lower(target.attack(silent, problem.prior))
    if design.answer is None or not most > least:
        return None
    share = (least - error) / (most - error)
    for more in _SHARES:
        weight = min(1.0, share * (1 + more) + more)
        matrix = (1 - weight) * design.mechanism.matrix + weight * constant
        proof = prove_answer(problem, replace(design.answer, matrix=matrix, mechanism=None))
        if proof is not None and target.lower(target.attack(proof[0], problem.prior)) >= least:
            return proof[0], proof[1].worst_case_loss if worst else proof[1].loss, weight
    return None
