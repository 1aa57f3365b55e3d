"""Sfumato's solver and its back-ends: rows generated, repaired, quantised and proved."""

from __future__ import annotations

import numpy as np

import sfumato as sf
from sfumato import proofs
from sfumato.errors import SolverError
from sfumato.optimal import Clarabel, Generating, Highs, Solver, Status, Structured

from .instances import Built
from .raw import Solved, Stopwatch
from .registry import ALL, DILATION

_THREADS = 2


def solve(built: Built, limit_s: float, *, solver: str, symmetry: bool = True, method: str = "ipm") -> Solved:
    """Design the mechanism; the time counts the proof over integers too."""
    chosen: Solver
    if solver == "structured":
        chosen = Structured(_THREADS, symmetry)
    elif solver == "generating":
        chosen = Generating(_THREADS)
    else:
        chosen = Highs(method) if solver == "highs" else Clarabel()
    instance = built.instance
    guarantee = sf.MetricPrivacy(instance.epsilon, built.metric)
    _load()
    with Stopwatch() as watch:
        try:
            found = sf.design(
                built.prior,
                loss=built.loss,
                guarantees=[guarantee],
                solver=chosen,
                pairs="generated" if instance.pairs == ALL else "spanner",
                dilation=DILATION,
                gap=instance.gap,
                tie_break=False,
                time_limit=limit_s,
            )
        except SolverError as error:
            failure: SolverError | None = error
        else:
            failure = None
    if failure is not None:
        return Solved(None, False, str(failure), watch, None, 0)
    # A closed form that stands in for a solver out of time has no steps.
    last, state = found.log[-1] if found.log else None, found.answer.state if found.answer is not None else None
    proof, space = found.certificate, built.prior.space
    matrix = np.zeros((len(space), len(space)))
    matrix[:, space.positions(found.mechanism.observables.labels)] = found.mechanism.matrix  # used ones alone
    return Solved(
        matrix,
        found.status is Status.OPTIMAL,
        found.status.value,
        watch,
        last.step if last is not None else 0,
        (last.rows if last is not None else 0) or getattr(state, "rows", 0),
        proof.gap,
        proof.epsilon_upper,
    )


def _load() -> None:
    """Import what design imports when it is first used, so that its time does not count."""
    tiny = sf.Space([0.0, 1.0], [[0.0], [1.0]])
    metric = tiny.metric("euclidean")
    sf.design(
        sf.Prior.uniform(tiny),
        loss=metric,
        guarantees=[sf.MetricPrivacy(1.0, metric)],
        solver=Structured(1),
        tie_break=False,
    )
    proofs.worst_ratios(sf.Mechanism([[0.5, 0.5], [0.5, 0.5]]))
