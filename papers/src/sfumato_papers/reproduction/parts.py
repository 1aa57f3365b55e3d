"""Parts of a run on disk: written once and atomically, and read when the run continues."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np

from sfumato._system import atomically, try_lock
from sfumato._version import __version__
from sfumato.errors import FileError, InputError
from sfumato.geo import Visits

from .paper import Made, Setting, StudyPart

_FOLDER: Final = "parts"
_ABOUT: Final = "run.json"


@contextmanager
def kept_parts(folder: Path, paper: str, setting: Setting) -> Iterator[KeptParts]:
    """Open the folder of a run, locked against other runs.

    Systems without locks of folders have no protection.

    Args:
        folder: The folder of the run, made where it is missing.
        paper: The paper's name.
        setting: What the study is run on.

    Raises:
        InputError: If another run writes to it.
        FileError: If it holds another run, or cannot be used.
    """
    parts = folder / _FOLDER
    try:
        parts.mkdir(parents=True, exist_ok=True)
        lock = os.open(parts, os.O_RDONLY) if os.name == "posix" else None
    except OSError as error:
        raise _unusable(folder, error) from None
    try:
        if lock is not None and not try_lock(lock):
            raise InputError(
                f"another run is writing to {str(folder)!r}.", "wait until it ends, or choose another folder."
            )
        for place in (folder, parts):
            for left in place.glob(".*.part"):  # half-written by a run that was killed
                left.unlink(missing_ok=True)
        yield KeptParts(folder, paper, setting)
    finally:
        if lock is not None:
            os.close(lock)


class KeptParts:
    """The parts of one run in its folder.

    Args:
        folder: The folder of the run.
        paper: The paper's name.
        setting: What the study is run on.

    Raises:
        FileError: If the folder holds another run, or cannot be used.
    """

    def __init__(self, folder: Path, paper: str, setting: Setting) -> None:
        self._folder = folder / _FOLDER
        about = {
            "study": paper,
            "size": "quick" if setting.quick else "full",
            "data": {name: _digest(visits) for name, visits in setting.data.items()},
            "sfumato": __version__,
        }
        kept = folder / _ABOUT
        try:
            before = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else None
        except (OSError, ValueError) as error:
            raise _unusable(folder, error) from None
        if before is not None and before != about:
            other = [name for name in about if not isinstance(before, dict) or before.get(name) != about[name]]
            differ = f"{' and '.join(other)} {'differs' if len(other) == 1 else 'differ'}"
            raise FileError(
                f"the folder {str(folder)!r} holds another run: its {differ}.",
                "choose another folder; nothing in this one was changed.",
            )
        if before is None:
            with atomically(kept) as temporary:
                temporary.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")

    def read(self, part: StudyPart) -> tuple[Made, float] | None:
        """Return the tables of a part and its seconds; None if it is not done."""
        try:
            found = json.loads(self._path(part).read_text(encoding="utf-8"))
            return {
                name: [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
                for name, table in found["tables"].items()
            }, float(found["seconds"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # it is done again

    def write(self, part: StudyPart, made: Made, seconds: float) -> None:
        """Keep what a part made.

        Raises:
            FileError: If it cannot be written.
        """
        tables = {
            name: {"columns": list(rows[0]), "rows": [[_plain(value) for value in row.values()] for row in rows]}
            for name, rows in made.items()
            if rows
        }
        with atomically(self._path(part)) as temporary:
            temporary.write_text(json.dumps({"seconds": seconds, "tables": tables}) + "\n", encoding="utf-8")

    def _path(self, part: StudyPart) -> Path:
        return self._folder / f"{file_name(part)}.json"


def file_name(part: StudyPart) -> str:
    """Return the name under which a part is kept, without ending."""
    return re.sub(r"[^a-z0-9.-]+", "-", part.name.lower())


def _unusable(folder: Path, error: OSError | ValueError) -> FileError:
    return FileError(f"the folder {str(folder)!r} cannot be used ({error}).", "choose another.")


def _plain(value: object) -> object:
    """Return a value as JSON keeps it to the last bit."""
    return value.item() if isinstance(value, np.generic) else value


def _digest(visits: Visits) -> str:
    """Return a hash of the visits."""
    found = hashlib.sha256()
    columns: dict[str, Any] = {"lat": visits.lat, "lon": visits.lon, "user": visits.user, "time": visits.time}
    for name, column in (columns | dict(visits.attributes)).items():
        if column is not None:
            found.update(f"{name} {len(column)}\n".encode())
            plain = column.dtype.kind in "fiubM"
            found.update(column.tobytes() if plain else "\n".join(map(str, column.tolist())).encode())
    return found.hexdigest()
