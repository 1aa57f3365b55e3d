"""Example 1 (payoffs, the game with two targets, Algorithm 1), and the propositions about guesses.

Trained with cross entropy the two sides chase each other; with mutual information they settle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np

from sfumato.attacks.classifiers import Confusion
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError
from sfumato.leakage import joint_information_bits
from sfumato.learning import CLASSIFIER, AugmentedLagrangian, MutualInformation, TableGame, Target, device_for

from ..results import where

if TYPE_CHECKING:
    from torch import Tensor

GENERATORS: Final = ("truth", "swap", "always a", "always b")  # reports for Alice's a and Bob's b

CLASSIFIERS: Final = ("a is Alice, b is Bob", "a is Bob, b is Alice", "always Alice", "always Bob")  # guesses

# Reports of Alice and of Bob, and guesses at a and at b; 0 stands for a and for Alice.
_CHOICES: Final = ((0, 1), (1, 0), (0, 0), (1, 1))

_ROUNDS: Final = 40  # of Algorithm 1
_STEPS: Final = 20  # of each side in a round
_RATE: Final = 0.1


@dataclass(frozen=True, slots=True)
class SwappingRound:
    """One round of the game of Example 1 with one target."""

    target: str
    seed: int  # of the start; 0 for the usual one
    alice_at_a: float  # the probability that she is reported at a
    bob_at_a: float
    accuracy: float  # how often the classifier is right


def games_of(rounds: Sequence[SwappingRound]) -> list[list[SwappingRound]]:
    """Return the rounds of each target and start."""
    names = dict.fromkeys((row.target, row.seed) for row in rounds)
    return [where(rounds, target=target, seed=seed) for target, seed in names]


def swaps(game: Sequence[SwappingRound]) -> int:
    """Return the number of rounds in which a came to mean the other person than in the round before."""
    lead = np.sign([row.alice_at_a - row.bob_at_a for row in game])
    return int(np.count_nonzero(lead[1:] * lead[:-1] < 0))


def start_of(seed: int) -> Floats:
    """Return the probabilities of a and b for Alice and for Bob at the start of a game, array (2, 2)."""
    if seed == 0:
        return np.array(((0.9, 0.1), (0.1, 0.9)))
    alice, bob = np.random.default_rng(seed).uniform((0.6, 0.05), (0.95, 0.4))
    return np.array([[alice, 1 - alice], [bob, 1 - bob]])


def play_swapping(target: Target, *, rounds: int = 24, steps: int = _STEPS, seed: int = 0) -> list[SwappingRound]:
    """Play Example 1 without a limit of the loss, each round against the best classifier."""
    if rounds < 1 or steps < 1:
        raise InputError(f"{rounds} rounds of {steps} steps make no game.", "use at least one of each.")
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
        rate=_RATE,
        device=device_for("Playing the game"),
        last_rate=1.0,
    )
    rows = []
    for number in range(1, rounds + 1):
        accuracy = game.measure(number).accuracy
        alice, bob = game.matrix()[:, 0].tolist()
        rows.append(SwappingRound(target.name, seed, alice, bob, accuracy))
        game.improve(number)
    return rows


@dataclass(frozen=True, slots=True, repr=False)
class PayoffRow(CompactRepr):
    """The classifier's gains in one of the 16 cases of Figure 1."""

    generator: str
    classifier: str
    success: float  # probability of a right guess: best replies alternate between truth and swap without end
    information_bits: float  # mutual information of person and guess: swapping gains nothing
    vulnerability: float  # probability of the best guess of the person from the guess


def payoffs() -> list[PayoffRow]:
    """Return the payoffs of Example 1: two users, equally frequent, at places a and b."""
    rows = []
    choices = [np.array(choice) for choice in _CHOICES]
    for (generator, reports), (classifier, guesses) in product(
        zip(GENERATORS, choices, strict=True), zip(CLASSIFIERS, choices, strict=True)
    ):
        confusion = Confusion.of(np.arange(2), guesses[reports], 2)
        gains = confusion.accuracy, confusion.information_bits, 1 - confusion.bayes_error
        rows.append(PayoffRow(generator, classifier, *gains))
    return rows


@dataclass(frozen=True, slots=True, repr=False)
class AlternationRow(CompactRepr):
    """One round of Algorithm 1."""

    seed: int  # of the start
    reset: bool  # whether each round begins with an untrained classifier, as in Algorithm 1
    round: int  # from 1
    classifier_right: float  # how often the trained classifier is right
    best_right: float  # how often the best guess is right


