"""Repeated releases: an attacker's error after t reports of one place, with fresh noise and with a memo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sfumato.attacks import blind
from sfumato.core import Mechanism, Prior
from sfumato.core.immutable import CompactRepr
from sfumato.errors import DataError, argument
from sfumato.geo import Grid, Region, Visits
from sfumato.ledgers import ErrorCurve, Scheme, averaging_errors, errors_after
from sfumato.mechanisms import planar_geometric

from ..results import TableRow, columns_of

REPORTS: Final = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500)

FRESH: Final = "fresh noise each time"
MEMO: Final = "one report, kept as a memo"
BOTH: Final = "fresh noise on a memo"


@dataclass(frozen=True, slots=True, repr=False)
class RepeatedRow(CompactRepr):
    """The attackers' errors and the epsilon spent after some reports.

    Attributes:
        scheme: The scheme of repetition.
        reports: How many there are.
        error_m: The error of the optimal attack, in metres.
        lower_m: The lower end of its interval, where it was simulated.
        upper_m: The upper end.
        exact: Whether it is exact, not simulated.
        averaging_error_m: The distance of the mean of the reported places from the secret.
        epsilon_upper_per_km: The proved epsilon of all reports together.
        averaging_lower_m: The lower end of its interval.
        averaging_upper_m: The upper end.
        blind_error_m: The error without a report.
    """

    scheme: str
    reports: int
    error_m: float
    lower_m: float
    upper_m: float
    exact: bool
    averaging_error_m: float
    epsilon_upper_per_km: float
    averaging_lower_m: float
    averaging_upper_m: float
    blind_error_m: float


@dataclass(frozen=True, slots=True, repr=False)
class RepeatedReleasesResults(CompactRepr):
    """The attackers' errors and the epsilon spent, by how reports repeat.

    Attributes:
        optimal: For each scheme, the error of the optimal attack on all reports, in metres.
        averaging: For each scheme, how far the mean of the reported places is from the secret, in metres.
        epsilons: For each scheme, the proved epsilon of all reports together, per km, by number of reports.
        blind_error_m: The error without a report.
    """

    optimal: dict[str, ErrorCurve]
    averaging: dict[str, ErrorCurve]
    epsilons: dict[str, tuple[float, ...]]
    blind_error_m: float

    @property
    def rows(self) -> list[RepeatedRow]:
        """A row for each scheme and number of reports."""
        return [
            RepeatedRow(
                name,
                t,
                float(curve.error[place]),
                float(curve.lower[place]),
                float(curve.upper[place]),
                curve.exact[place],
                float(self.averaging[name].error[place]),
                self.epsilons[name][place],
                float(self.averaging[name].lower[place]),
                float(self.averaging[name].upper[place]),
                self.blind_error_m,
            )
            for name, curve in self.optimal.items()
            for place, t in enumerate(curve.reports)
        ]

    @property
    def tables(self) -> dict[str, list[TableRow]]:
        """The rows; the figure is drawn from them alone."""
        return {"repeated-releases": [columns_of(row) for row in self.rows]}

    @property
    def lines(self) -> list[str]:
        """The same as sentences."""
        said = []
        for name, curve in self.optimal.items():
            said.append(name)
            for place, t in enumerate(curve.reports):
                margin = "exact" if curve.exact[place] else f"{curve.lower[place]:.0f} to {curve.upper[place]:.0f}"
                mean = self.averaging[name].error[place]
                said.append(
                    f"  {t:4d} reports: error {curve.error[place]:7.1f} m ({margin}), "
                    f"their mean {mean:7.1f} m off, epsilon {self.epsilons[name][place]:.3f}/km"
                )
        return [*said, f"error without a report: {self.blind_error_m:.1f} m"]


def repetition(
    mechanism: Mechanism, prior: Prior, reports: Sequence[int] = REPORTS, *, trials: int = 2_000, seed: int = 1
) -> RepeatedReleasesResults:
    """Return what t reports of one place reveal, for three ways to repeat them.

    Args:
        mechanism: From places to places, with coordinates in metres.
        prior: Where the user is.
        reports: The numbers of reports t.
        trials: How often to simulate where the reports are too many to sum them all.
        seed: Of the simulation.

    Raises:
        InputError: If there are no planar coordinates, or sizes do not fit.
    """
    metric = mechanism.secrets.metric("euclidean", unit="m")
    per_km = mechanism.secrets.metric("euclidean", unit="km")
    schemes = {
        FRESH: Scheme.fresh(mechanism),
        MEMO: Scheme.memo(mechanism),
        BOTH: Scheme(mechanism, mechanism),
    }
    return RepeatedReleasesResults(
        {
            name: errors_after(scheme, prior, metric, reports, trials=trials, seed=seed)
            for name, scheme in schemes.items()
        },
        {
            name: averaging_errors(scheme, prior, reports, trials=trials, seed=seed)
            for name, scheme in schemes.items()
        },
        {name: tuple(scheme.epsilon_upper(per_km, t) for t in reports) for name, scheme in schemes.items()},
        blind(prior, metric).error,
    )


def study(
    visits: Visits,
    region: str,
    *,
    cell: str = "500 m",
    epsilon: str = "2/km",
    reports: Sequence[int] = REPORTS,
    trials: int = 2_000,
    seed: int = 1,
    progress: Callable[[str], None] | None = None,
) -> RepeatedReleasesResults:
    """Return what t reports reveal about one place of the person with most visits in a region.

    Args:
        visits: Visits with users.
        region: The map.
        cell: The side of a cell.
        epsilon: Of the planar geometric mechanism.
        reports: The numbers of reports t.
        trials: How often to simulate where the reports are too many to sum them all.
        seed: Of the simulation.
        progress: Called with each line of the results.

    Raises:
        DataError: If no user has a visit in the region.
    """
    tell = progress or (lambda _: None)
    inside = visits.inside(Region.parse(region))
    person = next(iter(inside.users()), None) if inside.user is not None else None
    if person is None:
        raise DataError("no user has a visit in the region.", f"choose another {argument('region')} or file.")
    own = inside.of_user(person)
    grid = Grid.covering(region, cell=cell)
    prior = Prior.from_visits(grid, own)
    tell(f"{len(own)} visits of one person on a {grid!r}, {len(prior.support)} cells visited")
    found = repetition(planar_geometric(grid, epsilon), prior, sorted(reports), trials=trials, seed=seed)
    for line in found.lines:
        tell(line)
    return found
