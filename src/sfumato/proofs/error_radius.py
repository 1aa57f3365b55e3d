"""Error radii: how far a report may be from the true point, for every point and given a prior."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from ..core import Capability, Prior, Randomizer
from ..core.arrays import Floats, distinct_points, floats, round_degrees
from ..errors import InputError, argument, python, shell
from ..geo import Places, Projection, ServedParts, Visits, latlon_of
from ..mechanisms.planar import CoordinateNoise, PlaneRemap, table_shares
from ..rounding import amount_at_most, percent_of_confidence, up

_MASS: Final = 1e-11  # more than the rounding of a sum of 10,000 probabilities
_DEGREES_M: Final = 0.01  # by which rounding to seven decimals moves a report, and more
# Searches: relative tolerance, and distances after which parts are no longer split.
_PASSES: Final = ((0.02, 1 << 29), (0.001, 1 << 23))
_FINER: Final = 1 << 4  # times the work of the first search: what the second may need
_FIRST: Final = 64  # parts that the search begins with
_AT_ONCE: Final = 1 << 20
_HALVINGS, _SQUARES, _DOUBT = 20, 2048, 0.05  # squares of a rectangle: the most, and the tolerance
_POINTS, _CELLS = 64, 1 << 16  # of noise with a table, at once
_PRIOR_POINTS, _SHARES = 1 << 14, 1 << 26  # different points of a prior, and their probabilities with a table


def error_radius(mechanism: Randomizer, confidence: float = 0.95, *, near_table: bool = False) -> float:
    """Return a radius r in metres with P(distance from x to its report <= r) >= confidence, for every x served.

    It needs no prior. Of a mechanism on cells or a lattice it is computed on the integers that are sampled, and x
    is any point of a cell, or any point that a lattice serves. It is the least such radius, rounded up by 0.1 %
    for a hundred places, 2 % for a thousand, and more for many thousands. Of noise for coordinates it is the
    quantile of the noise's length, with what snapping and rounding of degrees add. Distances are on the ground.
    Points outside, which a release moves in, are farther by that move.

    Noise with a table moves its reports to the places of the table, so the radius for all points within its reach
    is about the reach. With ``near_table`` it is the radius for the points of the table's area, the smallest
    rectangle along the axes of the noise's plane that holds these places; it is found to 5 % where that is quick.
    Raises `InputError` if the confidence is not a probability above 0, secrets or reports are not places, a report
    is a tuple, the radius is not bounded, or ``near_table`` is set for anything but noise with a table.

    Source:
        docs/proofs/error-radius.md.

    Example:
        >>> import sfumato as sf
        >>> grid = sf.Grid.covering("8 km x 6 km around 48.85,2.35", "1 km")
        >>> identity = sf.Mechanism(np.eye(len(grid)), grid)
        >>> round(sf.proofs.error_radius(identity))  # from the corner of a cell to its centre, and 0.1 %
        708
    """
    _check(confidence)
    noise = mechanism if isinstance(mechanism, CoordinateNoise) else None
    table = None if noise is None else noise.remap
    if near_table and table is None:
        raise InputError(f"{mechanism!r} is no noise with a table.", f"leave out {argument('near_table')}.")
    if noise is not None:
        return (
            _of_noise(noise, confidence)
            if table is None
            else _of_table(noise, table, confidence, near_table=near_table)
        )
    places, targets, matrix = _places_of(mechanism)
    parts, margin_m = places.parts()
    search = _Search(targets, matrix, confidence)
    count = len(parts.rows)
    for index in np.unique(np.linspace(0, count - 1, _FIRST).astype(np.intp)).tolist():
        search.raise_to_corners(parts.take([index]))
    radius_m = math.inf
    for tolerance, work in _PASSES:
        if search.begin(tolerance, work):
            for index in range(count):
                search.cover(parts.take([index]))
            radius_m = min(radius_m, search.radius_m)
    return up(radius_m * (1 + _MASS) + margin_m)


class _Search:
    """Search for a radius, ``radius_m``, that holds at every point of the parts that were covered."""

    def __init__(self, targets: Floats, matrix: Floats, confidence: float) -> None:
        self._targets, self._matrix = targets, matrix
        self.radius_m = self._least_m = 0.0
        self._work = self._most = 0
        self._tolerance = 0.0
        self._allowed = max(0.0, 1 - confidence - _MASS)

    def begin(self, tolerance: float, work: int) -> bool:
        """Start from what single points need, and the tolerance; return whether a search is short enough."""
        short = self._work <= work // _FINER
        self.radius_m, self._tolerance = self._least_m * (1 + tolerance), tolerance
        self._work, self._most = 0, work
        return short

    def cover(self, part: ServedParts) -> None:
        """Raise the radius until it holds at every point of a part, which is split where that is in doubt."""
        targets, rows = self._support(part)
        while len(part.rows):
            tails = self._most_missed(part, targets, rows)
            doubt = tails > self._allowed
            self._work += len(targets) * len(tails)
            part = part.take(doubt)
            if len(part.rows) and self._work < self._most:
                points = part.take(np.argmax(tails[doubt], keepdims=True)).points
                if self._most_missed(points, targets, rows).max() > self._allowed:
                    self._raise(self._quantile(points, targets, rows))
                part = part.split()
            elif len(part.rows):
                order = np.argsort(tails[doubt])
                cut = len(order) * 3 // 4  # what the worst parts need is enough for most others
                self.radius_m = max(self.radius_m, self._quantile(part.take(order[cut:]), targets, rows))
                part = part.take(order[:cut])

    def raise_to_corners(self, part: ServedParts) -> None:
        """Raise the radius to what the corners of a part need, and the tolerance."""
        self._raise(self._quantile(part.points, *self._support(part)))

    def _raise(self, least_m: float) -> None:
        self._least_m = max(self._least_m, least_m)
        self.radius_m = max(self.radius_m, least_m * (1 + self._tolerance))

    def _support(self, part: ServedParts) -> tuple[Floats, Floats]:
        """Return the reports that a part's rows (v, m) make, and these rows."""
        rows = self._matrix[part.rows[0]]
        mask = rows.any(axis=0)
        return self._targets[mask], rows[:, mask]

    def _most_missed(self, part: ServedParts, targets: Floats, rows: Floats) -> Floats:
        """Return the largest probability of reports beyond the radius, at the points of parts of the same rows."""
        tails = []
        for piece in _pieces(part, rows):
            far = (piece.farthest(targets) > self.radius_m).astype(np.float64)
            tails.append((piece.mixtures @ (far @ rows.T)[:, :, None]).max(axis=(1, 2)))
        return np.concatenate(tails)

    def _quantile(self, part: ServedParts, targets: Floats, rows: Floats) -> float:
        """Return a radius that holds at every point of parts of the same rows; at single points the least."""
        radius = 0.0
        for piece in _pieces(part, rows):
            away = piece.farthest(targets)
            order = np.argsort(away, axis=1)
            beyond = (piece.mixtures @ _from_each(np.moveaxis(rows[:, order], 0, 1))).max(axis=1)
            near = _last(beyond, self._allowed)
            radius = max(radius, float(away[np.arange(len(away)), order[np.arange(len(away)), near]].max()))
        return radius


