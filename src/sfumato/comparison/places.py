"""Comparison of mechanisms for places, at equal epsilon or at equal loss of the true point, with a lower bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, NamedTuple, overload

import numpy as np

from ..attacks import true_place
from ..core import AnyLoss, Bracket, CoordinatePrivacy, Mechanism, Metric, MetricPrivacy, Prior, Space, units
from ..core.arguments import check_arguments
from ..core.arrays import Floats
from ..errors import DataError, InputError, SfumatoError, SolverError, argument, python
from ..files import MechanismFile
from ..geo import Grid, Kind, Lattice, Places, Region, Visits
from ..intervals import exp_above
from ..mechanisms import raw_error, stretch
from ..mechanisms.planar import CoordinateNoise
from ..optimal import MOST_VERTICES, CoordinateBound, Design, choose_lattice, coordinate_bound, design
from ..proofs import VertexPrivacy, expected_loss_above, prove_coordinate_privacy, worst_border
from ..rounding import amount_at_most, down, gap_at_most, up
from .engine import ANY, NOT_REACHED, Clock, Contestant, check_common, check_loss, check_time, epsilons_of, run
from .place_results import CELLS, HAT, NAMES, RAW, REMAP, SPLINE, PlaceComparison, PlaceRow
from .prior_results import PriorComparison
from .priors import compare_priors

MOST_VISITS: Final = 2000  # visits that a comparison is made for, at most; of more some are drawn
SEARCH_SIZE: Final = 150  # vertices of a lattice on which an epsilon is searched for: designed for in some seconds
UNIT: Final = "km"
SLOPE: Final = -0.7  # of the logarithm of the loss by that of epsilon, where no other one is known
_SEED: Final = 0  # of the draw of visits: a study that anybody can repeat, nothing is released
_KINDS: Final[dict[str, Kind]] = {SPLINE: "square", HAT: "triangular"}
# Quick ones first, so that little time still gives rows; the relative time of each.
_PARTS: Final = {REMAP: 2.0, RAW: 1.0, SPLINE: 4.0, CELLS: 2.0, HAT: 4.0}
_PART_OF_BOUND: Final = 4.0
_NOISE_FACTOR: Final = 1.005  # times 2 / loss: an epsilon at which planar Laplace noise loses no more
_FIRST: Final = 0.8  # of the least epsilon of a mechanism: the first one that is tried for the bound
_GOOD_RATIO: Final = 1.04  # times the loss: a bound that is good enough
_BACKOFF: Final = 0.98  # of the epsilon that is thought to be the largest with such a bound
_POWER: Final = 1.4  # of the loss by which it is thought to change
_BOUNDS: Final = 3  # epsilons tried
_DIGITS: Final = 3  # of them
_TOLERANCE: Final = 0.01  # of the limit of the loss
_TRIES: Final = 8  # epsilons for one mechanism
_STEEPEST, _FLATTEST = -3.0, -0.15
_ROUNDING: Final = 1e-12  # of means of distances in floating point


@overload
def compare(data: Prior, metric: Metric, **options: Any) -> PriorComparison: ...


@overload
def compare(data: Visits, **options: Any) -> PlaceComparison: ...


@check_arguments
def compare(
    data: Prior | Visits, metric: Metric | None = None, **options: Any
) -> PriorComparison | PlaceComparison:
    """Compare mechanisms on a prior, or for the places of visits, at equal epsilon or at equal expected loss.

    The metric, on the secrets of a prior, is for privacy. Options are those of `compare_priors` or of
    `compare_places`. Raises `InputError` if a prior comes without a metric, visits come with one, or an option
    cannot be used.
    """
    if isinstance(data, Visits):
        if metric is not None:
            raise InputError(
                f"{argument('metric')} is for a prior, but visits were given.",
                python("leave it out; or make the prior: sf.Prior.from_visits(grid, visits)."),
            )
        return compare_places(data, **options)
    if metric is None:
        raise InputError(f"a prior was given without {argument('metric')}.", "pass the metric on its values.")
    return compare_priors(data, metric, **options)


@check_arguments
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
    files: Mapping[str, MechanismFile] | None = None,
    progress: Callable[[str], None] | None = None,
    emit: Callable[[PlaceRow], None] | None = None,
) -> PlaceComparison:
    """Compare mechanisms for places at equal epsilon per kilometre, or at equal loss of the true point.

    The rows are programs on lattices with spline and with hat weights, planar Laplace noise with and without the
    best remap for these visits, a program on cells of the same size, and a lower bound for every mechanism with
    the guarantee. Programs have their reports at medians, also on cells. Losses and attackers' errors are of the
    true points, on the same visits. Cells guarantee nothing for two points near a border. Raises `InputError` if
    not exactly one of epsilon and max_loss is given, a number cannot be used, or a file does not fit the visits.
    Raises `DataError` if no visit is inside the region. Raises `InfeasibleError` if the loss is that of always
    reporting the same place, or more. Raises `UnitError` if a unit does not fit.

    Args:
        visits: Every mechanism is made for these, and measured on these.
        epsilon: Per kilometre, a number or text such as ``"1/km"``; or several.
        max_loss: The loss of all, instead of epsilon, such as ``"500 m"``; reached within 1 %, on lattices of at
            most 150 vertices. The row of the bound then has an epsilon that is too small for this loss.
        region: What lattices and cells serve; by default all visits.
        spacing: Of lattices and cells; by default `sfumato.optimal.choose_lattice` chooses it.
        gap: The relative gap of the programs.
        time_limit: Seconds for everything, checked between steps of some seconds. Each mechanism gets a part of
            what is left; a program is then the best so far, and what there is no time for is named.
        bound_time: Seconds for each bound, at most; 0 leaves it out.
        most_visits: The most visits to use; of more, this many are drawn, always the same ones.
        files: Mechanisms to compare with, by the name of their row: each with the epsilon that is proved of it, in
            the table of every value. They must serve all visits.
        progress: Called with the name of each mechanism before it is made.
        emit: Called with each row when it is there.

    Example:
        >>> import sfumato as sf
        >>> visits = sf.synthetic_city(users=5, days=2)
        >>> found = sf.compare_places(visits, epsilon="1/km", spacing="2 km", bound_time=0)
        >>> found.row("cells").epsilon_upper
        inf
    """
    check_common(epsilon, max_loss)
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
    used = inside
    if len(inside) > most_visits:
        sample = np.random.default_rng(_SEED).choice(len(inside), size=most_visits, replace=False)
        used = inside.select(np.sort(sample))
    step = None if spacing is None else units.length_m(spacing, "the spacing")
    if step is not None and not step > 0:
        raise InputError(f"a spacing of {spacing} is not positive.", "use a length such as '500 m'.")
    grid = Grid.covering(used.region(), shape=(2, 2))
    same = Mechanism(np.ones((4, 1)), grid, Space(["the same"]))
    blind = true_place(same, used, unit=UNIT).blind  # the mean distance to the best point of all
    if epsilon is not None:
        rates = (CoordinatePrivacy(value, UNIT).epsilon for value in epsilons_of(epsilon))
        equal, values = "epsilon", tuple(dict.fromkeys(rates))
    else:
        limit = units.parse(max_loss if max_loss is not None else 0.0, unit=UNIT, subject="the loss")
        if not limit > 0:
            raise InputError(f"a loss of {max_loss} leaves no noise.", "allow a positive loss, such as '500 m'.")
        check_loss(limit, UNIT, blind)
        equal, values = "loss", (limit,)
    for name, file in (files or {}).items():
        _check_file(name, file, used)
    most = MOST_VERTICES if equal == "epsilon" else SEARCH_SIZE
    families = _PlaceFamilies(used, area or visits.region(), step, most, gap, bound_time, equal)
    contestants = [
        Contestant(name, 1.0, partial(_file_rows, name, file, used, equal == "epsilon"), partial(_failure, name))
        for name, file in (files or {}).items()
    ]
    rows = run([*contestants, *families.contestants()], values, time_limit, progress, emit)
    order = (*NAMES, *(files or ()))
    table = sorted(rows, key=lambda row: (equal == "epsilon" and values.index(row.epsilon), order.index(row.name)))
    bounds = tuple(families.bounds)
    return PlaceComparison(
        tuple(table), equal, values, UNIT, len(used), len(inside), blind, bounds, files=tuple(files or ())
    )


def _check_file(name: str, file: MechanismFile, visits: Visits) -> None:
    if file.tupling is not None:
        raise InputError(f"{name} reports tuples, which are not compared for points.", "compare it on its cells.")
    if name in NAMES:
        raise InputError(f"a file has the name of a row, {name!r}.", "rename it.")
    if file.has_matrix:
        mask = _places_of(name, file).inside(visits.lat, visits.lon)
    else:
        mask = file.noise.serves(visits.lat, visits.lon)
    if not mask.all():
        raise InputError(
            f"{name} does not serve {int((~mask).sum()):,} of the {len(visits):,} visits.",
            "choose a region that it serves.",
        )


def _places_of(name: str, file: MechanismFile) -> Places:
    places = file.report_channel.secrets
    if not isinstance(places, Places):
        raise InputError(f"{name} is for {places!r}, not for points.", "use a file for a lattice or for cells.")
    return places


def _file_rows(
    name: str, file: MechanismFile, visits: Visits, at_epsilon: bool, value: float, clock: Clock
) -> Iterator[PlaceRow]:
    """Yield the row of a mechanism file; at equal loss its epsilon is what is proved of it."""
    check_time(clock.total())
    candidate = _noise_of_file(name, file, visits) if not file.has_matrix else _matrix_of_file(name, file, visits)
    row = candidate.attack_row if clock.total() else candidate.row
    yield replace(row, epsilon=value if at_epsilon else row.epsilon_upper)


def _noise_of_file(name: str, file: MechanismFile, visits: Visits) -> Candidate:
    noise, proof = file.noise, file.noise_proof
    error = noise.error(_points_of(noise, visits), np.ones(len(visits)))
    epsilon = up(proof.upper * units.factor(UNIT, proof.promise.unit)) if proof.holds else math.inf
    metre = _metre(epsilon, proof.slack_m)
    row = PlaceRow(name, epsilon, epsilon, proof.slack_m, _in_km(error.loss), None, metre, repr(noise))
    return Candidate(row, lambda: _in_km(error.attacker))


def _points_of(noise: CoordinateNoise, visits: Visits) -> Floats:
    if noise.projection is None:
        raise InputError("noise for visits has no plane.", "make it for visits.")
    return noise.projection.forward(visits.lat, visits.lon)


def _matrix_of_file(name: str, file: MechanismFile, visits: Visits) -> Candidate:
    mechanism, places = file.report_channel, _places_of(name, file)
    epsilon, slack, metre = math.inf, 0.0, Bracket(1.0, math.inf, math.inf)
    promise = next((guarantee for guarantee in file.guarantees if isinstance(guarantee, VertexPrivacy)), None)
    if promise is not None:
        proof = prove_coordinate_privacy(mechanism, promise)
        epsilon, slack = up(proof.upper * units.factor(UNIT, proof.unit)), proof.slack_m
        metre = _metre(epsilon, slack)
    else:
        with suppress(InputError):  # no cells of a grid: nothing is known of two points a metre apart
            metre = worst_border(mechanism).factor
    loss = places.loss(visits, unit=UNIT, observables=mechanism.observables)
    bracket = _loss_of(mechanism, Prior.from_visits(places, visits), loss)
    detail = f"{places!r}, {mechanism.shape[1]} reports"
    row = PlaceRow(name, epsilon, epsilon, slack, bracket, None, metre, detail)
    return Candidate(row, lambda: true_place(mechanism, visits, unit=UNIT).error)


def _loss_of(mechanism: Mechanism, prior: Prior, loss: AnyLoss) -> Bracket:
    value = mechanism.expected_loss(prior, loss)
    upper = up(expected_loss_above(mechanism, prior, loss) * (1 + _ROUNDING))
    return Bracket(max(0.0, value * (1 - _ROUNDING)), min(value, upper), upper)


class Candidate(NamedTuple):
    """A mechanism, measured, and the attack on it, which is only made where it is needed."""

    row: PlaceRow
    attack: Callable[[], Bracket]

    @property
    def attack_row(self) -> PlaceRow:
        """The row with the attacker's error."""
        return replace(self.row, attacker_error=self.attack())


