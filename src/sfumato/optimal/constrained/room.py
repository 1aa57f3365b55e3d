"""The mechanism that keeps all constraints with most room, or the proof that none keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...core.arrays import Floats
from ...errors import InfeasibleError
from ...evidence import ManyMultipliers
from ...rounding import amount_at_least
from ..generate import ALL_AT_ONCE, LinearSolver
from ..solver import Control, Status
from ..triples import Triples, violated
from .demands import Demands
from .program import GeneralProgram

ENOUGH: Final = 1e-9
"""A share of a constraint's scale that is left for rounding."""

_MARGIN: Final = 1e-9  # of the exponents
_HALF: Final = 0.5  # of the most room is enough
_COUNTS: Final = 1e-6  # of the largest price: what a smaller one belongs to is not named


def with_most_room(
    demands: Demands, control: Control, back_ends: Sequence[LinearSolver], triples: Triples
) -> tuple[Floats | None, Triples]:
    """Return a mechanism with room in every constraint, or None if time is over; and the rows that were needed.

    Raises:
        InfeasibleError: If it is proved that no mechanism keeps the constraints, or none was found with room.
    """
    for back_end in back_ends:
        while True:
            program = GeneralProgram(demands, triples, of_room=True)
            found = back_end.solve(program.program, time_limit=control.remaining, stop=control.stop)
            if found.x is None or found.status in (Status.TIME_LIMIT, Status.INTERRUPTED):
                break
            if found.duals is not None:
                _refuse_if_proved(demands, program.prices(found.duals))
            raw = program.matrix(found.x)
            matrix = demands.private(raw, _MARGIN)
            lacking, least = float(demands.lacking(matrix).max(initial=-np.inf)), float(found.x[-1])
            if lacking <= min(_HALF * least, -4 * ENOUGH):
                return matrix, triples
            more = violated(raw, demands.exponents, triples, most=max(ALL_AT_ONCE, 2 * len(triples)))
            if len(more) == 0:
                break
            triples = triples.joined(more)
        if control.stopped is not None:
            return None, triples
    raise InfeasibleError(
        f"no mechanism was found that keeps all of this with room for rounding: {'; '.join(demands.names)}.",
        "ask for a little less. An equation, given as two constraints, needs some room between them.",
    )


def _alone(prices: ManyMultipliers, kept: int) -> ManyMultipliers:
    """Return prices of which that of one constraint is kept: of an attacker, or of a linear one after these."""
    attackers = [each * (k == kept) for k, each in enumerate(prices.attackers)]
    others = np.arange(len(prices.constraints)) + len(attackers) != kept
    return ManyMultipliers(prices.rows, prices.masses, tuple(attackers), np.where(others, 0.0, prices.constraints))


def _refuse_if_proved(demands: Demands, prices: ManyMultipliers) -> None:
    """Raise an error if prices prove that no mechanism keeps the constraints; it names those that have a price."""
    bound = demands.without_loss().bound(prices)
    if not bound > 0:
        return
    own = np.array([*(float(each.sum(axis=0).min()) for each in prices.attackers), *prices.constraints])
    weight = own * demands.scales
    named = np.flatnonzero(weight > _COUNTS * weight.max())
    names = [demands.names[k] for k in named]
    k = int(named[0])
    if len(named) == 1:
        prices = _alone(prices, k)
        bound = demands.without_loss().bound(prices)
        names = names if bound > 0 else demands.names
    if len(names) > 1:
        raise InfeasibleError(
            f"no mechanism keeps these together: {'; '.join(names)}.", "ask for less of at least one of them."
        )
    if k < len(demands.attackers):
        raise InfeasibleError(f"no mechanism keeps the {names[0]}.", "ask for less.")
    limit = demands.constraints[k - len(demands.attackers)]
    least = limit.at_most + bound / float(own[k])
    raise InfeasibleError(
        f"no mechanism keeps the constraint ({limit}): whatever it is, the sum is at least "
        f"{amount_at_least(least, limit.unit, 6)}.",
        "allow more than that, or raise epsilon." if (prices.rows.local > 0).any() else "allow more than that.",
    )
