"""Scenario 3 of "Privacy Games": epsilon and the distortion d_m, chosen apart and asked for alone and together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from sfumato.attacks import optimal
from sfumato.core.immutable import CompactRepr
from sfumato.optimal import Design
from sfumato.proofs import distortion_below

from ..reproduction import Made
from ..results import TableRow, columns_of
from .games import DISTORTION, JOINT, METRIC, TIMES, UserGame, seconds_of
from .people import Person

APART: Final = "apart"


@dataclass(frozen=True, slots=True, repr=False)
class ApartRow(CompactRepr):
    """One design of scenario 3; lengths in km, epsilon per km, the cost is the share of false cells.

    *Joint* is *metric* itself, and designed no second time, where that keeps d_m already (``met``).
    """

    user: int
    blind_error: float
    epsilon: float | None
    distortion_asked: float | None
    mechanism: str
    met: bool
    cost: float
    cost_lower_bound: float
    epsilon_upper: float | None
    distortion_lower: float
    error_best: float
    proved: bool


Apart = tuple[ApartRow, ApartRow, ApartRow]
"""Designs of *metric*, *distortion* and *joint* of one user, epsilon and d_m."""


def distortions(game: UserGame, step: float) -> Iterator[float]:
    """Yield d_m: the multiples of a step below the most that can be forced, and then that, all in km."""
    most = game.held(game.most)
    k = 1
    while k * step < most:
        yield k * step
        k += 1
    yield most


def together(person: Person, epsilon: float, step: float, gap: float) -> Made:
    """Design *metric*, and *joint* for each d_m.

    Args:
        person: The user.
        epsilon: Per km.
        step: Of d_m, km.
        gap: The relative gap to the least cost that is proved.
    """
    game = UserGame(person)
    metric = game.design(epsilon, None, gap)
    plain = _row(game, METRIC, epsilon, None, metric)
    rows, times = [plain], [seconds_of(3, person, epsilon, METRIC, metric)]
    start = metric
    for minimum in distortions(game, step):
        met = plain.distortion_lower >= minimum
        if not met:
            start = game.design(epsilon, minimum, gap, start)
            times.append(seconds_of(3, person, epsilon, JOINT, start))
        rows.append(_row(game, JOINT, epsilon, minimum, metric if met else start, met=met))
    return {APART: [columns_of(row) for row in rows], TIMES: times}


def alone(person: Person, step: float, gap: float) -> Made:
    """Design *distortion* for each d_m; see `together`."""
    game = UserGame(person)
    rows: list[TableRow] = []
    times: list[TableRow] = []
    for minimum in distortions(game, step):
        found = game.design(None, minimum, gap)
        rows.append(columns_of(_row(game, DISTORTION, None, minimum, found)))
        times.append(seconds_of(3, person, None, DISTORTION, found))
    return {APART: rows, TIMES: times}


def _row(
    game: UserGame, name: str, epsilon: float | None, minimum: float | None, found: Design, *, met: bool = False
) -> ApartRow:
    proof = found.certificate
    return ApartRow(
        user=game.person.number,
        blind_error=game.most,
        epsilon=epsilon,
        distortion_asked=minimum,
        mechanism=name,
        met=met,
        cost=proof.loss,
        cost_lower_bound=proof.lower_bound,
        epsilon_upper=proof.epsilon_upper if epsilon is not None else None,
        distortion_lower=distortion_below(found.mechanism, game.prior, game.distance),
        error_best=optimal(found.mechanism, game.prior, game.distance).error,
        proved=proof.holds,
    )


def apart_triples(rows: Iterable[ApartRow]) -> list[Apart]:
    """Return *metric*, *distortion* and *joint* of each user, epsilon and d_m of scenario 3."""
    by = {(row.user, row.epsilon, row.distortion_asked): row for row in rows}
    return [
        (by[user, epsilon, None], by[user, None, minimum], row)
        for (user, epsilon, minimum), row in by.items()
        if row.mechanism == JOINT
    ]
