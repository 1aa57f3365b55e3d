"""Fingerprints of mechanisms on released tables, which estimation checks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from .._system import pa, parquet
from .._version import __version__
from ..core.immutable import CompactRepr
from ..errors import DataError, FileError, argument
from ..ledgers import fingerprint

KEY: Final = b"sfumato"
"""The key of the mark among the metadata of a Parquet or Arrow table."""

SUFFIX: Final = ".sfumato.json"
"""Suffix of the small file next to a CSV file that holds its mark."""

INSIDE: Final = "_sfumato.json"
"""The small file that holds the mark in a folder written by Spark; readers of tables skip such names."""


_SHOWN: Final = 8  # columns in a message
_LARGEST: Final = 1 << 20  # bytes of a mark


@dataclass(frozen=True, slots=True, repr=False)
class Mark(CompactRepr):
    """Fingerprints of the mechanisms that a table was drawn from.

    Attributes:
        mechanisms: Hexadecimal fingerprints, sorted.
        columns: Name and fingerprint of each column with its own mechanism; empty without any.
    """

    mechanisms: tuple[str, ...]
    columns: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, drawables: Mapping[str, Any], *, columnwise: bool = False) -> Self:
        """Return the mark of mechanisms by name; ``columnwise``: by the column that each is for."""
        fingerprints = {name: fingerprint(each).hex() for name, each in drawables.items()}
        return cls(tuple(sorted(set(fingerprints.values()))), tuple(fingerprints.items()) if columnwise else ())

    @property
    def text(self) -> str:
        """The mark as JSON."""
        columns = {"columns": dict(self.columns)} if self.columns else {}
        return json.dumps({"sfumato": __version__, "mechanisms": list(self.mechanisms), **columns})

    @classmethod
    def from_text(cls, text: bytes | str, source: str) -> Self:
        """Return the mark in a text; `DataError` if it holds none."""
        try:
            data = json.loads(text)
            mechanisms, columns = data["mechanisms"], data.get("columns", {})
            if not isinstance(mechanisms, list) or not all(isinstance(each, str) for each in mechanisms):
                raise ValueError("no list of texts")
            if not isinstance(columns, dict) or not all(isinstance(each, str) for each in columns.values()):
                raise ValueError("no texts for columns")
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise DataError(
                f"the mark of the mechanism on {source} is damaged ({error}).", "get the table as it was released."
            ) from None
        return cls(tuple(mechanisms), tuple(columns.items()))

    def check(self, drawable: Any, source: str, column: str | None = None) -> None:
        """Refuse a table, called ``source`` in messages, that was drawn from another mechanism than ``drawable``.

        ``column`` is the column of its reports, where columns may have their own mechanisms.

        Raises:
            DataError: If it was drawn from another one.
        """
        expected = fingerprint(drawable).hex()
        actual = dict(self.columns).get(column or "")
        if actual is not None:
            if actual != expected:
                raise DataError(
                    f"the column {column!r} of {source} was drawn from another mechanism: its mark is "
                    f"{actual[:12]}, that of the mechanism given is {expected[:12]}.",
                    "give the mechanism file that the column was released with.",
                )
            return
        if expected not in self.mechanisms:
            raise DataError(
                f"{source} was drawn from another mechanism: its mark is "
                f"{self.mechanisms[0][:12] or '(none)'}, that of "
                f"the mechanism given is {expected[:12]}."
                if self.mechanisms
                else f"{source} bears an empty mark.",
                "give the mechanism file that the table was released with.",
            )
        if len(self.mechanisms) > 1 and self.columns:
            fitting = [name for name, each in self.columns if each == expected] or [self.columns[0][0]]
            raise DataError(
                f"the columns of {source} were each drawn from a separate mechanism: "
                f"{', '.join(repr(name) for name, _ in self.columns[:_SHOWN])}.",
                f"name the mechanism's own with {argument('column', fitting[0])}.",
            )
        if len(self.mechanisms) > 1:
            raise DataError(
                f"{source} was drawn from {len(self.mechanisms)} mechanisms, one of which is the given one.",
                "keep the column that names the mechanism, and estimate from the rows of one mechanism at a time.",
            )


def read_mark(path: Path) -> Mark | None:
    """Return the mark on a CSV, Parquet or Arrow file, or a folder written by Spark; None without one.

    Raises:
        DataError: If the mark is damaged.
    """
    name = repr(path.name)
    mark_file = path / INSIDE if path.is_dir() else mark_beside(path)
    try:
        head = b""
        if not path.is_dir():
            with path.open("rb") as stream:
                head = stream.read(6)
        metadata: Mapping[bytes, bytes] = {}
        if head[:4] == b"PAR1":
            metadata = parquet.read_schema(str(path)).metadata or {}
        elif head == b"ARROW1":
            with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
                metadata = reader.schema.metadata or {}
        mark = mark_in(metadata, name)
        if mark is not None:
            return mark
        if not metadata and mark_file.is_file() and mark_file.stat().st_size <= _LARGEST:
            return Mark.from_text(mark_file.read_bytes(), name)
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        if isinstance(error, DataError | FileError):
            raise
        return None  # the reader of the table reports what is wrong with it
    return None


def mark_in(metadata: Mapping[bytes, bytes], source: str) -> Mark | None:
    """Return the mark in the metadata of an Arrow table, also as pandas writes its ``attrs``; None without one.

    Raises:
        DataError: If the mark is damaged.
    """
    if KEY in metadata:
        return Mark.from_text(metadata[KEY], source)
    text = None
    with suppress(ValueError, AttributeError, RecursionError):
        attributes = json.loads(metadata.get(b"PANDAS_ATTRS", b"{}"))
        attributes = attributes or json.loads(metadata.get(b"pandas", b"{}")).get("attributes")
        text = (attributes or {}).get("sfumato")
    return Mark.from_text(text, source) if isinstance(text, str) else None


def mark_beside(path: Path) -> Path:
    """Return the small file that holds the mark of a CSV file."""
    return path.with_name(path.name + SUFFIX)
