"""Noise on the cells of a region: planar geometric, exact and the default for places, and planar Gaussian."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Bracket, Mechanism, Metric, MetricPrivacy, Space, units
from ..core.arrays import Floats, floats, numbers
from ..core.bracket import bisect
from ..core.immutable import CompactRepr, assign
from ..errors import InputError
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
NORMS: Final = {"euclidean": 2.0, "manhattan": 1.0, "maximum": math.inf}  # each with its exponent
_WHOLE = 1e-6  # of a step: how far from the lattice rounded coordinates may lie
_FLAT = 1e-6  # sine of the least angle between two steps
Integers = NDArray[np.int64]
_LARGEST_WINDOW = 1 << 20  # cells
Window = Callable[[int, int], Floats]
"""The probabilities of all cells of a window, array (rows, columns), for a secret at (column, row)."""


def planar_geometric(
    space: Space, epsilon: float | str, norm: str = "euclidean", basis: LatticeBasis | None = None
) -> Mechanism:
    """Return the planar geometric mechanism on cells, epsilon-private for the distance.

    On the infinite lattice of the cells p(z|s) = exp(-epsilon |s - z|) / Z, where Z does not depend on s; then
    every z outside the region moves to its nearest cell. No row is normalised by itself, so no epsilon is lost at
    the borders: it holds exactly, for a region of any shape, and every cell inside attains it. Raises `InputError`
    if the cells are not on a lattice or too small for the noise, or epsilon is not positive. Raises `UnitError` if
    the unit of epsilon does not fit. The n cells are also the observables: a `Grid`, or places of any shape on a
    lattice (a masked grid, regular hexagons), with its ``basis`` by default the one that they show. Epsilon is per
    unit of the coordinates, metres for a grid; a number or text such as ``"0.6/km"``. The norm is ``euclidean``,
    ``manhattan`` or ``maximum``.

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
    """The planar geometric mechanism as a family; see `planar_geometric` for the arguments and errors."""

    name: ClassVar[str] = "planar geometric mechanism"
    space: Space
    norm: str
    basis: LatticeBasis
    _epsilon: float

    def __init__(
        self, space: Space, epsilon: float | str, norm: str = "euclidean", basis: LatticeBasis | None = None
    ) -> None:
        rate = units.parse(epsilon, per=True, unit=space.unit, subject="epsilon")
        lattice = LatticeBasis.of(space) if basis is None else basis
        lattice.positions(space)  # refuses cells off the lattice
        if norm not in NORMS:
            raise InputError(f"the norm {norm!r} is unknown.", f"use one of {', '.join(NORMS)}.")
        assign(self, space=space, norm=norm, basis=lattice, _epsilon=positive(rate, "epsilon"))

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
        beyond = _tail_bound(self._epsilon * self.basis.shortest(self.norm), radius)
        return Bracket.of_bounds(total * (1 - _ROUNDING), (total + beyond) * (1 + _ROUNDING))

    @property
    def expected_distance(self) -> float:
        """The mean distance from secret to report, before reports move into the region.

        The sum of |z| exp(-epsilon |z|) / Z over the lattice, in floating point; about 2 / epsilon, the planar
        Laplace's, for much smaller cells.
        """
        radius = self._radius(self._epsilon, _LEFT**1.25)
        return self._sum(radius, 1) / self._sum(radius, 0)

    def pmf(self, offsets: ArrayLike) -> Floats:
        """Return the probability of noise i a + j b, i and j in an array (..., 2); `InputError` if not whole."""
        steps = numbers(offsets, "the offsets")
        if steps.shape[-1:] != (2,) or (steps % 1 != 0).any():
            raise InputError("the offsets are not pairs of integers.", "pass the steps in both directions.")
        lengths = self.basis.lengths(steps, self.norm)
        return np.exp(-self._epsilon * lengths) / self.normaliser.value

    def mechanism(self) -> Mechanism:
        """Return the mechanism in integers; `InputError` for two cells at one point, or too small ones."""
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

            row, total = region.clamp_noise(kernel, radius)
            return region.matrix(row) / total

        span = float(exponents.max()) + 8 * radius
        if self.norm == "maximum":  # a norm of the lattice only, not a named distance of spaces
            metric = Metric(distances, self.space.unit, name=self.norm, triangle=True)
        else:
            metric = self.space.metric(self.norm)
        guarantee = MetricPrivacy(self._epsilon, metric)
        return lower_exponents(build, exponents, self.space, self.space, span=span).promising(guarantee)

    def _radius(self, rate: float, left: float) -> int:
        """Return a number of steps beyond which less than ``left`` remains of the sum of exp(-rate |z|)."""
        decay = rate * self.basis.shortest(self.norm)
        if _tail_bound(decay, _WIDEST) > left:
            cells = 2 / (self._epsilon * math.sqrt(abs(float(np.linalg.det(self.basis.steps)))))
            raise InputError(
                f"the noise moves a report by about {cells:,.0f} cells: they are too small for this epsilon.",
                "use larger cells or a larger epsilon.",
            )
        return bisect(lambda radius: _tail_bound(decay, radius) <= left, fails=0, holds=_WIDEST).holds

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


