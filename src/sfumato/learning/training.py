"""Settings of a training, its device, and checkpoints."""

from __future__ import annotations

import hashlib
import os
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from .._system import atomically
from ..core.immutable import CompactRepr
from ..errors import FileError, InputError, MissingExtraError

if TYPE_CHECKING:
    import torch

_CLEARED: Final = (0.0, 0.6)  # from which to which part of the rounds the blur and the bonus fall
_COOLED: Final = (0.5, 0.85)  # and the temperature
_FORMAT = 1


@dataclass(frozen=True, slots=True, repr=False)
class Training(CompactRepr):
    """Settings of the networks' training; the sizes that the paper does not state are our choice.

    Attributes:
        heads: The number of answers from which the generator chooses for a place. One is the paper's network; of
            several the first is the place itself.
        seeds: The numbers of [0, 1) that each head receives in addition to the place; at least 2.
        width: Of the two hidden layers of the generator and of the attacker.
        start_steps: Batches in which the generator learns planar Laplace noise.
        attack_steps: Batches for each new attacker. With too few the generator learns to fool a weak attacker.
        generator_steps: Batches of the generator in each round. With many it runs away from the fixed attacker,
            and the next one finds it.
        attack_batch: Records in a batch of the attacker; each counts with the reports of all heads.
        generator_batch: Records in a batch of the generator.
        attack_rate: The attacker's largest learning rate.
        generator_rate: The learning rate of the heads; it falls along a cosine to a twentieth.
        gate_rate: The learning rate of the gates' biases, which falls likewise.
        place_rate: The learning rate of the gates' dependence on the place.
        gate_bonus: The weight of the gates' entropy in nats, against early loss of a head; it falls to 0.
        blur: The size of the Gaussian noise that moving heads add, relative to the spread of the data, at first;
            wide, so that the attacker's gradient reaches far.
        last_blur: The value to which it falls. Patterns much finer than it reveal nothing.
        temperature: The divisor of the logits of the attacker whom the generator faces.
        last_temperature: The value to which it falls, from half of the rounds on, while the loss has a price. A
            posterior is at its mildest where reports nearly agree, and there the price pulls them apart; below 1
            the belief is nearer to a best guess. The target of a round is measured with this.
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
        steps = ("start_steps", "attack_steps", "generator_steps")
        counts = ("heads", "width", *steps, "attack_batch", "generator_batch")
        rates = ("attack_rate", "generator_rate", "gate_rate", "place_rate", "temperature", "last_temperature")
        extras = ("gate_bonus", "blur", "last_blur")
        wrong = [
            *(name for name in ("seeds",) if not self.seeds >= 2),
            *(name for name in counts if not getattr(self, name) >= 1),
            *(name for name in rates if not getattr(self, name) > 0),
            *(name for name in extras if not getattr(self, name) >= 0),
        ]
        if wrong:
            named = ", ".join(f"{name} of {getattr(self, name)}" for name in wrong)
            raise InputError(
                f"the networks cannot be trained with {named}.",
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
    """Return the part of the way from ``begin`` to ``end`` that has passed, from 0 to 1."""
    return min(1.0, max(0.0, (passed - begin) / (end - begin)))


def device_for(feature: str, wanted: str | None = None) -> torch.device:
    """Return the device named, such as ``"cpu"``, else a GPU where there is one, else the CPU.

    Raises `MissingExtraError` if torch is not installed, which the feature needs.
    """
    try:
        import torch
    except ImportError:
        raise MissingExtraError(feature, "learn") from None
    if wanted is None:
        wanted = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(wanted)


def save(path: str | os.PathLike[str], identity: str, state: dict[str, Any]) -> None:
    """Write a state of tensors and plain values under an identity, whole or not at all."""
    import torch

    with atomically(path) as temporary:
        torch.save({"format": _FORMAT, "identity": identity, "state": state}, temporary)


def load(path: str | os.PathLike[str], identity: str) -> dict[str, Any] | None:
    """Return the state in a file, or None if the file does not exist; refuse a state with another identity.

    Only tensors and plain values are read: a file cannot run code.
    """
    import torch

    if not Path(path).exists():
        return None
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, EOFError, RuntimeError, ValueError, KeyError, pickle.UnpicklingError) as error:
        raise FileError(
            f"{os.fspath(path)!r} is not a checkpoint that can be read ({type(error).__name__}).",
            "remove it to start again, or name another file.",
        ) from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT or "state" not in content:
        raise FileError(
            f"{os.fspath(path)!r} is not a checkpoint of this version.",
            "remove it to start again, or name another file.",
        )
    if content.get("identity") != identity:
        raise InputError(
            f"the checkpoint {os.fspath(path)!r} is of a training with other data or settings.",
            "repeat the call that made it, or name another file.",
        )
    state: dict[str, Any] = content["state"]
    return state


def identity_of(*parts: object) -> str:
    """Return a digest of data and settings: arrays by their bytes, all else by its text."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            array: NDArray[Any] = np.ascontiguousarray(part)
            digest.update(f"{array.dtype} {array.shape}".encode())
            digest.update(array.tobytes())
        else:
            digest.update(repr(part).encode())
        digest.update(b"\0")
    return digest.hexdigest()
