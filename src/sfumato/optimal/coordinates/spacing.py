"""The spacing of a lattice for a guarantee and about a minute of design."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Final, NamedTuple

import numpy as np

from ...core import CoordinatePrivacy, Loss, Prior, units
from ...core.arguments import check_arguments
from ...errors import InputError, argument
from ...escaping import plain
from ...geo import MOST_CELLS, Kind, Lattice, Region, Visits
from ...rounding import about, amount
from ..effort import check_time, shortage, shortage_of_generated

MOST_VERTICES: Final = 250
"""Vertices that are designed for in about a minute on two cores, with reports at medians."""

MOST_NEAR: Final = 3_000
"""Vertices near visits of a lattice that is refined for a limit of the loss, without a program."""

_FINE: Final = 0.75  # times 1 / epsilon: with reports at medians a finer one gains about 1 %
_PLACES: Final = 10  # steps along the longer side of the area, at least
_GROWTH: Final = 1.03  # of the spacing from one try to the next
_DIGITS: Final = 2  # of a spacing
_REFINED: Final = 0.8  # of a limit of the loss: the least loss on a lattice that is fine enough
_FINER: Final = 0.7  # of the spacing from one lattice near visits to the next
_WIDEST: Final = 0.7 * MOST_CELLS  # vertices of the rectangle that is covered


class LatticeChoice(NamedTuple):
    """A lattice, and why it has its spacing; "" where the spacing was given."""

    lattice: Lattice
    sentence: str


class PlaceProblem(NamedTuple):
    """The prior and the loss of visits on a lattice; ``visits`` are those that it serves."""

    lattice: Lattice
    prior: Prior
    loss: Loss
    visits: Visits
    sentence: str  # why the lattice has its spacing; "" where that was given


def place_problem(
    visits: Visits,
    guarantee: CoordinatePrivacy | None,
    *,
    spacing: float | str | None = None,
    kind: Kind = "square",
    region: Region | str | None = None,
    near: float | str | None = None,
    loss: str = "euclidean",
    smoothing: float = 0.0,
    user: Hashable | None = None,
    most: int | None = None,
    time_limit: float = math.inf,
) -> PlaceProblem:
    """Return the design problem of visits: a lattice, by default of a suitable spacing, the prior and the loss.

    The guarantee and ``most`` are those of `choose_lattice`; the prior and the loss are of one user where named.
    A lattice too fine for memory or the time limit is refused; see `check_lattice`.
    """
    lattice, sentence = place_lattice(
        visits, guarantee, spacing=spacing, kind=kind, region=region, near=near, most=most
    )
    check_lattice(lattice, time_limit)
    prior = Prior.from_visits(lattice, visits, user=user, smoothing=smoothing)
    used = visits if user is None else visits.of_user(user)
    used = used.select(lattice.inside(used.lat, used.lon))
    return PlaceProblem(lattice, prior, lattice.loss(visits, loss, user=user), used, sentence)


def place_lattice(
    visits: Visits,
    guarantee: CoordinatePrivacy | None,
    *,
    spacing: float | str | None,
    kind: Kind,
    region: Region | str | None,
    near: float | str | None,
    most: int | None,
) -> LatticeChoice:
    """Return a lattice over visits, by default of the spacing that `choose_lattice` chooses."""
    if spacing is not None:
        return LatticeChoice(Lattice.covering(visits, spacing, kind=kind, region=region, near=near), "")
    return choose_lattice(visits, guarantee, most=most, kind=kind, region=region, near=near)


@check_arguments
def choose_lattice(
    places: Visits | Region | str,
    promise: CoordinatePrivacy | None,
    *,
    most: int | None = None,
    kind: Kind = "square",
    region: Region | str | None = None,
    near: float | str | None = None,
) -> LatticeChoice:
    """Return a lattice with a spacing that suits a guarantee.

    The spacing is three quarters of 1 / epsilon, or a tenth of the longer side of the area if that is less; with
    `at_medians` a finer one gains about 1 %. If that needs more than ``most`` vertices, it is the least that does
    not. Raises `InputError` if the area has no extent, or is too wide for a flat map.

    Args:
        places: The area to cover: visits, a region, or a region as text.
        promise: The guarantee; None for the finest lattice of ``most`` vertices.
        most: The most vertices; by default 250, for which a design takes about a minute on two cores, with reports
            at medians.
        kind: ``square`` or ``triangular``.
        region: The region to cover, if not all visits.
        near: Serve only places within this distance of a visit.
    """
    most = MOST_VERTICES if most is None else most
    if most < 9:
        raise InputError(
            f"a lattice of at most {most} vertices is too small.", f"use {argument('most', MOST_VERTICES)}."
        )
    area = places if region is None else region
    if isinstance(area, str):
        area = Region.parse(area)
    width, height = (area.region() if isinstance(area, Visits) else area).size_m
    if not max(width, height) > 0:
        raise InputError(
            "all visits are at one place, so there is nothing to hide it among.",
            f"choose a region with {argument('region', '8 km x 6 km around 48.85,2.35')}",
            f"choose {argument('spacing', '500 m')}.",
        )
    ideal = 0.0 if promise is None else _FINE / (promise.epsilon * units.factor("m", promise.unit))
    finest = max(width, height) / (_PLACES if promise is not None else most)
    narrow = finest < ideal
    step, limit = _round_length(min(ideal, finest) or finest, down=True), ""
    while True:
        wide = (width / step + 3) * (height / step + 3)  # about the vertices of the whole rectangle
        if wide < _WIDEST:
            lattice = Lattice.covering(places, step, kind=kind, region=region, near=near)
            if len(lattice) <= most:
                return LatticeChoice(lattice, _reason(lattice.spacing_m, ideal, limit, narrow=narrow))
            wide, aim, limit = float(len(lattice)), float(most), f"the finest with at most {most} vertices"
            limit += ", which take about a minute" if most == MOST_VERTICES else ""
        else:
            aim, limit = _WIDEST, "the finest for so wide a region"
        step = _round_length(step * max(_GROWTH, 0.97 * math.sqrt(wide / aim)))


def refine_lattice(
    choice: LatticeChoice,
    visits: Visits,
    limit_m: float,
    *,
    region: Region | str | None,
    user: Hashable | None,
    loss: str = "euclidean",
) -> LatticeChoice:
    """Return a lattice on which an average loss within a limit, in metres, is possible without a guarantee.

    Reports may be anywhere, so the least loss is that of the median of the points taken for each vertex. If it is
    above the limit, finer lattices near visits (of the user, where one is given) are tried, up to `MOST_NEAR`
    vertices. If none is fine enough, the choice stays.
    """
    lattice = choice.lattice
    step = lattice.spacing_m
    area = visits if user is None else visits.of_user(user)
    while len(lattice) <= MOST_NEAR:
        points = lattice.true_points(visits, user)
        used = np.flatnonzero(points.masses.sum(axis=0) > 0)
        truth = np.zeros((len(lattice), len(used)))
        truth[used, np.arange(len(used))] = 1.0
        if points.guesses(truth, loss).value <= _REFINED * limit_m:
            if lattice is choice.lattice:
                return choice
            near = units.show(step, "m")
            why = f"so fine that an average loss of {amount(limit_m, 'm')} is possible"
            owner = "a visit" if user is None else f"a visit of {plain(str(user))}"
            sentence = f"The spacing of {near} was chosen: {why}. Only places within {near} of {owner} are served."
            return LatticeChoice(lattice, sentence)
        step = _round_length(_FINER * step, down=True)
        try:
            lattice = Lattice.covering(area, step, kind=lattice.kind, region=region, near=step)
        except InputError:  # too many vertices, or too far apart
            break
    return choice


def check_lattice(lattice: Lattice, time_limit: float, *, errors: bool = False) -> None:
    """Raise `InputError`, before any large array is made, for a lattice too fine for memory or time.

    ``time_limit`` is in seconds for the whole design and its proof. With ``errors`` the attacker's error is part
    of the problem; then observables are not generated, and less fits. The hint says what fits.
    """
    size = len(lattice)
    short = shortage(size, size)
    if short is not None and not errors:
        short = shortage_of_generated(size, size)
    if short is not None:
        problem, fits = short
        ring = 3.0  # vertices beyond the served ones, and halves of steps, along each side
        by = (math.sqrt(size) - 2) / max(1.0, math.sqrt(fits) - ring)
        wider = units.show(_round_length(lattice.spacing_m * max(by, _GROWTH)), "m")
        why = " with the attacker's error in the problem" if errors else ""
        raise InputError(
            problem, f"about {fits:,} vertices fit{why}: use {argument('spacing', wider)}, or a smaller region."
        )
    check_time(size, size, time_limit)


def _reason(spacing_m: float, ideal: float, limit: str, *, narrow: bool) -> str:
    opening = f"The spacing of {units.show(spacing_m, 'm')} was chosen: "
    if limit:
        relative = f" It is {about(_FINE * spacing_m / ideal, 2)} times 1/epsilon." if ideal else ""
        return f"{opening}{limit}.{relative}"
    if narrow:
        return f"{opening}a tenth of the longer side of the region."
    return f"{opening}three quarters of 1/epsilon. A finer one loses only slightly less and takes longer."


def _round_length(metres: float, *, down: bool = False) -> float:
    """Return a length with few digits."""
    unit = 10.0 ** (math.floor(math.log10(metres)) + 1 - _DIGITS)
    whole = math.floor(metres / unit + 1e-9) if down else math.ceil(metres / unit - 1e-9)
    return float(f"{whole * unit:.12g}")