def _tail_bound(decay: float, radius: int) -> float:
    """Return a bound of the sum of exp(-decay r) over all offsets whose larger step r is above a radius.

    There are 8 r such offsets; with q = exp(-decay) the sum of r q**r is q**(R + 1) (R + 1 - R q) / (1 - q)**2.
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
    with the distance of the report. The cells are also the reports: a `Grid` or cells of one, with the basis of
    their lattice along the axes, by default the one that they show. Sigma is in the unit of the coordinates; a
    number or text such as ``"400 m"``. Raises `InputError` if the cells are not rectangles of one lattice, or
    sigma is not positive. Raises `UnitError` if the unit of sigma does not fit.

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
        scale = positive(units.parse(sigma, unit=space.unit, subject="sigma"), "sigma")
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

    def mu(self, distance: float | str) -> float:
        """Return distance / sigma, the mu of Gaussian privacy between two secrets; errors as for `delta`."""
        d = units.parse(distance, unit=self.space.unit, subject="the distance")
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
        """Return the mechanism in integers; `InputError` for two cells at one point, or too wide noise."""
        region = ClampingWindow.of(self.space, self.basis, "euclidean", _GAUSSIAN_REACH * self.sigma)
        across, up = (float(side) for side in np.abs(region.basis.steps).sum(axis=1))
        x, y = _line(region.columns, across / self.sigma), _line(region.rows, up / self.sigma)

        def row(column: int, line: int) -> Floats:
            return np.outer(y[line], x[column])

        return Mechanism(region.matrix(row), self.space, self.space)


def _line(size: int, width: float) -> Floats:
    """Return probabilities of normal noise between a line's cells, array (size, size); the ends take the tails."""
    from scipy.special import ndtr

    offsets = np.arange(-(size - 1), size)
    # Both borders on the side of the smaller tail, so that far cells keep their digits.
    near, far = (np.abs(offsets) - 0.5) * width, (np.abs(offsets) + 0.5) * width
    inner, tail = ndtr(-near) - ndtr(-far), ndtr(-near)
    steps = np.arange(size)[None, :] - np.arange(size)[:, None] + size - 1
    matrix: Floats = inner[steps]
    matrix[:, [0, -1]] = tail[steps[:, [0, -1]]]
    return matrix if size > 1 else np.ones((1, 1))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LatticeBasis(CompactRepr):
    """The two steps that span a lattice: the points i a + j b of the plane, for integers i and j.

    The rows of ``steps`` are a and b, in the unit of the coordinates. Raises `InputError` if the vectors are
    (nearly) parallel.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.mechanisms import LatticeBasis
        >>> LatticeBasis.of(sf.Grid.covering("8 km x 6 km around 48.85,2.35", cell="500 m")).steps
        array([[500.,   0.],
               [  0., 500.]])
    """

    steps: Floats

    def __init__(self, steps: ArrayLike) -> None:
        vectors = floats(steps, "the steps of a lattice", shape=(2, 2))
        if not abs(np.linalg.det(vectors)) > _FLAT * math.prod(np.linalg.norm(vectors, axis=1).tolist()):
            raise InputError(
                f"the steps {vectors.tolist()} of the lattice are parallel.",
                "pass two vectors that span the plane.",
            )
        object.__setattr__(self, "steps", vectors)

    @classmethod
    def hexagonal(cls, width: float) -> LatticeBasis:
        """Return the basis of the centres of regular hexagons of a width, between opposite sides."""
        return cls([[width, 0.0], [width / 2, width * math.sqrt(0.75)]])

    @classmethod
    def of(cls, space: Space) -> LatticeBasis:
        """Return the basis of a grid, or one that neighbours suggest; `InputError` for places on a line."""
        from scipy.spatial import cKDTree

        from ..geo import Grid

        if isinstance(space, Grid):
            return cls(np.diag(space.cell_m))
        points = plane(space)
        _, near = cKDTree(points).query(points, k=min(len(points), 9))
        around = points[near[:, 1:]] - points[:, None] if near.ndim == 2 else np.empty((0, 1, 2))
        vectors = around.reshape(-1, 2)
        vectors = vectors[vectors.any(axis=1)]
        vectors = np.where((vectors @ [1.0, 1e-3] < 0)[:, None], -vectors, vectors)
        if len(vectors):
            lengths = np.linalg.norm(vectors, axis=1)
            # Rounded, so that of equally long vectors the first neighbours decide, and no last bit.
            vectors = vectors[np.argsort(np.round(lengths / lengths.min(), 6), kind="stable")]
            first = vectors[0]
            across = np.abs(vectors[:, 0] * first[1] - vectors[:, 1] * first[0])
            aside = across > _FLAT * np.linalg.norm(vectors, axis=1) * np.linalg.norm(first)
            if aside.any():
                return cls(np.array([first, vectors[np.argmax(aside)]]))
        raise InputError(
            f"the {len(space)} places lie on a line, which does not show the lattice that they are on.",
            "pass basis=LatticeBasis([[width, 0], [0, height]]), or use geometric() for numbers.",
        )

    @property
    def rectangular(self) -> bool:
        """Whether the steps are along the axes."""
        return bool(np.count_nonzero(self.steps) == 2)

    def swap_steps(self) -> LatticeBasis:
        """Return the same basis with its steps in the other order."""
        return LatticeBasis(self.steps[::-1])

    def positions(self, space: Space) -> Integers:
        """Return i and j of each place from the first one, array (n, 2); `InputError` if off the lattice."""
        points = plane(space)
        coordinates = np.linalg.solve(self.steps.T, (points - points[0]).T).T
        whole = np.round(coordinates)
        off = np.abs(coordinates - whole).max(axis=1)
        if (off > _WHOLE).any():
            i = int(np.argmax(off))
            raise InputError(
                f"the place {space.labels[i]!r} is {off[i]:.3g} steps off the lattice of {self.steps.tolist()}.",
                "use a Grid or a part of one, pass basis=, or use exponential(), which takes places anywhere.",
            )
        return whole.astype(np.int64)

    def lengths(self, offsets: NDArray[np.int64] | Floats, norm: str) -> Floats:
        """Return the norm of i a + j b for offsets (..., 2)."""
        return norms(offsets @ self.steps, norm)

    def shortest(self, norm: str) -> float:
        """Return c > 0 with norm(i a + j b) >= c max(|i|, |j|) for all i and j."""
        least = float(np.linalg.svd(self.steps, compute_uv=False)[-1])
        if self.rectangular:
            least = float(np.abs(self.steps).sum(axis=1).min())
        elif NORMS[norm] > 2:
            least /= math.sqrt(2)
        return least * (1 - 1e-12)


