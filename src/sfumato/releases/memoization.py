"""One report for each place of a user, kept in a release or a ledger and repeated at later visits."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .._system import pa
from ..core import CoordinatePrivacy
from ..core.arrays import Floats
from ..errors import DataError, argument
from ..geo import Cells
from ..ledgers import Blur
from ..rounding import amount_at_most, plural
from ..sampling import SystemWords
from ..tables import TableStream, name_text
from .draws import FreshDraw, charges_of
from .kept_columns.private_schema import copy_rows
from .kernel import Kernel, LocatedBatch, PrivateBatch
from .promises import People
from .reporters import MatrixReporter, NoiseReporter, Reporter, arc_m
from .work_folder import Anchor, PlaceMemo

Positions = NDArray[np.intp]
_SAME_M: Final = 1e-6  # metres: nearer points are one, because degrees are floats
_CURVED_M: Final = 6_399_594.0  # the largest radius of curvature of the Earth's ellipsoid: a^2 / b
_LOOKED_AT: Final = 1_000  # places of a batch whose visits are compared with the report of a ledger
_MOST: Final = 1 << 19  # places of users that are distinguished in memory


@dataclass(frozen=True, slots=True, eq=False)
class Revisits:
    """Visits of a batch that need a report, ``rows`` (k,), and which of these each visit takes, ``index`` (n,)."""

    rows: Positions
    users: tuple[str, ...]
    places: tuple[str | None, ...]
    index: Positions
    visits: int

    @classmethod
    def of(cls, users: Any, places: Any, numbers: Positions) -> Revisits:
        """Return the users and places of visits, whose row numbers in the source are ``numbers``, array (n,)."""
        names, of_user = _names(users)
        missing = np.flatnonzero(of_user < 0)
        if missing.size:
            raise DataError(
                f"row {numbers[missing[0]] + 1:,} names no user, but places and budgets belong to users.",
                f"name the column of users with {argument('release.user', 'column')}.",
            )
        called, of_place = _names(places)
        alone = of_place < 0
        pairs = of_user * (len(called) + 1) + of_place
        pairs[alone] = -1 - np.flatnonzero(alone)  # each is a pair of its own
        _, first, where = np.unique(pairs, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.arange(len(order))
        rows = first[order].astype(np.intp)
        return cls(
            rows,
            tuple(names[user] for user in of_user[rows].tolist()),
            tuple(None if place < 0 else called[place] for place in of_place[rows].tolist()),
            rank[where.reshape(-1)],
            int(np.count_nonzero(~alone)),
        )


def apart_m(lat: Floats, lon: Floats, there_lat: Floats, there_lon: Floats) -> Floats:
    """Return upper bounds on ground distances, metres: the angle of the normals times the largest radius."""
    return arc_m(lat, lon, there_lat, there_lon, _CURVED_M)


def _names(column: Any) -> tuple[list[str], Positions]:
    """Return the names in an Arrow column, and which one each row has, array (n,); -1 where it has none."""
    plain = copy_rows(column, "of names")
    if pa.types.is_nested(plain.type):
        plain = pa.array([None if value is None else str(value) for value in plain.to_pylist()], pa.string())
    kind = column.type
    encoded = plain.dictionary_encode()
    values = encoded.dictionary
    if isinstance(kind, pa.BaseExtensionType) and values.type == kind.storage_type:
        values = pa.ExtensionArray.from_storage(kind, values)  # a UUID is written as one
    numbers: dict[str, int] = {}
    of_value = np.array(
        [
            -1 if name is None else numbers.setdefault(name, len(numbers))
            for name in map(name_text, values.to_pylist())
        ]
        + [-1],
        dtype=np.intp,
    )
    indices = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
    return list(numbers), of_value[indices]


class MemoizedDraw(FreshDraw):
    """Draws, and with a ledger charges, one report for each place of a user, kept in the memo or ledger."""

    in_turn = True
    memoizes = True
    place_column: str

    def __init__(self, kernel: Kernel, single: Reporter, place_column: str, blur: Blur | None) -> None:
        super().__init__(kernel)
        self.place_column, self.blur = place_column, blur
        self._single, self._words = single, SystemWords()

    def draw(self, batch: Any, start: int, run: str, memo: PlaceMemo) -> PrivateBatch:
        """Return the private rows of a batch, after charging for the places that are new; see `FreshDraw.draw`."""
        located = self.kernel.locate_or_refuse(batch, self._words, start=start)
        revisits = self._revisits(batch, located, start)
        if self.blur is None:
            reports = self._draw_places(located, revisits, start, memo)
        else:
            reports = self._charge_places(self.blur, located, revisits, start, memo, run)
        rows = np.arange(len(located.rows))
        return self.kernel.assemble(located, [(self._single, rows, reports[None, revisits.index])])

    def afford(self, batches: Iterable[tuple[LocatedBatch, int]]) -> None:
        """See `FreshDraw.afford`."""
        if self.blur is None:
            return
        demand: Counter[str] = Counter()
        with PlaceMemo(name=secrets.token_hex(16), spill=True) as memo:
            for located, start in batches:
                revisits = self._revisits(located.batch, located, start)
                keys = _keys(memo, revisits)
                known = memo.find_anchors(list(filter(None, keys)))
                fresh = [number for number, key in enumerate(keys) if key is None or key not in known]
                memo.keep(start, {key: Anchor(None, 0, 0) for key in map(keys.__getitem__, fresh) if key}, 0, None)
                users = [revisits.users[number] for number in fresh]
                remembered = self.blur.remembers(users, [revisits.places[number] for number in fresh])
                for user, is_known in zip(users, remembered, strict=True):
                    demand[user] += not is_known
        self.blur.ledger.afford(charges_of(self.blur, demand))

    def cost(self, memo: PlaceMemo) -> str:
        """Return sentences on what charges and memoization cost; see `FreshDraw.cost`."""
        parts = [] if self.blur is None else [self.blur.sentence]
        visits, places, spread_m = memo.counts
        if places:
            parts.append(self._memoization_cost(visits, places, spread_m if self.blur is None else None))
        return ". ".join([*parts, *filter(None, [self.warning(memo)])])

    def _memoization_cost(self, visits: int, places: int, spread_m: float | None) -> str:
        """Return a sentence on ``visits`` visits to ``places`` places, at most ``spread_m`` from their anchors."""
        single = self._single
        guarantee: object = None if self.blur is None else self.blur.promise
        if self.blur is None and isinstance(single, NoiseReporter):
            guarantee = single.noise.promise
        slack_m = guarantee.slack_m if isinstance(guarantee, CoordinatePrivacy) else 0.0
        slack = f" + {amount_at_most(slack_m, 'm')} of slack" if slack_m else ""
        r = "r" if spread_m is None else amount_at_most(spread_m, "m")
        where = f"all within {r} of theirs" if spread_m is None else f"which are at most {r} from theirs"
        visited = "; every visit to a place is at its anchor, so this holds for visited points, too"
        if spread_m is None or spread_m > _SAME_M:
            visited = (
                f"; between visited points, {where}, it is epsilon x (distance + 2 x {r}{slack}), counted likewise"
            )
        if isinstance(single, MatrixReporter) and isinstance(single.single.secrets, Cells):
            visited = ""  # the guarantee is for centres of cells
        anchors = "the distance of two possible anchors"
        return (
            f"{plural(visits, 'row')} {'names' if visits == 1 else 'name'} {plural(places, 'place')}"
            f"{', each' if places > 1 else ','} reported once, for the first visit to it (its anchor), and "
            "repeated. Given which rows share a place, each place costs epsilon x "
            f"{f'({anchors}{slack})' if slack else anchors}, as the guarantee of one report counts it, "
            f"once{visited}. "
            "Anyone can see that rows of one place share their report"
        )

    def warning(self, memo: PlaceMemo) -> str:
        """Return a sentence on how many places may have moved, and how far; see `FreshDraw.warning`."""
        places, far_m, rows = memo.possible_moves
        if not places:
            return ""
        far = amount_at_most(far_m, "m")
        noun, more = ("row" if places == 1 else "rows"), (", ..." if places > len(rows) else "")
        claim = f"{plural(places, 'place')} may have moved ({noun} {', '.join(f'{row:,}' for row in rows)}{more})"
        if self.blur is not None:
            return (
                f"At least {claim}: a visit is up to {far} from the repeated report, and fewer than one in 100 "
                "fresh reports would be so far. Blur.report with move=True draws and charges a place once more"
            )
        loss = amount_at_most(self._single.loss_m, "m")
        return (
            f"{claim}: a visit is more than {loss}, the mean loss of a report, "
            f"from the first one, and up to {far}. The repeated report is of the first visit: give a place "
            "elsewhere a name of its own"
        )

    def _revisits(self, batch: Any, located: LocatedBatch, start: int) -> Revisits:
        users, places = (batch.column(name).take(located.rows) for name in (self.kernel.user, self.place_column))
        return Revisits.of(users, places, located.rows + start)

    def _draw_places(self, located: LocatedBatch, revisits: Revisits, start: int, memo: PlaceMemo) -> NDArray[Any]:
        """Return the reports of a batch's places and of its visits without one, drawn where there is none yet."""
        keys = _keys(memo, revisits)
        known = memo.find_anchors([key for key in keys if key])
        fresh = np.array([number for number, key in enumerate(keys) if key not in known], dtype=np.intp)
        draws = self._fresh(located, revisits.rows[fresh])
        draws = draws.astype(np.float64 if draws.dtype.kind == "f" else np.int64)
        reports = np.empty((len(keys), *draws.shape[1:]), dtype=draws.dtype)
        reports[fresh] = draws
        lat, lon = (degrees[located.rows] for degrees in self.kernel.degrees(located.batch))
        anchors = {
            key: Anchor(reports[number].tobytes(), float(lat[row]), float(lon[row]))
            for number, row in zip(fresh.tolist(), revisits.rows[fresh].tolist(), strict=True)
            if (key := keys[number])
        }
        at = np.stack([lat[revisits.rows], lon[revisits.rows]])
        has_place = np.array([key is not None for key in keys], dtype=np.bool_)
        for number, key in enumerate(keys):
            if key in known:
                anchor = known[key]
                reports[number] = anchor.read(draws.dtype, draws.shape[1:])
                at[:, number] = anchor.lat, anchor.lon
        away_m = apart_m(lat, lon, *at[:, revisits.index])
        far = np.flatnonzero(has_place[revisits.index] & (away_m > self._single.loss_m))
        away: dict[bytes, tuple[float, int]] = {}
        for row in far.tolist():
            key = keys[revisits.index[row]]
            if key is not None:
                far_m, first = away.get(key, (0.0, int(located.rows[row]) + start + 1))
                away[key] = max(far_m, float(away_m[row])), first
        memo.keep(start, anchors, revisits.visits, float(away_m.max(initial=0.0)), away)
        return reports

    def _charge_places(
        self, blur: Blur, located: LocatedBatch, revisits: Revisits, start: int, memo: PlaceMemo, run: str
    ) -> NDArray[Any]:
        """Return the reports of a batch's places from the ledger, which charges for those that are new."""
        draws: list[int] = []

        def draw(rows: list[int]) -> list[Any]:
            draws.extend(rows)
            return [_plain(report) for report in self._fresh(located, revisits.rows[rows]).tolist()]

        reports = blur.reports(revisits.users, revisits.places, draw, run=run, batch=start)
        self.has_charged |= bool(draws)  # each was charged
        every = _keys(memo, revisits)
        keys = [key for key in every if key]
        known = memo.find_anchors(keys)
        anchors = {key: Anchor(None, np.nan, np.nan) for key in keys if key not in known}
        away = {
            key: (far_m, int(located.rows[row]) + start + 1)
            for number, far_m, row in self._far_visits(blur, located, revisits, reports, draws)
            if (key := every[number])
        }
        memo.keep(start, anchors, revisits.visits, None, away)
        return reports

    def _far_visits(
        self, blur: Blur, located: LocatedBatch, revisits: Revisits, reports: NDArray[Any], draws: list[int]
    ) -> list[tuple[int, float, int]]:
        """Return which places are visited far from their report (as in `Blur.report`), metres, and the row."""
        lat, lon = (degrees[located.rows] for degrees in self.kernel.degrees(located.batch))
        plain = [_plain(report) for report in reports.tolist()]
        there = blur.degrees(plain)
        away_m = apart_m(lat, lon, *there[revisits.index].T)
        first = revisits.rows[revisits.index]
        repeats = apart_m(lat, lon, lat[first], lon[first]) > self._single.loss_m
        repeats |= ~np.isin(revisits.index, draws)
        away_m[~repeats | np.array([place is None for place in revisits.places])[revisits.index]] = 0.0
        order = np.lexsort([away_m, revisits.index])
        last = order[np.flatnonzero(np.diff(revisits.index[order], append=-1))]  # the farthest visit to each place
        sample = last[away_m[last] > self._single.loss_m][:_LOOKED_AT]
        numbers = revisits.index[sample].tolist()
        far = blur.is_far(lat[sample], lon[sample], [plain[number] for number in numbers], "nearest")
        visits = zip(numbers, sample.tolist(), far, strict=True)
        return [(number, float(away_m[row]), row) for number, row, is_far in visits if is_far]

    def _fresh(self, located: LocatedBatch, rows: NDArray[np.intp]) -> NDArray[Any]:
        reports: NDArray[Any] = self.kernel.draw(located, self._words, rows)[0][2][0]
        return reports


