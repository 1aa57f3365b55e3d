"""Columns of uncertainty next to each report, and Darwin Core columns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from .._system import pa
from ..core import Capability, Prior
from ..core.arrays import Floats
from ..core.immutable import CompactRepr
from ..escaping import plain
from ..geo import Visits
from ..ledgers import fingerprint
from ..proofs import error_radius, posterior_radii, radius_words
from ..rounding import percent_of_confidence

RADIUS: Final = "uncertainty_m"
POSTERIOR: Final = "posterior_uncertainty_m"
_DATUM: Final = "EPSG:4326"
_PRECISION: Final = 1e-7  # degrees: reports have seven decimals
_GROUND: Final = 1.01  # distances of moves are on a sphere, within .6 % of those on the ground
_CONFIDENCE: Final = 0.95
_RADII: Final[dict[bytes, float]] = {}  # by fingerprint: tasks of Spark read their mechanism again and again
_LONGEST: Final = 80  # characters of the name of a prior


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Uncertainty(CompactRepr):
    """Error radii of a mechanism's reports, in whole metres, rounded up.

    ``radius_m`` covers every report, of points moved in by at most ``moved_m``; ``posterior_m`` returns those of
    reports given the prior, metres (n,), without that move, NaN for none.
    """

    radius_m: int
    moved_m: float
    posterior_m: Callable[[NDArray[Any]], Floats] | None
    darwin_core: bool

    @classmethod
    def of(cls, drawable: Any, prior: Prior | Visits | None, *, moved_m: float, darwin_core: bool) -> Self:
        """Return the radii of a mechanism; `InputError` if it has none, or the prior is not on its secrets."""
        posterior: Callable[[NDArray[Any]], Floats] | None = None
        if drawable.supports(Capability.POINTS) and prior is not None:
            posterior = partial(posterior_radii, drawable, prior, _CONFIDENCE)
            posterior(np.empty((0, 2)))  # refuses an unfit prior before any draw
        elif prior is not None:
            posterior = posterior_radii(drawable, prior, _CONFIDENCE).__getitem__
        mark = fingerprint(drawable)
        if mark not in _RADII:
            _RADII[mark] = error_radius(drawable, _CONFIDENCE)
        return cls(math.ceil(_RADII[mark] + _GROUND * moved_m), moved_m, posterior, darwin_core)

    @property
    def sentence(self) -> str:
        """The radius of every report, and the points that it holds for, in a sentence."""
        return radius_words(self.radius_m, self.moved_m, _CONFIDENCE)

    def add_columns(self, columns: dict[str, Any], reports: NDArray[Any]) -> dict[str, Any]:
        """Return the columns of reports, array (n, ...), with those of uncertainty."""

        def constant(value: Any) -> Any:
            return pa.repeat(pa.scalar(value), len(reports))

        if self.darwin_core:
            output = {
                "decimalLatitude": columns["latitude"],
                "decimalLongitude": columns["longitude"],
                "geodeticDatum": constant(_DATUM),
                "coordinateUncertaintyInMeters": constant(self.radius_m),
                "coordinatePrecision": constant(_PRECISION),
                "dataGeneralizations": constant(f"Coordinates were replaced by a random report. {self.sentence}"),
            }
        else:
            output = {**columns, RADIUS: constant(self.radius_m)}
        if self.posterior_m is not None:
            radii = np.ceil(self.posterior_m(reports) + _GROUND * self.moved_m)
            output[POSTERIOR] = pa.array(radii, pa.int64(), mask=np.isnan(radii), safe=False)
        return output


def prior_words(name: str) -> str:
    """Return the meaning of the posterior radius in a sentence, with the name of its prior."""
    return (
        f"{POSTERIOR}: given the report, the true point is within it with a probability of at least "
        f"{percent_of_confidence(_CONFIDENCE)} under the prior {plain(name)[:_LONGEST]!r}"
    )
