"""A memo: each of a user's secrets is reported once, and that report is repeated from then on."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core import Mechanism
from ...errors import InputError
from ...mechanisms.planar import CoordinateNoise
from ...sampling import Sampler
from .stores import locked, read_memos, write_memos

KEY_BYTES: Final = 32


def new_memo_key() -> bytes:
    """Return a fresh random key for one user's memo: 32 bytes of the operating system's randomness."""
    return os.urandom(KEY_BYTES)


class Memo:
    """One user's permanent reports: drawn exactly once for each secret, then repeated.

    However often a secret is reported, an observer learns one report of it. Other secrets
    have memos of their own. When a memo is sent again, observers see that its secret was too.

    Another mechanism has memos of its own, and spends its own epsilon on each secret.

    The store maps a keyed hash (BLAKE2b) of the secret's position and the mechanism to the
    observable's position, and holds neither secrets nor the key. Without the key its
    entries cannot be matched to secrets; what it shows is a private report of each secret
    and how many secrets there were. Keep the key apart from the store: with both, the few
    possible secrets are soon tried.

    Args:
        mechanism: The mechanism to draw from.
        key: The user's key from `new_memo_key`; another key is another user.
        path: A JSON file that keeps the memos of one or more users; None keeps them in
            memory only.

    Raises:
        InputError: If the key does not have 32 bytes.
        FileError: If the file is there but is not a store of memos.

    Source:
        Erlingsson, Pihur and Korolova, "RAPPOR", CCS 2014 (permanent randomised response).

    Example:
        >>> import sfumato as sf
        >>> from sfumato.releases.budget import Memo, new_memo_key
        >>> memo = Memo(sf.mechanisms.randomised_response(sf.Space("abcd"), 1.0), new_memo_key())
        >>> first = memo.draw([2])
        >>> bool((memo.draw([2] * 100) == first).all()), len(memo)
        (True, 1)
    """

    __slots__ = ("_entries", "_key", "_name", "_path", "_sampler", "mechanism")

    def __init__(self, mechanism: Mechanism, key: bytes, path: str | os.PathLike[str] | None = None) -> None:
        if len(key) != KEY_BYTES:
            raise InputError(f"the key is not {KEY_BYTES} bytes.", "make it with new_memo_key(), and keep it.")
        self.mechanism = mechanism
        self._key = key
        self._path = None if path is None else Path(path)
        self._sampler = Sampler(mechanism)
        self._name = fingerprint(mechanism)
        self._entries = {} if self._path is None else read_memos(self._path)

    def draw(self, indices: ArrayLike) -> NDArray[np.intp]:
        """Return the position of each secret's permanent report, drawing those not yet drawn.

        New memos are on disk before they are returned.

        Args:
            indices: Positions of secrets, integers of any shape.

        Returns:
            Positions of observables, of the same shape.

        Raises:
            InputError: If the indices are not positions of secrets.
            FileError: If the store cannot be written; then no new report was given out.
        """
        given = np.asarray(indices)
        distinct, where = np.unique(given, return_inverse=True)
        fresh = self._sampler.draw(distinct)  # also those already known: so the time shows less
        names = [self._digest(int(position)) for position in distinct]
        drawn = {name: int(report) for name, report in zip(names, fresh, strict=True)}
        if not drawn.keys() <= self._entries.keys():
            self._keep(drawn)
        reports = np.array([self._entries[name] for name in names], dtype=np.intp)
        return reports[where].reshape(given.shape)

    def _keep(self, drawn: dict[str, int]) -> None:
        """Keep the reports of secrets that have none; those that another writer kept meanwhile stand."""
        if self._path is None:
            self._entries = {**drawn, **self._entries}
            return
        with locked(self._path):
            entries = {**drawn, **read_memos(self._path)}
            write_memos(self._path, entries)
        self._entries = entries

    def _digest(self, position: int) -> str:
        message = self._name + position.to_bytes(8, "big")
        return hashlib.blake2b(message, key=self._key, digest_size=32).hexdigest()

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"Memo of a {self.mechanism!r}, {len(self)} reports kept"


def fingerprint(mechanism: Mechanism | CoordinateNoise) -> bytes:
    """Return a hash of the mechanism, so that no memo of one is taken for another's."""
    if isinstance(mechanism, CoordinateNoise):
        return _of_recipe(mechanism)
    content = repr((mechanism.bits, mechanism.secrets.labels, mechanism.observables.labels, mechanism.shape))
    found = hashlib.blake2b(content.encode(), digest_size=32)
    found.update(" ".join(map(str, mechanism.weights.ravel().tolist())).encode())
    return found.digest()


def _of_recipe(noise: CoordinateNoise) -> bytes:
    centre = None if noise.projection is None else (noise.projection.lat, noise.projection.lon)
    frames, targets = (None, None) if noise.remap is None else noise.remap.arrays()
    windows = None if frames is None else frames.tolist()
    recipe = repr(("noise", noise.epsilon, noise.step_m, noise.noise.rate, centre, noise.reach_m, windows))
    found = hashlib.blake2b(recipe.encode(), digest_size=32)
    if targets is not None:
        found.update(targets.astype("<f8").tobytes())
    return found.digest()
