"""Attack on zones by their ways out, on a simulated street grid.

Homes, routes and zones are simulated, so that no result depends on anyone's home. The attacker knows the zone, the
streets, the law of the routes, and which ways share a random length. They weigh each home by the probability of
all visible ways from there, and guess the least expected error: under this law no attack has a lower one.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats
from ..errors import InputError
from .zones import SECTORS

_BLOCKS: Final = 5  # the radius of the zone in blocks of streets: 100 m at 500 m
_TURNING: Final = 0.3  # of a route at each crossing
_FAR: Final = 40  # blocks to a route's other end
_STRAIGHT: Final = 2 * _BLOCKS  # blocks after which the cut does not wait longer for a turn
_SIDE: Final = 2 * _BLOCKS + 3  # crossings of the square that contains the zone
_HOMES: Final = 60
_MOST: Final = 30  # tracks that are simulated; more change little
_SEED: Final = 1

# Shares of the radius for so many tracks (rows) and directions, of 120 homes each; see `simulate_zone_attack`.
_TRACKS: Final = (1, 3, 10, 30)
_DIRECTIONS: Final = (1, 2, 4, 8, 16, 30)
_ERRORS: Final = np.array(
    [
        [0.49, 0.51, 0.50, 0.46, 0.48, 0.48],
        [0.36, 0.34, 0.31, 0.26, 0.28, 0.26],
        [0.17, 0.15, 0.12, 0.11, 0.086, 0.11],
        [0.061, 0.052, 0.043, 0.023, 0.021, 0.023],
    ]
)


class _Way(NamedTuple):
    """A way out as it is visible: the street where it begins, by its first crossing, and its far end.

    ``share`` of the street is not visible, ``direction`` is 0 along the first axis, and ``sector`` is that of the
    way out.
    """

    crossing: tuple[int, int]
    direction: int
    share: float
    far_end: tuple[int, int]
    sector: int


def simulate_zone_attack(tracks: int, ways: int, *, cut: bool = True, homes: int = _HOMES) -> float:
    """Return the mean error of the best attacker on simulated homes, as a share of the zone's radius.

    Each track leaves home by one of so many ``ways`` and comes back by one. With ``cut`` it becomes visible after
    the next turn and a random length, as in `release_tracks`; else where it leaves the zone. At most 30 tracks are
    simulated. Raises `InputError` if a number is below 1.

    Example:
        >>> from sfumato.tracks import simulate_zone_attack
        >>> simulate_zone_attack(10, 4, homes=5) < simulate_zone_attack(1, 1, homes=5)
        True
    """
    if min(tracks, ways, homes) < 1:
        raise InputError("there are no tracks, ways or homes to simulate.", "use numbers of at least 1.")
    rng = np.random.default_rng(_SEED)
    errors = [_error(rng, 2 * min(tracks, _MOST), ways, cut=cut) for _ in range(homes)]
    return float(np.mean(errors)) / _BLOCKS


def known_attack_m(tracks: int, ways: int, radius_m: int) -> float:
    """Return the attacker's mean error from a table of simulations, at the next larger numbers, metres.

    Without a track the best guess is the middle of the zone, two thirds of the radius off.
    """
    if not tracks:
        return 2 / 3 * radius_m
    row = min(int(np.searchsorted(_TRACKS, tracks)), len(_TRACKS) - 1)
    column = min(int(np.searchsorted(_DIRECTIONS, ways)), len(_DIRECTIONS) - 1)
    return float(_ERRORS[row, column]) * radius_m


def _error(rng: np.random.Generator, legs: int, ways: int, *, cut: bool) -> float:
    """Return how far the attacker's guess is from one simulated home at (0, 0), in blocks."""
    radius, angle = _BLOCKS * np.sqrt(rng.random()), 2 * np.pi * rng.random()
    centre = radius * np.array([np.cos(angle), np.sin(angle)])
    angles = 2 * np.pi * rng.random(ways)
    ends = np.rint(centre + _FAR * np.column_stack([np.cos(angles), np.sin(angles)])).astype(int)
    choice = np.concatenate([rng.permutation(ways), rng.integers(ways, size=legs)])[:legs]
    lengths = _BLOCKS * rng.random(SECTORS)
    views = [_leave(rng, centre, ends[way], lengths if cut else None) for way in choice]
    corner = np.rint(centre).astype(int) - _SIDE // 2
    homes, chances = _chances(views, centre, corner, cut=cut)
    belief = np.exp(chances - chances.max())
    expected = np.hypot(*(homes[:, None] - homes[None]).T) @ belief
    return float(np.hypot(*homes[np.argmin(expected)]))


