"""Tracks: points with times and elevations, cut around zones, and the loop alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.arrays import Floats, floats, numbers, readonly
from ..core.immutable import Immutable, assign
from ..errors import InputError, argument
from ..rounding import plural
from .zones import DIRECTIONS, SECTORS, Zone

_DEGREE_M: Final = 111_195.0  # of a great circle on a sphere of the Earth's mean radius
_STRIDE_M: Final = 2.0  # between places where a line is tested for being in a zone
_WINDOW_M: Final = 25.0  # before and after a point, where its directions are measured
_TURN: Final = math.radians(45)
_STRAIGHT: Final = 0.6  # of the window: a shorter chord has no direction, as where someone stood still
_CLOSE_M: Final = 50.0  # between the ends of a loop
_THIN_M: Final = 10.0  # between points that lengths are measured along, or that are compared for a loop
_ONE_SECOND: Final = np.timedelta64(1, "s")
_START: Final = np.datetime64("1970-01-01T00:00:00", "us")

Length = Callable[[Zone, int], float]
"""From a zone and a sector to the length that is cut behind the turn, metres (`Zones.length_m`)."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Track(Immutable):
    """Points of one recording in their order, in parts without a gap, such as the segments of a GPX track.

    ``latlon`` has latitudes and longitudes in degrees (n, 2), ``elevation`` metres (n), NaN where there is none,
    ``time`` UTC times (n), NaT where there is none. ``part`` has a number for each point (n), the same for all
    points of one part; no line leads from one part to another. Raises `InputError` if the arrays do not fit each
    other, a position is not on Earth, a time is missing between others, or times decrease.
    """

    latlon: Floats
    elevation: Floats
    time: NDArray[np.datetime64]
    part: NDArray[np.intp]

    def __init__(
        self,
        latlon: ArrayLike,
        elevation: ArrayLike | None = None,
        time: ArrayLike | None = None,
        part: ArrayLike | None = None,
    ) -> None:
        positions = floats(latlon, "the track", shape=(None, 2))
        count = len(positions)
        if (np.abs(positions) > (90, 180)).any():
            raise InputError(
                "a point is beyond 90 degrees of latitude or 180 of longitude.", "give latitudes first."
            )
        heights = np.full(count, np.nan) if elevation is None else numbers(elevation, "the elevations")
        parts = np.zeros(count) if part is None else numbers(part, "the parts")
        try:
            moments = np.array(np.full(count, "NaT") if time is None else time, dtype="datetime64[us]")
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"the times cannot be read ({error}).", "pass an array of datetime64, or None."
            ) from None
        for noun, values in (("elevations", heights), ("times", moments), ("parts", parts)):
            if values.shape != (count,):
                raise InputError(f"there are {values.size} {noun} for {count} points.", "pass one for each.")
        known = ~np.isnat(moments)
        if known.any() and not known.all():
            raise InputError(
                f"{int((~known).sum()):,} of {count:,} points have no time.", f"use {argument('times', 'drop')}."
            )
        back = np.flatnonzero(moments[1:] < moments[:-1])
        if back.size:
            raise InputError(
                f"the time of point {back[0] + 2:,} is before that of the point before it.",
                "sort the points by time, or export the track again",
                f"use {argument('times', 'drop')}.",
            )
        assign(
            self,
            latlon=positions,
            elevation=readonly(heights),
            time=readonly(moments),
            part=readonly(np.unique(parts, return_inverse=True)[1] if count else np.zeros(0, dtype=np.intp)),
        )

    def __len__(self) -> int:
        return len(self.latlon)

    def take(self, points: NDArray[np.intp], part: NDArray[np.intp]) -> Track:
        """Return the track of some of its points, in new parts."""
        return Track(self.latlon[points], self.elevation[points], self.time[points], part)

    @property
    def parts(self) -> Iterator[Track]:
        """The parts, each a track by itself."""
        for rows in _runs(self.part):
            yield self.take(rows, np.zeros(len(rows), dtype=np.intp))

    @property
    def length_m(self) -> float:
        """The length of all parts, metres."""
        return float(sum(_along(part.latlon)[-1] for part in self.parts))

    @property
    def climb_m(self) -> float:
        """The sum of all gains of elevation within parts, metres."""
        return float(sum(np.nansum(np.maximum(np.diff(part.elevation), 0)) for part in self.parts))

    @property
    def has_times(self) -> bool:
        """Whether the points have times."""
        return len(self) > 0 and not np.isnat(self.time[0])

    @property
    def duration_s(self) -> float:
        """The time within parts, seconds; holes between them do not count. NaN without times."""
        spans = [(part.time[-1] - part.time[0]) / _ONE_SECOND for part in self.parts]
        return float(sum(spans)) if self.has_times else math.nan

    def with_times(self, times: str) -> Track:
        """Return the track with its times: as they are (``keep``), shifted (``shift``) or without (``drop``).

        Shifted times start at 1970-01-01, and every hole takes one second.
        """
        if times == "keep" or not self.has_times:
            return self
        moments = np.full(len(self), "NaT", dtype="datetime64[us]")
        if times == "shift":
            start = _START
            for rows in _runs(self.part):
                moments[rows] = self.time[rows] - self.time[rows[0]] + start
                start = moments[rows[-1]] + _ONE_SECOND
        return Track(self.latlon, self.elevation, moments, self.part)

    def loop(self) -> Track:
        """Return the loop alone: the shortest stretch that ends within 50 m of its start, at least half of all.

        All is the longest part of the track, so that a loop has no hole. Raises `InputError` if there is no loop,
        as where the ways out and back differ.
        """
        longest = max(self.parts, key=lambda part: part.length_m, default=self)
        along = _along(longest.latlon)
        pair = _closest_loop(longest.latlon, along) if len(longest) > 1 else None
        if pair is None:
            raise InputError(
                "the visible track has no loop: after half of its length it never comes within 50 m of itself.",
                "release it without the option for the loop.",
            )
        return longest.take(np.arange(pair[0], pair[1] + 1), np.zeros(pair[1] + 1 - pair[0], dtype=np.intp))

    def __repr__(self) -> str:
        return f"Track of {plural(len(self), 'point')} in {plural(len(list(_runs(self.part))), 'part')}"


