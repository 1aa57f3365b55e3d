"""The public design, by a program or planar noise, and reports moved to medians."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Final, Unpack

import numpy as np
from scipy.spatial import cKDTree

from ..core import AnyLoss, Bracket, CoordinatePrivacy, DistortionPrivacy, Guarantees, Prior, Space, as_guarantees
from ..core.arguments import check_arguments
from ..core.arrays import Floats
from ..core.naming import EXPECTED
from ..errors import InputError, SolverError, argument, python
from ..geo import Places, Region, Visits, read_visits
from ..proofs import as_constraints
from ..tables import ArrowStream
from .coordinates.rival import FINE, ROUGH, Rival, Rivalry, noise_rival, rivalry
from .coordinates.spacing import place_problem
from .extensions.free_reports import median_reports, report_space, solve_on_plane
from .problem import Constraints
from .program_design import PLANE_GAP, solve_program
from .result import BEST, NOISE, TABLE, Choice, Design
from .session import SolveOptions
from .solver import OnProgress, Progress, Solver, Stop, checked_time_limit

_SHARE: Final = 0.3  # of the time limit, for a look at noise
_LEAST_S: Final = 5.0  # of a time limit: below, there is no look at noise
_LONGEST_S: Final = 30.0

DEFAULT_EPSILON: Final = "1/km"  # of a design for visits without an epsilon
PLACES_GAP: Final = 1e-4  # the relative gap of a design for visits
GAIN: Final = 0.15  # a share of the loss that is more than reports at medians have been seen to save
_USED: Final = 0.01  # probability of a report that is worth a place of its own


@check_arguments
def design(
    data: Prior | Visits | str | os.PathLike[str] | ArrowStream,
    *,
    loss: AnyLoss | None = None,
    guarantees: Guarantees | None = None,
    epsilon: float | str | None = None,
    region: Region | str | None = None,
    spacing: float | str | None = None,
    near: float | str | None = None,
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
    method: str = BEST,
    constraints: Constraints = (),
) -> Design:
    """Return the mechanism of least loss that satisfies the guarantees.

    ``design(visits, epsilon="1/km")`` does what ``sfumato design`` does: it reads the visits, chooses a lattice,
    measures the distance from the true point to the report, and moves reports to medians. ``design(prior,
    loss=..., guarantees=...)`` is for any space, prior and loss.

    For coordinate privacy alone, with the loss of the true point (``lattice.loss(visits)``) and the prior of the
    same visits, planar noise with a remap is a second candidate. It gives the same guarantee with a small slack,
    which is named, and needs no lattice. The design is the one with the lower loss; its ``choice`` gives both.

    With `tie_break`, the design is one of nearly the most distortion privacy among mechanisms of nearly equal
    expected loss; `Design.tie_gap` says how near. No tie is left where the loss is the adversary's distance.
    Raises `InputError` if sizes, units or options do not fit, or noise cannot satisfy the guarantees. Raises
    `InfeasibleError` if no mechanism can satisfy the guarantees. Raises `SolverError` if there is no answer within
    the time. The design's ``mechanism`` is a `CoordinateNoise` where noise loses less.

    Args:
        data: The prior on the n secrets; or visits, as `Visits` or as `sfumato.geo.read_visits` takes
            them.
        loss: The loss, array (n, m), a `Loss` or a `Metric`; of visits the distance of the true point.
        guarantees: With a prior: one or several `MetricPrivacy`, `ThresholdPrivacy` and `CoordinatePrivacy`, and
            either `DistortionPrivacy` (one per attacker) or one `PlaceDistortion`. All attackers share the prior;
            each has their own distance. `FamilyPrivacy` hides which of several distributions the secret is from.
        epsilon: Of visits: the epsilon of `CoordinatePrivacy`; by default ``"1/km"``.
        region: Of visits: the region to serve, by default all of them.
        spacing: Of visits: that of the lattice; by default see `choose_lattice`.
        near: Of visits: serve only places within this distance of one.
        objective: ``expected`` or ``worst-case`` loss.
        observables: The m observables; by default the secrets, or with a `PlaceDistortion` and the loss of the
            same true points anywhere on the plane.
        solver: A solver or its name in `SOLVERS`; by default ``auto``, see `Auto`.
        pairs: ``generated`` guarantees all pairs exactly by adding rows as they are broken; ``all`` starts from
            all; ``spanner`` guarantees all pairs through the edges of a spanner at epsilon divided by its realised
            dilation, which is faster and costs some loss.
        dilation: The largest dilation of the spanner.
        gap: The relative gap to reach. By default the solver aims at 1e-6, and up to 1e-4 counts as reached; see
            `Design.is_finished`. Of visits it aims at 1e-4. With a `PlaceDistortion` 2e-3 is enough.
        tie_break: Whether to break ties, which takes longer than the design itself; by default in spaces of up to
            about a hundred values.
        time_limit: Seconds; when they are over, the best proved answer is returned.
        stop: Called from time to time; True has the same effect. With ``solver=Auto(folder=...)`` the same call
            then resumes.
        progress: Called with the progress of each step.
        start: A design for a similar problem, from whose rows or used reports the solver starts.
        medians: The visits that the loss is from: the program's reports are then moved to the best places for what
            they reveal, and it is solved once more; see `at_medians`. With a `DistortionPrivacy` reports are
            anywhere on the plane; see `maximise_distortion`. Of visits these are used.
        method: ``best``, or ``table`` (the program) or ``noise`` to consider that one alone.
        constraints: One `LinearConstraint` or several that must hold too; then no guarantee is needed. They,
            `FamilyPrivacy` and several attackers need general back-ends (HiGHS and Clarabel). The back-ends get
            slightly tighter constraints, so that integers satisfy the original ones; ties are not broken.

    Source:
        Shokri, "Privacy Games: Optimal User-Centric Data Obfuscation", PoPETs 2015, equations 21 to 24.
    """
    begin = time.monotonic()
    check_method(method)
    checked_time_limit(time_limit)
    of_visits = {"epsilon": epsilon, "region": region, "spacing": spacing, "near": near}
    if isinstance(data, Prior):
        refuse_given(of_visits, "is for visits, but a prior was given.", "pass visits, or leave it out.")
        if loss is None or guarantees is None:
            missing = "loss" if loss is None else "guarantees"
            raise InputError(
                f"a prior was given without {argument(missing)}.",
                python("pass loss= and guarantees=; or visits, which need neither."),
            )
        prior, costs, promises = data, loss, as_guarantees(guarantees)
    else:
        refuse_given(
            {"loss": loss, "guarantees": guarantees, "observables": observables, "medians": medians},
            "is for a prior, but visits were given.",
            python("pass epsilon= instead; or make the prior: sf.Prior.from_visits(lattice, visits)."),
        )
        visits = data if isinstance(data, Visits) else read_visits(data)
        promise = CoordinatePrivacy(DEFAULT_EPSILON if epsilon is None else epsilon)
        problem = place_problem(visits, promise, spacing=spacing, region=region, near=near, time_limit=time_limit)
        prior, costs, promises, medians = problem.prior, problem.loss, as_guarantees(promise), problem.visits
        gap = PLACES_GAP if gap is None else gap
    limits = as_constraints(constraints)
    if limits and medians is not None:
        raise InputError(
            "reports cannot move to medians with linear constraints, whose coefficients are for fixed reports.",
            python("leave medians= or constraints= out."),
        )
    field = (
        "it satisfies no linear constraints" if limits else rivalry(prior, costs, promises, objective, observables)
    )
    check_method(method, field)
    halt: Stop = stop or (lambda: False)

    def rest() -> float:
        return max(begin + time_limit - time.monotonic(), 1e-3)

    def program(watch: OnProgress | None, beaten: Stop = lambda: False) -> Design:
        def solve(cost: AnyLoss, reports: Space | None, nearness: float | None) -> Design:
            return solve_program(
                prior,
                loss=cost,
                guarantees=promises,
                objective=objective,
                observables=reports,
                solver=solver,
                pairs=pairs,
                dilation=dilation,
                gap=nearness,
                tie_break=tie_break if cost is costs else False,
                time_limit=rest(),
                stop=lambda: halt() or beaten(),
                progress=watch,
                start=start if cost is costs else None,
                constraints=limits,
            )

        is_game = any(type(promise) is DistortionPrivacy for promise in promises) and objective == EXPECTED
        if medians is not None and is_game:
            near = PLANE_GAP if gap is None else gap
            return solve_on_plane(prior, costs, medians, solve, gap=near, time_limit=rest(), stop=halt)
        table = solve(costs, observables, gap)
        if medians is None or not table.is_finished:
            return table
        try:
            return at_medians(table, medians, solver=solver, gap=gap, time_limit=rest(), stop=halt, progress=watch)
        except SolverError:
            return table

    if method == TABLE or isinstance(field, str) or (method == BEST and time_limit < _LEAST_S):
        return program(progress)
    candidate = field

    def rival(fineness: float) -> Rival:
        return noise_rival(candidate, fineness, seconds=min(_LONGEST_S, _SHARE * time_limit))

    def pick(table: Design | None, noise: Rival) -> Design:
        return choose(table, noise, candidate.promise, candidate.loss.unit, time.monotonic() - begin)

    if method == NOISE:
        return pick(None, rival(FINE))
    room, rough, bound = 1.0 if medians is None else 1 - GAIN, rival(ROUGH), -math.inf

    def watch(step: Progress) -> None:
        nonlocal bound
        bound = max(bound, step.bound)
        if progress is not None:
            progress(step)

    try:
        table = program(watch, lambda: bound * room > rough.loss.upper)
    except SolverError:
        return replace(pick(None, rough), is_finished=False)
    # Without a table none is finer.
    enough = table.certificate.loss <= rough.loss.lower or rough.noise.remap is None
    return pick(table, rough if enough else rival(FINE))


def refuse_given(arguments: Mapping[str, object], problem: str, hint: str) -> None:
    """Raise `InputError` for the first of these arguments that is not None."""
    for name, value in arguments.items():
        if value is not None:
            raise InputError(f"{argument(name)} {problem}", hint)


def check_method(method: str, field: Rivalry | str = "") -> None:
    """Raise `InputError` for an unknown candidate, and for noise where it cannot replace the program."""
    if method not in (BEST, TABLE, NOISE):
        raise InputError(f"{argument('method', method)} is unknown.", f"use {BEST}, {TABLE} or {NOISE}.")
    if method == NOISE and isinstance(field, str) and field:
        raise InputError(
            f"planar noise cannot replace the program here: {field}.", f"leave out {argument('method', NOISE)}."
        )


def choose(table: Design | None, rival: Rival, promise: CoordinatePrivacy, unit: str, seconds: float) -> Design:
    """Return the program, or the noise where it is proved to lose less or there is no program."""
    proof = None if table is None else table.certificate
    loss = None if proof is None else Bracket(min(proof.bound, proof.loss), proof.loss, proof.loss)
    kind = NOISE if loss is None or rival.loss.upper < loss.upper else TABLE
    remapped, slack_m = rival.noise.remap is not None, rival.certificate.privacy.slack_m
    choice = Choice(kind, loss, rival.loss, remapped, unit, slack_m)
    if table is not None and kind == TABLE:
        return replace(table, choice=choice, seconds=seconds)
    is_finished = table is None or table.is_finished or choice.is_decided
    return Design(rival.noise, rival.certificate, (promise,), seconds, is_finished, choice, None)


@check_arguments
def at_medians(
    design: Design,
    visits: Visits,
    *,
    user: Hashable | None = None,
    solver: Solver | str | None = None,
    gap: float | None = None,
    time_limit: float = float("inf"),
    stop: Stop | None = None,
    progress: OnProgress | None = None,
) -> Design:
    """Return a design with the same guarantee, whose reports are at the best places for what they reveal.

    The best place to report is the geometric median of the true points, given the report; in general it is no
    vertex and no centre. The reports are moved there, and the mechanism is designed once more with them. That
    takes about as long as the first design and loses a few per cent less, most on coarse lattices. Where the
    solver returned only the reports that it uses (`Generating`), points around these are tried first.

    ``design`` is a design on a lattice or on cells, of least expected distance from the true point; ``visits``, or
    only those of ``user``, are the visits that its loss is from. The gap is by default the one that counted as
    reached in ``design``; the other options are those of `design`. Raises `InputError` if the design is not on
    places, or its loss is not the expected distance from the true point.

    Example:
        >>> import sfumato as sf
        >>> visits = sf.synthetic_city()
        >>> city = sf.Lattice.covering(visits, "2 km", region=visits.region(trim=0.05))
        >>> prior, loss = sf.Prior.from_visits(city, visits), city.loss(visits)
        >>> first = sf.design(prior, loss=loss, guarantees=sf.CoordinatePrivacy("1/km"), method="table")
        >>> better = sf.optimal.at_medians(first, visits)
        >>> better.certificate.loss < first.certificate.loss
        True
    """
    again = move_to_medians(
        design, visits, user=user, solver=solver, gap=gap, time_limit=time_limit, stop=stop, progress=progress
    )
    return again if again.certificate.loss < design.certificate.loss else design


def move_to_medians(
    design: Design,
    visits: Visits,
    *,
    guarantees: Guarantees | None = None,
    user: Hashable | None = None,
    gap: float | None = None,
    start: Design | None = None,
    **options: Unpack[SolveOptions],
) -> Design:
    """Return a design whose reports are another one's moved to their medians; see `at_medians`."""
    places, problem = design.mechanism.secrets, design.problem
    if not isinstance(places, Places):
        raise InputError(
            f"the secrets are not places ({places!r}), so reports cannot be moved.",
            "design on a lattice or on cells.",
        )
    if problem.constraints:
        raise InputError(
            "the design has linear constraints, whose coefficients are for its present reports.",
            python("design without constraints= first."),
        )
    if problem.loss.true_point != "euclidean" or problem.objective != EXPECTED:
        raise InputError(
            "reports are moved only where the loss is the expected distance of the true point, not the "
            f"{problem.objective} {problem.loss.name}.",
            python("design with loss=places.loss(visits) first."),
        )
    points = places.true_points(visits, user).under(problem.prior.probabilities, np.asarray(places.coordinates))
    deadline = time.monotonic() + checked_time_limit(options.get("time_limit", np.inf))

    def at(reports: Floats, start: Design | None = None) -> Design:
        space = report_space(places, reports)
        return solve_program(
            problem.prior,
            loss=places.loss(visits, unit=problem.loss.unit, observables=space, user=user),
            guarantees=problem.guarantees if guarantees is None else guarantees,
            observables=space,
            gap=design.enough if gap is None else gap,
            tie_break=False,
            start=start,
            **options | {"time_limit": max(deadline - time.monotonic(), 1e-3)},
        )

    medians = median_reports(design.mechanism.matrix, points)
    if design.mechanism.observables is not problem.observables:
        # The solver returned only the used reports; others near them may be better once they are moved.
        wider = at(np.vstack([medians, _around(medians, np.asarray(places.coordinates))]))
        if not wider.is_finished:
            return wider
        medians = median_reports(wider.mechanism.matrix, points, _USED)
    return at(medians, start)


def _around(reports: Floats, places: Floats) -> Floats:
    """Return points within the spacing of places (n, 2) around reports (k, 2), about half the spacing apart."""
    away, _ = cKDTree(places).query(places, k=2)
    half = float(np.median(away[:, 1])) / 2
    steps = np.arange(-2, 3)
    around = np.array([(x, y) for x in steps for y in steps if x * x + y * y <= 4]) * half
    near = reports[:, None, :] + around
    return np.asarray(np.unique(np.rint(near.reshape(-1, 2) / half), axis=0) * half)
