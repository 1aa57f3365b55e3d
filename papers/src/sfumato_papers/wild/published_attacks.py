"""Published attacks: circles through ends of tracks, trilateration, borders and averages, with their errors.

Sources: Hassan, Hussain and Bates, USENIX Security 2018 (privacy zones); Dhondt et al., USENIX Security 2024,
section 5.5, and R. Heaton, 2021 (rounded distances); Cassa, Wieland and Mandl, Int. J. of Health Geographics 2008,
7:45 (averages).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy.optimize import least_squares

from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError, argument
from sfumato.geo import Grid, Projection
from sfumato.privacy import MetricDifferentialPrivacy

from .attack import weighted_median
from .attack_errors import AS_DOCUMENTED, REMEMBERED, ErrorRow
from .channels import DriftingOffset, FixedCells, WildChannel, check_positive, directions
from .radial import CertifiedNoise, RadialNoise, gaussian_radius

CIRCLE: Final = "circle"
CIRCLE_AND_LAW: Final = "circle and law of the shift"
_LOW, _HIGH = 0.1, 0.9  # of the radius: OpenBikeSensor's law of the shift
_RADII, _TURNS = 31, 48  # distances and directions of the shift, in the attacker's belief
MILE_M: Final = 1609.344
_RAYS: Final = 3
_NEAREST_M: Final = 1e-3  # the search ends
DistanceQuery = Callable[[Floats], int]
_APART_M: Final = 1.0  # two people at a border
OFFSETS: Final = "drifting offset"
OFFSETS_UNDER_GRID: Final = "drifting offset, under its grid"
_SKEW_M: Final = 700.0  # the mean skew that Cassa, Wieland and Mandl averaged away
_HALF_NORMAL: Final = math.sqrt(math.pi / 2)


@dataclass(frozen=True, slots=True, repr=False)
class PrivacyZone(CompactRepr):
    """A disc in which tracks are hidden, around home or once shifted; error_m is the deviation of positions."""

    radius_m: float = 500.0
    shifted: bool = False
    error_m: float = 5.0

    def __post_init__(self) -> None:
        if not (self.radius_m > 0 and self.error_m >= 0):
            raise InputError(
                f"a zone of {self.radius_m:g} m with an error of {self.error_m:g} m cannot be drawn.",
                "use a positive radius and an error of at least 0.",
            )

    @property
    def shifts_m(self) -> tuple[float, float]:
        """The least and the largest distance of a shifted centre from home, metres."""
        return _LOW * self.radius_m, _HIGH * self.radius_m

    def centres(self, homes: int, generator: np.random.Generator) -> Floats:
        """Return the centres of zones, seen from their homes, array (homes, 2)."""
        if not self.shifted:
            return np.zeros((homes, 2))
        away = generator.uniform(*self.shifts_m, homes)
        return away[:, None] * directions(homes, generator)

    def ends(self, centres_m: Floats, tracks: int, generator: np.random.Generator) -> Floats:
        """Return where tracks in uniform directions leave the zone, seen from home, array (n, tracks, 2)."""
        ways = directions(len(centres_m) * tracks, generator).reshape(-1, tracks, 2)
        along = (ways * centres_m[:, None, :]).sum(axis=2)
        out = along + np.sqrt(along**2 + self.radius_m**2 - (centres_m**2).sum(axis=1)[:, None])
        ends: Floats = out[:, :, None] * ways + generator.normal(0, self.error_m, ways.shape)
        return ends


def circle_through(ends_m: Floats) -> tuple[Floats, float]:
    """Return the centre and the radius of the circle with the least squared distances to points."""
    if len(ends_m) < 3:
        raise InputError(f"{len(ends_m)} points fix no circle.", "use the ends of three tracks or more.")
    middle = ends_m.mean(axis=0)
    points = ends_m - middle
    columns = np.column_stack([2 * points, np.ones(len(points))])
    solution = np.linalg.lstsq(columns, (points**2).sum(axis=1), rcond=None)[0]
    start = np.array([*solution[:2], np.sqrt(max(solution[2] + solution[:2] @ solution[:2], 1.0))])
    fitted = least_squares(lambda v: np.hypot(*(points - v[:2]).T) - v[2], start, method="lm").x
    return fitted[:2] + middle, float(abs(fitted[2]))


def home_guesses(ends_m: Floats) -> Floats:
    """Return the centres of the circles through ends, or the means of one or two ends, array (n, 2)."""
    if ends_m.shape[1] < 3:
        means: Floats = ends_m.mean(axis=1)
        return means
    return np.array([circle_through(points)[0] for points in ends_m])


def end_density(home_m: Floats, radius_m: float, ends_m: Floats) -> Floats:
    """Return the density of the ends of tracks on a circle around the origin, per metre, array (n, k).

    Seen from a home h inside, the circle at e fills an angle of (e - h) e / (R |e - h|^2) per metre.
    """
    apart = ends_m[None, :, :] - home_m[:, None, :]
    facing = (apart * ends_m[None, :, :]).sum(axis=2) / radius_m
    density: Floats = facing / (2 * np.pi * (apart**2).sum(axis=2))
    return density


def homes_by_law(zone: PrivacyZone, ends_m: Floats) -> Floats:
    """Return homes with the least expected error, given the ends and OpenBikeSensor's law of the shift."""
    if ends_m.shape[1] < 3:
        return home_guesses(ends_m)
    low, high = zone.shifts_m
    away = np.linspace(low, high, _RADII)
    angle = 2 * np.pi * np.arange(_TURNS) / _TURNS
    # Uniform in distance and direction, as the law is.
    homes = (away[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)).reshape(-1, 2)
    return np.array([_home(zone.radius_m, homes, points) for points in ends_m])


