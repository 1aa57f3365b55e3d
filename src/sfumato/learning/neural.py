"""Training in the plane, and the learned generator: a network from a place and a seed to a place."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..attacks.learned import Examples
from ..core import units
from ..core.arrays import Floats, floats
from ..errors import InputError
from ..mechanisms import PlanarLaplace
from .neural_game import NeuralGame
from .pairs import Pairs
from .rounds import Ending, Progress, Rules, Stop, TrainingRound, checked_max_loss, play
from .targets import AugmentedLagrangian, MutualInformation, Target, Utility
from .training import Training, device_for, identity_of

_CHUNK: Final = 1 << 17  # places at a time: hidden layers take much more memory than reports


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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LearnedGenerator:
    """A trained network from places and seeds to places. For studies only.

    One network that adds to a place what depends smoothly on place and seed can spread
    reports, but hardly split them. Where the limit does not allow to hide everything, the
    best answers are far apart: either the place itself, or a spot where everybody may be.
    To go part of the way costs and hides nothing, so gradients never lead from one to the
    other. Therefore there are several heads, each with an answer of its own, and gates that depend on the
    place and say how often each head answers. The first head answers with the place itself;
    the others' answers are blurred, as no attacker of the training sees very fine patterns
    that would tell people apart. One head is the network of the paper.

    It promises no privacy: its reports are floats, their ratio of likelihoods may be
    infinite, and it was trained against some attackers only. What samples show of it are
    lower bounds (`sfumato.statistics`); for a promise make it a finite mechanism
    with `counted` and `with_guarantee`.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, section III; the heads are ours.

    Attributes:
        parameters: Of the network, arrays by name.
        centre: Subtracted from places before they enter, array (2,).
        scale: What they are then divided by, in the unit.
        seeds: How many seeds the network is given.
        width: Of its hidden layers.
        heads: How many answers it chooses from; of several the first is the place itself.
        unit: The unit of the coordinates.
        history: All rounds; round i measures the generator that entered it.
        best: The number of the round whose generator this is.
        max_loss: The largest expected distance allowed; ``inf`` if there was no limit.
        within_max_loss: Whether its loss was within it, but for the probability of failure allowed, on the
            records that judged it.
        ending: Why the training ended.
    """

    parameters: dict[str, NDArray[Any]]
    centre: Floats
    scale: float
    seeds: int
    width: int
    heads: int
    unit: str
    history: tuple[TrainingRound, ...]
    best: int
    max_loss: float
    within_max_loss: bool
    ending: Ending

    @property
    def kept(self) -> TrainingRound:
        """Measures of this generator at the time when it was kept."""
        return self.history[self.best - 1]

    def __repr__(self) -> str:
        met = "" if self.within_max_loss else f", not within its limit {self.max_loss:.4g}"
        return (
            f"LearnedGenerator of round {self.best} of {len(self.history)}: loss {self.kept.loss:.4g} "
            f"{self.unit}{met}, attacker right in {self.kept.accuracy:.3g}"
        )

    def draw(self, places: Any, *, seed: int | None = None) -> Floats:
        """Return one report for each place, array (k, 2). In floats, for studies.

        Args:
            places: Array (k, 2), in the unit.
            seed: For studies: makes the reports the same each time.

        Raises:
            MissingExtraError: If torch is not installed.
        """
        given = floats(places, "the places", shape=(None, 2))
        device = device_for("Drawing from a learned generator", "cpu")
        import torch

        from .networks import Obfuscator

        network = Obfuscator(self.seeds, self.width, self.heads).to(device)
        network.load_state_dict({name: torch.as_tensor(array) for name, array in self.parameters.items()})
        seeds = np.random.default_rng(seed).random((len(given), network.inputs))
        drawn = np.empty_like(given)
        for begin in range(0, len(given), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            scaled = torch.as_tensor((given[part] - self.centre) / self.scale, dtype=torch.float32)
            with torch.no_grad():
                reports = network(scaled, torch.as_tensor(seeds[part], dtype=torch.float32))
            drawn[part] = reports.double().numpy() * self.scale + self.centre
        return drawn

    def reports(self, data: Pairs, hits: int = 1, *, seed: int | None = None) -> Examples:
        """Return the labels of records with reports of them, each record ``hits`` times.

        Args:
            data: The records.
            hits: How many reports of each.
            seed: For studies.
        """
        many = repeated(data, hits)
        return many.reported(self.draw(many.points, seed=seed))

    def loss(self, data: Pairs, hits: int = 100, *, seed: int | None = None) -> tuple[float, float]:
        """Return the mean distance of report and place over records, and its standard error.

        The error counts the records as the independent draws, not the hits of each.

        Args:
            data: The records.
            hits: How many reports of each.
            seed: For studies.
        """
        many = repeated(data, hits)
        apart = np.linalg.norm(self.draw(many.points, seed=seed) - many.points, axis=1)
        means = apart.reshape(hits, len(data)).mean(axis=0)
        error = float(means.std(ddof=1)) / len(data) ** 0.5 if len(data) > 1 else float("inf")
        return float(means.mean()), error


def repeated(data: Pairs, hits: int) -> Pairs:
    """Return each record ``hits`` times: all of them, then all of them again.

    Raises:
        InputError: If there would be none.
    """
    if hits < 1:
        raise InputError(f"{hits} reports of each record were asked for.", "ask for at least one.")
    return data.take(np.tile(np.arange(len(data)), hits))
