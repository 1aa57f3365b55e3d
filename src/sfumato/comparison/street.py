"""Two people on the two sides of a street: how likely each report is from either, under cells and for points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..core import Bracket, CoordinatePrivacy, Mechanism, MetricPrivacy
from ..core.arguments import check_arguments
from ..core.arrays import Floats, readonly
from ..core.immutable import CompactRepr
from ..core.units import length_m
from ..errors import InputError
from ..geo import Grid, Lattice, Places, Region, Visits
from ..optimal import choose_lattice
from ..proofs import worst_border
from ..reports.theme import LIGHT, blank
from ..rounding import at_most, factor_at_most, up
from .places import design_program

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STEPS: Final = 401  # of the walk
_WALK: Final = 1.6  # sides of a cell
_ERROR: Final = 1e-12  # of likelihoods in floating point
_LEAST_LIKELIHOOD: Final = 1e-12  # likelihoods below are left out of the ratios
_GREY: Final = LIGHT.muted


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Walk(CompactRepr):
    """One mechanism along a walk across a border."""

    likelihoods: Floats  # of each report at each step, array (steps, reports)
    pair: Floats  # of each report from the two people, array (2, reports)
    factor: Bracket  # the largest ratio of a report's likelihoods from the two people
    report: int  # with the largest ratio for the first person

    @classmethod
    def of(cls, mechanism: Mechanism, places: Places, walk: Floats, pair: Floats) -> Walk:
        """Return a mechanism at the points of a walk and of two people, both arrays (n, 2) of degrees."""
        roundings = (places.rounding(*degrees.T) for degrees in (walk, pair))
        along, two = (np.einsum("nk,nko->no", at.shares, mechanism.matrix[at.positions]) for at in roundings)
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.stack([two[0] / two[1], two[1] / two[0]])
        factors[np.isnan(factors)] = 1.0
        value = float(factors.max())
        factor = Bracket(value * (1 - _ERROR), value, value * (1 + _ERROR))
        return cls(readonly(along), readonly(two), factor, int(np.argmax(factors[0])))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Street(CompactRepr):
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


@check_arguments
def street(
    visits: Visits,
    epsilon: float | str = "1/km",
    *,
    apart: float | str = "4 m",
    spacing: float | str | None = None,
    region: Region | str | None = None,
    gap: float = 1e-3,
) -> Street:
    """Return the two people across a border of cells whom a report distinguishes most, under cells and for points.

    Both mechanisms are made for the visits. Epsilon is per kilometre, ``apart`` the distance of the two, and
    ``spacing`` that of the lattice and the side of the cells, by default what suits epsilon. Raises `InputError`
    if the two are not nearer than the side of a cell, or another argument cannot be used.
    """
    promise = CoordinatePrivacy(epsilon, "km")
    if spacing is None:
        lattice = choose_lattice(visits, promise, region=region).lattice
    else:
        lattice = Lattice.covering(visits, length_m(spacing, "the spacing"), region=region)
    grid = Grid.covering(visits, lattice.spacing_m, region=region)
    of_cells = MetricPrivacy(promise.epsilon, grid.metric("euclidean", unit="km"))
    on_cells = design_program(grid, visits, of_cells, gap).mechanism
    on_points = design_program(lattice, visits, promise, gap).mechanism
    border = worst_border(on_cells, apart)
    left, right = grid.projection.forward(*border.points.T)
    middle, direction = (left + right) / 2, (right - left) / np.hypot(*(right - left))
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
        Walk.of(on_cells, grid, walk, border.points),
        Walk.of(on_points, lattice, walk, border.points),
        lattice.spacing_m,
    )


def street_figure(street: Street) -> Figure:
    """Return two panels: how likely a report is along the walk, and every report's ratio between the two people.

    Raises `MissingExtraError` if matplotlib is not installed.
    """
    figure = blank(9.6, 4.2)
    along, ratios = figure.subplots(1, 2, width_ratios=[3, 2])
    walks = (street.cells, LIGHT.series[1], "cells"), (street.points, LIGHT.series[0], "points")
    _draw_along(along, street, walks)
    _draw_ratios(ratios, street, walks)
    return figure


def _draw_along(ax: Axes, street: Street, walks: Iterable[tuple[Walk, str, str]]) -> None:
    half = street.apart_m / 2
    allowed = street.epsilon * np.abs(street.metres - half) / 1000
    look: Any = {"color": _GREY, "linewidth": 0}
    band = np.exp(-allowed), np.exp(allowed)
    ax.fill_between(street.metres, *band, alpha=0.18, label="what the guarantee allows", **look)
    for walk, colour, label in walks:
        relative = walk.likelihoods[:, walk.report] / walk.pair[1, walk.report]
        ax.plot(street.metres, relative, color=colour, linewidth=2, label=label)
    ax.axvspan(-half, half, alpha=0.5, **look)
    ax.annotate(
        f"border, and two people\n{street.apart_m:g} m apart",
        (half, 0.97),
        xycoords=("data", "axes fraction"),
        xytext=(6, 0),
        textcoords="offset points",
        va="top",
        fontsize=8.5,
        color=_GREY,
    )
    ax.set_yscale("log")
    ticks = [0.5, 0.7, 1, 1.4, 2, 2.8]
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_yticks([], minor=True)
    ax.set_ylim(0.45, 1.15 * max(2.0, street.cells.factor.value))
    ax.set_xlim(street.metres[0], street.metres[-1])
    ax.set(xlabel="position across the border (m)", ylabel="times as likely as from the person on the right")
    ax.set_title("One report, step by step across a border", fontsize=10, loc="left")
    ax.legend(fontsize=9, loc="lower left", frameon=False)
    ax.grid(alpha=0.25)


def _draw_ratios(ax: Axes, street: Street, walks: Iterable[tuple[Walk, str, str]]) -> None:
    top = 1.0
    for row, (walk, colour, label) in enumerate(walks):
        left, right = walk.pair
        mask = (left > _LEAST_LIKELIHOOD) & (right > _LEAST_LIKELIHOOD)
        factors = left[mask] / right[mask]
        top = max(top, float(factors.max()), 1 / float(factors.min()))
        spread = np.linspace(-0.22, 0.22, len(factors))
        ax.plot(factors, row + spread, linestyle="none", marker="o", markersize=4, color=colour, alpha=0.55)
        ax.annotate(
            f"{label}: up to {at_most(walk.factor.upper, 5)} times",
            (1.0, row - 0.32),
            ha="center",
            va="bottom",
            fontsize=9,
            color=colour,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
        )
    ax.axvline(1.0, color=_GREY, linewidth=0.8, zorder=0)
    ax.set_xscale("log")
    wide = 1.15 * top
    ticks = [tick for tick in (1 / 4, 1 / 3, 1 / 2, 1 / 1.5, 1, 1.5, 2, 3, 4) if 1 / wide < tick < wide]
    ax.set_xticks(ticks, [f"{tick:.3g}" if tick >= 1 else f"1/{1 / tick:.3g}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.set(
        xlim=(1 / wide, wide), ylim=(1.5, -0.55), yticks=[], xlabel="times as probable from one as from the other"
    )
    allowed = up(up(street.epsilon * street.apart_m) / 1000)
    ax.set_title(f"All reports; the guarantee allows {factor_at_most(allowed, 5)}", fontsize=10, loc="left")