@dataclass(slots=True)
class _PlaceFamilies:
    """Families for some visits; at equal loss a chosen spacing is the finest: losses depend on epsilon alone."""

    visits: Visits
    region: Region
    spacing: float | None  # metres
    most: int  # vertices of a lattice whose spacing is chosen
    gap: float
    bound_time: float
    equal: str
    bounds: list[CoordinateBound] = field(default_factory=list)
    noises: dict[float, Design] = field(default_factory=dict)  # by epsilon; two families share them
    start: tuple[float, float] | None = None  # at equal loss: epsilon and slope where the next search begins
    least: float = math.inf  # at equal loss: the least epsilon with a guarantee for any two points

    def contestants(self) -> list[Contestant[PlaceRow]]:
        """Return the families in the order in which they are made, and the bound."""
        row, bound = (self._row, self._bound) if self.equal == "epsilon" else (self._match, self._search_bound)
        entries = [
            Contestant(name, part, partial(row, name), partial(_failure, name)) for name, part in _PARTS.items()
        ]
        if self.bound_time:
            entries.append(Contestant(ANY, _PART_OF_BOUND, bound, partial(_failure, ANY)))
        return entries

    def _row(self, name: str, epsilon: float, clock: Clock) -> Iterator[PlaceRow]:
        candidate = self._candidate(name, epsilon, clock.left())
        yield candidate.attack_row if clock.total() else candidate.row

    def _match(self, name: str, limit: float, clock: Clock) -> Iterator[PlaceRow]:
        """Yield the row at a loss; the search for a program begins at the epsilon of the noise."""
        noise = _NOISE_FACTOR * 2 / limit
        first, slope = (noise, -1.0) if name == RAW else self.start or (noise, SLOPE)
        row, slope = match_loss(
            lambda epsilon: self._candidate(name, epsilon, clock.left()), name, limit, first, slope
        )
        if name == REMAP and not row.problem:
            self.start = row.epsilon, slope
        if math.isfinite(row.epsilon_upper):
            self.least = min(self.least, row.epsilon)
        yield row

    def _bound(self, epsilon: float, clock: Clock) -> Iterator[PlaceRow]:
        yield self._bound_row(self._prove(epsilon, clock), epsilon)

    def _search_bound(self, limit: float, clock: Clock) -> Iterator[PlaceRow]:
        """Yield a large epsilon at which every mechanism loses more than the limit."""
        if math.isinf(self.least):
            return
        best: CoordinateBound | None = None
        epsilon, most = _FIRST * self.least, self.least
        for _ in range(_BOUNDS):
            epsilon = float(f"{epsilon:.{_DIGITS}g}")
            bound = self._prove(epsilon, clock)
            if bound is None:
                break
            if bound.lower <= limit:
                most = epsilon
            elif best is None or bound.epsilon > best.epsilon:
                best = bound
            if limit < bound.lower < _GOOD_RATIO * limit:
                break
            epsilon = min(_BACKOFF * most, _BACKOFF * epsilon * (bound.lower / limit) ** _POWER)
            if best is not None and epsilon <= best.epsilon:
                break
        yield self._bound_row(best, epsilon)

    def _prove(self, epsilon: float, clock: Clock) -> CoordinateBound | None:
        """Return the bound for an epsilon; None without time to prove one."""
        seconds = min(self.bound_time, clock.left())
        if not seconds > 0:
            return None
        bound = coordinate_bound(self.visits, epsilon, unit=UNIT, time_limit=seconds)
        return bound if bound.lower > 0 else None

    def _bound_row(self, bound: CoordinateBound | None, epsilon: float) -> PlaceRow:
        if bound is None:
            return PlaceRow.of_problem(ANY, epsilon, NOT_REACHED)
        self.bounds.append(bound)
        detail = f"proved with {bound.heads} places as secrets"
        return PlaceRow(ANY, bound.epsilon, bound.epsilon, 0.0, bound.least, None, None, detail)

    def _candidate(self, name: str, epsilon: float, seconds: float) -> Candidate:
        """Return a family's mechanism of an epsilon, the best so far of a program; SolverError without time."""
        check_time(seconds)
        return (self._noise if name in (RAW, REMAP) else self._program)(name, epsilon, seconds)

    def _lattice(self, kind: Kind, epsilon: float) -> Lattice:
        if self.spacing is not None:
            return Lattice.covering(self.visits, self.spacing, kind=kind, region=self.region)
        promise = CoordinatePrivacy(epsilon, UNIT) if self.equal == "epsilon" else None
        return choose_lattice(self.visits, promise, most=self.most, kind=kind, region=self.region).lattice

    def _program(self, name: str, epsilon: float, seconds: float) -> Candidate:
        lattice = self._lattice(_KINDS.get(name, "square"), epsilon)
        places: Places = lattice
        promise: CoordinatePrivacy | MetricPrivacy = CoordinatePrivacy(epsilon, UNIT)
        if name == CELLS:
            places = Grid.covering(self.visits, lattice.spacing_m, region=self.region)
            promise = MetricPrivacy(epsilon, places.metric("euclidean", unit=UNIT))
        best = design_program(places, self.visits, promise, self.gap, seconds, medians=self.visits)
        mechanism, epsilon_upper, ending = best.mechanism, best.certificate.epsilon_upper, ""
        if name == CELLS:  # two points on the two sides of a border may be as near as one likes
            slack_m, metre = 0.0, worst_border(mechanism).factor
            epsilon_upper = math.inf if metre.lower > 1 else epsilon_upper
        else:
            slack_m, metre = lattice.slack_m, _metre(epsilon_upper, lattice.slack_m)
        if not best.is_finished:
            gap = gap_at_most(best.certificate.gap)
            ending = f"stopped by the time limit, at most {gap} above the least with its reports"
        detail = f"{places!r}, {mechanism.shape[1]} reports"
        loss = _loss_of(mechanism, best.problem.prior, best.problem.loss)
        row = PlaceRow(name, epsilon, epsilon_upper, slack_m, loss, None, metre, detail, stopped=ending)
        return Candidate(row, lambda: true_place(mechanism, self.visits, unit=UNIT).error)

    def _noise(self, name: str, epsilon: float, seconds: float) -> Candidate:
        if epsilon not in self.noises:
            places = self._lattice("square", epsilon)
            self.noises[epsilon] = design(
                Prior.from_visits(places, self.visits),
                loss=places.loss(self.visits, unit=UNIT),
                guarantees=CoordinatePrivacy(epsilon, UNIT),
                method="noise",
                time_limit=seconds,
            )
        best = self.noises[epsilon]
        noise, proof = best.mechanism, best.certificate.privacy
        loss = best.certificate.loss
        if name == RAW:
            points = _points_of(noise, self.visits)
            raw = raw_error(points, np.ones(len(points)), noise.noise.rate, noise.step_m)
            loss = Bracket(down(raw.lower / stretch(noise.reach_m)), raw.value, raw.upper)
        row = PlaceRow(
            name,
            epsilon,
            proof.upper if proof.holds else np.inf,
            proof.slack_m,
            _in_km(loss),
            None,
            _metre(proof.upper, proof.slack_m),
            f"a lattice of {amount_at_most(float(noise.step_m), 'm')}",
        )
        # What is replaced by the table tells no more than the report before it.
        return Candidate(row, lambda: _in_km(best.certificate.attacker))


