"""Error radii: how far a report may be from the true point, for every point and given a prior."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from ..core import Capability, Prior, Randomizer
from ..core.arrays import Floats
from ..errors import InputError, argument, python
from ..geo import Grid, Lattice, Places, latlon_of
from ..mechanisms.planar import CoordinateNoise
from ..rounding import amount_at_most, percent_of_confidence, up

CONFIDENCE: Final = 0.95
"""The probability of reports within the radius, unless the caller says otherwise."""

_MASS: Final = 1e-11  # more than the rounding of a sum of 10,000 probabilities
_SLACK: Final = 1e-6  # of a cell: points this far outside it may be taken for points in it
_DEGREES_M: Final = 0.01  # by which rounding to seven decimals moves a report, and more
_TOLERANCE: Final = 0.02  # relative, of a radius
_WORK: Final = 1 << 29  # distances after which parts are no longer split
_FIRST: Final = 64  # parts that the search begins with
_PROJECTED_M: Final = 1e-5  # of projected places, and more
_AT_ONCE: Final = 1 << 20
_AXIS_M: Final = 6_350_000.0  # less than any radius of the ellipsoid
_BENT: Final = 0.05  # of 1 / radius: the curvature of hexagons' sides due to the ellipsoid, and more
_HALVES: Final = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
_HEXAGON: Final = np.array([(math.cos(k * math.pi / 3), math.sin(k * math.pi / 3)) for k in range(6)])
# Triangles that a triangle splits into: their corners, by the shares of its own.
_QUARTERS: Final = (
    np.array(
        [
            [(2, 0, 0), (1, 1, 0), (1, 0, 1)],
            [(1, 1, 0), (0, 2, 0), (0, 1, 1)],
            [(1, 0, 1), (0, 1, 1), (0, 0, 2)],
            [(1, 1, 0), (0, 1, 1), (1, 0, 1)],
        ]
    )
    / 2
)


def error_radius(mechanism: Randomizer, confidence: float = CONFIDENCE) -> float:
    """Return a radius r in metres with P(distance from x to its report <= r) >= confidence, for every x served.

    It needs no prior. Of a mechanism on cells or a lattice it is computed on the integers that are sampled, and x
    is any point of a cell, or any point that a lattice serves. It is the least such radius, rounded up by at most
    about 2 %, or more for thousands of places. Of noise for coordinates it is the quantile of the noise's length,
    with what snapping and rounding of degrees add. Distances are on the ground. Points outside, which a release
    moves in, are farther by that move.

    Raises:
        InputError: If the confidence is not a probability above 0, secrets or reports are not places, a report is
            a tuple, or the radius is not bounded.

    Source:
        docs/proofs/error-radius.md.

    Example:
        >>> import sfumato as sf
        >>> grid = sf.Grid.covering("8 km x 6 km around 48.85,2.35", "1 km")
        >>> identity = sf.Mechanism(np.eye(len(grid)), grid)
        >>> round(sf.proofs.error_radius(identity))  # from the centre of a cell to its corner
        707
    """
    if not 0 < confidence <= 1:
        raise InputError(
            f"a confidence of {confidence} is not a probability above 0.", f"use {argument('confidence', 0.95)}."
        )
    if isinstance(mechanism, CoordinateNoise):
        return _of_noise(mechanism, confidence)
    places, targets, matrix = _places_of(mechanism)
    parts, margin_m = _parts(places)
    search = _Search(targets, matrix, confidence)
    whole = np.arange(len(parts.rows))
    for each in np.unique(np.linspace(0, len(whole) - 1, _FIRST).astype(np.intp)):
        search.raise_to_corners(parts.take(whole[each : each + 1]))
    for each in whole:
        search.cover(parts.take(whole[each : each + 1]))
    return up(search.radius_m * (1 + _MASS) + margin_m)


class _Search:
    """Search for a radius that holds at every point of parts: at most 2 % above the least, if there is time.

    Attributes:
        radius_m: The radius, which holds in every part that was covered.
    """

    def __init__(self, targets: Floats, matrix: Floats, confidence: float) -> None:
        self._targets, self._matrix = targets, matrix
        self.radius_m, self._work = 0.0, 0
        self._allowed = max(0.0, 1 - confidence - _MASS)

    def cover(self, part: _Parts) -> None:
        """Raise the radius until it holds at every point of a part, which is split where that is in doubt."""
        targets, rows = self._seen(part)
        while len(part.rows):
            missed = self._most_missed(part, targets, rows)
            doubt = missed > self._allowed
            self._work += len(targets) * len(missed)
            part = part.take(doubt)
            if len(part.rows) and self._work < _WORK:
                points = part.take(np.argmax(missed[doubt], keepdims=True)).points
                if self._most_missed(points, targets, rows).max() > self._allowed:
                    self.radius_m = (1 + _TOLERANCE) * self._quantile(points, targets, rows)
                part = part.split()
            elif len(part.rows):
                self.radius_m = max(self.radius_m, self._quantile(part, targets, rows))

    def raise_to_corners(self, part: _Parts) -> None:
        """Raise the radius to what the corners of a part need, and the tolerance."""
        needed = self._quantile(part.points, *self._seen(part))
        self.radius_m = max(self.radius_m, needed * (1 + _TOLERANCE))

    def _seen(self, part: _Parts) -> tuple[Floats, Floats]:
        """Return the reports that a part's rows (v, m) make, and these rows."""
        rows = self._matrix[part.rows[0]]
        seen = rows.any(axis=0)
        return self._targets[seen], rows[:, seen]

    def _most_missed(self, part: _Parts, targets: Floats, rows: Floats) -> Floats:
        """Return the largest probability of reports beyond the radius, at the points of parts of the same rows."""
        far = (part.farthest(targets) > self.radius_m).astype(np.float64)
        return np.asarray((part.mixtures @ (far @ rows.T)[:, :, None]).max(axis=(1, 2)))

    def _quantile(self, part: _Parts, targets: Floats, rows: Floats) -> float:
        """Return a radius that holds at every point of parts of the same rows; at single points the least."""
        away = part.farthest(targets)
        order = np.argsort(away, axis=1)
        beyond = (part.mixtures @ _from_each(np.moveaxis(rows[:, order], 0, 1))).max(axis=1)
        near = _last(beyond, self._allowed)
        return float(away[np.arange(len(away)), order[np.arange(len(away)), near]].max())


