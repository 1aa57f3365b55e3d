"""Users, their optimal mechanisms in scenarios 1 to 3 of "Privacy Games", and the errors of attackers.

A user's prior is how often they visit each cell of their map; the cost of a report is 0 where it is the true cell
and 1 elsewhere (Hamming); the error of attackers is the Euclidean distance. The mechanisms are

- *metric*: least cost with metric privacy epsilon, for all pairs of cells (equation 22);
- *distortion*: least cost with an error of the best attacker of at least d_m (equation 21);
- *joint*: least cost with both constraints (equation 24).

In scenario 1, d_m is the error of the best attacker against *metric*; in scenario 2 it lies halfway between that
and the most that any mechanism can force. Each mechanism is attacked by the best attacker (equation 19) and by
one who draws the guess from the posterior (equation 25). In section 9.2 the user is more often at the two
most likely cells than the design assumed; the best attacker either knows that, or believes the design's prior.
In scenario 3, epsilon and d_m are chosen separately. Five points on a line show that *joint* can cost more than
both others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Any, Final

import numpy as np

from sfumato.attacks import bayes, blind, evaluate, misinformed_attack, optimal
from sfumato.core import DistortionPrivacy, Guarantee, Metric, MetricPrivacy, Prior, Space, hamming
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import DataError
from sfumato.geo import Grid, Projection, Visits
from sfumato.optimal import Auto, Design, design, equilibrium
from sfumato.proofs import distortion_below

from ..reproduction import Tables

METRIC: Final = "metric"
DISTORTION: Final = "distortion"
JOINT: Final = "joint"
NAMES: Final = (METRIC, DISTORTION, JOINT)

GAMES: Final = "privacy_games"
INFORMED: Final = "privacy_games_informed"
PRICES: Final = "prices"
APART: Final = "apart"
LINE: Final = "line"
SLOPES: Final = "slopes"

_MOST: Final = 1 - 1e-3  # of the error that can be forced: at all of it the distortion rows have no interior
_ROOM: Final = 0.98  # the same where prices are compared with slopes
_STEP: Final = 0.2  # of what is left above d_m, of slopes
_EPSILON: Final = 1.0  # of the five points
_DISTORTIONS: Final = (0.25, 0.5, 0.75, 1.0)
_GAP: Final = 1e-8


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Person(CompactRepr):
    """A user's map and habits; the number stands for the name."""

    number: int
    source: str
    city: Grid
    prior: Prior
    visits: int


def choose(
    data: Sequence[tuple[str, Visits]],
    number: int,
    *,
    shape: tuple[int, int],
    size_m: tuple[float, float],
    least: int,
    seed: int,
) -> list[Person]:
    """Return users drawn at random, in turn from each source, of those with enough visits on their own maps."""
    random = np.random.Generator(np.random.PCG64(seed))
    queues = []
    for source, visits in data:
        busy = [user for user, count in visits.users().items() if count >= least]
        queues.append((source, visits, [busy[k] for k in random.permutation(len(busy))]))
    cell = (size_m[0] / shape[0], size_m[1] / shape[1])
    people: list[Person] = []
    while len(people) < number and any(users for *_, users in queues):
        for source, visits, users in queues:
            while users and len(people) < number:
                user_visits = visits.of_user(users.pop())
                plane = Projection(float(np.median(user_visits.lat)), float(np.median(user_visits.lon)))
                corner, visit_count = densest_corner(plane.forward(user_visits.lat, user_visits.lon), size_m)
                city = Grid(*shape, cell, (float(corner[0]), float(corner[1])), plane.crs)
                prior = Prior.from_visits(city, user_visits)
                if visit_count >= least and len(prior.support) > 1:
                    people.append(Person(len(people) + 1, source, city, prior, visit_count))
                    break
    if not people:
        width, height = (f"{side / 1000:g} km" for side in size_m)
        raise DataError(
            f"no user has {least} visits, in more than one cell, on one map of {width} x {height}.",
            "give visits of people who have more, with a column that says whose each is.",
        )
    return people


