"""Example 1: Alice and Bob at two places, what each choice is worth, and the game played with two targets.

Trained with cross entropy the two sides chase each other, with mutual information they do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.attacks.learned import Confusion
from sfumato.core.arrays import Floats, readonly
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError
from sfumato.learning import CLASSIFIER, AugmentedLagrangian, TableGame, Target, device_for

_START: Final = ((0.9, 0.1), (0.1, 0.9))


@dataclass(frozen=True, slots=True)
class SwappingRound:
    """One round of the game: see `Swapping`."""

    target: str
    seed: int
    alice_at_a: float
    bob_at_a: float
    accuracy: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Swapping(CompactRepr):
    """Course of the game of Example 1 with one target.

    Attributes:
        target: What was made small.
        seed: Of the start; 0 for the usual one.
        reports_a: Array (rounds, 2): the probability that Alice, and that Bob, is reported
            at a, at the start of each round.
        accuracy: Array (rounds,): how often the classifier of the round is right.
    """

    target: str
    seed: int
    reports_a: Floats
    accuracy: Floats

    @property
    def swaps(self) -> int:
        """Number of rounds in which a came to mean the other person than in the round before."""
        lead = np.sign(self.reports_a[:, 0] - self.reports_a[:, 1])
        return int(np.count_nonzero(lead[1:] * lead[:-1] < 0))

    @property
    def rounds(self) -> list[SwappingRound]:
        """Its rounds, as rows of a table."""
        numbers = np.column_stack([self.reports_a, self.accuracy]).tolist()
        return [SwappingRound(self.target, self.seed, *row) for row in numbers]

    @classmethod
    def of_rounds(cls, rounds: Sequence[SwappingRound]) -> list[Swapping]:
        """Return the games of a table's rows, one for each target and start."""
        found = []
        for target, seed in dict.fromkeys((each.target, each.seed) for each in rounds):
            mine = [each for each in rounds if (each.target, each.seed) == (target, seed)]
            reports = readonly(np.array([[each.alice_at_a, each.bob_at_a] for each in mine]))
            found.append(cls(target, seed, reports, readonly(np.array([each.accuracy for each in mine]))))
        return found


def start_of(seed: int) -> Floats:
    """Return the probabilities of a and b for Alice and for Bob at the start of a game, array (2, 2)."""
    if seed == 0:
        return np.array(_START)
    alice, bob = np.random.default_rng(seed).uniform((0.6, 0.05), (0.95, 0.4))
    return np.array([[alice, 1 - alice], [bob, 1 - bob]])


def play_swapping(
    target: Target, *, rounds: int = 24, steps: int = 20, rate: float = 0.1, seed: int = 0
) -> Swapping:
    """Play Example 1: Alice at a and Bob at b, equally frequent, with no limit of the loss.

    The classifier of each round is the best one against the present reports, and stands
    still while the generator takes many steps.

    Args:
        target: What the generator makes small: `CrossEntropy` or `MutualInformation`.
        rounds: How many.
        steps: Of the generator in each round.
        rate: Of its steps.
        seed: Of the probabilities at the start: Alice is mostly at a and Bob at b. With 0 it is nine times of ten.

    Raises:
        InputError: If there is no round or step.
        MissingExtraError: If torch is not installed.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, example 1.
    """
    if rounds < 1 or steps < 1:
        raise InputError(f"{rounds} rounds of {steps} steps make no game.", "use at least one of each.")
    device = device_for("Playing the game")
    game = TableGame(
        np.diag([0.5, 0.5]),
        np.zeros((2, 2)),
        start_of(seed),
        target,
        AugmentedLagrangian(),
        attacker=CLASSIFIER,
        max_loss=float("inf"),
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
    return Swapping(target.name, seed, readonly(reports), readonly(accuracy))


GENERATORS: Final = ("truth", "swap", "always a", "always b")
"""What the generator does with Alice's a and Bob's b."""

CLASSIFIERS: Final = ("a is Alice, b is Bob", "a is Bob, b is Alice", "always Alice", "always Bob")
"""What the classifier makes of a report."""

# Reports of Alice and of Bob, and guesses at a and at b; 0 stands for a and for Alice.
_REPORTS = ((0, 1), (1, 0), (0, 0), (1, 1))
_GUESSES = ((0, 1), (1, 0), (0, 0), (1, 1))


@dataclass(frozen=True, slots=True, repr=False)
class PayoffRow(CompactRepr):
    """One of the 16 cases of Figure 1: see `Payoffs`."""

    generator: str
    classifier: str
    success: float
    information_bits: float
    vulnerability: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Payoffs(CompactRepr):
    """Gains of the classifier in each of the 16 cases, arrays (generators, classifiers).

    Attributes:
        success: The probability of a right guess. Between truth and swap best replies go
            round without end: against truth the classifier answers rightly, against that
            the generator swaps.
        information_bits: The mutual information of person and guess: to swap gains
            nothing, and to report one place always is a saddle point.
        vulnerability: The chance of the best guess of the person from the guess.
    """

    success: Floats
    information_bits: Floats
    vulnerability: Floats

    @property
    def rows(self) -> list[PayoffRow]:
        """The cases, as rows of a table."""
        return [
            PayoffRow(
                generator,
                classifier,
                float(self.success[g, c]),
                float(self.information_bits[g, c]),
                float(self.vulnerability[g, c]),
            )
            for g, generator in enumerate(GENERATORS)
            for c, classifier in enumerate(CLASSIFIERS)
        ]


def payoffs() -> Payoffs:
    """Return the payoff tables of Example 1: two users, equally frequent, at places a and b.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, example 1 and figure 1.

    Example:
        >>> payoffs().success[:2]
        array([[1. , 0. , 0.5, 0.5],
               [0. , 1. , 0.5, 0.5]])
    """
    tables = np.empty((3, len(_REPORTS), len(_GUESSES)))
    for g, reports in enumerate(_REPORTS):
        for c, guesses in enumerate(_GUESSES):
            guessed = np.array([guesses[report] for report in reports])
            found = Confusion.of(np.arange(2), guessed, 2)
            tables[:, g, c] = found.accuracy, found.information_bits, 1 - found.bayes_error
    success, information, vulnerability = (readonly(table) for table in tables)
    return Payoffs(success, information, vulnerability)
