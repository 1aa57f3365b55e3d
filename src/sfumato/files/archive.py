"""Container of mechanism files: a reproducible ZIP of a JSON manifest and .npy members, all checked."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import struct
import sys
import zipfile
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._system import atomically
from .._version import __version__
from ..core.arrays import readonly
from ..errors import FileError, InputError

FORMAT: Final = "sfumato mechanism"
VERSION: Final = 1
_MANIFEST: Final = "manifest.json"
_MEMBER: Final = re.compile(r"[a-z]{1,40}(_[0-9]{1,4})?\.npy")
_MAX_MEMBERS: Final = 1000
# JSON takes up to sixty times its size in memory: both are bounded before it is parsed.
_MAX_MANIFEST: Final = 1 << 24
_MAX_VALUES: Final = 1 << 20
_LONGEST: Final = 200  # characters of what zipfile says
_MAX_DIRECTORY: Final = 1 << 20  # of bytes that zipfile reads at once before any size can be checked
# What zipfile raises on bytes that are not a valid archive.
_UNSOUND: Final = (
    *(zipfile.BadZipFile, EOFError, LookupError, OverflowError),
    *(RuntimeError, ValueError, struct.error),
)
_Value = TypeVar("_Value")
_NAMES: Final = {str: "a text", bool: "true or false", int: "an integer", list: "a list"}
_GIVE: Final = "give a mechanism file (.sfm) that sfumato wrote."
DAMAGED: Final = "the file is damaged or was changed by hand: write it again, or get an intact copy."
MOST_GUARANTEES: Final = 64
MOST_CONSTRAINTS: Final = 500
MAX_ENTRIES: Final = 1 << 27  # 1 GiB: 11,585 secrets with as many observables
MAX_MEMBER: Final = 8 * MAX_ENTRIES + (1 << 16)
_MAGIC: Final = b"\x93NUMPY\x01\x00"
_HEADER: Final = re.compile(
    rb"\{'descr': '(<i8|<u8|<f8)', 'fortran_order': False, 'shape': \((\d{1,10}),(?: (\d{1,10}))?\), \} *\n"
)


def write_archive(path: str | os.PathLike[str], manifest: Mapping[str, Any], members: Mapping[str, bytes]) -> None:
    """Write the container, whole or not at all; `InputError` if the manifest is too large or not possible in JSON.

    Members are stored without compression: the bytes depend on no library's version, and reading needs no more
    memory than the file's size.
    """
    entries = {
        **manifest,
        "format": FORMAT,
        "version": VERSION,
        "writer": f"sfumato {__version__}",
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in members.items()},
    }
    try:
        text = json.dumps(entries, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the file cannot hold this ({error}).", "use finite numbers, texts, lists and mappings."
        ) from None
    data = text.encode("ascii")
    if len(data) > _MAX_MANIFEST or _values(data) > _MAX_VALUES:
        raise InputError(
            f"the labels and claims take {len(data):,} bytes with {_values(data):,} values, but a mechanism file "
            f"holds at most {_MAX_MANIFEST:,} and {_MAX_VALUES:,}.",
            "use shorter labels, such as numbers, and fewer claims.",
        )
    with atomically(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
        for name, content in {_MANIFEST: data, **dict(sorted(members.items()))}.items():
            archive.writestr(_entry(name), content)


def read_archive(
    path: str | os.PathLike[str], signed_by: str | os.PathLike[str] | None = None
) -> tuple[Fields, dict[str, NDArray[Any]]]:
    """Return the manifest and arrays of a container, every checksum verified; `FileError` if it is not sound."""
    try:
        with _open(Path(path), signed_by) as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(0)
            start = stream.read(4)
            try:
                guarded = _GuardedFile(stream)
                with zipfile.ZipFile(guarded) as archive:
                    guarded.listed = True
                    return _read(archive, size)
            except _UNSOUND as error:
                raise _not_sound(start, error) from error
    except FileError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise FileError(
            f"it cannot be read ({reason or error}).", "check the path; `sfumato design` writes such files."
        ) from error


def _open(path: Path, signed_by: str | os.PathLike[str] | None) -> BinaryIO:
    """Open a file; one that has to be signed is read once, so that the verified bytes are the ones used."""
    if signed_by is None:
        return path.open("rb")
    from .signatures import check_signature

    content = path.read_bytes()
    check_signature(content, path, Path(signed_by))
    return io.BytesIO(content)


class _GuardedFile:
    """A file that limits what zipfile reads at once, by the file's own claim, until it has listed the members."""

    def __init__(self, stream: BinaryIO) -> None:
        self.seek, self.tell, self.seekable = stream.seek, stream.tell, stream.seekable
        self.close = stream.close
        self.listed = False
        self._read = stream.read

    def read(self, size: int = -1) -> bytes:
        if self.listed:
            return self._read(size)
        content = self._read(_MAX_DIRECTORY + 1 if size < 0 or size > _MAX_DIRECTORY else size)
        if len(content) > _MAX_DIRECTORY:
            raise FileError(f"its list of members takes more than the {_MAX_DIRECTORY:,} bytes allowed.", DAMAGED)
        return content


