"""Training in the plane: the generator is a network from a place and a seed to a place."""

from __future__ import annotations

import os
from dataclasses import asdict

import numpy as np

from ..core import units
from ..errors import InputError
from ..mechanisms import PlanarLaplace
from .checkpoint import identity_of
from .generator import LearnedGenerator
from .neural_game import NeuralGame
from .pairs import Pairs
from .rounds import Ending, Progress, Rules, Stop, checked_max_loss, play
from .targets import MutualInformation, Target
from .training import Training, device_for
from .utility import AugmentedLagrangian, Utility


def learn_generator(
    data: Pairs,
    max_loss: float | str | None,
    *,
    target: Target | None = None,
    utility: Utility | None = None,
    training: Training | None = None,
    start_epsilon: float | str | None = None,
    rounds: int = 100,
    judging: float = 0.2,
    margin: float = 0.02,
    tolerance: float | None = 0.005,
    patience: int = 40,
    failure: float = 0.05,
    seed: int | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: int = 1,
    device: str | None = None,
) -> LearnedGenerator:
    """Train a network that reports a place of the plane with noise, against an attacker.

    In each round an attacker is trained from nothing on the reports of the present
    generator and judged on records kept apart; then the generator is trained while they
    stand still. It starts as planar Laplace noise, with several heads blurred and with a
    tenth of the reports, in place of the nearest ones, the place itself. The last round
    measures the mean of the last tenth's generators, which spends what the limit leaves: the
    place itself is reported as rarely as the probability of failure allows. It is kept if its
    loss is within the limit, and else the generator of such a round whose target was least
    against a new attacker.

    Args:
        data: The records: labels, and useful values of two coordinates.
        max_loss: The largest expected distance of report and useful value; in the unit of the
            data, or text such as ``"270 m"``; None for none.
        target: What to make small; by default the mutual information.
        utility: The price on the loss; by default an augmented Lagrangian.
        training: Sizes and rates of the networks.
        start_epsilon: Of the planar Laplace noise at the start, per unit; by default
            2 / max_loss, whose mean distance is the limit.
        rounds: The most rounds.
        judging: The share of the records that judges each round.
        margin: By which part of the limit to stay below it while training. Where the limit
            allows to hide all with room to spare, a larger one gathers reports better.
        tolerance: The label counts as hidden when the attacker is right no more than this
            above chance, and the training ends; None plays on, against finer patterns than
            one attacker finds.
        patience: Rounds without gain after which the training ends.
        failure: The probability that the loss on other records is above the limit nevertheless. The
            fewer records judge, the more of the limit it costs; 0.5 takes their mean for
            the truth.
        seed: For studies: makes the training the same each time, on the same machine.
        progress: Called with each round.
        stop: Asked before each round whether to stop.
        checkpoint: A file to save to, and to go on from if it exists.
        every: After how many rounds it is saved.
        device: Such as ``"cpu"``; by default a GPU where there is one.

    Raises:
        InputError: If an argument does not fit.
        UnitError: If a unit does not.
        MissingExtraError: If torch is not installed.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, algorithm 1. For the heads,
        their gates and the blur, which are ours, see `LearnedGenerator` and `Training`.
    """
    place = device_for("Training a generator", device)
    if data.points.shape[1] != 2:
        raise InputError(
            f"the useful values have {data.points.shape[1]} coordinates.",
            "the network reports places of the plane; for other values use learn_table.",
        )
    limit = checked_max_loss(
        None if max_loss is None else units.parse(max_loss, unit=data.unit, what="the largest loss")
    )
    if limit == float("inf") and start_epsilon is None:
        raise InputError("there is neither a largest loss nor an epsilon to start with.", "pass one of them.")
    if not 0 <= margin < 1:
        raise InputError(f"a margin of {margin} is not from 0 to below 1.", "use 0.02.")
    epsilon = 2 / limit if start_epsilon is None else start_epsilon
    noise = PlanarLaplace(epsilon, data.unit or "m")
    settings = Training() if training is None else training
    aim, price = target or MutualInformation(), utility or AugmentedLagrangian()
    identity = identity_of(
        "neural",
        data.points,
        data.classes,
        limit,
        repr(aim),
        repr(price),
        asdict(settings),
        noise.epsilon,
        rounds,
        judging,
        margin,
        tolerance,
        patience,
        failure,
        seed,
    )
    entropy = np.random.SeedSequence(seed).entropy
    rules = Rules(rounds, limit, 1 - data.blind_error, tolerance, patience, failure)
    game = NeuralGame(data, judging, rules, margin, aim, price, settings, noise, int(str(entropy)), place)
    played = play(game, rules, identity, progress=progress, stop=stop, checkpoint=checkpoint, every=every)
    ending = Ending.STOPPED if played.ending is None else played.ending
    parameters = {name: tensor.numpy() for name, tensor in played.parameters.items()}
    return LearnedGenerator(
        parameters,
        game.centre,
        game.scale,
        settings.seeds,
        settings.width,
        settings.heads,
        data.unit,
        tuple(played.history),
        played.best,
        limit,
        rules.allowed(played.history[played.best - 1]),
        ending,
    )
