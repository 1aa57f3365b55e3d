"""Zones around places: drawn once on a public lattice, stored in a ledger, never drawn again."""

from __future__ import annotations

import math
import operator
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.arguments import check_arguments
from ..core.arrays import floats
from ..core.immutable import CompactRepr
from ..errors import InputError, argument
from ..ledgers import Ledger

RADIUS_M: Final = 500
"""The radius of a zone unless the person chooses another, and the least without ``allow_small``."""

SECTORS: Final = 120
"""Directions from a zone's centre of 26 m at its edge: ways out in one of them share their random length."""

DIRECTIONS: Final = 30
"""Directions that are counted; the database takes integers of 31 bits."""

_LEAST_M: Final = 50
_MOST_M: Final = 5_000
_STEP_M: Final = 10
_UNITS: Final = 10_000_000  # of the lattice in one degree: positions are integers
_HEIGHT: Final = 905  # units of a row, at least 10 m at every latitude
_TURN: Final = 360 * _UNITS
_LIMIT: Final = 80  # degrees of latitude: nearer to a pole the columns of neighbouring rows differ too much
_USER: Final = "owner"
_MECHANISM: Final = b"sfumato zone"
_RADIUS: Final = b"sfumato zone radius"
_WAYS: Final = b"sfumato ways out"


@lru_cache(maxsize=8)
def offsets(radius_m: int) -> tuple[tuple[int, int], ...]:
    """Return the list from which the way from an anchor to its zone's centre is drawn: rows and columns.

    It is symmetric, and the same for every anchor. Its disc holds all cells within ``radius_m`` metres.
    """
    reach = _reach(radius_m)
    rows = range(-reach, reach + 1)
    return tuple((row, column) for row in rows for column in rows if row**2 + column**2 <= reach**2)


