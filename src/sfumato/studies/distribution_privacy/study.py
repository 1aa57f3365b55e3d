"""Distribution privacy: what hides two groups of people, and what it costs each user."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, log, pi, sqrt
from typing import Final

import numpy as np

from ...core import Bracket, Mechanism, Metric, Prior
from ...core.arrays import Floats
from ...core.frozen import Short
from ...errors import InputError
from ...geo import Grid, Places, Region, Visits
from ...mechanisms import (
    FamilyAccountant,
    PairAccountant,
    PlanarGaussian,
    Tupling,
    attack_success,
    exponential,
    mixture_dummies,
    optimised_dummies,
    planar_geometric,
    quality_loss,
    quality_loss_of_secrets,
    randomised_response,
    restricted_laplace,
    uniform_dummies,
)
from ..results import TableRow, columns_of

DELTA: Final = 1e-3
DUMMIES: Final = (0, 5, 10, 20, 50, 100)
SLOPES: Final = tuple(0.25 * 2 ** (j / 2) for j in range(13))
"""Parameters of the planar families, per km: 0.25 to 16."""

RADII_KM: Final = (1.0, 2.0, 4.0)
NONE: Final = "none"
TUPLED: Final = "restricted Laplace, 2 km"
"""The line that is also measured with optimised dummies."""

LEVELS_KM: Final = (0.25, 0.5, 1.0, 1.5)
"""The losses of the printed table."""

_NEAR: Final = 1e-4  # nats between the accountant's bounds


@dataclass(frozen=True, slots=True, repr=False)
class Groups(Short):
    """Two groups of people, as distributions on the same places.

    Attributes:
        names: What the groups are called.
        priors: Where each group is.
        metric: The distance of places, in kilometres.
    """

    names: tuple[str, str]
    priors: tuple[Prior, Prior]
    metric: Metric

    @classmethod
    def from_visits(cls, places: Places, visits: Visits, attribute: str, first: object, second: object) -> Groups:
        """Return the groups whose visits have one or the other value of an attribute.

        Args:
            places: The cells that the visits are counted in.
            visits: Visits with the attribute.
            attribute: Its name, such as ``home_area``.
            first: Its value in the first group.
            second: Its value in the second group.

        Raises:
            InputError: If the visits do not have the attribute.
            DataError: If a group has no visit in the cells.
        """
        if attribute not in visits.attributes:
            raise InputError(
                f"the visits have no attribute {attribute!r}.",
                f"they have {', '.join(visits.attributes) or 'none'}.",
            )
        column = visits.attributes[attribute]
        one, two = (Prior.from_visits(places, visits.select(column == value)) for value in (first, second))
        return cls((str(first), str(second)), (one, two), places.metric("euclidean", unit="km"))

    @property
    def distributions(self) -> Floats:
        """Both distributions, array (2, n)."""
        return np.array([prior.probabilities for prior in self.priors])

    @property
    def everyone(self) -> Prior:
        """Both groups together, in equal parts: service quality loss is counted for them."""
        return Prior(self.priors[0].space, self.distributions.mean(axis=0))

    @property
    def total_variation(self) -> float:
        """How far the distributions are apart, from 0 to 1."""
        return float(np.abs(np.subtract(*self.distributions)).sum() / 2)


@dataclass(frozen=True, slots=True, repr=False)
class Line(Short):
    """A family of mechanisms that is drawn as one line.

    Attributes:
        name: Its name.
        build: From a parameter to a mechanism.
        parameters: Those that are tried, from much noise to little.
    """

    name: str
    build: Callable[[float], Mechanism]
    parameters: tuple[float, ...]


@dataclass(frozen=True, slots=True, repr=False)
class DistributionRow(Short):
    """One mechanism, with a number of dummies.

    Attributes:
        mechanism: The name of the line.
        parameter: The inner mechanism's parameter.
        dummies: k.
        source: Where dummies are drawn from: ``none``, ``uniform``, ``mixture`` or ``optimised``.
        epsilon: The least epsilon that is enough at the study's delta, with proved bounds; ``inf`` if none is.
        loss_km: The expected distance from a user to the best of the k + 1 answers.
        least_gain: By what part the loss is below that without dummies, for the place where
            this part is smallest among those that somebody visits.
        attack_success: How often the best attacker names the right one of two groups of
            equal size, from above.
    """

    mechanism: str
    parameter: float
    dummies: int
    source: str
    epsilon: Bracket
    loss_km: float
    least_gain: float
    attack_success: float


@dataclass(frozen=True, slots=True, repr=False)
class DistributionPrivacyResults(Short):
    """What the study found.

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


def published_lines(
    places: Places,
    metric: Metric,
    *,
    slopes: Sequence[float] = SLOPES,
    radii_km: Sequence[float] = RADII_KM,
) -> list[Line]:
    """Return the inner mechanisms of the published experiment, and the planar geometric one.

    The planar Laplace mechanism is exp(-e d), each row normalised, as in the paper; it
    promises 2 e per km. The planar geometric mechanism promises e. Gaussian noise of slope e
    has the mean length of planar Laplace noise, 2 / e. Randomised response takes an epsilon.

    Args:
        places: The cells.
        metric: Their distances in kilometres.
        slopes: e, per km, increasing.
        radii_km: Of restricted Laplace noise, a line for each.
    """

    def within(radius: float) -> Callable[[float], Mechanism]:
        return lambda e: restricted_laplace(places, metric, e, radius)

    planar = tuple(slopes)
    # The truth is reported with probability 1/2 at ln(n - 1).
    around = (log(len(places) - 1) + step for step in (-5, -4, -3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 2, 3, 4))
    responses = tuple(epsilon for epsilon in around if epsilon > 0)
    return [
        Line("planar Laplace", lambda e: exponential(places, metric, 2 * e), planar),
        Line("planar geometric", lambda e: planar_geometric(places, f"{e!r}/km"), planar),
        Line(
            "planar Gaussian", lambda e: PlanarGaussian(places, f"{2 / e / sqrt(pi / 2)!r} km").mechanism(), planar
        ),
        Line("randomised response", lambda e: randomised_response(places, e), responses),
        *(Line(f"restricted Laplace, {radius:g} km", within(radius), planar) for radius in radii_km),
    ]


