"""Manifest and arrays of a mechanism file: entries and labels as JSON, and strict .npy members, all checked."""

from __future__ import annotations

import io
import json
import math
import re
import sys
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import readonly
from ..errors import FileError, InputError

DAMAGED: Final = "the file is damaged or was changed by hand: write it again, or get an intact copy."
MAX_ENTRIES: Final = 1 << 27  # 1 GiB: 11,585 secrets with as many observables
MAX_MEMBER: Final = 8 * MAX_ENTRIES + (1 << 16)
_MAGIC: Final = b"\x93NUMPY\x01\x00"
_HEADER: Final = re.compile(
    rb"\{'descr': '(<i8|<u8|<f8)', 'fortran_order': False, 'shape': \((\d{1,10}),(?: (\d{1,10}))?\), \} *\n"
)


@dataclass(frozen=True, slots=True)
class Fields:
    """A JSON object called ``name`` in messages; readers raise `FileError` for missing entries or wrong types."""

    values: dict[str, Any]
    name: str = "manifest"

    @classmethod
    def of(cls, value: Any, name: str) -> Fields:
        """Return the fields of a JSON value, which must be an object."""
        if not isinstance(value, dict):
            raise FileError(f"its {name} is not an object.", DAMAGED)
        return cls(value, name)

    def text(self, key: str) -> str:
        """Return a text."""
        value = self._get(key)
        if not isinstance(value, str):
            raise self._wrong(key, "a text")
        return value

    def flag(self, key: str) -> bool:
        """Return a truth value."""
        value = self._get(key)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def integer(self, key: str) -> int:
        """Return an integer."""
        value = self._get(key)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong(key, "an integer")
        return value

    def number(self, key: str) -> float:
        """Return a finite number."""
        value = self._get(key)
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not abs(value) <= sys.float_info.max:
            raise self._wrong(key, "a number")
        return float(value)

    def items(self, key: str) -> list[Any]:
        """Return a list."""
        value = self._get(key)
        if not isinstance(value, list):
            raise self._wrong(key, "a list")
        return value

    def fields(self, key: str) -> Fields:
        """Return an object's fields."""
        return Fields.of(self._get(key), f"{self.name}'s {key}")

    def has(self, key: str) -> bool:
        """Return whether the entry is there and not null."""
        return self.values.get(key) is not None

    def _get(self, key: str) -> Any:
        if key not in self.values:
            raise FileError(f"its {self.name} has no entry {key!r}.", DAMAGED)
        return self.values[key]

    def _wrong(self, key: str, wanted: str) -> FileError:
        return FileError(f"its {self.name} has an entry {key!r} that is not {wanted}.", DAMAGED)


def encoded_label(label: Hashable) -> Any:
    """Return a label as JSON: plain where JSON has its type, tagged otherwise.

    A label that is no text, number, truth value, None, tuple or frozenset is an `InputError`.
    """
    if label is None or type(label) in (str, bool, int):
        return label
    if isinstance(label, float) and type(label) is float:
        return label if math.isfinite(label) else {"float": str(label)}
    if isinstance(label, tuple) and type(label) is tuple:
        return {"tuple": [encoded_label(part) for part in label]}
    if isinstance(label, frozenset):
        # A set has no order of its own; the file needs one, to be the same each time.
        parts = [encoded_label(part) for part in label]
        return {"set": sorted(parts, key=lambda part: json.dumps(part, sort_keys=True))}
    raise InputError(
        f"the label {label!r} is a {type(label).__name__}, which a mechanism file cannot hold.",
        "use texts, numbers, tuples or frozensets as labels.",
    )


def decoded_label(value: Any) -> Hashable:
    """Return the label that was encoded; any other value is a `FileError`."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, dict) and len(value) == 1:
        ((tag, content),) = value.items()
        if tag == "float" and content in ("inf", "-inf", "nan"):
            return float(content)
        if tag == "tuple" and isinstance(content, list):
            return tuple(decoded_label(part) for part in content)
        if tag == "set" and isinstance(content, list):
            return frozenset(decoded_label(part) for part in content)
    raise FileError("it holds a label of an unknown kind.", "the file is damaged: write it again.")


def packed(array: NDArray[Any]) -> bytes:
    """Return the bytes of an array of 64-bit numbers in numpy's format, version 1.0."""
    stream = io.BytesIO()
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(plain))
    return b"".join((stream.getvalue(), plain.reshape(-1).view(np.uint8).data))


def unpacked(data: bytes, name: str) -> NDArray[Any]:
    """Return the array of a member, read-only; ``name`` is for the error message.

    Only the header that `packed` writes is accepted, and nothing in it is evaluated. Another header, data that do
    not fit it, or an array that is too large is a `FileError`.
    """
    start = 10 + int.from_bytes(data[8:10], "little")
    header = _HEADER.fullmatch(data[10:start])
    if data[:8] != _MAGIC or header is None:
        raise FileError(f"its member {name!r} is not an array of 64-bit numbers.", DAMAGED)
    shape = tuple(int(size) for size in header.groups()[1:] if size is not None)
    entries = math.prod(shape)
    if entries > MAX_ENTRIES:
        raise FileError(
            f"its member {name!r} claims {entries:,} entries, more than the {MAX_ENTRIES:,} allowed.", DAMAGED
        )
    if len(data) - start != 8 * entries:
        raise FileError(
            f"its member {name!r} claims {entries:,} entries but holds {len(data) - start:,} bytes.", DAMAGED
        )
    array = np.frombuffer(data, dtype=header[1].decode(), offset=start).reshape(shape)
    return readonly(array.astype(array.dtype.newbyteorder("="), copy=False))
