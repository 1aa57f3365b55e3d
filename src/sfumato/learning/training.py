"""Training: its settings, device and checkpoints, and its rounds (Algorithm 1)."""

from __future__ import annotations

import hashlib
import math
import os
import pickle
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from .._system import atomically
from ..core.immutable import CompactRepr
from ..errors import FileError, InputError, MissingExtraError
from .targets import Target, Utility

if TYPE_CHECKING:
    import torch
    from torch import Tensor


_CLEARED: Final = (0.0, 0.6)  # from which to which part of the rounds the blur and the bonus fall
_COOLED: Final = (0.5, 0.85)  # and the temperature
_FORMAT = 1
Stop = Callable[[], bool]
State = dict[str, Any]


@dataclass(frozen=True, slots=True, repr=False)
class Training(CompactRepr):
    """Settings of the networks' training; the sizes that the paper does not state are our choice.

    Attributes:
        heads: The number of answers from which the generator chooses for a place. One is the paper's network; of
            several the first is the place itself.
        seeds: The numbers of [0, 1) that each head receives in addition to the place; at least 2.
        width: Of the two hidden layers of the generator and of the attacker.
        start_steps: Batches in which the generator learns planar Laplace noise.
        attack_steps: Batches for each new attacker. With too few the generator learns to fool a weak attacker.
        generator_steps: Batches of the generator in each round. With many it runs away from the fixed attacker,
            and the next one finds it.
        attack_batch: Records in a batch of the attacker; each counts with the reports of all heads.
        generator_batch: Records in a batch of the generator.
        attack_rate: The attacker's largest learning rate.
        generator_rate: The learning rate of the heads; it falls along a cosine to a twentieth.
        gate_rate: The learning rate of the gates' biases, which falls likewise.
        place_rate: The learning rate of the gates' dependence on the place.
        gate_bonus: The weight of the gates' entropy in nats, against early loss of a head; it falls to 0.
        blur: The size of the Gaussian noise that moving heads add, relative to the spread of the data, at first;
            wide, so that the attacker's gradient reaches far.
        last_blur: The value to which it falls. Patterns much finer than it reveal nothing.
        temperature: The divisor of the logits of the attacker whom the generator faces.
        last_temperature: The value to which it falls, from half of the rounds on, while the loss has a price. A
            posterior is at its mildest where reports nearly agree, and there the price pulls them apart; below 1
            the belief is nearer to a best guess. The target of a round is measured with this.
    """

    heads: int = 2
    seeds: int = 3
    width: int = 96
    start_steps: int = 400
    attack_steps: int = 250
    generator_steps: int = 10
    attack_batch: int = 512
    generator_batch: int = 512
    attack_rate: float = 0.01
    generator_rate: float = 1e-3
    gate_rate: float = 2.5e-2
    place_rate: float = 8e-3
    gate_bonus: float = 0.1
    blur: float = 0.3
    last_blur: float = 0.1
    temperature: float = 1.0
    last_temperature: float = 0.2

    def __post_init__(self) -> None:
        least = {"seeds": 2.0, "gate_bonus": 0.0, "blur": 0.0, "last_blur": 0.0}
        steps = ("start_steps", "attack_steps", "generator_steps")
        least |= dict.fromkeys(("heads", "width", *steps, "attack_batch", "generator_batch"), 1.0)
        # All others are positive.
        wrong = [k for k, value in asdict(self).items() if not (value >= least[k] if k in least else value > 0)]
        if wrong:
            text = ", ".join(f"{name} of {getattr(self, name)}" for name in wrong)
            raise InputError(
                f"the networks cannot be trained with {text}.",
                "use at least two seeds, positive numbers, and a bonus and blur of at least 0.",
            )

    def blur_at(self, part: float) -> float:
        """Return the blur when a part of the rounds has passed."""
        return self.blur + (self.last_blur - self.blur) * _progress(part, *_CLEARED)

    def temperature_at(self, part: float) -> float:
        """Return the temperature when a part of the rounds has passed."""
        cooled: float = (self.last_temperature / self.temperature) ** _progress(part, *_COOLED)
        return self.temperature * cooled

    def bonus_at(self, part: float) -> float:
        """Return the weight of the gates' entropy when a part of the rounds has passed."""
        return self.gate_bonus * (1 - _progress(part, *_CLEARED))


def _progress(part: float, begin: float, end: float) -> float:
    """Return the part of the way from ``begin`` to ``end`` that has passed, from 0 to 1."""
    return min(1.0, max(0.0, (part - begin) / (end - begin)))


