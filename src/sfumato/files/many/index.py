"""The index of a folder of designs: a line for each, added once its file is whole."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from ..._system import atomically, try_lock
from ...errors import FileError, InputError
from .job import DesignDone, DesignRow
from .names import stem_of

INDEX: Final = "index.jsonl"
_LOCK: Final = ".designing"
_OWNER_ONLY: Final = 0o600
_KINDS: Final[dict[str, type | tuple[type, ...]]] = {
    "loss": (int, float),
    "slack_m": (int, float),
    "seconds": (int, float),
    "finished": bool,
}


@contextmanager
def opened(folder: Path) -> Iterator[dict[str, DesignRow]]:
    """Make a folder if need be, let no other run write to it meanwhile, and give its designs by name.

    What is made can be read by its owner only. Where the system has no such locks, nothing keeps others out.

    Raises:
        InputError: If another run writes to it, or it holds mechanism files, but no index.
        FileError: If nothing can be written there.
    """
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
        yield _begun(folder)
    finally:
        os.close(lock)


def rows_of(folder: Path) -> dict[str, DesignRow]:
    """Return the designs of a folder by name; of several for one name the last.

    A line that was cut off is not a row: its design counts as one in flight.

    Raises:
        FileError: If the index cannot be read.
    """
    try:
        lines = (folder / INDEX).read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise FileError(
            f"the index of {str(folder)!r} cannot be read ({error.strerror}).", "check its rights."
        ) from None
    found = (_row(line) for line in lines)
    return {row.name: row for row in found if row is not None}


def add(folder: Path, made: DesignDone) -> None:
    """Write the file of a design, and then its row; both reach the disk.

    Raises:
        FileError: If the folder cannot be written.
    """
    row = made.row
    if row is None:
        return
    with atomically(folder / row.file) as temporary:
        temporary.chmod(_OWNER_ONLY)
        temporary.write_bytes(made.content)
    try:
        with (folder / INDEX).open("r+b") as file:
            end = file.seek(0, os.SEEK_END)
            if end:
                file.seek(end - 1)
                whole = file.read(1) == b"\n"
            line = json.dumps(row.entry(), ensure_ascii=True).encode() + b"\n"
            file.write(line if not end or whole else b"\n" + line)  # what was cut off stays a line of its own
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise _unwritable(folder / INDEX, error) from None


def _begun(folder: Path) -> dict[str, DesignRow]:
    """Return the designs of a folder, whose index is begun if there is none."""
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
    return rows_of(folder)


def _unwritable(path: Path, error: OSError | ValueError) -> FileError:
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return FileError(
        f"{str(path)!r} could not be written ({getattr(error, 'strerror', None) or error}).",
        "free some space; the same call goes on from here." if full else "choose a folder where you may write.",
    )


def _row(line: bytes) -> DesignRow | None:
    try:
        found: Any = json.loads(line)
        given = {each.name: found[each.name] for each in fields(DesignRow)}
        sound = all(isinstance(value, _KINDS.get(name, str)) for name, value in given.items())
        return DesignRow(**given) if sound and given["file"] == f"{stem_of(given['name'])}.sfm" else None
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