def _values(text: bytes) -> int:
    """Return a lower bound on the number of values in a JSON text; they are at most twice as many and one."""
    return sum(text.count(mark) for mark in (b",", b"[", b"{"))


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.create_system = 3
    info.external_attr = 0o644 << 16
    return info


def _read(archive: zipfile.ZipFile, size: int) -> tuple[Fields, dict[str, NDArray[Any]]]:
    infos = _members(archive, size)
    if _MANIFEST not in infos:
        raise FileError("it has no manifest, so it is not a mechanism file.", _GIVE)
    manifest = _manifest(archive.read(infos.pop(_MANIFEST)))
    sums = manifest.fields("sha256")
    missing, unknown = sorted(set(sums.values) - set(infos)), sorted(set(infos) - set(sums.values))
    if missing:
        raise FileError(f"its member {missing[0]!r} is missing.", DAMAGED)
    if unknown:
        raise FileError(f"it holds {unknown[0]!r}, which its manifest does not name.", DAMAGED)
    arrays = {}
    for name, info in infos.items():
        if _MEMBER.fullmatch(name) is None:
            raise FileError(f"it holds a member of the unexpected name {name!r}.", DAMAGED)
        data = archive.read(info)
        if hashlib.sha256(data).hexdigest() != sums.get(name, str):
            raise FileError(f"the checksum of its member {name!r} does not fit.", DAMAGED)
        arrays[name] = unpack(data, name)
    return manifest, arrays


