"""Noise on the cells of a grid: planar geometric, exact and the default for places, and planar Gaussian."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Bracket, Mechanism, Metric, MetricPrivacy, Space, units
from ..core.arguments import checked
from ..core.arrays import Floats, numbers
from ..core.bracket import bisect
from ..core.immutable import assign
from ..errors import InputError
from .cell_lattice import ClampingWindow, LatticeBasis, check_norm, norms, plane
from .family import MechanismFamily, positive
from .real_noise import Gaussian
from .strict_privacy import lower_exponents

_WIDEST: Final = 1 << 13  # steps to which sums over the lattice go
_DEEP: Final = 64.0  # exponents beyond it belong to probabilities that are lifted anyway
_LEFT: Final = 2.0**-53  # what may be left out of a sum, relative to its least term of use
_REACH: Final = 8.0  # the margin of the window around an irregular region, in units of 1 / epsilon
_ROUNDING: Final = 1e-12  # of sums of exponentials
_CHUNK: Final = 1 << 22  # offsets at a time

_GAUSSIAN_REACH: Final = 4.0  # the margin of the window around an irregular region, in standard deviations
_GAUSSIAN_ROUNDING: Final = 2.0**-38  # a row of the matrix differs from the mathematics by less in total


@checked
def planar_geometric(
    space: Space, epsilon: float | str, norm: str = "euclidean", basis: LatticeBasis | None = None
) -> Mechanism:
    """Return the planar geometric mechanism on cells, epsilon-private for the distance.

    On the infinite lattice of the cells p(z|s) = exp(-epsilon |s - z|) / Z, where Z does not depend on s; then
    every z outside the region moves to its nearest cell. No row is normalised by itself, so no epsilon is lost at
    the borders: it holds exactly, for a region of any shape, and every cell inside attains it. Raises `InputError`
    if the cells are not on a lattice or too small for the noise, or epsilon is not positive. Raises `UnitError` if
    the unit of epsilon does not fit.

    Args:
        space: The n cells, which are also the observables: a `Grid`, or places of any shape on a lattice (a masked
            grid, regular hexagons).
        epsilon: Per unit of the space's coordinates, metres for a grid; a number or text such as ``"0.6/km"``.
        norm: ``euclidean``, ``manhattan`` or ``maximum``.
        basis: The basis of their lattice; by default the one that the cells show.

    Source:
        Andrés, Bordenabe, Chatzikokolakis and Palamidessi, "Geo-indistinguishability", CCS 2013, sections 4.1 and
        4.2, with discrete noise instead of continuous; known as ``planar_geometric_grid`` from Chatzikokolakis's
        libqif. docs/proofs/places.md.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.mechanisms import planar_geometric
        >>> city = sf.Grid.covering("1500 m x 1500 m around 48.85,2.35", cell="500 m")
        >>> planar_geometric(city, "2/km").matrix[4].round(3)
        array([0.122, 0.089, 0.122, 0.089, 0.154, 0.089, 0.122, 0.089, 0.122])
    """
    return PlanarGeometric(space, epsilon, norm, basis).mechanism()


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class PlanarGeometric(MechanismFamily):
    """The planar geometric mechanism as a family; see `planar_geometric` for the arguments.

    Raises `InputError` if the cells are not on a lattice, or epsilon is not positive. Raises `UnitError` if its
    unit does not fit.
    """

    name: ClassVar[str] = "planar geometric mechanism"
    space: Space
    norm: str
    basis: LatticeBasis
    _epsilon: float

    def __init__(
        self, space: Space, epsilon: float | str, norm: str = "euclidean", basis: LatticeBasis | None = None
    ) -> None:
        rate = units.parse(epsilon, per=True, unit=space.unit, what="epsilon")
        lattice = LatticeBasis.of(space) if basis is None else basis
        lattice.positions(space)  # refuses cells off the lattice
        assign(self, space=space, norm=check_norm(norm), basis=lattice, _epsilon=positive(rate, "epsilon"))

    @property
    def secrets(self) -> Space:
        """The places."""
        return self.space

    @property
    def epsilon(self) -> float:
        """The epsilon that was given, per unit of the coordinates; cells inside the region attain it."""
        return self._epsilon

    @property
    def normaliser(self) -> Bracket:
        """Z, the sum of exp(-epsilon |z|) over the lattice, with proved bounds."""
        radius = self._radius(self._epsilon, _LEFT)
        total = self._sum(radius, 0)
        beyond = _beyond(self._epsilon * self.basis.shortest(self.norm), radius)
        return Bracket.between(total * (1 - _ROUNDING), (total + beyond) * (1 + _ROUNDING))

    @property
    def expected_distance(self) -> float:
        """The mean distance from secret to report, before reports move into the region.

        The sum of |z| exp(-epsilon |z|) / Z over the lattice, in floating point; about 2 / epsilon, the planar
        Laplace's, for much smaller cells.
        """
        radius = self._radius(self._epsilon, _LEFT**1.25)
        return self._sum(radius, 1) / self._sum(radius, 0)

    @property
    def hamming_loss(self) -> float:
        """1 minus the mean of the matrix's diagonal."""
        return 1.0 - float(np.diagonal(self.mechanism().matrix).mean())

    def pmf(self, offsets: ArrayLike) -> Floats:
        """Return the probability of noise i a + j b, array (..., 2) of i, j, before reports move into the region.

        Raises `InputError` if they are not pairs of integers.
        """
        steps = numbers(offsets, "the offsets")
        if steps.shape[-1:] != (2,) or (steps % 1 != 0).any():
            raise InputError("the offsets are not pairs of integers.", "pass the steps in both directions.")
        lengths = self.basis.lengths(steps, self.norm)
        probabilities: Floats = np.exp(-self._epsilon * lengths) / self.normaliser.value
        return probabilities

    def mechanism(self) -> Mechanism:
        """Return the mechanism in integers.

        Raises `InputError` if the cells are too small for the noise, or two are at the same point.
        """
        region = ClampingWindow.of(self.space, self.basis, self.norm, _REACH / self._epsilon)
        points, steps = plane(self.space), region.positions
        distances = norms(points[:, None] - points[None, :], self.norm)
        lengths = region.basis.lengths(steps[:, None] - steps[None, :], self.norm)
        # Rounded coordinates may lie a little nearer than the points of the lattice.
        fit = min(1.0, float(np.divide(distances, lengths, out=np.ones_like(lengths), where=lengths > 0).min()))
        exponents: Floats = self._epsilon * distances
        least = math.exp(-min(float(exponents.max()), _DEEP))
        radius = max(self._radius(self._epsilon * fit * 0.999, _LEFT * least), region.columns, region.rows)

        def build(scale: float) -> Floats:
            rate = self._epsilon * fit * scale

            def kernel(offsets: NDArray[np.int64]) -> Floats:
                return np.asarray(np.exp(-rate * region.basis.lengths(offsets, self.norm)))

            row, total = region.clamped(kernel, radius)
            return region.matrix(row) / total

        span = float(exponents.max()) + 8 * radius
        if self.norm == "maximum":  # a norm of the lattice only, not a named distance of spaces
            metric = Metric(distances, self.space.unit, name=self.norm, triangle=True)
        else:
            metric = self.space.metric(self.norm)
        promised = MetricPrivacy(self._epsilon, metric)
        return lower_exponents(build, exponents, self.space, self.space, span=span).promising(promised)

    def _radius(self, rate: float, left: float) -> int:
        """Return a number of steps beyond which less than ``left`` remains of the sum of exp(-rate |z|)."""
        decay = rate * self.basis.shortest(self.norm)
        if _beyond(decay, _WIDEST) > left:
            cells = 2 / (self._epsilon * math.sqrt(abs(float(np.linalg.det(self.basis.steps)))))
            raise InputError(
                f"the noise moves a report by about {cells:,.0f} cells: they are too small for this epsilon.",
                "use larger cells or a larger epsilon.",
            )
        return bisect(lambda radius: _beyond(decay, radius) <= left, fails=0, holds=_WIDEST).holds

    def _sum(self, radius: int, power: int) -> float:
        """Return the sum of |z|**power exp(-epsilon |z|) up to a radius; z and -z are counted at once."""
        span = np.arange(-radius, radius + 1)
        tall = max(1, _CHUNK // len(span))
        total = 0.0
        for start in range(0, radius + 1, tall):
            lines = np.arange(start, min(start + tall, radius + 1))
            lengths = self.basis.lengths(np.stack(np.broadcast_arrays(span, lines[:, None]), axis=-1), self.norm)
            terms = lengths**power * np.exp(-self._epsilon * lengths)
            total += float((terms.sum(axis=1) * np.where(lines == 0, 1.0, 2.0)).sum())
        return total


def _beyond(decay: float, radius: int) -> float:
    """Return a bound of the sum of exp(-decay r) over all offsets whose larger step r is above a radius.

    There are 8 r offsets with larger step r, and with q = exp(-decay) the sum of r q**r beyond R is q**(R + 1) (R
    + 1 - R q) / (1 - q)**2.
    """
    missing = -math.expm1(-decay)
    series = math.exp(-decay * (radius + 1)) * (1 + radius * missing) / missing**2
    return 8 * series * (1 + _ROUNDING)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class PlanarGaussian(MechanismFamily):
    """Normal noise of standard deviation sigma in x and in y, rounded to cells of a grid.

    The noise moves the centre of the secret's cell; the report is the cell where it ends, or the region's nearest
    one. Rounding and moving are post-processing, so two secrets at distance d are at least as indistinguishable as
    under normal noise: Gaussian privacy with mu = d / sigma, (epsilon, delta) with `delta`, zero-concentrated
    privacy with rho = d**2 / (2 sigma**2). No pure epsilon holds per unit of distance: the likelihood ratio grows
    with the distance of the report. Raises `InputError` if the cells are not rectangles of one lattice, or sigma
    is not positive. Raises `UnitError` if the unit of sigma does not fit.

    Args:
        space: The cells, which are also the reports: a `Grid` or cells of one.
        sigma: Per axis, in the unit of the coordinates; a number or text such as ``"400 m"``.
        basis: The basis of their lattice, along the axes; by default the one that the cells show.

    Source:
        Kawamoto and Murakami, ESORICS 2019, compare with planar Gaussian noise. Privacy of normal noise: Balle and
        Wang, ICML 2018; Dong, Roth and Su, 2022, theorem 2.7.

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
        lattice = LatticeBasis.of(space) if basis is None else basis
        if not lattice.rectangular:
            raise InputError(
                f"the steps {lattice.steps.tolist()} of the cells are not along the axes.",
                "use a Grid or a part of one, or PlanarGeometric, which takes any lattice.",
            )
        lattice.positions(space)  # refuses cells off the lattice
        scale = positive(units.parse(sigma, unit=space.unit, what="sigma"), "sigma")
        assign(self, space=space, sigma=scale, basis=lattice)

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

        Raises `InputError` if the distance is negative. Raises `UnitError` if its unit does not fit.
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

        Phi(mu / 2 - epsilon / mu) - e^epsilon Phi(-mu / 2 - epsilon / mu), and (1 + e^epsilon) 2**-38 for the
        rounding of the matrix to integers. The distance is a number or text such as ``"500 m"``. Raises
        `InputError` if an argument is negative. Raises `UnitError` if the unit of the distance does not fit.
        """
        mu = self.mu(distance)
        ideal = Gaussian(1.0, mu).delta(epsilon) if mu > 0 else 0.0
        return min(1.0, ideal + (1 + math.exp(min(epsilon, 700.0))) * _GAUSSIAN_ROUNDING) if mu > 0 else 0.0

    def mechanism(self) -> Mechanism:
        """Return the mechanism in integers.

        Raises `InputError` if two cells are at the same point, or the noise reaches too far.
        """
        region = ClampingWindow.of(self.space, self.basis, "euclidean", _GAUSSIAN_REACH * self.sigma)
        across, up = (float(side) for side in np.abs(region.basis.steps).sum(axis=1))
        x, y = _line(region.columns, across / self.sigma), _line(region.rows, up / self.sigma)

        def row(column: int, line: int) -> Floats:
            return np.outer(y[line], x[column])

        return Mechanism(region.matrix(row), self.space, self.space)


def _line(size: int, width: float) -> Floats:
    """Return the probabilities of normal noise between the cells of a line, array (size, size).

    The width of a cell is in standard deviations; the ends take the tails.
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
