"""The site of a design: a lattice for points or cells, what a report costs there, and what is promised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from ..errors import InputError
from .design_options import DesignOptions
from .messages import option, say
from .places import cells_over, lattice_over, metric_on, promise_of
from .progress import working
from .sweep_options import SweepOptions

if TYPE_CHECKING:
    from ..core import CoordinatePrivacy, Loss, Metric
    from ..core.guarantees import Asked
    from ..geo import Places, Visits

PlaceOptions: TypeAlias = DesignOptions | SweepOptions
"""Options that say where a design is made."""

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


def wants_cells(asked: PlaceOptions, *, of_lattice: tuple[str, ...], of_cells: tuple[str, ...]) -> bool:
    """Return whether the options ask for cells; otherwise places are points.

    Args:
        asked: The options.
        of_lattice: Those that mean something for a lattice only.
        of_cells: Those that mean something for cells only.

    Raises:
        InputError: If options of one kind were given with the other.
    """
    cells = asked.given("cell", "cells", "hexagons")
    if cells:
        asked.refuse(of_lattice, f"is for points, but {cells[0]} asks for cells.", "leave one of them out.")
        return True
    names = (*of_cells, "objective") if asked.objective == "worst-case" else of_cells
    asked.refuse(names, "is for cells, but places are points here.", f"{_CELLS}; or leave it out.")
    return False


def site_of_points(
    asked: PlaceOptions, visits: Visits, loss: str, epsilon: str | float | None, *, most: int | None
) -> Site:
    """Return the lattice that the options ask for, with the loss of the true point.

    Args:
        asked: The options.
        visits: The visits to cover; those of ``--user`` count for the loss.
        loss: The kind of loss.
        epsilon: As the user wrote it; None where nothing is promised per metre.
        most: The most vertices, where the spacing is to be chosen; None for as many as take about a minute.
    """
    from ..core import CoordinatePrivacy
    from ..geo.true_points import DISTANCES
    from ..optimal import check_lattice
    from ..reports import coordinate_extremes

    if loss not in DISTANCES:
        raise InputError(
            f"--loss {loss} is unknown for points: it is their distance from the report, euclidean or manhattan.",
            f"choose one of them; {_CELLS}.",
        )
    promise: CoordinatePrivacy | None = None
    if epsilon is not None:
        with option("--epsilon"):
            promise = CoordinatePrivacy(epsilon)
    with working("Laying the lattice"):
        lattice, said = lattice_over(visits, promise, asked.region, asked.spacing, asked.lattice, asked.near, most)
    errors = ("distortion", "max_loss") if isinstance(asked, DesignOptions) else ("distortions",)
    check_lattice(lattice, asked.time_limit, errors=bool(asked.given(*errors)))
    for remark in () if promise is None else coordinate_extremes(promise, lattice):
        say(f"Warning: {remark}", err=True)
    with working("Measuring how far visits are from reports"):
        costs = lattice.loss(visits, loss, user=asked.user)
    return Site(
        lattice,
        costs,
        metric_on(lattice, "euclidean", "--metric"),
        () if promise is None else (promise,),
        said,
    )


def site_of_cells(
    asked: PlaceOptions, visits: Visits, loss: str, epsilon: str | None = None, within: str | None = None
) -> Site:
    """Return the cells that the options ask for, with the distances of their centres.

    Args:
        asked: The options.
        visits: The visits to cover; those of ``--user`` count for the loss.
        loss: The kind of loss.
        epsilon: As the user wrote it; None where no metric privacy is promised.
        within: As the user wrote it; None where places are protected at any distance.
    """
    from ..core import ThresholdPrivacy
    from ..geo.true_points import DISTANCES
    from ..optimal import check_size

    places = cells_over(visits, asked.region, asked.cell, asked.cells, asked.hexagons)
    check_size(len(places), len(places), asked.time_limit)
    distances = metric_on(places, asked.metric, "--metric")
    promises: tuple[Asked, ...] = ()
    if within is not None:
        with option("--epsilon and --within"):
            promises = (ThresholdPrivacy("1" if epsilon is None else epsilon, distances, within),)
    elif epsilon is not None:
        promises = (promise_of(epsilon, distances, "--epsilon"),)
    # The distance of the true point is an average over those in a cell: it has no worst case.
    averaged = loss in DISTANCES and asked.objective != "worst-case"
    costs = places.loss(visits, loss, user=asked.user) if averaged else metric_on(places, loss, "--loss")
    return Site(places, costs, distances, promises)
