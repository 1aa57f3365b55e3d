"""Drawing reports on a budget: each is charged first, for an epsilon that was proved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...core import CoordinatePrivacy, Mechanism, MetricPrivacy
from ...core.arguments import checked
from ...core.arrays import Floats, integer
from ...errors import FileError, InputError, argument
from ...evidence import EpsilonProof, VertexPrivacy, bound_to, prove_coordinate_privacy, prove_metric_privacy
from ...geo import Places
from ...rounding import at_most
from ...sampling import Sampler, SystemWords
from .ledger import Ledger
from .memo import fingerprint

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
        mechanism: The mechanism.
        guarantee: What a report spends: metric privacy, or coordinate privacy on a lattice; it is
            proved on the mechanism's integers here, or refused.
        ledger: Whose unit is the guarantee's.

    Attributes:
        mechanism: The mechanism.
        guarantee: The proved guarantee of one report.
        ledger: The ledger.

    Raises:
        InputError: If the guarantee does not hold, or the units differ.
    """

    mechanism: Mechanism
    guarantee: MetricPrivacy | CoordinatePrivacy
    ledger: Ledger
    _sampler: Sampler
    _name: bytes

    @checked
    def __init__(self, mechanism: Mechanism, guarantee: MetricPrivacy | CoordinatePrivacy, ledger: Ledger) -> None:
        asked = guarantee.promise if isinstance(guarantee, VertexPrivacy) else guarantee
        proof = _proved(mechanism, asked)
        if not proof.holds:
            raise InputError(
                f"{asked} is claimed, but the mechanism's epsilon is up to {at_most(proof.upper, 9)}.",
                "charge what the mechanism really spends.",
            )
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
        given = integer(position)
        if given is None or not 0 <= given < self.mechanism.shape[0]:
            raise InputError(
                f"{position!r} is not the position of a secret.",
                f"use an integer from 0 to {self.mechanism.shape[0] - 1}; Space.position(label) gives it.",
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
        """
        return self._reported(users, places, lambda numbers: self._sampler.draw(positions[numbers]).tolist())

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
        report = self._reported(
            [user], [place], lambda numbers: [self._of_point(lat, lon, outside) for _ in numbers]
        )
        found: Floats = self.mechanism.observables.latlon[report[0]]
        return found

    def _reported(
        self, users: Sequence[str], places: Sequence[str | None], draw: Callable[[list[int]], list[int]]
    ) -> list[int]:
        reports = self.ledger.reports(users, places, self.guarantee.epsilon, draw, self._name)
        if max(reports, default=0) >= self.mechanism.shape[1]:
            raise FileError(
                f"in {str(self.ledger.path)!r} the report of a place is not one of the mechanism's.",
                "the file was changed: restore it.",
            )
        return reports

    def _of_point(self, lat: float, lon: float, outside: Outside) -> int:
        secrets = self.mechanism.secrets
        if not isinstance(secrets, Places):
            raise InputError(
                f"points cannot be blurred by {self.mechanism!r}: its secrets are not places on the ground.",
                "use draw() with the position of a secret.",
            )
        if outside not in ("error", "nearest"):
            raise InputError(f"{argument('outside', outside)} is unknown.", "use error or nearest.")
        north, east = secrets.nearest([lat], [lon]) if outside == "nearest" else ([lat], [lon])
        secret = secrets.drawn(north, east, SystemWords().draw)
        if secret[0] < 0:
            raise InputError(
                f"the point is not served by {secrets!r}.",
                ""
                if outside == "nearest"
                else f"pass {argument('outside', 'nearest')} to move it to the nearest place",
                "leave it out, or design for a wider region.",
            )
        return int(self._sampler.draw(secret)[0])

    def __repr__(self) -> str:
        return f"MeteredSampler: {self.guarantee} per report, on {self.ledger!r}"


def _proved(mechanism: Mechanism, guarantee: MetricPrivacy | CoordinatePrivacy) -> EpsilonProof:
    if isinstance(guarantee, MetricPrivacy):
        return prove_metric_privacy(mechanism, guarantee)
    (rows,) = bound_to(mechanism.secrets, (guarantee,))
    if not isinstance(rows, VertexPrivacy):
        raise InputError(f"{guarantee!r} cannot be charged.", "use MetricPrivacy or CoordinatePrivacy.")
    return prove_coordinate_privacy(mechanism, rows)
