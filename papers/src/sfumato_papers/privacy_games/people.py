"""People of the privacy games: each a user of a file, with a map where they have most visits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.core import Prior
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import DataError
from sfumato.geo import Grid, Projection, Visits


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Person(CompactRepr):
    """A user's map and habits; the number stands for the name."""

    number: int
    source: str
    city: Grid
    prior: Prior
    visits: int


def choose(
    data: Sequence[tuple[str, Visits]],
    number: int,
    *,
    shape: tuple[int, int],
    size_m: tuple[float, float],
    least: int,
    seed: int,
) -> list[Person]:
    """Return users drawn at random, in turn from each source, of those with enough visits on their own maps.

    Args:
        data: The name of each source and its visits.
        number: How many users, at most.
        shape: Columns and rows of each map.
        size_m: Width and height of each map, in metres.
        least: How many visits on their map users have at least.
        seed: Of the draw.

    Raises:
        DataError: If no user has that many visits on one map.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    queues = []
    for source, visits in data:
        busy = [user for user, count in visits.users().items() if count >= least]
        queues.append((source, visits, [busy[k] for k in random.permutation(len(busy))]))
    cell = (size_m[0] / shape[0], size_m[1] / shape[1])
    people: list[Person] = []
    while len(people) < number and any(users for *_, users in queues):
        for source, visits, users in queues:
            while users and len(people) < number:
                own = visits.of_user(users.pop())
                plane = Projection(float(np.median(own.lat)), float(np.median(own.lon)))
                corner, held = densest_corner(plane.forward(own.lat, own.lon), size_m)
                city = Grid(*shape, cell, (float(corner[0]), float(corner[1])), plane.crs)
                prior = Prior.from_visits(city, own)
                if held >= least and len(prior.support) > 1:
                    people.append(Person(len(people) + 1, source, city, prior, held))
                    break
    if not people:
        width, height = (f"{side / 1000:g} km" for side in size_m)
        raise DataError(
            f"no user has {least} visits, in more than one cell, on one map of {width} x {height}.",
            "give visits of people who have more, with a column that says whose each is.",
        )
    return people


def densest_corner(xy: Floats, size: tuple[float, float]) -> tuple[Floats, int]:
    """Return the south-west corner of a rectangle of given size that holds most points, and how many it holds.

    Some such rectangle has a point on its west and one on its south edge; it is then centred on what it holds.
    """
    ordered = xy[np.argsort(xy[:, 1])]
    most, corner = 0, xy[0]
    for west in np.unique(xy[:, 0]):
        y = ordered[(ordered[:, 0] >= west) & (ordered[:, 0] <= west + size[0]), 1]
        held = np.searchsorted(y, y + size[1], side="right") - np.arange(len(y))
        if held.max() > most:
            most, corner = int(held.max()), np.array([west, y[np.argmax(held)]])
    inside = xy[((xy >= corner) & (xy <= corner + size)).all(axis=1)]
    return (inside.min(axis=0) + inside.max(axis=0) - size) / 2, most
