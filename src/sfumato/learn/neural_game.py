"""The game of two networks: a generator in the plane, and a new attacker in every round."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..attacks.learned import Confusion
from ..core.arrays import Floats
from ..errors import InputError
from ..mechanisms import PlanarLaplace
from .pairs import Pairs
from .rounds import Round, State
from .targets import Target
from .utility import Utility

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_DRAWS: Final = 8  # reports of each record that a round is judged by, at least
_JUDGED: Final = 20_000  # and reports in all, about
_INIT, _START, _ATTACK, _IMPROVE, _JUDGE = range(5)


@dataclass(frozen=True, slots=True)
class Training:
    """How the networks learn; the sizes that the paper does not tell are our choice.

    Attributes:
        seeds: How many numbers of [0, 1) the generator is given besides the place; at least 2.
        width: Of the two hidden layers of the generator and of the attacker.
        start_steps: Batches in which the generator learns planar Laplace noise.
        attack_steps: Batches for each new attacker. Too few are worse than slow: the
            generator then learns to fool a weak attacker.
        generator_steps: Batches of the generator in each round.
        attack_batch: Reports in a batch of the attacker.
        generator_batch: Reports in a batch of the generator.
        attack_rate: The attacker's largest learning rate.
        generator_rate: The generator's learning rate; it falls along a cosine to a tenth.
        temperature: The attacker whom the generator faces has his logits divided by this:
            above 1 he is less sure, and his gradient reaches farther. He is judged at 1.
    """

    seeds: int = 3
    width: int = 96
    start_steps: int = 400
    attack_steps: int = 300
    generator_steps: int = 30
    attack_batch: int = 1024
    generator_batch: int = 1024
    attack_rate: float = 0.01
    generator_rate: float = 3e-3
    temperature: float = 1.0

    def __post_init__(self) -> None:
        counts = (
            self.width,
            self.start_steps,
            self.attack_steps,
            self.generator_steps,
            self.attack_batch,
            self.generator_batch,
        )
        rates = (self.attack_rate, self.generator_rate, self.temperature)
        if self.seeds < 2 or min(counts) < 1 or not min(rates) > 0:
            raise InputError(f"{self} cannot be used.", "use at least two seeds, and positive numbers.")


class NeuralGame:
    """The game of two networks, a `rounds.Game`, in coordinates divided by the spread of the data."""

    def __init__(
        self,
        data: Pairs,
        judging: float,
        bound: float,
        margin: float,
        target: Target,
        utility: Utility,
        training: Training,
        noise: PlanarLaplace,
        rounds: int,
        entropy: int,
        device: torch.device,
    ) -> None:
        self._entropy, self._device = entropy, device
        self._target, self._utility, self._training, self._rounds = target, utility, training, rounds
        self._noise, self._judging, self._data = noise, judging, data
        self.centre: Floats = data.points.mean(axis=0)
        self.scale = float(np.sqrt(((data.points - self.centre) ** 2).sum(axis=1).mean() / 2)) or 1.0
        self._bound, self._aim = bound / self.scale, bound * (1 - margin) / self.scale
        self._before, self._begun = 0.0, time.monotonic()
        self._multiplier = utility.start
        self._prepare()

    def _prepare(self) -> None:
        """Split the records, build the generator and teach it planar Laplace noise."""
        import torch

        from ._networks import Obfuscator, seeded

        judged, learned = self._data.split(self._judging, seed=self._seed(_INIT, 0))
        self._values, self._labels = self._tensors(learned)
        self._judged_values, self._judged_labels = self._tensors(judged)
        self._size = len(self._data.space)
        settings = self._training
        first = self._seed(_INIT, 1)
        network = seeded(lambda: Obfuscator(2, settings.seeds, settings.width), first, self._device)
        self._network: Any = network
        self._fit_start(self._source(_START, 0))
        self._optimiser = torch.optim.Adam(network.parameters(), lr=settings.generator_rate)

    def _fit_start(self, source: torch.Generator) -> None:
        import torch

        settings = self._training
        optimiser = torch.optim.Adam(self._network.parameters(), lr=2e-3)
        for _ in range(settings.start_steps):
            values, _, seeds = self._batch(settings.generator_batch, source)
            radius = self._noise.quantile(seeds[:, 1].double().cpu().numpy()) / self.scale
            angle = 2 * np.pi * seeds[:, 0]
            wanted = torch.as_tensor(radius, dtype=torch.float32, device=self._device)[:, None] * torch.stack(
                [angle.cos(), angle.sin()], dim=1
            )
            loss = ((self._network(values, seeds) - values - wanted) ** 2).mean()
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()

    def measured(self, number: int) -> Round:
        """Train an attacker from nothing and judge him on records kept apart."""
        import torch

        from ._networks import dense, seeded, shares_of, train_classifier

        settings = self._training
        source = self._source(_ATTACK, number)

        def batches() -> tuple[Tensor, Tensor]:
            with torch.no_grad():
                values, labels, seeds = self._batch(settings.attack_batch, source)
                return self._network(values, seeds), labels

        attacker: Any = seeded(
            lambda: dense(2, settings.width, self._size), self._seed(_ATTACK, number), self._device
        )
        train_classifier(attacker, batches, settings.attack_steps, settings.attack_rate)
        for parameter in attacker.parameters():
            parameter.requires_grad_(False)
        self._attacker = attacker
        judge = self._source(_JUDGE, number)
        times = max(_DRAWS, _JUDGED // len(self._judged_labels))
        with torch.no_grad():
            values, labels = self._judged_values.repeat(times, 1), self._judged_labels.repeat(times)
            seeds = torch.rand(len(labels), settings.seeds, generator=judge, device=self._device)
            reports = self._network(values, seeds)
            beliefs = torch.log_softmax(attacker(reports), 1)
            target = float(self._target(shares_of(labels, self._size), beliefs))
            lost = (reports - values).norm(dim=1).reshape(times, -1).mean(0).double() * self.scale
        found = Confusion.of(labels.cpu().numpy(), beliefs.argmax(1).cpu().numpy(), self._size)
        spread = float(lost.std()) if len(lost) > 1 else 0.0
        return Round(
            number,
            found.accuracy,
            found.f1,
            found.information_bits,
            found.bayes_error,
            target,
            float(lost.mean()),
            spread / len(lost) ** 0.5,
            self._multiplier,
            self._seconds(),
        )

    def improve(self, number: int) -> None:
        """Take the generator's steps of a round, the attacker standing still."""
        import torch

        from ._networks import shares_of

        settings = self._training
        source = self._source(_IMPROVE, number)
        falling = 0.1 + 0.45 * (1 + float(np.cos(np.pi * number / self._rounds)))
        for group in self._optimiser.param_groups:
            group["lr"] = settings.generator_rate * falling
        mean = 0.0
        for _ in range(settings.generator_steps):
            values, labels, seeds = self._batch(settings.generator_batch, source)
            reports = self._network(values, seeds)
            beliefs = torch.log_softmax(self._attacker(reports) / settings.temperature, 1)
            value = self._target(shares_of(labels, self._size), beliefs)
            loss = (reports - values).norm(dim=1).mean()
            if self._bound < float("inf"):
                value = value + self._utility.price(loss, self._aim, self._multiplier)
            self._optimiser.zero_grad()
            torch.autograd.backward(value)
            self._optimiser.step()
            mean += loss.item() / settings.generator_steps
        if self._bound < float("inf"):
            self._multiplier = self._utility.updated(mean, self._aim, self._multiplier)

    def generator(self) -> dict[str, Tensor]:
        """Return the parameters of the generator."""
        return {name: tensor.detach().cpu().clone() for name, tensor in self._network.state_dict().items()}

    def state(self) -> State:
        """Return the generator, its optimiser, the price and what the randomness derives from."""
        return {
            "entropy": str(self._entropy),
            "network": self.generator(),
            "optimiser": self._optimiser.state_dict(),
            "multiplier": self._multiplier,
            "seconds": self._seconds(),
        }

    def restore(self, state: State) -> None:
        """Go back to a state."""
        if int(state["entropy"]) != self._entropy:
            # Without a seed, each call draws its own: the first one's counts.
            self._entropy = int(state["entropy"])
            self._prepare()
        self._network.load_state_dict(state["network"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._multiplier = state["multiplier"]
        self._before, self._begun = state["seconds"], time.monotonic()

    def _batch(self, size: int, source: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        import torch

        rows = torch.randint(len(self._labels), (size,), generator=source, device=self._device)
        seeds = torch.rand(size, self._training.seeds, generator=source, device=self._device)
        return self._values[rows], self._labels[rows], seeds

    def _tensors(self, pairs: Pairs) -> tuple[Tensor, Tensor]:
        import torch

        values = torch.as_tensor(
            (pairs.points - self.centre) / self.scale, dtype=torch.float32, device=self._device
        )
        return values, torch.as_tensor(np.array(pairs.classes), device=self._device)

    def _seed(self, purpose: int, number: int) -> int:
        return int(np.random.SeedSequence([self._entropy, purpose, number]).generate_state(1)[0])

    def _source(self, purpose: int, number: int) -> torch.Generator:
        import torch

        return torch.Generator(self._device).manual_seed(self._seed(purpose, number))

    def _seconds(self) -> float:
        return self._before + time.monotonic() - self._begun
