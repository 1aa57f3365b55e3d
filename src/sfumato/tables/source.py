"""A file to read: whether it is there, compressed, text or not."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import re
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from .._system import pa
from ..errors import DataError, InputError, SfumatoError, argument, row_value
from ..rounding import plural

_HEAD: Final = 65_536
_PIPED: Final = (Path("/dev/stdin"), Path("/dev/fd/0"), Path("/proc/self/fd/0"))
_STANDARD_INPUT: Final = Path("standard input")
_GZIP: Final = b"\x1f\x8b"
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BINARY: Final = bytes(set(range(32)) - set(b"\t\n\r\f\v\x1b"))
_BLOCK: Final = 2**20
MOST_UNPACKED: Final = 2**27
MOST_RATIO: Final = 100
_MOST_FILES: Final = 5
# The words of Arrow's errors that hold no data.
_TYPE_ERROR: Final = re.compile(r"Conversion failed for column (.+) with type object")
_SAFE: Final = re.compile(
    r"CSV parse error: (Row #\d+: )?Expected \d+ columns, got \d+"
    r"|(In CSV column #\d+: )?(Row #\d+: )?CSV conversion error to \w+(: invalid UTF8 data)?"
    r"|Empty CSV file( or block: cannot infer number of columns)?|straddling object straddles two block boundaries"
    r"|Parquet magic bytes not found in footer|Parquet file size is \d+ bytes|Couldn't deserialize thrift"
    r"|Unexpected end of stream|Expected to read \d+ (metadata )?bytes|Not an Arrow file|File is too small"
    r"|Unsupported cast from \w+ to \w+|Invalid UTF8 sequence|at row \d+, column \d+"
    r"|Timezone database not found|Cannot locate timezone"
)
_PLAIN: Final = (EOFError, csv.Error, zlib.error, gzip.BadGzipFile)
_COMPLETE: Final = "check that it was written or downloaded completely"
_DATA: Final = re.compile(r"[.,]\d{2}|\d{4}-\d\d-\d\d|\d:\d\d|\d+ \d+ \d|[°º<{]")
_LIKE = 0.6  # as difflib counts letters in common; 1 is the same name


@dataclass(frozen=True, slots=True)
class Source:
    """A file with its first 64 KiB, ``head`` (uncompressed, in UTF-8 if ``utf16``); ``content`` of a pipe only."""

    path: Path
    compressed: bool
    head: bytes
    content: bytes | None = None
    utf16: bool = False

    @classmethod
    def of(cls, path: Path) -> Source:
        """Open a file, and keep a pipe in memory; `DataError` if it does not exist, is unreadable or empty."""
        content = None
        try:
            if path.exists() and not path.is_file():
                content = path.read_bytes()
                path = _STANDARD_INPUT if path in _PIPED else path
            with path.open("rb") if content is None else io.BytesIO(content) as file:
                compressed = file.read(2) == _GZIP
            source = cls(path, compressed, b"", content)
            with source.open_binary() as file:
                head = file.read(_HEAD)
            if head.startswith(_UTF16):
                source = replace(source, utf16=True)
                with source.open_binary() as file:
                    head = file.read(_HEAD)
        except FileNotFoundError:
            raise DataError(f"there is no file {str(path)!r}.", "check the path.") from None
        except OSError as error:
            raise DataError(
                f"the file {str(path)!r} cannot be read: {error.strerror or error}.", "check its permissions."
            ) from None
        if not head.strip():
            raise DataError(f"the file {str(path)!r} is empty.", f"{_COMPLETE}.")
        return replace(source, head=head)

    def __str__(self) -> str:
        return repr(self.path.name)

    @property
    def suffix(self) -> str:
        """The ending of the name, without ``.gz``."""
        name = self.path.with_suffix("") if self.path.suffix.lower() == ".gz" else self.path
        return name.suffix.lower()

    @property
    def start(self) -> bytes:
        """The beginning of the file, after a byte order mark and blanks."""
        return self.head.lstrip(b"\xef\xbb\xbf \t\r\n")

    @property
    def is_text(self) -> bool:
        """Whether the file begins like a text."""
        return not any(byte in self.head for byte in _BINARY)

    @property
    def is_utf8(self) -> bool:
        """Whether the file begins like UTF-8."""
        try:
            # The head of a longer file may end within a character.
            codecs.getincrementaldecoder("utf-8")().decode(self.head, final=len(self.head) < _HEAD)
        except UnicodeDecodeError:
            return False
        return True

    @property
    def first_lines(self) -> list[str]:
        """The first lines that are not blank, at most ten."""
        text = self.head.decode("utf-8-sig" if self.is_utf8 else "latin-1", errors="replace")
        return [line for line in re.split("\r\n|\r|\n", text) if line.strip()][:10]

    def open(self) -> Any:
        """Return an Arrow stream of the uncompressed content, for reading it in batches."""
        if self.utf16:
            return pa.PythonFile(self.open_binary(), mode="r")
        where = str(self.path) if self.content is None else pa.BufferReader(self.content)
        return pa.input_stream(where, compression="gzip" if self.compressed else None)

    def read(self) -> bytes:
        """Return the content, uncompressed; `DataError` if unreadable, damaged or far larger than tables are."""
        try:
            with self.open_binary() as file:
                return file.read()
        except OSError as error:
            raise DataError(f"{self} cannot be read: {error}.", "compress or download it again.") from None

    def open_binary(self) -> BinaryIO:
        """Return the uncompressed content as a file of bytes, never in UTF-16; damage shows while reading."""
        file: BinaryIO = self.path.open("rb") if self.content is None else io.BytesIO(self.content)
        if self.compressed:
            file = cast(BinaryIO, io.BufferedReader(_GzipContent(file, self), _BLOCK))
        if self.utf16:
            file = cast(BinaryIO, io.BufferedReader(_Utf16Content(file, self), _BLOCK))
        return file


class ConvertedFile(io.RawIOBase):
    """The content of a file of bytes in another form, converted block by block."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._rest = b""

    def convert(self) -> bytes | None:
        """Return the next block in its new form, which may be empty; None at the end of the file."""
        raise NotImplementedError

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Write the next bytes into a buffer, and return how many they are; none at the end."""
        while not self._rest:
            block = self.convert()
            if block is None:
                return 0
            self._rest = block
        part, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        """Close the file, too."""
        self._file.close()
        super().close()


class _GzipContent(ConvertedFile):
    """The content of a gzip file, unpacked as it is read; ``source`` is for messages."""

    def __init__(self, file: BinaryIO, source: Source) -> None:
        super().__init__(file)
        self._source = source
        self._content = gzip.GzipFile(fileobj=file)
        self._size, compressed = 0, file.seek(0, os.SEEK_END)
        self._most = max(MOST_UNPACKED, MOST_RATIO * compressed)
        file.seek(0)

    def convert(self) -> bytes | None:
        name = repr(str(self._source.path))
        try:
            block = self._content.read(_BLOCK)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(f"the file {name} is damaged: {error}.", "compress or download it again.") from None
        self._size += len(block)
        if self._size > self._most:
            raise DataError(
                f"the file {name} is over {MOST_RATIO} times larger when unpacked, which could fill the memory.",
                "if that is right, unpack it with gunzip, and name the unpacked file.",
            )
        return block or None


class _Utf16Content(ConvertedFile):
    """The content, as UTF-8, of a file of bytes in UTF-16 that begins with a byte order mark."""

    def __init__(self, file: BinaryIO, source: Source) -> None:
        super().__init__(file)
        self._source = source
        self._decoder = codecs.getincrementaldecoder("utf-16")()

    def convert(self) -> bytes | None:
        block = self._file.read(_BLOCK)
        try:
            text = self._decoder.decode(block, final=not block)
        except UnicodeError as error:
            raise DataError(
                f"{self._source} begins like UTF-16, but is not: {error}.", "save it in UTF-8."
            ) from None
        return text.encode() if block else None


def as_path(value: object, subject: str) -> Path:
    """Return a path to read ``subject``, such as ``"visits"``; the `InputError` for others says what was given."""
    if isinstance(value, str | os.PathLike):
        return Path(os.fsdecode(value))
    raise InputError(
        f"{subject} cannot be read from {type(value).__name__!r}.",
        "pass a path, or a table that speaks Arrow's PyCapsule interface: a data frame of pandas 2.2 or Polars "
        "(collect a lazy one), a pyarrow Table, a DuckDB relation.",
    )


def is_pipe(path: str | os.PathLike[str]) -> bool:
    """Return whether a path stands for what can be read, or written, only once: ``-``, a pipe or a terminal."""
    name = os.fsdecode(path)
    return name in ("-", "/dev/stdout") or (
        os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name)
    )


def files_below(folder: Path, suffix: str) -> list[Path]:
    """Return the visible files below a folder with an ending in any case, also gzipped, in order."""
    endings = (suffix, f"{suffix}.gz")
    return [path for path in _files(folder) if path.name.lower().endswith(endings) and path.name[0] != "."]


def others_note(folder: Path, files: Collection[Path], known: Collection[Path] | None = None) -> tuple[str, ...]:
    """Return a note that counts and names unread files below a folder, if any; only those ``known`` if given."""
    left = sorted(str(path.relative_to(folder)) for path in set(known or _files(folder)) - set(files))
    if not left:
        return ()
    more = ", ..." if len(left) > _MOST_FILES else ""
    were = "was" if len(left) == 1 else "were"
    count = plural(len(left), "file")
    return (f"{count} of other kinds in {folder.name!r} {were} not read: {', '.join(left[:_MOST_FILES])}{more}.",)


def left_out_note(folder: Path, paths: Sequence[Path], files: int, why: str) -> tuple[str, ...]:
    """Return the note on ``paths``, of ``files`` below a folder, left out because they are ``why`` ("damaged")."""
    if not paths:
        return ()
    were = "was" if len(paths) == 1 else "were"
    names = [str(path.relative_to(folder)) for path in paths[:_MOST_FILES]]
    more = f" and {len(paths) - _MOST_FILES:,} more" if len(paths) > _MOST_FILES else ""
    return (
        f"{len(paths):,} of {plural(files, 'file')} in {folder.name!r} {were} {why} and left out: "
        f"{', '.join(names)}{more}.",
    )


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


class OpenTable(ABC):
    """A table to read: its name, its columns, and on request its rows, of needed columns only."""

    __slots__ = ("columns", "name")

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        self.name = name
        self.columns = tuple(columns)

    @abstractmethod
    def load(self, columns: Sequence[str] | None = None, *, as_text: Sequence[str] = ()) -> Any:
        """Return the rows in order as a pyarrow Table of some columns, those in ``as_text`` as written."""


def check_distinct(columns: Sequence[str], name: str) -> None:
    """Refuse a table with two columns of one name (`DataError`)."""
    twice = [column for column, count in Counter(columns).items() if count > 1]
    if twice:
        mention = row_value(repr(twice[0]), "of data") if _are_data(twice[:1]) else repr(twice[0])
        raise DataError(f"{name} has more than one column {mention}.", "give its columns distinct names.")


def cause(error: Exception) -> str:
    """Return why a table cannot be read, for a message: the error's own words, where they hold no data of rows."""
    lines = str(error).splitlines() or [type(error).__name__]
    message = lines[0].rstrip(".")
    if isinstance(error, _PLAIN) or getattr(error, "errno", None) is not None:
        return message
    if isinstance(error, UnicodeError):
        return row_value(message, "a text is not in the encoding of the others")
    match = _TYPE_ERROR.search(message)
    if match is not None:
        return f"the column {match[1]!r} holds values of several types, or of one that Arrow does not know"
    safe = _SAFE.search(message)
    return row_value(message, safe[0].rstrip(": ") if safe else "its content is damaged, or of another kind")


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Raise a `DataError` that the table is damaged, where Arrow finds it so, or Python has no such value."""
    try:
        yield
    except SfumatoError:
        raise
    except pa.ArrowMemoryError:
        raise DataError(f"{name} claims to hold more than there is memory for.", f"{_COMPLETE}.") from None
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise DataError(
            f"{name} is not a valid table: {cause(error)}.",
            _COMPLETE,
            "every line needs the same number of values.",
        ) from None


def no_column(columns: Sequence[str], wrong: str, option: str, table: str) -> DataError:
    """Return the error of a missing column ``wrong``, with the nearest columns and the argument ``option``."""
    bare = {column.lower(): column for column in columns}
    near = [bare[name] for name in get_close_matches(wrong.lower(), list(bare), 3, _LIKE) if not _are_data([name])]
    more = f" (or {', '.join(near[1:])})" if near[1:] else ""
    return DataError(
        f"{table} has no column {wrong!r}. {column_list(columns)}",
        f"name the column with {argument(option, near[0] if near else 'column')}{more}",
        "check that it is the right file.",
    )


def column_list(columns: Sequence[str]) -> str:
    """Return the names of all columns in a sentence; of a first line that is a row, they are data."""
    text = f"Its columns are: {', '.join(columns)}."
    return row_value(text, "Its first line holds data, not names of columns.") if _are_data(columns) else text


def _are_data(names: Sequence[str]) -> bool:
    return any(_DATA.search(name) for name in names)
