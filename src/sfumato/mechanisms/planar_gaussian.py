"""The planar Gaussian mechanism on cells: normal noise, rounded to cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from ..core import Mechanism, Space, units
from ..core.arrays import Floats
from ..errors import InputError
from .basis import LatticeBasis
from .clamping_window import ClampingWindow
from .continuous import Gaussian
from .family import MechanismFamily, positive

_REACH: Final = 4.0  # the margin of the window around an irregular region, in standard deviations
_ROUNDING: Final = 2.0**-38  # a row of the matrix differs from the mathematics by less in total


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class PlanarGaussian(MechanismFamily):
    """Normal noise of standard deviation sigma in x and in y, rounded to cells of a grid.

    The centre of the secret's cell is moved by the noise; the report is the cell where
    it ends, or the region's nearest one. Rounding and moving are post-processing, so two
    secrets at distance d are exactly as hard to tell apart as the mathematics of normal
    noise says, or harder: Gaussian privacy with mu = d / sigma, (epsilon, delta) with
    `delta`, zero-concentrated privacy with rho = d**2 / (2 sigma**2). No pure epsilon
    holds per unit of distance: reports far from both give away more and more.

    Attributes:
        space: The n cells.
        sigma: The standard deviation per axis, in the unit of the coordinates.
        basis: The basis of the lattice of the cells.

    Args:
        space: The cells, which are also the reports: a `Grid` or cells of one.
        sigma: A number or text such as ``"400 m"``.
        basis: The basis of their lattice, along the axes; by default the one that the cells show.

    Raises:
        InputError: If the cells are not rectangles of one lattice, or sigma is not positive.
        UnitError: If the unit of sigma does not fit.

    Source:
        Kawamoto and Murakami, ESORICS 2019, compare with planar Gaussian noise. Privacy
        of normal noise: Balle and Wang, ICML 2018; Dong, Roth and Su, 2022, theorem 2.7.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.mechanisms import PlanarGaussian
        >>> city = sf.Grid.covering("1500 m x 1500 m around 48.85,2.35", cell="500 m")
        >>> PlanarGaussian(city, "500 m").mu("1 km")
        2.0
    """

    name: ClassVar[str] = "planar Gaussian mechanism"
    space: Space
    sigma: float
    basis: LatticeBasis

    def __init__(self, space: Space, sigma: float | str, basis: LatticeBasis | None = None) -> None:
        found = LatticeBasis.of(space) if basis is None else basis
        if not found.rectangular:
            raise InputError(
                f"the steps {found.steps.tolist()} of the cells are not along the axes.",
                "use a Grid or a part of one, or PlanarGeometric, which takes any lattice.",
            )
        found.positions(space)  # refuses cells off the lattice
        object.__setattr__(self, "space", space)
        object.__setattr__(self, "sigma", positive(units.parse(sigma, unit=space.unit, what="sigma"), "sigma"))
        object.__setattr__(self, "basis", found)

    @property
    def secrets(self) -> Space:
        """The places."""
        return self.space

    @property
    def epsilon(self) -> float:
        """Infinite: see `mu` and `delta`."""
        return math.inf

    @property
    def expected_distance(self) -> float:
        """The mean length of the noise before it is rounded to cells, sigma sqrt(pi / 2)."""
        return self.sigma * math.sqrt(math.pi / 2)

    @property
    def hamming_loss(self) -> float:
        """1 minus the mean of the matrix's diagonal."""
        return 1.0 - float(np.diagonal(self.mechanism().matrix).mean())

    def mu(self, distance: float | str) -> float:
        """Return the mu of Gaussian privacy between two secrets, distance / sigma.

        Raises:
            InputError: If the distance is negative.
            UnitError: If its unit does not fit.
        """
        d = units.parse(distance, unit=self.space.unit, what="the distance")
        if d < 0:
            raise InputError(f"the distance {distance} is negative.", "use a length of at least 0.")
        return d / self.sigma

    def rho(self, distance: float | str) -> float:
        """Return the rho of zero-concentrated privacy between two secrets, mu**2 / 2."""
        return self.mu(distance) ** 2 / 2

    def delta(self, epsilon: float, distance: float | str) -> float:
        """Return a delta with which two secrets at a distance are (epsilon, delta)-indistinguishable.

        Phi(mu / 2 - epsilon / mu) - e^epsilon Phi(-mu / 2 - epsilon / mu), and
        (1 + e^epsilon) 2**-38 for the rounding of the matrix to integers.

        Args:
            epsilon: At least 0, for the pair.
            distance: A number or text such as ``"500 m"``.

        Raises:
            InputError: If an argument is negative.
            UnitError: If the unit of the distance does not fit.
        """
        mu = self.mu(distance)
        ideal = Gaussian(1.0, mu).delta(epsilon) if mu > 0 else 0.0
        return min(1.0, ideal + (1 + math.exp(min(epsilon, 700.0))) * _ROUNDING) if mu > 0 else 0.0

    def mechanism(self) -> Mechanism:
        """Return the mechanism in integers.

        Raises:
            InputError: If two cells are at the same point, or the noise reaches too far.
        """
        region = ClampingWindow.of(self.space, self.basis, "euclidean", _REACH * self.sigma)
        across, up = (float(side) for side in np.abs(region.basis.steps).sum(axis=1))
        x, y = _line(region.columns, across / self.sigma), _line(region.rows, up / self.sigma)

        def row(column: int, line: int) -> Floats:
            return np.outer(y[line], x[column])

        return Mechanism(region.matrix(row), self.space, self.space)


def _line(size: int, width: float) -> Floats:
    """Return the probabilities of normal noise between the cells of a line, whose ends take all beyond.

    Args:
        size: How many cells.
        width: The width of one, in standard deviations.

    Returns:
        Array (size, size): from cell to cell.
    """
    from scipy.special import ndtr

    offsets = np.arange(-(size - 1), size)
    # Both borders on the side of the smaller tail, so that far cells keep their digits.
    near, far = (np.abs(offsets) - 0.5) * width, (np.abs(offsets) + 0.5) * width
    inner, tail = ndtr(-near) - ndtr(-far), ndtr(-near)
    steps = np.arange(size)[None, :] - np.arange(size)[:, None] + size - 1
    matrix: Floats = inner[steps]
    matrix[:, 0] = tail[steps[:, 0]]
    matrix[:, -1] = tail[steps[:, -1]]
    return matrix if size > 1 else np.ones((1, 1))
