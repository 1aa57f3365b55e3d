"""The public design: the program of least loss or, for points, planar noise where that loses less."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any, Final

from ..core import AnyLoss, Bracket, CoordinatePrivacy, Guarantees, Prior, Space, as_guarantees
from ..core.arguments import checked
from ..errors import InputError, SolverError, argument, python
from ..geo import Visits
from ..proofs import as_constraints
from .coordinates.rival import FINE, ROUGH, Rival, Rivalry, noise_rival, rivalry
from .medians import at_medians
from .problem import EXPECTED, Constraints
from .program_design import solve_program
from .result import BETTER, NOISE, PROGRAM, Choice, Design
from .solver import OnProgress, Progress, Solver, Stop, checked_time_limit

_SHARE: Final = 0.3  # of the time limit, for a look at noise
_LEAST_S: Final = 5.0  # of a time limit: below, there is no look at noise
_LONGEST_S: Final = 30.0

GAIN: Final = 0.15
"""A share of the loss that is more than reports at medians have been seen to save."""


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
    medians: Visits | None = None,
    keep: str = BETTER,
    constraints: Constraints = (),
) -> Design:
    """Return the mechanism of least loss that keeps the guarantees.

    For coordinate privacy alone, with the loss of the true point (``lattice.loss(visits)``) and the prior of the
    same visits, planar noise with a remap is a second candidate. It keeps the same promise with a small slack,
    which is named, and needs no lattice. The design is the one with the lower loss; its ``choice`` gives both
    losses. The program is stopped as soon as it is proved to lose more.

    With `tie_break`, among mechanisms of (nearly) equal expected loss one of nearly the most distortion
    privacy is returned, and `Design.tie_gap` says how near: optimal faces are large, and their corners
    differ in what an adversary can infer. Where the loss is the adversary's distance itself, every optimum
    already has as much distortion as loss, and no tie is left.

    Args:
        prior: The prior on the n secrets.
        loss: The loss, array (n, m), a `Loss` or a `Metric`.
        guarantees: One or several: `MetricPrivacy`, `ThresholdPrivacy`, `CoordinatePrivacy`, and
            `DistortionPrivacy`, of several attackers where there are several, or one `PlaceDistortion`. The
            prior is every attacker's; each errs by their own distance.
        objective: ``expected`` or ``worst-case`` loss.
        observables: The m observables; by default the secrets.
        solver: A solver or its name in `SOLVERS`; by default ``auto``, which chooses and says what it chose.
        pairs: ``generated`` guarantees all pairs exactly by adding rows as they are broken; ``all`` starts from
            all; ``spanner`` guarantees all pairs through the edges of a spanner at epsilon divided by its
            realised dilation, which is faster and costs some loss.
        dilation: The largest dilation of the spanner.
        gap: The relative gap to reach. By default 1e-6 is aimed at, and up to 1e-4 counts as reached;
            see `Design.finished`. With a `PlaceDistortion` several programs are solved, and 2e-3 is enough.
        tie_break: Whether to break ties as described, which takes longer than the design itself; by default in
            spaces of up to about a hundred values.
        time_limit: Seconds; when they are over, the best proved answer is returned.
        stop: Asked from time to time whether to stop, with the same effect. With ``solver=Auto(folder=...)`` the
            same call goes on where it was stopped.
        progress: Called with the progress of each step.
        start: A design for a similar problem, whose rows, or used reports where these are generated, the solver
            starts from.
        medians: The visits that the loss is from: the program's reports are then moved to the best places for what
            they reveal, and it is solved once more; see `at_medians`.
        keep: ``better``, or ``program`` or ``noise`` to look at that one alone.
        constraints: Linear constraints to keep besides, one `LinearConstraint` or several; then no
            guarantee is needed. They and several attackers go to general back-ends (HiGHS and Clarabel).
            Every constraint is asked of them a little more strictly, so that integers prove it, and ties are
            not broken.

    Returns:
        The design; its ``mechanism`` is a `CoordinateNoise` where noise loses less.

    Raises:
        InputError: If sizes, units or options do not fit, or noise cannot keep what is asked.
        InfeasibleError: If no mechanism can keep the guarantees.
        SolverError: If there is no answer within the time.

    Source:
        Shokri, "Privacy Games: Optimal User-Centric Data Obfuscation", PoPETs 2015, equations 21 to 24.
    """
    begun = time.monotonic()
    check_keep(keep)
    checked_time_limit(time_limit)
    promises = as_guarantees(guarantees)
    limits = as_constraints(constraints)
    if limits and medians is not None:
        raise InputError(
            "reports at medians were asked for with linear constraints, but these are for the reports given.",
            python("leave medians= or constraints= out."),
        )
    field = "it keeps no linear constraints" if limits else rivalry(prior, loss, promises, objective, observables)
    check_keep(keep, field)
    options: dict[str, Any] = {
        "loss": loss,
        "guarantees": promises,
        "objective": objective,
        "observables": observables,
        "solver": solver,
        "pairs": pairs,
        "dilation": dilation,
        "gap": gap,
        "tie_break": tie_break,
        "start": start,
        "constraints": limits,
    }
    solve = _Program(prior, options, medians, stop, begun + time_limit)
    if keep == PROGRAM or isinstance(field, str) or (keep == BETTER and time_limit < _LEAST_S):
        return solve(progress)
    return _Contest(solve, field, progress, begun, time_limit).winner(keep)


def check_keep(keep: str, field: Rivalry | str = "") -> None:
    """Refuse an unknown candidate, and noise where it cannot stand in for the program."""
    if keep not in (BETTER, PROGRAM, NOISE):
        raise InputError(f"{argument('keep', keep)} is unknown.", f"use {BETTER}, {PROGRAM} or {NOISE}.")
    if keep == NOISE and isinstance(field, str) and field:
        raise InputError(
            f"planar noise cannot stand in for the program here: {field}.", f"leave out {argument('keep', NOISE)}."
        )


class _Program:
    """The program, with its reports at medians where that is asked for."""

    def __init__(
        self, prior: Prior, options: dict[str, Any], medians: Visits | None, stop: Stop | None, deadline: float
    ) -> None:
        self.prior, self.options, self.medians, self.deadline = prior, options, medians, deadline
        self.stop: Stop = stop or (lambda: False)

    def __call__(self, progress: OnProgress | None, beaten: Stop = lambda: False) -> Design:
        made = solve_program(
            self.prior,
            time_limit=self._left(),
            stop=lambda: self.stop() or beaten(),
            progress=progress,
            **self.options,
        )
        if self.medians is None or not made.finished:
            return made
        try:
            return at_medians(
                made,
                self.medians,
                solver=self.options["solver"],
                gap=self.options["gap"],
                time_limit=self._left(),
                stop=self.stop,
                progress=progress,
            )
        except SolverError:
            return made

    def _left(self) -> float:
        return max(self.deadline - time.monotonic(), 1e-3)


class _Contest:
    """Noise first, which is quick; then the program, until it is proved to lose more."""

    def __init__(
        self, solve: _Program, field: Rivalry, progress: OnProgress | None, begun: float, time_limit: float
    ) -> None:
        self.solve, self.field, self.progress = solve, field, progress
        self.begun, self.time_limit = begun, time_limit
        self.bound = -math.inf

    def winner(self, keep: str) -> Design:
        """Return what loses less, or the noise where that is asked for."""
        if keep == NOISE:
            return self._choose(None, self._rival(FINE))
        rough = self._rival()
        room = 1.0 if self.solve.medians is None else 1 - GAIN
        try:
            made = self.solve(self._watch, lambda: self.bound * room > rough.loss.upper)
        except SolverError:
            return replace(self._choose(None, rough), finished=False)
        # Without a table none is finer.
        enough = made.certificate.loss <= rough.loss.lower or rough.noise.remap is None
        return self._choose(made, rough if enough else self._rival(FINE))

    def _rival(self, fineness: float = ROUGH) -> Rival:
        seconds = min(_LONGEST_S, _SHARE * self.time_limit)
        return noise_rival(self.field, fineness, seconds=seconds)

    def _watch(self, step: Progress) -> None:
        self.bound = max(self.bound, step.bound)
        if self.progress is not None:
            self.progress(step)

    def _choose(self, made: Design | None, rival: Rival) -> Design:
        return choose(made, rival, self.field.promise, self.field.loss.unit, time.monotonic() - self.begun)


def choose(made: Design | None, rival: Rival, promise: CoordinatePrivacy, unit: str, seconds: float) -> Design:
    """Return the program, or the noise where that was proved to lose less or there is no program."""
    loss: Bracket | None = None
    if made is not None:
        found = made.certificate
        loss = Bracket(min(found.bound, found.loss), found.loss, found.loss)
    kept = NOISE if loss is None or rival.loss.upper < loss.upper else PROGRAM
    remapped, slack_m = rival.noise.remap is not None, rival.certificate.privacy.slack_m
    choice = Choice(kept, loss, rival.loss, remapped, unit, slack_m)
    if made is not None and kept == PROGRAM:
        return replace(made, choice=choice, seconds=seconds)
    done = made is None or made.finished or choice.decided
    return Design.of_noise(rival.noise, rival.certificate, promise, choice, seconds, finished=done)
