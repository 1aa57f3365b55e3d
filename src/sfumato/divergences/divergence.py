"""Divergences of distributions: the interface, f-divergences and Rényi divergences."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike

from ..core import SUM_TOLERANCE, Mechanism, Prior
from ..core.arrays import Floats, numbers, readonly
from ..core.immutable import CompactRepr
from ..errors import InputError

Rows = Mechanism | Prior | ArrayLike
"""One distribution, array (m,), or several, array (..., m)."""
_NEAR = 1e-4  # below this relative difference the terms cancel, and their series is exact

_PROBES: Final[Floats] = np.ldexp(1.0, np.arange(-24, 25))
_SLACK: Final = 1e-9
_LARGEST: Final = 1e300  # floats do not distinguish larger orders from the max divergence


def distributions(value: Rows, subject: str) -> Floats:
    """Return a read-only float array (..., m) of distributions along the last axis, such as a mechanism's rows.

    Raises `InputError` if an entry is negative, NaN or infinite, or a sum is not one within 1e-9.
    """
    if isinstance(value, Prior):
        return value.probabilities
    if isinstance(value, Mechanism):
        return value.matrix
    array = numbers(value, subject)
    if array.ndim == 0 or array.size == 0:
        raise InputError(f"{subject} is not an array of probabilities.", "pass one probability per observable.")
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise InputError(
            f"{subject} holds {array[where]:g} at position {where[0] if len(where) == 1 else where}.",
            "a probability is a finite number of at least 0.",
        )
    sums = array.sum(axis=-1)
    error = np.abs(sums - 1.0)
    if (error > SUM_TOLERANCE).any():
        total = float(np.ravel(sums)[int(np.argmax(error))])
        raise InputError(
            f"{subject} sums to {total:.12g}, not to 1.",
            "a distribution sums to 1 within 1e-9; nothing is renormalised silently.",
        )
    return readonly(array)


def pair(first: Rows, second: Rows) -> tuple[Floats, Floats]:
    """Return two checked arrays (..., m), broadcast against each other."""
    p, q = distributions(first, "the first distribution"), distributions(second, "the second distribution")
    if p.shape[-1] != q.shape[-1]:
        raise InputError(
            f"the first distribution has {p.shape[-1]} probabilities and the second {q.shape[-1]}.",
            "a divergence compares distributions on the same observables, in the same order.",
        )
    try:
        p, q = np.broadcast_arrays(p, q)
    except ValueError:
        raise InputError(
            f"arrays of distributions of shapes {p.shape} and {q.shape} cannot be broadcast.",
            "pass as many first as second distributions, or one of either.",
        ) from None
    return p, q


def single(first: Rows, second: Rows) -> tuple[Floats, Floats]:
    """Return one checked pair, two arrays (m,)."""
    p, q = pair(first, second)
    if p.ndim != 1:
        raise InputError(
            f"arrays of shape {p.shape} were given, but one pair of distributions is needed.",
            "pass two rows, or use rows() of a divergence for many pairs at once.",
        )
    return p, q


def log_ratios(p: Floats, q: Floats) -> Floats:
    """Return ln(p / q) with all digits: inf where only q is zero, -inf where p is zero."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        ratio = p / q
        logs: Floats = np.log(ratio)
        difference = (p - q) / q
        np.log1p(difference, out=logs, where=np.abs(difference) < 0.5)
        far = ~((ratio > 1e-290) & (ratio < 1e290))
        np.subtract(np.log(p), np.log(q), out=logs, where=far)
    logs[p == 0] = -np.inf
    return logs


def power_sum(p: Floats, q: Floats, order: float) -> Floats:
    """Return the sum of q g(p/q) with g(t) = (t**a - t) / (a - 1) - (t - 1), for order a > 0, arrays (..., m).

    For order 1, g(t) = t ln t - t + 1. On distributions the sum equals (sum of p**a q**(1-a) - 1) / (a - 1):
    Kullback-Leibler at 1, chi-square at 2.
    """
    logs = log_ratios(p, q)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        stretched = logs if order == 1 else np.expm1((order - 1) * logs) / (order - 1)
        terms = np.where(p > 0, p * stretched, 0.0) - (p - q)
        t = (p - q) / q
        series = t * t * (order / 2) * (1 + t * ((order - 2) / 3 + t * ((order - 2) * (order - 3) / 12)))
        near = np.abs(t) * max(1.0, order) < _NEAR
        terms = np.where(near, q * series, terms)
    return np.asarray(np.maximum(terms, 0.0).sum(axis=-1))


