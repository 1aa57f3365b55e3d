"""Drawing reports on a budget: each is charged first, for an epsilon that was proved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core import CoordinatePrivacy, Mechanism, MetricPrivacy
from ...core.arguments import checked
from ...core.arrays import Floats, integer, numbers
from ...core.degrees import released
from ...errors import FileError, InputError, argument
from ...evidence import VertexPrivacy
from ...geo import Places
from ...mechanisms.planar import CoordinateNoise
from ...sampling import Sampler, SystemWords
from .charge import charge_sentence, check_charge
from .ledger import Ledger
from .memo import fingerprint
from .places import Report

Outside = Literal["error", "nearest"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MeteredSampler:
    """Draws reports of one mechanism and charges each to its user first.

    A place that is named is remembered: its report is drawn once, for the first visit (its
    anchor), charged once and repeated from then on, also by later runs with the same ledger.
    Given which visits share a place, each place then costs epsilon x |anchor - anchor'|,
    once. For the visited points themselves, where all are within r of their anchors, reports
    are at most e^(epsilon (|x - x'| + 2 r)) times likelier from one than from another. Anyone can see from the
    reports that two visits share a place, and nothing is promised about it. Without a name nothing is remembered.

    Args:
        mechanism: The mechanism, or noise for coordinates, which has no positions: use `blur`.
        guarantee: What a report spends: metric privacy, or coordinate privacy on a lattice or of noise
            (``noise.promise``, whose slack counts once for every report); it is proved on the mechanism's
            integers or the noise's recipe here, or refused.
        ledger: Whose unit is the guarantee's.

    Attributes:
        mechanism: The mechanism.
        guarantee: The proved guarantee of one report.
        ledger: The ledger.

    Raises:
        InputError: If the guarantee does not hold, or the units differ.
    """

    mechanism: Mechanism | CoordinateNoise
    guarantee: MetricPrivacy | CoordinatePrivacy
    ledger: Ledger
    _sampler: Sampler
    _name: bytes

    @checked
    def __init__(
        self,
        mechanism: Mechanism | CoordinateNoise,
        guarantee: MetricPrivacy | CoordinatePrivacy,
        ledger: Ledger,
    ) -> None:
        asked = guarantee.promise if isinstance(guarantee, VertexPrivacy) else guarantee
        check_charge(mechanism, asked)
        unit = asked.unit if isinstance(asked, CoordinatePrivacy) else asked.metric.unit
        if unit != ledger.unit:
            raise InputError(
                f"the unit of the guarantee is {unit!r}, but the ledger's is {ledger.unit!r}.",
                f"state the guarantee in {ledger.unit!r}, or use a ledger of the guarantee's unit.",
            )
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "guarantee", asked)
        object.__setattr__(self, "ledger", ledger)
        object.__setattr__(self, "_sampler", Sampler(mechanism))
        object.__setattr__(self, "_name", fingerprint(mechanism))

    @checked
    def draw(self, user: str, position: int | np.integer[Any], *, place: str | None = None) -> int:
        """Return the position of one report of a user's secret, after charging for it.

        Args:
            user: Who reports.
            position: The position of the secret.
            place: The name of a place that is remembered: ``home``, or the key of a venue. None draws afresh.

        Raises:
            BudgetError: If the user has too little left; then nothing is drawn.
            InputError: If it is not the position of a secret; then nothing is charged.
        """
        secrets = self._matrix.shape[0]
        given = integer(position)
        if given is None or not 0 <= given < secrets:
            raise InputError(
                f"{position!r} is not the position of a secret.",
                f"use an integer from 0 to {secrets - 1}; Space.position(label) gives it.",
            )
        return self.draw_all([user], np.array([given]), [place])[0]

    def draw_all(
        self, users: Sequence[str], positions: NDArray[np.intp], places: Sequence[str | None]
    ) -> list[int]:
        """Return the position of one report for each visit, all charged or none; see `draw`.

        Args:
            users: Who reports.
            positions: Positions of secrets, array (n,); of visits to one place the first counts.
            places: Names of places; None or an empty text draws afresh.

        Raises:
            BudgetError: If a user has too little left; then nobody is charged.
            InputError: If it is noise for coordinates.
        """
        return self._positions(users, places, lambda visits: self._sampler.draw(positions[visits]).tolist())

    @checked
    def blur(
        self,
        user: str,
        lat: float,
        lon: float,
        *,
        place: str | None = None,
        outside: Outside = "error",
    ) -> Floats:
        """Return the report of a point on the ground, after charging for it: latitude and longitude, array (2,).

        Args:
            user: Who reports.
            lat: Latitude in degrees.
            lon: Longitude in degrees.
            place: The name of a place that is remembered; then the point matters the first time only.
            outside: Whether a point outside is refused or moved; see `Sampler.blur`.

        Raises:
            BudgetError: If the user has too little left; then nothing is drawn.
            InputError: If the mechanism is not one of places, or the point is outside; then nothing is charged.
        """
        found: Floats = self.blur_all([user], [lat], [lon], [place], outside=outside)[0]
        return found

    def blur_all(
        self,
        users: Sequence[str],
        lat: ArrayLike,
        lon: ArrayLike,
        places: Sequence[str | None],
        *,
        outside: Outside = "error",
    ) -> Floats:
        """Return the report of each visit, all charged or none: latitudes and longitudes, array (n, 2).

        Args:
            users: Who reports.
            lat: Latitudes in degrees, array (n,); of visits to one place the first counts.
            lon: Longitudes in degrees, array (n,).
            places: Names of places; None or an empty text draws afresh.
            outside: Whether points outside are refused or moved; see `Sampler.blur`.

        Raises:
            BudgetError: If a user has too little left; then nobody is charged.
            InputError: If the mechanism is not one of places, or a point that is drawn for is outside, or not as
                many of one kind are given as of another; then nothing is charged.
        """
        if outside not in ("error", "nearest"):
            raise InputError(f"{argument('outside', outside)} is unknown.", "use error or nearest.")
        north, east = numbers(lat, "the latitude"), numbers(lon, "the longitude")
        if not north.shape == east.shape == (len(users),) == (len(places),):
            raise InputError(
                f"{len(users)} users, latitudes of shape {north.shape}, longitudes of shape {east.shape} and "
                f"{len(places)} places were given.",
                "pass one of each for every visit.",
            )
        mechanism = self.mechanism
        if isinstance(mechanism, Mechanism):
            reports = self._positions(
                users, places, lambda visits: self._of_points(north[visits], east[visits], outside)
            )
            found: Floats = released(mechanism.observables.latlon)[reports]
            return found
        blur = self._sampler.blur

        def draw(visits: list[int]) -> list[Report]:
            rows = blur(north[visits], east[visits], outside=outside).tolist()
            return [(y, x) for y, x in rows]

        pairs = [report for report in self._reported(users, places, draw) if isinstance(report, tuple)]
        if len(pairs) < len(users):
            raise self._changed()
        return np.array(pairs, dtype=np.float64).reshape(-1, 2)

    @property
    def sentence(self) -> str:
        """The charge for one report, and its cost, in words."""
        return charge_sentence(self.guarantee)

    @property
    def _matrix(self) -> Mechanism:
        if isinstance(self.mechanism, CoordinateNoise):
            raise InputError(
                f"{self.mechanism!r} has no numbered secrets to draw for.",
                "use blur() with a latitude and a longitude.",
            )
        return self.mechanism

    def _positions(
        self, users: Sequence[str], places: Sequence[str | None], draw: Callable[[list[int]], list[Report]]
    ) -> list[int]:
        made = self._matrix.shape[1]
        reports = self._reported(users, places, draw)
        found = [report for report in reports if isinstance(report, int) and report < made]
        if len(found) < len(reports):
            raise self._changed()
        return found

    def _reported(
        self, users: Sequence[str], places: Sequence[str | None], draw: Callable[[list[int]], list[Report]]
    ) -> list[Report]:
        return self.ledger.reports(users, places, self.guarantee.epsilon, draw, self._name)

    def _changed(self) -> FileError:
        return FileError(
            f"in {str(self.ledger.path)!r} the report of a place is not one of the mechanism's.",
            "the file was changed: restore it.",
        )

    def _of_points(self, lat: Floats, lon: Floats, outside: Outside) -> list[Report]:
        secrets = self._matrix.secrets
        if not isinstance(secrets, Places):
            raise InputError(
                f"points cannot be blurred by {self.mechanism!r}: its secrets are not places on the ground.",
                "use draw() with the position of a secret.",
            )
        north, east = secrets.nearest(lat, lon) if outside == "nearest" else (lat, lon)
        drawn = secrets.drawn(north, east, SystemWords().draw)
        if (drawn < 0).any():
            raise InputError(
                f"{int((drawn < 0).sum()):,} of {drawn.size:,} points are not served by {secrets!r}.",
                ""
                if outside == "nearest"
                else f"pass {argument('outside', 'nearest')} to move them to the nearest place",
                "leave them out, or design for a wider region.",
            )
        return [int(report) for report in self._sampler.draw(drawn)]

    def __repr__(self) -> str:
        return f"MeteredSampler: {self.guarantee} per report, on {self.ledger!r}"
