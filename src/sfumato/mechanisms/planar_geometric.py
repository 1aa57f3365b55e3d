"""The planar geometric mechanism: exact noise on cells, the default for places."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Bracket, Mechanism, Metric, MetricPrivacy, Space, units
from ..core.arguments import checked
from ..core.arrays import Floats, numbers
from ..core.bisection import bisect
from ..errors import InputError
from .basis import LatticeBasis, check_norm, norms, plane
from .clamping_window import ClampingWindow
from .family import MechanismFamily, positive
from .strict import lowered

_WIDEST: Final = 1 << 13  # steps to which sums over the lattice go
_DEEP: Final = 64.0  # exponents beyond it belong to probabilities that are lifted anyway
_LEFT: Final = 2.0**-53  # what may be left out of a sum, relative to its least term of use
_REACH: Final = 8.0  # the margin of the window around an irregular region, in units of 1 / epsilon
_ROUNDING: Final = 1e-12  # of sums of exponentials
_CHUNK: Final = 1 << 22  # offsets at a time


@checked
def planar_geometric(
    space: Space, epsilon: float | str, norm: str = "euclidean", basis: LatticeBasis | None = None
) -> Mechanism:
    """Return the planar geometric mechanism on cells, epsilon-private for the distance.

    On the infinite lattice of the cells p(z|s) = exp(-epsilon |s - z|) / Z, where Z does
    not depend on s; then every z outside the region moves to the nearest cell of it. No
    row is normalised for itself, so nothing of epsilon is lost at the borders: it is
    kept exactly, for a region of any shape, and used up by every cell inside.

    Args:
        space: The n cells, which are also the observables: a `Grid`, or places of any
            shape on a lattice (a masked grid, regular hexagons).
        epsilon: Per unit of the space's coordinates, metres for a grid; a number or text
            such as ``"0.6/km"``.
        norm: ``euclidean``, ``manhattan`` or ``maximum``.
        basis: The basis of their lattice; by default the one that the cells show.

    Raises:
        InputError: If the cells are not on a lattice or too small for the noise, or
            epsilon is not positive.
        UnitError: If the unit of epsilon does not fit.

    Source:
        Andrés, Bordenabe, Chatzikokolakis and Palamidessi, "Geo-indistinguishability",
        CCS 2013, sections 4.1 and 4.2, with discrete noise in place of continuous; known
        as ``planar_geometric_grid`` from Chatzikokolakis's libqif. docs/proofs/places.md.

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
    """The planar geometric mechanism as a family; see `planar_geometric`.

    Attributes:
        space: The n cells.
        norm: ``euclidean``, ``manhattan`` or ``maximum``.
        basis: The basis of the lattice of the cells.

    Args:
        space: The cells.
        epsilon: Per unit of the space's coordinates; a number or text such as ``"0.6/km"``.
        norm: The norm of the distances.
        basis: The basis of their lattice; by default the one that the cells show.

    Raises:
        InputError: If the cells are not on a lattice, or epsilon is not positive.
        UnitError: If its unit does not fit.
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
        found = LatticeBasis.of(space) if basis is None else basis
        found.positions(space)  # refuses cells off the lattice
        object.__setattr__(self, "space", space)
        object.__setattr__(self, "norm", check_norm(norm))
        object.__setattr__(self, "basis", found)
        object.__setattr__(self, "_epsilon", positive(rate, "epsilon"))

    @property
    def secrets(self) -> Space:
        """The places."""
        return self.space

    @property
    def epsilon(self) -> float:
        """As given, per unit of the coordinates; cells that no report from outside moves to attain it."""
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

        The sum of |z| exp(-epsilon |z|) / Z over the lattice, in floating point; about
        2 / epsilon, the planar Laplace's, where cells are small against it.
        """
        radius = self._radius(self._epsilon, _LEFT**1.25)
        return self._sum(radius, 1) / self._sum(radius, 0)

    @property
    def hamming_loss(self) -> float:
        """1 minus the mean of the matrix's diagonal."""
        return 1.0 - float(np.diagonal(self.mechanism().matrix).mean())

    def pmf(self, offsets: ArrayLike) -> Floats:
        """Return the probability of noise i a + j b, before reports move into the region.

        Args:
            offsets: i and j, array (..., 2) of integers.

        Raises:
            InputError: If they are not pairs of integers.
        """
        given = numbers(offsets, "the offsets")
        if given.shape[-1:] != (2,) or (given % 1 != 0).any():
            raise InputError("the offsets are not pairs of integers.", "pass the steps in both directions.")
        lengths = self.basis.lengths(given, self.norm)
        probabilities: Floats = np.exp(-self._epsilon * lengths) / self.normaliser.value
        return probabilities

    def mechanism(self) -> Mechanism:
        """Return the mechanism in integers.

        Raises:
            InputError: If the cells are too small for the noise, or two are at the same point.
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
                weights: Floats = np.exp(-rate * region.basis.lengths(offsets, self.norm))
                return weights

            row, total = region.clamped(kernel, radius)
            return region.matrix(row) / total

        span = float(exponents.max()) + 8 * radius
        known = self.norm != "maximum"  # a norm of the lattice only, not a named distance of spaces
        metric = (
            self.space.metric(self.norm)
            if known
            else Metric(distances, self.space.unit, name=self.norm, triangle=True)
        )
        promised = MetricPrivacy(self._epsilon, metric)
        return lowered(build, exponents, self.space, self.space, span=span).promising(promised)

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
    """Return a bound of the sum of exp(-decay r) over all offsets of which the larger step r is above a radius.

    There are 8 r offsets with larger step r, and with q = exp(-decay) the sum of r q**r
    beyond R is q**(R + 1) (R + 1 - R q) / (1 - q)**2.
    """
    missing = -math.expm1(-decay)
    series = math.exp(-decay * (radius + 1)) * (1 + radius * missing) / missing**2
    return 8 * series * (1 + _ROUNDING)