def alternate(seed: int, *, reset: bool) -> list[AlternationRow]:
    """Run Algorithm 1 on Example 1 against a trained classifier: a table of logits, with exact expectations."""
    import torch

    target = MutualInformation()
    people = torch.full((2, 1), 0.5, dtype=torch.float64)
    generator = torch.log(torch.as_tensor(start_of(seed))).requires_grad_(True)
    improver = torch.optim.Adam([generator], lr=_RATE)

    def shares() -> Tensor:
        return people * torch.softmax(generator, 1)

    rows: list[AlternationRow] = []
    for number in range(1, _ROUNDS + 1):
        if reset or number == 1:
            classifier = torch.zeros((2, 2), dtype=torch.float64, requires_grad=True)
            learner = torch.optim.Adam([classifier], lr=_RATE)
        now = shares().detach()
        for _ in range(_STEPS):
            learner.zero_grad()
            torch.autograd.backward(-(now.T * torch.log_softmax(classifier, 1)).sum())
            learner.step()
        beliefs = torch.log_softmax(classifier.detach(), 1)
        right = float(now.T.gather(1, beliefs.argmax(1, keepdim=True)).sum())
        rows.append(AlternationRow(seed, reset, number, right, float(now.max(0).values.sum())))
        for _ in range(_STEPS):
            improver.zero_grad()
            torch.autograd.backward(target(shares(), beliefs))
            improver.step()
    return rows


@dataclass(frozen=True, slots=True, repr=False)
class GuessedLabel(CompactRepr):
    """Error of the best guess of a label from a statement, and their mutual information."""

    error: float
    information_bits: float
    unknown_bits: float  # entropy of the label, given the statement

    @classmethod
    def of(cls, shares: Floats) -> GuessedLabel:
        """Return both of the best guess from a report with P(x, z), array (labels, reports)."""
        joint = np.zeros((len(shares), len(shares)))
        np.add.at(joint.T, shares.argmax(axis=0), shares.T)
        return cls.of_statement(joint)

    @classmethod
    def of_statement(cls, joint: Floats) -> GuessedLabel:
        """Return both of a statement with P(x, y), array (labels, values)."""
        shares = joint.sum(axis=1)
        entropy = float(-(shares[shares > 0] * np.log2(shares[shares > 0])).sum())
        information = joint_information_bits(joint)
        return cls(1.0 - float(joint.max(axis=0).sum()), information, max(0.0, entropy - information))


@dataclass(frozen=True, slots=True, repr=False)
class GuessTheoremRow(CompactRepr):
    """Propositions 2 to 4 and the bound of Santhi and Vardy on random channels."""

    seed: int  # of the channels
    channels: int
    convex_slack_bits: float  # the least of two mechanisms' mean bits less those of their mixture (Proposition 2)
    information_slack_bits: float  # the least of I(X; Z) - I(X; Y) over channels and classifiers (Proposition 3)
    error_slack: float  # the least of B(X|Y) - B(X|Z) over channels and classifiers (Proposition 4)
    best_error_gap: float  # the largest of B(X|Y) - B(X|Z) for the best classifier
    entropy_slack: float  # the least of 1 - 2^-H(X|Y) - B(X|Y) (Santhi and Vardy)
    sharp_slack: float  # the largest of the same


def theorem_row(seed: int, channels: int) -> GuessTheoremRow:
    """Return the slack of each statement on random labels, mechanisms and classifiers."""
    rng = np.random.default_rng(seed)
    slacks = []
    for _ in range(channels):
        labels, places, reports = rng.integers(2, 7, size=3)
        sharp = 10.0 ** rng.uniform(-1.5, 0.5)
        joint = rng.dirichlet(np.full(labels * places, sharp)).reshape(labels, places)
        first, second = (rng.dirichlet(np.full(reports, sharp), size=places) for _ in range(2))
        classifier = rng.dirichlet(np.full(labels, sharp), size=reports)
        share, shares = float(rng.random()), joint @ first
        report, best = GuessedLabel.of_statement(shares), GuessedLabel.of(shares)
        guesses = (GuessedLabel.of_statement(shares @ classifier), best)
        bits, other_bits, mixed_bits = (
            joint_information_bits(joint @ mechanism @ classifier)
            for mechanism in (first, second, share * first + (1 - share) * second)
        )
        slacks.append(
            (
                share * bits + (1 - share) * other_bits - mixed_bits,
                min(report.information_bits - guess.information_bits for guess in guesses),
                min(guess.error - report.error for guess in guesses),
                best.error - report.error,
                min(1 - 2**-guess.unknown_bits - guess.error for guess in guesses),
            )
        )
    convex, information, error, _, entropy = np.min(slacks, axis=0).tolist()
    *_, gap, sharp = np.max(slacks, axis=0).tolist()
    return GuessTheoremRow(seed, channels, convex, information, error, gap, entropy, sharp)