class Divergence(ABC):
    """A measure D(p || q) of how far a distribution p is from another one, q.

    Zero against zero adds nothing, 0 ln 0 is 0, and a divergence may be ``inf``. Methods raise `InputError` if an
    argument is not a distribution, or shapes do not go together.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the divergence in texts."""

    @abstractmethod
    def _divergences(self, p: Floats, q: Floats) -> Floats:
        """Return the divergences of checked distributions, arrays (..., m), along the last axis."""

    @final
    def __call__(self, p: Rows, q: Rows) -> float:
        """Return D(p || q) of two distributions, arrays (m,) or priors."""
        return float(self._divergences(*single(p, q)))

    @final
    def rows(self, p: Rows, q: Rows) -> Floats:
        """Return D of many pairs of distributions, arrays (..., m) whose leading axes broadcast; array (...)."""
        return np.asarray(self._divergences(*pair(p, q)))

    @final
    def pairwise(self, rows: Rows) -> Floats:
        """Return D(rows[s] || rows[t]) for all s and t, array (n, n), of a mechanism or an array (n, m)."""
        array = distributions(rows, "the rows")
        if array.ndim != 2:
            raise InputError(f"the rows have shape {array.shape}.", "pass an array of secrets x observables.")
        return np.stack([self._divergences(*np.broadcast_arrays(row, array)) for row in array])


@final
@dataclass(frozen=True, slots=True, repr=False)
class FDivergence(Divergence, CompactRepr):
    """The divergence of a convex generator f with f(1) = 0.

    D_f(p || q) = sum over y with q(y) > 0 of q(y) f(p(y) / q(y)) + slope * p[q = 0]

    All f-divergences are jointly convex and never grow by post-processing. Raises `InputError` if f(1) is not 0,
    or f with these limits is not convex at the tested powers of two.

    Attributes:
        title: Its name in texts.
        generator: f, from an array of positive ratios to an array of the same shape.
        at_zero: f(0), the limit at 0; may be ``inf``.
        slope: The limit of f(t)/t at infinity; may be ``inf``. The two limits replace f where a quotient, or f
            at it, leaves the range of floats.

    Example:
        >>> import numpy as np
        >>> triangular = FDivergence("triangular", lambda t: (t - 1) ** 2 / (t + 1), 1.0, 1.0)
        >>> triangular([1.0, 0.0], [0.0, 1.0])
        2.0

    Source:
        Kawamoto and Murakami, definition 2; limits as in Liese and Vajda, IEEE Transactions on Information
        Theory 52(10), 2006.
    """

    title: str
    generator: Callable[[Floats], Floats]
    at_zero: float
    slope: float

    def __post_init__(self) -> None:
        at_one = float(np.asarray(self.generator(np.ones(1)), dtype=np.float64).reshape(-1)[0])
        if not abs(at_one) <= _SLACK:
            raise InputError(
                f"the generator of {self.title!r} is {at_one:g} at 1, not 0.",
                "subtract that value: equal distributions are at divergence 0.",
            )
        values = np.asarray(self.generator(_PROBES), dtype=np.float64)
        if values.shape != _PROBES.shape or not np.isfinite(values).all():
            raise InputError(
                f"the generator of {self.title!r} does not map positive ratios to as many finite numbers.",
                "write it for arrays, as in lambda t: (t - 1) ** 2.",
            )
        if np.isnan(self.at_zero) or np.isnan(self.slope):
            raise InputError(
                f"the value at 0 or the slope at infinity of {self.title!r} is NaN.", "pass the two limits."
            )
        t, f = np.concatenate([[0.0], _PROBES]), np.concatenate([[self.at_zero], values])
        slopes = np.concatenate([np.diff(f) / np.diff(t), [self.slope]])
        # f(0) may be infinite: then the first slope is -inf, below any other.
        first, second = slopes[:-1], slopes[1:]
        scale = 1.0 + np.minimum(np.abs(np.where(np.isfinite(first), first, 0.0)), np.abs(second))
        if (first > second + _SLACK * scale).any():
            k = int(np.argmax(first > second + _SLACK * scale))
            raise InputError(
                f"the generator of {self.title!r}, with value {self.at_zero:g} at 0 and slope {self.slope:g} at "
                f"infinity, is not convex near {t[k + 1]:g}.",
                "pass a convex function and its own limits at 0 and at infinity.",
            )

    @property
    def name(self) -> str:
        """The name of the divergence in texts."""
        return self.title

    def _divergences(self, p: Floats, q: Floats) -> Floats:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            ratio = p / q
            usual = (p > 0) & (q > 0) & np.isfinite(ratio) & (ratio > 0)
            values = np.asarray(self.generator(np.where(usual, ratio, 1.0)), dtype=np.float64)
        # Where the generator overflows, its limits are more exact.
        inner = usual & np.isfinite(values)
        beyond = (p > 0) & (ratio > 1) & ~inner
        vanishing = (q > 0) & (ratio < 1) & ~inner
        terms = np.multiply(q, values, out=np.zeros_like(values), where=inner)
        terms = terms + _times(q, self.at_zero, vanishing) + _times(p, self.slope, beyond)
        return np.asarray(terms.sum(axis=-1))


@final
@dataclass(frozen=True, slots=True)
class _FormulaDivergence(Divergence):
    """An f-divergence with a formula that keeps more digits than its generator."""

    title: str
    formula: Callable[[Floats, Floats], Floats]

    @property
    def name(self) -> str:
        return self.title

    def __repr__(self) -> str:
        return f"Divergence {self.title!r}"

    def _divergences(self, p: Floats, q: Floats) -> Floats:
        return self.formula(p, q)