def densest_corner(xy: Floats, size: tuple[float, float]) -> tuple[Floats, int]:
    """Return the south-west corner of a rectangle of given size that holds most points, and how many it holds."""
    ordered = xy[np.argsort(xy[:, 1])]
    most, corner = 0, xy[0]
    for west in np.unique(xy[:, 0]):
        y = ordered[(ordered[:, 0] >= west) & (ordered[:, 0] <= west + size[0]), 1]
        counts = np.searchsorted(y, y + size[1], side="right") - np.arange(len(y))
        if counts.max() > most:
            most, corner = int(counts.max()), np.array([west, y[np.argmax(counts)]])
    inside = xy[((xy >= corner) & (xy <= corner + size)).all(axis=1)]
    return (inside.min(axis=0) + inside.max(axis=0) - size) / 2, most


@dataclass(frozen=True, slots=True, repr=False)
class GameRow(CompactRepr):
    """One design of one user; lengths in km, epsilon per km, the cost is the share of false cells."""

    scenario: int
    user: int
    source: str
    visits: int
    possible_cells: int
    blind_error: float
    epsilon: float
    mechanism: str
    distortion_asked: float | None
    cost: float
    cost_lower_bound: float
    gap_asked: float
    gap: float
    epsilon_upper: float | None
    distortion_lower: float
    error_best: float
    error_bayes: float
    iterations: int
    status: str
    proved: bool


Game = tuple[GameRow, GameRow, GameRow]  # *metric*, *distortion* and *joint* of one user and epsilon


@dataclass(frozen=True, slots=True)
class InformedRow:
    """Attackers of one design of scenario 1 who know more than it assumed (section 9.2); errors in km."""

    user: int
    epsilon: float
    mechanism: str
    sharper: float  # share of the visits that moved to the two most likely cells
    error_informed: float
    error_expected: float
    error_blind: float


@dataclass(frozen=True, slots=True)
class PriceRow:
    """The equilibrium of one design with a distortion; errors in km, the price in shares of false cells per km."""

    scenario: int
    user: int
    epsilon: float
    mechanism: str
    distortion_asked: float
    price: float
    error_lower: float  # proved: what the mechanism forces on every attacker
    error_upper: float  # proved: what no mechanism of the same guarantee and cost exceeds


class UserGame:
    """One user's game: costs, errors of attackers, and designs."""

    def __init__(self, person: Person) -> None:
        self.person, self.prior = person, person.prior
        city = person.prior.space
        self.distance = city.metric("euclidean", unit="km")
        self.cost = hamming(city)
        self.most = blind(self.prior, self.distance).error

    def limit(self, minimum: float) -> float:
        """Return a distortion, limited so that the programs have an interior."""
        return min(minimum, _MOST * self.most)

    def design(
        self,
        epsilon: float | None,
        minimum: float | None,
        gap: float,
        start: Design | None = None,
        apart: Metric | None = None,
    ) -> Design:
        """Return the mechanism of least cost with the given constraints; ties are not broken."""
        guarantees: list[Guarantee] = []
        if epsilon is not None:
            guarantees.append(MetricPrivacy(epsilon, apart or self.distance))
        if minimum is not None:
            guarantees.append(DistortionPrivacy(minimum, self.distance))
        return design(
            self.prior,
            loss=self.cost,
            guarantees=guarantees,
            solver=Auto(1),  # the same on every machine's number of cores
            gap=gap,
            tie_break=False,
            start=start,
        )

    def measures(self, name: str, design: Design) -> dict[str, Any]:
        """Return the columns that rows of all scenarios have."""
        proof = design.certificate
        return {
            "user": self.person.number,
            "blind_error": self.most,
            "mechanism": name,
            "cost": proof.loss,
            "cost_lower_bound": proof.lower_bound,
            "epsilon_upper": proof.epsilon_upper if name != DISTORTION else None,
            "distortion_lower": distortion_below(design.mechanism, self.prior, self.distance),
            "error_best": optimal(design.mechanism, self.prior, self.distance).error,
            "proved": proof.holds,
        }

    def row(self, scenario: int, epsilon: float, name: str, minimum: float | None, design: Design) -> GameRow:
        """Return a design of scenario 1 or 2, attacked."""
        return GameRow(
            scenario=scenario,
            source=self.person.source,
            visits=self.person.visits,
            possible_cells=len(self.prior.support),
            epsilon=epsilon,
            distortion_asked=minimum,
            gap_asked=design.enough,
            gap=design.certificate.gap,
            error_bayes=bayes(design.mechanism, self.prior, self.distance).error,
            iterations=len(design.log),
            status=design.status.name,
            **self.measures(name, design),
        )

    def informed_row(self, epsilon: float, name: str, design: Design, share: float) -> InformedRow:
        """Return errors of attackers who know more than the design assumed."""
        mechanism, truth, d = design.mechanism, self.prior.sharpen(share), self.distance
        best, wrong = optimal(mechanism, truth, d).error, misinformed_attack(mechanism, truth, d, self.prior).error
        return InformedRow(self.person.number, epsilon, name, share, best, wrong, blind(truth, d).error)


