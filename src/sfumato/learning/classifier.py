"""Neural network as an attacker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..attacks.learned import Classifier, Examples, Fitted
from ..core.arrays import Floats
from .training import device_for

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class NeuralClassifier(Classifier):
    """A network of two hidden layers that learns the posterior by its cross entropy.

    Attributes:
        width: Of the hidden layers.
        steps: The number of batches.
        batch: The number of examples in each.
        rate: The largest learning rate.
        device: Such as ``"cpu"``; by default a GPU where there is one.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, section IV (dense layers and
        softmax; sizes are our choice).
    """

    name: ClassVar[str] = "neural network"
    width: int = 64
    steps: int = 400
    batch: int = 512
    rate: float = 0.01
    device: str | None = None

    def fit(self, examples: Examples, *, seed: int | None = None) -> Fitted:
        """Learn from examples; without torch it raises a `MissingExtraError`."""
        device = device_for("The neural attack", self.device)
        import torch

        from .networks import dense, seeded, train_classifier

        centre, scale = examples.points.mean(axis=0), examples.points.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        drawn = int(np.random.SeedSequence(seed).generate_state(1)[0])
        points = torch.as_tensor((examples.points - centre) / scale, dtype=torch.float32, device=device)
        labels = torch.as_tensor(np.array(examples.secrets), device=device)
        source = torch.Generator(device).manual_seed(drawn)

        def batches() -> tuple[torch.Tensor, torch.Tensor]:
            rows = torch.randint(len(labels), (self.batch,), generator=source, device=device)
            return points[rows], labels[rows]

        size = len(examples.space)
        network = seeded(lambda: dense(points.shape[1], self.width, size), drawn, device)
        train_classifier(network, batches, self.steps, self.rate)
        return _Network(network, centre, scale, device)


@dataclass(frozen=True, slots=True)
class _Network(Fitted):
    network: Any
    centre: Floats
    scale: Floats
    device: Any

    def probabilities(self, points: Floats) -> Floats:
        import torch

        scaled = torch.as_tensor((points - self.centre) / self.scale, dtype=torch.float32, device=self.device)
        with torch.no_grad():
            beliefs: Floats = torch.softmax(self.network(scaled).double(), dim=1).cpu().numpy()
        return beliefs
