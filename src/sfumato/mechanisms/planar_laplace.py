"""The planar Laplace mechanism in real numbers, for studies only, and what finite precision costs it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..core import units
from ..core.arrays import Floats, numbers
from ..core.bisection import bisect
from ..errors import InfeasibleError, InputError
from .family import positive
from .noise import RealNoise


@dataclass(frozen=True, slots=True, repr=False)
class PlanarLaplace(RealNoise):
    """Density epsilon**2 / (2 pi) exp(-epsilon r) at distance r: epsilon-private per unit, in real numbers.

    For studies only: in doubles the last bits of a report give the secret away. To release
    places use `PlanarGeometric`, which is exact.

    Attributes:
        sensitivity: 1: epsilon is per unit of the distance.
        unit: The unit of the coordinates.

    Args:
        epsilon: Per unit; a number or text such as ``"0.6/km"``.
        unit: The unit of the coordinates.

    Raises:
        InputError: If epsilon is not positive.
        UnitError: If its unit does not fit.

    Source:
        Andrés, Bordenabe, Chatzikokolakis and Palamidessi, "Geo-indistinguishability",
        CCS 2013, section 4.

    Example:
        >>> from sfumato.mechanisms import PlanarLaplace
        >>> noise = PlanarLaplace("6.931471805599453/km")  # a factor 2 per 100 m
        >>> noise.absolute, noise.median, float(noise.quantile(0.95))
        (288.539..., 242.134..., 684.394...)
    """

    instead: ClassVar[str] = "PlanarGeometric, which draws cells of a grid exactly"
    name: ClassVar[str] = "planar Laplace noise"
    _epsilon: float
    sensitivity: float
    unit: str

    def __init__(self, epsilon: float | str, unit: str = "m") -> None:
        rate = units.parse(epsilon, per=True, unit=unit, what="epsilon")
        object.__setattr__(self, "_epsilon", positive(rate, "epsilon"))
        object.__setattr__(self, "sensitivity", 1.0)
        object.__setattr__(self, "unit", units.canonical(unit))

    @property
    def epsilon(self) -> float:
        """As given, per unit of the coordinates."""
        return self._epsilon

    @property
    def absolute(self) -> float:
        """The mean distance from secret to report, 2 / epsilon."""
        return 2 / self._epsilon

    @property
    def median(self) -> float:
        """The distance that half of the reports exceed, 1.6783 / epsilon."""
        return float(self.quantile(0.5))

    @property
    def variance(self) -> float:
        """The mean squared distance, 6 / epsilon**2: 3 / epsilon**2 on either axis."""
        return 6 / self._epsilon**2

    def density(self, value: ArrayLike) -> Floats:
        """Return epsilon**2 / (2 pi) exp(-epsilon r) for offsets (..., 2), per unit of area."""
        x = _points(value, "the offsets")
        densities: Floats = (
            self._epsilon**2 / (2 * math.pi) * np.exp(-self._epsilon * np.hypot(x[..., 0], x[..., 1]))
        )
        return densities

    def cdf(self, radius: ArrayLike) -> Floats:
        """Return the probability of a report within a distance, 1 - (1 + epsilon r) exp(-epsilon r).

        Args:
            radius: Distances of at least 0, of any shape.
        """
        from scipy.special import gammainc

        r = numbers(radius, "the radius")
        if not (r >= 0).all():
            raise InputError("a radius is negative or not a number.", "use distances of at least 0.")
        shares: Floats = gammainc(2.0, self._epsilon * r)  # the same, without cancellation
        return shares

    def quantile(self, share: ArrayLike) -> Floats:
        """Return the distance within which a share of the reports lies.

        -(W((share - 1) / e) + 1) / epsilon, with the branch -1 of Lambert's W.

        Args:
            share: Probabilities from 0 to below 1, of any shape.

        Raises:
            InputError: If a share is out of range.
        """
        from scipy.special import gammaincinv

        p = numbers(share, "the share")
        if not ((p >= 0) & (p < 1)).all():
            raise InputError("a share is not between 0 and 1.", "use 0.95 for 95 %.")
        radii: Floats = gammaincinv(2.0, p) / self._epsilon  # the same; scipy's W loses its digits near share 0
        return radii

    def simulate(self, answers: ArrayLike, generator: np.random.Generator) -> Floats:
        """Return places with textbook noise, in floats: for studies of it and of attacks on it.

        Args:
            answers: Places, array (..., 2) in the unit of the coordinates.
            generator: numpy's generator, seeded.
        """
        given = _points(answers, "the places")
        angle = generator.uniform(0, 2 * math.pi, given.shape[:-1])
        radius = self.quantile(generator.random(given.shape[:-1]))
        noisy: Floats = given + np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
        return noisy


def rounded_epsilon(epsilon: float, step: float, widest: float, precision: float = 2.0**-52) -> float:
    """Return the epsilon of planar Laplace noise drawn with finite precision and rounded to a grid.

    epsilon + ln((q + 2 e^(epsilon u)) / (q - 2 e^(epsilon u))) / u with
    q = u / (r precision). It bounds what the rounding of angles and radii to multiples of
    the precision costs, within the radius r; it says nothing of a generator whose
    functions round otherwise, and of doubles that are not rounded to the grid. So it is
    for studies; `PlanarGeometric` needs no such correction.

    Args:
        epsilon: Of the noise, per unit.
        step: u, the side of a cell of the grid, in the unit.
        widest: r, the largest distance of report and secret, in the unit.
        precision: Of the angle.

    Raises:
        InputError: If an argument is not positive.
        InfeasibleError: If the grid is too fine for the precision, so that no bound is known.

    Source:
        Andrés, Bordenabe, Chatzikokolakis and Palamidessi, CCS 2013, theorem 4.1.

    Example:
        >>> from sfumato.mechanisms import rounded_epsilon
        >>> round(rounded_epsilon(0.006931471806, 0.001, 1e5), 5)  # a grid of millimetres
        0.00702
    """
    for value, what in (
        (epsilon, "epsilon"),
        (step, "the step"),
        (widest, "the radius"),
        (precision, "precision"),
    ):
        positive(value, what)
    fineness = step / (widest * precision)
    growth = 2 * math.exp(min(epsilon * step, 700.0))
    if not growth < fineness:
        raise InfeasibleError(
            f"a grid of {step:g} within {widest:g} is too fine for a precision of {precision:.3g}.",
            "use larger cells, a smaller radius, or PlanarGeometric, which is exact.",
        )
    return (epsilon + 2 * math.atanh(growth / fineness) / step) * (1 + 2.0**-49)  # its rounding, upwards


def epsilon_before_rounding(target: float, step: float, widest: float, precision: float = 2.0**-52) -> float:
    """Return the largest epsilon of the noise whose `rounded_epsilon` is at most a target.

    Args:
        target: Wanted, per unit.
        step: The side of a cell of the grid.
        widest: The largest distance of report and secret.
        precision: Of the angle.

    Raises:
        InputError: If an argument is not positive.
        InfeasibleError: If no epsilon reaches the target.
    """
    most = positive(target, "epsilon")
    found = bisect(
        lambda epsilon: _reaches(epsilon, target, step, widest, precision), fails=most, holds=0.0, steps=200
    ).holds
    if found < target * 1e-12:
        raise InfeasibleError(
            f"no noise keeps epsilon {target:g} on a grid of {step:g} within {widest:g}.",
            "use larger cells, a smaller radius, or PlanarGeometric, which is exact.",
        )
    return found


def _reaches(epsilon: float, target: float, step: float, widest: float, precision: float) -> bool:
    try:
        return rounded_epsilon(epsilon, step, widest, precision) <= target
    except InfeasibleError:
        return False


def _points(value: ArrayLike, what: str) -> Floats:
    points = numbers(value, what)
    if points.shape[-1:] != (2,):
        raise InputError(f"{what} have shape {points.shape}.", "pass x and y: an array (..., 2).")
    return points
