"""Designs with reports off the lattice: each moved to the median of where people are who make it."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ..core import Guarantees, Space
from ..core.arguments import checked
from ..core.space import WGS84
from ..errors import InputError, python
from ..geo import Places, Visits
from ..geo.places import TRUE_POINT
from .design import design
from .problem import EXPECTED
from .result import Design
from .solver import OnProgress, Solver, Stop

_APART_M = 0.1  # reports nearer to each other are one


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
    takes about as long as the first design, and loses some per cent less: most on coarse lattices.

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
    again = moved(
        made, visits, user=user, solver=solver, gap=gap, time_limit=time_limit, stop=stop, progress=progress
    )
    return again if again.certificate.loss < made.certificate.loss else made


def moved(
    made: Design,
    visits: Visits,
    *,
    guarantees: Guarantees | None = None,
    user: Hashable | None = None,
    solver: Solver | str | None = None,
    gap: float | None = None,
    time_limit: float = float("inf"),
    stop: Stop | None = None,
    progress: OnProgress | None = None,
    start: Design | None = None,
) -> Design:
    """Return a design with the reports of another one, moved to the best places for what they reveal there.

    Args:
        made: See `at_medians`.
        visits: See `at_medians`.
        guarantees: What the new design keeps; by default what the other one does.
        user: See `at_medians`.
        solver: See `design`.
        gap: See `design`; by default what counted as reached there.
        time_limit: See `design`.
        stop: See `design`.
        progress: See `design`.
        start: A design whose rows the solver starts from.

    Raises:
        InputError: See `at_medians`.
    """
    places, problem = made.mechanism.secrets, made.problem
    if not isinstance(places, Places):
        raise InputError(
            f"the secrets are not places ({places!r}), so reports cannot be moved.",
            "design on a lattice or on cells.",
        )
    if problem.loss.name != f"euclidean{TRUE_POINT}" or problem.objective != EXPECTED:
        raise InputError(
            "reports are moved where the loss is the expected distance of the true point, not the "
            f"{problem.objective} {problem.loss.name}.",
            python("design with loss=places.loss(visits) first."),
        )
    points = places.true_points(visits, user).under(problem.prior.probabilities, np.asarray(places.coordinates))
    possible = points.masses.sum(axis=0) @ made.mechanism.matrix > 0
    medians = points.guesses(made.mechanism.matrix[:, possible]).points
    _, first = np.unique(np.rint(medians / _APART_M), axis=0, return_index=True)
    chosen = medians[np.sort(first)]
    digits = len(str(len(chosen)))
    labels = [f"r{number:0{digits}}" for number in range(1, len(chosen) + 1)]
    reports = Space(labels, places.projection.inverse(chosen), crs=WGS84)
    return design(
        problem.prior,
        loss=places.loss(visits, unit=problem.loss.unit, observables=reports, user=user),
        guarantees=problem.guarantees if guarantees is None else guarantees,
        observables=reports,
        solver=solver,
        gap=made.enough if gap is None else gap,
        tie_break=False,
        time_limit=time_limit,
        stop=stop,
        progress=progress,
        start=start,
    )
