"""Marks of mechanisms on released tables: whoever has the mechanism can tell whether a table came from it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from .._version import __version__
from ..core import Mechanism, Space
from ..core.atomic import atomically
from ..core.frozen import Short
from ..errors import DataError, FileError
from ..geo import Places
from ..mechanisms.planar import CoordinateNoise
from ..mechanisms.tupling import Tupling
from .fingerprint import fingerprint

KEY: Final = b"sfumato"
"""The key of the mark among the metadata of a Parquet or Arrow table."""

SUFFIX: Final = ".sfumato.json"
"""What is appended to the name of a CSV file for the small file beside it that holds the mark."""

_LARGEST: Final = 1 << 20  # bytes of a mark


@dataclass(frozen=True, slots=True, repr=False)
class Mark(Short):
    """The fingerprints of the mechanisms that a table was drawn from.

    Attributes:
        mechanisms: Hexadecimal fingerprints, in rising order.
    """

    mechanisms: tuple[str, ...]

    @classmethod
    def of(cls, drawables: Mapping[str, Any]) -> Self:
        """Return the mark of mechanisms."""
        return cls(tuple(sorted({hexadecimal(each) for each in drawables.values()})))

    @property
    def text(self) -> str:
        """The mark as JSON."""
        return json.dumps({"sfumato": __version__, "mechanisms": list(self.mechanisms)})

    @classmethod
    def from_text(cls, text: bytes | str, source: str) -> Self:
        """Return the mark that a text holds.

        Raises:
            DataError: If it holds none.
        """
        try:
            found = json.loads(text)["mechanisms"]
            if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
                raise ValueError("no list of texts")
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise DataError(
                f"the mark of the mechanism on {source} is damaged ({error}).", "get the table as it was released."
            ) from None
        return cls(tuple(found))

    def check(self, drawable: Any, source: str) -> None:
        """Refuse a table that was drawn from another mechanism.

        Args:
            drawable: The mechanism that it is taken to be drawn from.
            source: What messages call the table.

        Raises:
            DataError: If it was drawn from another one.
        """
        mine = hexadecimal(drawable)
        if mine not in self.mechanisms:
            raise DataError(
                f"{source} was drawn from another mechanism: its mark is "
                f"{self.mechanisms[0][:12] or '(none)'}, that of "
                f"the mechanism given is {mine[:12]}."
                if self.mechanisms
                else f"{source} bears an empty mark.",
                "give the mechanism file that the table was released with.",
            )
        if len(self.mechanisms) > 1:
            raise DataError(
                f"{source} was drawn from {len(self.mechanisms)} mechanisms, of which the one given is one.",
                "keep the column that names the mechanism, and estimate from the rows of one mechanism at a time.",
            )


def read_mark(path: Path) -> Mark | None:
    """Return the mark on a released table, or None where it bears none.

    Args:
        path: A CSV, Parquet or Arrow file.

    Raises:
        DataError: If the mark is damaged.
    """
    import pyarrow as pa
    from pyarrow import parquet

    name = repr(path.name)
    beside = path.with_name(path.name + SUFFIX)
    try:
        with path.open("rb") as stream:
            head = stream.read(6)
        metadata: Mapping[bytes, bytes] = {}
        if head[:4] == b"PAR1":
            metadata = parquet.read_schema(str(path)).metadata or {}
        elif head == b"ARROW1":
            with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
                metadata = reader.schema.metadata or {}
        if KEY in metadata:
            return Mark.from_text(metadata[KEY], name)
        if not metadata and beside.is_file() and beside.stat().st_size <= _LARGEST:
            return Mark.from_text(beside.read_bytes(), name)
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        if isinstance(error, DataError | FileError):
            raise
        return None  # whoever reads the table will say what is wrong with it
    return None


def write_beside(path: str | os.PathLike[str], mark: Mark) -> None:
    """Write the mark of a CSV file into a small file beside it.

    Raises:
        FileError: If it cannot be written.
    """
    target = Path(path)
    with atomically(target.with_name(target.name + SUFFIX)) as temporary:
        temporary.write_text(mark.text + "\n", encoding="utf-8")


def hexadecimal(drawable: Any) -> str:
    """Return the fingerprint of a mechanism: of its integers or its recipe, its secrets and its reports."""
    found = hashlib.blake2b(digest_size=20, person=b"sfumato release")
    for part in _parts(drawable):
        found.update(len(part).to_bytes(8, "big") + part)
    return found.hexdigest()


def _parts(value: Any) -> list[bytes]:
    if isinstance(value, Mechanism):
        return [b"mechanism", fingerprint(value), *_parts(value.secrets), *_parts(value.observables)]
    if isinstance(value, CoordinateNoise):
        return [b"noise", fingerprint(value)]
    if isinstance(value, Tupling):
        return [b"tupling", str(value.dummies).encode(), *_parts(value.inner), *_parts(value.source)]
    if isinstance(value, Places):
        return [b"places", json.dumps(value.describe(), sort_keys=True, default=str).encode()]
    if isinstance(value, Space):
        points = b"" if value.coordinates is None else np.asarray(value.coordinates, dtype="<f8").tobytes()
        return [b"space", repr((value.labels, value.unit, value.crs)).encode(), points]
    if is_dataclass(value):
        parts = [type(value).__name__.encode()]
        for field in fields(value):
            parts += [field.name.encode(), *_parts(getattr(value, field.name))]
        return parts
    if isinstance(value, np.ndarray):
        return [b"array", repr(value.shape).encode(), repr(value.tolist()).encode()]
    if isinstance(value, int | float | str | Fraction | tuple | type(None)):
        return [repr(value).encode()]
    return [type(value).__name__.encode()]
