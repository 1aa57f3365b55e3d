"""Batches on their way through a kernel: rows taken for secrets, then private rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.immutable import CompactRepr


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Located(CompactRepr):
    """A batch whose rows have been taken for secrets, before a report is drawn.

    Attributes:
        batch: The true rows.
        rows: The numbers of those for which a report is drawn, array (k,), in order.
        values: Their secrets, array (places, k, ...): of each place of a row, such as both ends of a trip.
        chosen: The number of the mechanism of each, array (k,); None where there is one.
        moved: How many of them were moved first.
        farthest_m: How far at most, metres.
        without_position: How many of the rows that are left out have no position.
    """

    batch: Any
    rows: NDArray[np.intp]
    values: NDArray[Any]
    chosen: NDArray[np.intp] | None
    moved: int
    farthest_m: float
    without_position: int = 0

    @property
    def dropped(self) -> int:
        """The number of rows that are left out."""
        return int(self.batch.num_rows - len(self.rows))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrivateBatch(CompactRepr):
    """A batch of private rows, and counts of what was done for it.

    Attributes:
        batch: The private rows, an Arrow record batch of the kernel's schema.
        dropped: How many rows were left out.
        moved: How many rows were moved first.
        farthest_m: How far at most, metres.
        rows: The numbers of the true rows that have a report, array (k,), in order; None where it is not known.
        without_position: How many of the rows that were left out have no position.
    """

    batch: Any
    dropped: int
    moved: int
    farthest_m: float
    rows: NDArray[np.intp] | None = None
    without_position: int = 0