def device_for(feature: str, name: str | None = None) -> torch.device:
    """Return the device named, such as ``"cpu"``, else a GPU where there is one, else the CPU.

    Raises `MissingExtraError` if torch is not installed, which the feature needs.
    """
    try:
        import torch
    except ImportError:
        raise MissingExtraError(feature, "learn") from None
    if name is None:
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def save(path: str | os.PathLike[str], identity: str, state: dict[str, Any]) -> None:
    """Write a state of tensors and plain values under an identity, whole or not at all."""
    import torch

    with atomically(path) as temporary:
        torch.save({"format": _FORMAT, "identity": identity, "state": state}, temporary)


def load(path: str | os.PathLike[str], identity: str) -> dict[str, Any] | None:
    """Return the state in a file, or None if there is none; a file cannot run code, nor have another identity."""
    import torch

    if not Path(path).exists():
        return None
    name, hint = repr(os.fspath(path)), "remove it to start again, or name another file."
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, EOFError, RuntimeError, ValueError, KeyError, pickle.UnpicklingError) as error:
        kind = type(error).__name__
        raise FileError(f"{name} is not a checkpoint that can be read ({kind}).", hint) from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT or "state" not in content:
        raise FileError(f"{name} is not a checkpoint of this version.", hint)
    if content.get("identity") != identity:
        raise InputError(
            f"the checkpoint {name} is of a training with other data or settings.",
            "repeat the call that made it, or name another file.",
        )
    return dict(content["state"])


def identity_of(*parts: object) -> str:
    """Return a digest of data and settings: arrays by their bytes, all else by its text."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            array: NDArray[Any] = np.ascontiguousarray(part)
            digest.update(f"{array.dtype} {array.shape}".encode())
            digest.update(array.tobytes())
        else:
            digest.update(repr(part).encode())
        digest.update(b"\0")
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, repr=False)
class TrainingRound(CompactRepr):
    """Measurements of one round: of the generator at its start, on held-out records.

    Attributes:
        accuracy: The share of right guesses of an attacker trained from nothing on this generator.
        f1: Its mean F1 over the labels.
        information_bits: The mutual information of label and guess, from counts.
        bayes_error: 1 - sum over guesses y of max over labels x of the share of (x, y).
        loss_error: The standard error of that mean.
        multiplier: The price on the loss.
        seconds: Since the training began; a resumed training goes on counting.
        averaged: The number of rounds' generators of which this one is the mean.
    """

    number: int
    accuracy: float
    f1: float
    information_bits: float
    bayes_error: float
    target: float
    loss: float
    loss_error: float
    multiplier: float
    seconds: float
    averaged: int = 1


class Ending(Enum):
    """The reason why a training ended; the value is a sentence."""

    HIDDEN = "The attacker guesses no better than without reports, and the loss is within its limit."
    SETTLED = "Nothing improved for as many rounds as the patience allows."
    PLAYED = "All rounds were played; more rounds may give a better result."
    STOPPED = "The training was stopped from outside."


Progress = Callable[[TrainingRound], None]


class Game(ABC):
    """A game as `play` needs it; all its randomness derives from its entropy and the round's number."""

    _optimiser: Any

    def __init__(self, entropy: int, target: Target, utility: Utility) -> None:
        self._entropy, self._target, self._utility = entropy, target, utility
        self._multiplier = utility.start
        self._before, self._start_time = 0.0, time.monotonic()

    @abstractmethod
    def measure(self, number: int) -> TrainingRound:
        """Train an attacker from nothing and return its success."""

    @abstractmethod
    def improve(self, number: int) -> None:
        """Train the generator against the fixed attacker of this round."""

    @abstractmethod
    def generator(self) -> dict[str, Tensor]:
        """Return the present generator's parameters."""

    def state(self) -> State:
        """Return all that the next round depends on."""
        return {
            "entropy": str(self._entropy),
            "optimiser": self._optimiser.state_dict(),
            "multiplier": self._multiplier,
            "seconds": self._seconds(),
        }

    def restore(self, state: State) -> None:
        """Go back to a state."""
        self._optimiser.load_state_dict(state["optimiser"])
        self._entropy, self._multiplier = int(state["entropy"]), state["multiplier"]
        self._before, self._start_time = state["seconds"], time.monotonic()

    def _seconds(self) -> float:
        return self._before + time.monotonic() - self._start_time


def descend(optimiser: Any, loss: Tensor) -> None:
    """Take one gradient step."""
    import torch

    optimiser.zero_grad()
    torch.autograd.backward(loss)
    optimiser.step()