def norms(vectors: Floats, norm: str) -> Floats:
    """Return the norms of vectors of the plane, array (..., 2) to (...)."""
    x, y = np.abs(vectors[..., 0]), np.abs(vectors[..., 1])
    lengths = {"manhattan": np.add, "maximum": np.maximum}
    return np.asarray(lengths[norm](x, y) if norm in lengths else np.sqrt(x**2 + y**2))


def plane(space: Space) -> Floats:
    """Return the coordinates of places on the plane, array (n, 2); `InputError` if there are none."""
    points = space.coordinates
    if points is None or points.shape[1] != 2 or space.unit == "degree":
        raise InputError(
            f"{space!r} has no coordinates on a plane.", "use a Grid, or pass two coordinates in metres per place."
        )
    return points


@dataclass(frozen=True, slots=True, eq=False)
class ClampingWindow:
    """The cells of a space on a lattice, with a window around them, which is the region if that is a rectangle.

    A report in the window moves to the nearest cell of the region; one beyond it first moves along the steps of
    the lattice to the window's border. This is post-processing. The window has no more columns than rows.
    ``positions`` are the column and row of each of the n cells, and ``nearest`` the cell that each of the window's
    moves to.
    """

    basis: LatticeBasis
    positions: NDArray[np.int64]
    columns: int
    rows: int
    nearest: NDArray[np.intp]

    @classmethod
    def of(cls, space: Space, basis: LatticeBasis, norm: str, reach: float) -> ClampingWindow:
        """Return the window of a space, with a margin as wide as the reach where it needs one."""
        positions = basis.positions(space)
        positions -= positions.min(axis=0)
        if len(np.unique(positions, axis=0)) < len(positions):
            raise InputError("two places lie at the same point.", "put them into one.")
        if positions[:, 0].max() > positions[:, 1].max():
            positions, basis = positions[:, ::-1], basis.swap_steps()
        full = int(np.prod(positions.max(axis=0) + 1)) == len(positions)
        margin = 0 if full and basis.rectangular else 1 + int(reach / basis.shortest(norm))
        positions = positions + margin
        columns, rows = (int(size) for size in positions.max(axis=0) + 1 + margin)
        if columns * rows > _LARGEST_WINDOW:
            raise InputError(
                f"the noise reaches over {columns:,} x {rows:,} cells around the region.",
                "use larger cells or a larger epsilon, or a region that fills a rectangle.",
            )
        from scipy.spatial import cKDTree

        cells = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2)
        _, nearest = cKDTree(positions @ basis.steps).query(cells @ basis.steps, p=NORMS[norm])
        return cls(basis, positions, columns, rows, np.asarray(nearest, dtype=np.intp))

    def matrix(self, row: Window) -> Floats:
        """Return p(o|s), array (n, n), of the window's probabilities after the moves."""
        matrix = np.empty((len(self.positions), len(self.positions)))
        for s, (column, line) in enumerate(self.positions.tolist()):
            matrix[s] = np.bincount(self.nearest, row(column, line).ravel(), len(matrix))
        return matrix

    def clamp_noise(self, kernel: Callable[[NDArray[np.int64]], Floats], radius: int) -> tuple[Window, float]:
        """Return the window's probabilities for noise of a kernel, times the kernel's sum, and that sum.

        All terms are positive, so every entry has a relative error of at most about 4 ``radius`` roundings and
        what lies beyond the radius. The kernel takes offsets (..., 2) in steps to weights of at least 0.
        """
        span = np.arange(-radius, radius + 1)
        tall = max(1, _CHUNK // len(span))
        parts = []
        for start in range(0, len(span), tall):
            chunk = span[start : start + tall]
            offsets = np.stack(np.broadcast_arrays(span[None, :], chunk[:, None]), axis=-1)
            parts.append(ranges(kernel(offsets), self.columns, axis=1))
        table = ranges(np.concatenate(parts, axis=1).swapaxes(0, 1), self.rows, axis=0)
        # table[kind of row, offset of row, kind of column, offset of column]
        i, j = np.arange(self.columns), np.arange(self.rows)
        kinds_i, kinds_j = kinds(self.columns), kinds(self.rows)
        total = float(table[kinds_j[:, None], (j + self.rows - 1)[:, None], kinds_i, i + self.columns - 1].sum())

        def row(column: int, line: int) -> Floats:
            across, up = i - column + self.columns - 1, j - line + self.rows - 1
            return table[kinds_j[:, None], up[:, None], kinds_i[None, :], across[None, :]]

        return row, total


def ranges(kernel: Floats, size: int, axis: int) -> Floats:
    """Return sums of a kernel over all offsets up to i, only i, and from i on, |i| < size; of all for one cell.

    The sums are the first axis of the answer, and i takes the place of the kernel's axis.
    """
    weights = np.moveaxis(kernel, axis, 0)
    if size == 1:
        sums = weights.sum(axis=0)[None, None]
    else:
        middle = len(weights) // 2
        near = slice(middle - size + 1, middle + size)
        up, down = np.cumsum(weights, axis=0), np.cumsum(weights[::-1], axis=0)[::-1]
        sums = np.stack([up[near], weights[near], down[near]])
    return np.moveaxis(sums, 1, axis + 1)


def kinds(size: int) -> NDArray[np.intp]:
    """Return which of the `ranges` of offsets ends at each of a line's cells."""
    if size == 1:
        return np.zeros(1, dtype=np.intp)
    return np.concatenate([[0], np.ones(size - 2, dtype=np.intp), [2]]).astype(np.intp)
