"""Two people on the two sides of a street: how likely each report is from either, under cells and for points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..core import Bracket, CoordinatePrivacy, Mechanism, MetricPrivacy, Prior
from ..core.arguments import checked
from ..core.arrays import Floats, readonly
from ..core.frozen import Short
from ..core.units import length_m
from ..errors import InputError
from ..evidence import worst_border
from ..geo import Grid, Lattice, Places, Region, Visits
from ..optimal import design, suited_lattice

_STEPS: Final = 401  # of the walk
_WALK: Final = 1.6  # sides of a cell
_ERROR: Final = 1e-12  # of likelihoods in floating point


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Walk(Short):
    """One mechanism along a walk across a border.

    Attributes:
        likelihoods: How likely each report is at each step of the walk, array (steps, reports).
        pair: How likely each report is from the first and from the second person, array (2, reports).
        factor: How many times likelier a report is from one of the two than from the other, at most.
        report: The report that speaks most for the first person.
    """

    likelihoods: Floats
    pair: Floats
    factor: Bracket
    report: int

    @classmethod
    def of(cls, mechanism: Mechanism, walk: Floats, pair: Floats) -> Walk:
        """Return a mechanism at the points of a walk and of two people, both arrays (n, 2) of degrees."""
        along, two = _likelihoods(mechanism, walk), _likelihoods(mechanism, pair)
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.stack([two[0] / two[1], two[1] / two[0]])
        factors[np.isnan(factors)] = 1.0
        value = float(factors.max())
        factor = Bracket(value * (1 - _ERROR), value, value * (1 + _ERROR))
        return cls(readonly(along), readonly(two), factor, int(np.argmax(factors[0])))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Street(Short):
    """Two people a few metres apart on the two sides of a border of cells, and a walk across it.

    Attributes:
        epsilon: Per km: between any two points, and between the middles of cells.
        apart_m: The distance of the two people in metres.
        people: Latitude and longitude of both, array (2, 2), degrees.
        metres: The steps of the walk, from the middle between the two people, array (steps,).
        cells: The program on cells.
        points: The program on a lattice.
        side_m: The side of a cell, and the spacing of the lattice.
    """

    epsilon: float
    apart_m: float
    people: Floats
    metres: Floats
    cells: Walk
    points: Walk
    side_m: float


@checked
def street(
    visits: Visits,
    epsilon: float | str = "1/km",
    *,
    apart: float | str = "4 m",
    spacing: float | str | None = None,
    region: Region | str | None = None,
    gap: float = 1e-3,
) -> Street:
    """Return two people at the border of two cells that a report tells apart most, under cells and for points.

    Args:
        visits: What both mechanisms are made for.
        epsilon: Per kilometre.
        apart: The distance of the two.
        spacing: Of the lattice, and the side of the cells; by default what suits epsilon.
        region: What is served.
        gap: The relative gap of the programs.

    Raises:
        InputError: If the two are not nearer than the side of a cell, or another argument cannot be used.
    """
    promise = CoordinatePrivacy(epsilon, "km")
    if spacing is None:
        lattice = suited_lattice(visits, promise, region=region).lattice
    else:
        lattice = Lattice.covering(visits, length_m(spacing, "the spacing"), region=region)
    grid = Grid.covering(visits, lattice.spacing_m, region=region)
    of_cells = MetricPrivacy(promise.epsilon, grid.metric("euclidean", unit="km"))
    on_cells, on_points = _made(grid, visits, of_cells, gap), _made(lattice, visits, promise, gap)
    border = worst_border(on_cells, apart)
    one, other = grid.projection.forward(*border.points.T)
    middle, direction = (one + other) / 2, (other - one) / np.hypot(*(other - one))
    reach = _WALK / 2 * min(grid.cell_m)
    metres = np.linspace(-reach, reach, _STEPS)
    walk = grid.projection.inverse(middle + metres[:, None] * direction)
    if not lattice.inside(*walk.T).all():
        raise InputError("the walk leaves what the lattice serves.", "choose a wider region.")
    return Street(
        promise.epsilon,
        border.apart_m,
        border.points,
        readonly(metres),
        Walk.of(on_cells, walk, border.points),
        Walk.of(on_points, walk, border.points),
        lattice.spacing_m,
    )


def _made(places: Places, visits: Visits, promise: CoordinatePrivacy | MetricPrivacy, gap: float) -> Mechanism:
    found: Mechanism = design(
        Prior.from_visits(places, visits),
        loss=places.loss(visits),
        guarantees=promise,
        gap=gap,
        tie_break=False,
        keep="program",
    ).mechanism
    return found


def _likelihoods(mechanism: Mechanism, degrees: Floats) -> Floats:
    """Return how likely each report is from points, array (n, reports)."""
    places = mechanism.secrets
    if not isinstance(places, Places):
        raise InputError("the secrets are not places.", "use a grid or a lattice.")
    rounding = places.rounding(*degrees.T)
    found: Floats = np.einsum("nk,nko->no", rounding.shares, mechanism.matrix[rounding.positions])
    return found
