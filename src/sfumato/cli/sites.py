"""The site of a design: a lattice for points or cells, what a report costs there, and what is promised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..errors import InputError
from .messages import option, say
from .places import cells_over, lattice_over, metric_on, promise_of

if TYPE_CHECKING:
    from ..core import CoordinatePrivacy, Loss, Metric
    from ..core.guarantees import Asked
    from ..geo import Places, Visits

POINTS_GAP: Final = 1e-4
"""The gap aimed at for lattices: the spacing costs more."""

_CELLS: Final = "with --cells 20x15 (or --cell, --hexagons) places are cells"


@dataclass(frozen=True, slots=True)
class Site:
    """The places of a design, their costs and promises.

    Attributes:
        places: The secrets and the reports.
        costs: What a report costs.
        distances: How far places are from each other.
        promises: The promises that epsilon stands for.
        said: Why the lattice has its spacing; "" for cells, and where it was asked for.
        search: The goal that epsilon was searched for, and what was found, in sentences.
    """

    places: Places
    costs: Loss | Metric
    distances: Metric
    promises: tuple[Asked, ...]
    said: str = ""
    search: tuple[str, ...] = ()


def wants_cells(
    cells: Mapping[str, str | None], of_lattice: Mapping[str, object], of_cells: Mapping[str, object]
) -> bool:
    """Return whether the options ask for cells; otherwise places are points.

    Args:
        cells: The options that ask for cells, with their values.
        of_lattice: The options that mean something for a lattice only.
        of_cells: The options that mean something for cells only.

    Raises:
        InputError: If options of one kind were given with the other.
    """
    asked = [name for name, value in cells.items() if value is not None]
    for name in (name for name, value in (of_lattice if asked else of_cells).items() if value is not None):
        if asked:
            raise InputError(f"{name} is for points, but {asked[0]} asks for cells.", "leave one of them out.")
        raise InputError(f"{name} is for cells, but places are points here.", f"{_CELLS}; or leave it out.")
    return bool(asked)


def site_of_points(
    visits: Visits,
    user: str | None,
    loss: str,
    epsilon: str | float | None,
    *,
    region: str | None,
    spacing: str | None,
    kind: str,
    near: str | None,
    time_limit: float,
    most: int | None = None,
) -> Site:
    """Return the lattice that the options ask for, with the loss of the true point.

    Args:
        visits: The visits to cover.
        user: The user whose visits count for the loss; None for everyone's.
        loss: ``--loss``.
        epsilon: As the user wrote it; None where nothing is promised per metre.
        region: ``--region``.
        spacing: ``--spacing``; None where it is to be chosen.
        kind: ``--lattice``.
        near: ``--near``.
        time_limit: ``--time-limit``.
        most: The most vertices, where the spacing is to be chosen; None for as many as take about a minute.
    """
    from ..core import CoordinatePrivacy
    from ..geo.true_points import DISTANCES
    from ..optimal import check_lattice
    from ..report import coordinate_extremes

    if loss not in DISTANCES:
        raise InputError(
            f"--loss {loss} is unknown for points: it is their distance from the report, euclidean or manhattan.",
            f"choose one of them; {_CELLS}.",
        )
    promise: CoordinatePrivacy | None = None
    if epsilon is not None:
        with option("--epsilon"):
            promise = CoordinatePrivacy(epsilon)
    lattice, said = lattice_over(visits, promise, region, spacing, kind, near, most)
    check_lattice(lattice, time_limit)
    for remark in () if promise is None else coordinate_extremes(promise, lattice):
        say(f"Warning: {remark}", err=True)
    return Site(
        lattice,
        lattice.loss(visits, loss, user=user),
        metric_on(lattice, "euclidean", "--metric"),
        () if promise is None else (promise,),
        said,
    )


def site_of_cells(
    visits: Visits,
    user: str | None,
    loss: str,
    objective: str,
    metric: str,
    epsilon: str | float | None,
    within: str | None,
    *,
    region: str | None,
    cell: str | None,
    cells: str | None,
    hexagons: str | None,
    time_limit: float,
) -> Site:
    """Return the cells that the options ask for, with the distances of their centres.

    Args:
        visits: The visits to cover.
        user: The user whose visits count for the loss; None for everyone's.
        loss: ``--loss``.
        objective: ``--objective``.
        metric: ``--metric``.
        epsilon: As the user wrote it; None where no metric privacy is promised.
        within: ``--within``.
        region: ``--region``.
        cell: ``--cell``.
        cells: ``--cells``.
        hexagons: ``--hexagons``.
        time_limit: ``--time-limit``.
    """
    from ..core import ThresholdPrivacy
    from ..geo.true_points import DISTANCES
    from ..optimal import check_size

    places = cells_over(visits, region, cell, cells, hexagons)
    check_size(len(places), len(places), time_limit)
    distances = metric_on(places, metric, "--metric")
    promises: tuple[Asked, ...] = ()
    if within is not None:
        with option("--epsilon and --within"):
            promises = (ThresholdPrivacy("1" if epsilon is None else epsilon, distances, within),)
    elif epsilon is not None:
        promises = (promise_of(epsilon, distances, "--epsilon"),)
    # The distance of the true point is an average over those in a cell: it has no worst case.
    averaged = loss in DISTANCES and objective != "worst-case"
    costs = places.loss(visits, loss, user=user) if averaged else metric_on(places, loss, "--loss")
    return Site(places, costs, distances, promises)
