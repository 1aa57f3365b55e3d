"""Checkpoints of a training: one that was killed continues from its last saved round."""

from __future__ import annotations

import hashlib
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._system import atomically
from ..errors import FileError, InputError

_FORMAT = 1


def save(path: str | os.PathLike[str], identity: str, state: dict[str, Any]) -> None:
    """Write a state, whole or not at all.

    Args:
        path: The file; one that exists is replaced.
        identity: Whose state it is.
        state: Tensors, numbers, texts, and lists and dictionaries of them.

    Raises:
        FileError: If the file cannot be written.
    """
    import torch

    with atomically(path) as temporary:
        torch.save({"format": _FORMAT, "identity": identity, "state": state}, temporary)


def load(path: str | os.PathLike[str], identity: str) -> dict[str, Any] | None:
    """Return the state in a file, or None if the file does not exist.

    Only tensors and plain values are read: a file cannot run code.

    Args:
        path: The file.
        identity: Whose state it must be.

    Raises:
        FileError: If the file is not a sound checkpoint.
        InputError: If it belongs to another training.
    """
    import torch

    if not Path(path).exists():
        return None
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, EOFError, RuntimeError, ValueError, KeyError, pickle.UnpicklingError) as error:
        raise FileError(
            f"{os.fspath(path)!r} is not a checkpoint that can be read ({type(error).__name__}).",
            "remove it, to start anew, or name another file.",
        ) from error
    if not isinstance(found, dict) or found.get("format") != _FORMAT or "state" not in found:
        raise FileError(
            f"{os.fspath(path)!r} is not a checkpoint of this version.",
            "remove it, to start anew, or name another.",
        )
    if found.get("identity") != identity:
        raise InputError(
            f"the checkpoint {os.fspath(path)!r} is of a training with other data or settings.",
            "repeat the call that made it, or name another file.",
        )
    state: dict[str, Any] = found["state"]
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
