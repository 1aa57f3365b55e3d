"""Appendix C of "Privacy Games": programs without the rows of far pairs, and what they then keep in truth.

Pairs of cells farther apart than a threshold are left out of metric privacy, and guesses farther from a report are
left out of the best attack. Fewer rows are solved sooner, but ask for less. Without far pairs the mechanism keeps
epsilon along the edges that are left, so between any two cells epsilon times the dilation of their graph; dividing
epsilon by the dilation first restores the guarantee (Bordenabe et al., CCS 2014). Without far guesses nothing is
left of the distortion that was asked for: the attacker may guess them all the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from sfumato.attacks import optimal
from sfumato.core import MetricPrivacy, neighbours
from sfumato.core.immutable import CompactRepr
from sfumato.optimal import Auto, Design, design
from sfumato.proofs import distortion_below, prove_metric_privacy

from ..reproduction import SECONDS, Made
from ..results import columns_of
from .games import DISTORTION, JOINT, METRIC, UserGame
from .near_guesses import cheapest, near_metric
from .people import Person

PAIRS: Final = "pruned-pairs"
ATTACKS: Final = "pruned-attacks"
PAIR_TIMES: Final = f"{PAIRS}{SECONDS}"
ATTACK_TIMES: Final = f"{ATTACKS}{SECONDS}"

PRUNED: Final = "pruned"
CORRECTED: Final = "corrected"
EXACT: Final = "exact"


@dataclass(frozen=True, slots=True, repr=False)
class PairRow(CompactRepr):
    """Metric privacy without far pairs; lengths in km, epsilons per km, the cost is the share of false cells.

    ``kind`` is *pruned* as in the paper, *corrected* (with epsilon over the dilation), or *exact*, for all pairs.
    ``epsilon_true`` is the least epsilon for all pairs that is proved on the integers of the mechanism.
    """

    user: int
    kind: str
    threshold: float | None
    pairs: int
    dilation: float
    epsilon: float
    epsilon_true: float
    kept: bool
    cost: float
    cost_lower_bound: float
    error_best: float


@dataclass(frozen=True, slots=True, repr=False)
class AttackRow(CompactRepr):
    """*Distortion* or *joint* without far guesses; lengths in km, the cost is the share of false cells.

    *Joint* is without far pairs, too. ``rows`` are those of the attack; ``distortion_lower`` and ``epsilon_true``
    are what the mechanism is proved to keep in truth.
    """

    user: int
    mechanism: str
    cells: int
    epsilon: float | None
    kind: str
    threshold: float | None
    rows: int
    distortion_asked: float
    distortion_lower: float
    error_best: float
    epsilon_true: float | None
    cost: float


@dataclass(frozen=True, slots=True)
class TimeRow:
    """The time that a program took, by user and threshold (km)."""

    user: int
    mechanism: str
    kind: str
    threshold: float | None
    seconds: float


def far_pairs(person: Person, epsilon: float, threshold: float | None, gap: float) -> Made:
    """Design *metric* with pairs within a threshold alone, as in the paper and with epsilon over the dilation.

    Args:
        person: The user.
        epsilon: Per km.
        threshold: In km; None for all pairs.
        gap: The relative gap to the least cost of each program.
    """
    game = UserGame(person)
    asked = MetricPrivacy(epsilon, game.distance)
    if threshold is None:
        found = game.design(epsilon, None, gap)
        count, dilation, designs = len(game.prior) * (len(game.prior) - 1), 1.0, [(EXACT, found)]
    else:
        graph = neighbours(game.distance, threshold)
        along = near_metric(game.distance, threshold)
        count, dilation = 2 * len(graph), graph.dilation
        wanted = [(PRUNED, epsilon)]
        if math.isfinite(dilation):
            wanted.append((CORRECTED, epsilon / dilation))
        designs = [(kind, _designed(game, MetricPrivacy(each, along), gap)) for kind, each in wanted]
    rows, times = [], []
    for kind, found in designs:
        proof = prove_metric_privacy(found.mechanism, asked)
        rows.append(
            PairRow(
                user=person.number,
                kind=kind,
                threshold=threshold,
                pairs=count,
                dilation=dilation,
                epsilon=epsilon,
                epsilon_true=proof.upper,
                kept=proof.holds,
                cost=found.certificate.loss,
                cost_lower_bound=found.certificate.lower_bound,
                error_best=optimal(found.mechanism, game.prior, game.distance).error,
            )
        )
        times.append(columns_of(TimeRow(person.number, METRIC, kind, threshold, found.seconds)))
    return {PAIRS: [columns_of(row) for row in rows], PAIR_TIMES: times}


def _designed(game: UserGame, promise: MetricPrivacy, gap: float) -> Design:
    return design(game.prior, loss=game.cost, guarantees=promise, solver=Auto(1), gap=gap, tie_break=False)


def far_guesses(
    person: Person, share: float, threshold: float | None, gap: float, epsilon: float | None = None
) -> Made:
    """Design *distortion* against attackers who guess near the report alone, or *joint*, then without far pairs.

    Args:
        person: The user.
        share: d_m over the most that can be forced.
        threshold: In km; None for all guesses and pairs.
        gap: The relative gap of the exact design.
        epsilon: Of *joint*, per km; None for *distortion*.
    """
    game = UserGame(person)
    minimum = share * game.most
    if threshold is None:
        found = game.design(epsilon, minimum, gap)
        mechanism, seconds, cost = found.mechanism, found.seconds, found.certificate.loss
        count = len(game.prior) ** 2
    else:
        near = cheapest(game.prior, game.distance, minimum, threshold, epsilon)
        mechanism, seconds, cost, count = near.mechanism, near.seconds, near.cost, near.rows
    asked = None if epsilon is None else MetricPrivacy(epsilon, game.distance)
    name = DISTORTION if epsilon is None else JOINT
    row = AttackRow(
        user=person.number,
        mechanism=name,
        cells=len(game.prior),
        epsilon=epsilon,
        kind=EXACT if threshold is None else PRUNED,
        threshold=threshold,
        rows=count,
        distortion_asked=minimum,
        distortion_lower=distortion_below(mechanism, game.prior, game.distance),
        error_best=optimal(mechanism, game.prior, game.distance).error,
        epsilon_true=None if asked is None else prove_metric_privacy(mechanism, asked).upper,
        cost=cost,
    )
    time = TimeRow(person.number, name, row.kind, threshold, seconds)
    return {ATTACKS: [columns_of(row)], ATTACK_TIMES: [columns_of(time)]}
