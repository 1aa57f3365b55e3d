"""Coordinate noise: the closed form for places, exact on a fine lattice, with its promise, loss and attacker."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core import units
from ...core.arrays import Floats, floats
from ...core.frozen import Frozen
from ...geo import Projection
from ...rounding import amount_at_most, at_most
from ...sampling import SeededWords, SystemWords, Words
from ..family import positive
from ..noise import rational
from .lattice_noise import LatticeNoise
from .promise import PlanarPromise, slack, stretch, within
from .quadrature import PlaneError, plane_error, raw_error
from .remap import PlaneRemap
from .snapping import snapped

REACH_M: Final = 100_000.0
"""How far from a projection's centre places are told apart by default; beyond it they are moved to it."""

_BITS: Final = 64  # of the noise's rate per step


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CoordinateNoise(Frozen):
    """Planar geometric noise for coordinates, without cells: M(x, o) <= e^(epsilon (|x - x'| + slack)) M(x', o).

    A place is snapped to the nearest point of a square lattice of a few metres; a whole vector
    z of steps is added with probability proportional to exp(-epsilon |z|), drawn exactly on the
    infinite lattice; and a table replaces each report by the best place for what it reveals,
    if there is one. The slack, sqrt(2) steps, is what snapping may add to a distance.

    With a projection |x - x'| is the distance on the ground, of places within the reach; the
    noise is by the largest stretch of the plane there wider. Places beyond the reach are
    moved straight to it, never refused. Without one it is the distance in the plane, of any two points.

    Attributes:
        epsilon: As promised, per metre.
        step_m: The step of the lattice, exactly.
        projection: The plane of the coordinates, or None.
        reach_m: How far from its centre the promise holds; infinite without a projection.
        remap: The table, or None.
        noise: The noise in whole steps.

    Args:
        epsilon: Per metre; a number or text such as ``"1/km"``.
        step: The step, a length such as ``"2 m"`` or a fraction in metres: a small share of
            1 / epsilon.
        projection: The plane of the coordinates.
        reach: With a projection, the largest distance from its centre, a length such as ``"30 km"``.
        remap: The table; `for_places` makes it.

    Raises:
        InputError: If epsilon or the step is not positive, or the reach not within the limits of projections.
        UnitError: If a unit does not fit.

    Source:
        Andrés, Bordenabe, Chatzikokolakis and Palamidessi, "Geo-indistinguishability", CCS 2013, with
        discrete noise; the remap: Chatzikokolakis, ElSalamouny and Palamidessi, PETS 2017.
        docs/proofs/planar-noise.md.

    Example:
        >>> noise = CoordinateNoise("1/km", "2 m")
        >>> noise.simulate([[0.0, 0.0], [120.0, -40.0]], seed=7)
        array([[...]])
        >>> noise.promise
        PlanarPromise(epsilon 0.001/m, slack 2.83 m)
    """

    epsilon: float
    step_m: Fraction
    projection: Projection | None
    reach_m: float
    remap: PlaneRemap | None
    noise: LatticeNoise = field(init=False)

    def __init__(
        self,
        epsilon: float | str,
        step: float | str | Fraction = "2 m",
        projection: Projection | None = None,
        reach: float | str = REACH_M,
        remap: PlaneRemap | None = None,
    ) -> None:
        rate = positive(units.parse(epsilon, per=True, unit="m", what="epsilon"), "epsilon")
        size = step if isinstance(step, Fraction) else units.length_m(step, "the step")
        reach_m = math.inf if projection is None else units.length_m(reach, "the reach")
        object.__setattr__(self, "epsilon", rate)
        object.__setattr__(self, "step_m", rational(size, "the step"))
        object.__setattr__(self, "projection", projection)
        object.__setattr__(self, "reach_m", reach_m)
        object.__setattr__(self, "remap", remap)
        widest = 1.0 if projection is None else stretch(reach_m)
        object.__setattr__(self, "noise", LatticeNoise(_rounded(Fraction(rate) * self.step_m / Fraction(widest))))

    def __reduce__(self) -> tuple[type[CoordinateNoise], tuple[object, ...]]:
        reach = REACH_M if self.projection is None else self.reach_m
        return type(self), (self.epsilon, self.step_m, self.projection, reach, self.remap)

    @property
    def promise(self) -> PlanarPromise:
        """What is promised of any two places, with its slack."""
        projected = self.projection is not None
        return PlanarPromise(self.epsilon, slack(self.step_m, projected=projected), self.reach_m)

    @property
    def slack_m(self) -> float:
        """By how much farther apart than they are two places may seem, at most."""
        return self.promise.slack_m

    def for_places(self, points_m: ArrayLike, weights: ArrayLike, fineness: float = 0.1) -> CoordinateNoise:
        """Return the same noise with the remap that is best for weighted places.

        Args:
            points_m: Where people are, metres east and north, array (n, 2).
            weights: How often, array (n,), at least 0 and not all 0.
            fineness: The width of the table's cells in units of 1 / epsilon.

        Raises:
            InputError: If an array is not as described, or the table would have too many cells.
        """
        table = PlaneRemap.of(self._inside(points_m), weights, self._plane_epsilon, self.step_m, fineness)
        reach = REACH_M if self.projection is None else self.reach_m
        return CoordinateNoise(self.epsilon, self.step_m, self.projection, reach, table)

    def draw(self, points_m: ArrayLike) -> Floats:
        """Return one report for each place, array (n, 2) in metres, with the operating system's randomness.

        Args:
            points_m: Metres east and north, array (n, 2).

        Raises:
            InputError: If a coordinate is NaN or infinite, or too far away to be counted in steps.
        """
        return self._reports(points_m, SystemWords())

    def simulate(self, points_m: ArrayLike, seed: int) -> Floats:
        """Return reproducible reports, for studies and tests, never for release; see `draw`.

        Args:
            points_m: Metres east and north, array (n, 2).
            seed: A non-negative integer.

        Raises:
            InputError: If a coordinate is NaN or infinite, or the seed is not a non-negative integer.
        """
        return self._reports(points_m, SeededWords(seed))

    def error(self, points_m: ArrayLike, weights: ArrayLike, fineness: float = 0.1) -> PlaneError:
        """Return how far reports, and the attacker's best guesses, are from the truth on average, between bounds.

        The attacker knows the places and their weights. If the table in use is that of
        other places, the lower bound of their error is a poor one.

        Args:
            points_m: Where people truly are, metres east and north, array (n, 2).
            weights: How often, array (n,), at least 0 and not all 0.
            fineness: Of the table where none is in use.

        Raises:
            InputError: If an array is not as described.
        """
        x = self._inside(points_m)
        table = self.remap or PlaneRemap.of(x, weights, self._plane_epsilon, self.step_m, fineness)
        found = plane_error(x, weights, self.noise.rate, self.step_m, table)
        if self.remap is not None:
            return found
        return PlaneError(raw_error(x, weights, self.noise.rate, self.step_m), found.attacker)

    def describe(self) -> tuple[str, ...]:
        """Return what it does and promises, in sentences."""
        step = amount_at_most(float(self.step_m), "m")
        does = f"Places are snapped to the nearest point of a lattice of {step} and moved by noise, drawn exactly"
        table = "" if self.remap is None else "; each report is replaced by the best place for what it reveals"
        sentences = [f"{does}{table}.", f"{str(self.promise).capitalize()}."]
        if self.projection is not None:
            sentences.append(f"Places farther than {amount_at_most(self.reach_m, 'm')} are moved there first.")
        return tuple(sentences)

    def __repr__(self) -> str:
        table = "" if self.remap is None else ", remapped"
        mean_m = 2 * float(self.step_m / self.noise.rate)
        return (
            f"CoordinateNoise(epsilon {at_most(self.epsilon, 6)}/m, slack "
            f"{amount_at_most(self.slack_m, 'm')}, noise of {units.show(mean_m, 'm')} on average{table})"
        )

    @property
    def _plane_epsilon(self) -> float:
        return float(self.noise.rate / self.step_m)

    def _reports(self, points_m: ArrayLike, words: Words) -> Floats:
        x = self._inside(points_m)
        moved: NDArray[np.int64] = snapped(x, self.step_m) + self.noise.noise(len(x), words)
        if self.remap is not None:
            return self.remap.places(moved)
        return moved.astype(np.float64) * float(self.step_m)

    def _inside(self, points_m: ArrayLike) -> Floats:
        return within(floats(points_m, "the places", shape=(None, 2)), self.reach_m)


def _rounded(rate: Fraction) -> Fraction:
    """Return a rate rounded down to few bits, so that integers stay short."""
    shift = _BITS - math.floor(math.log2(rate))
    return Fraction(math.floor(rate * 2**shift), 2**shift) if shift > 0 else rate
