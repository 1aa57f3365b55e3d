"""The networks of the game, and how each of the two sides learns; the file that imports torch."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

Batches = Callable[[], tuple[Tensor, Tensor]]


class Obfuscator(nn.Module):
    """From useful values and seeds to reports: the value plus what the network adds to it.

    Seeds lie in [0, 1). The first goes in as a point of the circle, so that it can be an
    angle; the others as numbers around 0.
    """

    def __init__(self, dimensions: int, seeds: int, width: int) -> None:
        super().__init__()
        self.dimensions, self.seeds = dimensions, seeds
        self.layers = dense(dimensions + seeds + 1, width, dimensions)

    def forward(self, values: Tensor, seeds: Tensor) -> Tensor:
        """Return reports, tensor (k, dimensions), for values (k, dimensions) and seeds (k, seeds)."""
        angle = 2 * math.pi * seeds[:, :1]
        features = torch.cat([values, angle.cos(), angle.sin(), 2 * seeds[:, 1:] - 1], dim=1)
        added: Tensor = self.layers(features)
        return values + added


def dense(inputs: int, width: int, outputs: int) -> nn.Sequential:
    """Return a network of two hidden layers."""
    return nn.Sequential(
        nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, outputs)
    )


def seeded(build: Callable[[], nn.Module], seed: int, device: torch.device) -> nn.Module:
    """Return a module with initial parameters that depend on the seed alone, and leave torch's own state be."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = build()
    return module.to(device)


def train_classifier(
    classifier: nn.Module, batches: Batches, steps: int, rate: float, *, smoothing: float = 0.0
) -> None:
    """Minimise the cross entropy of labels, with a rate that rises and falls once.

    Args:
        classifier: From reports to logits.
        batches: Gives reports (k, dimensions) and labels (k,).
        steps: How many batches.
        rate: The largest learning rate.
        smoothing: The share of each label that is spread over all labels.
    """
    optimiser = torch.optim.Adam(classifier.parameters(), lr=rate)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = rate * one_cycle(step, steps)
        reports, labels = batches()
        loss = nn.functional.cross_entropy(classifier(reports), labels, label_smoothing=smoothing)
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        optimiser.step()


def one_cycle(step: int, steps: int) -> float:
    """Return the factor of the learning rate: up during the first quarter, then down along a cosine."""
    rise = max(1, steps // 4)
    if step < rise:
        return (step + 1) / rise
    return 0.5 * (1 + math.cos(math.pi * (step - rise) / max(1, steps - rise)))


def shares_of(labels: Tensor, size: int) -> Tensor:
    """Return P(x, z) of a batch, tensor (labels, reports): 1 / N where x is the label of the report z."""
    each: Tensor = nn.functional.one_hot(labels, size)
    return each.T.to(torch.get_default_dtype()) / len(labels)
