"""Families of mechanisms of the published experiment, each drawn as one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log, pi, sqrt
from typing import Final

from sfumato.core import Mechanism, Metric
from sfumato.core.immutable import CompactRepr
from sfumato.geo import Places
from sfumato.mechanisms import (
    PlanarGaussian,
    exponential,
    planar_geometric,
    randomised_response,
    restricted_laplace,
)

SLOPES: Final = tuple(0.25 * 2 ** (j / 2) for j in range(13))
"""Parameters of the planar families, per km: 0.25 to 16."""

RADII_KM: Final = (1.0, 2.0, 4.0)
LAPLACE: Final = "planar Laplace"
TUPLED: Final = "restricted Laplace, 2 km"
"""The line that is also measured with optimised dummies."""

PANELS: Final = (LAPLACE, "planar geometric", "planar Gaussian", "randomised response", TUPLED)
"""The lines that get a panel of their own."""


@dataclass(frozen=True, slots=True, repr=False)
class Line(CompactRepr):
    """A family of mechanisms that is drawn as one line.

    Attributes:
        name: Its name.
        build: From a parameter to a mechanism.
        parameters: Those that are tried, from much noise to little.
    """

    name: str
    build: Callable[[float], Mechanism]
    parameters: tuple[float, ...]


def line_names(radii_km: Sequence[float]) -> tuple[str, ...]:
    """Return the names of the published lines, in their order."""
    return (*PANELS[:4], *(_restricted(radius) for radius in radii_km))


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
        Line(LAPLACE, lambda e: exponential(places, metric, 2 * e), planar),
        Line(PANELS[1], lambda e: planar_geometric(places, f"{e!r}/km"), planar),
        Line(PANELS[2], lambda e: PlanarGaussian(places, f"{2 / e / sqrt(pi / 2)!r} km").mechanism(), planar),
        Line(PANELS[3], lambda e: randomised_response(places, e), responses),
        *(Line(_restricted(radius), within(radius), planar) for radius in radii_km),
    ]


def _restricted(radius: float) -> str:
    return f"restricted Laplace, {radius:g} km"