def _leave(rng: np.random.Generator, centre: Floats, far_end: NDArray[np.intp], lengths: Floats | None) -> _Way:
    """Return what is visible of one simulated route from (0, 0) to a far end."""
    left = np.abs(far_end)
    signs = np.where(far_end < 0, -1, 1)
    place, direction = np.zeros(2, dtype=int), int(rng.random() * left.sum() >= left[0])
    path, directions = [place], list[int]()
    while left.any():
        turns = bool(directions) and bool(left[1 - direction]) and rng.random() < _TURNING
        if turns or not left[direction]:
            direction = 1 - direction
        left[direction] -= 1
        place = place + signs[direction] * (np.arange(2) == direction)
        path.append(place)
        directions.append(direction)
    inside = np.hypot(*(np.array(path) - centre).T) <= _BLOCKS
    gate = int(np.flatnonzero(inside)[-1])
    east, north = path[gate + 1] - centre
    sector = int(np.arctan2(east, north) % (2 * np.pi) / (2 * np.pi) * SECTORS) % SECTORS
    if lengths is None:
        start, share = gate, 0.0
    else:
        turn = gate + 1
        while directions[turn] == directions[gate] and turn < gate + 1 + _STRAIGHT:
            turn += 1
        start, share = turn + int(lengths[sector]), float(lengths[sector] % 1)
    x, y = path[start]
    return _Way((int(x), int(y)), directions[start], share, (int(far_end[0]), int(far_end[1])), sector)


def _chances(
    views: list[_Way], centre: Floats, corner: NDArray[np.intp], *, cut: bool
) -> tuple[NDArray[np.intp], Floats]:
    """Return the crossings in the zone, and the log-likelihood of what is visible from each, up to a constant."""
    grid = corner + np.stack(np.meshgrid(*[np.arange(_SIDE)] * 2, indexing="ij"), axis=-1)
    inside = np.hypot(*np.moveaxis(grid - centre, -1, 0)) <= _BLOCKS
    homes = grid[inside]
    by_sector: dict[int, Floats] = {}
    for way in dict.fromkeys(views):
        count = views.count(way)
        chance = np.zeros((len(homes), _BLOCKS))
        for signs in np.array([(1, 1), (1, -1), (-1, 1), (-1, -1)]):
            towards = ((np.array(way.far_end) - homes) * signs >= 0).all(axis=1)
            # A route straight along one axis fits two pairs of signs; the first one counts.
            towards &= ~chance.any(axis=1)
            if towards.any():
                values = _one_way(way, corner, inside, signs, cut=cut)[inside]
                chance[towards] = values[towards]
        with np.errstate(divide="ignore"):
            by_sector[way.sector] = by_sector.get(way.sector, 0.0) + count * np.log(chance)
    # In one sector all ways have one random length, of as many whole blocks for all.
    total = sum(np.logaddexp.reduce(logs, axis=1) for logs in by_sector.values())
    return homes, np.asarray(total)


