"""Ties: of mechanisms with nearly the same expected loss, one of most distortion privacy."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from ..core import Loss, MetricPrivacy, as_distance
from ..core.arrays import Floats
from ..errors import InfeasibleError, SolverError
from ..proofs import VertexPrivacy
from .problem import DISTORTION, Problem
from .run import Run
from .solver import Answer, gap_of, mended, objective_of, spread

_USELESS: Final = 0.5  # a tie that is broken no better than this is not called broken
_TIE_GAP: Final = 1e-3  # of the distortion


def untied(problem: Problem, answer: Answer, run: Run) -> tuple[Answer, float] | None:
    """Return, among mechanisms of the answer's loss, one of most distortion privacy, and its gap from the most.

    None where no tie is left to break, or no better mechanism was found in time.
    """
    distance = problem.distance if problem.distance is not None else _ground(problem)
    if distance is None or _same(distance.array, problem.loss.array.T):
        return None
    if answer.used is not None:
        whole = spread(answer.matrix, answer.used, len(problem.observables))
        answer = replace(answer, matrix=whole, used=None)
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
    better = replace(answer, matrix=matrix, share=max(found.share, share), value=value, mechanism=None)
    return better, off


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
