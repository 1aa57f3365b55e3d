"""Scenarios 1 and 2 of "Privacy Games" for one user and one epsilon: three optimal mechanisms, attacked.

A user's prior is how often they visit each cell of their map; the cost of a report is 0 where it is the true cell
and 1 elsewhere (Hamming); the error of attackers is the Euclidean distance. The mechanisms are

- *metric*: least cost with metric privacy epsilon, for all pairs of cells (equation 22);
- *distortion*: least cost with an error of the best attacker of at least d_m (equation 21);
- *joint*: least cost with both constraints (equation 24).

In scenario 1, d_m is the error of the best attacker against *metric*; in scenario 2 it lies halfway between that
and the most that any mechanism can force. Each mechanism is attacked by the best attacker (equation 19) and by
one who draws the guess from the posterior (equation 25). In section 9.2 the user is more often at the two
most likely cells than the design assumed; the best attacker either knows that, or believes the design's prior.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sfumato.attacks import bayes, blind, misinformed, optimal
from sfumato.core import DistortionPrivacy, MetricPrivacy, hamming
from sfumato.core.immutable import CompactRepr
from sfumato.optimal import Auto, Design, design, equilibrium
from sfumato.proofs import distortion_below

from ..reproduction import SECONDS, Made
from ..results import TableRow, columns_of
from .people import Person

METRIC: Final = "metric"
DISTORTION: Final = "distortion"
JOINT: Final = "joint"

GAMES: Final = "privacy_games"
INFORMED: Final = "privacy_games_informed"
PRICES: Final = "prices"
TIMES: Final = f"designs{SECONDS}"

# At the most error that any mechanism can force, the distortion rows have no interior.
_MOST: Final = 1 - 1e-3


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


Game = tuple[GameRow, GameRow, GameRow]
"""Designs of *metric*, *distortion* and *joint* of one user and epsilon."""


@dataclass(frozen=True, slots=True)
class InformedRow:
    """Attackers of one design of scenario 1 who know more than it assumed (section 9.2); errors in km.

    The share ``sharper`` of the user's visits moved to the two most likely cells.
    """

    user: int
    epsilon: float
    mechanism: str
    sharper: float
    error_informed: float
    error_expected: float
    error_blind: float


@dataclass(frozen=True, slots=True)
class PriceRow:
    """The equilibrium of one design with a distortion; errors in km, the price in shares of false cells per km.

    The mechanism forces ``error_lower`` on every attacker; none of the same guarantee and no more cost can force
    more than ``error_upper``. Both are proved.
    """

    scenario: int
    user: int
    epsilon: float
    mechanism: str
    distortion_asked: float
    price: float
    error_lower: float
    error_upper: float


class UserGame:
    """One user's game: costs, errors of attackers, and designs.

    Args:
        person: The user.

    Attributes:
        person: The user.
        prior: Their habits.
        distance: Between cells, km.
        cost: 0 for the true cell, 1 for others.
        most: The most error that any mechanism can force, km.
    """

    def __init__(self, person: Person) -> None:
        self.person, self.prior = person, person.prior
        city = person.prior.space
        self.distance = city.metric("euclidean", unit="km")
        self.cost = hamming(city)
        self.most = blind(self.prior, self.distance).error

    def held(self, minimum: float) -> float:
        """Return a distortion, limited so that the programs have an interior."""
        return min(minimum, _MOST * self.most)

    def design(
        self, epsilon: float | None, minimum: float | None, gap: float, start: Design | None = None
    ) -> Design:
        """Return the mechanism of least cost with the given constraints; ties are not broken."""
        asked: list[MetricPrivacy | DistortionPrivacy] = []
        if epsilon is not None:
            asked.append(MetricPrivacy(epsilon, self.distance))
        if minimum is not None:
            asked.append(DistortionPrivacy(minimum, self.distance))
        return design(
            self.prior,
            loss=self.cost,
            guarantees=asked,
            solver=Auto(1),  # the same on every machine's number of cores
            gap=gap,
            tie_break=False,
            start=start,
        )

    def row(self, scenario: int, epsilon: float, name: str, minimum: float | None, found: Design) -> GameRow:
        """Return a design, attacked."""
        person, proof, mechanism = self.person, found.certificate, found.mechanism
        return GameRow(
            scenario=scenario,
            user=person.number,
            source=person.source,
            visits=person.visits,
            possible_cells=len(self.prior.support),
            blind_error=self.most,
            epsilon=epsilon,
            mechanism=name,
            distortion_asked=minimum,
            cost=proof.loss,
            cost_lower_bound=proof.lower_bound,
            gap_asked=found.enough,
            gap=proof.gap,
            epsilon_upper=proof.epsilon_upper if name != DISTORTION else None,
            distortion_lower=distortion_below(mechanism, self.prior, self.distance),
            error_best=optimal(mechanism, self.prior, self.distance).error,
            error_bayes=bayes(mechanism, self.prior, self.distance).error,
            iterations=len(found.log),
            status=found.status.name,
            proved=proof.holds,
        )

    def informed(self, epsilon: float, name: str, found: Design, shares: Sequence[float]) -> list[InformedRow]:
        """Return errors of attackers who know more than the design assumed."""
        mechanism, d, rows = found.mechanism, self.distance, []
        for share in shares:
            truth = self.prior.sharpened(share)
            errors = (
                optimal(mechanism, truth, d).error,
                misinformed(mechanism, truth, d, self.prior).error,
                blind(truth, d).error,
            )
            rows.append(InformedRow(self.person.number, epsilon, name, share, *errors))
        return rows


def played(person: Person, epsilon: float, gap: float, shares: Sequence[float]) -> Made:
    """Play scenarios 1 and 2 with one user and one epsilon.

    Args:
        person: The user.
        epsilon: Per km.
        gap: The relative gap to the least cost that is proved.
        shares: The shares of visits that move to the two most likely cells (section 9.2).
    """
    game = UserGame(person)
    tables: dict[str, list[TableRow]] = {GAMES: [], INFORMED: [], PRICES: [], TIMES: []}

    def add(scenario: int, name: str, minimum: float | None, found: Design) -> GameRow:
        row = game.row(scenario, epsilon, name, minimum, found)
        tables[GAMES].append(columns_of(row))
        tables[TIMES].append(seconds_of(scenario, person, epsilon, name, found))
        if scenario == 1:
            tables[INFORMED] += [columns_of(each) for each in game.informed(epsilon, name, found, shares)]
        if minimum is not None:
            both = equilibrium(found)
            price = PriceRow(
                scenario, person.number, epsilon, name, minimum, both.price, both.error_lower, both.error_upper
            )
            tables[PRICES].append(columns_of(price))
        return row

    metric = game.design(epsilon, None, gap)
    reached = add(1, METRIC, None, metric).distortion_lower
    for scenario, minimum in ((1, game.held(reached)), (2, game.held((reached + game.most) / 2))):
        add(scenario, DISTORTION, minimum, game.design(None, minimum, gap))
        add(scenario, JOINT, minimum, game.design(epsilon, minimum, gap, metric))
    return tables


def repeated(person: Person, epsilon: float, gap: float) -> Made:
    """Repeat *metric* and *joint* of scenario 1 at a smaller gap, to rule out inaccuracy."""
    game = UserGame(person)
    metric = game.design(epsilon, None, gap)
    first = game.row(1, epsilon, METRIC, None, metric)
    minimum = game.held(first.distortion_lower)
    joint = game.design(epsilon, minimum, gap, metric)
    return {
        GAMES: [columns_of(first), columns_of(game.row(1, epsilon, JOINT, minimum, joint))],
        TIMES: [
            seconds_of(1, person, epsilon, METRIC, metric),
            seconds_of(1, person, epsilon, JOINT, joint),
        ],
    }


def seconds_of(scenario: int, person: Person, epsilon: float | None, name: str, found: Design) -> TableRow:
    """Return the time of a design."""
    return {
        "scenario": scenario,
        "user": person.number,
        "epsilon": epsilon,
        "mechanism": name,
        "seconds": found.seconds,
    }


def triples(games: Iterable[GameRow], scenario: int) -> list[Game]:
    """Return *metric*, *distortion* and *joint* of each user and epsilon in a scenario."""
    by = {(row.scenario, row.user, row.epsilon, row.mechanism): row for row in games}
    return [
        (by[1, user, epsilon, METRIC], by[scenario, user, epsilon, DISTORTION], row)
        for (number, user, epsilon, name), row in by.items()
        if number == scenario and name == JOINT
    ]
