"""Folder of the designs of many people: mechanism files under the people's names, and an index of them."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import string
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from ..._system import atomically, try_lock
from ...core import Randomizer
from ...core.arguments import check_arguments
from ...core.immutable import CompactRepr
from ...errors import FileError, InputError
from ..decoding import load

INDEX: Final = "index.jsonl"
_PLAIN: Final = frozenset(string.ascii_lowercase + string.digits + "-_@+,= .")
_LONGEST: Final = 200  # bytes of a stem
_DEVICES: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d) *(\.|$)")
_HASHED: Final = "%%"  # in front of the hash of a name that is too long; no other stem holds it
_LOCK: Final = ".designing"
_OWNER_ONLY: Final = 0o600
_KINDS: Final[dict[str, type | tuple[type, ...]]] = {
    "loss": (int, float),
    "slack_m": (int, float),
    "seconds": (int, float),
    "finished": bool,
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignRow(CompactRepr):
    """A design in the index, for the person ``name``; ``request`` is the fingerprint of all that it depends on.

    ``kind`` is ``table`` or ``noise``. The loss is an upper bound on the expected one, or on the worst-case loss
    where that was the objective. A guarantee per metre adds ``slack_m`` metres to every distance. ``finished`` is
    whether the wanted gap was reached.
    """

    name: str
    file: str
    request: str
    kind: str
    loss: float
    unit: str
    slack_m: float
    finished: bool
    seconds: float
    sha256: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignFolder(CompactRepr):
    """A folder of designs, after a run.

    Attributes:
        folder: The folder of the mechanism files and of ``index.jsonl``, with a line for each.
        rows: The designs by name, in the requested order.
        additions: The number of designs made by this run; the others existed.
        failed: The reason of each missing design, by name.
        waiting: The number of designs not begun, because the run was asked to stop.
        few: The number of people left out, with too few visits.
    """

    folder: Path
    rows: dict[str, DesignRow]
    additions: int
    failed: dict[str, str]
    waiting: int
    few: int = 0

    @property
    def is_finished(self) -> bool:
        """Whether all requested designs exist, each to the wanted gap."""
        return not self.failed and not self.waiting and all(row.finished for row in self.rows.values())


def stem_of(name: str) -> str:
    """Return the stem of a name's file: ``%`` and two digits for each unsafe byte, a hash if it is too long."""
    coded = name.encode()
    plain = [chr(byte) if chr(byte) in _PLAIN else f"%{byte:02x}" for byte in coded]
    for end in (0, -1):
        if plain[end] in (" ", "."):
            plain[end] = f"%{ord(plain[end]):02x}"
    stem = "".join(plain)
    if _DEVICES.match(stem):  # names of devices on Windows
        stem = f"%{ord(stem[0]):02x}{stem[1:]}"
    return stem if len(stem) <= _LONGEST else _HASHED + hashlib.sha256(coded).hexdigest()


def name_of(stem: str) -> str:
    """Return the name of a stem; a stem that `stem_of` does not make is the name itself."""
    try:
        name = unquote_to_bytes(stem).decode()
    except UnicodeDecodeError:
        return stem
    return name if name and stem_of(name) == stem else stem


def check_names(names: Iterable[str]) -> None:
    """Refuse a name that is empty, is not a text, or cannot be written in UTF-8 (`InputError`)."""
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"the name {name!r} is not a text.", "name each design with a text.")
        if not name:
            raise InputError("a name is empty.", "name each design with a text.")
        try:
            name.encode()
        except UnicodeEncodeError:
            raise InputError(f"the name {name!r} is not written in Unicode.", "use another name.") from None


