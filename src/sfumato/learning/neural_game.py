"""Networks, and their game: a generator in the plane, and a new attacker in every round. It needs torch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import torch
from scipy.optimize import brentq
from torch import Tensor, nn

from ..attacks.classifiers import Confusion
from ..core.arrays import Floats
from ..mechanisms import PlanarLaplace
from .pairs import Pairs
from .targets import Target, Utility
from .training import Game, Rules, State, Training, TrainingRound, descend, loss_at_most

_DRAWS: Final = 8  # reports of each record that a round is judged by, at least
_JUDGED: Final = 20_000  # and reports in all, about
_STAYS: Final = 0.1  # the first of several heads' share at the start, in place of the smallest noise
_AVERAGED: Final = 0.9  # from which part on generators are averaged
_SLOWEST: Final = 0.05  # of the generator's rates, at the end
_ALWAYS: Final = 30.0  # in a gate's logit
_WIDEST: Final = 10.0  # blur, in parts of the largest loss
_SPARED: Final = 1e-6  # of the limit, for rounding
_INIT, _START, _ATTACK, _IMPROVE, _JUDGE, _SPEND = range(6)
Batches = Callable[[], tuple[Tensor, Tensor]]


class Obfuscator(nn.Module):  # type: ignore[misc]  # torch is an extra: its types are not read
    """From places and seeds to reports: the place plus the output of one of the heads.

    Each place has a gate for every head, the probability that this head answers. Of several heads the first adds
    nothing, and the others also add Gaussian noise of the size ``blur``. Seeds lie in [0, 1). With several heads
    the first seed picks one, by the inverse of the cumulative gates, and the last two are for the blur. Of those
    between, the network's inputs, the first goes in as a point of the circle, so that it can be an angle; the rest
    as numbers around 0.
    """

    blur: Tensor

    def __init__(self, seeds: int, width: int, heads: int) -> None:
        super().__init__()
        self.seeds, self.heads = seeds, heads
        self.moving = max(1, heads - 1)
        self.layers = dense(2 + seeds + 1, width, 2 * self.moving)
        self.gates = None
        if heads > 1:
            # Rectified units die of a gate's steep first steps, and then every place has the same gates.
            self.gates = dense(2, width, heads, nn.Tanh)
            self.register_buffer("blur", torch.zeros(()))

    @property
    def inputs(self) -> int:
        """The number of seeds for one report."""
        return self.seeds if self.heads == 1 else self.seeds + 3

    def start(self, shares: Sequence[float]) -> None:
        """Set the gates of several heads to these shares, for every place."""
        if self.gates is None:
            return
        weight, bias = self.gates[-1].parameters()
        with torch.no_grad():
            weight.zero_()
            bias.copy_(torch.tensor(shares).log())

    def forward(self, values: Tensor, seeds: Tensor) -> Tensor:
        """Return reports, tensor (k, 2), for values (k, 2) and seeds (k, inputs)."""
        reports, gates = self.answers(values, seeds)
        # The last sum is left out: rounded, it may lie below the seed.
        picked = (seeds[:, :1] >= gates.cumsum(1)[:, :-1]).sum(1)
        return reports[torch.arange(len(values), device=values.device), picked]

    def answers(self, values: Tensor, seeds: Tensor) -> tuple[Tensor, Tensor]:
        """Return the reports of every head, tensor (k, heads, 2), and the gates, tensor (k, heads)."""
        inputs = seeds if self.gates is None else seeds[:, 1:-2]
        features = torch.cat([values, _circle(inputs[:, 0]), 2 * inputs[:, 1:] - 1], dim=1)
        heads = values[:, None] + self.layers(features).reshape(len(values), self.moving, 2)
        if self.gates is None:
            return heads, torch.ones(len(values), 1, device=values.device)
        # Box and Muller's way from two uniform numbers to a Gaussian in the plane.
        radius = (-2 * torch.log1p(-seeds[:, -2])).sqrt()
        heads = heads + (self.blur * radius[:, None] * _circle(seeds[:, -1]))[:, None]
        return torch.cat([values[:, None], heads], dim=1), torch.softmax(self.gates(values), 1)


def _circle(turns: Tensor) -> Tensor:
    """Return points of the circle, tensor (k, 2), for parts of a turn (k,)."""
    angle = 2 * math.pi * turns
    return torch.stack([angle.cos(), angle.sin()], dim=1)


def dense(inputs: int, width: int, outputs: int, unit: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    """Return a network of two hidden layers of such units."""
    return nn.Sequential(
        nn.Linear(inputs, width), unit(), nn.Linear(width, width), unit(), nn.Linear(width, outputs)
    )


def seed_module(build: Callable[[], nn.Module], seed: int, device: torch.device) -> nn.Module:
    """Return a module whose initial parameters depend on the seed alone; torch's own state is unchanged."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = build()
    return module.to(device)


