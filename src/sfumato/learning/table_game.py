"""Game of a matrix: exact expectations, and the posterior as the attacker."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..core.arrays import Floats
from ..leakage import joint_information_bits
from .rounds import State, TrainingRound
from .targets import Target
from .utility import Utility

if TYPE_CHECKING:
    import torch
    from torch import Tensor

CLASSIFIER, EXACT = "classifier", "exact"
_LEAST: Final = 1e-30  # beliefs below it count as this in logarithms
_ROUNDING: Final = 1e-9  # of the share that mends the loss, far above what the integers move it


class TableGame:
    """The game of a matrix, a `rounds.Game`; its arguments are those of `learn_table`, checked."""

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

        self._joint, self._costs = tensor(joint), tensor(joint.sum(axis=0)[:, None] * costs)
        self._target, self._utility, self._exact = target, utility, attacker == EXACT
        self._max_loss, self._aim = max_loss, max_loss * (1 - margin)
        self._rounds, self._steps, self._rate, self._last_rate = rounds, steps, rate, last_rate
        self._shares, self._records = joint, records
        self._entropy = int(str(np.random.SeedSequence(seed).entropy))
        self._logits = torch.log(tensor(start)).requires_grad_(True)
        self._optimiser = torch.optim.Adam([self._logits], lr=rate)
        self._multiplier = utility.start
        self._before, self._begun = 0.0, time.monotonic()

    def measured(self, number: int) -> TrainingRound:
        """Measure the present matrix, exactly, against the posterior."""
        import torch

        matrix = torch.as_tensor(self.matrix(), device=self._joint.device)
        shares = self._joint @ matrix
        target = float(self._against(shares, self._beliefs(shares)))
        loss = float((self._costs * matrix).sum())
        joint = shares.cpu().numpy()
        guesses = _guesses(joint)
        found = float(joint[guesses, np.arange(joint.shape[1])].sum())
        return TrainingRound(
            number,
            found,
            _f1(joint, guesses),
            joint_information_bits(joint),
            1.0 - found,
            target,
            loss,
            0.0,
            self._multiplier,
            self._seconds(),
        )

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
            value = self._against(self._seen(rng) @ matrix, frozen)
            if self._max_loss < float("inf"):
                loss = (self._costs * matrix).sum()
                value = value + self._utility.price(loss, self._aim, self._multiplier)
            self._optimiser.zero_grad()
            torch.autograd.backward(value)
            self._optimiser.step()
        if self._max_loss < float("inf"):
            with torch.no_grad():
                loss = (self._costs * torch.softmax(self._logits, 1)).sum()
            self._multiplier = self._utility.updated(float(loss), self._aim, self._multiplier)

    def matrix(self) -> Floats:
        """Return the present matrix, corrected where its loss is above what training aims at.

        The smallest share of the truest reports is mixed in that brings the loss
        down to it; what an attacker learns grows by no more than that share of what they reveal.
        """
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
        return {
            "logits": self._logits.detach().cpu().clone(),
            "optimiser": self._optimiser.state_dict(),
            "entropy": str(self._entropy),
            "multiplier": self._multiplier,
            "seconds": self._seconds(),
        }

    def restore(self, state: State) -> None:
        """Go back to a state."""
        import torch

        with torch.no_grad():
            self._logits.copy_(state["logits"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._entropy, self._multiplier = int(state["entropy"]), state["multiplier"]
        self._before, self._begun = state["seconds"], time.monotonic()

    def _seen(self, rng: np.random.Generator) -> Tensor:
        """Return the joint distribution, or the shares in as many records drawn from it as were asked for."""
        import torch

        if self._records is None:
            return self._joint
        drawn = rng.multinomial(self._records, self._shares.ravel() / self._shares.sum()) / self._records
        return torch.as_tensor(drawn.reshape(self._shares.shape), dtype=torch.float64, device=self._joint.device)

    def _against(self, shares: Tensor, beliefs: Tensor) -> Tensor:
        return self._target.of_reports(shares) if self._exact else self._target(shares, beliefs)

    def _beliefs(self, shares: Tensor) -> Tensor:
        """Return log P(x|z), tensor (reports, labels)."""
        return (shares.clamp_min(_LEAST).log() - shares.sum(0).clamp_min(_LEAST).log()).T

    def _seconds(self) -> float:
        return self._before + time.monotonic() - self._begun


def _guesses(shares: Floats) -> Any:
    return shares.argmax(axis=0)


def _f1(shares: Floats, guesses: Any) -> float:
    """Return the mean F1 of the best guesses over the labels that occur."""
    labels = shares.sum(axis=1)
    right = np.zeros(len(shares))
    guessed = np.zeros(len(shares))
    np.add.at(right, guesses, shares[guesses, np.arange(shares.shape[1])])
    np.add.at(guessed, guesses, shares.sum(axis=0))
    occurs = labels > 0
    return float((2 * right / np.where(occurs, labels + guessed, 1.0))[occurs].mean())