def sweep(
    groups: Groups,
    lines: Iterable[Line],
    dummies: Sequence[int] = DUMMIES,
    *,
    sources: Sequence[str] = ("uniform", "mixture"),
    delta: float = DELTA,
    progress: Callable[[str], None] | None = None,
) -> Iterator[DistributionRow]:
    """Measure every line at all its parameters, with every number and source of dummies.

    Args:
        groups: The two groups.
        lines: The inner mechanisms.
        dummies: The numbers k of dummies; 0 is the inner mechanism by itself.
        sources: ``uniform``, ``mixture`` (dummies look like the groups' reports) or
            ``optimised`` (searched for, which takes seconds for each row).
        delta: At which epsilon is proved.
        progress: Called with the name of each line before it is measured.

    Yields:
        Rows, by line, parameter, number and source.

    Raises:
        InputError: If a source is unknown, or another argument out of range.

    Source:
        Kawamoto and Murakami, "Local obfuscation mechanisms for hiding probability
        distributions", ESORICS 2019, section 6; epsilon by the exact accountant.
    """
    unknown = set(sources) - {"uniform", "mixture", "optimised"}
    if unknown:
        raise InputError(
            f"dummies from {', '.join(sorted(unknown))} are unknown.", "use uniform, mixture, optimised."
        )
    for line in lines:
        if progress is not None:
            progress(line.name)
        for parameter in line.parameters:
            inner = line.build(parameter)
            for k in dummies:
                for source in sources if k else (NONE,):
                    tupling = Tupling(inner, k, _distribution(groups, inner, k, source, delta))
                    yield measured(groups, tupling, line.name, parameter, source, delta)


def measured(
    groups: Groups, tupling: Tupling, name: str, parameter: float, source: str, delta: float = DELTA
) -> DistributionRow:
    """Return what a mechanism with dummies hides and costs."""
    family = groups.distributions
    epsilon = FamilyAccountant(tupling, family).epsilon(delta, _NEAR).bounds
    visited = groups.everyone.support
    alone = tupling.inner.loss_of_secrets(groups.metric)[visited]
    best = quality_loss_of_secrets(tupling, groups.metric)[visited]
    gains = 1 - np.divide(best, alone, out=np.ones_like(best), where=alone > 0)
    return DistributionRow(
        name,
        parameter,
        tupling.dummies,
        source,
        epsilon,
        quality_loss(tupling, groups.everyone, groups.metric),
        float(gains.min()) if tupling.dummies else 0.0,
        attack_success(tupling, family[0], family[1]).upper,
    )


def best_within(
    rows: Iterable[DistributionRow], mechanism: str, dummies: int, source: str, loss_km: float
) -> DistributionRow | None:
    """Return the measured row of a line with the least epsilon within a loss, if there is one.

    No value is read between the points: what is returned was measured and proved.

    Args:
        rows: Rows of a sweep.
        mechanism: The name of the line.
        dummies: k.
        source: Where dummies are drawn from.
        loss_km: The largest loss allowed.
    """
    fitting = [
        row
        for row in rows
        if (row.mechanism, row.dummies, row.source) == (mechanism, dummies, source) and row.loss_km <= loss_km
    ]
    return min(fitting, key=lambda row: row.epsilon.upper, default=None)


def of_neighbours(groups: Groups, line: Line, parameter: float, dummies: int) -> float:
    """Return the proved epsilon, at the study's delta, for two neighbouring cells that somebody visits.

    It says how well the person is hidden, not the group.
    """
    inner = line.build(parameter)
    d, visited = groups.metric.array, groups.everyone.support
    between = d[np.ix_(visited, visited)]
    pairs = visited[np.argwhere((between > 0) & (between < 1.01 * d[d > 0].min()))]
    tupling = Tupling(inner, dummies, mixture_dummies(inner, groups.distributions))
    return FamilyAccountant.of_points(tupling, pairs).epsilon(DELTA, 1e-3).bounds.upper


def accountant_seconds(outputs: int = 400, dummies: int = 1000) -> list[tuple[str, float, float]]:
    """Return epsilon at delta 0.001 and the CPU seconds it takes, for two random distributions of reports."""
    random = np.random.default_rng(0)
    first, second = random.dirichlet(np.full(outputs, 0.2), 2)
    even = np.full(outputs, 1 / outputs)
    found = []
    for name, nu in (("uniform", even), ("mixture", 0.999 * (first + second) / 2 + 0.001 * even)):
        start = time.process_time()
        bounds = PairAccountant(first, second, nu, dummies).epsilon(DELTA)
        found.append((name, bounds.upper, time.process_time() - start))
    return found


def _distribution(groups: Groups, inner: Mechanism, dummies: int, source: str, delta: float) -> Prior:
    mixture = mixture_dummies(inner, groups.distributions)
    if source == "mixture":
        return mixture
    if source == "optimised":
        family = FamilyAccountant(Tupling(inner, dummies, mixture), groups.distributions)
        return optimised_dummies(family, delta=delta).distribution
    return uniform_dummies(inner)
