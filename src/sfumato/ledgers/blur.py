"""Reports for an app: remember, charge and draw in one transaction."""

from __future__ import annotations

import warnings
from collections.abc import Collection, MutableMapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import (
    Capability,
    CoordinatePrivacy,
    Mechanism,
    MetricPrivacy,
    Randomizer,
    check_known,
    units,
)
from ..core.arguments import check_arguments
from ..core.arrays import Floats, integer, numbers
from ..core.immutable import NotebookRepr, assign
from ..errors import FileError, InputError, PlaceWarning, argument, python
from ..escaping import plain
from ..proofs import VertexPrivacy, error_radius
from ..sampling import Sampler
from .accounts import BudgetError, Report
from .charges import Charge, Draw, as_list, charge_sentence, place_of, proved_charge
from .day import stated_promise
from .fingerprints import fingerprint
from .ledger import Ledger
from .point_reports import Outside, PointReports

if TYPE_CHECKING:
    from .day import Day
    from .day_reports import DayReports

Fallback = Literal["refuse", "repeat"]
_FALLBACKS = ("refuse", "repeat")
_FAR = (
    "the position of {} is far from the report that is repeated for its place: fewer than one in 100 fresh "
    "reports would be so far. If the place has moved, report it with move=True, which draws and charges once more."
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Blur(NotebookRepr):
    """Reports of one mechanism for users with budgets: each is charged first, and then drawn.

    A named place is remembered: its report is drawn for the first visit (its anchor), charged once and repeated
    from then on, also by other processes with the same ledger. Given which visits share a place, each place costs
    epsilon x |anchor - anchor'|, once. If all visited points are within r of their anchors, reports are at most
    e^(epsilon (|x - x'| + 2 r)) times as likely from one point as from another. The reports show that two visits
    share a place, and this has no guarantee. Without a name nothing is remembered.

    With ``move=True`` a place that moved, such as a home, is drawn and charged once more, and this report is
    repeated from then on; the record keeps both, with their times. The reports show that it moved. The ledger
    holds no true position, so it cannot notice every move: `report` warns (`PlaceWarning`) where fewer than one in
    100 fresh reports of the point would be as far from it as the repeated report. About one in 100 places that
    have not moved is warned about too.

    When a user's budget is spent, a call is refused (`BudgetError`). With ``fallback="repeat"`` the call for one
    visit (`report`, `draw`) returns the last report of this mechanism that was drawn for this user under
    ``fallback="repeat"``, for any place. It costs nothing, and reveals nothing new about where they are, except
    that they are at no remembered place, whose own report would be repeated. Without such a report it is refused.
    Calls for many visits and releases of tables are always refused, because there each report is that of its own
    place. Raises `InputError` if there is no guarantee, it does not hold, or the units differ. The ledger has the
    unit of the guarantee. ``promise`` is the guarantee of one report, which is charged: metric privacy, or
    coordinate privacy on a lattice or of noise (whose slack counts once for every report). It is proved here on
    the mechanism's integers or the noise's recipe, or refused; by default it is the guarantee that the mechanism
    was made with. ``charge`` is the exact charge for one report: the decimal that its epsilon prints as, or where
    only the float itself is proved, the next one above it.

    Example:
        >>> import tempfile
        >>> import sfumato as sf
        >>> visits = sf.Visits([48.84, 48.88], [2.3, 2.4])
        >>> noise = sf.mechanisms.planar.CoordinateNoise.for_visits(visits, "1/km")
        >>> ledger = sf.Ledger.create(tempfile.mkdtemp() + "/budget.db", "5/km per day")
        >>> app = sf.Blur(noise, ledger)
        >>> lat, lon = app.report("ada", 48.8521, 2.3537, place="home")
        >>> again = app.report("ada", 48.8522, 2.3535, place="home")
        >>> bool((again == (lat, lon)).all()), ledger.balance("ada").spent
        (True, Fraction(1, 1))
    """

    mechanism: Randomizer
    ledger: Ledger
    promise: MetricPrivacy | CoordinatePrivacy
    charge: Decimal
    fallback: str
    _sampler: Sampler
    _points: PointReports
    _name: bytes
    _channel: Mechanism | None

    def __init__(
        self,
        mechanism: Randomizer,
        ledger: Ledger,
        promise: MetricPrivacy | CoordinatePrivacy | None = None,
        *,
        fallback: Fallback = "refuse",
    ) -> None:
        if fallback not in _FALLBACKS:
            raise InputError(
                f"{argument('fallback', fallback)} is unknown.", f"use one of {', '.join(_FALLBACKS)}."
            )
        check_known(mechanism)
        if type(ledger) is not Ledger:
            raise InputError(
                f"a value of {type(ledger)} is not a Ledger, and its charges are unknown.",
                python("open the ledger with sf.Ledger(address)."),
            )
        points = mechanism.supports(Capability.POINTS)
        if mechanism.supports(Capability.TUPLES) or not (points or mechanism.supports(Capability.MATRIX)):
            raise InputError(
                f"{mechanism!r} reports neither points nor one observable, and a ledger stores no other reports.",
                python("pass a Mechanism or a CoordinateNoise."),
            )
        channel: Mechanism | None = None if points else mechanism.channel()
        mechanism = mechanism if channel is None else channel
        promise = stated_promise(mechanism) if promise is None else promise
        promise = promise.promise if isinstance(promise, VertexPrivacy) else promise
        charge = proved_charge(mechanism, promise)
        unit = promise.unit if isinstance(promise, CoordinatePrivacy) else promise.metric.unit
        if unit != ledger.unit:
            counts = f"amounts per {plain(ledger.unit)}" if ledger.unit else "pure numbers"
            phrase = f"per {plain(unit)}" if unit else "a pure number"
            raise InputError(
                f"the ledger counts {counts}, but the mechanism's guarantee is {phrase}.",
                "" if not (unit and ledger.unit) else python(f"state the guarantee per {plain(ledger.unit)}"),
                f"use a ledger made with a budget such as {'20' + units.per_unit(unit)!r}.",
            )
        sampler, name = Sampler(mechanism), fingerprint(mechanism)
        assign(self, mechanism=mechanism, ledger=ledger, promise=promise, charge=charge, fallback=fallback)
        assign(self, _sampler=sampler, _points=PointReports(sampler), _name=name, _channel=channel)

    @property
    def uncertainty_m(self) -> float:
        """The `error_radius` of a fresh report for a point served, metres; it does not cover repeated reports."""
        return error_radius(self.mechanism)

    @check_arguments
    def report(
        self,
        user: str,
        lat: float,
        lon: float,
        *,
        place: str | None = None,
        outside: Outside = "error",
        move: bool = False,
    ) -> Floats:
        """Return the report of a point on the ground, after charging for it: latitude and longitude, array (2,).

        The point is in degrees. Of a remembered place only the first point is drawn for. With ``move`` the place
        has moved to this point, and is drawn and charged once more. For ``outside`` see `Sampler.blur`. Raises
        `BudgetError` if the user has too little left; then nothing is drawn. Raises `InputError` if the mechanism
        is not one of places, the point is outside, or ``move`` has no place; then nothing is charged.
        """
        _check_move(place, move=move)
        try:
            reports = self._reports_of([user], [lat], [lon], [place], outside, move=move)
        except BudgetError as error:
            reports = self.degrees([self._last(user, error, move=move)])
        return np.asarray(reports[0])

    @check_arguments
    def report_all(
        self,
        users: Collection[str],
        lat: ArrayLike,
        lon: ArrayLike,
        places: Collection[str | None],
        *,
        outside: Outside = "error",
    ) -> Floats:
        """Return the report of each visit, all charged or none: latitudes and longitudes, array (n, 2).

        Latitudes and longitudes are degrees, arrays (n,); of visits to one place the first counts. A place that is
        None, an empty text or NaN (a missing value of pandas) is drawn afresh. For ``outside`` see `Sampler.blur`.
        Raises `BudgetError` if a user has too little left; then no one is charged, and nothing is repeated. Raises
        `InputError` if the mechanism is not one of places, a point to draw for is outside, or lengths differ; then
        nothing is charged.
        """
        return self._reports_of(users, lat, lon, places, outside)

    def _reports_of(
        self,
        users: Collection[str],
        lat: ArrayLike,
        lon: ArrayLike,
        places: Collection[str | None],
        outside: Outside,
        *,
        move: bool = False,
    ) -> Floats:
        """Return the reports of `report_all`; warn of points that are far from the report that is repeated."""
        if outside not in ("error", "nearest"):
            raise InputError(f"{argument('outside', outside)} is unknown.", "use error or nearest.")
        north, east = numbers(lat, "the latitude"), numbers(lon, "the longitude")
        people, names = as_list(users, "users"), as_list(places, "places")
        if not north.shape == east.shape == (len(people),) == (len(names),):
            raise InputError(
                f"{len(people)} users, latitudes of shape {north.shape}, longitudes of shape {east.shape} and "
                f"{len(names)} places were given.",
                "pass one of each for every visit.",
            )
        fresh: set[int] = set()

        def draw(visits: list[int]) -> list[Report]:
            fresh.update(visits)
            return self._points.draw(north[visits], east[visits], outside)

        reports = self._settle(people, names, draw, move=move)
        degrees = self.degrees(reports)
        repeats = [number for number in range(len(reports)) if number not in fresh]
        far = sum(self.is_far(north[repeats], east[repeats], [reports[at] for at in repeats], outside))
        if far:
            warnings.warn(_FAR.format("a visit" if far == 1 else f"{far:,} visits"), PlaceWarning, stacklevel=4)
        return degrees

    @check_arguments
    def draw(
        self, user: str, position: int | np.integer[Any], *, place: str | None = None, move: bool = False
    ) -> int:
        """Return the position of one report of a user's secret, given by its position, after charging for it.

        A place is a name: ``home``, or the key of a venue; None draws afresh. With ``move`` the place has moved to
        this secret, and is drawn and charged once more. Raises `BudgetError` if the user has too little left; then
        nothing is drawn. Raises `InputError` if it is not the position of a secret, or ``move`` has no place; then
        nothing is charged.
        """
        _check_move(place, move=move)
        secrets = self._matrix.shape[0]
        secret = integer(position)
        if secret is None or not 0 <= secret < secrets:
            raise InputError(
                f"{position!r} is not the position of a secret.",
                f"use an integer from 0 to {secrets - 1}; Space.position(label) gives it.",
            )
        try:
            return self._draw([user], np.array([secret]), [place], move=move)[0]
        except BudgetError as error:
            return self._position(self._last(user, error, move=move))

    @check_arguments
    def draw_all(
        self, users: Collection[str], positions: NDArray[np.intp], places: Collection[str | None]
    ) -> list[int]:
        """Return the position of one report for each visit, all charged or none; see `draw`.

        Positions of secrets are an array (n,); of visits to one place the first counts. A place that is None, an
        empty text or NaN is drawn afresh. Raises `BudgetError` if a user has too little left; then no one is
        charged, and nothing is repeated. Raises `InputError` if it is noise for coordinates, or there is not one
        position of a secret for each user.
        """
        secrets, people = self._matrix.shape[0], as_list(users, "users")
        secret_positions = [integer(position) for position in as_list(positions, "positions")]
        inside = [
            secret_position
            for secret_position in secret_positions
            if secret_position is not None and 0 <= secret_position < secrets
        ]
        if not len(inside) == len(secret_positions) == len(people):
            raise InputError(
                f"{argument('positions')} does not hold a position of a secret for each of {len(people)} users.",
                f"use integers from 0 to {secrets - 1}; Space.positions(labels) gives them.",
            )
        return self._draw(people, np.array(inside, dtype=np.intp), places)

    def _draw(
        self, users: Collection[str], at: NDArray[np.intp], places: Collection[str | None], *, move: bool = False
    ) -> list[int]:
        reports = self._settle(users, places, lambda visits: self._sampler.draw(at[visits]).tolist(), move=move)
        return [self._position(report) for report in reports]

    @check_arguments
    def reports(
        self,
        users: Collection[str],
        places: Collection[str | None],
        draw: Draw,
        *,
        run: str = "",
        batch: int = 0,
    ) -> NDArray[Any]:
        """Return the report of each visit, remembered or drawn by the caller, all charged or none.

        Reports are positions of observables, array (n,), or of noise degrees, array (n, 2). ``draw`` returns a
        fresh report for each of the visits with these numbers. A place that is None, an empty text or NaN is drawn
        afresh. For runs and batches see `Ledger.charge_many`. Raises `BudgetError` if a user has too little left;
        then no one is charged, and nothing is repeated. Raises `FileError` if the ledger holds a report that the
        mechanism does not make.
        """
        reports = self._settle(users, places, draw, run=run, batch=batch)
        if self._channel is None:
            return self.degrees(reports)
        return np.array([self._position(report) for report in reports], dtype=np.intp)

    @check_arguments
    def day(
        self,
        day: Day,
        *,
        start: tuple[float, float],
        positions: MutableMapping[str, tuple[float, float]] | None = None,
    ) -> DayReports:
        """Return the reports of users at the ticks of a day.

        ``start`` is a fixed public point, latitude and longitude in degrees, for ticks before a user's first
        position. ``positions`` stores the last position of each user, in memory by default. Raises `InputError` if
        the mechanism is not one of places, or its reports spend more than the day's epsilon.
        """
        from .day_reports import DayReports

        return DayReports(self.mechanism, self.ledger, self.promise, day, start, positions)

    @check_arguments
    def charge_for(self, user: str, reports: int = 1) -> Charge:
        """Return the charge for reports of a user that are drawn elsewhere, for `Ledger.charge_many`."""
        return Charge(user, self.charge, reports, self._name)

    @property
    def sentence(self) -> str:
        """The charge for one report, in words."""
        charged = charge_sentence(self.promise, self.charge)
        if self._channel is not None and isinstance(self.promise, MetricPrivacy):
            charged += self.promise.caveat(self._channel.secrets)
        return charged

    @property
    def _matrix(self) -> Mechanism:
        if self._channel is None:
            raise InputError(
                f"{self.mechanism!r} has no numbered secrets to draw for.",
                "use report() with a latitude and a longitude.",
            )
        return self._channel

    @check_arguments
    def remembers(self, users: Collection[str], places: Collection[str | None]) -> list[bool]:
        """Return for each visit whether its place has a report of this mechanism, which costs nothing more."""
        return self.ledger.remembers(users, places, self._name)

    def _settle(
        self, users: Collection[str], places: Collection[str | None], draw: Draw, **turn: Any
    ) -> list[Report]:
        charged = (self.charge, draw, self._name)
        return self.ledger.reports(users, places, *charged, repeatable=self.fallback == "repeat", **turn)

    def _last(self, user: str, refusal: BudgetError, *, move: bool) -> Report:
        """Return the report that is repeated for a user who has too little left, or raise the refusal."""
        if move or self.fallback != "repeat":
            raise refusal
        last = self.ledger.last_report(user, self._name)
        if last is None:
            raise BudgetError(
                f"{refusal.text} There is no stored report of this mechanism to repeat.",
                *refusal.hints[1:],
                user=refusal.user,
                charge=refusal.charge,
                left=refusal.left,
            ) from None
        return last

    def is_far(self, lat: Floats, lon: Floats, reports: Sequence[Report], outside: Outside) -> list[bool]:
        """Return for which visits, arrays (n,) of degrees, fewer than one in 100 fresh reports would be as far."""
        visits = zip(lat.tolist(), lon.tolist(), reports, strict=True)
        return [self._points.is_far(north, east, report, outside) for north, east, report in visits]

    def degrees(self, reports: Sequence[Report]) -> Floats:
        """Return reports as degrees, array (n, 2); `FileError` if one is not the mechanism's."""
        degrees = self._points.degrees(reports)
        if degrees is None:
            raise self._tampering()
        return degrees

    def _position(self, report: Report) -> int:
        if not isinstance(report, int) or report >= self._matrix.shape[1]:
            raise self._tampering()
        return report

    def _tampering(self) -> FileError:
        return FileError(
            f"in {self.ledger.address!r} the report of a place is not one of the mechanism's.",
            "the ledger was changed: restore it from a copy, and check it.",
        )

    def __repr__(self) -> str:
        return f"Blur: {self.promise} per report, from a ledger of {' and '.join(self.ledger.limits)} per user"


def _check_move(place: str | None, *, move: bool) -> None:
    if move and not place_of(place):
        raise InputError(
            f"{argument('move', True)} was given without a place.",
            f"name the place with {argument('place', 'home')}.",
        )
