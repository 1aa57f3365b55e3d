"""Networks of the game and their training; the only file that imports torch at the top."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

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
        """Return the reports of every head, tensor (k, heads, 2), and the gates, tensor (k, heads).

        Values are (k, 2), and seeds (k, inputs); the seed that picks the head is not used.
        """
        given = seeds if self.gates is None else seeds[:, 1:-2]
        features = torch.cat([values, _circle(given[:, 0]), 2 * given[:, 1:] - 1], dim=1)
        moved = values[:, None] + self.layers(features).reshape(len(values), self.moving, 2)
        if self.gates is None:
            return moved, torch.ones(len(values), 1, device=values.device)
        # Box and Muller's way from two uniform numbers to a Gaussian in the plane.
        radius = (-2 * torch.log1p(-seeds[:, -2])).sqrt()
        moved = moved + (self.blur * radius[:, None] * _circle(seeds[:, -1]))[:, None]
        return torch.cat([values[:, None], moved], dim=1), torch.softmax(self.gates(values), 1)


def _circle(turns: Tensor) -> Tensor:
    """Return points of the circle, tensor (k, 2), for parts of a turn (k,)."""
    angle = 2 * math.pi * turns
    return torch.stack([angle.cos(), angle.sin()], dim=1)


def dense(inputs: int, width: int, outputs: int, unit: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    """Return a network of two hidden layers of such units."""
    return nn.Sequential(
        nn.Linear(inputs, width), unit(), nn.Linear(width, width), unit(), nn.Linear(width, outputs)
    )


def seeded(build: Callable[[], nn.Module], seed: int, device: torch.device) -> nn.Module:
    """Return a module whose initial parameters depend on the seed alone; torch's own state is unchanged."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = build()
    return module.to(device)


def train_classifier(classifier: nn.Module, batches: Batches, steps: int, rate: float) -> None:
    """Minimise the cross entropy of labels, with a rate that rises to ``rate`` and falls once.

    Batches are reports (k, dimensions) and labels (k,), or the weight of each label (k, labels).
    """
    optimiser = torch.optim.Adam(classifier.parameters(), lr=rate)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = rate * one_cycle(step, steps)
        reports, labels = batches()
        loss = nn.functional.cross_entropy(classifier(reports), labels)
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        optimiser.step()


def one_cycle(step: int, steps: int) -> float:
    """Return the factor of the learning rate: up during the first quarter, then down along a cosine."""
    rise = max(1, steps // 4)
    if step < rise:
        return (step + 1) / rise
    return 0.5 * (1 + math.cos(math.pi * (step - rise) / max(1, steps - rise)))


def shares_of(labels: Tensor, size: int, gates: Tensor) -> Tensor:
    """Return P(x, z) of a batch, tensor (labels, reports), the reports of a record next to each other.

    Labels are (k,), and gates (k, heads) the weight of each report within its record.
    """
    each: Tensor = nn.functional.one_hot(labels, size)
    return (each.T[:, :, None] * gates / len(labels)).flatten(1)