def play_scenarios(person: Person, epsilon: float, gap: float, shares: Sequence[float]) -> Tables:
    """Play scenarios 1 and 2 with one user and one epsilon."""
    game = UserGame(person)
    tables: dict[str, list[object]] = {GAMES: [], INFORMED: [], PRICES: []}

    def add(scenario: int, name: str, minimum: float | None, design: Design) -> GameRow:
        row = game.row(scenario, epsilon, name, minimum, design)
        tables[GAMES].append(row)
        if scenario == 1:
            tables[INFORMED] += [game.informed_row(epsilon, name, design, share) for share in shares]
        if minimum is not None:
            both = equilibrium(design)
            ends = (both.price, both.error_lower, both.error_upper)
            tables[PRICES].append(PriceRow(scenario, person.number, epsilon, name, minimum, *ends))
        return row

    metric = game.design(epsilon, None, gap)
    distortion = add(1, METRIC, None, metric).distortion_lower
    for scenario, minimum in ((1, game.limit(distortion)), (2, game.limit((distortion + game.most) / 2))):
        add(scenario, DISTORTION, minimum, game.design(None, minimum, gap))
        add(scenario, JOINT, minimum, game.design(epsilon, minimum, gap, metric))
    return tables


def repeat_designs(person: Person, epsilon: float, gap: float) -> Tables:
    """Repeat *metric* and *joint* of scenario 1 at a smaller gap, to rule out inaccuracy."""
    game = UserGame(person)
    metric = game.design(epsilon, None, gap)
    first = game.row(1, epsilon, METRIC, None, metric)
    minimum = game.limit(first.distortion_lower)
    joint = game.design(epsilon, minimum, gap, metric)
    return {GAMES: [first, game.row(1, epsilon, JOINT, minimum, joint)]}


def triples(games: Iterable[GameRow], scenario: int) -> list[Game]:
    """Return *metric*, *distortion* and *joint* of each user and epsilon in a scenario."""
    by = {(row.scenario, row.user, row.epsilon, row.mechanism): row for row in games}
    return [
        (by[1, user, epsilon, METRIC], by[scenario, user, epsilon, DISTORTION], row)
        for (number, user, epsilon, name), row in by.items()
        if number == scenario and name == JOINT
    ]


@dataclass(frozen=True, slots=True, repr=False)
class ApartRow(CompactRepr):
    """One design of scenario 3, in the units of `GameRow`; *joint* is *metric* itself where that forces d_m."""

    user: int
    blind_error: float
    epsilon: float | None
    distortion_asked: float | None
    mechanism: str
    met: bool  # whether metric forces d_m, so that joint is not designed
    cost: float
    cost_lower_bound: float
    epsilon_upper: float | None
    distortion_lower: float
    error_best: float
    proved: bool


Apart = tuple[ApartRow, ApartRow, ApartRow]  # *metric*, *distortion* and *joint* of one user, epsilon and d_m


def _distortions(game: UserGame, step: float) -> Iterator[float]:
    """Yield d_m: the multiples of a step below the most that can be forced, and then that, all in km."""
    most = game.limit(game.most)
    yield from takewhile(lambda minimum: minimum < most, (k * step for k in count(1)))
    yield most


