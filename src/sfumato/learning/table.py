"""Training on a finite space: the generator is a matrix, and gradients are exact."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..core import AnyLoss, Mechanism, Space, as_loss
from ..core.arrays import Floats, floats
from ..errors import InfeasibleError, InputError
from .checkpoint import identity_of
from .hiding import hiding
from .rounds import Ending, Progress, Rules, Stop, TrainingRound, checked_max_loss, play
from .table_game import CLASSIFIER, EXACT, TableGame
from .targets import BayesVulnerability, Target
from .training import device_for
from .utility import AugmentedLagrangian, Utility

_SUM_TOLERANCE: Final = 1e-9
SMOOTH: Final = BayesVulnerability(8.0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LearnedTable:
    """A mechanism that the tabular game learned, and how it went.

    Attributes:
        mechanism: The mechanism of the best round, from useful values to reports. No
            likelihood ratio is promised; see `with_guarantee`.
        joint: P(x, w), array (labels, useful values), that it was learned from.
        history: All rounds; round i measures the matrix that entered it, exactly.
        best: The number of the round whose matrix is kept.
        max_loss: The largest expected loss allowed; ``inf`` if there was no limit.
        loss: The expected loss of the mechanism's integers, within the limit.
        bayes_error: The error of the best guess of the label from a report, likewise.
        information_bits: The mutual information of label and report, likewise.
        ending: Why the training ended.
    """

    mechanism: Mechanism
    joint: Floats
    history: tuple[TrainingRound, ...]
    best: int
    max_loss: float
    loss: float
    bayes_error: float
    information_bits: float
    ending: Ending

    def __repr__(self) -> str:
        return (
            f"LearnedTable after {len(self.history)} rounds: loss {self.loss:.4g}, "
            f"Bayes error {self.bayes_error:.4g}, {self.information_bits:.4g} bits"
        )


def learn_table(
    joint: ArrayLike,
    useful: Space,
    loss: AnyLoss,
    max_loss: float | None,
    *,
    reports: Space | None = None,
    target: Target = SMOOTH,
    utility: Utility | None = None,
    attacker: str = EXACT,
    start: ArrayLike | None = None,
    start_rate: float | None = None,
    records: int | None = None,
    rounds: int = 120,
    steps: int = 10,
    rate: float = 0.2,
    margin: float = 1e-3,
    tolerance: float = 1e-6,
    patience: int = 60,
    seed: int | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: int = 1,
    device: str | None = None,
) -> LearnedTable:
    """Train a stochastic matrix p(z|w) = softmax(T)(w, z) against an attacker.

    Expectations are sums over the joint distribution, and the attacker of each round is
    the posterior P(x|z) of the present matrix. They either stay the same for the round
    (``classifier``: the paper's game, with its frozen classifier), or know the present matrix
    at every step (``exact``: the target is that of label and report,
    equation 14, which is convex).

    Args:
        joint: P(x, w), array (labels, useful values), with sum one.
        useful: The useful values.
        loss: l(w, z), array (useful values, reports).
        max_loss: The largest expected loss; None for no limit.
        reports: The reports; by default the useful values.
        target: What to make small; by default a smooth Bayes vulnerability.
        utility: The price on the loss; by default an augmented Lagrangian.
        attacker: ``exact`` or ``classifier``.
        start: The matrix to start from, positive; by default p(z|w) proportional to
            exp(-start_rate l(w, z)).
        start_rate: Per unit of the loss; by default 2 / max_loss, the planar Laplace noise
            whose mean distance is the limit, or 1 over the mean loss without a limit.
        records: How many records the joint distribution was counted from. Each step then sees
            what as many records drawn from it would show, so that the matrix does not lean on
            the accidents of these. None if the distribution is exact; nothing is random then.
        rounds: The most rounds.
        steps: Gradient steps (Adam) in each round.
        rate: The learning rate of the first round; it falls along a cosine to a tenth.
        margin: By which part of the limit to stay below it. A matrix that is above that all
            the same is mended by the smallest share of the truest reports.
        tolerance: The label counts as hidden when the best guess is right no more than
            this above chance.
        patience: Rounds without gain after which the training ends.
        seed: For studies: makes what is drawn with ``records`` the same each time.
        progress: Called with each round.
        stop: Asked before each round whether to stop.
        checkpoint: A file to save to, and to go on from if it exists.
        every: After how many rounds it is saved.
        device: Such as ``"cpu"``; by default a GPU where there is one.

    Raises:
        InputError: If an argument does not fit.
        InfeasibleError: If not even the truest reports are within the limit.
        MissingExtraError: If torch is not installed.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, sections II and III.
    """
    place = device_for("Training a mechanism", device)
    p = _joint(joint, useful)
    columns = useful if reports is None else reports
    costs = as_loss(loss, len(useful), len(columns)).array
    limit = checked_max_loss(max_loss)
    least = float((p.sum(axis=0)[:, None] * costs).min(axis=1).sum())
    if least >= limit:
        raise InfeasibleError(
            f"a loss of at most {limit:.6g} was asked for, but the truest reports lose {least:.6g}.",
            "allow a larger loss, or finer reports.",
        )
    if attacker not in (CLASSIFIER, EXACT):
        raise InputError(f"there is no attacker {attacker!r}.", f"use {EXACT!r} or {CLASSIFIER!r}.")
    if records is not None and records < 1:
        raise InputError(f"{records} records are too few.", "pass how many there were, or None.")
    if steps < 1 or not rate > 0 or not 0 <= margin < 1:
        raise InputError(
            f"{steps} steps, a rate of {rate} or a margin of {margin} cannot be used.",
            "use at least one step, a positive rate, and a margin from 0 to below 1.",
        )
    price = AugmentedLagrangian(5.0, 2.0) if utility is None else utility
    begin = _start(start, start_rate, costs, limit)
    game = TableGame(
        p,
        costs,
        begin,
        target,
        price,
        attacker=attacker,
        max_loss=limit,
        margin=margin,
        rounds=rounds,
        steps=steps,
        rate=rate,
        device=place,
        records=records,
        seed=seed,
    )
    chance = float(p.sum(axis=1).max())
    identity = identity_of(
        "table",
        p,
        costs,
        begin,
        target,
        price,
        attacker,
        limit,
        records,
        rounds,
        steps,
        rate,
        margin,
        tolerance,
        patience,
        seed,
    )
    rules = Rules(rounds, limit, chance, tolerance, patience)
    played = play(game, rules, identity, progress=progress, stop=stop, checkpoint=checkpoint, every=every)
    mechanism = Mechanism(played.parameters["matrix"].numpy(), useful, columns)
    measured = hiding(mechanism, p, costs)
    ending = Ending.STOPPED if played.ending is None else played.ending
    return LearnedTable(
        mechanism,
        p,
        tuple(played.history),
        played.best,
        limit,
        measured.loss,
        measured.error,
        measured.information_bits,
        ending,
    )


def _joint(joint: ArrayLike, useful: Space) -> Floats:
    p = floats(joint, "the joint distribution", shape=(None, len(useful)))
    if len(p) < 2 or (p < 0).any() or abs(float(p.sum()) - 1) > _SUM_TOLERANCE:
        raise InputError(
            f"the joint distribution has {len(p)} labels, least value {p.min():g} and sum {p.sum():.12g}.",
            "pass P(x, w): at least two rows, no negative entry, sum 1; Pairs.joint makes one.",
        )
    return p


def _start(start: ArrayLike | None, rate: float | None, costs: Floats, max_loss: float) -> Floats:
    if start is not None:
        given = floats(start, "the start", shape=costs.shape)
        if not (given > 0).all() or (np.abs(given.sum(axis=1) - 1) > _SUM_TOLERANCE).any():
            raise InputError(
                "the start has an entry that is not positive, or a row that does not sum to 1.",
                "pass positive probabilities: a softmax never reaches 0, nor leaves it.",
            )
        return given
    usual = 2 / max_loss if max_loss < float("inf") else 1 / max(float(costs.mean()), 1e-300)
    slope = usual if rate is None else rate
    if not (np.isfinite(slope) and slope >= 0):
        raise InputError(f"a start rate of {slope} is not possible.", "use a number of at least 0.")
    logs = -slope * (costs - costs.min(axis=1, keepdims=True))
    weights = np.exp(np.maximum(logs, -600.0))
    rows: Floats = weights / weights.sum(axis=1, keepdims=True)
    return rows