class Cut(NamedTuple):
    """The visible track, and its ways in and out: of each a bit by zone and sector, and how many there are."""

    track: Track
    ways: dict[Zone, int]
    ends: int


def cut(track: Track, zones: Sequence[Zone], length: Length) -> Cut:
    """Return a track without its points in zones, those up to the next turn, and those on a further length.

    A turn is a change of direction by 45 degrees within 50 m, and is sought for two radii. A line that crosses a
    zone between two points cuts like a point there, and so does an end of the track that is less than a radius
    away from a zone. Only visible points decide how much more is cut.
    """
    inside, crossing = _holes(track, zones)
    stretches = np.concatenate([[0], np.cumsum((inside[1:] != inside[:-1]) | crossing)])[: len(track)]
    ways: dict[Zone, int] = {}
    rows: list[NDArray[np.intp]] = []
    parts: list[NDArray[np.intp]] = []
    ends = 0
    for points in _runs(stretches):
        if inside[points[0]]:
            continue
        visible = np.ones(len(points), dtype=bool)
        gates: list[tuple[Zone, int]] = []
        for step, end in ((1, 0), (-1, len(track) - 1)):
            outward = track.latlon[points[::step]]
            if not zones or (points[::step][0] == end and not _is_near(zones, outward[0])):
                continue
            zone = zones[int(np.argmin([np.hypot(*_metres(zone.centre, outward[:1])[0]) for zone in zones]))]
            sector = _sector(zone, outward[0])
            along, turn = _way_out(outward, 2.0 * zone.radius_m)
            visible &= (along >= turn + length(zone, sector))[::step]
            gates.append((zone, sector))
        stretch = points[visible]
        pieces = [piece for piece in _runs(track.part[stretch]) if len(piece) > 1]
        if pieces:
            ends += len(gates)
            for zone, sector in gates:
                ways[zone] = ways.get(zone, 0) | 1 << sector * DIRECTIONS // SECTORS
        for piece in pieces:
            rows.append(stretch[piece])
            parts.append(np.full(len(piece), len(parts)))
    none = [np.arange(0)]
    return Cut(track.take(np.concatenate(rows or none), np.concatenate(parts or none)), ways, ends)