def _home(radius_m: float, homes_m: Floats, ends_m: Floats) -> Floats:
    start, _ = circle_through(ends_m)
    centre = least_squares(lambda c: np.hypot(*(ends_m - c).T) - radius_m, start, method="lm").x
    vectors = ends_m - centre
    on_circle = radius_m * vectors / np.hypot(*vectors.T)[:, None]
    likely = np.log(end_density(homes_m, radius_m, on_circle)).sum(axis=1)
    home: Floats = centre + weighted_median(homes_m, np.exp(likely - likely.max()))
    return home


def zone_errors(scheme: str, zone: PrivacyZone, tracks: int, seed: int, homes: int) -> list[ErrorRow]:
    """Return the errors of attacks on ends of tracks, and on one blurred home, as far off as ends on average."""
    generator = np.random.default_rng(seed)
    ends = zone.ends(zone.centres(homes, generator), tracks, generator)
    loss = float(np.hypot(ends[..., 0], ends[..., 1]).mean())
    blurred = CertifiedNoise.of_mean(loss, renewed=False).reports(np.zeros((homes, 2)), 1, generator)[:, 0]
    guesses = [(AS_DOCUMENTED, CIRCLE, home_guesses(ends))]
    if zone.shifted:
        guesses.append((AS_DOCUMENTED, CIRCLE_AND_LAW, homes_by_law(zone, ends)))
    return [
        ErrorRow.of(scheme, mechanism, attack, tracks, seed, points)
        for mechanism, attack, points in (*guesses, (REMEMBERED, "", blurred))
    ]


