"""Settings of the training: the device, the sizes and rates of the networks, and what falls as the rounds pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..core.immutable import CompactRepr
from ..errors import InputError, MissingExtraError

if TYPE_CHECKING:
    import torch

_CLEARED: Final = (0.0, 0.6)  # from which to which part of the rounds the blur and the bonus fall
_COOLED: Final = (0.5, 0.85)  # and the temperature


@dataclass(frozen=True, slots=True, repr=False)
class Training(CompactRepr):
    """Settings of the networks' training; the sizes that the paper does not state are our choice.

    Attributes:
        heads: How many answers the generator chooses from for a place. One is the paper's
            network; of several the first is the place itself.
        seeds: How many numbers of [0, 1) each head is given besides the place; at least 2.
        width: Of the two hidden layers of the generator and of the attacker.
        start_steps: Batches in which the generator learns planar Laplace noise.
        attack_steps: Batches for each new attacker. Too few are worse than slow: the
            generator then learns to fool a weak attacker.
        generator_steps: Batches of the generator in each round. With many it runs away from
            an attacker who stands still, and the next one finds it.
        attack_batch: Records in a batch of the attacker; each counts with the reports of all heads.
        generator_batch: Records in a batch of the generator.
        attack_rate: The attacker's largest learning rate.
        generator_rate: The learning rate of the heads; it falls along a cosine to a twentieth.
        gate_rate: That of how often heads answer anywhere, which falls likewise.
        place_rate: That of how much the place matters for it.
        gate_bonus: The weight of the gates' entropy in nats, so that no head is given up
            early; it falls to nothing.
        blur: The size of the Gaussian noise that moving heads add, beside the spread of the
            data, at first; wide, so that the attacker's gradient reaches far.
        last_blur: The value to which it falls. Patterns much finer than it reveal nothing.
        temperature: The logits of the attacker whom the generator faces are divided by this.
        last_temperature: The value to which it falls, from half of the rounds on, while the loss has a
            price. A posterior is at its mildest where reports nearly agree, and there the
            price pulls them apart; below 1 the belief is nearer to a best guess. The target
            of a round is measured with this.
    """

    heads: int = 2
    seeds: int = 3
    width: int = 96
    start_steps: int = 400
    attack_steps: int = 250
    generator_steps: int = 10
    attack_batch: int = 512
    generator_batch: int = 512
    attack_rate: float = 0.01
    generator_rate: float = 1e-3
    gate_rate: float = 2.5e-2
    place_rate: float = 8e-3
    gate_bonus: float = 0.1
    blur: float = 0.3
    last_blur: float = 0.1
    temperature: float = 1.0
    last_temperature: float = 0.2

    def __post_init__(self) -> None:
        counts = (
            "heads",
            "width",
            "start_steps",
            "attack_steps",
            "generator_steps",
            "attack_batch",
            "generator_batch",
        )
        rates = ("attack_rate", "generator_rate", "gate_rate", "place_rate", "temperature", "last_temperature")
        extras = ("gate_bonus", "blur", "last_blur")
        wrong = [
            *(name for name in ("seeds",) if not self.seeds >= 2),
            *(name for name in counts if not getattr(self, name) >= 1),
            *(name for name in rates if not getattr(self, name) > 0),
            *(name for name in extras if not getattr(self, name) >= 0),
        ]
        if wrong:
            given = ", ".join(f"{name} of {getattr(self, name)}" for name in wrong)
            raise InputError(
                f"the networks cannot be trained with {given}.",
                "use at least two seeds, positive numbers, and a bonus and blur of at least 0.",
            )

    def blur_at(self, passed: float) -> float:
        """Return the blur when a part of the rounds has passed."""
        return self.blur + (self.last_blur - self.blur) * _progress(passed, *_CLEARED)

    def temperature_at(self, passed: float) -> float:
        """Return the temperature when a part of the rounds has passed."""
        cooled: float = (self.last_temperature / self.temperature) ** _progress(passed, *_COOLED)
        return self.temperature * cooled

    def bonus_at(self, passed: float) -> float:
        """Return the weight of the gates' entropy when a part of the rounds has passed."""
        return self.gate_bonus * (1 - _progress(passed, *_CLEARED))


def _progress(passed: float, begin: float, end: float) -> float:
    """Return how much of the way from ``begin`` to ``end`` has passed, from 0 to 1."""
    return min(1.0, max(0.0, (passed - begin) / (end - begin)))


def device_for(feature: str, wanted: str | None = None) -> torch.device:
    """Return where to compute: the device named, else a GPU where there is one, else the CPU.

    Args:
        feature: What needs torch, for the error message.
        wanted: Such as ``"cpu"`` or ``"cuda"``.

    Raises:
        MissingExtraError: If torch is not installed.
    """
    try:
        import torch
    except ImportError:
        raise MissingExtraError(feature, "learn") from None
    if wanted is None:
        wanted = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(wanted)