def train_classifier(classifier: nn.Module, batches: Batches, steps: int, rate: float) -> None:
    """Minimise the cross entropy of labels (k,), or of their weights (k, labels), given reports."""
    optimiser = torch.optim.Adam(classifier.parameters(), lr=rate)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = rate * one_cycle(step, steps)
        reports, labels = batches()
        loss = nn.functional.cross_entropy(classifier(reports), labels)
        descend(optimiser, loss)


def one_cycle(step: int, steps: int) -> float:
    """Return the factor of the learning rate: up during the first quarter, then down along a cosine."""
    rise = max(1, steps // 4)
    if step < rise:
        return (step + 1) / rise
    return 0.5 * (1 + math.cos(math.pi * (step - rise) / max(1, steps - rise)))


def shares_of(labels: Tensor, size: int, gates: Tensor) -> Tensor:
    """Return P(x, z), tensor (labels, reports), of labels (k,) and the weights (k, heads) of their reports."""
    one_hot: Tensor = nn.functional.one_hot(labels, size)
    return (one_hot.T[:, :, None] * gates / len(labels)).flatten(1)


def _exhaust(excess: Callable[[float], float], dear: float, cheap: float) -> None:
    """Set a parameter to its most costly value whose excess is not positive; at the cheap end it is negative."""
    if excess(dear) > 0:
        excess(brentq(excess, dear, cheap))


class NeuralGame(Game):
    """The game of two networks, in coordinates divided by the spread of the data."""

    def __init__(
        self,
        data: Pairs,
        judging: float,
        rules: Rules,
        margin: float,
        target: Target,
        utility: Utility,
        training: Training,
        noise: PlanarLaplace,
        entropy: int,
        device: torch.device,
    ) -> None:
        super().__init__(entropy, target, utility)
        self._device, self._training, self._rules = device, training, rules
        self._noise, self._judging, self._data = noise, judging, data
        self.centre: Floats = data.points.mean(axis=0)
        self.scale = float(np.sqrt(((data.points - self.centre) ** 2).sum(axis=1).mean() / 2)) or 1.0
        self._aim = rules.max_loss * (1 - margin) / self.scale
        self._prepare()

    def _prepare(self) -> None:
        """Split the records, build the generator and train it to draw planar Laplace noise."""
        # By chance alone a label may lack a tenth of its records; the gates would make up for it.
        judged, learned = self._data.split(self._judging, by_label=True, seed=self._seed(_INIT, 0))
        self._values, self._labels = self._tensors(learned)
        self._judged_values, self._judged_labels = self._tensors(judged)
        self._size = len(self._data.space)
        settings = self._training
        first = self._seed(_INIT, 1)
        net: Any = seed_module(
            lambda: Obfuscator(settings.seeds, settings.width, settings.heads), first, self._device
        )
        self._network = net
        self._fit_start(self._source(_START, 0))
        self._rates = [settings.generator_rate]
        parts = [{"params": list(self._network.layers.parameters())}]
        if self._network.gates is not None:
            *by_place, anywhere = self._network.gates.parameters()
            parts += [{"params": [anywhere]}, {"params": by_place}]
            self._rates += [settings.gate_rate, settings.place_rate]
        self._optimiser = torch.optim.Adam(parts, lr=settings.generator_rate)
        self._sums: dict[str, Tensor] = {}
        self._summed = 0

    def _fit_start(self, source: torch.Generator) -> None:
        """Train the moving heads on rings of the noise; the place itself stands for the innermost one."""
        settings, moving = self._training, self._network.moving
        stays, first = (_STAYS, 1) if settings.heads > 1 else (0.0, 0)
        self._network.start([stays] + [(1 - stays) / moving] * moving)
        optimiser = torch.optim.Adam(self._network.layers.parameters(), lr=2e-3)
        for _ in range(settings.start_steps):
            values, _, seeds = self._batch(settings.generator_batch, source)
            turns, share = seeds[:, first], seeds[:, first + 1 : first + 2].double().cpu().numpy()
            rings = stays + (1 - stays) * (share + np.arange(moving)) / moving
            radius = torch.as_tensor(
                self._noise.quantile(rings) / self.scale, dtype=torch.float32, device=self._device
            )
            angle = 2 * np.pi * turns[:, None]
            target = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=2)
            reports, _ = self._network.answers(values, seeds)
            loss = ((reports[:, -moving:] - values[:, None] - target) ** 2).mean()
            descend(optimiser, loss)

    def measure(self, number: int) -> TrainingRound:
        """Train an attacker from nothing and judge it on held-out records."""
        if self._training.heads > 1:
            self._network.blur.fill_(self._training.blur_at((number - 1) / self._rules.rounds))
        averaged = self._summed if number == self._rules.rounds else 0
        if averaged:
            self._network.load_state_dict({name: total / averaged for name, total in self._sums.items()})
            self._spend(number)
        self._attacker = attacker = self._trained_attacker(number)
        with torch.no_grad():
            values, seeds = self._repeat(self._judged_values, self._source(_JUDGE, number))
            labels = self._judged_labels.repeat(len(values) // len(self._judged_labels))
            loss, error = self._loss(values, seeds, len(self._judged_values))
            reports = self._network(values, seeds)
            # As sharp as at the end: a mild belief would rate widely spread reports too well.
            beliefs = torch.log_softmax(attacker(reports) / self._training.last_temperature, 1)
            alone = torch.ones(len(labels), 1, device=self._device)
            target = float(self._target(shares_of(labels, self._size, alone), beliefs))
        confusion = Confusion.of(labels.cpu().numpy(), beliefs.argmax(1).cpu().numpy(), self._size)
        scores = confusion.accuracy, confusion.f1, confusion.information_bits, confusion.bayes_error
        seconds, means = self._seconds(), max(1, averaged)
        return TrainingRound(number, *scores, target, loss, error, self._multiplier, seconds, means)

    def improve(self, number: int) -> None:
        """Take the generator's steps of a round against the fixed attacker."""
        settings, part = self._training, (number - 1) / self._rules.rounds
        # Without a price nothing pulls reports apart, and a mild belief shows finer patterns.
        cooled = settings.temperature_at(part) if self._multiplier > 0 else settings.temperature
        bonus = settings.bonus_at(part)
        source = self._source(_IMPROVE, number)
        falling = _SLOWEST + (1 - _SLOWEST) * (1 + float(np.cos(np.pi * number / self._rules.rounds))) / 2
        for group, rate in zip(self._optimiser.param_groups, self._rates, strict=True):
            group["lr"] = rate * falling
        mean = 0.0
        for _ in range(settings.generator_steps):
            values, labels, seeds = self._batch(settings.generator_batch, source)
            reports, gates = self._network.answers(values, seeds)
            beliefs = torch.log_softmax(self._attacker(reports.flatten(0, 1)) / cooled, 1)
            value = self._target(shares_of(labels, self._size, gates), beliefs)
            loss = ((reports - values[:, None]).norm(dim=2) * gates).sum(1).mean()
            if self._aim < float("inf"):
                value = value + self._utility.price(loss, self._aim, self._multiplier)
            if bonus and settings.heads > 1:
                value = value + bonus * torch.special.xlogy(gates, gates).sum(1).mean()
            descend(self._optimiser, value)
            mean += loss.item() / settings.generator_steps
        if part >= _AVERAGED:
            self._summed += 1
            for name, tensor in self._network.state_dict().items():
                self._sums[name] = self._sums.get(name, 0) + tensor.double()
        if self._aim < float("inf"):
            self._multiplier = self._utility.update(mean, self._aim, self._multiplier)

    def _spend(self, number: int) -> None:
        """Spend the rest of the limit: report the place itself more rarely, then blur more.

        Each is one number that the loss is monotone in, chosen on the draws that judge the round: so the limit has
        its probability of failure (Bates et al., "Distribution-free, risk-controlling prediction sets", 2021,
        theorem 1). Where the place is never reported, more blur hides no less.
        """
        if self._network.gates is None or self._aim == float("inf"):
            return
        values, seeds = self._repeat(self._judged_values, self._source(_JUDGE, number))
        known, known_seeds = self._repeat(self._values, self._source(_SPEND, number))
        bias, blur = self._network.gates[-1].bias, self._network.blur

        def excess(dial: Tensor, value: float) -> float:
            dial.fill_(value)
            loss, error = self._loss(values, seeds, len(self._judged_values))
            limit = loss_at_most(loss, error, self._rules.failure)
            mean, _ = self._loss(known, known_seeds, len(self._values))
            return max(limit, mean) - self._rules.max_loss * (1 - _SPARED)

        with torch.no_grad():
            stays = bias[0]  # a view: to fill it changes the gates
            if excess(stays, _ALWAYS) > 0:
                return  # not even then: nothing to spend
            _exhaust(lambda value: excess(stays, value), -_ALWAYS, _ALWAYS)
            if float(stays) == -_ALWAYS:
                widest = _WIDEST * self._rules.max_loss / self.scale
                _exhaust(lambda value: excess(blur, value), widest, float(blur))

    def _repeat(self, values: Tensor, source: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return records many times in turn, and seeds for a report of each."""
        again = values.repeat(max(_DRAWS, _JUDGED // len(values)), 1)
        return again, torch.rand(len(again), self._network.inputs, generator=source, device=self._device)

    def _loss(self, values: Tensor, seeds: Tensor, records: int) -> tuple[float, float]:
        """Return the mean loss, an expectation over heads, and its standard error by records."""
        reports, gates = self._network.answers(values, seeds)
        apart = ((reports - values[:, None]).norm(dim=2) * gates).sum(1)
        means = apart.reshape(-1, records).mean(0).double() * self.scale
        return float(means.mean()), float(means.std()) / len(means) ** 0.5 if len(means) > 1 else float("inf")

    def _trained_attacker(self, number: int) -> Any:
        """Return a new, fixed attacker of the present generator."""
        settings, source = self._training, self._source(_ATTACK, number)

        def batches() -> tuple[Tensor, Tensor]:
            with torch.no_grad():
                values, labels, seeds = self._batch(settings.attack_batch, source)
                reports, gates = self._network.answers(values, seeds)
                shares = shares_of(labels, self._size, gates)
                # The mean is over reports; the weights of a record's reports sum to 1.
                return reports.flatten(0, 1), shares.T * shares.shape[1]

        attacker = seed_module(
            lambda: dense(2, settings.width, self._size), self._seed(_ATTACK, number), self._device
        )
        train_classifier(attacker, batches, settings.attack_steps, settings.attack_rate)
        return attacker.requires_grad_(False)

    def generator(self) -> dict[str, Tensor]:
        """Return the parameters of the generator."""
        return {name: tensor.detach().cpu().clone() for name, tensor in self._network.state_dict().items()}

    def state(self) -> State:
        """Return the generator, its optimiser, the price and the entropy of the seeds."""
        network, sums = self.generator(), dict(self._sums)
        return {"network": network, "sums": sums, "summed": self._summed, **super().state()}

    def restore(self, state: State) -> None:
        """Go back to a state."""
        if int(state["entropy"]) != self._entropy:
            # Without a seed, each call draws its own: the first one's counts.
            self._entropy = int(state["entropy"])
            self._prepare()
        super().restore(state)
        self._network.load_state_dict(state["network"])
        self._sums, self._summed = dict(state["sums"]), state["summed"]

    def _batch(self, size: int, source: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        rows = torch.randint(len(self._labels), (size,), generator=source, device=self._device)
        seeds = torch.rand(size, self._network.inputs, generator=source, device=self._device)
        return self._values[rows], self._labels[rows], seeds

    def _tensors(self, pairs: Pairs) -> tuple[Tensor, Tensor]:
        values = torch.as_tensor(
            (pairs.points - self.centre) / self.scale, dtype=torch.float32, device=self._device
        )
        return values, torch.as_tensor(np.array(pairs.classes), device=self._device)

    def _seed(self, purpose: int, number: int) -> int:
        return int(np.random.SeedSequence([self._entropy, purpose, number]).generate_state(1)[0])

    def _source(self, purpose: int, number: int) -> torch.Generator:
        return torch.Generator(self._device).manual_seed(self._seed(purpose, number))
