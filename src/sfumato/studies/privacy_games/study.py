"""Scenarios 1 and 2 of "Privacy Games" for real users: what three optimal mechanisms cost, and what they hide.

For each user a map is laid where they have most visits, and cut into cells. Their prior is how often they visit
each cell; the cost of a report is 0 where it is the true cell and 1 elsewhere (Hamming); the error of attackers is
the Euclidean distance. Then, for every epsilon:

- *metric*: the mechanism of least cost with metric privacy epsilon, for all pairs of cells (equation 22);
- *distortion*: that of least cost against which the best attacker errs by at least d_m (equation 21);
- *joint*: that of least cost with both (equation 24).

In scenario 1, d_m is the error of the best attacker against *metric*; in scenario 2 it lies halfway between that
and the most that any mechanism can force. Each mechanism is attacked by the best attacker (equation 19) and by
one who draws their guess from their posterior (equation 25). In section 9.2 the user is more often at the two
likeliest cells than the design assumed; the best attacker either knows that, or believes the design's prior.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Final

from ...attacks import bayes, blind, misinformed, optimal
from ...core import DistortionPrivacy, MetricPrivacy, hamming
from ...core.frozen import Short
from ...evidence import distortion_below
from ...geo import Visits
from ...optimal import Auto, Design, design
from ..results import TableRow, columns_of
from .people import Person, choose

METRIC: Final = "metric"
DISTORTION: Final = "distortion"
JOINT: Final = "joint"

EPSILONS: Final = (0.15, 0.3, 0.45, 0.6, 0.75, 0.9)
"""Per km."""

SHARES: Final = (0.0, 0.2, 0.4, 0.6, 0.8)
"""The shares of section 9.2."""

# At the most error that any mechanism can force, the distortion rows have no interior.
_MOST: Final = 1 - 1e-3
_TIGHT: Final = 1e-6  # the relative gap of the repeated designs


@dataclass(frozen=True, slots=True, repr=False)
class GameRow(Short):
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
    seconds: float
    status: str
    proved: bool


@dataclass(frozen=True, slots=True)
class InformedRow:
    """Attackers of one design of scenario 1 who know more than it assumed (section 9.2); errors in km.

    The share ``sharper`` of the user's visits moved to the two likeliest cells.
    """

    user: int
    epsilon: float
    mechanism: str
    sharper: float
    error_informed: float
    error_expected: float
    error_blind: float


@dataclass(frozen=True, slots=True, repr=False)
class PrivacyGamesResults(Short):
    """Results of the games so far.

    Attributes:
        designs: A row for each design.
        informed: A row for each design of scenario 1 and share of section 9.2.
        gap: The relative gap to the optimal cost that was asked for.
    """

    designs: tuple[GameRow, ...]
    informed: tuple[InformedRow, ...]
    gap: float

    @property
    def tables(self) -> dict[str, list[TableRow]]:
        """All rows of both kinds."""
        return {
            "privacy_games": [columns_of(row) for row in self.designs],
            "privacy_games_informed": [columns_of(row) for row in self.informed],
        }


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """The games of one user: scenario 2 if ``more``, the distortion mechanism if ``single``."""

    person: Person
    epsilons: tuple[float, ...]
    gap: float
    more: bool
    threads: int
    single: bool = True
    sharper: tuple[float, ...] = ()


def study(
    data: Sequence[tuple[str, Visits]],
    *,
    users: int = 10,
    least: int = 200,
    seed: int = 1,
    epsilons: Sequence[float] = EPSILONS,
    gap: float = 1e-4,
    second: int = 2,
    tight: int = 0,
    sharper: Sequence[float] = SHARES,
    shape: tuple[int, int] = (20, 15),
    size_km: tuple[float, float] = (15.0, 8.0),
    processes: int = 1,
    progress: Callable[[str], None] | None = None,
    partial: Callable[[PrivacyGamesResults], object] | None = None,
) -> PrivacyGamesResults:
    """Play the games of users drawn at random, in turn from each source.

    Args:
        data: The name of each source and its visits, which must have users.
        users: How many users.
        least: Only users with at least this many visits on their maps.
        seed: Of the draw of users.
        epsilons: Per km.
        gap: The relative gap to the optimal cost that is proved.
        second: How many of the users also play scenario 2.
        tight: For how many users to repeat the least and the largest epsilon at a gap of 1e-6.
        sharper: The shares of visits that move to the two likeliest cells (section 9.2).
        shape: Columns and rows of each map.
        size_km: Width and height of each map.
        processes: How many users at a time; one user by themselves takes two threads.
        progress: Called with a line for each user and each design.
        partial: Called after each user with all results so far, such as to save them.

    Raises:
        DataError: If no user has enough visits on one map.

    Source:
        R. Shokri, "Privacy Games: Optimal User-Centric Data Obfuscation", PoPETs 2015, section 9.
    """
    tell = progress or (lambda _: None)
    columns, lines = shape
    width, height = size_km
    people = choose(
        data, users, shape=(columns, lines), size_m=(1000 * width, 1000 * height), least=least, seed=seed
    )
    for person in people:
        tell(f"user {person.number} of {person.source}: {person.visits} visits; {person.prior}")
    wanted = tuple(sorted(epsilons))
    outer = tuple(sorted({wanted[0], wanted[-1]}))
    threads = 2 if processes == 1 else 1
    shares = tuple(sorted(sharper))
    tasks = [_Task(p, wanted, gap, p.number <= second, threads, sharper=shares) for p in people]
    tasks += [_Task(p, outer, _TIGHT, False, threads, single=False) for p in people[:tight]]
    found = PrivacyGamesResults((), (), gap)
    for designs, informed in _played(tasks, processes):
        for row in designs:
            tell(
                f"user {row.user}, scenario {row.scenario}, epsilon {row.epsilon:g}/km, {row.mechanism}: "
                f"cost {row.cost:.6f}, error {row.error_best:.3f} km (Bayesian {row.error_bayes:.3f}), "
                f"gap {row.gap:.1e} in {row.seconds:.1f} s, {row.status}, {'' if row.proved else 'not '}proved"
            )
        found = PrivacyGamesResults((*found.designs, *designs), (*found.informed, *informed), gap)
        if partial is not None:
            partial(found)
    return found


def _played(tasks: Sequence[_Task], processes: int) -> Iterator[tuple[list[GameRow], list[InformedRow]]]:
    """Yield what each task found, in order."""
    if processes == 1:
        yield from map(_play, tasks)
        return
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(_play, tasks)


def _play(task: _Task) -> tuple[list[GameRow], list[InformedRow]]:
    """Return the designs of one user, attacked, and what attackers who know more achieve against them."""
    person, gap = task.person, task.gap
    prior, city = person.prior, person.prior.space
    d = city.metric("euclidean", unit="km")
    cost = hamming(city)
    most = blind(prior, d).error
    rows: list[GameRow] = []
    informed: list[InformedRow] = []

    def made(scenario: int, epsilon: float, name: str, minimum: float | None, start: Design | None) -> Design:
        guarantees: list[MetricPrivacy | DistortionPrivacy] = []
        if name != DISTORTION:
            guarantees.append(MetricPrivacy(epsilon, d))
        if minimum is not None:
            guarantees.append(DistortionPrivacy(minimum, d))
        found = design(
            prior,
            loss=cost,
            guarantees=guarantees,
            solver=Auto(task.threads),
            gap=gap,
            tie_break=False,
            start=start,
        )
        proof, mechanism = found.certificate, found.mechanism
        rows.append(
            GameRow(
                scenario=scenario,
                user=person.number,
                source=person.source,
                visits=person.visits,
                possible_cells=len(prior.support),
                blind_error=most,
                epsilon=epsilon,
                mechanism=name,
                distortion_asked=minimum,
                cost=proof.loss,
                cost_lower_bound=proof.lower_bound,
                gap_asked=gap,
                gap=proof.gap,
                epsilon_upper=proof.epsilon_upper if name != DISTORTION else None,
                distortion_lower=distortion_below(mechanism, prior, d),
                error_best=optimal(mechanism, prior, d).error,
                error_bayes=bayes(mechanism, prior, d).error,
                iterations=len(found.log),
                seconds=found.seconds,
                status=found.status.name,
                proved=proof.holds,
            )
        )
        if scenario == 1:
            for share in task.sharper:
                truth = prior.sharpened(share)
                errors = (
                    optimal(mechanism, truth, d).error,
                    misinformed(mechanism, truth, d, prior).error,
                    blind(truth, d).error,
                )
                informed.append(InformedRow(person.number, epsilon, name, share, *errors))
        return found

    metric: Design | None = None
    for epsilon in task.epsilons:
        metric = made(1, epsilon, METRIC, None, metric)
        reached = rows[-1].distortion_lower
        wanted = {1: min(reached, _MOST * most)}
        if task.more:
            wanted[2] = min((reached + most) / 2, _MOST * most)
        for scenario, minimum in wanted.items():
            if task.single:
                made(scenario, epsilon, DISTORTION, minimum, None)
            made(scenario, epsilon, JOINT, minimum, metric)
    return rows, informed
