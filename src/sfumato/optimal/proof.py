"""From an answer to integers that are proved to keep what was asked."""

from __future__ import annotations

from ..core import Mechanism
from ..core.arrays import Floats
from ..evidence import Certificate, certify
from .answer import Answer, mended
from .problem import DISTORTION, Problem

_MARGINS = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5)


def proved(problem: Problem, answer: Answer) -> tuple[Mechanism, Certificate] | None:
    """Quantise an answer and prove it, leaving more room for rounding until it holds; None if it never does."""
    matrix: Floats = answer.matrix
    share = answer.share
    given = answer.mechanism
    for margin in _MARGINS:
        mechanism = given or Mechanism(matrix, problem.prior.space, problem.observables)
        certificate = certify(
            mechanism,
            problem.prior,
            problem.loss,
            problem.guarantees,
            objective=problem.objective,
            bound=answer.bound,
            distance=problem.distance,
            repair_weight=share,
        )
        if certificate.holds and (problem.objective != DISTORTION or certificate.loss <= problem.max_loss):
            return mechanism, certificate
        given = None
        matrix, share = mended(problem, answer.matrix, margin=10 * margin)
        share = max(share, answer.share)
    return None