def _holes(track: Track, zones: Sequence[Zone]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which points are in a zone, and which lines between two points that are in none cross one."""
    lat, lon = track.latlon.T
    inside = np.zeros(len(track), dtype=bool)
    for zone in zones:
        inside |= zone.contains(lat, lon)
    crossing = np.zeros(max(len(track) - 1, 0), dtype=bool)
    for zone in zones:
        ends = _metres(zone.centre, track.latlon)
        step = np.diff(ends, axis=0)
        size = np.hypot(*step.T)
        share = np.clip(-(ends[:-1] * step).sum(axis=1) / np.maximum(size, _STRIDE_M) ** 2, 0, 1)
        nearest = np.hypot(*(ends[:-1] + share[:, None] * step).T)
        near = (nearest < 1.1 * zone.radius_m + 50) & (size > _STRIDE_M) & ~inside[:-1] & ~inside[1:]
        for line in np.flatnonzero(near):
            shares = np.linspace(0, 1, math.ceil(size[line] / _STRIDE_M) + 1)[:, None]
            turn = (lon[line + 1] - lon[line] + 180) % 360 - 180
            samples = track.latlon[line] + shares * (lat[line + 1] - lat[line], turn)
            crossing[line] |= zone.contains(*samples.T).any()
    return inside, crossing


def _is_near(zones: Sequence[Zone], point: Floats) -> bool:
    """Return whether an end of a track is less than a radius away from a zone.

    It is cut like a way out: a device often finds its position after the first streets only.
    """
    return any(replace(zone, radius_m=2 * zone.radius_m).contains(*point) for zone in zones)


def _way_out(outward: Floats, most: float) -> tuple[Floats, float]:
    """Return how far each point of a way is from its start, and where its first turn ends (at most ``most``).

    Lengths are between points 10 m apart, because the jitter of closer ones would add up.
    """
    xy = _metres(outward[0], outward)
    corners = [0]
    for number, (x, y) in enumerate(xy.tolist()):
        if math.hypot(x - xy[corners[-1], 0], y - xy[corners[-1], 1]) >= _THIN_M:
            corners.append(number)
    path = xy[corners]
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(path, axis=0).T))])
    distances = along[np.searchsorted(corners, np.arange(len(xy)), side="right") - 1]

    def at(distance: Floats) -> Floats:
        return np.column_stack([np.interp(distance, along, path[:, 0]), np.interp(distance, along, path[:, 1])])

    places = along[(along >= _WINDOW_M) & (along <= min(along[-1] - _WINDOW_M, most))]
    before, after = at(places) - at(places - _WINDOW_M), at(places + _WINDOW_M) - at(places)
    across = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    angle = np.abs(np.arctan2(across, (before * after).sum(axis=1)))
    straight = np.minimum(np.hypot(*before.T), np.hypot(*after.T)) >= _STRAIGHT * _WINDOW_M
    turning = np.append((angle >= _TURN) & straight, False)
    if not turning.any():
        return distances, most
    first = int(np.argmax(turning))
    return distances, float(places[first + int(np.argmin(turning[first:])) - 1])


def _closest_loop(latlon: Floats, along: Floats) -> tuple[int, int] | None:
    """Return the ends of the shortest stretch that closes and has at least half of the length; None for none."""
    from scipy.spatial import cKDTree

    _, points = np.unique(along // _THIN_M, return_index=True)
    pairs = cKDTree(_metres(latlon[0], latlon[points])).query_pairs(_CLOSE_M, output_type="ndarray")
    first, last = points[pairs.min(axis=1, initial=len(along))], points[pairs.max(axis=1, initial=0)]
    lengths = along[last] - along[first]
    long = np.flatnonzero(lengths >= along[-1] / 2)
    if not long.size:
        return None
    best = long[np.argmin(lengths[long])]
    return int(first[best]), int(last[best])


def _runs(labels: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """Return the positions of each run of equal labels."""
    ends = np.flatnonzero(np.diff(labels)) + 1
    return (run for run in np.split(np.arange(len(labels)), ends) if len(run))


def _metres(centre: Sequence[float] | Floats, latlon: Floats) -> Floats:
    """Return metres east and north of a centre, right near it; farther points are far away."""
    east = ((latlon[:, 1] - centre[1] + 180) % 360 - 180) * math.cos(math.radians(centre[0]))
    return np.column_stack([east, latlon[:, 0] - centre[0]]) * _DEGREE_M


def _along(latlon: Floats) -> Floats:
    """Return the length of the way from the first point to each, metres."""
    lat, lon = np.radians(latlon).T
    chord = np.sin(np.diff(lat) / 2) ** 2 + np.cos(lat[:-1]) * np.cos(lat[1:]) * np.sin(np.diff(lon) / 2) ** 2
    steps = np.degrees(2 * np.arcsin(np.sqrt(np.minimum(chord, 1)))) * _DEGREE_M
    return np.concatenate([[0.0], np.cumsum(steps)])


def _sector(zone: Zone, point: Floats) -> int:
    """Return the direction of a point from a zone's centre, in steps of a full turn's share."""
    east, north = _metres(zone.centre, point[None])[0]
    return int(math.atan2(east, north) % (2 * math.pi) / (2 * math.pi) * SECTORS) % SECTORS
