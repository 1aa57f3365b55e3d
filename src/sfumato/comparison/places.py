"""Mechanisms for places side by side, at equal promise or at equal loss of the true point, and their bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from ..attacks import true_place
from ..core import Bracket, CoordinatePrivacy, Mechanism, Space, units
from ..core.arguments import checked
from ..errors import DataError, InfeasibleError, InputError, argument
from ..geo import Grid, Region, Visits
from ..optimal.coordinates.spacing import MOST
from ..rounding import amount_at_least
from .compare_runs import epsilons_of
from .place_contestants import UNIT, PlaceFamilies
from .place_rows import PlaceComparison, PlaceRow
from .place_runs import EqualEpsilon, EqualLoss, PlaceRun

MOST_VISITS: Final = 2000
"""Visits that a comparison is made for, at most; of more some are drawn."""

SEARCHED: Final = 150
"""Vertices of a lattice on which an epsilon is searched for: designed for in some seconds."""

_SEED: Final = 0  # of the draw of visits: a study that anybody can repeat, nothing is released


@checked
def compare_places(
    visits: Visits,
    *,
    epsilon: float | str | Sequence[float | str] | None = None,
    max_loss: float | str | None = None,
    region: Region | str | None = None,
    spacing: float | str | None = None,
    gap: float = 1e-3,
    time_limit: float = float("inf"),
    bound_time: float = 60.0,
    most_visits: int = MOST_VISITS,
    progress: Callable[[str], None] | None = None,
    found: Callable[[PlaceRow], None] | None = None,
) -> PlaceComparison:
    """Compare mechanisms for places at equal promise per kilometre, or at equal loss of the true point.

    There are the programs on lattices with spline and with hat weights, planar Laplace noise with and
    without the remap that is best for these visits, a program on cells of the same size, and a bound that no
    mechanism with the promise can go below. All of them are what `design` makes of these visits, with the reports
    of programs at medians, also on cells. All losses and attackers' errors are of the true points, on the
    same visits. Cells promise nothing to two points near a border, whatever they are compared at.

    Args:
        visits: Where people are. Every mechanism is made for these, and measured on these.
        epsilon: Per kilometre, a number or text such as ``"1/km"``; or several.
        max_loss: The loss of all, instead of epsilon; such as ``"500 m"``. At most 1 % less is lost, and
            lattices have at most 150 vertices. The row of the bound then has an epsilon that is too small for any
            mechanism with this loss.
        region: What lattices and cells serve, where it is not all that the visits cover.
        spacing: Of lattices and cells; by default `sfumato.optimal.suited_lattice` chooses it.
        gap: The relative gap of the programs.
        time_limit: Seconds for everything. Each mechanism gets a part of what is left; a program that is
            not done by then is its best so far, and what there is no time for is named. It is looked at
            between steps that take some seconds.
        bound_time: Seconds for each bound, at most; 0 leaves it out.
        most_visits: The most visits to use; from more, this many are drawn at random, always the same ones.
        progress: Called with the name of each mechanism before it is made.
        found: Called with each row when it is there.

    Raises:
        InputError: If not exactly one of epsilon and max_loss is given, or a number cannot be used.
        DataError: If no visit is inside the region.
        InfeasibleError: If the loss is that of always reporting the same place, or more.
        UnitError: If a unit does not fit.

    Example:
        >>> import sfumato as sf
        >>> visits = sf.synthetic_city(users=5, days=2)
        >>> found = sf.compare_places(visits, epsilon="1/km", spacing="2 km", bound_time=0)
        >>> found.row("cells").epsilon_upper
        inf
    """
    if (epsilon is None) == (max_loss is None):
        raise InputError(
            f"epsilon {epsilon} and max_loss {max_loss} were given.",
            "give one of them: what the mechanisms have in common.",
        )
    if not bound_time >= 0 or not time_limit > 0:
        raise InputError(
            f"a time limit of {time_limit:g} and {bound_time:g} seconds were given.",
            f"use {argument('time_limit', 120)} and {argument('bound_time', 60)}, or 0 for no bound.",
        )
    if most_visits < 2:
        raise InputError(f"{most_visits} visits cannot be compared on.", f"use {argument('most_visits', 2000)}.")
    area = Region.parse(region) if isinstance(region, str) else region
    inside = visits if area is None else visits.inside(area)
    if not len(inside):
        raise DataError(f"none of the {len(visits):,} visits is inside {area}.", "choose a region where they are.")
    used = _drawn(inside, most_visits)
    step = None if spacing is None else units.length_m(spacing, "the spacing")
    if step is not None and not step > 0:
        raise InputError(f"a spacing of {spacing} is not positive.", "use a length such as '500 m'.")
    blind = _blind(used)
    covered = area or visits.region()
    starting, finished = progress or _silent, found or _silent
    run: PlaceRun
    if epsilon is not None:
        rates = _rates(epsilon)
        families = PlaceFamilies(used, covered, step, MOST, gap)
        run = EqualEpsilon(families, rates, time_limit, bound_time, starting, finished)
        equal, values = "epsilon", rates
    else:
        limit = _limit(max_loss, blind)
        families = PlaceFamilies(used, covered, step, SEARCHED, gap, one_lattice=True)
        run = EqualLoss(families, limit, time_limit, bound_time, starting, finished)
        equal, values = "loss", (limit,)
    rows, bounds = run.done()
    return PlaceComparison(rows, equal, values, UNIT, len(used), len(inside), blind, bounds)


def _silent(_: object) -> None:
    """Report nothing."""


def _rates(epsilon: float | str | Sequence[float | str]) -> tuple[float, ...]:
    return tuple(dict.fromkeys(CoordinatePrivacy(each, UNIT).epsilon for each in epsilons_of(epsilon)))


def _limit(max_loss: float | str | None, blind: Bracket) -> float:
    limit = units.parse(max_loss if max_loss is not None else 0.0, unit=UNIT, what="the loss")
    if not limit > 0:
        raise InputError(f"a loss of {max_loss} leaves no noise.", "allow a positive loss, such as '500 m'.")
    if limit >= blind.lower:
        raise InfeasibleError(
            f"a loss of {units.show(limit, UNIT)} was asked for, but always reporting the same place loses "
            f"{units.show(blind.value, UNIT)} and reveals nothing.",
            f"compare at less than {amount_at_least(blind.lower, UNIT)}.",
        )
    return limit


def _drawn(visits: Visits, most: int) -> Visits:
    if len(visits) <= most:
        return visits
    chosen = np.random.default_rng(_SEED).choice(len(visits), size=most, replace=False)
    return visits.select(np.sort(chosen))


def _blind(visits: Visits) -> Bracket:
    """Return the error of an attacker who sees no report: the mean distance to the best point of all."""
    grid = Grid.covering(visits.region(), shape=(2, 2))
    same = Mechanism(np.ones((4, 1)), grid, Space(["the same"]))
    return true_place(same, visits, unit=UNIT).blind
