"""Designs with reports off the lattice: each moved to the median of where people are who make it."""

from __future__ import annotations

import time
from collections.abc import Hashable
from typing import Final, Unpack

import numpy as np
from scipy.spatial import cKDTree

from ..core import WGS84, Guarantees, Space
from ..core.arguments import checked
from ..core.arrays import Floats
from ..errors import InputError, python
from ..geo import TRUE_POINT, Places, TruePoints, Visits
from .problem import EXPECTED
from .program_design import solve_program
from .result import Design
from .session import SolveOptions
from .solver import OnProgress, Solver, Stop, checked_time_limit

_APART_M: Final = 0.1  # reports nearer to each other are one
_LEAST_S: Final = 1e-3  # of time for a design
_USED: Final = 0.01  # probability of a report that is worth a place of its own


@checked
def at_medians(
    made: Design,
    visits: Visits,
    *,
    user: Hashable | None = None,
    solver: Solver | str | None = None,
    gap: float | None = None,
    time_limit: float = float("inf"),
    stop: Stop | None = None,
    progress: OnProgress | None = None,
) -> Design:
    """Return a design with the same promise, whose reports are at the best places for what they reveal.

    The best place to report is the geometric median of the true points, given the report. It is in general no
    vertex and no centre. The reports are moved there, and the mechanism is designed once more with them. That
    takes about as long as the first design, and loses some per cent less: most on coarse lattices. Where the
    solver kept only the reports that it uses (`Generating`), points around these are tried first.

    Args:
        made: A design on a lattice or on cells, of least expected distance from the true point.
        visits: The visits that its loss is from.
        user: Only this user's visits.
        solver: See `design`.
        gap: See `design`; by default what counted as reached there.
        time_limit: See `design`.
        stop: See `design`.
        progress: See `design`.

    Returns:
        The new design; the given one where that does not lose less, as where the time was too short.

    Raises:
        InputError: If the design is not on places, or its loss is not the expected distance from the true point.

    Example:
        >>> import sfumato as sf
        >>> visits = sf.synthetic_city()
        >>> city = sf.Lattice.covering(visits, "2 km", region=visits.region(trim=0.05))
        >>> prior, loss = sf.Prior.from_visits(city, visits), city.loss(visits)
        >>> made = sf.design(prior, loss=loss, guarantees=sf.CoordinatePrivacy("1/km"), keep="program")
        >>> better = sf.optimal.at_medians(made, visits)
        >>> better.certificate.loss < made.certificate.loss
        True
    """
    again = move_to_medians(
        made, visits, user=user, solver=solver, gap=gap, time_limit=time_limit, stop=stop, progress=progress
    )
    return again if again.certificate.loss < made.certificate.loss else made


def move_to_medians(
    made: Design,
    visits: Visits,
    *,
    guarantees: Guarantees | None = None,
    user: Hashable | None = None,
    gap: float | None = None,
    start: Design | None = None,
    **options: Unpack[SolveOptions],
) -> Design:
    """Return a design with the reports of another one, moved to the best places for what they reveal there.

    By default it keeps the guarantees of the other one. For the rest, and errors, see `at_medians`.
    """
    places, problem = made.mechanism.secrets, made.problem
    if not isinstance(places, Places):
        raise InputError(
            f"the secrets are not places ({places!r}), so reports cannot be moved.",
            "design on a lattice or on cells.",
        )
    if problem.constraints:
        raise InputError(
            "the design keeps linear constraints, whose coefficients are for the reports that it has.",
            python("design without constraints= first."),
        )
    if problem.loss.name != f"euclidean{TRUE_POINT}" or problem.objective != EXPECTED:
        raise InputError(
            "reports are moved where the loss is the expected distance of the true point, not the "
            f"{problem.objective} {problem.loss.name}.",
            python("design with loss=places.loss(visits) first."),
        )
    points = places.true_points(visits, user).under(problem.prior.probabilities, np.asarray(places.coordinates))
    deadline = time.monotonic() + checked_time_limit(options.get("time_limit", np.inf))

    def at(reports: Floats, start: Design | None = None) -> Design:
        digits = len(str(len(reports)))
        labels = [f"r{number:0{digits}}" for number in range(1, len(reports) + 1)]
        space = Space(labels, places.projection.inverse(reports), crs=WGS84)
        return solve_program(
            problem.prior,
            loss=places.loss(visits, unit=problem.loss.unit, observables=space, user=user),
            guarantees=problem.guarantees if guarantees is None else guarantees,
            observables=space,
            gap=made.enough if gap is None else gap,
            tie_break=False,
            start=start,
            **options | {"time_limit": max(deadline - time.monotonic(), _LEAST_S)},
        )

    medians = _medians(made, points)
    if made.mechanism.observables is not problem.observables:
        # The solver kept only the reports that it uses; near them are others that are better once they are moved.
        wider = at(np.vstack([medians, _around(medians, np.asarray(places.coordinates))]))
        if not wider.finished:
            return wider
        medians = _medians(wider, points, _USED)
    return at(medians, start)


def _medians(made: Design, points: TruePoints, least: float = 0.0) -> Floats:
    """Return the best places for the reports that can be made, array (k, 2), each once.

    Reports that no secret makes with the probability ``least`` are left out, if there are others.
    """
    matrix = made.mechanism.matrix
    largest = matrix.max(axis=0)
    kept = (points.masses.sum(axis=0) @ matrix > 0) & (largest >= min(least, float(largest.max())))
    medians = points.guesses(matrix[:, kept]).points
    _, first = np.unique(np.rint(medians / _APART_M), axis=0, return_index=True)
    return np.asarray(medians[np.sort(first)])


def _around(reports: Floats, places: Floats) -> Floats:
    """Return points about half as far apart as places (n, 2) are, within their distance of reports (k, 2)."""
    away, _ = cKDTree(places).query(places, k=2)
    half = float(np.median(away[:, 1])) / 2
    steps = np.arange(-2, 3)
    around = np.array([(x, y) for x in steps for y in steps if x * x + y * y <= 4]) * half
    near = reports[:, None, :] + around
    return np.asarray(np.unique(np.rint(near.reshape(-1, 2) / half), axis=0) * half)
