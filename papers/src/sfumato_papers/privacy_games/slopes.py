"""Prices of privacy, compared with the slopes of the least cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sfumato.attacks import evaluate
from sfumato.core.immutable import CompactRepr
from sfumato.optimal import equilibrium
from sfumato.proofs import distortion_below

from ..reproduction import Made
from ..results import columns_of
from .games import DISTORTION, JOINT, Person, UserGame

SLOPES: Final = "slopes"

_STEP: Final = 0.2  # of what is left above d_m
_ROOM: Final = 0.98  # of the most that can be forced: above, the programs have little


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


def priced(person: Person, epsilon: float, gap: float) -> Made:
    """Design *distortion* and *joint* at three values of d_m, and compare the price of the middle one."""
    game = UserGame(person)
    metric = game.design(epsilon, None, gap)
    reached = distortion_below(metric.mechanism, game.prior, game.distance)
    middle = min((reached + game.most) / 2, _ROOM * game.most)
    step = _STEP * (game.most - middle)
    rows = []
    for name, asked in ((DISTORTION, None), (JOINT, epsilon)):
        below, here, above = (game.design(asked, middle + k * step, gap) for k in (-1, 0, 1))
        both = equilibrium(here)
        less, proof, more = below.certificate, here.certificate, above.certificate
        row = SlopeRow(
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
        rows.append(columns_of(row))
    return {SLOPES: rows}
