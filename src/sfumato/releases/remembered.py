"""Draws in which each of a user's places has one report: batch by batch, with a ledger or without."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core import CoordinatePrivacy
from ..errors import InputError
from ..geo import Cells
from ..ledgers import Blur
from ..sampling import SystemWords
from .kernel import Kernel, Located, PrivateBatch
from .place_memo import Anchor, PlaceMemo
from .reporters import MatrixReporter, NoiseReporter, Reporter
from .revisits import Revisits, apart_m, cost_of_places, far_places

_LOOKED_AT: Final = 1_000  # places of a batch whose visits are compared with the report of a ledger


@dataclass(slots=True, eq=False)
class Remembered:
    """Draws one report for each place of a user, and charges each user first where there is a ledger.

    A place keeps its report in the release's memo, or with a ledger in that, for ever.

    Attributes:
        kernel: What draws.
        place_column: The column that names places.
        metered: Whom to charge, or None.
        paid: Whether anybody was charged since this was made.
    """

    kernel: Kernel
    place_column: str
    metered: Blur | None
    paid: bool = field(init=False, default=False)
    _words: SystemWords = field(default_factory=SystemWords)

    def __post_init__(self) -> None:
        if self.kernel.single is None:
            raise InputError(
                "places and budgets are for one mechanism.", "release each mechanism's rows by itself."
            )

    def draw(self, batch: Any, start: int, memo: PlaceMemo, run: str = "") -> PrivateBatch:
        """Return the private rows of a batch.

        A batch that is drawn again, because its process ended before anybody saw its reports, finds what it
        charged and the reports of its places.

        Args:
            batch: The true rows.
            start: The number of rows before them, which is also the batch's number.
            memo: The memo of this release.
            run: The name of the run, for the ledger; empty for none.

        Raises:
            DataError: If a row names no user, or is outside and this is refused.
            BudgetError: If a user has too little left; then nobody is charged for this batch.
            FileError: If the ledger holds a report that the mechanism does not make.
        """
        kernel = self.kernel
        located = kernel.locate(batch, self._words, start=start)
        shared = self._shared(batch, located, start)
        reports = (
            self._drawn(located, shared, start, memo)
            if self.metered is None
            else self._charged(located, shared, start, memo, run)
        )
        return kernel.reported(
            located, [(self._single, np.arange(len(located.rows)), reports[None, shared.taken])]
        )

    def afford(self, batches: Iterable[tuple[Located, int]]) -> None:
        """Refuse, before anybody is charged, reports for which a user has too little left.

        Args:
            batches: All rows for which a report will be drawn, and the number of rows before each batch.

        Raises:
            DataError: If a row names no user.
            BudgetError: If a user has too little left.
        """
        if self.metered is None:
            return
        needed: dict[str, int] = {}
        with PlaceMemo(name=secrets.token_hex(16), spill=True) as seen:
            for located, start in batches:
                shared = self._shared(located.batch, located, start)
                keys = _keys(seen, shared)
                known = seen.known(list(filter(None, keys)))
                fresh = [number for number, key in enumerate(keys) if key is None or key not in known]
                seen.keep(start, {key: Anchor(None, 0, 0) for key in map(keys.__getitem__, fresh) if key}, 0, None)
                users = [shared.users[number] for number in fresh]
                held = self.metered.remembers(users, [shared.places[number] for number in fresh])
                for user, paid in zip(users, held, strict=True):
                    needed[user] = needed.get(user, 0) + (not paid)
        charges = [self.metered.charge_for(user, reports) for user, reports in sorted(needed.items()) if reports]
        self.metered.ledger.afford(charges)

    def cost(self, memo: PlaceMemo) -> str:
        """Return what the release costs, in words.

        Args:
            memo: The memo of this release.
        """
        single = self._single
        promise: object = None if self.metered is None else self.metered.promise
        if self.metered is None and isinstance(single, NoiseReporter):
            promise = single.noise.promise
        slack_m = promise.slack_m if isinstance(promise, CoordinatePrivacy) else 0.0
        said = [] if self.metered is None else [self.metered.sentence]
        named, places, spread_m = memo.counts
        if places:
            cells = isinstance(single, MatrixReporter) and isinstance(single.single.secrets, Cells)
            spread = spread_m if self.metered is None else None
            said.append(cost_of_places(named, places, spread, cells=cells, slack_m=slack_m))
        return ". ".join([*said, *filter(None, [self.moved(memo)])])

    def moved(self, memo: PlaceMemo) -> str:
        """Return how many places may have moved, and how far, in words; empty where none has.

        Args:
            memo: The memo of this release.
        """
        places, far_m, rows = memo.far
        kept = self.metered is not None
        return far_places(places, far_m, rows, self._single.loss_m, kept=kept) if places else ""

    def _shared(self, batch: Any, located: Located, start: int) -> Revisits:
        users, places = (batch.column(name).take(located.rows) for name in (self.kernel.user, self.place_column))
        return Revisits.of(users, places, located.rows + start)

    def _drawn(self, located: Located, shared: Revisits, start: int, memo: PlaceMemo) -> NDArray[Any]:
        """Return the reports of a batch's places and of its visits without one, drawn where there is none yet."""
        keys = _keys(memo, shared)
        known = memo.known([key for key in keys if key])
        fresh = np.array([number for number, key in enumerate(keys) if key not in known], dtype=np.intp)
        drawn = self._fresh(located, shared.rows[fresh])
        drawn = drawn.astype(np.float64 if drawn.dtype.kind == "f" else np.int64)
        reports = np.empty((len(keys), *drawn.shape[1:]), dtype=drawn.dtype)
        reports[fresh] = drawn
        lat, lon = (degrees[located.rows] for degrees in self.kernel.degrees(located.batch))
        anchors = {
            key: Anchor(reports[number].tobytes(), float(lat[row]), float(lon[row]))
            for number, row in zip(fresh.tolist(), shared.rows[fresh].tolist(), strict=True)
            if (key := keys[number])
        }
        at = np.stack([lat[shared.rows], lon[shared.rows]])
        named = np.array([key is not None for key in keys], dtype=np.bool_)
        for number, key in enumerate(keys):
            if key in known:
                anchor = known[key]
                reports[number] = anchor.read(drawn.dtype, drawn.shape[1:])
                at[:, number] = anchor.lat, anchor.lon
        away_m = apart_m(lat, lon, *at[:, shared.taken])
        far = np.flatnonzero(named[shared.taken] & (away_m > self._single.loss_m))
        away: dict[bytes, tuple[float, int]] = {}
        for row in far.tolist():
            key = keys[shared.taken[row]]
            if key is not None:
                each, first = away.get(key, (0.0, int(located.rows[row]) + start + 1))
                away[key] = max(each, float(away_m[row])), first
        memo.keep(start, anchors, shared.named, float(away_m.max(initial=0.0)), away)
        return reports

    def _charged(self, located: Located, shared: Revisits, start: int, memo: PlaceMemo, run: str) -> NDArray[Any]:
        if self.metered is None:
            raise InputError("there is no ledger.", "pass a Blur.")

        drawn: list[int] = []

        def draw(rows: list[int]) -> list[Any]:
            drawn.extend(rows)
            return [_plain(each) for each in self._fresh(located, shared.rows[rows]).tolist()]

        reports = self.metered.reports(shared.users, shared.places, draw, run=run, batch=start)
        self.paid |= bool(drawn)  # each was charged
        every = _keys(memo, shared)
        keys = [key for key in every if key]
        known = memo.known(keys)
        anchors = {key: Anchor(None, np.nan, np.nan) for key in keys if key not in known}
        away = {
            key: (far_m, int(located.rows[row]) + start + 1)
            for number, far_m, row in self._far(located, shared, reports, drawn)
            if (key := every[number])
        }
        memo.keep(start, anchors, shared.named, None, away)
        return reports

    def _far(
        self, located: Located, shared: Revisits, reports: NDArray[Any], drawn: list[int]
    ) -> list[tuple[int, float, int]]:
        """Return which places are visited far from their report, how far it is, metres, and by which row.

        Some of the places are looked at. Of each the visit that is farthest from the report counts, unless the
        report was drawn for visits near it. Far is what `Blur.report` warns of.
        """
        if self.metered is None:
            return []
        lat, lon = (degrees[located.rows] for degrees in self.kernel.degrees(located.batch))
        plain = [_plain(each) for each in reports.tolist()]
        there = self.metered.degrees(plain)
        away_m = apart_m(lat, lon, *there[shared.taken].T)
        first = shared.rows[shared.taken]
        repeated = apart_m(lat, lon, lat[first], lon[first]) > self._single.loss_m
        repeated |= ~np.isin(shared.taken, drawn)
        away_m[~repeated | np.array([place is None for place in shared.places])[shared.taken]] = 0.0
        order = np.lexsort([away_m, shared.taken])
        last = order[np.flatnonzero(np.diff(shared.taken[order], append=-1))]  # the farthest visit to each place
        some = last[away_m[last] > self._single.loss_m][:_LOOKED_AT]
        numbers = shared.taken[some].tolist()
        far = self.metered.far(lat[some], lon[some], [plain[number] for number in numbers], "nearest")
        found = zip(numbers, some.tolist(), far, strict=True)
        return [(number, float(away_m[row]), row) for number, row, one in found if one]

    def _fresh(self, located: Located, rows: NDArray[np.intp]) -> NDArray[Any]:
        reports: NDArray[Any] = self.kernel.drawn(located, self._words, rows)[0][2][0]
        return reports

    @property
    def _single(self) -> Reporter:
        found = self.kernel.single
        if found is None:
            raise InputError("there are several mechanisms.", "release each mechanism's rows by itself.")
        return found


def _keys(memo: PlaceMemo, shared: Revisits) -> list[bytes | None]:
    return [
        None if place is None else memo.key(user, place)
        for user, place in zip(shared.users, shared.places, strict=True)
    ]


def _plain(report: Any) -> Any:
    return tuple(report) if isinstance(report, list) else report
