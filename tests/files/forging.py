"""Forged mechanism files: whatever is changed, every checksum fits."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Members = dict[str, bytes]


def npy(array: NDArray[Any], *, allow_pickle: bool = False) -> bytes:
    """Return an array as the member of a file."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=allow_pickle)
    return stream.getvalue()


def opened(path: Path) -> tuple[dict[str, Any], Members]:
    """Return the manifest and the members of a file."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members.pop("manifest.json")), members


def forged(
    path: Path, manifest: dict[str, Any], members: Members, *, compression: int = zipfile.ZIP_STORED
) -> None:
    """Write a file whose checksums all fit."""
    manifest["sha256"] = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, data in members.items():
            archive.writestr(name, data)


@dataclass(slots=True)
class Forger:
    """The manifest and members of a file, to be changed.

    Attributes:
        manifest: The manifest.
        members: The members.
    """

    manifest: dict[str, Any]
    members: Members

    def array(self, entry: dict[str, Any], key: str) -> NDArray[Any]:
        """Return the array that an entry refers to, to be written to."""
        return np.array(np.load(io.BytesIO(self.members[entry[key]])))

    def put(self, entry: dict[str, Any], key: str, array: NDArray[Any]) -> None:
        """Let an entry refer to another array, which nothing else refers to."""
        entry[key] = f"forged_{len(self.members)}.npy"
        self.members[entry[key]] = npy(np.ascontiguousarray(array))

    def change(self, entry: dict[str, Any], key: str, by: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
        """Let an entry refer to a changed array."""
        self.put(entry, key, by(self.array(entry, key)))

    @property
    def guarantee(self) -> dict[str, Any]:
        """The first guarantee."""
        found: dict[str, Any] = self.manifest["guarantees"][0]
        return found

    @property
    def metric(self) -> dict[str, Any]:
        """The metric of the first guarantee."""
        found: dict[str, Any] = self.manifest["metrics"][self.guarantee["metric"]]
        return found

    @property
    def loss(self) -> dict[str, Any]:
        """The loss."""
        found: dict[str, Any] = self.manifest["losses"][self.manifest["loss"]]
        return found

    @property
    def prices(self) -> dict[str, Any]:
        """The prices of the optimum."""
        found: dict[str, Any] = self.manifest["optimality"]
        return found
