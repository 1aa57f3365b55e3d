"""The axis of kinds of tables in memory: what is read of one, and how private rows become a table of its kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError, InputError, argument
from ...tables import ArrowStream
from ..kernel import Kernel

Rows = NDArray[np.intp]


class FrameKind(ABC):
    """A table in memory, and the way back to its kind.

    Attributes:
        shapes: The columns of geometries.
        unreadable: The columns of which Arrow knows no such type, by name, and their types; as an Arrow table they
            are empty.
    """

    shapes: frozenset[str] = frozenset()
    unreadable: Mapping[str, str] = {}

    @abstractmethod
    def arrow(self) -> ArrowStream:
        """Return what its columns are read from."""

    def check_columns(self, used: Collection[str | None], kept: Collection[str]) -> None:
        """Refuse columns that cannot be read, and geometries that would be carried over.

        Args:
            used: The columns that are read.
            kept: Those of them that the caller keeps.

        Raises:
            DataError: If one cannot be read.
            InputError: If one that is kept holds positions.
        """
        for name in sorted(self.shapes.intersection(kept)):
            raise InputError(
                f"the column {name!r} holds positions, so it is never kept.",
                f"leave it out of {argument('keep')}.",
            )
        for name in sorted(self.unreadable.keys() & set(used)):
            raise DataError(
                f"the column {name!r} of type {self.unreadable[name]} cannot be read.",
                "write all its values as texts, or all as numbers",
                "make the frame one of geopandas." if self.unreadable[name] == "geometry" else "",
            )

    def check_rest(self, kernel: Kernel) -> None:  # noqa: B027
        """Refuse a table of which more than the named columns and the numbering of rows would be carried over.

        Args:
            kernel: What is released of it.

        Raises:
            InputError: If its index is not named in ``keep``, or has the name of another column.
        """

    @property
    def sentences(self) -> tuple[str, ...]:
        """The parts of the table that stay beside its columns, in words."""
        return ()

    @abstractmethod
    def back(self, table: Any, rows: Rows, kept: Mapping[str, str], mark: str) -> Any:
        """Return private rows as a table of this kind.

        Args:
            table: The private rows, an Arrow table.
            rows: The numbers of the true rows that they belong to, array (k,).
            kept: From names of its columns to those of the source that they were.
            mark: The text by which the mechanism is recognised, for kinds that can bear it.
        """