def _pieces(part: ServedParts, rows: Floats) -> Iterator[ServedParts]:
    """Yield parts, so few at a time that their distances fit into memory."""
    step = max(1, _AT_ONCE // max(1, rows.size))
    for start in range(0, len(part.rows), step):
        yield part.take(np.arange(start, min(start + step, len(part.rows))))


def posterior_radii(
    mechanism: Randomizer, prior: Prior | Visits, confidence: float = 0.95, reports: ArrayLike | None = None
) -> Floats:
    """Return radii with P(distance from x to the report <= r | report) >= confidence under a prior, metres (n,).

    A radius depends on the report and the prior alone, so it reveals nothing further about x. Of a mechanism on
    cells or a lattice there is one radius for each observable, NaN where the prior excludes it. The prior says how
    probable each cell is, or each vertex that points are rounded to; nothing is assumed of the place within a cell
    or near a vertex. Of noise for coordinates there is one for each of ``reports``, points in degrees, array
    (n, 2), and the prior are points (`sfumato.Visits`), all equally probable, repeated ones as often as they are
    repeated; x is one of them. Raises `InputError` if the confidence is not a probability above 0, the mechanism
    has no places, the prior is not on its secrets, a point of the prior is not served, there are too many, or a
    report is no report of the noise.

    Source:
        docs/proofs/error-radius.md.

    Example:
        >>> import sfumato as sf
        >>> grid = sf.Grid.covering("8 km x 6 km around 48.85,2.35", "1 km")
        >>> identity = sf.Mechanism(np.eye(len(grid)), grid)
        >>> radii = sf.proofs.posterior_radii(identity, sf.Prior.uniform(grid))
        >>> len(radii), round(radii.max())
        (48, 707)
    """
    _check(confidence)
    tail = max(0.0, 1 - confidence - _MASS)
    if isinstance(mechanism, CoordinateNoise):
        return _of_points(mechanism, prior, tail, reports)
    places, targets, matrix = _places_of(mechanism)
    if isinstance(prior, Visits):
        raise InputError(f"the prior is on points, the mechanism on {places!r}.", "use a prior on its secrets.")
    if prior.space != places:
        raise InputError(
            f"the prior is on {prior.space!r}, the mechanism on {places!r}.",
            "use a prior on the mechanism's secrets.",
        )
    corners, margin_m = places.supports()
    radii = np.full(len(targets), np.nan)
    step = max(1, _AT_ONCE // len(places))
    for start in range(0, len(targets), step):
        part = slice(start, start + step)
        away = np.max([np.hypot(*(targets[part, None] - spot).T).T for spot in np.moveaxis(corners, 1, 0)], axis=0)
        radii[part] = _radii(away, prior.probabilities * matrix[:, part].T, tail, margin_m)
    return radii


def _of_points(noise: CoordinateNoise, prior: Prior | Visits, tail: float, reports: ArrayLike | None) -> Floats:
    """Return the radii of reports of noise under a prior on points."""
    plane = noise.projection
    if not isinstance(prior, Visits) or plane is None:
        raise InputError(
            f"a prior on cells does not say where a point of {noise!r} is.",
            python("use points on the ground, such as sf.Visits(lat, lon)."),
            shell("name a table of points."),
        )
    if reports is None:
        raise InputError(
            "radii of noise are of single reports.", f"pass {argument('reports')}, points in degrees."
        )
    count = np.count_nonzero(noise.serves(prior.lat, prior.lon))
    if count < len(prior):
        raise InputError(
            f"{noise!r} serves {count:,} of the prior's {len(prior):,} points.", "leave the others out."
        )
    at = floats(reports, "the reports", shape=(None, 2))
    if noise.remap is not None:
        degrees, radii = _of_places(noise, plane, prior, tail)
        apart, index = cKDTree(degrees).query(at)
        if (apart > 0).any():
            raise InputError(f"a report is no place of the table of {noise!r}.", "pass the reports as released.")
        return np.asarray(radii[index])
    points, weights = _points_of(plane, prior)
    if len(points) > _PRIOR_POINTS:
        raise _too_many(len(points), _PRIOR_POINTS)
    tail *= math.exp(-2 * float(noise.noise.rate / noise.step_m) * _DEGREES_M)  # reports have seven decimals
    chunks = []
    for chunk in np.array_split(plane.forward(*at.T), 1 + len(at) * len(points) // _AT_ONCE):
        logs = noise.log_likelihoods(points, chunk)
        joint = weights * np.exp(logs - logs.max(axis=1, keepdims=True))
        chunks.append(_radii(_distances(chunk, points), joint, tail, _DEGREES_M))
    return np.concatenate(chunks)


@lru_cache(maxsize=4)
def _of_places(noise: CoordinateNoise, plane: Projection, prior: Visits, tail: float) -> tuple[Floats, Floats]:
    """Return the reports of noise with a table in degrees, array (k, 2), and their radii under a prior, (k,)."""
    points, weights = _points_of(plane, prior)
    table = table_shares(noise, points, _SHARES)
    if table is None:
        raise _too_many(len(points), _SHARES // len(noise.remap or ()))
    radii = np.empty(table.shares.shape[1])
    places = np.zeros((len(radii), 2))
    places[table.numbers] = table.places
    for chunk in np.array_split(np.arange(len(radii)), 1 + table.shares.size // _AT_ONCE):
        joint = weights * table.shares[:, chunk].T
        radii[chunk] = _radii(_distances(places[chunk], points), joint, tail, _DEGREES_M, table.off)
    return round_degrees(plane.inverse(places)), radii


def _points_of(plane: Projection, prior: Visits) -> tuple[Floats, Floats]:
    """Return the different points of a prior on the plane, array (n, 2), and their probabilities (n,)."""
    points, index, _ = distinct_points(plane.forward(prior.lat, prior.lon))
    return points, np.bincount(index) / len(index)


def _distances(reports: Floats, points: Floats) -> Floats:
    return np.asarray(np.hypot(*(reports[:, None] - points).T).T)


def _too_many(points: int, most: int) -> InputError:
    return InputError(f"the prior has {points:,} different points, more than {most:,}.", "take some of them.")


def _radii(away: Floats, joint: Floats, tail: float, margin_m: float, off: float = 0.0) -> Floats:
    """Return the radius of each report, from distances and joint probabilities, both (reports, secrets).

    ``off`` bounds the sum of the errors of a report's probabilities.
    """
    order = np.argsort(away, axis=1)
    beyond = _from_each(np.take_along_axis(joint, order, axis=1))
    near = _last(beyond, tail * beyond[:, :1] - off)
    radius = np.take_along_axis(away, np.take_along_axis(order, near[:, None], axis=1), axis=1)[:, 0]
    radius = np.nextafter(radius * (1 + _MASS) + margin_m, np.inf)
    return np.where((beyond[:, 0] > 0) | (off > 0), radius, np.nan)


def radius_words(
    radius_m: float, moved_m: float = 0.0, confidence: float = 0.95, *, near_table: bool = False
) -> str:
    """Return an error radius in a sentence, also for points that are moved in by at most ``moved_m`` metres."""
    begin, radius = f"At least {percent_of_confidence(confidence)} of reports", amount_at_most(radius_m, "m")
    if near_table:
        return f"{begin} from any point in the table's area are within {radius}."
    beyond = f", or at most {amount_at_most(moved_m, 'm')} outside," if moved_m else ""
    return f"{begin} from any point served{beyond} are within {radius} of it."


def _check(confidence: float) -> None:
    if not 0 < confidence <= 1:
        raise InputError(
            f"a confidence of {confidence} is not a probability above 0.", f"use {argument('confidence', 0.95)}."
        )


def _of_table(noise: CoordinateNoise, table: PlaneRemap, confidence: float, *, near_table: bool) -> float:
    """Return the radius of noise with a table, for all points within the reach or for those near the table."""
    places = table.arrays()[1]
    radius_m = noise.reach_m + float(np.hypot(*places.T).max())
    if near_table and noise.projection is not None:
        radius_m = min(radius_m, _search_radius(noise, confidence, places.min(axis=0), places.max(axis=0)))
    return up(radius_m * (1 + _MASS) + _DEGREES_M)


def _search_radius(noise: CoordinateNoise, confidence: float, low: Floats, high: Floats) -> float:
    """Return a radius for all points of a rectangle, by squares that are split where in doubt."""
    centres, half = (low + high)[None] / 2, float((high - low).max()) / 2
    least_m = found_m = above_m = 0.0
    for _ in range(_HALVINGS):
        near = half * math.sqrt(2)
        # To a point this near, a report is at most so many times as probable as to the centre of the square.
        more = math.exp(min(700.0, float(noise.noise.rate) * (near / float(noise.step_m) + math.sqrt(2))))
        parts = np.array_split(centres, range(_POINTS, len(centres), _POINTS))
        tails = (1 - confidence, (1 - confidence) / more)
        bounds = np.concatenate([_quantiles(noise, chunk, tails) for chunk in parts])
        least_m, above = max(least_m, float(bounds[:, 0].max())), bounds[:, 1] + near
        found_m, above_m = least_m * (1 + _DOUBT), float(above.max())
        doubt = above > found_m
        if not doubt.any() or 4 * np.count_nonzero(doubt) > _SQUARES:
            break
        half /= 2
        corners = half * np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
        centres = np.unique(np.clip((centres[doubt, None] + corners).reshape(-1, 2), low, high), axis=0)
    return max(found_m, above_m)


def _quantiles(noise: CoordinateNoise, points: Floats, beyond: tuple[float, ...]) -> Floats:
    """Return the radius beyond which reports have at most each probability, from each point, array (n, k)."""
    table = table_shares(noise, points, _CELLS * len(points))
    if table is None:
        return np.full((len(points), len(beyond)), np.inf)
    places = np.zeros((table.shares.shape[1], 2))
    places[table.numbers] = table.places
    away = np.hypot(*np.moveaxis(places - points[:, None], 2, 0))
    order = np.argsort(away, axis=1)
    from_each = _from_each(np.take_along_axis(table.shares, order, axis=1))
    rows = np.arange(len(points))
    return np.stack([away[rows, order[rows, _last(from_each, tail - table.off)]] for tail in beyond], axis=1)


def _of_noise(noise: CoordinateNoise, confidence: float) -> float:
    """Return the radius of noise without a table."""
    if confidence == 1:
        raise InputError("noise can be of any length, so no radius has every report.", "use a confidence below 1.")
    steps = noise.noise.length_above((1 - confidence) * (1 - _MASS))
    radius = float(noise.step_m) * (steps + math.sqrt(0.5)) * (1 + _MASS)
    return up(radius if noise.projection is None else radius + _DEGREES_M)


def _places_of(mechanism: Randomizer) -> tuple[Places, Floats, Floats]:
    """Return the secrets, the reports on their plane (m, 2) as they are released, and the matrix (n, m)."""
    if mechanism.supports(Capability.TUPLES):
        raise InputError(
            "a report is a tuple of several places, which have no single distance from the true point.",
            "use the mechanism whose reports the tuple holds.",
        )
    channel = mechanism.channel() if mechanism.supports(Capability.MATRIX) else None
    latlon = None if channel is None else latlon_of(channel.observables)
    if channel is None or not isinstance(channel.secrets, Places) or latlon is None:
        raise InputError(
            f"an error radius needs places on the ground, and {mechanism!r} has none.",
            "use a mechanism on cells or a lattice, or noise for coordinates.",
        )
    return channel.secrets, channel.secrets.projection.forward(*latlon.T), channel.matrix


def _from_each(masses: Floats) -> Floats:
    """Return the sums from each entry to the last, along the last axis; 0 exactly where all of these are."""
    return np.cumsum(masses[..., ::-1], axis=-1)[..., ::-1]


def _last(beyond: Floats, allowed: Any) -> NDArray[np.intp]:
    """Return the last column whose falling sum is above ``allowed``, array (n,); the first if none is."""
    return np.asarray(np.maximum(np.count_nonzero(beyond > allowed, axis=1) - 1, 0))
