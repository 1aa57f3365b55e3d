"""Learned generators: networks from a place and a seed to a place, and their training."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..attacks.classifiers import Examples
from ..core import units
from ..core.arrays import Floats, floats
from ..errors import InputError
from ..mechanisms import PlanarLaplace
from .pairs import Pairs
from .targets import AugmentedLagrangian, MutualInformation, Target, Utility
from .training import (
    Ending,
    Progress,
    Rules,
    Stop,
    Training,
    TrainingRound,
    checked_max_loss,
    device_for,
    identity_of,
    play,
)

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

    In each round an attacker is trained from nothing on the reports of the present generator and judged on
    held-out records; then the generator is trained against this fixed attacker. It starts as planar Laplace noise.
    With several heads it is blurred, and a tenth of the reports, the nearest ones, are the place itself. The last
    round measures the mean of the last tenth's generators, which spends the rest of the limit: it reports the
    place itself as rarely as the probability of failure allows. It is returned if its loss is within the limit.
    Otherwise the result is the generator within the limit of least target against a new attacker. Raises
    `InputError` if an argument does not fit. Raises `UnitError` if a unit does not. Raises `MissingExtraError` if
    torch is not installed.

    Args:
        data: The records: labels, and useful values of two coordinates.
        max_loss: The largest expected distance of report and useful value; in the unit of the data, or text such
            as ``"270 m"``; None for none.
        target: The target to minimise; by default the mutual information.
        utility: The price on the loss; by default an augmented Lagrangian.
        training: Sizes and rates of the networks.
        start_epsilon: Of the planar Laplace noise at the start, per unit; by default 2 / max_loss, whose mean
            distance is the limit.
        rounds: The most rounds.
        judging: The share of the records that judges each round.
        margin: The part of the limit that training leaves free. If the limit is generous, a larger margin gathers
            reports better.
        tolerance: The label counts as hidden when the attacker is right no more than this above chance, and the
            training ends; None plays on, against finer patterns than one attacker finds.
        patience: Rounds without gain after which the training ends.
        failure: The probability that the loss on other records is above the limit. The fewer records judge, the
            more of the limit it costs; 0.5 takes their mean for the truth.
        seed: For studies: makes the training the same each time, on the same machine.
        progress: Called with each round.
        stop: Asked before each round whether to stop.
        checkpoint: A file to save to, and to continue from if it exists.
        every: The number of rounds between two saves.
        device: Such as ``"cpu"``; by default a GPU where there is one.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, algorithm 1; the heads, their gates and the blur are
        ours: see `LearnedGenerator`.
    """
    place = device_for("Training a generator", device)
    from .neural_game import NeuralGame

    if data.points.shape[1] != 2:
        raise InputError(
            f"the useful values have {data.points.shape[1]} coordinates.",
            "the network reports places of the plane; for other values use learn_table.",
        )
    most = None if max_loss is None else units.parse(max_loss, unit=data.unit, subject="the largest loss")
    limit = checked_max_loss(most)
    if limit == float("inf") and start_epsilon is None:
        raise InputError("there is neither a largest loss nor an epsilon to start with.", "pass one of them.")
    if not 0 <= margin < 1:
        raise InputError(f"a margin of {margin} is not from 0 to below 1.", "use 0.02.")
    epsilon = 2 / limit if start_epsilon is None else start_epsilon
    noise = PlanarLaplace(epsilon, data.unit or "m")
    settings = Training() if training is None else training
    aim, price = target or MutualInformation(), utility or AugmentedLagrangian()
    options = (rounds, judging, margin, tolerance, patience, failure, seed)
    texts = repr(aim), repr(price), asdict(settings), noise.epsilon
    identity = identity_of("neural", data.points, data.classes, limit, *texts, *options)
    entropy = int(str(np.random.SeedSequence(seed).entropy))
    rules = Rules(rounds, limit, 1 - data.blind_error, tolerance, patience, failure)
    game = NeuralGame(data, judging, rules, margin, aim, price, settings, noise, entropy, place)
    outcome = play(game, rules, identity, progress=progress, stop=stop, checkpoint=checkpoint, every=every)
    ending = outcome.ending or Ending.STOPPED
    parameters = {name: tensor.numpy() for name, tensor in outcome.parameters.items()}
    shape = settings.seeds, settings.width, settings.heads
    history, allowed = tuple(outcome.history), rules.meets_limit(outcome.history[outcome.best - 1])
    return LearnedGenerator(
        parameters, game.centre, game.scale, *shape, data.unit, history, outcome.best, limit, allowed, ending
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LearnedGenerator:
    """A trained network from places and seeds to places. For studies only.

    The best answers are often far apart: the place itself, or a spot where everybody may be. Gradients of a single
    smooth network never lead from one to the other, so there are several heads, and gates that give the
    probability of each by the place. The first head answers with the place itself. The others are blurred, because
    attackers in the training miss very fine patterns. One head is the network of the paper.

    It guarantees no privacy: its reports are floats, their ratio of likelihoods may be infinite, and it was
    trained against some attackers only. Samples give lower bounds of its leakage (`sfumato.statistics`); for a
    guarantee make it a finite mechanism with `count_reports` and `with_guarantee`.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, section III; the heads are ours.

    Attributes:
        centre: Subtracted from places before they enter, array (2,).
        scale: The divisor of these differences, in the unit.
        heads: The number of answers it chooses from; of several the first is the place itself.
        history: All rounds; round i measures the generator at its start.
        best: The number of the round with this generator.
        max_loss: The largest expected distance allowed; ``inf`` if there was no limit.
        within_max_loss: Whether its loss was within the limit on the records that judged it, except with the
            allowed probability of failure.
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
    def best_round(self) -> TrainingRound:
        """Measures of this generator in its round."""
        return self.history[self.best - 1]

    def __repr__(self) -> str:
        met = "" if self.within_max_loss else f", not within its limit {self.max_loss:.4g}"
        return (
            f"LearnedGenerator of round {self.best} of {len(self.history)}: loss {self.best_round.loss:.4g} "
            f"{self.unit}{met}, attacker right in {self.best_round.accuracy:.3g}"
        )

    def draw(self, places: Any, *, seed: int | None = None) -> Floats:
        """Return one report for each place, array (k, 2). In floats, for studies.

        The seed is for studies: it makes the reports the same each time. Raises `MissingExtraError` if torch is
        not installed.
        """
        points = floats(places, "the places", shape=(None, 2))
        device = device_for("Drawing from a learned generator", "cpu")
        import torch

        from .neural_game import Obfuscator

        network = Obfuscator(self.seeds, self.width, self.heads).to(device)
        network.load_state_dict({name: torch.as_tensor(array) for name, array in self.parameters.items()})
        seeds = np.random.default_rng(seed).random((len(points), network.inputs))
        xy = np.empty_like(points)
        for begin in range(0, len(points), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            scaled = torch.as_tensor((points[part] - self.centre) / self.scale, dtype=torch.float32)
            with torch.no_grad():
                reports = network(scaled, torch.as_tensor(seeds[part], dtype=torch.float32))
            xy[part] = reports.double().numpy() * self.scale + self.centre
        return xy

    def reports(self, data: Pairs, hits: int = 1, *, seed: int | None = None) -> Examples:
        """Return the labels and reports of records, each ``hits`` times; ``seed`` is for studies."""
        many = repeat_records(data, hits)
        return many.with_reports(self.draw(many.points, seed=seed))

    def loss(self, data: Pairs, hits: int = 100, *, seed: int | None = None) -> tuple[float, float]:
        """Return the mean distance of report and place, and its standard error over records as independent draws.

        Each record has ``hits`` reports; the seed is for studies.
        """
        many = repeat_records(data, hits)
        apart = np.linalg.norm(self.draw(many.points, seed=seed) - many.points, axis=1)
        means = apart.reshape(hits, len(data)).mean(axis=0)
        error = float(means.std(ddof=1)) / len(data) ** 0.5 if len(data) > 1 else float("inf")
        return float(means.mean()), error


def repeat_records(data: Pairs, hits: int) -> Pairs:
    """Return each record ``hits`` times, at least once: all of them, then all of them again."""
    if hits < 1:
        raise InputError(f"{hits} reports of each record were asked for.", "ask for at least one.")
    return data.take(np.tile(np.arange(len(data)), hits))
