"""Mechanisms for places side by side, at equal promise or at equal loss of the true point, and their bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from ...attacks import true_place
from ...core import Bracket, CoordinatePrivacy, Mechanism, Space, units
from ...core.arguments import checked
from ...errors import DataError, InfeasibleError, InputError, SfumatoError, argument
from ...geo import Grid, Region, Visits
from ...optimal import CoordinateBound, coordinate_bound
from ...rounding import amount_at_least
from .place_contestants import NAMES, RAW, REMAPPED, UNIT, PlaceFamilies
from .place_rows import ANY, PlaceComparison, PlaceRow

MOST_VISITS: Final = 2000
"""Visits that a comparison is made for, at most; of more some are drawn."""

VERTICES: Final = 250
"""Of a lattice whose spacing is chosen: it is designed for in some seconds."""

_SEED: Final = 0  # of the draw of visits: a study that anybody can repeat, nothing is released
_CLOSE: Final = 4e-3  # to the loss asked for
_TRIES: Final = 10  # epsilons for one mechanism
_SLOPE: Final = -0.7  # of the logarithm of the loss by that of epsilon, to begin with
_STEEPEST, _FLATTEST = -3.0, -0.15
_LESS: Final = 0.97  # of the epsilon that the bound was thought to allow
_BOUNDS: Final = 3  # epsilons tried for it


@checked
def compare_places(
    visits: Visits,
    *,
    epsilon: float | str | Sequence[float | str] | None = None,
    max_loss: float | str | None = None,
    region: Region | str | None = None,
    spacing: float | str | None = None,
    gap: float = 1e-3,
    time_limit: float = 120.0,
    bound_time: float = 60.0,
    most_visits: int = MOST_VISITS,
    progress: Callable[[str], None] | None = None,
) -> PlaceComparison:
    """Compare mechanisms for places at equal promise per kilometre, or at equal loss of the true point.

    There are the programs on lattices with spline and with hat weights, planar Laplace noise with and
    without the remap that is best for these visits, a program on cells of the same size, and a bound that no
    mechanism with the promise can go below. All losses and attackers' errors are of the true points, on the
    same visits. Cells promise nothing to two points near a border, whatever they are compared at.

    Args:
        visits: Where people are. Every mechanism is made for these, and measured on these.
        epsilon: Per kilometre, a number or text such as ``"1/km"``; or several.
        max_loss: The loss of all, instead of epsilon; such as ``"500 m"``. The row of the bound then has an
            epsilon that is too small for any mechanism with this loss.
        region: What lattices and cells serve, where it is not all that the visits cover.
        spacing: Of lattices and cells; by default `sfumato.optimal.suited_lattice` chooses it.
        gap: The relative gap of the programs.
        time_limit: Seconds for each program.
        bound_time: Seconds for each bound; 0 leaves it out.
        most_visits: The most visits to use; from more, this many are drawn at random, always the same ones.
        progress: Called with the name of each mechanism before it is made.

    Raises:
        InputError: If not exactly one of epsilon and max_loss is given, or a number cannot be used.
        DataError: If no visit is inside the region.
        InfeasibleError: If the loss is that of always reporting the same place, or more.
        UnitError: If a unit does not fit.

    Example:
        >>> import sfumato as sf
        >>> visits = sf.synthetic_city(users=5, days=2)
        >>> found = sf.compare_places(visits, epsilon="1/km", spacing="2 km", bound_time=5)
        >>> found.row("cells").epsilon_upper
        inf
    """
    if (epsilon is None) == (max_loss is None):
        raise InputError(
            f"epsilon {epsilon} and max_loss {max_loss} were given.",
            "give one of them: what the mechanisms have in common.",
        )
    if bound_time < 0 or not time_limit > 0:
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
    families = PlaceFamilies(used, area or visits.region(), step, VERTICES, gap, time_limit)
    blind = _blind(used)
    run = _Run(families, bound_time, progress or _silent)
    if epsilon is not None:
        several = [epsilon] if isinstance(epsilon, str | float | int | np.number) else list(epsilon)
        if not several:
            raise InputError("no epsilon was given.", "use '1/km'.")
        rates = [CoordinatePrivacy(each, UNIT).epsilon for each in several]
        for each in rates:
            run.at_epsilon(each)
        equal, values = "epsilon", tuple(rates)
    else:
        limit = units.parse(max_loss if max_loss is not None else 0.0, unit=UNIT, what="the loss")
        if not limit > 0:
            raise InputError(f"a loss of {max_loss} leaves no noise.", "allow a positive loss, such as '500 m'.")
        if limit >= blind.lower:
            raise InfeasibleError(
                f"a loss of {units.show(limit, UNIT)} was asked for, but always reporting the same place loses "
                f"{units.show(blind.value, UNIT)} and reveals nothing.",
                f"compare at less than {amount_at_least(blind.lower, UNIT)}.",
            )
        run.at_loss(limit)
        equal, values = "loss", (limit,)
    return PlaceComparison(tuple(run.rows), equal, values, UNIT, len(used), len(inside), blind, tuple(run.bounds))


def _silent(name: str) -> None:
    """Report no progress."""
    del name


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


class _Run:
    """The rows and bounds of one comparison."""

    def __init__(self, families: PlaceFamilies, bound_time: float, progress: Callable[[str], None]) -> None:
        self.families, self.bound_time, self.progress = families, bound_time, progress
        self.rows: list[PlaceRow] = []
        self.bounds: list[CoordinateBound] = []

    def at_epsilon(self, epsilon: float) -> None:
        """Add the rows of an epsilon per kilometre."""
        for name in NAMES:
            self.progress(name)
            try:
                self.rows.append(self.families.made(name, epsilon))
            except SfumatoError as error:
                self.rows.append(PlaceRow.missing(name, epsilon, error.problem))
        if self.bound_time:
            self.progress(ANY)
            self._add(self._bound(epsilon, self.bound_time))

    def at_loss(self, limit: float) -> None:
        """Add the rows of a loss in kilometres: each family's least epsilon that loses no more."""
        first = 2 / limit
        for name in (RAW, REMAPPED, *(each for each in NAMES if each not in (RAW, REMAPPED))):
            self.progress(name)
            found = self._matched(name, limit, first)
            self.rows.append(found)
            if name == REMAPPED and not found.problem:
                first = found.epsilon
                self.families.fixed_for(first)
        self.rows.sort(key=lambda row: NAMES.index(row.name))
        if self.bound_time:
            self.progress(ANY)
            least = min(row.epsilon for row in self.rows if math.isfinite(row.epsilon_upper))
            for _ in range(_BOUNDS):
                bound = self._bound(_LESS * least, self.bound_time)
                if bound.lower > limit:
                    self._add(bound)
                    break
                least = _LESS * least * max(0.3, (bound.lower / limit) ** 2)

    def _matched(self, name: str, limit: float, first: float) -> PlaceRow:
        """Return the row of the least epsilon that is found to lose no more than a limit, and hardly less."""
        x, slope = math.log(first), _SLOPE
        low, high = -math.inf, math.inf  # logarithms of an epsilon that loses too much, and of one that does not
        before: tuple[float, float] | None = None
        best: PlaceRow | None = None
        for _ in range(_TRIES):
            try:
                row = self.families.made(name, math.exp(x), attacked=False)
            except SfumatoError as error:
                if best is None:
                    return PlaceRow.missing(name, math.exp(x), error.problem)
                break
            value = math.log(row.loss.upper / limit) + _CLOSE / 2
            if row.loss.upper <= limit:
                best = row if best is None or row.epsilon < best.epsilon else best
            if abs(value) <= _CLOSE / 2:
                break
            low, high = (x, high) if value > 0 else (low, x)
            if before is not None and x != before[0]:
                slope = min(max((value - before[1]) / (x - before[0]), _STEEPEST), _FLATTEST)
            before = (x, value)
            x -= value / slope
            if not low < x < high:
                x = (low + high) / 2
        if best is None:
            return PlaceRow.missing(name, math.exp(x), "no epsilon that was tried loses so little.")
        return self.families.made(name, best.epsilon)

    def _bound(self, epsilon: float, seconds: float) -> CoordinateBound:
        return coordinate_bound(self.families.visits, epsilon, unit=UNIT, time_limit=seconds)

    def _add(self, bound: CoordinateBound) -> None:
        self.bounds.append(bound)
        detail = f"proved with {bound.heads} places as secrets"
        self.rows.append(PlaceRow(ANY, bound.epsilon, bound.epsilon, 0.0, bound.least, None, None, detail))
