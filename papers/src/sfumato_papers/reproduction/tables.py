"""The tables of a run in its folder, the source of claims, figures and the page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sfumato.tables import read_rows

from ..results import rows_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Row = TypeVar("_Row", bound="DataclassInstance")


class RunTables:
    """The tables of a run.

    Args:
        folder: The folder of the run.
    """

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
        """Return the rows of a table as objects.

        Args:
            name: The table's name, without ending.
            kind: What a row is: a dataclass whose fields are columns.

        Raises:
            DataError: If there is no such table, or its columns are others.
        """
        return rows_of(self._path(name), kind)

    def texts(self, name: str) -> list[dict[str, str]]:
        """Return the rows of a table as texts by column.

        Raises:
            DataError: If there is no such table.
        """
        header, *lines = read_rows(self._path(name))
        return [dict(zip(header, line, strict=True)) for line in lines]

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.csv"