@dataclass(frozen=True, slots=True, repr=False)
class RoundedDistance(CompactRepr):
    """An app that shows the whole steps to a person, or to the centre of their cell."""

    step_m: float = MILE_M
    cells: FixedCells | None = None

    def __post_init__(self) -> None:
        check_positive(self.step_m, "a step")

    def of(self, person_m: Floats) -> DistanceQuery:
        """Return the shown distance of a person as a function of the attacker's position."""
        place = person_m if self.cells is None else self.cells.centres(person_m)
        return lambda attacker: int(np.hypot(*(place - attacker)) // self.step_m)


def trilaterate(query: DistanceQuery, step_m: float, start_m: Floats, questions: int) -> Floats:
    """Return where an attacker locates a person by bisection on three rays, array (2,); the start if too few."""
    if questions < 1:
        raise InputError(f"{questions} questions are too few.", "ask at least one.")
    here = query(start_m)
    left = questions - 1
    spots: list[Floats] = []
    radii: list[float] = []
    for ray in range(_RAYS):
        angle = 2 * np.pi * ray / _RAYS
        way = np.array([np.cos(angle), np.sin(angle)])
        count, flip = _flip(query, here, start_m, way, step_m, left // (_RAYS - ray))
        left -= count
        if flip is not None:
            spots.append(flip[0])
            radii.append(flip[1] * step_m)
    if len(spots) < _RAYS:
        return start_m
    points, distances = np.array(spots), np.array(radii)
    fits = [
        least_squares(lambda x: np.hypot(*(points - x).T) - distances, begin, method="lm")
        for begin in (_radical_centre(points, distances), *(start_m + step_m * np.array([[1, 0.1], [-1, -0.1]])))
    ]
    best: Floats = min(fits, key=lambda fit: fit.cost).x
    return best


def _radical_centre(points: Floats, distances: Floats) -> Floats:
    """Return where three circles meet, array (2,): their equations differ by linear ones."""
    squares = (points**2).sum(axis=1) - distances**2
    centre: Floats = np.linalg.lstsq(2 * (points[1:] - points[0]), squares[1:] - squares[0], rcond=None)[0]
    return centre


def _flip(
    query: DistanceQuery, here: int, start_m: Floats, way: Floats, step_m: float, most: int
) -> tuple[int, tuple[Floats, int] | None]:
    """Return the questions spent, and a point where the shown distance changes, with its whole steps."""
    near, low, count = 0.0, here, 0
    far = high = None
    for _ in range(most):
        if far is None:
            probe = near + step_m
        elif far - near > _NEAREST_M:
            probe = (near + far) / 2
        else:
            break
        value = query(start_m + probe * way)
        count += 1
        if value == low:
            near = probe
        else:
            far, high = probe, value
    if far is None or high is None:
        return count, None
    return count, (start_m + (near + far) / 2 * way, max(low, high))


def distance_errors(app: str, rule: RoundedDistance, questions: int, seed: int, people: int) -> list[ErrorRow]:
    """Return the errors of an attacker who starts up to ten steps away, without and with certified noise.

    The noise moves a place as far as the cells do on average. Without cells it matches the error of rounding, a
    quarter of a step: a move by r changes the distance from far away by 2 r / pi on average.
    """
    generator = np.random.default_rng(seed)
    places = generator.uniform(0, 1000 * rule.step_m, (people, 2))
    ways, away = directions(people, generator), rule.step_m * generator.uniform(1, 10, people)
    starts = places + away[:, None] * ways
    guesses = np.array(
        [
            trilaterate(rule.of(place), rule.step_m, start, questions)
            for place, start in zip(places, starts, strict=True)
        ]
    )
    moved_m = rule.step_m / 4 * np.pi / 2 if rule.cells is None else rule.cells.mean_m
    noise = CertifiedNoise.of_mean(moved_m, renewed=False)
    blurred = noise.reports(places, 1, generator)[:, 0] if questions > 2 else starts  # three distances fix it
    return [
        ErrorRow.of(app, mechanism, "", questions, seed, points - places)
        for mechanism, points in ((AS_DOCUMENTED, guesses), (REMEMBERED, blurred))
    ]


@dataclass(frozen=True, slots=True)
class BorderRow:
    """Epsilons per km of one report about two people a metre apart, and the proved factor of certified noise."""

    scheme: str
    same_cell_epsilon: float
    border_epsilon: float
    certified_factor: float


def at_border(key: str, cells: FixedCells) -> BorderRow:
    """Return the audited epsilons of fixed cells for two people a metre apart."""
    aligned, plane, epsilons = replace(cells, origin_m=(0.0, 0.0)), Projection(40.0, -30.0).crs, []
    for middle in (cells.width_m / 2, 0.0):  # inside a cell, and at its border
        two = Grid(2, 1, (_APART_M, _APART_M), (middle - _APART_M, cells.height_m / 2), plane)
        notion = MetricDifferentialPrivacy(two.metric("euclidean", unit="km"))
        epsilons.append(float(notion.measure(aligned.mechanism(two)).value))
    proof = CertifiedNoise.of_mean(cells.mean_m, renewed=False).proof
    return BorderRow(key, epsilons[0], epsilons[1], float(proof.factor(_APART_M)))


def straight_walks(
    count: int, length_m: float, step_m: float, around_m: float, generator: np.random.Generator
) -> Floats:
    """Return straight walks in uniform directions from uniform places, array (count, steps, 2)."""
    if not 0 < step_m < length_m:
        raise InputError(
            f"a walk of {length_m:g} m in steps of {step_m:g} m makes no two reports.",
            f"use a longer walk or {argument('step_m', 100)}.",
        )
    begin = generator.uniform(0, around_m, (count, 1, 2))
    way = directions(count, generator)[:, None, :]
    walks: Floats = begin + np.arange(0, length_m + step_m / 2, step_m)[None, :, None] * way
    return walks


def crossings(channel: WildChannel, walks_m: Floats, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the errors across the border and along the road, of walks on which a report changes.

    The attacker places walkers half a step beyond the border of the first change: see M. Thomson in
    mozilla/standards-positions 1193, and draft-thomson-geopriv-location-obscuring-03, 2011.
    """
    reports = channel.along(walks_m, generator)
    changed = (reports[:, 1:] != reports[:, :-1]).any(axis=2)
    crossed = np.flatnonzero(changed.any(axis=1))
    after = changed[crossed].argmax(axis=1) + 1
    old, new = reports[crossed, after - 1], reports[crossed, after]
    here, before = walks_m[crossed, after], walks_m[crossed, after - 1]
    apart = new - old
    # Of a corner that is cut in one step, the border across the larger move counts.
    normal = np.where(np.abs(apart) == np.abs(apart).max(axis=1, keepdims=True), np.sign(apart), 0.0)
    normal[(np.abs(normal).sum(axis=1) > 1), 1] = 0.0
    border = ((old + new) / 2 * np.abs(normal)).sum(axis=1)
    place = (here * np.abs(normal)).sum(axis=1)
    move = here - before
    pace = (move * np.abs(normal)).sum(axis=1)
    across = np.abs((place - border) * np.sign(pace) - np.abs(pace) / 2)
    with np.errstate(divide="ignore"):
        on_road = across * np.hypot(*move.T) / np.abs(pace)
    return across, on_road


@dataclass(frozen=True, slots=True)
class CrossingRow:
    """The median error along the road of an attacker who waits for the first change of a cell, in one run."""

    scheme: str
    step_m: float
    seed: int
    walks: int
    on_road_m: float


def walk_errors(
    scheme: str, channel: WildChannel, step_m: float, seed: int, walks: int, length_m: float
) -> CrossingRow:
    """Return the error of an attacker who watches straight walks."""
    generator = np.random.default_rng(seed)
    paths = straight_walks(walks, length_m, step_m, 100 * channel.mean_m, generator)
    _, errors = crossings(channel, paths, generator)
    return CrossingRow(scheme, step_m, seed, walks, float(np.median(errors)))


@dataclass(frozen=True, slots=True)
class AveragingRow:
    """The mean distance of an average from the place in one run, and its closed form or NaN."""

    noise: str
    reports: int
    seed: int
    mean_m: float
    closed_m: float


def copies_averaged(reports: int, seed: int, places: int) -> AveragingRow:
    """Return the error of the mean of copies with normal skews, by closed form sigma sqrt(pi / (2 k))."""
    noise = RadialNoise(gaussian_radius(_SKEW_M / _HALF_NORMAL), renewed=True)
    means = noise.reports(np.zeros((places, 2)), reports, np.random.default_rng(seed)).mean(axis=1)
    off = float(np.hypot(*means.T).mean())
    return AveragingRow("normal skew", reports, seed, off, _SKEW_M / math.sqrt(reports))


def drift_averaged(
    channel: DriftingOffset, reports: int, seed: int, places: int
) -> tuple[AveragingRow, AveragingRow]:
    """Return the errors of the mean of hourly offsets, and of the mean of the reports under the grid."""
    generator = np.random.default_rng(seed)
    offset = generator.normal(0, channel.sigma_m, (places, 2))
    place = generator.uniform(0, channel.step_m, (places, 2))
    cells = FixedCells(channel.step_m, channel.step_m)
    total, reported = np.zeros((places, 2)), np.zeros((places, 2))
    for hour in range(reports):
        if hour:
            offset = channel.drift(offset, generator)
        total += offset
        reported += cells.centres(place + offset) - place
    closed = channel.averaged_m(reports) * _HALF_NORMAL
    off, off_reported = (float(np.hypot(*vectors.T).mean()) / reports for vectors in (total, reported))
    return (
        AveragingRow(OFFSETS, reports, seed, off, closed),
        AveragingRow(OFFSETS_UNDER_GRID, reports, seed, off_reported, math.nan),
    )
