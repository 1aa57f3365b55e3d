"""Prices of privacy, compared with the slopes of the least cost; and the attacker's equilibrium."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.attacks import evaluate
from sfumato.core.immutable import CompactRepr
from sfumato.optimal import Design, Equilibrium, equilibrium
from sfumato.proofs import distortion_below

from ..reproduction import Made
from ..results import TableRow, columns_of
from .games import DISTORTION, JOINT, METRIC, TIMES, Person, UserGame, seconds_of

SLOPES: Final = "slopes"
GUESSES: Final = "guesses"
HABITS: Final = "habits"

_STEP: Final = 0.2  # of what is left above d_m
_ROOM: Final = 0.98  # of the most that can be forced: above, the programs have little
_RARE: Final = 1e-4  # reports and guesses that are rarer are not listed


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


@dataclass(frozen=True, slots=True)
class GuessRow:
    """The equilibrium strategy: for a report, a guess and its probability; places in km from the map's corner."""

    mechanism: str
    report_x: float
    report_y: float
    report_probability: float
    guess_x: float
    guess_y: float
    guess_probability: float


@dataclass(frozen=True, slots=True)
class HabitRow:
    """A cell of a user's map, in km from its corner, and how often they visit it."""

    x: float
    y: float
    width: float
    height: float
    probability: float


def priced(person: Person, epsilon: float, gap: float, listed: bool) -> Made:
    """Design *distortion* and *joint* at three values of d_m, and compare the price of the middle one."""
    game = UserGame(person)
    metric = game.design(epsilon, None, gap)
    reached = distortion_below(metric.mechanism, game.prior, game.distance)
    middle = min((reached + game.most) / 2, _ROOM * game.most)
    step = _STEP * (game.most - middle)
    rows: list[SlopeRow] = []
    times = [seconds_of(0, person, epsilon, METRIC, metric)]
    guesses: list[GuessRow] = []
    for name, asked in ((DISTORTION, None), (JOINT, epsilon)):
        below, here, above = (game.design(asked, middle + k * step, gap) for k in (-1, 0, 1))
        times += [seconds_of(0, person, asked, name, each) for each in (below, here, above)]
        both = equilibrium(here)
        less, proof, more = below.certificate, here.certificate, above.certificate
        rows.append(
            SlopeRow(
                user=person.number,
                mechanism=name,
                epsilon=asked,
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
        )
        if listed:
            guesses += _guesses(game, name, here, both)
    tables: dict[str, list[TableRow]] = {SLOPES: [columns_of(row) for row in rows], TIMES: times}
    if listed:
        tables[GUESSES] = [columns_of(each) for each in guesses]
        tables[HABITS] = [columns_of(each) for each in _habits(game)]
    return tables


def _guesses(game: UserGame, name: str, found: Design, both: Equilibrium) -> list[GuessRow]:
    """Return the strategy for reports that are made."""
    reports = game.prior.probabilities @ found.mechanism.matrix
    at = _centres(game)
    return [
        GuessRow(name, *at[o], float(reports[o]), *at[guess], float(both.strategy[o, guess]))
        for o in np.flatnonzero(reports > _RARE)
        for guess in np.flatnonzero(both.strategy[o] > _RARE)
    ]


def _habits(game: UserGame) -> list[HabitRow]:
    width, height = (side / 1000 for side in game.person.city.cell_m)
    return [
        HabitRow(x, y, width, height, float(probability))
        for (x, y), probability in zip(_centres(game), game.prior.probabilities, strict=True)
    ]


def _centres(game: UserGame) -> list[tuple[float, float]]:
    """Return the centres of the cells, km from the map's corner."""
    city = game.person.city
    centres = (np.asarray(city.coordinates, dtype=np.float64) - city.origin) / 1000
    return [(float(x), float(y)) for x, y in centres]