def _times(mass: Floats, factor: float, where: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Floats:
    return np.asarray(np.multiply(mass, factor, out=np.zeros_like(mass), where=where & (mass > 0)))


def _total_variation(p: Floats, q: Floats) -> Floats:
    return np.asarray(np.abs(p - q).sum(axis=-1) / 2)


def _hellinger(p: Floats, q: Floats) -> Floats:
    roots = np.sqrt(p) + np.sqrt(q)
    # The difference of the roots without cancellation, 0 where both are 0.
    gaps = np.divide(p - q, roots, out=np.zeros_like(roots), where=roots > 0)
    return np.asarray((gaps * gaps).sum(axis=-1) / 2)


KL: Final[Divergence] = _FormulaDivergence("KL divergence", lambda p, q: power_sum(p, q, 1.0))
"""Kullback-Leibler divergence in nats, sum of p ln(p/q): f(t) = t ln t."""

REVERSE_KL: Final[Divergence] = _FormulaDivergence("reverse KL divergence", lambda p, q: power_sum(q, p, 1.0))
"""KL with its arguments exchanged, in nats: f(t) = -ln t."""

TOTAL_VARIATION: Final[Divergence] = _FormulaDivergence("total variation", _total_variation)
"""Half the sum of |p - q|, at most 1: f(t) = |t - 1| / 2."""

CHI_SQUARED: Final[Divergence] = _FormulaDivergence("chi-square divergence", lambda p, q: power_sum(p, q, 2.0))
"""Sum of (p - q)**2 / q: f(t) = (t - 1)**2."""

HELLINGER: Final[Divergence] = _FormulaDivergence("squared Hellinger distance", _hellinger)
"""Half the sum of (sqrt p - sqrt q)**2, at most 1: f(t) = (sqrt t - 1)**2 / 2."""

F_DIVERGENCES: Final[dict[str, Divergence]] = {
    "total-variation": TOTAL_VARIATION,
    "chi-square": CHI_SQUARED,
    "hellinger": HELLINGER,
    "kl": KL,
    "reverse-kl": REVERSE_KL,
}
"""The f-divergences that have a name, by their keys."""


def find_divergence(text: str) -> Divergence:
    """Return the f-divergence of a key or name, such as ``"chi-square"`` or ``"squared Hellinger distance"``.

    Raises `InputError` if there is none.
    """
    plain = text.strip().lower().replace("_", "-").replace(" ", "-")
    for key, divergence in F_DIVERGENCES.items():
        if plain in (key, divergence.name.lower().replace(" ", "-")):
            return divergence
    raise InputError(f"no divergence is called {text!r}.", f"use one of {', '.join(F_DIVERGENCES)}.")


@final
@dataclass(frozen=True, slots=True)
class Renyi(Divergence):
    """The Rényi divergence of order a, in nats: D_a(p || q) = 1/(a - 1) ln sum of p**a q**(1-a).

    At order 1 it is the Kullback-Leibler divergence and at ``inf`` the max divergence; it never falls as the order
    grows. Raises `InputError` if the order is not positive.

    Attributes:
        order: A positive number, or ``inf``.

    Example:
        >>> round(Renyi(2.0)([0.75, 0.25], [0.25, 0.75]), 6)
        0.847298

    Source:
        Van Erven and Harremoes, "Renyi divergence and Kullback-Leibler divergence", IEEE Transactions on
        Information Theory 60(7), 2014.
    """

    order: float

    def __post_init__(self) -> None:
        if not self.order > 0:
            raise InputError(
                f"the order {self.order} is not positive.", "use 1 for Kullback-Leibler, inf for max divergence."
            )

    @property
    def name(self) -> str:
        """The name of the divergence in texts."""
        return f"Rényi divergence of order {self.order:g}"

    def _divergences(self, p: Floats, q: Floats) -> Floats:
        if self.order > _LARGEST:
            return np.asarray(log_ratios(p, q).max(axis=-1))
        if self.order == 1:
            return power_sum(p, q, 1.0)
        excess = self.order - 1
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            shift = excess * power_sum(p, q, self.order)
            near: Floats = np.log1p(shift) / excess
        # Where the sum overflows or cancels, its logarithm is computed term by term.
        far = ~((shift > -0.5) & np.isfinite(shift))
        return np.where(far, _by_logarithms(p, q, excess), near) if far.any() else near


def _by_logarithms(p: Floats, q: Floats, excess: float) -> Floats:
    with np.errstate(divide="ignore"):
        exponents = np.where(p > 0, np.log(p), 0.0) + excess * np.where(p > 0, log_ratios(p, q), 0.0)
    exponents[p == 0] = -np.inf
    top = exponents.max(axis=-1)
    finite = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        sums = np.log(np.exp(exponents - finite[..., None]).sum(axis=-1)) + finite
    return np.asarray(sums / excess)