def _members(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """Return the members by name, after their number and sizes are checked."""
    infos, members = archive.infolist(), dict[str, zipfile.ZipInfo]()
    if len(infos) > _MAX_MEMBERS:
        raise FileError(f"it has {len(infos):,} members, more than the {_MAX_MEMBERS:,} allowed.", DAMAGED)
    for info in infos:
        if info.filename in members:
            raise FileError(f"it has two members named {info.filename!r}.", DAMAGED)
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size or info.flag_bits & 1:
            raise FileError(
                f"its member {info.filename!r} is compressed or encrypted.",
                "use the file as sfumato wrote it; other tools must not repack it.",
            )
        if info.file_size > (_MAX_MANIFEST if info.filename == _MANIFEST else MAX_MEMBER):
            raise FileError(f"its member {info.filename!r} is too large ({info.file_size:,} bytes).", DAMAGED)
        members[info.filename] = info
    if sum(info.file_size for info in infos) > size:
        raise FileError("its members claim more bytes than the file has.", DAMAGED)
    return members


def _manifest(data: bytes) -> Fields:
    if _values(data) > _MAX_VALUES:
        raise FileError(
            f"its manifest holds {_values(data):,} values, more than the {_MAX_VALUES:,} allowed.", DAMAGED
        )
    values = json.loads(
        data.decode("ascii"), object_pairs_hook=_distinct, parse_constant=_no_constant, parse_float=_finite
    )
    manifest = Fields.of(values, "manifest")
    if manifest.get("format", str) != FORMAT:
        raise FileError(f"it is a {manifest.get('format', str)!r} file.", _GIVE)
    version = manifest.get("version", int)
    if version > VERSION:
        raise FileError(
            f"it was written by a newer sfumato (format version {version}, this one reads {VERSION}).",
            "upgrade with: pip install --upgrade sfumato",
        )
    if version < 1:
        raise FileError(f"its format version {version} does not exist.", DAMAGED)
    return manifest


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise FileError("its manifest names an entry twice.", DAMAGED)
    return values


def _no_constant(name: str) -> Any:
    raise FileError(f"its manifest holds {name}.", DAMAGED)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise FileError(f"its manifest holds {text[:_LONGEST]}, a number beyond all floats.", DAMAGED)
    return number


def _not_sound(start: bytes, error: Exception) -> FileError:
    if start == b"":
        return FileError("it is empty.", _GIVE)
    if start != b"PK\x03\x04":
        return FileError("it is not a mechanism file.", _GIVE)
    reason = str(error)[:_LONGEST]  # may be as long as the file
    return FileError(f"it is cut off or damaged ({reason}).", "get an intact copy, or write it again.")


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

    def get(self, key: str, kind: type[_Value]) -> _Value:
        """Return a text, a truth value, an integer or a list."""
        value = self._entry(key)
        if type(value) is not kind:  # a truth value is no integer
            raise self._wrong(key, _NAMES[kind])
        return value

    def number(self, key: str) -> float:
        """Return a finite number."""
        value = self._entry(key)
        if type(value) not in (int, float) or not abs(value) <= sys.float_info.max:
            raise self._wrong(key, "a number")
        return float(value)

    def fields(self, key: str) -> Fields:
        """Return an object's fields."""
        return Fields.of(self._entry(key), f"{self.name}'s {key}")

    def has(self, key: str) -> bool:
        """Return whether the entry is there and not null."""
        return self.values.get(key) is not None

    def _entry(self, key: str) -> Any:
        if key not in self.values:
            raise FileError(f"its {self.name} has no entry {key!r}.", DAMAGED)
        return self.values[key]

    def _wrong(self, key: str, kind: str) -> FileError:
        return FileError(f"its {self.name} has an entry {key!r} that is not {kind}.", DAMAGED)


def encoded_label(label: Hashable) -> Any:
    """Return a label as JSON, tagged where JSON lacks its type; `InputError` for other types."""
    if label is None or type(label) in (str, bool, int):
        return label
    if isinstance(label, float) and type(label) is float:
        return label if math.isfinite(label) else {"float": str(label)}
    if isinstance(label, tuple) and type(label) is tuple:
        return {"tuple": [encoded_label(part) for part in label]}
    if isinstance(label, frozenset):
        # Sorted, because the same content must give the same bytes.
        parts = [encoded_label(part) for part in label]
        return {"set": sorted(parts, key=lambda part: json.dumps(part, sort_keys=True))}
    raise InputError(
        f"the label {label!r} is a {type(label).__name__}, which a mechanism file cannot hold.",
        "use texts, numbers, tuples or frozensets as labels.",
    )


def decoded_label(value: Any) -> Hashable:
    """Return the label of an encoding; any other value is a `FileError`."""
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


def pack(array: NDArray[Any]) -> bytes:
    """Return the bytes of an array of 64-bit numbers in numpy's format, version 1.0."""
    stream = io.BytesIO()
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(plain))
    return b"".join((stream.getvalue(), plain.reshape(-1).view(np.uint8).data))


def unpack(data: bytes, name: str) -> NDArray[Any]:
    """Return the array of a member, read-only; `FileError` for another header than that of `pack` or size."""
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
