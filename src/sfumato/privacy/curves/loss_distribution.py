"""Privacy loss distributions on a lattice: two-sided bounds of the composition of many mechanisms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple, Self, final

import numpy as np
from scipy import fft
from scipy.special import log_ndtr, logsumexp

from ...core.arrays import Floats, Positions, readonly
from ...core.bracket import bisect
from ...core.immutable import assign
from ...divergences import Rows, log_ratios, single
from ...errors import InputError
from ...rounding import UNIT, power
from ..rows import check_delta
from .trade_off import TradeOff

_TAIL = 1e-16  # mass that a composition may leave outside its lattice


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LossDistribution:
    """The privacy loss ln(p/q) under p, on a lattice, with bounds of all rounding.

    delta(e) = mass at infinity + sum over losses l > e of mass(l) (1 - e**(e - l))

    is the privacy profile of p against q. The mass of a loss between two points of the lattice is split over them
    so that its mass under q stays the same too. A split only adds to what an observer learns, so deltas of the
    lattice are upper bounds, for compositions too. A bound of what the splits added gives lower bounds. Both count
    the errors of floating point, the Fourier transform and the ends of the lattice. The first distribution must
    look like the other one, arrays (m,). The spacing is the distance of the points, in nats: the gap between the
    bounds falls with its square and grows with the number of compositions. Raises `InputError` if p or q is not a
    distribution, or the lattice would be too large. Its methods raise it if delta is not between 0 and 1.

    Attributes:
        masses: Array (k,), the masses at the losses ``spacing * (first + i)``.
        first: The position of the first point.
        infinite: The mass of an infinite loss: of p where q is zero.
        splits: The number of splits of a loss.
        shift: The largest rounding of a loss, in nats.
        doubt: The total mass that may be at the wrong place.

    Example:
        >>> coin = LossDistribution([0.75, 0.25], [0.25, 0.75])
        >>> ten = LossDistribution.compose([(coin, 10)])
        >>> round(ten.delta_lower(1.0), 6), round(ten.delta_upper(1.0), 6)
        (0.868248, 0.868248)

    Source:
        Koskela, Jälkö and Honkela, 2020 (Fourier accountant); Doroshenko, Ghazi, Kamath, Kumar and Manurangsi,
        "Connect the dots", 2022 (the split). Lower bounds and proofs: docs/proofs/trade-off.md.
    """

    spacing: float
    masses: Floats
    first: int
    infinite: float
    splits: int
    shift: float
    doubt: float

    def __init__(self, p: Rows, q: Rows, spacing: float = 1e-4) -> None:
        if not (0 < spacing < math.inf):
            raise InputError(f"the spacing is {spacing}.", "use a small number of nats, such as 1e-4.")
        first, second = single(p, q)
        support = (first > 0) & (second > 0)
        masses, losses = first[support], log_ratios(first[support], second[support])
        shift = 32 * UNIT * (1 + float(np.max(np.abs(losses), initial=0.0)))
        start, lattice, exact = split(masses, losses, spacing, shift)
        assign(self, spacing=spacing, masses=readonly(lattice), first=start)
        assign(self, infinite=float(first[second == 0].sum()), splits=0 if exact else 1)
        assign(self, shift=shift, doubt=4 * (len(first) + 40) * UNIT)

    @classmethod
    def of(cls, curve: TradeOff, spacing: float = 1e-4) -> Self:
        """Return the loss of the alternative against the null hypothesis of a trade-off function; spacing in nats.

        Its upper bounds hold for every pair whose trade-off function lies above the curve. ``curve.inverse`` gives
        the other order.
        """
        return cls(curve.alternative, curve.null, spacing)

    @classmethod
    def compose(cls, parts: Iterable[tuple[LossDistribution, int]]) -> LossDistribution:
        """Return the loss of independent draws, for each distribution as many as its count.

        Raises `InputError` if there is none, spacings differ, a count is below 1, or the lattice would be too
        large.
        """
        factors = list(parts)
        if not factors:
            raise InputError("nothing was given to compose.", "pass at least one distribution with its count.")
        if any(count < 1 for _, count in factors):
            raise InputError("a count is below 1.", "leave out what is not used.")
        spacings = sorted({part.spacing for part, _ in factors})
        if len(spacings) > 1:
            raise InputError(
                f"the lattices have different spacings: {', '.join(f'{spacing:g}' for spacing in spacings)}.",
                "make all loss distributions with one spacing.",
            )
        first, size = _window(factors)
        masses, error = convolve([Factor(part.masses, part.first, count) for part, count in factors], first, size)
        result = object.__new__(cls)
        # ``doubt`` includes the 2**-53 that avoids the logarithm of 0.
        log_finite = math.fsum(count * math.log1p(-min(part.infinite, 1 - UNIT)) for part, count in factors)
        splits = sum(part.splits * count for part, count in factors)
        shift = sum(part.shift * count for part, count in factors)
        doubt = error + 2 * _TAIL + sum((part.doubt + 128 * UNIT) * count for part, count in factors)
        assign(result, spacing=spacings[0], masses=readonly(masses), first=first)
        assign(result, infinite=-math.expm1(log_finite), splits=splits, shift=shift, doubt=doubt)
        return result

    def __repr__(self) -> str:
        return f"LossDistribution of {len(self.masses):,} points {self.spacing:g} apart, inf {self.infinite:.4g}"

    @property
    def losses(self) -> Floats:
        """The points of the lattice, array (k,), in nats."""
        return self.spacing * np.arange(self.first, self.first + len(self.masses), dtype=np.float64)

    def delta_upper(self, epsilon: float) -> float:
        """Return a proved upper bound of delta at an epsilon, at most 1."""
        return min(1.0, self._delta(epsilon - self.shift) + self.doubt)

    def delta_lower(self, epsilon: float) -> float:
        """Return a proved lower bound of delta at an epsilon, at least 0."""
        at = epsilon + self.shift
        excess = excess_of_splits(self.masses, self.losses, self.spacing, self.splits, self.doubt, at)
        return max(0.0, self._delta(at) - excess - self.doubt)

    def epsilon_upper(self, delta: float) -> float:
        """Return a proved upper bound of the least epsilon of at least 0 at a delta.

        It is ``inf`` where delta is no more than the mass of infinite losses and the lost mass.
        """
        return self._least_epsilon(delta, self.delta_upper, self.shift)[1]

    def epsilon_lower(self, delta: float) -> float:
        """Return a proved lower bound of the least epsilon at a delta, at least 0."""
        return self._least_epsilon(delta, self.delta_lower, 0.0)[0]

    def _least_epsilon(self, delta: float, of: Callable[[float], float], shift: float) -> tuple[float, float]:
        """Return two epsilons, at least 0, between which a falling bound of delta crosses delta."""
        check_delta(delta)
        end = float(self.losses[-1]) + self.spacing + shift
        if of(0.0) <= delta:
            return 0.0, 0.0
        if of(end) > delta:
            return math.inf, math.inf
        crossing = bisect(lambda at: of(at) <= delta, fails=0.0, holds=end, relative=1e-14)
        return crossing.fails, crossing.holds

    def _delta(self, epsilon: float) -> float:
        losses = self.losses
        above = int(np.searchsorted(losses, epsilon, side="right"))
        terms = self.masses[above:] * -np.expm1(epsilon - losses[above:])
        return self.infinite + float(np.sum(terms))


def _window(parts: list[tuple[LossDistribution, int]]) -> tuple[int, int]:
    """Return the first point and the size of a lattice that holds all but a tiny mass of the sum."""
    spacing = parts[0][0].spacing
    atoms: list[tuple[Positions, Floats, int]] = []
    for part, count in parts:
        used = np.flatnonzero(part.masses)
        if len(used) == 0:
            return 0, 1
        atoms.append((part.first + used, np.log(part.masses[used]), count))
    low = sum(count * int(points[0]) for points, _, count in atoms)
    high = sum(count * int(points[-1]) for points, _, count in atoms)
    # Chernoff: the mass beyond b is at most exp(K(t) - t b) for every t > 0.
    for tilt in np.geomspace(0.03, 3000, 32):
        above = sum(count * float(logsumexp(logs + tilt * spacing * points)) for points, logs, count in atoms)
        below = sum(count * float(logsumexp(logs - tilt * spacing * points)) for points, logs, count in atoms)
        room = -math.log(_TAIL / 2) + 1e-6
        high = min(high, math.ceil((above + room) / (tilt * spacing)))
        low = max(low, math.floor(-(below + room) / (tilt * spacing)))
    size = max(high, low) - low + 1
    if size > LARGEST:
        raise InputError(f"a lattice of spacing {spacing:g} needs {size:,} points.", "use a larger spacing.")
    return low, size


LARGEST: Final = 2**25
"""Most points of a lattice."""

_REACHES = (3.0, 4.5, 6.0, 8.0, 10.0, 14.0)  # in deviations of the moves
_EDGE = 12.0  # deviations beyond which a loss has almost no effect


def split(masses: Floats, losses: Floats, spacing: float, shift: float) -> tuple[int, Floats, bool]:
    """Return the first point, the masses on the lattice, and whether every loss lay on it."""
    if len(losses) == 0:
        return 0, np.zeros(1), True
    first = math.floor(float(losses.min()) / spacing) - 1
    size = math.floor(float(losses.max()) / spacing) + 3 - first
    if size > LARGEST:
        raise InputError(f"losses {spacing:g} apart need {size:,} points.", "use a larger spacing.")
    steps = np.floor(losses / spacing)
    offset = losses - spacing * steps
    # A loss within ``shift`` of a point counts as that point.
    offset = np.where(np.abs(offset) <= shift, 0.0, np.where(np.abs(offset - spacing) <= shift, spacing, offset))
    share = np.clip(np.expm1(-offset) / math.expm1(-spacing), 0.0, 1.0)
    below = steps.astype(np.intp) - first
    lattice = np.zeros(size)
    np.add.at(lattice, below, masses * (1 - share))
    np.add.at(lattice, below + 1, masses * share)
    return first, lattice, bool(((offset == 0) | (offset == spacing)).all())


def excess_of_splits(
    masses: Floats, losses: Floats, spacing: float, splits: int, doubt: float, epsilon: float
) -> float:
    """Return a bound of what the splits have added to delta at an epsilon.

    The moves of a loss are independent, each within an interval of one spacing, so their sum is sub-Gaussian of
    deviation s = spacing sqrt(splits) / 2. A move adds something only where it crosses epsilon, so few losses are
    near enough. The masses are those after the splits, of rising losses; ``doubt`` may be at the wrong place.
    """
    if splits == 0:
        return 0.0
    s = spacing * math.sqrt(splits) / 2
    most = splits * spacing
    peak = math.sqrt(2 * math.pi) * s * math.exp(s * s / 2)
    bounds = [peak]
    for deviations in _REACHES:
        reach = min(most, s * s / 2 + deviations * s)
        beyond = 0.0 if reach == most else 2 * math.exp(-deviations * deviations / 2)
        first, last = np.searchsorted(losses, [epsilon - reach - _EDGE * s, epsilon + reach + _EDGE * s])
        distances = np.maximum(0.0, np.abs(losses[first:last] - epsilon) - reach)
        near = float(np.sum(masses[first:last] * np.exp(log_ndtr(s - distances / s))))
        far = math.exp(float(log_ndtr(s - _EDGE)))
        bounds.append(peak * (near + far + beyond + doubt))
    return (1 + 1e-9) * min(bounds)


class Factor(NamedTuple):
    """Independent copies of a lattice variable: masses of sum at most one, and the point of the first."""

    masses: Floats
    first: int
    copies: int


def convolve(factors: list[Factor], first: int, size: int) -> tuple[Floats, float]:
    """Return the masses of the sum on a window of the lattice, and a bound of the sum of their absolute errors.

    Masses outside the window are either missing or have been added to one inside. The bound is derived in
    docs/proofs/trade-off.md from Higham, Accuracy and Stability of Numerical Algorithms, theorem 24.2.
    """
    length = 2 ** max(1, math.ceil(math.log2(size)))
    level = 16 * UNIT * math.log2(length)
    product = np.ones(length // 2 + 1, dtype=np.complex128)
    norms, copies, within, by_norm, by_size = [], 0, 0, 0.0, 0.0
    for masses, start, count in factors:
        padded = np.zeros(-(-len(masses) // length) * length)
        padded[: len(masses)] = masses
        folded = padded.reshape(-1, length).sum(axis=0)
        transform = fft.rfft(folded)
        product *= power(transform, count)
        norm = float(np.linalg.norm(folded))
        norms.append(norm)
        copies, within = copies + count, within + count * start
        by_norm += count * level * norm
        by_size += count * level * _mean(np.abs(transform) ** (count - 1), length)
    least = min(norms)
    by_norm += (8 * copies * UNIT + level) * least
    by_size += (8 * copies * UNIT + level) * _mean(np.abs(product), length)
    sums = fft.irfft(product, length)
    # Masses that rounding made negative are 0.
    window = np.maximum(sums[(first - within + np.arange(size)) % length], 0.0)
    return window, 1.1 * min(math.sqrt(size) * by_norm, size * by_size)


def _mean(half: Floats, length: int) -> float:
    """Return an upper bound of the mean over all frequencies, from half of them."""
    return 2 * float(np.sum(half)) / length
