"""Reports of an app at the ticks of a day: each is due by the clock alone, charged first, and drawn once."""

from __future__ import annotations

import hashlib
import math
from collections.abc import MutableMapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

import numpy as np

from ..core import CoordinatePrivacy, MetricPrivacy, Randomizer
from ..core.arguments import check_arguments
from ..core.immutable import NotebookRepr
from ..errors import FileError, InputError, argument, python
from ..rounding import amount_at_most
from ..sampling import Sampler
from ..sequences import Follower, MovementModel, PositionEstimate
from .accounts import ZERO, BudgetError, Report
from .charges import ReportPrivacy, normal_name, proved_charge
from .day import Day, DayPrivacy, Tick, TickReport, stated_promise
from .fingerprints import SIZE
from .ledger import Ledger
from .point_reports import PointReports

Point = tuple[float, float]
_MARK: Final = hashlib.blake2b(b"tick", digest_size=SIZE, person=b"sfumato day").digest()
"""The mark of ticks in a ledger: one report for a tick, of any mechanism."""


class DayReports(NotebookRepr):
    """Reports of users at the ticks of a day, from `Blur.day`.

    The position of a tick is the newest fix that the device has when the tick is answered. Without one it is the
    last position before, also of another day, and before the first fix the public ``start``. Missed ticks are
    answered at the next call, for the position before it. Positions outside are moved to the nearest place that is
    served. Nothing else about the person is an input.

    The ledger stores the report of each tick, so a second device or a restarted app gets the same one. A tick for
    which the budget has too little left costs nothing. It repeats the last report of the day, or returns
    ``start``. Use a ledger of its own for days: charges for named places would let places decide which ticks are
    repeated.

    What an app can still break, by when it calls: without a call at a tick, whether it was answered, and when, is
    visible, and the guarantee is one given these facts. If calls depend on the position, such as only after a move
    or only with a fix, no factor bounds what they reveal.

    Attributes:
        privacy: The proved guarantee of a day.
        positions: The last position of each user, degrees; stored by the app if it must survive a restart.
    """

    __slots__ = ("_drawables", "_mechanism", "_promise", "_start", "day", "ledger", "positions", "privacy")

    def __init__(
        self,
        mechanism: Randomizer,
        ledger: Ledger,
        promise: ReportPrivacy,
        day: Day,
        start: Point,
        positions: MutableMapping[str, Point] | None,
    ) -> None:
        first = _point(start, "start")
        if first is None:
            raise InputError(f"{argument('start', start)} is no position.", "pass a public point: (48.86, 2.35).")
        self.ledger, self.day, self._start = ledger, day, first
        self._mechanism, self._promise = mechanism, promise
        self.positions: MutableMapping[str, Point] = {} if positions is None else positions
        self.privacy: DayPrivacy = day.check(mechanism, promise)
        points, charge = PointReports(Sampler(mechanism)), proved_charge(mechanism, promise)
        self._drawables: dict[Randomizer, tuple[PointReports, Decimal]] = {mechanism: (points, charge)}
        points.draw(np.array([first[0]]), np.array([first[1]]), "nearest")  # refuses what is not about places

    @check_arguments
    def answer(
        self, user: str, fix: Point | None = None, *, now: datetime | None = None
    ) -> tuple[TickReport, ...]:
        """Return the reports of all ticks of the day that are due, in order; those that are new are drawn now.

        ``fix`` is the present position, latitude and longitude in degrees, or None; NaN counts as None. Call with
        each new fix, and at each tick. ``now`` is by default the system's time. Raises `InputError` if a fix is no
        position on the Earth, or `Day.adapt` returns a mechanism that the day cannot charge. Raises `FileError` if
        the ledger cannot be used.
        """
        name = normal_name(user, "the user")
        here = None if fix is None else _point(fix, "fix")
        before = _point(self.positions.get(name, self._start), "positions") or self._start
        due = self.day.due(datetime.now(UTC) if now is None else now)
        reports: list[TickReport] = []
        for tick in due:
            position = here if here is not None and tick is due[-1] else before
            reports.append(self._answer_tick(name, tick, position, reports))
        if here is not None:
            self.positions[name] = here
        return tuple(reports)

    @check_arguments
    def estimate(
        self, user: str, model: MovementModel, *, now: datetime | None = None, share: float = 0.95
    ) -> PositionEstimate:
        """Return where a user is, estimated from the day's reports alone through a public movement model.

        It is post-processing, so the day's guarantee holds for all estimates. Ticks that are due are answered
        first. ``share`` is that of the radius. Raises `InputError` if the model is not for the day's ticks, the
        day has an `adapt`, or the likelihood of the mechanism's reports is unknown (see `Follower`).
        """
        if self.day.adapt is not None or (tuple(model.slots), model.zone) != (self.day.slots, self.day.zone):
            raise InputError(
                f"{argument('model', model)} is not for the ticks of {self.day!r} with one mechanism.",
                python("make it with MovementModel.of_visits(visits, places, day.slots, day.zone)."),
            )
        time = datetime.now(UTC) if now is None else now
        follower, last = Follower(model, self._mechanism), float(self.day.slots[0])
        for slot, report in zip(self.day.slots, self.answer(user, now=time), strict=False):
            if report.epsilon:
                follower.update(slot, report.lat, report.lon)
                last = float(slot)
        # Where a clock is set back, its minutes begin again.
        return follower.estimate(max(last, model.minute(time)), share)

    def _answer_tick(self, user: str, tick: Tick, position: Point, reports: Sequence[TickReport]) -> TickReport:
        mechanism = self.day.mechanism(reports, self._mechanism)
        silent = TickReport(tick.time, *(reports[-1][1:3] if reports else self._start), ZERO)
        if mechanism is None:
            return silent
        points, charge = self._drawable(mechanism)
        self.day.check_left(charge, reports)

        def draw(visits: list[int]) -> list[Report]:
            lat, lon = (np.full(len(visits), degrees) for degrees in position)
            degrees = np.asarray(points.degrees(points.draw(lat, lon, "nearest")))
            return [(north, east) for north, east in degrees.tolist()]

        try:
            (report,) = self.ledger.reports([user], [tick.key], charge, draw, _MARK)
        except BudgetError:
            return silent
        if not isinstance(report, tuple):
            raise FileError(
                f"in {self.ledger.address!r} the report of a tick is no position.",
                "the ledger was changed: restore it from a copy, and check it.",
            )
        return TickReport(tick.time, *report, charge)

    def _drawable(self, mechanism: Randomizer) -> tuple[PointReports, Decimal]:
        """Return what draws for a mechanism, and its charge; its guarantee must be of the kind of the day's."""
        if mechanism not in self._drawables:
            promise = stated_promise(mechanism)
            privacy = self.day.check(mechanism, promise)
            if not _same_kind(promise, self._promise) or privacy.slack_m > self.privacy.slack_m:
                raise InputError(
                    f"{argument('adapt')} returned {mechanism!r}, whose guarantee is not for the distances of the "
                    f"day's, or has a slack above {amount_at_most(self.privacy.slack_m, 'm')}.",
                    python("make the Blur with the mechanism of the largest slack, on the same places."),
                )
            self._drawables[mechanism] = PointReports(Sampler(mechanism)), proved_charge(mechanism, promise)
        return self._drawables[mechanism]

    def __repr__(self) -> str:
        return f"DayReports: {self.day!r}, {self.privacy}"


def _point(value: Point, name: str) -> Point | None:
    """Return a position in degrees; None for one that has no numbers, and an `InputError` off the Earth."""
    lat, lon = np.asarray(value, dtype=np.float64).reshape(-1).tolist() if np.size(value) == 2 else (91.0, 0.0)
    if math.isnan(lat) or math.isnan(lon):
        return None
    if not (abs(lat) <= 90 and abs(lon) <= 360):
        raise InputError(
            f"{argument(name)} is no position on the Earth.",
            "pass latitude and longitude in degrees: (48.86, 2.35).",
        )
    return lat, lon


def _same_kind(first: ReportPrivacy, second: ReportPrivacy) -> bool:
    """Return whether two guarantees are for the same distances of the same values."""
    if isinstance(first, MetricPrivacy) and isinstance(second, MetricPrivacy):
        return np.array_equal(first.metric.array, second.metric.array)
    return isinstance(first, CoordinatePrivacy) and isinstance(second, CoordinatePrivacy)