def _one_way(
    way: _Way, corner: NDArray[np.intp], inside: NDArray[np.bool_], signs: NDArray[np.intp], *, cut: bool
) -> Floats:
    """Return the probability of what one way shows, from each crossing and for each number of whole blocks cut.

    Routes run along growing coordinates, once signs are taken off. An array has the crossings of the square and
    those that a cut route can reach from there, and for each the direction in which the route leaves it.
    """
    size = _SIDE + _STRAIGHT + _BLOCKS + 2
    flips = tuple(slice(None, None, sign) for sign in signs)
    zone = np.zeros((size, size), dtype=bool)
    zone[:_SIDE, :_SIDE] = inside[flips]
    origin = np.where(signs > 0, corner, corner + _SIDE - 1)
    start, end = ((np.array(place) - origin) * signs for place in (way.crossing, way.far_end))
    if not (start >= 0).all() or not (start < size).all():
        return np.zeros((_SIDE, _SIDE, _BLOCKS))
    rest = end - np.stack(np.meshgrid(*[np.arange(size)] * 2, indexing="ij"), axis=-1)
    # Of a route that arrives at a crossing in a direction; beyond its far end no route comes.
    turning = np.where(rest <= 0, 1.0, np.where(rest[..., ::-1] <= 0, 0.0, _TURNING))
    turning[(rest < 0).any(axis=-1)] = 0.0

    def before(values: Any, *, shift: bool = True) -> Any:
        """Return values of routes that leave the crossing before, from those that leave a crossing."""
        arriving = (1 - turning[..., None]) * values + turning[..., None] * values[:, :, ::-1]
        return _previous(arriving) if shift else arriving

    reach = np.zeros((size, size, 2, _BLOCKS))  # of routes that have turned and are cut for so many blocks more
    reach[start[0], start[1], way.direction, 0] = 1.0
    if cut:
        for blocks in range(1, _BLOCKS):
            step = before(reach[..., blocks - 1 : blocks])
            reach[..., blocks] = np.where(zone[..., None], 0, step[..., 0])
        reach[zone] = 0
        straight = before(reach, shift=False)  # at the last crossing that the cut waits for
        for _ in range(_STRAIGHT):
            turns = turning[..., None] * reach[:, :, ::-1]
            straight = turns + (1 - turning[..., None]) * _previous(straight)
        leaving = np.where(zone[..., None, None], _previous(straight), 0)
    else:
        leaving = reach
    outside = ~zone
    leaving[:, :, 0] *= _previous_of(outside, 0)[..., None]
    leaving[:, :, 1] *= _previous_of(outside, 1)[..., None]
    routes = np.zeros((_SIDE + 1, _SIDE + 1, 2, _BLOCKS))
    for x in range(_SIDE - 1, -1, -1):
        for y in range(_SIDE - 1, -1, -1):
            for direction, (i, j) in enumerate(((x + 1, y), (x, y + 1))):
                turn = turning[i, j, direction]
                onward = (1 - turn) * routes[i, j, direction] + turn * routes[i, j, 1 - direction]
                routes[x, y, direction] = leaving[x, y, direction] + onward
    left = np.maximum(rest[:_SIDE, :_SIDE], 0)
    first = left / np.maximum(left.sum(axis=-1, keepdims=True), 1)
    chance: Floats = (first[..., None] * routes[:_SIDE, :_SIDE]).sum(axis=2)
    return chance[flips]


def _previous(values: Floats) -> Floats:
    """Return values (x, y, direction, ...) at the next crossing in each direction, 0 beyond the square."""
    ahead = np.zeros_like(values)
    ahead[:-1, :, 0] = values[1:, :, 0]
    ahead[:, :-1, 1] = values[:, 1:, 1]
    return ahead


def _previous_of(values: NDArray[np.bool_], axis: int) -> NDArray[np.bool_]:
    """Return the values at the next crossing along an axis, True beyond the square."""
    ahead = np.ones_like(values)
    ahead[tuple(slice(None, -1) if k == axis else slice(None) for k in range(2))] = values[
        tuple(slice(1, None) if k == axis else slice(None) for k in range(2))
    ]
    return ahead
