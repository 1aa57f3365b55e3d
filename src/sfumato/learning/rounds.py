"""Rounds of the training: a new attacker each time, then a better generator (Algorithm 1)."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import Enum
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Protocol

from ..core.immutable import CompactRepr
from ..errors import InputError
from .training import load, save

if TYPE_CHECKING:
    from torch import Tensor

Stop = Callable[[], bool]
State = dict[str, Any]


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


class Game(Protocol):
    """A game as `play` needs it; all its randomness derives from its seed and the round's number."""

    def measured(self, number: int) -> TrainingRound:
        """Train an attacker from nothing and return its success."""

    def improve(self, number: int) -> None:
        """Train the generator against the fixed attacker of this round."""

    def generator(self) -> dict[str, Tensor]:
        """Return the present generator's parameters."""

    def state(self) -> State:
        """Return all that the next round depends on."""

    def restore(self, state: State) -> None:
        """Go back to a state."""


@dataclass(slots=True)
class Played:
    """The result of the rounds: all measurements, the best round (0 before the first) and its parameters."""

    history: list[TrainingRound] = field(default_factory=list)
    best: int = 0
    parameters: dict[str, Tensor] = field(default_factory=dict)
    ending: Ending | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules for the end of the rounds and for the choice of the best generator.

    The loss may be at most ``max_loss``, ``inf`` for no limit. ``failure`` is the probability that it is above the
    limit, if the records that judge it are independent draws; 0.5 takes their mean for the truth. The label counts
    as hidden when the attacker's accuracy is no more than ``tolerance`` above ``blind_accuracy``, that of the best
    guess without a report; None plays on. After ``patience`` rounds without gain the game ends.
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

    def allowed(self, measured: TrainingRound) -> bool:
        """Return whether the loss is within its limit, except with the probability of failure."""
        return loss_at_most(measured.loss, measured.loss_error, self.failure) <= self.max_loss

    def better(self, new: TrainingRound, old: TrainingRound | None) -> bool:
        """Return whether a round's generator replaces an older one.

        Those within the limit come first. Among them a mean of several does, as the least of many measured targets
        is partly luck, and then the least target; without any within the limit, the least loss.
        """
        if old is None:
            return True
        if self.allowed(new) != self.allowed(old):
            return self.allowed(new)
        if not self.allowed(new):
            return new.loss < old.loss
        return new.averaged > old.averaged or new.target < old.target

    def ending(self, played: Played) -> Ending | None:
        """Return the reason why the rounds should end here, or None."""
        last = played.history[-1]
        hidden = self.tolerance is not None and last.accuracy <= self.blind_accuracy + self.tolerance
        if hidden and self.allowed(last):
            return Ending.HIDDEN
        if last.number - played.best >= self.patience:
            return Ending.SETTLED
        return Ending.PLAYED if last.number >= self.rounds else None


def loss_at_most(loss: float, error: float, failure: float) -> float:
    """Return the one-sided limit of a mean loss by the normal approximation, from its standard error.

    The mean is above the limit with probability ``failure``; 0.5 gives the loss as measured.
    """
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
) -> Played:
    """Play the rounds and return the best generator.

    ``identity`` identifies data and settings. ``progress`` is called after each round's measurement, and ``stop``
    before each round. The checkpoint is replaced after every ``every`` rounds; if it exists, the training
    continues from it. One of another training is an `InputError`, and one that cannot be read or written a
    `FileError`.
    """
    if every < 1:
        raise InputError(f"a checkpoint every {every} rounds is not possible.", "use at least 1.")
    played = Played()
    state = None if checkpoint is None else load(checkpoint, identity)
    if state is not None:
        ending = None if state["ending"] is None else Ending[state["ending"]]
        history = [TrainingRound(**each) for each in state["history"]]
        played = Played(history, state["best"], state["parameters"], ending)
        if played.ending is not None and played.ending is not Ending.STOPPED:
            return played
        played.ending = None
        game.restore(state["game"])
    while played.ending is None:
        number = len(played.history) + 1
        if stop is not None and played.history and stop():
            played.ending = Ending.STOPPED
            break
        last = game.measured(number)
        best = played.history[played.best - 1] if played.best else None
        played.history.append(last)
        if rules.better(last, best):
            played.best, played.parameters = number, game.generator()
        if progress is not None:
            progress(last)
        played.ending = rules.ending(played)
        if played.ending is None:
            game.improve(number)
        if checkpoint is not None and (number % every == 0 or played.ending is not None):
            save(checkpoint, identity, _as_state(played, game))
    if checkpoint is not None and played.ending is Ending.STOPPED:
        save(checkpoint, identity, _as_state(played, game))
    return played


def _as_state(played: Played, game: Game) -> State:
    return {
        "history": [asdict(each) for each in played.history],
        "best": played.best,
        "parameters": played.parameters,
        "ending": None if played.ending is None else played.ending.name,
        "game": game.state(),
    }


def checked_max_loss(max_loss: float | None) -> float:
    """Return the largest loss as a number, ``inf`` for None; refuse one that is not positive."""
    limit = math.inf if max_loss is None else float(max_loss)
    if not limit > 0:
        raise InputError(f"a largest loss of {max_loss} is not positive.", "pass the largest loss to accept.")
    return limit