def design_joint(person: Person, epsilon: float, step: float, gap: float) -> Tables:
    """Design *metric*, and *joint* for each d_m of scenario 3."""
    game = UserGame(person)
    metric = game.design(epsilon, None, gap)
    plain = _row(game, METRIC, epsilon, None, metric)
    rows, start = [plain], metric
    for minimum in _distortions(game, step):
        met = plain.distortion_lower >= minimum
        if not met:
            start = game.design(epsilon, minimum, gap, start)
        rows.append(_row(game, JOINT, epsilon, minimum, metric if met else start, met=met))
    return {APART: rows}


def design_distortion(person: Person, step: float, gap: float) -> Tables:
    """Design *distortion* for each d_m of scenario 3."""
    game = UserGame(person)
    rows = [
        _row(game, DISTORTION, None, minimum, game.design(None, minimum, gap))
        for minimum in _distortions(game, step)
    ]
    return {APART: rows}


def _row(
    game: UserGame, name: str, epsilon: float | None, minimum: float | None, design: Design, *, met: bool = False
) -> ApartRow:
    return ApartRow(epsilon=epsilon, distortion_asked=minimum, met=met, **game.measures(name, design))


def apart_triples(rows: Iterable[ApartRow]) -> list[Apart]:
    """Return *metric*, *distortion* and *joint* of each user, epsilon and d_m of scenario 3."""
    by = {(row.user, row.epsilon, row.distortion_asked): row for row in rows}
    return [
        (by[user, epsilon, None], by[user, None, minimum], row)
        for (user, epsilon, minimum), row in by.items()
        if row.mechanism == JOINT
    ]


@dataclass(frozen=True, slots=True, repr=False)
class LineRow(CompactRepr):
    """Least costs on five points; each lies between its lower bound and itself."""

    epsilon: float
    distortion_asked: float
    metric: float
    distortion: float
    joint: float
    joint_lower_bound: float


def five_points() -> Tables:
    """Design the three mechanisms on five points for several distortions."""
    space = Space.numbers(range(5))
    prior, d, cost = Prior.uniform(space), space.metric("absolute"), hamming(space)
    metric = MetricPrivacy(_EPSILON, d)
    rows = []
    for minimum in _DISTORTIONS:
        distortion = DistortionPrivacy(minimum, d)
        alternatives: tuple[list[Guarantee], ...] = ([metric], [distortion], [metric, distortion])
        first, second, both = (
            design(prior, loss=cost, guarantees=guarantees, solver=Auto(1), gap=_GAP, tie_break=False).certificate
            for guarantees in alternatives
        )
        rows.append(LineRow(_EPSILON, minimum, first.loss, second.loss, both.loss, both.lower_bound))
    return {LINE: rows}


@dataclass(frozen=True, slots=True, repr=False)
class SlopeRow(CompactRepr):
    """The price of d_m, between proved slopes of the least cost, a convex function of d_m; km, prices per km."""

    user: int
    mechanism: str
    epsilon: float | None
    distortion_asked: float
    step: float
    cost: float
    price: float
    slope_below: float
    slope_above: float
    error_lower: float
    error_upper: float
    error_strategy: float  # of an attacker with the equilibrium strategy


def compare_prices(person: Person, epsilon: float, gap: float) -> Tables:
    """Design *distortion* and *joint* at three values of d_m, and compare the price of the middle one."""
    game = UserGame(person)
    metric = game.design(epsilon, None, gap)
    distortion = distortion_below(metric.mechanism, game.prior, game.distance)
    middle = min((distortion + game.most) / 2, _ROOM * game.most)
    step = _STEP * (game.most - middle)
    rows = []
    for name, level in ((DISTORTION, None), (JOINT, epsilon)):
        below, here, above = (game.design(level, middle + k * step, gap) for k in (-1, 0, 1))
        both = equilibrium(here)
        less, proof, more = below.certificate, here.certificate, above.certificate
        row = SlopeRow(
            user=person.number,
            mechanism=name,
            epsilon=level,
            distortion_asked=middle,
            step=step,
            cost=proof.loss,
            price=both.price,
            slope_below=(proof.lower_bound - less.loss) / step,
            slope_above=(more.loss - proof.lower_bound) / step,
            error_lower=both.error_lower,
            error_upper=both.error_upper,
            error_strategy=evaluate(here.mechanism, game.prior, game.distance, both.strategy).error,
        )
        rows.append(row)
    return {SLOPES: rows}
