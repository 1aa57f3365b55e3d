"""The estimate of the command line: shares of a population, and which of them the reports settle."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ..core import Mechanism, MechanismWithPrior, Randomizer
from ..core.immutable import CompactRepr, NotebookRepr
from ..mechanisms.planar import Coarsening
from ..rounding import about
from .identifiability import Identifiability, identifiability
from .population import Kind, Method, estimate_margins, estimate_population
from .reading import Received, Table, read_released
from .reports import Estimate


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PopulationEstimate(CompactRepr, NotebookRepr):
    """Shares of a population from its private reports.

    Attributes:
        estimate: The shares, also of districts where those of single places are not settled.
        identifiability: The shares that the reports can settle.
        margins: The shares of each column of a `JointSpace`, by its name.
        notes: Sentences on the reports and on what the shares are about.
    """

    estimate: Estimate
    identifiability: Identifiability
    margins: dict[str, Estimate]
    notes: tuple[str, ...]

    @property
    def withheld(self) -> frozenset[int]:
        """The positions of shares that the reports do not settle."""
        return self.identifiability.unsettled(self.estimate)

    @property
    def withheld_margins(self) -> dict[str, frozenset[int]]:
        """The positions of shares in each column that the reports do not settle."""
        return self.identifiability.unsettled_margins(self.estimate)

    @property
    def settled(self) -> bool:
        """Whether the reports settle any share."""
        estimate, of_columns = self.estimate, self.withheld_margins
        return (
            len(self.withheld) < len(estimate.space)
            or estimate.districts is not None
            or any(len(of_columns[name]) < len(margin.space) for name, margin in self.margins.items())
        )

    def __repr__(self) -> str:
        return f"{self.estimate!r}, {len(self.withheld):,} of them withheld"


def estimate_received(
    received: Received, method: Method, intervals: Kind | None, failure: float, seed: int
) -> PopulationEstimate:
    """Return the estimate from reports that were read; see `estimate`."""
    reports, notes = received.reports, [received.note]
    shares = estimate_population(reports, method, intervals=intervals, failure=failure, seed=seed)
    margins = estimate_margins(shares, reports, intervals=intervals, failure=failure, seed=seed)
    if received.spread and (shares.intervals or shares.districts):
        notes.append("The intervals hold for people who are spread so.")
    if received.weighted:
        equal = about(reports.effective, 3)
        notes.append(f"The {len(reports):,} weighted reports vary as about {equal} of equal weight do.")
    known = identifiability(reports.mechanism)
    return PopulationEstimate(shares, known, dict(margins), tuple(filter(None, notes)))


def estimate(
    mechanism: Randomizer | MechanismWithPrior | Coarsening | Mapping[str, Mechanism],
    reports: Table | Sequence[Hashable] | NDArray[Any],
    *,
    column: str | Sequence[str] | None = None,
    weights: str | None = None,
    method: Method = "maximum-likelihood",
    intervals: Kind | None = None,
    failure: float = 0.05,
    seed: int = 1,
    unmarked: bool = False,
    check_fit: bool = True,
    skip_damaged: bool = False,
) -> PopulationEstimate:
    """Estimate the shares of a population from its private reports, as ``sfumato estimate`` does.

    Shares that the reports do not settle are named in ``withheld``. For places, the estimate then has the smallest
    districts whose shares are settled.

    Args:
        mechanism: The mechanism, design or content of a mechanism file that drew the reports; several by the names
            of their columns. Reports of noise for coordinates are counted in cells: those of its prior, else about
            100 over the places of its table; people are taken to be spread over them.
        reports: A list of reported labels, or a file, folder or table in memory, as for `read_reports`; of noise,
            as for `read_visits`.
        column: The column of the reports; see `read_reports`.
        weights: The column of survey weights.
        method: See `estimate_population`, as for the intervals, the failure and the seed.
        intervals: The kind of intervals.
        failure: The probability that an interval misses.
        seed: The seed of the bootstrap.
        unmarked: Whether a table without a mark is accepted.
        check_fit: Whether reports without a mark must fit the mechanism.
        skip_damaged: Leave out damaged files of points, as `read_visits` does.

    Raises:
        InputError: If an option does not fit the mechanism.
        DataError: If the reports cannot be read, or are not those of the mechanism.

    Example:
        >>> import sfumato as sf
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> [round(share, 3) for share in sf.estimate(coin, [0] * 600 + [1] * 400).estimate.probabilities.tolist()]
        [0.7, 0.3]
    """
    received = read_released(
        mechanism,
        reports,
        column,
        weights=weights,
        unmarked=unmarked,
        check_fit=check_fit,
        skip_damaged=skip_damaged,
    )
    return estimate_received(received, method, intervals, failure, seed)
