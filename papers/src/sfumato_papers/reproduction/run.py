"""The run of a study: its parts, stored as they finish, then tables, claims, figures and a page."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, is_dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from sfumato._system import atomically, try_lock, worker_pool
from sfumato._version import __version__
from sfumato.core.immutable import CompactRepr
from sfumato.errors import FileError, InputError, MissingExtraError, argument
from sfumato.geo import Visits
from sfumato.reports.document import check_pages
from sfumato.reports.theme import blank, save_picture
from sfumato.tables import write_rows

from ..results import RunTables, TableRow, columns_of
from .page import run_page
from .paper import SECONDS, Paper, PaperClaim, Setting, StudyPart, Tables, counts

CLAIMS: Final = "claims"
TIMES: Final = "parts-seconds"
PAGE: Final = "index.html"

_PARTS: Final = "parts"
_ABOUT: Final = "run.json"
_LIBRARIES = ("numpy", "scipy", "highspy", "clarabel", "python-flint", "pyarrow", "pyproj", "matplotlib", "torch")


@final
@dataclass(frozen=True, slots=True, repr=False)
class Reproduction(CompactRepr):
    """A reproduced paper: where everything lies, its claims judged, and how many of its parts were done before."""

    paper: str
    folder: Path
    claims: tuple[PaperClaim, ...]
    parts: int
    parts_before: int

    @property
    def counts(self) -> str:
        """The number of claims with each verdict, in a sentence; statements of ours are counted apart."""
        return counts([(claim.ours, claim.verdict) for claim in self.claims])


def run(
    paper: Paper,
    setting: Setting,
    folder: Path,
    *,
    processes: int = 1,
    command: str = "",
    progress: Callable[[str], None] | None = None,
) -> Reproduction:
    """Run a study, or continue one: parts that are in the folder are not done again.

    The folder then has ``index.html``, tables (CSV) with ``claims.csv``, figures (SVG), ``run.json`` (study, size,
    hashes of the data, version), ``environment.json`` and the parts. Files of ``-seconds`` measure time; all else
    is the same, to the byte, however often the run was interrupted, with the same versions and kind of machine.
    ``command`` is the command line for the page; ``progress`` is called with a line for each part.
    """
    if processes < 1:
        raise InputError(f"{processes} processes are not positive.", f"use {argument('processes', 2)}.")
    check_pages()
    blank(1, 1)
    if "learn" in paper.extras and find_spec("torch") is None:
        raise MissingExtraError(f"{paper.name!r}", "learn")
    tell = progress or (lambda _: None)
    parts = list(paper.parts(setting))
    names = [file_name(part) for part in parts]
    if duplicates := [name for name in names if names.count(name) > 1]:
        raise InputError(f"two parts are named {duplicates[0]!r}.", "give each a name of its own.")
    with kept_parts(folder, paper.name, setting) as store:
        outputs = {part.name: output for part in parts if (output := store.read(part)) is not None}
        before = len(outputs)
        if before:
            tell(f"{before} of {len(parts)} parts were done before.")
        left = [part for part in parts if part.name not in outputs]
        for part, tables_made, seconds in _make_parts(left, processes):
            store.write(part, tables_made, seconds)
            outputs[part.name] = (tables_made, seconds)
            tell(f"{len(outputs)} of {len(parts)}: {part.name}, {seconds:.1f} s")
        # From here on everything is made from what was written.
        _write_tables(folder, [(part, store.read(part) or outputs[part.name]) for part in parts])
        tables = RunTables(folder)
        claims = tuple(paper.claims(tables))
        _write(folder, CLAIMS, [columns_of(claim) for claim in claims])
        figures = paper.figures(tables)
        for name, figure in figures.items():
            save_picture(figure, folder / f"{name}.svg")
        with atomically(folder / "environment.json") as temporary:
            temporary.write_text(json.dumps(_environment(), indent=1) + "\n", encoding="utf-8")
        timeless = tuple(name for name in figures if not name.endswith(SECONDS))
        run_page(paper, folder, timeless, command).save(folder / PAGE)
        return Reproduction(paper.name, folder, claims, len(parts), before)


def _make_parts(parts: Sequence[StudyPart], processes: int) -> Iterator[tuple[StudyPart, Tables, float]]:
    """Yield the result of each part as it finishes."""
    if processes == 1 or len(parts) < 2:
        for part in parts:
            yield part, *_make(part)
        return
    with worker_pool(processes) as pool:
        running: dict[Future[tuple[Tables, float]], StudyPart] = {pool.submit(_make, part): part for part in parts}
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), *future.result()


def _make(part: StudyPart) -> tuple[Tables, float]:
    start = time.perf_counter()
    tables = part.make(*part.arguments)
    seconds = time.perf_counter() - start
    return {name: list(map(_columns, rows)) for name, rows in tables.items()}, seconds


def _columns(row: Any) -> TableRow:
    as_object = is_dataclass(row)
    columns: TableRow = columns_of(row) if as_object else row
    return columns


def _write_tables(folder: Path, outputs: Sequence[tuple[StudyPart, tuple[Tables, float]]]) -> None:
    tables: dict[str, list[TableRow]] = {}
    for _, (part_tables, _) in outputs:
        for name, rows in part_tables.items():
            tables.setdefault(name, []).extend(rows)
    tables[TIMES] = [{"part": part.name, "seconds": seconds} for part, (_, seconds) in outputs]
    for name, rows in tables.items():
        _write(folder, name, rows)


def _write(folder: Path, name: str, rows: Sequence[TableRow]) -> None:
    if rows:
        write_rows(list(rows[0]), (row.values() for row in rows), folder / f"{name}.csv")


def _environment() -> dict[str, object]:
    """Return versions of the package, of Python and of the libraries that are installed, and the machine."""
    versions = {}
    for name in _LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return {
        "sfumato": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "libraries": versions,
    }


@contextmanager
def kept_parts(folder: Path, paper: str, setting: Setting) -> Iterator[KeptParts]:
    """Open the folder of a run, locked against other runs where the system locks folders."""
    parts = folder / _PARTS
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
    """The parts of one run in its folder; a folder that holds another run is a `FileError`."""

    def __init__(self, folder: Path, paper: str, setting: Setting) -> None:
        self._folder = folder / _PARTS
        about = {
            "study": paper,
            "size": "quick" if setting.quick else "full",
            "data": {name: _digest(visits) for name, visits in setting.data.items()},
            "sfumato": __version__,
        }
        path = folder / _ABOUT
        try:
            before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
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
            with atomically(path) as temporary:
                temporary.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")

    def read(self, part: StudyPart) -> tuple[Tables, float] | None:
        """Return the tables of a part and its seconds; None if it is not done."""
        try:
            document = json.loads(self._path(part).read_text(encoding="utf-8"))
            return {
                name: [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
                for name, table in document["tables"].items()
            }, float(document["seconds"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # it is done again

    def write(self, part: StudyPart, output: Tables, seconds: float) -> None:
        """Store the tables of a part and its seconds."""
        tables = {
            name: {"columns": list(rows[0]), "rows": [[_plain(value) for value in row.values()] for row in rows]}
            for name, rows in output.items()
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
    digest = hashlib.sha256()
    columns: dict[str, Any] = {"lat": visits.lat, "lon": visits.lon, "user": visits.user, "time": visits.time}
    for name, column in (columns | dict(visits.attributes)).items():
        if column is not None:
            digest.update(f"{name} {len(column)}\n".encode())
            plain = column.dtype.kind in "fiubM"
            digest.update(column.tobytes() if plain else "\n".join(map(str, column.tolist())).encode())
    return digest.hexdigest()