def design_program(
    places: Places,
    visits: Visits,
    promise: CoordinatePrivacy | MetricPrivacy,
    gap: float,
    seconds: float = float("inf"),
    *,
    medians: Visits | None = None,
) -> Design:
    """Return the program for visits on a lattice or on cells, with reports at medians where they are given."""
    return design(
        Prior.from_visits(places, visits),
        loss=places.loss(visits, unit=UNIT),
        guarantees=promise,
        gap=gap,
        tie_break=False,
        time_limit=seconds,
        medians=medians,
        method="table",
    )


def match_loss(
    make: Callable[[float], Candidate], name: str, limit: float, first: float, slope: float = SLOPE
) -> tuple[PlaceRow, float]:
    """Return the row of the least epsilon, per kilometre, whose loss is found within 1 % below a limit.

    The secant method in logarithms, kept between an epsilon that loses too much and one that does not. The slope,
    a guess first and then returned too, is of the logarithm of the loss by that of epsilon.
    """
    x = math.log(first)
    low, high = -math.inf, math.inf  # logarithms of an epsilon that loses too much, and of one that does not
    before: tuple[float, float] | None = None
    best: Candidate | None = None
    problem = "no epsilon that was tried loses so little."
    for _ in range(_TRIES):
        try:
            candidate = make(math.exp(x))
        except SolverError:
            problem = NOT_REACHED
            break
        except SfumatoError as error:
            problem = error.problem
            break
        loss = candidate.row.loss.upper
        if loss <= limit and (best is None or candidate.row.epsilon < best.row.epsilon):
            best = candidate
        value = math.log(loss / limit) + _TOLERANCE / 2
        if abs(value) <= _TOLERANCE / 2:
            break
        low, high = (x, high) if value > 0 else (low, x)
        if before is not None and x != before[0]:
            slope = min(max((value - before[1]) / (x - before[0]), _STEEPEST), _FLATTEST)
        before = (x, value)
        x -= value / slope
        if not low < x < high:
            x = (low + high) / 2
    if best is None:
        return PlaceRow.of_problem(name, math.exp(x), problem), slope
    return best.attack_row, slope


def _failure(name: str, value: float, error: SfumatoError, _: Clock) -> PlaceRow:
    return PlaceRow.of_problem(name, value, NOT_REACHED if isinstance(error, SolverError) else error.problem)


def _metre(epsilon: float, slack_m: float) -> Bracket:
    """Return the proved factor of two points a metre apart, for epsilon per kilometre."""
    upper = float(
        exp_above(np.array([up(epsilon * units.factor("m", UNIT) * up(1 + slack_m)) * (1 + _ROUNDING)]))[0]
    )
    return Bracket(1.0, upper, upper)


def _in_km(metres: Bracket) -> Bracket:
    return Bracket(
        metres.lower / 1000 * (1 - _ROUNDING), metres.value / 1000, metres.upper / 1000 * (1 + _ROUNDING)
    )
