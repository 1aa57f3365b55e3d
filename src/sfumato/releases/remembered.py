"""Draws in which a user's place has one report, or in which users are charged: all rows at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import CoordinatePrivacy
from ..errors import DataError, InputError
from ..geo import Cells
from ..sampling import SystemWords
from .budget import Blur
from .kernel import Kernel, Located, PrivateBatch
from .reporters import MatrixReporter, NoiseReporter, Reporter
from .revisits import Revisits, spread_m


@dataclass(slots=True)
class Remembered:
    """Draws one report for each place of a user, or charges each user first, or both.

    Attributes:
        kernel: What draws.
        place_column: The column that names places, or None.
        metered: Whom to charge, or None.
        places: How many places of users there were.
        cost: What this costs, in words.
    """

    kernel: Kernel
    place_column: str | None
    metered: Blur | None
    places: int = 0
    cost: str = ""
    _words: SystemWords = field(default_factory=SystemWords)

    def __post_init__(self) -> None:
        if self.kernel.single is None:
            raise InputError(
                "places and budgets are for one mechanism.", "release each mechanism's rows by itself."
            )

    def draw(self, batch: Any, start: int) -> PrivateBatch:
        """Return the private rows of all true rows.

        Args:
            batch: All rows.
            start: The number of rows before them.

        Raises:
            DataError: If a row names no user, or is outside and this is refused.
            BudgetError: If a user has too little left; then nobody is charged.
            FileError: If the ledger holds a report that the mechanism does not make.
        """
        kernel, single = self.kernel, self._single
        located = kernel.locate(batch, self._words, start=start)
        user = None if kernel.user is None else batch.column(kernel.user).take(located.rows)
        if user is None:
            raise DataError(
                "no column names the users, but places and budgets are those of users.",
                "name it: user='column', or --user-column.",
            )
        place = None if self.place_column is None else batch.column(self.place_column).take(located.rows)
        shared = Revisits.of(user, place)
        anchors = shared.anchors

        def fresh(rows: NDArray[np.intp]) -> NDArray[Any]:
            return kernel.drawn(located, self._words, rows)[0][2]

        if self.metered is None:
            distinct, where = np.unique(anchors, return_inverse=True)
            reports = fresh(distinct)[where]
        else:
            reports = self.metered.reports(
                shared.users,
                shared.places,
                lambda rows: [_plain(report) for report in fresh(np.array(rows, dtype=np.intp)).tolist()],
            )
        self._say(shared, located)
        return kernel.reported(located, [(single, np.arange(len(located.rows)), reports)])

    def _say(self, shared: Revisits, located: Located) -> None:
        single = self._single
        promise: object = None if self.metered is None else self.metered.promise
        if self.metered is None and isinstance(single, NoiseReporter):
            promise = single.noise.promise
        slack_m = promise.slack_m if isinstance(promise, CoordinatePrivacy) else 0.0
        said = [] if self.metered is None else [self.metered.sentence]
        self.places = shared.distinct
        if shared.distinct:
            lat, lon = self.kernel.degrees(located.batch)
            spread = (
                spread_m(lat[located.rows], lon[located.rows], shared.anchors) if self.metered is None else None
            )
            cells = isinstance(single, MatrixReporter) and isinstance(single.single.secrets, Cells)
            said.append(shared.cost(spread, cells=cells, slack_m=slack_m))
        self.cost = ". ".join(said)

    @property
    def _single(self) -> Reporter:
        found = self.kernel.single
        if found is None:
            raise InputError("there are several mechanisms.", "release each mechanism's rows by itself.")
        return found


def _plain(report: Any) -> Any:
    return tuple(report) if isinstance(report, list) else report
