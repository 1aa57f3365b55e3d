"""Files of visitors: read once, in a process of its own with little memory, and kept in a form that is known."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from sfumato.core.naming import quote
from sfumato.errors import DataError, InfeasibleError
from sfumato.escaping import csv_cell, unseen
from sfumato.geo import FORMATS, Visits, read_visits, recognised
from sfumato.rounding import counted
from sfumato.tables import Source, read_columns

from ..examples import places_data
from ..limits import MEMORY_BYTES, MOST_LABELS, ROWS, UNPACKED_BYTES, VISITS_FILE
from .orders import Work

READABLE: Final = FORMATS
_BLOCK: Final = 2**20
_LONGEST_LABEL: Final = 200
_TAG: Final = re.compile(r"<[a-zA-Z/!?]")


def read_file(work: Work) -> dict[str, Any]:
    """Read a file of the visitor."""
    _limit_memory()
    try:
        return read_upload(Path(work.request["path"]), work.request["kept_as"], work.folder)
    except MemoryError:
        raise InfeasibleError(
            "The file takes too much memory once it is unpacked.", "use some of its rows."
        ) from None


def read_upload(path: Path, kept_as: str, folder: Path) -> dict[str, Any]:
    """Return what the studio keeps of a file, and write its visits where it holds some.

    Args:
        path: The file, under the visitor's own name for it.
        kept_as: ``places`` or ``values``; "" to find out.
        folder: Where the visits go.

    Raises:
        DataError: If it cannot be read, or is too large once it is unpacked.
    """
    if path.suffix.lower() == ".sfm":
        raise DataError(
            f"{path.name!r} is a mechanism file: it is finished, and the studio designs from data.",
            "drop the data that it was made from; for what the file promises and costs, with maps and attackers, "
            "run: sfumato report FILE",
        )
    _check_size(path)
    data: dict[str, Any] = {
        "kind": "places",
        "source": "file",
        "title": path.name,
        "name": path.name,
        "notes": [],
        "users": None,
        "columns": [],
        "extent": None,
        "region": None,
        "tables": {},
        "visits": None,
    }
    problem: DataError | None = None
    if kept_as != "values":
        try:
            visits = read_visits(path)
        except DataError as error:
            problem = error
        else:
            _check_rows(len(visits))
            found = places_data(visits)
            _write(visits, folder / VISITS_FILE)
            said = counted(len(visits), "visit")
            people = "" if visits.user is None else f" of {counted(len(visits.users()), 'person', 'people')}"
            return data | found | {"sentence": f"{said}{people}."}
    if problem is not None and (kept_as == "places" or _names_places(path)):
        raise problem
    try:
        tables, rows = _labels(path)
    except DataError as error:
        raise (problem or error) from None
    for column, values in tables.items():
        _check_texts(column, [column, *values])
    if not tables:
        raise problem or DataError(
            f"no column of {path.name!r} has 2 to {MOST_LABELS} different values.",
            "choose a table with a column of categories or of whole numbers.",
        )
    sentence = f"{counted(rows, 'row')}, {counted(len(tables), 'column')} with 2 to {MOST_LABELS} values."
    return data | {"kind": "values", "rows": rows, "columns": list(tables), "tables": tables, "sentence": sentence}


def _check_size(path: Path) -> None:
    """Refuse a file that is larger than it looks, before anything reads all of it.

    Raises:
        DataError: If it is.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = Source.of(path)
    if source.compressed:
        seen = 0
        with gzip.open(path) as file:
            while block := file.read(_BLOCK):
                seen += len(block)
                if seen > UNPACKED_BYTES:
                    raise _too_large(path)
    if source.head.startswith(b"PAR1"):
        try:
            found = pq.ParquetFile(path).metadata
        except (pa.ArrowException, OSError):
            return  # the reader says what is wrong
        _check_rows(found.num_rows)
        if sum(found.row_group(group).total_byte_size for group in range(found.num_row_groups)) > UNPACKED_BYTES:
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
    found: dict[str, dict[str, int]] = {}
    for name in table.column_names:
        try:
            texts = table[name].cast(pa.string())
        except pa.ArrowException:
            continue
        if len(texts.unique()) > MOST_LABELS + 1:
            continue
        counts = Counter(value for value in texts.to_pylist() if value not in (None, ""))
        if 2 <= len(counts) <= MOST_LABELS and max(map(len, counts)) <= _LONGEST_LABEL:
            found[str(name)] = {label: counts[label] for label in sorted(counts, key=_sorted)}
    return found, table.num_rows


def _check_texts(column: str, texts: Iterable[str]) -> None:
    """Refuse texts that other programs run: here they would be harmless, but not in every table made from them.

    Raises:
        DataError: If one is a formula or HTML, or has characters that are not seen.
    """
    for text in texts:
        what = (
            "is a formula to a spreadsheet" if csv_cell(text) != text else "is HTML" if _TAG.search(text) else ""
        )
        if reason := unseen(text):
            what = f"has {reason}"
        if what:
            raise DataError(
                f"the column {quote(column)} has the text {quote(text)}, which {what}.",
                "write it otherwise, such as without its first sign, or leave the column out.",
            )


def _names_places(path: Path) -> bool:
    """Return whether a table has columns of latitudes and longitudes by their names."""
    try:
        roles = recognised(read_columns(path, ()).column_names, path.name, {})
    except DataError:
        return False
    return roles.lat is not None and roles.lon is not None


def _sorted(label: str) -> tuple[int, int, str]:
    whole = label.removeprefix("-").isdecimal() and label.isascii() and len(label) <= 10
    return (0, int(label), label) if whole else (1, 0, label)


def _limit_memory() -> None:
    """Let this process take no more than some gigabytes, where the system can see to it."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