@dataclass(slots=True)
class TrainingOutcome:
    """The result of the rounds: all measurements, the best round (0 before the first) and its parameters."""

    history: list[TrainingRound] = field(default_factory=list)
    best: int = 0
    parameters: dict[str, Tensor] = field(default_factory=dict)
    ending: Ending | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules for the end of the rounds and for the choice of the best generator; see `learn_generator`.

    ``max_loss`` is ``inf`` for no limit; ``blind_accuracy`` is that of the best guess without a report.
    """

    rounds: int
    max_loss: float
    blind_accuracy: float
    tolerance: float | None
    patience: int
    failure: float = 0.05

    def __post_init__(self) -> None:
        if self.rounds < 1 or self.patience < 1:
            raise InputError(
                f"{self.rounds} rounds with a patience of {self.patience} are too few.",
                "use at least one of each.",
            )
        if not ((self.tolerance is None or self.tolerance >= 0) and self.max_loss >= 0):
            raise InputError(
                f"the tolerance {self.tolerance} or the largest loss {self.max_loss} is negative or not a number.",
                "use numbers of at least 0.",
            )
        if not 0 < self.failure <= 0.5:
            raise InputError(f"a failure of {self.failure} is not above 0 and at most 0.5.", "use 0.05.")

    def meets_limit(self, measures: TrainingRound) -> bool:
        """Return whether the loss is within its limit, except with the probability of failure."""
        return loss_at_most(measures.loss, measures.loss_error, self.failure) <= self.max_loss

    def better(self, new: TrainingRound, old: TrainingRound | None) -> bool:
        """Return whether a round's generator replaces an older one.

        Those within the limit come first. Among them a mean of several does, as the least of many measured targets
        is partly luck, and then the least target.
        """
        if old is None:
            return True
        if self.meets_limit(new) != self.meets_limit(old):
            return self.meets_limit(new)
        if not self.meets_limit(new):
            return new.loss < old.loss
        return new.averaged > old.averaged or new.target < old.target

    def ending(self, outcome: TrainingOutcome) -> Ending | None:
        """Return the reason why the rounds should end here, or None."""
        last = outcome.history[-1]
        is_hidden = self.tolerance is not None and last.accuracy <= self.blind_accuracy + self.tolerance
        if is_hidden and self.meets_limit(last):
            return Ending.HIDDEN
        if last.number - outcome.best >= self.patience:
            return Ending.SETTLED
        return Ending.PLAYED if last.number >= self.rounds else None


def loss_at_most(loss: float, error: float, failure: float) -> float:
    """Return the limit above which a mean loss is with probability ``failure``, normally approximated."""
    return loss + NormalDist().inv_cdf(1 - failure) * error if failure < 0.5 else loss


def play(
    game: Game,
    rules: Rules,
    identity: str,
    *,
    progress: Progress | None = None,
    stop: Stop | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: int = 1,
) -> TrainingOutcome:
    """Play the rounds, from the checkpoint if it exists, and return the best generator.

    ``identity`` identifies data and settings. A checkpoint of another training is an `InputError`, and one that
    cannot be read or written a `FileError`.
    """
    if every < 1:
        raise InputError(f"a checkpoint every {every} rounds is not possible.", "use at least 1.")
    outcome = TrainingOutcome()
    state = None if checkpoint is None else load(checkpoint, identity)
    if state is not None:
        ending = None if state["ending"] is None else Ending[state["ending"]]
        history = [TrainingRound(**row) for row in state["history"]]
        outcome = TrainingOutcome(history, state["best"], state["parameters"], ending)
        if outcome.ending is not None and outcome.ending is not Ending.STOPPED:
            return outcome
        outcome.ending = None
        game.restore(state["game"])
    while outcome.ending is None:
        number = len(outcome.history) + 1
        if stop is not None and outcome.history and stop():
            outcome.ending = Ending.STOPPED
            break
        last = game.measure(number)
        best = outcome.history[outcome.best - 1] if outcome.best else None
        outcome.history.append(last)
        if rules.better(last, best):
            outcome.best, outcome.parameters = number, game.generator()
        if progress is not None:
            progress(last)
        outcome.ending = rules.ending(outcome)
        if outcome.ending is None:
            game.improve(number)
        if checkpoint is not None and (number % every == 0 or outcome.ending is not None):
            save(checkpoint, identity, _as_state(outcome, game))
    if checkpoint is not None and outcome.ending is Ending.STOPPED:
        save(checkpoint, identity, _as_state(outcome, game))
    return outcome


def _as_state(outcome: TrainingOutcome, game: Game) -> State:
    return {
        "history": [asdict(row) for row in outcome.history],
        "best": outcome.best,
        "parameters": outcome.parameters,
        "ending": None if outcome.ending is None else outcome.ending.name,
        "game": game.state(),
    }


def checked_max_loss(max_loss: float | None) -> float:
    """Return the largest loss as a number, ``inf`` for None; refuse one that is not positive."""
    limit = math.inf if max_loss is None else float(max_loss)
    if not limit > 0:
        raise InputError(f"a largest loss of {max_loss} is not positive.", "pass the largest loss to accept.")
    return limit