@dataclass(frozen=True, slots=True, repr=False)
class Zone(CompactRepr):
    """A disc of cells around a cell of the public lattice, which contains all points within its radius of that.

    The lattice has rows of 10 m, and in each row columns of 10 m; the columns of a zone are those of its centre's
    row. ``contains`` is decided on integers. So each of the `offsets` leads from an anchor to another centre, and
    a centre is drawn with the same probability from every anchor in its zone.
    """

    row: int
    column: int
    radius_m: int = RADIUS_M

    @classmethod
    def around(cls, lat: float, lon: float, offset: Sequence[int], radius_m: int = RADIUS_M) -> Zone:
        """Return the zone whose centre is an offset (rows, columns) away from the cell of an anchor in degrees."""
        row = int(_rows(np.array(lat))) + int(offset[0])
        column = int(_columns(np.array(lon), row)) + int(offset[1])
        return cls(row, column % _columns_of(row), radius_m)

    @property
    def centre(self) -> tuple[float, float]:
        """The latitude and longitude of the middle of its centre's cell, degrees."""
        lon = (self.column + 0.5) * 360 / _columns_of(self.row)
        return _latitude(self.row), lon if lon < 180 else lon - 360

    def contains(self, lat: ArrayLike, lon: ArrayLike) -> NDArray[np.bool_]:
        """Return which points in degrees are in the zone, in the shape of the arguments."""
        count = _columns_of(self.row)
        across = (_columns(np.asarray(lon, dtype=float), self.row) - self.column + count // 2) % count - count // 2
        up = _rows(np.asarray(lat, dtype=float)) - self.row
        reach = _reach(self.radius_m)
        # Far columns would overflow when squared.
        inside = (np.abs(up) <= reach) & (np.abs(across) <= reach)
        near: NDArray[np.bool_] = np.where(inside, up, 0) ** 2 + np.where(inside, across, 0) ** 2 <= reach**2
        return inside & near


class Zones:
    """The zones of one person, in a ledger.

    A zone is drawn once around the place that the person states, by the operating system's randomness, and all
    zones in the ledger are cut from every track. Of a place, the ledger has a hash of its name and the zone's
    centre, never the place. ``radius_m`` is by default the ledger's, or 500; it is fixed with the first call.
    Raises `InputError` if the radius is not the ledger's, or below 500 without ``allow_small``.

    Source:
        Hassan et al., "Analysis of privacy protections in fitness tracking social networks", USENIX Security 2018.
    """

    __slots__ = ("ledger", "radius_m")

    def __init__(self, ledger: Ledger, *, radius_m: int | None = None, allow_small: bool = False) -> None:
        if radius_m is not None and not _LEAST_M <= radius_m <= _MOST_M:
            raise InputError(
                f"a zone of {radius_m:,} m cannot be made.", f"use a radius from {_LEAST_M} m to {_MOST_M:,} m."
            )
        if radius_m is not None and radius_m < RADIUS_M and not allow_small:
            raise InputError(
                f"a radius of {radius_m:,} m is below {RADIUS_M} m, and hides little.",
                f"use {RADIUS_M} m",
                f"insist with {argument('allow_small', True)}.",
            )
        self.ledger = ledger
        choice = RADIUS_M if radius_m is None else int(radius_m)
        radius = ledger.remember(_USER, "radius", lambda before, _: choice if before is None else before, _RADIUS)
        if radius_m not in (None, radius):
            raise InputError(
                f"the zones of this ledger have a radius of {radius:,} m, not {radius_m:,} m.",
                "leave the radius out: two discs around one place would give away more than either.",
            )
        self.radius_m = int(radius)  # type: ignore[arg-type]  # an integer was stored

    @property
    def zones(self) -> tuple[Zone, ...]:
        """All zones that were ever drawn, the first one first."""
        return self._distinct(self.ledger.remembered(_USER, _MECHANISM))

    @check_arguments
    def add(self, name: str, lat: float, lon: float, *, move: bool = False) -> Zone:
        """Return the zone of a place, drawn now if it is new: its name, and where it is in degrees.

        State the place yourself; one computed from tracks is not covered by the guarantee. A place within an
        existing zone shares it. A position that is corrected within its zone keeps the zone; another one is
        refused, except with ``move`` (the person moved there). Each draw for one place gives away more. Raises
        `InputError` if the position is not valid, or outside the place's zone without ``move``.
        """
        lat, lon = floats([lat, lon], "the place", shape=(2,)).tolist()
        if not (abs(lat) <= _LIMIT and abs(lon) <= 180):
            raise InputError(
                "a place is beyond 80 degrees of latitude or 180 of longitude.",
                "write the latitude first: 48.86,2.35.",
            )

        def choose(before: object, known: Sequence[object]) -> tuple[float, float]:
            if before is not None:
                zone = self._zone(before)
                if zone.contains(lat, lon):
                    return zone.centre
                if not move:
                    raise InputError(
                        "this position is outside the zone of the place's first one.",
                        f"pass {argument('move', True)} if the place is a new one",
                        "give the first position again: another zone for the same place would shrink where it can "
                        "be to the overlap of both.",
                    )
            around = [zone for zone in self._distinct(known) if zone.contains(lat, lon)]
            if around:
                return around[0].centre
            return Zone.around(lat, lon, secrets.choice(offsets(self.radius_m)), self.radius_m).centre

        draw: Callable[..., tuple[float, float]] = choose
        return self._zone(self.ledger.remember(_USER, name, draw, _MECHANISM))

    def length_m(self, zone: Zone, sector: int) -> float:
        """Return the random length for ways out of a zone in one direction, uniform from 0 to its radius.

        It is a keyed hash of zone and direction, with the ledger's secret: a second track on this way, or a second
        export of the same one, has the same length.
        """
        bits = self.ledger.keyed_bits(f"length {zone.row} {zone.column} {sector}".encode())
        return zone.radius_m * bits / 2**64

    def count(self, ride: str, ways: dict[Zone, int]) -> None:
        """Store which ways out of each zone a ride shows (a bit for each direction), once for each ride."""
        for zone, mask in ways.items():
            mark = _WAYS + f" {zone.row} {zone.column}".encode()
            self._count(ride, mask, mark)

    def exposure(self, zone: Zone) -> tuple[int, int]:
        """Return how many rides that were released show ways out of a zone, and in how many directions."""
        masks: list[Any] = self.ledger.remembered(_USER, _WAYS + f" {zone.row} {zone.column}".encode())
        return len(masks), reduce(operator.or_, map(int, masks), 0).bit_count()

    def _count(self, ride: str, mask: int, mark: bytes) -> None:
        def add(before: Any, _: Sequence[object]) -> int:
            return mask | int(before or 0)

        self.ledger.remember(_USER, ride, add, mark)

    def _zone(self, centre: Any) -> Zone:  # a pair was stored
        return Zone.around(centre[0], centre[1], (0, 0), self.radius_m)

    def _distinct(self, centres: Sequence[object]) -> tuple[Zone, ...]:
        return tuple(dict.fromkeys(map(self._zone, centres)))

    def __repr__(self) -> str:
        return f"Zones of {self.radius_m:,} m, {len(self.zones)} so far, in {self.ledger.address!r}"


def _reach(radius_m: int) -> int:
    return math.ceil(radius_m / _STEP_M) + 1  # from the middle of a cell to all cells within the radius


def _latitude(row: int) -> float:
    return (row + 0.5) * _HEIGHT / _UNITS - 90


@lru_cache(maxsize=256)
def _columns_of(row: int) -> int:
    """Return the number of columns around the Earth, each at least 10 m wide in this row."""
    return math.floor(_TURN / _HEIGHT * math.cos(math.radians(_latitude(row))))


def _rows(lat: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint((lat + 90) * _UNITS).astype(np.int64) // _HEIGHT


def _columns(lon: NDArray[np.float64], row: int) -> NDArray[np.int64]:
    return np.rint(lon * _UNITS).astype(np.int64) % _TURN * _columns_of(row) // _TURN
