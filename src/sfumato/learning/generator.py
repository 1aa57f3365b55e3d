"""A learned generator: reports of the plane for studies, and how its training went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..attacks.learned import Examples
from ..core.arrays import Floats, floats
from ..errors import InputError
from .pairs import Pairs
from .rounds import Ending, TrainingRound
from .training import device_for

_CHUNK: Final = 1 << 17  # places at a time: hidden layers take much more memory than reports


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
