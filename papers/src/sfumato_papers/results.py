"""Rows of studies and their tables: written as columns, read again, selected and averaged."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

import numpy as np
from scipy.stats import t as student

from sfumato.core import Bracket
from sfumato.errors import DataError
from sfumato.rounding import about
from sfumato.tables import read_rows

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

TableRow = Mapping[str, object]
_Row = TypeVar("_Row", bound="DataclassInstance")
_Any = TypeVar("_Any")


def columns_of(row: DataclassInstance) -> dict[str, object]:
    """Return a row object's fields as columns; a bracket becomes one column for each bound.

    The columns of a field ``epsilon`` with a `Bracket` are ``epsilon_lower`` and ``epsilon_upper``.
    """
    columns: dict[str, object] = {}
    for field in fields(row):
        value = getattr(row, field.name)
        if isinstance(value, Bracket):
            columns |= {f"{field.name}_lower": value.lower, f"{field.name}_upper": value.upper}
        else:
            columns[field.name] = value
    return columns


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
    rows = []
    for number, line in enumerate(lines, 2):
        cells = dict(zip(header, line, strict=False))
        try:
            rows.append(
                kind(**{field.name: _value(field.name, types[field.name], cells) for field in fields(kind)})
            )
        except (KeyError, ValueError) as error:
            raise DataError(
                f"line {number} of {Path(path).name} is no {kind.__name__}: {error}.",
                "give a table that this study wrote.",
            ) from error
    return rows


def _value(name: str, kind: Any, cells: Mapping[str, str]) -> object:
    """Return the field of a row; an empty cell is None where that may be."""
    kinds = get_args(kind) or (kind,)
    if Bracket in kinds:
        lower, upper = cells[f"{name}_lower"], cells[f"{name}_upper"]
        if not lower and type(None) in kinds:
            return None
        ends = Bracket.of_bounds(float(lower), float(upper))
        return Bracket(ends.lower, float(cells[name]), ends.upper) if name in cells else ends
    text = cells[name]
    if not text and type(None) in kinds:
        return None
    return text == "True" if kinds[0] is bool else kinds[0](text)


class RunTables:
    """The tables in the folder of a run, the source of claims, figures and the page."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __contains__(self, name: object) -> bool:
        """Whether there is a table of this name."""
        return isinstance(name, str) and self._path(name).is_file()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tables, sorted."""
        return tuple(sorted(path.stem for path in self._folder.glob("*.csv")))

    def rows(self, name: str, kind: type[_Row]) -> list[_Row]:
        """Return the rows of a table as objects of a dataclass whose fields are columns."""
        return rows_of(self._path(name), kind)

    def texts(self, name: str) -> list[dict[str, str]]:
        """Return the rows of a table as texts by column."""
        header, *lines = read_rows(self._path(name))
        return [dict(zip(header, line, strict=True)) for line in lines]

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.csv"


def where(rows: Iterable[_Any], **fields: object) -> list[_Any]:
    """Return the rows whose fields have the given values."""
    return [row for row in rows if all(getattr(row, name) == value for name, value in fields.items())]


def distinct(rows: Iterable[object], field: str) -> list[Any]:
    """Return the different values of a field, in the order in which they occur."""
    return list(dict.fromkeys(getattr(row, field) for row in rows))


def interval(values: Sequence[float], level: float = 0.95) -> Bracket:
    """Return the mean of independent normal values and Student's interval; of one value, the whole line."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return Bracket(-math.inf, mean, math.inf)
    half = float(student.ppf((1 + level) / 2, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values)))
    return Bracket(mean - half, mean, mean + half)


def median_range(values: Sequence[float], digits: int = 3) -> str:
    """Return the median of values with the least and the largest in brackets, rounded to nearest."""
    least, most = about(min(values), digits), about(max(values), digits)
    return f"{about(float(np.median(values)), digits)} ({least} to {most})"


def tally(holds: Collection[bool]) -> str:
    """Return in how many of all cases something holds: ``3 of 5``."""
    return f"{sum(holds)} of {len(holds)}"


def markdown_table(head: str, rule: str, rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown: its head, the rule below it, and a line of cells for each row."""
    lines = [" | ".join(cell.replace("|", "\\|") for cell in cells) for cells in rows]
    return "\n".join([head, rule, *(f"| {line} |" for line in lines)]) + "\n"
