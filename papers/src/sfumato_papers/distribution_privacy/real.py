"""Groups of real people: section V, Table III, and epsilon for groups and for neighbouring cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from sfumato.core.immutable import CompactRepr
from sfumato.geo import Grid
from sfumato.mechanisms import exponential, planar_geometric, randomised_response
from sfumato.privacy import Family, Relation

from ..reproduction import Made
from ..results import columns_of
from .attributes import Split
from .groups import Groups
from .lines import LAPLACE, RADII_KM, TUPLED, Line, published_lines
from .rows import of_neighbours, sweep
from .statements import Instance
from .theorems import tried

NEIGHBOURS: Final = "neighbours"
GROUPS: Final = "groups"
SWEEP: Final = "distribution-privacy"
"""The table of mechanisms with and without dummies."""
MANY: Final = "many-dummies"
"""The table of restricted Laplace noise among many dummies of the mixture."""

_DELTAS: Final = (1e-3, 1e-3)


@dataclass(frozen=True, slots=True, repr=False)
class GroupRow(CompactRepr):
    """Two groups.

    Attributes:
        groups: Who is compared.
        source: The name of the file.
        attribute: The name of the column.
        name: Of one of the two.
        of_people: Whether the attribute is one of people, or of visits.
        users: How many users have visits in the group; 0 where the file names none.
        visits: How many visits it has on the map.
        cells: How many cells the map has.
        visited: In how many of them the group was.
        total_variation: Between the two groups.
    """

    groups: str
    source: str
    attribute: str
    name: str
    of_people: bool
    users: int
    visits: int
    cells: int
    visited: int
    total_variation: float


@dataclass(frozen=True, slots=True, repr=False)
class NeighbourRow(CompactRepr):
    """Dummies around one mechanism: what they hide of the group, and of the person.

    Attributes:
        groups: Who is compared.
        slope_per_km: Of the planar Laplace noise.
        dummies: k, of the mixture.
        of_groups: Epsilon at delta 0.001 for the two groups.
        of_cells: The same for two neighbouring visited cells, the worst of all such pairs.
    """

    groups: str
    slope_per_km: float
    dummies: int
    of_groups: float
    of_cells: float


def described(splits: Sequence[Split]) -> Made:
    """Return who is compared."""
    rows = []
    for split in splits:
        groups = split.groups
        for place, name in enumerate(groups.names):
            rows.append(
                GroupRow(
                    split.title,
                    split.source,
                    split.attribute,
                    name,
                    split.of_people,
                    split.users[place],
                    split.counts[place],
                    len(split.city),
                    len(groups.priors[place].support),
                    groups.total_variation,
                )
            )
    return {GROUPS: [columns_of(row) for row in rows]}


def tried_on(title: str, groups: Sequence[Groups], city: Grid) -> Made:
    """Try the statements on groups of one map, for pairs of four mechanisms.

    Args:
        title: What the instances are called.
        groups: Groups on the same map.
        city: The map.
    """
    return tried(_instances(groups, city), title, 0, small=False)


def _instances(groups: Sequence[Groups], city: Grid) -> Iterator[tuple[str, Instance]]:
    metric = groups[0].metric
    mechanisms = {
        "planar Laplace, 0.5/km": exponential(city, metric, 1.0),
        "planar Laplace, 2/km": exponential(city, metric, 4.0),
        "planar geometric, 1/km": planar_geometric(city, "1/km"),
        "randomised response, 4": randomised_response(city, 4.0),
    }
    centres = city.coordinates if city.coordinates is not None else np.zeros((len(city), 2))
    halves = np.eye(2)[(centres[:, 0] > centres[:, 0].mean()).astype(int)]
    everyone = Relation.all(len(city))
    for each in groups:
        laws = dict(zip(each.names, each.distributions, strict=True))
        family = Family.lifted(laws, everyone)
        for (one, first), (other, second) in pairwise(mechanisms.items()):
            yield (
                f"{each.title}: {one}; {other}",
                Instance(first.matrix, second.matrix, family, metric, _DELTAS, halves, np.eye(len(city))),
            )


def swept(
    groups: Groups,
    city: Grid,
    name: str,
    slopes: Sequence[float],
    radii_km: Sequence[float],
    dummies: Sequence[int],
    optimised: Sequence[int],
) -> Made:
    """Measure one line of mechanisms.

    Args:
        groups: The groups.
        city: Their cells.
        name: Of the line.
        slopes: Of the planar families, per km.
        radii_km: Of restricted Laplace noise.
        dummies: The numbers k.
        optimised: The numbers k for which dummies are searched for, too, at every other parameter.
    """
    line = _line(groups, city, name, slopes, radii_km)
    rows = list(sweep(groups, [line], dummies))
    if optimised:
        rows += sweep(groups, [Line(name, line.build, line.parameters[::2])], optimised, sources=("optimised",))
    return {SWEEP: [columns_of(row) for row in rows]}


def among_many(
    groups: Groups, city: Grid, slopes: Sequence[float], radii_km: Sequence[float], dummies: Sequence[int]
) -> Made:
    """Measure restricted Laplace noise among many dummies of the mixture.

    Args:
        groups: The groups.
        city: Their cells.
        slopes: Of the noise, per km.
        radii_km: Of the noise, among them that of the line.
        dummies: The numbers k.
    """
    line = _line(groups, city, TUPLED, slopes, radii_km)
    return {MANY: [columns_of(row) for row in sweep(groups, [line], dummies, sources=("mixture",))]}


def neighbours(groups: Groups, city: Grid, slopes: Sequence[float], dummies: Sequence[int]) -> Made:
    """Return what dummies hide of two groups and of two neighbouring cells, around planar Laplace noise.

    Args:
        groups: The groups.
        city: Their cells.
        slopes: Of the noise, per km.
        dummies: The numbers k.
    """
    line = _line(groups, city, LAPLACE, slopes, RADII_KM)
    rows = []
    for slope in slopes:
        few = Line(line.name, line.build, (slope,))
        for k in dummies:
            (own,) = sweep(groups, [few], (k,), sources=("mixture",))
            rows.append(
                NeighbourRow(groups.title, slope, k, own.epsilon.upper, of_neighbours(groups, line, slope, k))
            )
    return {NEIGHBOURS: [columns_of(row) for row in rows]}


def _line(groups: Groups, city: Grid, name: str, slopes: Sequence[float], radii_km: Sequence[float]) -> Line:
    lines = published_lines(city, groups.metric, slopes=slopes, radii_km=radii_km)
    (found,) = (line for line in lines if line.name == name)
    return found