@check_arguments
def read_designs(
    folder: str | PathLike[str], *, trust_distances: bool = False, signed_by: str | PathLike[str] | None = None
) -> dict[str, Randomizer]:
    """Return the mechanisms of a folder by name, for ``sf.release(..., by="user")``.

    The folder is one of `design_each_user` or `design_many`, or any with a mechanism file for each name. The index
    is used only for names that are too long for files. For the other arguments see `sfumato.load`. Raises
    `FileError` if it is not a folder, holds no mechanism file, or one cannot be read. Raises `InputError` if two
    files are for one name.
    """
    where = Path(folder)
    if not where.is_dir():
        raise FileError(f"{str(where)!r} is not a folder.", "name a folder of mechanism files.")
    paths = sorted(where.glob("*.sfm"))
    if not paths:
        raise FileError(f"the folder {str(where)!r} holds no mechanism file (.sfm).", "check the path.")
    long = {Path(row.file).stem: name for name, row in rows_of(where).items()}
    mechanisms: dict[str, Randomizer] = {}
    for path in paths:
        name = long.get(path.stem, path.stem) if path.stem.startswith(_HASHED) else name_of(path.stem)
        if name in mechanisms:
            raise InputError(f"two files of {str(where)!r} are for {name!r}.", "remove one of them.")
        mechanisms[name] = load(path, trust_distances=trust_distances, signed_by=signed_by)
    return mechanisms


@contextmanager
def open_folder(folder: Path) -> Iterator[dict[str, DesignRow]]:
    """Lock a folder, created if missing, and yield its designs by name; `InputError` if they lack an index."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, _OWNER_ONLY)
    except (OSError, ValueError) as error:
        raise _unwritable(folder, error) from None
    try:
        if not try_lock(lock):
            raise InputError(
                f"another run is designing into {str(folder)!r}.", "wait until it ends, or choose another folder."
            )
        for left in folder.glob(".*.sfm.*.part"):  # half-written by a run that was killed
            left.unlink(missing_ok=True)
        if not (folder / INDEX).exists():
            if any(folder.glob("*.sfm")):
                raise InputError(
                    f"{str(folder)!r} holds mechanism files, but no index of designs: they would be replaced.",
                    "choose an empty folder.",
                )
            try:
                os.close(os.open(folder / INDEX, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER_ONLY))
            except OSError as error:
                raise _unwritable(folder, error) from None
        yield rows_of(folder)
    finally:
        os.close(lock)


def rows_of(folder: Path) -> dict[str, DesignRow]:
    """Return the designs of a folder by name, the last of several; a line that was cut off is not a row."""
    try:
        lines = (folder / INDEX).read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise FileError(
            f"the index of {str(folder)!r} cannot be read ({error.strerror}).", "check its rights."
        ) from None
    return {row.name: row for row in map(_row, lines) if row is not None}


def add(folder: Path, row: DesignRow, content: bytes) -> None:
    """Write the file of a design, then its row; both reach the disk, or a `FileError` is raised."""
    with atomically(folder / row.file) as temporary:
        temporary.chmod(_OWNER_ONLY)
        temporary.write_bytes(content)
    try:
        with (folder / INDEX).open("r+b") as file:
            end = file.seek(0, os.SEEK_END)
            if end:
                file.seek(end - 1)
                whole = file.read(1) == b"\n"
            line = json.dumps(asdict(row)).encode() + b"\n"
            file.write(line if not end or whole else b"\n" + line)  # what was cut off stays a line of its own
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise _unwritable(folder / INDEX, error) from None


def _unwritable(path: Path, error: OSError | ValueError) -> FileError:
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return FileError(
        f"{str(path)!r} could not be written ({getattr(error, 'strerror', None) or error}).",
        "free some space; the same call goes on from here." if full else "choose a folder where you may write.",
    )


def _row(line: bytes) -> DesignRow | None:
    try:
        data: Any = json.loads(line)
        row = {field.name: data[field.name] for field in fields(DesignRow)}
        sound = all(isinstance(value, _KINDS.get(name, str)) for name, value in row.items())
        return DesignRow(**row) if sound and row["file"] == f"{stem_of(row['name'])}.sfm" else None
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
