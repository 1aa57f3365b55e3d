"""The distribution privacy experiment: what hides two groups of people, and what it costs each user."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log, pi, sqrt
from typing import Final

import numpy as np

from ..core import Mechanism, Metric, Prior
from ..core.arrays import Floats
from ..errors import InputError
from ..geo import Places, Visits
from ..mechanisms import (
    FamilyAccountant,
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

DELTA: Final = 1e-3
DUMMIES: Final = (0, 5, 10, 20, 50, 100)
SLOPES: Final = tuple(0.25 * 2 ** (j / 2) for j in range(13))
"""Parameters of the planar families, per km: 0.25 to 16."""

RADII_KM: Final = (1.0, 2.0, 4.0)
NONE: Final = "none"
_NEAR: Final = 1e-4  # nats between the accountant's bounds


@dataclass(frozen=True, slots=True)
class Groups:
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


@dataclass(frozen=True, slots=True)
class Line:
    """A family of mechanisms that is drawn as one line.

    Attributes:
        name: Its name.
        build: From a parameter to a mechanism.
        parameters: Those that are tried, from much noise to little.
    """

    name: str
    build: Callable[[float], Mechanism]
    parameters: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One mechanism, with so many dummies.

    Attributes:
        mechanism: The name of the line.
        parameter: The inner mechanism's parameter.
        dummies: k.
        source: Where dummies are drawn from: ``none``, ``uniform``, ``mixture`` or ``optimised``.
        epsilon_lower: Proved: no smaller epsilon is enough at the study's delta.
        epsilon_upper: Proved: this epsilon is enough; ``inf`` if none is.
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
    epsilon_lower: float
    epsilon_upper: float
    loss_km: float
    least_gain: float
    attack_success: float


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
    # The truth is told with probability 1/2 at ln(n - 1).
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
) -> Iterator[Row]:
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
) -> Row:
    """Return what a mechanism with dummies hides and costs."""
    family = groups.distributions
    bounds = FamilyAccountant(tupling, family).epsilon(delta, _NEAR).bounds
    visited = groups.everyone.support
    alone = tupling.inner.loss_of_secrets(groups.metric)[visited]
    best = quality_loss_of_secrets(tupling, groups.metric)[visited]
    gains = 1 - np.divide(best, alone, out=np.ones_like(best), where=alone > 0)
    return Row(
        name,
        parameter,
        tupling.dummies,
        source,
        bounds.lower,
        bounds.upper,
        quality_loss(tupling, groups.everyone, groups.metric),
        float(gains.min()) if tupling.dummies else 0.0,
        attack_success(tupling, family[0], family[1]).upper,
    )


def best_within(rows: Iterable[Row], mechanism: str, dummies: int, source: str, loss_km: float) -> Row | None:
    """Return the measured row of a line with the least epsilon that loses at most so much, if there is one.

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
    return min(fitting, key=lambda row: row.epsilon_upper, default=None)


def _distribution(groups: Groups, inner: Mechanism, dummies: int, source: str, delta: float) -> Prior:
    mixture = mixture_dummies(inner, groups.distributions)
    if source == "mixture":
        return mixture
    if source == "optimised":
        family = FamilyAccountant(Tupling(inner, dummies, mixture), groups.distributions)
        return optimised_dummies(family, delta=delta).distribution
    return uniform_dummies(inner)
