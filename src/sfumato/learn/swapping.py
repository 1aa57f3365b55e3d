"""Example 1 played out: trained with cross entropy the two sides chase each other, with information not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..core.arrays import Floats, floats, readonly
from ..errors import InputError
from ._torch import device_for
from .table_game import CLASSIFIER, TableGame
from .targets import Target
from .utility import AugmentedLagrangian

_START: Final = ((0.9, 0.1), (0.1, 0.9))


@dataclass(frozen=True, slots=True, eq=False)
class Swapping:
    """How the game of Example 1 went with one target.

    Attributes:
        target: What was made small.
        reports_a: Array (rounds, 2): the probability that Alice, and that Bob, is reported
            at a, at the start of each round.
        accuracy: Array (rounds,): how often the classifier of the round is right.
    """

    target: str
    reports_a: Floats
    accuracy: Floats

    @property
    def swaps(self) -> int:
        """How often a came to mean the other person than in the round before."""
        lead = np.sign(self.reports_a[:, 0] - self.reports_a[:, 1])
        return int(np.count_nonzero(lead[1:] * lead[:-1] < 0))


def play_swapping(
    target: Target, *, rounds: int = 24, steps: int = 20, rate: float = 0.1, start: ArrayLike = _START
) -> Swapping:
    """Play Example 1: Alice at a and Bob at b, equally frequent, with no bound on the loss.

    The classifier of each round is the best one against the present reports, and stands
    still while the generator takes many steps.

    Args:
        target: What the generator makes small: `CrossEntropy` or `MutualInformation`.
        rounds: How many.
        steps: Of the generator in each round.
        rate: Of its steps.
        start: The probabilities of a and b for Alice and for Bob, array (2, 2), positive.

    Raises:
        InputError: If there is no round or step, or the start is not positive.
        MissingExtraError: If torch is not installed.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, example 1.
    """
    if rounds < 1 or steps < 1:
        raise InputError(f"{rounds} rounds of {steps} steps make no game.", "use at least one of each.")
    begin = floats(start, "the start", shape=(2, 2))
    device = device_for("Playing the game")
    game = TableGame(
        np.diag([0.5, 0.5]),
        np.zeros((2, 2)),
        begin,
        target,
        AugmentedLagrangian(),
        attacker=CLASSIFIER,
        bound=float("inf"),
        margin=0.0,
        rounds=rounds,
        steps=steps,
        rate=rate,
        device=device,
        last_rate=1.0,
    )
    reports, accuracy = np.empty((rounds, 2)), np.empty(rounds)
    for number in range(1, rounds + 1):
        accuracy[number - 1] = game.measured(number).accuracy
        reports[number - 1] = game.matrix()[:, 0]
        game.improve(number)
    return Swapping(target.name, readonly(reports), readonly(accuracy))
