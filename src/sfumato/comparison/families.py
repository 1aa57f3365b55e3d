"""Families of mechanisms with one parameter, of which comparisons choose members."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..core import Mechanism, Metric, MetricPrivacy, Prior, Space
from ..core.bracket import bisect, geometric_mean
from ..errors import SfumatoError
from ..geo import Places
from ..mechanisms import (
    PlanarGaussian,
    elastic_metric,
    exponential,
    geometric,
    planar_geometric,
    randomised_response,
    rate_distortion,
    remapped,
    restricted_laplace,
    tight_constraints,
)
from ..proofs import prove_metric_privacy

_ELASTIC: Final = 0.1
"""The share of people and area that the elastic metric hides everyone among."""

REACH: Final = 3.0
"""Restricted Laplace noise reaches this many times its scale, 1 / epsilon."""


@dataclass(frozen=True, slots=True)
class ParametricFamily:
    """A family of mechanisms with one parameter.

    Attributes:
        build: From the parameter, per unit of the metric, to the mechanism.
        promises: Whether the parameter is an epsilon of metric privacy; others are compared at equal loss only.
    """

    name: str
    build: Callable[[float], Mechanism]
    promises: bool

    def remapped(self, prior: Prior, loss: Metric) -> ParametricFamily:
        """Return the family followed by the remap of least loss."""
        return ParametricFamily(
            f"{self.name} + remap", lambda value: remapped(self.build(value), prior, loss), self.promises
        )


def default_families(prior: Prior, metric: Metric) -> list[ParametricFamily]:
    """Return the families that fit the secrets of a prior and their metric."""
    space = prior.space
    nearest = float(
        metric.array[metric.array > 0].min(initial=np.inf)
    )  # randomised response must protect the nearest pair
    families = [
        ParametricFamily("exponential", lambda e: exponential(space, metric, e), promises=True),
        ParametricFamily("tight constraints", lambda e: tight_constraints(space, metric, e), promises=True),
        ParametricFamily("randomised response", lambda e: randomised_response(space, e * nearest), promises=True),
        # Its promise is twice its slope.
        ParametricFamily(
            "least information", lambda e: rate_distortion(prior, metric, e / 2).mechanism, promises=True
        ),
        ParametricFamily("elastic", lambda e: _elastic(prior, metric, e), promises=False),
        ParametricFamily(
            "restricted Laplace", lambda e: restricted_laplace(space, metric, e, REACH / e), promises=False
        ),
    ]
    if isinstance(space, Places):
        unit = f"/{metric.unit}"
        families.insert(
            0,
            ParametricFamily("planar geometric", lambda e: planar_geometric(space, f"{e!r}{unit}"), promises=True),
        )
        families.append(ParametricFamily("planar Gaussian", lambda e: _gaussian(space, metric, e), promises=False))
    elif _on_a_line(space, metric):
        families.insert(0, ParametricFamily("geometric", lambda e: geometric(space, e), promises=True))
    return families


def calibrate(
    family: ParametricFamily, metric: Metric, epsilon: float, tolerance: float = 1e-4
) -> tuple[float, Mechanism]:
    """Return the parameter and the mechanism of the loosest member whose proved epsilon is at most ``epsilon``.

    A family may satisfy a smaller epsilon than its parameter, and would then look worse than it is. Raises
    `SfumatoError` if the family has no member of that epsilon.

    Args:
        family: A family that promises metric privacy.
        metric: The metric.
        epsilon: Per unit of the metric.
        tolerance: How far below it the proved epsilon may be, relatively.
    """
    promise = MetricPrivacy(epsilon, metric)
    best = family.build(epsilon)
    upper = prove_metric_privacy(best, promise).upper

    def holds(parameter: float) -> bool:
        nonlocal best, upper
        try:
            candidate = family.build(parameter)
        except SfumatoError:
            return False
        reached = prove_metric_privacy(candidate, promise).upper
        if reached > epsilon:
            return False
        best, upper = candidate, reached
        return True

    def close(high: float, low: float) -> bool:
        return upper >= epsilon * (1 - tolerance) or high / low < 1 + tolerance

    most = 2 * epsilon / max(upper / epsilon, 0.5)
    return bisect(holds, fails=most, holds=epsilon, middle=geometric_mean, done=close, steps=30).holds, best


def _on_a_line(space: Space, metric: Metric) -> bool:
    if space.coordinates is None or space.coordinates.shape[1] != 1:
        return False
    x = space.coordinates[:, 0]
    return bool(np.array_equal(np.abs(x[:, None] - x), metric.array))


def _elastic(prior: Prior, metric: Metric, epsilon: float) -> Mechanism:
    """Return the exponential mechanism of a metric that is short where few people are."""
    n = len(prior)
    mass = 0.5 * prior.probabilities + 0.5 / n
    return exponential(prior.space, elastic_metric(metric, mass, required=_ELASTIC), epsilon)


def _gaussian(space: Places, metric: Metric, epsilon: float) -> Mechanism:
    """Return planar Gaussian noise whose mean size is about that of planar Laplace, 2 / epsilon."""
    return PlanarGaussian(space, f"{2 / epsilon / math.sqrt(math.pi / 2)!r} {metric.unit}").mechanism()
