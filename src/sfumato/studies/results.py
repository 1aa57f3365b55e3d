"""Results of a study: its tables as CSV files, and its figures as pictures.

Every published study is a folder here with the same face: ``study(...)`` does the work and returns its
results, and ``figures(results)`` draws them. `save` writes both.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ..core import Bracket
from ..core.atomic import atomically
from ..tables import write_rows

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from matplotlib.figure import Figure

TableRow = Mapping[str, object]


class Results(Protocol):
    """Results of a study."""

    @property
    def tables(self) -> Mapping[str, Sequence[TableRow]]:
        """The rows of each table, by the name of its file without ending; all rows have the same columns."""


def columns_of(row: DataclassInstance) -> dict[str, object]:
    """Return a row object's fields as columns; a measured number becomes one for each of its bounds.

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
        with atomically(path) as temporary:
            figure.savefig(temporary, format="png", metadata={"Software": "sfumato"})
        written.append(path)
    return written
