"""Results of a study: its tables as CSV files, and its figures as pictures.

Every study is a folder with the same interface: ``study(...)`` returns results, and ``figures(results)`` draws
them. `save` writes both, and `rows_of` reads a table again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, get_args, get_type_hints

from sfumato.core import Bracket
from sfumato.errors import DataError
from sfumato.reports.theme import save_picture
from sfumato.tables import read_rows, write_rows

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from matplotlib.figure import Figure

TableRow = Mapping[str, object]
_Row = TypeVar("_Row", bound="DataclassInstance")
_Any = TypeVar("_Any")


class Results(Protocol):
    """Results of a study."""

    @property
    def tables(self) -> Mapping[str, Sequence[TableRow]]:
        """The rows of each table, by the name of its file without ending; all rows have the same columns."""


def columns_of(row: DataclassInstance) -> dict[str, object]:
    """Return a row object's fields as columns; a bracket becomes one column for each bound.

    The columns of a field ``epsilon`` with a `Bracket` are ``epsilon_lower`` and ``epsilon_upper``.
    """
    found: dict[str, object] = {}
    for each in fields(row):
        value = getattr(row, each.name)
        if isinstance(value, Bracket):
            found |= {f"{each.name}_lower": value.lower, f"{each.name}_upper": value.upper}
        else:
            found[each.name] = value
    return found


def rows_of(path: str | os.PathLike[str], kind: type[_Row]) -> list[_Row]:
    """Read the rows of a study's table, to draw its figure again.

    Other columns are ignored. A bracket without a value has the middle of its bounds.

    Args:
        path: The table (CSV).
        kind: What a row is, such as `sfumato_papers.privacy_games.GameRow`.

    Raises:
        DataError: If the file cannot be read, or is not such a table.
    """
    header, *lines = read_rows(path) or [[]]
    types = get_type_hints(kind)
    found = []
    for number, line in enumerate(lines, 2):
        cells = dict(zip(header, line, strict=False))
        try:
            found.append(kind(**{each.name: _value(each.name, types[each.name], cells) for each in fields(kind)}))
        except (KeyError, ValueError) as error:
            raise DataError(
                f"line {number} of {Path(path).name} is no {kind.__name__}: {error}.",
                "give a table that this study wrote.",
            ) from error
    return found


def _value(name: str, kind: Any, cells: Mapping[str, str]) -> object:
    """Return the field of a row; an empty cell is None where that may be."""
    kinds = get_args(kind) or (kind,)
    if Bracket in kinds:
        lower, upper = cells[f"{name}_lower"], cells[f"{name}_upper"]
        if not lower and type(None) in kinds:
            return None
        ends = Bracket.between(float(lower), float(upper))
        return Bracket(ends.lower, float(cells[name]), ends.upper) if name in cells else ends
    text = cells[name]
    if not text and type(None) in kinds:
        return None
    return text == "True" if kinds[0] is bool else kinds[0](text)


def where(rows: Iterable[_Any], **fields: object) -> list[_Any]:
    """Return the rows whose fields have the given values."""
    return [row for row in rows if all(getattr(row, name) == value for name, value in fields.items())]


def distinct(rows: Iterable[object], field: str) -> list[Any]:
    """Return the different values of a field, in the order in which they occur."""
    return list(dict.fromkeys(getattr(row, field) for row in rows))


def markdown_table(head: str, rule: str, rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown: its head, the rule below it, and a line of cells for each row."""
    return "\n".join([head, rule, *(f"| {' | '.join(cells)} |" for cells in rows)]) + "\n"


def save(
    results: Results, folder: str | os.PathLike[str], figures: Mapping[str, Figure] | None = None
) -> list[Path]:
    """Write a study's tables (CSV) and figures (PNG) into a folder; each file appears whole or not at all.

    Args:
        results: What the study returned.
        folder: The folder; it is made if it does not exist.
        figures: What ``figures(results)`` returned, by the name of each file without ending; by default none.

    Returns:
        The files written. A table without rows makes none.

    Raises:
        FileError: If a file cannot be written.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    written = []
    for name, rows in results.tables.items():
        if not rows:
            continue
        path = place / f"{name}.csv"
        write_rows(list(rows[0]), (row.values() for row in rows), path)
        written.append(path)
    for name, figure in (figures or {}).items():
        path = place / f"{name}.png"
        save_picture(figure, path)
        written.append(path)
    return written