def posterior_radii(mechanism: Randomizer, prior: Prior, confidence: float = CONFIDENCE) -> Floats:
    """Return radii with P(distance from x to the report <= r | report) >= confidence under a prior, metres (m,).

    There is one radius for each report, NaN where the prior excludes it. The prior says how probable each cell is,
    or each vertex that points are rounded to; nothing is assumed of the place within a cell or near a vertex. A
    radius depends on the report and the prior alone, so it reveals nothing further about x.

    Raises:
        InputError: If the mechanism is not one on cells or a lattice, or the prior is not on its secrets.

    Example:
        >>> import sfumato as sf
        >>> grid = sf.Grid.covering("8 km x 6 km around 48.85,2.35", "1 km")
        >>> identity = sf.Mechanism(np.eye(len(grid)), grid)
        >>> radii = sf.proofs.posterior_radii(identity, sf.Prior.uniform(grid))
        >>> len(radii), round(radii.max())
        (48, 707)
    """
    places, targets, matrix = _places_of(mechanism)
    if prior.space != places:
        raise InputError(
            f"the prior is on {prior.space!r}, the mechanism on {places!r}.",
            "use a prior on the mechanism's secrets.",
        )
    corners, margin_m = _supports(places)
    radii = np.full(len(targets), np.nan)
    step = max(1, _AT_ONCE // len(places))
    for start in range(0, len(targets), step):
        some = slice(start, start + step)
        away = np.max([np.hypot(*(targets[some, None] - each).T).T for each in np.moveaxis(corners, 1, 0)], axis=0)
        joint = prior.probabilities * matrix[:, some].T
        order = np.argsort(away, axis=1)
        beyond = _from_each(np.take_along_axis(joint, order, axis=1))
        near = _last(beyond, max(0.0, 1 - confidence - _MASS) * beyond[:, :1])
        radius = np.take_along_axis(away, np.take_along_axis(order, near[:, None], axis=1), axis=1)[:, 0]
        radii[some] = np.where(beyond[:, 0] > 0, np.nextafter(radius * (1 + _MASS) + margin_m, np.inf), np.nan)
    return radii


def radius_words(radius_m: float, moved_m: float = 0.0, confidence: float = CONFIDENCE) -> str:
    """Return an error radius in a sentence, also for points that are moved in by at most ``moved_m`` metres."""
    beyond = f" or at most {amount_at_most(moved_m, 'm')} outside" if moved_m else ""
    return (
        f"Error radius: a report is within {amount_at_most(radius_m, 'm')} of its true point with a probability "
        f"of at least {percent_of_confidence(confidence)}, for every point served{beyond}."
    )


def _of_noise(noise: CoordinateNoise, confidence: float) -> float:
    """Return the radius of noise; `InputError` if its reports are moved to the places of a table."""
    if noise.remap is not None:
        raise InputError(
            "the noise replaces its reports by the places of a table, so a point far from them has a report that "
            "is far away.",
            python("use the noise without its table: CoordinateNoise(epsilon, step, projection, reach)"),
            "design a mechanism on a lattice: method='table'.",
        )
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
    used = (channel.weights != 0).any(axis=0)
    targets, matrix = channel.secrets.projection.forward(*latlon.T), channel.matrix
    return channel.secrets, targets, matrix if used.all() else np.where(used, matrix, 0.0)


class _Parts(ABC):
    """Parts of the served area, whose points have reports by mixtures of a few rows.

    ``rows`` (n, v) are the rows of each part, and every mixture at a point of it is a mean of its ``mixtures`` (n,
    q, v).
    """

    rows: NDArray[np.intp]

    @property
    @abstractmethod
    def mixtures(self) -> Floats: ...

    @property
    @abstractmethod
    def points(self) -> Self:
        """The corners, as parts without extent."""

    @abstractmethod
    def farthest(self, targets: Floats) -> Floats:
        """Return the largest distances of points of each part from targets (m, 2), array (n, m)."""

    @abstractmethod
    def take(self, which: NDArray[Any]) -> Self: ...

    @abstractmethod
    def split(self) -> Self:
        """Return parts of half the size, which cover these."""


@dataclass(frozen=True, slots=True, eq=False)
class _Rectangles(_Parts):
    """Rectangles from ``low`` to ``high`` (n, 2), in sizes of the whole ones around ``centres`` (n, 2), metres."""

    rows: NDArray[np.intp]  # of one cell, or of the nine vertices around a square
    centres: Floats
    size_m: Floats
    low: Floats
    high: Floats

    def farthest(self, targets: Floats) -> Floats:
        middle = self.centres + self.size_m * (self.low + self.high) / 2
        half = self.size_m * (self.high - self.low) / 2
        east, north = (np.abs(targets[:, k] - middle[:, k, None]) + half[:, k, None] for k in (0, 1))
        return np.asarray(np.sqrt(east * east + north * north))

    @property
    def mixtures(self) -> Floats:
        if self.rows.shape[1] == 1:
            return np.ones((len(self.rows), 1, 1))
        # Along each axis the weights are quadratic: means of their polar forms at the ends (docs/proofs).
        a, b = np.stack([self.low, self.low, self.high]), np.stack([self.low, self.high, self.high])
        axis = np.stack([(0.5 - a) * (0.5 - b) / 2, 0.75 - a * b, (0.5 + a) * (0.5 + b) / 2])  # (3, 3, n, 2)
        both = np.einsum("ipn,jqn->npqij", axis[..., 0], axis[..., 1])
        return np.asarray(both.reshape(len(self.rows), 9, 9))

    @property
    def points(self) -> Self:
        at = np.where(_HALVES < 0, self.low[:, None], self.high[:, None]).reshape(-1, 2)
        which = np.repeat(np.arange(len(self.rows)), 4)
        return replace(self.take(which), low=at, high=at)

    def take(self, which: NDArray[Any]) -> Self:
        return replace(
            self, rows=self.rows[which], centres=self.centres[which], low=self.low[which], high=self.high[which]
        )

    def split(self) -> Self:
        middle = (self.low + self.high) / 2
        low = np.concatenate([np.where(each < 0, self.low, middle) for each in _HALVES])
        high = np.concatenate([np.where(each < 0, middle, self.high) for each in _HALVES])
        return replace(self.take(np.tile(np.arange(len(self.rows)), 4)), low=low, high=high)


@dataclass(frozen=True, slots=True, eq=False)
class _Triangles(_Parts):
    """Triangles, by the shares (n, 3, 3) that their corners have of those (n, 3, 2) of the whole ones, metres."""

    rows: NDArray[np.intp]  # of one cell, or of the three corners of the whole triangle
    whole: Floats
    shares: Floats

    def farthest(self, targets: Floats) -> Floats:
        corners = self.shares @ self.whole
        east, north = (targets[:, k] - corners[:, :, k, None] for k in (0, 1))
        return np.asarray(np.sqrt((east * east + north * north).max(axis=1)))

    @property
    def mixtures(self) -> Floats:
        return self.shares if self.rows.shape[1] > 1 else np.ones((len(self.rows), 1, 1))

    @property
    def points(self) -> Self:
        which = np.repeat(np.arange(len(self.rows)), 3)
        return replace(self.take(which), shares=np.repeat(self.shares.reshape(-1, 1, 3), 3, axis=1))

    def take(self, which: NDArray[Any]) -> Self:
        return replace(self, rows=self.rows[which], whole=self.whole[which], shares=self.shares[which])

    def split(self) -> Self:
        shares = np.concatenate([each @ self.shares for each in _QUARTERS])
        return replace(self.take(np.tile(np.arange(len(self.rows)), 4)), shares=shares)


def _parts(places: Places) -> tuple[_Parts, float]:
    """Return parts that cover what places serve, and metres to add to the distances from them."""
    alone = np.arange(len(places))[:, None]
    if isinstance(places, Lattice):
        pieces, centres = places.pieces, np.asarray(places.coordinates)
        if places.kind == "triangular":
            shares = np.broadcast_to(np.eye(3), (len(pieces), 3, 3))
            return _Triangles(pieces, centres[pieces], shares), places.slack_m
        size_m, low = np.full(2, places.spacing_m), np.full((len(pieces), 2), -0.5)
        return _Rectangles(pieces, centres[pieces[:, 4]], size_m, low, -low), places.slack_m
    corners, margin_m = _supports(places)
    if isinstance(places, Grid):
        low = np.full((len(places), 2), -0.5)
        return _Rectangles(alone, np.asarray(places.coordinates), np.array(places.cell_m), low, -low), margin_m
    fans = [corners[:, [0, second, second + 1]] for second in range(1, corners.shape[1] - 1)]
    shares = np.broadcast_to(np.eye(3), (len(fans) * len(places), 3, 3))
    return _Triangles(np.tile(alone, (len(fans), 1)), np.concatenate(fans), shares), margin_m


def _supports(places: Places) -> tuple[Floats, float]:
    """Return corners (n, k, 2) around the points that may be taken for each secret, and metres to add to them."""
    centres = np.asarray(places.coordinates)[:, None]
    if isinstance(places, Lattice):
        reach = 3 * _HALVES if places.kind == "square" else _HEXAGON
        return centres + places.spacing_m * reach, places.slack_m
    if isinstance(places, Grid):
        return centres + np.array(places.cell_m) * _HALVES, _SLACK * max(places.cell_m) + _PROJECTED_M
    outlines = places.outlines_latlon()
    corners = places.projection.forward(*outlines.reshape(-1, 2).T).reshape(outlines.shape)
    longest = float(np.hypot(*(corners - np.roll(corners, 1, axis=1)).T).max())
    bend = _BENT + 2 * float(np.hypot(*corners.T).max()) / _AXIS_M
    return corners, bend * longest**2 / (8 * _AXIS_M) + _PROJECTED_M


def _from_each(masses: Floats) -> Floats:
    """Return the sums from each entry to the last, along the last axis; 0 exactly where all of these are."""
    return np.cumsum(masses[..., ::-1], axis=-1)[..., ::-1]


def _last(beyond: Floats, allowed: Any) -> NDArray[np.intp]:
    """Return the last column whose falling sum is above ``allowed``, array (n,); the first if none is."""
    return np.asarray(np.maximum(np.count_nonzero(beyond > allowed, axis=1) - 1, 0))
