"""States of the loop on disk, so that the same program goes on where it was stopped or killed.

Each program has a file of its own, named by a hash of all that the loop works from. A design that needs several
programs, one after the other, finds the ends of those that were done and goes on with the one that was not.
"""

from __future__ import annotations

import hashlib
import io
import os
import time
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import FileError
from ..solver import Progress
from .form import Form, Iterate
from .state import Proof, State, checked
from .workers import StoppedError, Workers

EVERY_S = 5.0  # a state is written no more often
SHARE = 0.05  # of the time, at most, is spent on writing
_FORMAT = b"sfumato: state of the interior-point method, 1"
_ROWS = 24  # bytes of a row: key, multiplier, multiplier of the proof
_HEADERS = 1 << 16
_MOST_LINES = 100_000
_TYPES = {"problem": "|u1", "keys": "<i8"}
_AXES = {"u": 2, "guesses": 2, "log": 2}
_NAMES = ("problem", "keys", "u", "w", "lam", "mu", "pairs", "eta", "guesses", "numbers", "log")


class StateFile:
    """The state of one program.

    Args:
        folder: Where states are kept.
        form: The program.
        gap: The gap that it is solved to.
        below: See `follow`.
    """

    def __init__(self, folder: Path, form: Form, gap: float, below: float | None) -> None:
        self._form, self._told = form, None if below is not None else (form.columns.sign, form.columns.sign)
        self._problem = _hash(form, gap, below)
        self._path = folder / f"{self._problem.hex()[:32]}.npz"
        self._due, self._written = time.monotonic() + EVERY_S, 0
        self.used = False

    def read(self, patience: int, workers: Workers) -> State | None:
        """Return the state that was kept; None where there is none that can be gone on with.

        Args:
            patience: See `checked`.
            workers: The pool.
        """
        try:
            found = checked(_state(self._arrays()), self._form, patience, self._told, workers)
        except StoppedError:
            raise
        except Exception:  # noqa: BLE001  # whatever is wrong with a file: the program is begun anew
            return None
        self.used, self._written = True, len(found.log)
        return found

    def offer(self, state: State) -> None:
        """Write a state where the last one is old enough."""
        if time.monotonic() >= self._due:
            self.keep(state)

    def keep(self, state: State) -> None:
        """Write a state, unless it was written; where there is no room on the disk, the earlier one stays."""
        if self._written == len(state.log):
            return
        begun = time.monotonic()
        part = self._path.with_suffix(".part")
        try:
            with part.open("wb") as stream:
                np.savez(stream, problem=np.frombuffer(self._problem, np.uint8), **_flat(state))
            os.replace(part, self._path)
            self._written = len(state.log)
        except OSError:
            with suppress(OSError):
                part.unlink(missing_ok=True)
        now = time.monotonic()
        self._due = now + max(EVERY_S, (now - begun) / SHARE)

    def drop(self) -> None:
        """Remove the state."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        self.used, self._written = False, 0

    def _arrays(self) -> Mapping[str, NDArray[Any]]:
        form = self._form
        most = _ROWS * form.blocks * form.secrets**2 + 8 * (4 * form.blocks * form.size + 8 * len(form.target))
        if form.guesses is not None:
            most += 16 * form.guesses.count
        if self._path.stat().st_size > most + 48 * _MOST_LINES + _HEADERS:
            raise ValueError("the file is too large")
        with zipfile.ZipFile(self._path) as archive:
            found = {"problem": _read(archive, "problem")}
            if found["problem"].tobytes() != self._problem:
                raise ValueError("the state is that of another program")
            return found | {name: _read(archive, name) for name in _NAMES[1:]}


def state_folder(given: str | os.PathLike[str]) -> Path:
    """Return the folder of states, made where it is missing.

    Raises:
        FileError: If there is none, and none can be made.
    """
    try:
        folder = Path(given)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, TypeError, ValueError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise FileError(
            f"the folder {str(given)!r} cannot be used ({reason}).", "name one where you may write."
        ) from None
    return folder


def _hash(form: Form, gap: float, below: float | None) -> bytes:
    """Return a hash of all that the loop works from."""
    columns, group = form.columns, form.symmetry
    found = hashlib.sha256(_FORMAT)
    numbers = (gap, below, columns.minimum, columns.max_loss)
    found.update(" ".join("-" if each is None else float(each).hex() for each in numbers).encode())
    arrays = (
        columns.prior,
        columns.expected,
        columns.ratio,
        columns.capped,
        columns.members,
        columns.weighted,
        columns.secret_loss,
        columns.edges,
        group.secrets,
        group.representatives,
    )
    for each in arrays:
        found.update(b"-" if each is None else f"{each.dtype.str}{each.shape}".encode())
        if each is not None:
            found.update(np.ascontiguousarray(each).data)
    return found.digest()


def _flat(state: State) -> dict[str, Any]:
    point, proof = state.point, state.proof
    return {
        "keys": state.keys,
        "u": point.u,
        "w": point.w,
        "lam": point.lam,
        "mu": point.mu,
        "pairs": proof.pairs,
        "eta": proof.eta,
        "guesses": np.empty((0, 0)) if proof.guesses is None else proof.guesses,
        "numbers": np.array([point.v, proof.bound, proof.theta, state.aim, state.short]),
        "log": np.array([(e.step, e.rows, e.value, e.bound, e.gap, e.seconds) for e in state.log]),
    }


def _state(found: Mapping[str, NDArray[Any]]) -> State:
    v, bound, theta, aim, short = (float(each) for each in found["numbers"])
    guesses = found["guesses"] if found["guesses"].size else None
    point = Iterate(found["u"], found["w"], v, found["lam"], found["mu"])
    proof = Proof(bound, np.empty(0), theta, found["eta"], found["pairs"], guesses)
    lines = (Progress(int(step), int(rows), *rest) for step, rows, *rest in found["log"].tolist())
    return State(found["keys"], point, proof, aim, int(short), tuple(lines))


def _read(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Return one array; no more is unpacked, and no more memory taken, than the file itself is long."""
    entry = archive.getinfo(f"{name}.npy")
    if entry.compress_type != zipfile.ZIP_STORED:
        raise ValueError("an array is compressed")
    stream = io.BytesIO(archive.read(entry))
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an array is of another version")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(stream)
    if by_columns or dtype.str != _TYPES.get(name, "<f8") or len(shape) != _AXES.get(name, 1):
        raise ValueError("an array is of another type")
    return np.frombuffer(bytearray(stream.read()), dtype).reshape(shape)
