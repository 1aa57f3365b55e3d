"""Training on a finite space: the generator is a matrix, and gradients are exact."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike

from ..core import AnyLoss, Mechanism, Space, as_loss
from ..core.arrays import Floats, floats
from ..errors import InfeasibleError, InputError
from ..leakage import joint_information_bits
from .label_leakage import checked_joint, hiding
from .targets import AugmentedLagrangian, BayesVulnerability, Target, Utility
from .training import (
    Ending,
    Game,
    Progress,
    Rules,
    State,
    Stop,
    TrainingRound,
    checked_max_loss,
    descend,
    device_for,
    identity_of,
    play,
)

if TYPE_CHECKING:
    import torch
    from torch import Tensor


CLASSIFIER, EXACT = "classifier", "exact"
_SUM_TOLERANCE: Final = 1e-9
SMOOTH: Final = BayesVulnerability(8.0)
_LEAST: Final = 1e-30  # beliefs below it count as this in logarithms
_ROUNDING: Final = 1e-9  # of the share that fixes the loss, far above what the integers move it


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LearnedTable:
    """A mechanism learned in the tabular game.

    Attributes:
        mechanism: The mechanism of the best round, from useful values to reports. Its likelihood ratios have no
            guarantee; see `with_guarantee`.
        joint: P(x, w), array (labels, useful values), that it was learned from.
        history: All rounds; round i measures the matrix at its start, exactly.
        best: The number of the round with this matrix.
        max_loss: The largest expected loss allowed; ``inf`` if there was no limit.
        loss: The expected loss of the mechanism's integers, within the limit.
        bayes_error: The error of the best guess of the label from a report, likewise.
        information_bits: The mutual information of label and report, likewise.
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

    Expectations are sums over the joint distribution, and the attacker of each round is the posterior P(x|z) of
    the present matrix. It either stays the same for the round (``classifier``: the paper's game, with its frozen
    classifier), or knows the present matrix at every step (``exact``: the target is that of label and report,
    equation 14, which is convex). Raises `InputError` if an argument does not fit. Raises `InfeasibleError` if not
    even the truest reports are within the limit. Raises `MissingExtraError` if torch is not installed.

    Args:
        joint: P(x, w), array (labels, useful values), with sum one.
        useful: The useful values.
        loss: l(w, z), array (useful values, reports).
        max_loss: The largest expected loss; None for no limit.
        reports: The reports; by default the useful values.
        target: The target to minimise; by default a smooth Bayes vulnerability.
        utility: The price on the loss; by default an augmented Lagrangian.
        attacker: ``exact`` or ``classifier``.
        start: The matrix to start from, positive; by default p(z|w) proportional to exp(-start_rate l(w, z)).
        start_rate: Per unit of the loss; by default 2 / max_loss, the planar Laplace noise whose mean distance is
            the limit, or 1 over the mean loss without a limit.
        records: The number of records from which the joint distribution was counted. Each step then uses the
            shares in as many records drawn from it, so that the matrix does not overfit these. None if the
            distribution is exact; nothing is random then.
        rounds: The most rounds.
        steps: Gradient steps (Adam) in each round.
        rate: The learning rate of the first round; it falls along a cosine to a tenth.
        margin: The part of the limit that training leaves free. A matrix above that is corrected by the smallest
            share of the truest reports.
        tolerance: The label counts as hidden when the best guess is right no more than this above chance.
        patience: Rounds without gain after which the training ends.
        seed: For studies: makes the draws for ``records`` the same each time.
        progress: Called with each round.
        stop: Asked before each round whether to stop.
        checkpoint: A file to save to, and to continue from if it exists.
        every: The number of rounds between two saves.
        device: Such as ``"cpu"``; by default a GPU where there is one.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, sections II and III.
    """
    place = device_for("Training a mechanism", device)
    p = checked_joint(joint, len(useful), 2)
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
    options = (attacker, limit, records, rounds, steps, rate, margin, tolerance, patience, seed)
    identity = identity_of("table", p, costs, begin, target, price, *options)
    rules = Rules(rounds, limit, float(p.sum(axis=1).max()), tolerance, patience)
    outcome = play(game, rules, identity, progress=progress, stop=stop, checkpoint=checkpoint, every=every)
    mechanism = Mechanism(outcome.parameters["matrix"].numpy(), useful, columns)
    measures = hiding(mechanism, p, costs)
    ending = outcome.ending or Ending.STOPPED
    history, bits = tuple(outcome.history), measures.information_bits
    return LearnedTable(mechanism, p, history, outcome.best, limit, measures.loss, measures.error, bits, ending)


def _start(start: ArrayLike | None, rate: float | None, costs: Floats, max_loss: float) -> Floats:
    if start is not None:
        matrix = floats(start, "the start", shape=costs.shape)
        if not (matrix > 0).all() or (np.abs(matrix.sum(axis=1) - 1) > _SUM_TOLERANCE).any():
            raise InputError(
                "the start has an entry that is not positive, or a row that does not sum to 1.",
                "pass positive probabilities: a softmax never reaches 0, nor leaves it.",
            )
        return matrix
    usual = 2 / max_loss if max_loss < float("inf") else 1 / max(float(costs.mean()), 1e-300)
    slope = usual if rate is None else rate
    if not (np.isfinite(slope) and slope >= 0):
        raise InputError(f"a start rate of {slope} is not possible.", "use a number of at least 0.")
    logs = -slope * (costs - costs.min(axis=1, keepdims=True))
    weights = np.exp(np.maximum(logs, -600.0))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


class TableGame(Game):
    """The game of a matrix; its arguments are those of `learn_table`, checked."""

    def __init__(
        self,
        joint: Floats,
        costs: Floats,
        start: Floats,
        target: Target,
        utility: Utility,
        *,
        attacker: str,
        max_loss: float,
        margin: float,
        rounds: int,
        steps: int,
        rate: float,
        device: torch.device,
        last_rate: float = 0.1,
        records: int | None = None,
        seed: int | None = None,
    ) -> None:
        import torch

        def tensor(array: Floats) -> Tensor:
            return torch.as_tensor(np.array(array), dtype=torch.float64, device=device)

        super().__init__(int(str(np.random.SeedSequence(seed).entropy)), target, utility)
        self._joint, self._costs = tensor(joint), tensor(joint.sum(axis=0)[:, None] * costs)
        self._max_loss, self._aim, self._exact = max_loss, max_loss * (1 - margin), attacker == EXACT
        self._rounds, self._steps, self._rate, self._last_rate = rounds, steps, rate, last_rate
        self._shares, self._records = joint, records
        self._logits = torch.log(tensor(start)).requires_grad_(True)
        self._optimiser = torch.optim.Adam([self._logits], lr=rate)

    def measure(self, number: int) -> TrainingRound:
        """Measure the present matrix, exactly, against the posterior."""
        import torch

        matrix = torch.as_tensor(self.matrix(), device=self._joint.device)
        shares = self._joint @ matrix
        target = float(self._against(shares, self._beliefs(shares)))
        loss = float((self._costs * matrix).sum())
        joint = shares.cpu().numpy()
        guesses = joint.argmax(axis=0)
        hit, bits = float(joint[guesses, np.arange(joint.shape[1])].sum()), joint_information_bits(joint)
        scores = hit, _f1(joint, guesses), bits, 1.0 - hit
        return TrainingRound(number, *scores, target, loss, 0.0, self._multiplier, self._seconds())

    def improve(self, number: int) -> None:
        """Take the gradient steps of a round."""
        import torch

        with torch.no_grad():
            frozen = self._beliefs(self._joint @ torch.softmax(self._logits, 1))
        falling = (1 + float(np.cos(np.pi * number / self._rounds))) / 2
        for group in self._optimiser.param_groups:
            group["lr"] = self._rate * (self._last_rate + (1 - self._last_rate) * falling)
        rng = np.random.default_rng([self._entropy, number])
        for _ in range(self._steps):
            matrix = torch.softmax(self._logits, 1)
            value = self._against(self._sample_joint(rng) @ matrix, frozen)
            if self._max_loss < float("inf"):
                loss = (self._costs * matrix).sum()
                value = value + self._utility.price(loss, self._aim, self._multiplier)
            descend(self._optimiser, value)
        if self._max_loss < float("inf"):
            with torch.no_grad():
                loss = (self._costs * torch.softmax(self._logits, 1)).sum()
            self._multiplier = self._utility.update(float(loss), self._aim, self._multiplier)

    def matrix(self) -> Floats:
        """Return the present matrix, with as few of the truest reports as bring the loss down to the aim."""
        import torch

        rows: Floats = torch.softmax(self._logits.detach(), 1).cpu().numpy()
        rows /= rows.sum(axis=1, keepdims=True)
        costs = self._costs.cpu().numpy()
        excess = float((costs * rows).sum()) - self._aim
        if excess <= 0:
            return rows
        room = float((costs * rows).sum() - costs.min(axis=1).sum())
        share = min(1.0, excess / room * (1 + _ROUNDING))
        rows *= 1 - share
        rows[np.arange(len(rows)), costs.argmin(axis=1)] += share
        return rows

    def generator(self) -> dict[str, Tensor]:
        """Return the present matrix."""
        import torch

        return {"matrix": torch.as_tensor(self.matrix())}

    def state(self) -> State:
        """Return the logits, the optimiser and the price."""
        return {"logits": self._logits.detach().cpu().clone(), **super().state()}

    def restore(self, state: State) -> None:
        """Go back to a state."""
        super().restore(state)
        self._logits.data.copy_(state["logits"])

    def _sample_joint(self, rng: np.random.Generator) -> Tensor:
        """Return the joint distribution, or the shares in as many records drawn from it as there were."""
        import torch

        if self._records is None:
            return self._joint
        shares = rng.multinomial(self._records, self._shares.ravel() / self._shares.sum()) / self._records
        return torch.as_tensor(shares.reshape(self._shares.shape), dtype=torch.float64, device=self._joint.device)

    def _against(self, shares: Tensor, beliefs: Tensor) -> Tensor:
        return self._target.of_reports(shares) if self._exact else self._target(shares, beliefs)

    def _beliefs(self, shares: Tensor) -> Tensor:
        """Return log P(x|z), tensor (reports, labels)."""
        return (shares.clamp_min(_LEAST).log() - shares.sum(0).clamp_min(_LEAST).log()).T


def _f1(shares: Floats, guesses: Any) -> float:
    """Return the mean F1 of the best guesses over the labels that occur."""
    labels, right, guessed = shares.sum(axis=1), np.zeros(len(shares)), np.zeros(len(shares))
    np.add.at(right, guesses, shares[guesses, np.arange(shares.shape[1])])
    np.add.at(guessed, guesses, shares.sum(axis=0))
    occurs = labels > 0
    return float((2 * right / np.where(occurs, labels + guessed, 1.0))[occurs].mean())
