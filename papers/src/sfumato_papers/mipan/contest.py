"""Contest of mechanisms that hide a label of visits at the same loss, including the certified optimum."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import brentq

from sfumato.core import AnyLoss, Mechanism, Metric, Prior
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.geo import Grid
from sfumato.learning import Pairs, hiding, learn_table
from sfumato.mechanisms import (
    Tupling,
    attack_success,
    matched,
    mixture_dummies,
    planar_geometric,
    quality_loss,
    rate_distortion_of_loss,
    remapped,
)
from sfumato.optimal import least_vulnerability

from .experiments import GAP
from .vocabulary import DUMMIES, EXPOST, NO_NOISE, NOISE, OPTIMUM, REMAP, TABLE, TUPLED

# Epsilon of noise that hardly moves a report, and that forgets the place.
_BRACKET_PER_M: Final = (0.05, 1e-4)


@dataclass(frozen=True, slots=True, repr=False)
class ContestRow(CompactRepr):
    """A mechanism that hides a label, within a largest expected loss.

    Attributes:
        source: The name of the visits.
        hidden: What is hidden.
        labels: How many values it has.
        seed: Of the split and the training.
        max_loss_m: The largest expected loss allowed.
        mechanism: Its name.
        error: Of the best guess of the label, on the visits learned from.
        loss_m: The expected loss there.
        held_out_error: Of the guess that is best for the held-out visits: no attacker does better.
        held_out_error_learned: Of the guess that is best for the visits learned from, on the held-out ones; NaN
            for tuples, where it is not computed.
        held_out_loss_m: The expected loss there.
        largest_error: What no mechanism within that loss exceeds on the visits learned from, with one
            report for each visit: proved.
        blind_error: Of the best guess without a report, on the visits learned from.
    """

    source: str
    hidden: str
    labels: int
    seed: int
    max_loss_m: float
    mechanism: str
    error: float
    loss_m: float
    held_out_error: float
    held_out_error_learned: float
    held_out_loss_m: float
    largest_error: float
    blind_error: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Contest(CompactRepr):
    """Mechanisms of at most one loss that hide a label.

    Attributes:
        learning: The visits that they were made from.
        judging: The held-out ones.
        mechanisms: Each by its name; without tuples.
        rows: What each hides, tuples too.
    """

    learning: Pairs
    judging: Pairs
    mechanisms: Mapping[str, Mechanism]
    rows: tuple[ContestRow, ...]


def contest(
    source: str,
    hidden: str,
    data: Pairs,
    cells: Grid,
    max_loss_m: float,
    *,
    with_tupling: bool = False,
    rounds: int = 120,
    seed: int = 1,
) -> Contest:
    """Return what each mechanism of at most this loss hides, on four fifths of the visits and on the rest."""
    learning, judging = data.split(0.8, seed=seed)
    joint, fresh = learning.joint(cells), judging.joint(cells)
    loss = cells.metric("euclidean", unit="m")
    prior = Prior(cells, joint.sum(axis=0))
    best = least_vulnerability(joint, cells, loss, max_loss_m, gap=GAP)
    half = max(1, len(learning) // 2)

    def noise(epsilon: float) -> Mechanism:
        return planar_geometric(cells, epsilon)

    def remap(epsilon: float) -> Mechanism:
        return remapped(noise(epsilon), prior, loss)

    found: Mapping[str, Mechanism] = {
        NO_NOISE: Mechanism(np.eye(len(cells)), cells, cells),
        NOISE: matched(noise, prior, loss, max_loss_m, _BRACKET_PER_M).mechanism,
        REMAP: matched(remap, prior, loss, max_loss_m, _BRACKET_PER_M).mechanism,
        EXPOST: rate_distortion_of_loss(prior, loss, max_loss_m).mechanism,
        TABLE: learn_table(
            joint, cells, loss, max_loss_m, records=half, rounds=rounds, seed=seed, device="cpu"
        ).mechanism,
        OPTIMUM: best.mechanism,
    }

    def row(name: str, measured: tuple[float, float, float, float, float]) -> ContestRow:
        return ContestRow(
            source,
            hidden,
            len(data.space),
            seed,
            max_loss_m,
            name,
            *measured,
            1 - best.lower_bound,
            learning.blind_error,
        )

    rows = [row(name, measure(each, joint, fresh, loss)) for name, each in found.items()]
    if with_tupling:
        rows.append(row(TUPLED, measure_tupling(cells, joint, fresh, loss, max_loss_m)))
    return Contest(learning, judging, found, tuple(rows))


def measure(
    mechanism: Mechanism, joint: Floats, fresh: Floats, loss: AnyLoss
) -> tuple[float, float, float, float, float]:
    """Return error and loss on the visits learned from, and both errors and the loss on the held-out ones."""
    known, later = hiding(mechanism, joint, loss), hiding(mechanism, fresh, loss)
    guesses = (joint @ mechanism.matrix).argmax(axis=0)
    right = float((fresh @ mechanism.matrix)[guesses, np.arange(len(guesses))].sum())
    return known.error, known.loss, later.error, 1 - right, later.loss


def measure_tupling(
    cells: Grid, joint: Floats, fresh: Floats, loss: Metric, max_loss_m: float
) -> tuple[float, float, float, float, float]:
    """Return the same for a report among dummies whose best answer loses as much; there are two labels."""

    def family(log_epsilon: float) -> Tupling:
        inner = planar_geometric(cells, math.exp(log_epsilon))
        return Tupling(inner, DUMMIES, mixture_dummies(inner, joint / joint.sum(axis=1, keepdims=True)))

    def lost(tupling: Tupling, shares: Floats) -> float:
        return quality_loss(tupling, Prior(cells, shares.sum(axis=0)), loss)

    def error(tupling: Tupling, shares: Floats) -> float:
        sizes = shares.sum(axis=1)
        first, second = shares / sizes[:, None]
        return 1 - attack_success(tupling, first, second, float(sizes[0])).upper

    ends = [math.log(end) for end in _BRACKET_PER_M]
    tupling = family(
        float(brentq(lambda value: lost(family(value), joint) - max_loss_m, *sorted(ends), xtol=1e-4))
    )
    return error(tupling, joint), lost(tupling, joint), error(tupling, fresh), math.nan, lost(tupling, fresh)
