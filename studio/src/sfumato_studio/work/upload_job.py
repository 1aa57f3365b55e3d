"""Import of uploaded files, in a worker process with limited memory."""

from __future__ import annotations

import gzip
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from sfumato.core.naming import quote
from sfumato.errors import DataError, InfeasibleError
from sfumato.escaping import csv_cell, invisible_character, plain
from sfumato.files import read_mechanism_file
from sfumato.geo import Visits, find_roles, read_visits
from sfumato.rounding import plural
from sfumato.tables import Source, read_columns

from ..domains import OpenedDomain
from ..domains.values import is_whole
from ..errors import RefusedError, message_of
from ..examples import empty_data, places_data
from ..limits import MECHANISM_FILE, MEMORY_BYTES, MOST_LABELS, ROWS, UNPACKED_BYTES, VISITS_FILE
from . import Work

_BLOCK: Final = 2**20
_LONGEST_LABEL: Final = 200
_EXAMPLES: Final = 3  # of the values of a column
_LONGEST_EXAMPLE: Final = 40
_MOST_COLUMNS: Final = 100
_TAG: Final = re.compile(r"<[a-zA-Z/!?]")


def read_file(work: Work) -> dict[str, Any]:
    """Read a file of the visitor."""
    _limit_memory()
    request = work.request
    columns = {name: request.get(name) for name in ("lat", "lon", "user")}
    try:
        return read_upload(Path(request["path"]), request.get("kind"), columns, work.folder)
    except MemoryError:
        raise InfeasibleError(
            "The file takes too much memory once it is unpacked.", "use some of its rows."
        ) from None


def read_upload(path: Path, kind: str | None, columns: Mapping[str, str | None], folder: Path) -> dict[str, Any]:
    """Return what the studio keeps of a file, and write its visits or its mechanism."""
    if path.suffix.lower() == ".sfm":
        return _open_mechanism(path, folder)
    _check_size(path)
    data = empty_data("file", path.name)
    problem: DataError | None = None
    if kind != "values":
        try:
            visits = read_visits(path, lat=columns["lat"], lon=columns["lon"], user=columns["user"])
        except DataError as error:
            problem = error
        else:
            _check_rows(len(visits))
            _write(visits, folder / VISITS_FILE)
            people = "" if visits.user is None else f" of {plural(len(visits.users()), 'person', 'people')}"
            return data | places_data(visits) | {"sentence": f"{plural(len(visits), 'visit')}{people}."}
    if problem is not None and (kind == "places" or _names_places(path)):
        raise _column_error(path, problem)
    try:
        tables, rows = _labels(path)
    except DataError as error:
        raise (problem or error) from None
    for column, values in tables.items():
        _check_texts(column, [column, *values])
    if not tables:
        fallback = DataError(
            f"no column of {path.name!r} has 2 to {MOST_LABELS} different values.",
            "choose a table with a column of categories or of whole numbers.",
        )
        raise _column_error(path, problem or fallback)
    sentence = f"{plural(rows, 'row')}, {plural(len(tables), 'column')} with 2 to {MOST_LABELS} values."
    return data | {"kind": "values", "rows": rows, "columns": list(tables), "tables": tables, "sentence": sentence}


def _open_mechanism(path: Path, folder: Path) -> dict[str, Any]:
    """Return what the studio keeps of a mechanism file whose guarantee can be proved, and copy it."""
    domain = OpenedDomain(read_mechanism_file(path), quote(path.name))
    shutil.copyfile(path, folder / MECHANISM_FILE)
    return empty_data("mechanism", path.name) | {
        "kind": domain.kind,
        "sentence": domain.notes[0],
        "notes": domain.notes[1:],
    }


def _column_error(path: Path, problem: DataError) -> Exception:
    """Return an error with the columns of a table to choose from; the error itself for other files."""
    try:
        table = read_columns(path, [])
    except DataError:
        return problem
    columns = {
        str(name): [plain(str(value))[:_LONGEST_EXAMPLE] for value in table[name].slice(0, _EXAMPLES).to_pylist()]
        for name in table.column_names[:_MOST_COLUMNS]
    }
    message, hint = message_of(problem)
    return RefusedError(422, message, hint, "columns", columns)


def _check_size(path: Path) -> None:
    """Refuse a file that is larger than it looks, before anything reads all of it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = Source.of(path)
    if source.compressed:
        size = 0
        with gzip.open(path) as file:
            while block := file.read(_BLOCK):
                size += len(block)
                if size > UNPACKED_BYTES:
                    raise _too_large(path)
    if source.head.startswith(b"PAR1"):
        try:
            metadata = pq.ParquetFile(path).metadata
        except (pa.ArrowException, OSError):
            return  # the reader says what is wrong
        _check_rows(metadata.num_rows)
        groups = map(metadata.row_group, range(metadata.num_row_groups))
        if sum(group.total_byte_size for group in groups) > UNPACKED_BYTES:
            raise _too_large(path)


def _check_rows(count: int) -> None:
    if count > ROWS:
        raise DataError(
            f"there are {count:,} rows.", f"use at most {ROWS:,}; some of them are enough to try things out."
        )


def _too_large(path: Path) -> DataError:
    return DataError(
        f"{path.name!r} is larger than {UNPACKED_BYTES // 2**20} MB once it is unpacked.",
        "use some of its rows: they are enough to try things out.",
    )


def _write(visits: Visits, path: Path) -> None:
    """Write places and people: no other column is kept."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, Any] = {"lat": visits.lat, "lon": visits.lon}
    if visits.user is not None:
        columns["user"] = [str(user) for user in visits.user.tolist()]
    if visits.time is not None:
        columns["time"] = visits.time
    pq.write_table(pa.table(columns), path)


def _labels(path: Path) -> tuple[dict[str, dict[str, int]], int]:
    """Return the columns that have few values, with how often each occurs, and the number of rows."""
    import pyarrow as pa

    table = read_columns(path, [])
    _check_rows(table.num_rows)
    tables: dict[str, dict[str, int]] = {}
    for name in table.column_names:
        try:
            texts = table[name].cast(pa.string())
        except pa.ArrowException:
            continue
        if len(texts.unique()) > MOST_LABELS + 1:
            continue
        counts = Counter(value for value in texts.to_pylist() if value not in (None, ""))
        if 2 <= len(counts) <= MOST_LABELS and max(map(len, counts)) <= _LONGEST_LABEL:
            tables[str(name)] = {label: counts[label] for label in sorted(counts, key=_sort_key)}
    return tables, table.num_rows


def _check_texts(column: str, texts: Iterable[str]) -> None:
    """Refuse texts that other programs run: here they would be harmless, but not in every table made from them."""
    for text in texts:
        flaw = (
            "is a formula to a spreadsheet" if csv_cell(text) != text else "is HTML" if _TAG.search(text) else ""
        )
        if reason := invisible_character(text):
            flaw = f"has {reason}"
        if flaw:
            raise DataError(
                f"the column {quote(column)} has the text {quote(text)}, which {flaw}.",
                "write it otherwise, such as without its first sign, or leave the column out.",
            )


def _names_places(path: Path) -> bool:
    """Return whether a table has columns of latitudes and longitudes by their names."""
    try:
        roles = find_roles(read_columns(path, ()).column_names, path.name, {})
    except DataError:
        return False
    return roles.lat is not None and roles.lon is not None


def _sort_key(label: str) -> tuple[int, int, str]:
    return (0, int(label), label) if is_whole(label) else (1, 0, label)


def _limit_memory() -> None:
    """Let this process take no more than some gigabytes, where the system can see to it."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
