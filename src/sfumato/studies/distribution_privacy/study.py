"""Study of distribution privacy: what hides two groups of people, and what it costs each user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from ...core.frozen import Short
from ...geo import Grid, Region, Visits
from ..results import TableRow, columns_of
from .groups import Groups
from .lines import SLOPES, TUPLED, Line, published_lines
from .rows import (
    DELTA,
    DUMMIES,
    NONE,
    DistributionRow,
    accountant_seconds,
    best_within,
    of_neighbours,
    sweep,
)

LEVELS_KM: Final = (0.25, 0.5, 1.0, 1.5)
"""The losses of the printed table."""


@dataclass(frozen=True, slots=True, repr=False)
class DistributionPrivacyResults(Short):
    """Results of the study.

    Attributes:
        rows: The mechanisms measured.
        optimised: The number of dummies that the rows with optimised dummies have at most; 0 if there are none.
    """

    rows: tuple[DistributionRow, ...]
    optimised: int

    @property
    def tables(self) -> dict[str, list[TableRow]]:
        """A row for each mechanism and number of dummies."""
        return {"distribution-privacy": [columns_of(row) for row in self.rows]}

    def best_within(self, levels_km: Sequence[float] = LEVELS_KM) -> list[str]:
        """Return the lines of a table: the least proved epsilon of each line at a loss of at most each level."""
        found = [
            f"{'least epsilon with a loss of at most':45s}" + "".join(f"{level:>9g} km" for level in levels_km)
        ]
        for name, k, source in dict.fromkeys((row.mechanism, row.dummies, row.source) for row in self.rows):
            best = [best_within(self.rows, name, k, source, level) for level in levels_km]
            shown = "".join(f"{row.epsilon.upper:12.3f}" if row is not None else f"{'-':>12s}" for row in best)
            found.append(f"{name + (f', {k} {source} dummies' if k else ''):45s}{shown}")
        return found


def study(
    visits: Visits,
    region: Region | str,
    attribute: str,
    groups: tuple[object, object],
    *,
    cell: str = "400 m",
    dummies: Sequence[int] = DUMMIES,
    slopes: Sequence[float] = SLOPES,
    progress: Callable[[str], None] | None = None,
) -> DistributionPrivacyResults:
    """Measure the published mechanisms, with and without dummies, on two groups of visitors of a region.

    Args:
        visits: Visits with the attribute.
        region: Where reports are counted.
        attribute: The column that names the groups.
        groups: Two of its values.
        cell: The side of a cell.
        dummies: The numbers k of dummies; 0 for none.
        slopes: Of the planar families, per km.
        progress: Called with the name of each line before it is measured, and with each line of the results.

    Raises:
        InputError: If the visits do not have the attribute.
        DataError: If a group has no visit in the region.
    """
    tell = progress or (lambda _: None)
    city = Grid.covering(region, cell=cell)
    first, second = groups
    people = Groups.from_visits(city, visits, attribute, first, second)
    tell(f"{people.names[0]} and {people.names[1]} on a {city!r}: total variation {people.total_variation:.3f}")
    lines = published_lines(city, people.metric, slopes=sorted(slopes))
    rows = list(sweep(people, lines, sorted(dummies), progress=progress))
    few = [k for k in sorted(dummies) if k][:2]
    some = [Line(line.name, line.build, line.parameters[::2]) for line in lines if line.name == TUPLED]
    rows += sweep(people, some, few, sources=("optimised",))
    found = DistributionPrivacyResults(tuple(rows), few[-1] if few else 0)
    for text in found.best_within():
        tell(text)
    unbounded = sum(row.epsilon.upper == inf and row.source == NONE for row in rows)
    tell(f"mechanisms without dummies that keep no epsilon at delta {DELTA:g}: {unbounded}")
    for parameter in sorted({lines[0].parameters[0], lines[0].parameters[-1]}):
        alone, among = (of_neighbours(people, lines[0], parameter, k) for k in (0, max(dummies)))
        tell(
            f"{lines[0].name}, {parameter:g}/km: epsilon for two neighbouring cells {alone:.3f} without dummies, "
            f"{among:.3f} among {max(dummies)}"
        )
    for name, epsilon, seconds in accountant_seconds():
        tell(f"accountant, 400 reports, 1,000 {name} dummies: epsilon {epsilon:.3f} in {seconds:.2f} CPU seconds")
    return found