def _keys(memo: PlaceMemo, revisits: Revisits) -> list[bytes | None]:
    return [
        None if place is None else memo.key(user, place)
        for user, place in zip(revisits.users, revisits.places, strict=True)
    ]


def _plain(report: Any) -> Any:
    return tuple(report) if isinstance(report, list) else report


def count_places(people: People, draw: FreshDraw, stream: TableStream, size: int) -> People:
    """Return the people of a source with one report for each place; sometimes an upper bound (`People.exact`)."""
    drops = draw.kernel.options.outside == "drop"
    if not isinstance(draw, MemoizedDraw) or draw.kernel.user is None or people.most is None:
        return replace(people, exact=people.exact and not drops)
    pairs: set[tuple[str, str]] = set()
    reports: Counter[str] = Counter()
    for batch in stream.batches(list(dict.fromkeys([draw.kernel.user, draw.place_column])), size):
        users, places = (batch.column(name) for name in (draw.kernel.user, draw.place_column))
        try:
            revisits = Revisits.of(users, places, np.arange(batch.num_rows))
        except DataError:  # the release says which row it is, unless it drops it
            return replace(people, exact=False)
        for user, place in zip(revisits.users, revisits.places, strict=True):
            if place is not None:
                if (user, place) in pairs:
                    continue
                pairs.add((user, place))
            reports[user] += 1
        if len(pairs) > _MOST:
            return replace(people, exact=False)
    return replace(
        people,
        most=max(reports.values(), default=0),
        exact=people.exact and draw.blur is None and not drops,
        counts=tuple(sorted(Counter(reports.values()).items())),
    )
