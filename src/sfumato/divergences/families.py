"""Families of divergences: f-divergences, each by its convex function, and Rényi divergences of every order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ..core.arrays import Floats
from ..core.immutable import CompactRepr
from ..errors import InputError
from .divergence import Divergence, log_ratios, power_sum

_PROBES: Final[Floats] = np.ldexp(1.0, np.arange(-24, 25))
_SLACK: Final = 1e-9
_LARGEST: Final = 1e300  # a larger order is nearer to the max divergence than floats can tell


@final
@dataclass(frozen=True, slots=True, repr=False)
class FDivergence(Divergence, CompactRepr):
    """The divergence of a convex generator f with f(1) = 0.

    D_f(p || q) = sum over y with q(y) > 0 of q(y) f(p(y) / q(y)) + slope * p[q = 0]

    where ``slope`` is the limit of f(t)/t at infinity. All f-divergences are jointly
    convex and never grow by post-processing.

    Attributes:
        title: Its name in texts.
        generator: f, from an array of positive ratios to an array of the same shape.
        at_zero: f(0), the limit at 0; may be ``inf``.
        slope: The limit of f(t)/t at infinity; may be ``inf``. Where a quotient, or
            the generator at it, leaves the range of floats, these limits count.

    Raises:
        InputError: If f(1) is not 0, or f with these limits is not convex at the
            powers of two where that is tested.

    Example:
        >>> import numpy as np
        >>> triangular = FDivergence("triangular", lambda t: (t - 1) ** 2 / (t + 1), 1.0, 1.0)
        >>> triangular([1.0, 0.0], [0.0, 1.0])
        2.0

    Source:
        Kawamoto and Murakami, definition 2; limits as in Liese and Vajda, IEEE
        Transactions on Information Theory 52(10), 2006.
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

    def _between(self, p: Floats, q: Floats) -> Floats:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            ratio = p / q
            usual = (p > 0) & (q > 0) & np.isfinite(ratio) & (ratio > 0)
            values = np.asarray(self.generator(np.where(usual, ratio, 1.0)), dtype=np.float64)
        # Where the generator itself overflows, its limits are nearer to the truth.
        inner = usual & np.isfinite(values)
        beyond = (p > 0) & (ratio > 1) & ~inner
        vanishing = (q > 0) & (ratio < 1) & ~inner
        terms = np.multiply(q, values, out=np.zeros_like(values), where=inner)
        terms = terms + _times(q, self.at_zero, vanishing) + _times(p, self.slope, beyond)
        return np.asarray(terms.sum(axis=-1))


@final
@dataclass(frozen=True, slots=True)
class _Named(Divergence):
    """An f-divergence with a formula of its own that keeps more digits than its generator."""

    title: str
    formula: Callable[[Floats, Floats], Floats]

    @property
    def name(self) -> str:
        return self.title

    def __repr__(self) -> str:
        return f"Divergence {self.title!r}"

    def _between(self, p: Floats, q: Floats) -> Floats:
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


KL: Final[Divergence] = _Named("KL divergence", lambda p, q: power_sum(p, q, 1.0))
"""Kullback-Leibler divergence in nats, sum of p ln(p/q): f(t) = t ln t."""

REVERSE_KL: Final[Divergence] = _Named("reverse KL divergence", lambda p, q: power_sum(q, p, 1.0))
"""KL with its arguments exchanged, in nats: f(t) = -ln t."""

TOTAL_VARIATION: Final[Divergence] = _Named("total variation", _total_variation)
"""Half the sum of |p - q|, at most 1: f(t) = |t - 1| / 2."""

CHI_SQUARED: Final[Divergence] = _Named("chi-square divergence", lambda p, q: power_sum(p, q, 2.0))
"""Sum of (p - q)**2 / q: f(t) = (t - 1)**2."""

HELLINGER: Final[Divergence] = _Named("squared Hellinger distance", _hellinger)
"""Half the sum of (sqrt p - sqrt q)**2, at most 1: f(t) = (sqrt t - 1)**2 / 2."""

NAMED: Final[dict[str, Divergence]] = {
    "total-variation": TOTAL_VARIATION,
    "chi-square": CHI_SQUARED,
    "hellinger": HELLINGER,
    "kl": KL,
    "reverse-kl": REVERSE_KL,
}
"""The f-divergences that have a name, by their keys."""


def named(text: str) -> Divergence:
    """Return the f-divergence of a key or name, such as ``"chi-square"`` or ``"squared Hellinger distance"``.

    Raises:
        InputError: If there is none.
    """
    plain = text.strip().lower().replace("_", "-").replace(" ", "-")
    for key, divergence in NAMED.items():
        if plain in (key, divergence.name.lower().replace(" ", "-")):
            return divergence
    raise InputError(f"no divergence is called {text!r}.", f"use one of {', '.join(NAMED)}.")


@final
@dataclass(frozen=True, slots=True)
class Renyi(Divergence):
    """The Renyi divergence of order a, in nats.

    D_a(p || q) = 1/(a - 1) ln sum of p**a q**(1-a)

    At order 1 it is the Kullback-Leibler divergence and at ``inf`` the max divergence,
    the limits on either side; it never falls as the order grows.

    Attributes:
        order: A positive number, or ``inf``.

    Raises:
        InputError: If the order is not positive.

    Example:
        >>> round(Renyi(2.0)([0.75, 0.25], [0.25, 0.75]), 6)
        0.847298

    Source:
        Van Erven and Harremoes, "Renyi divergence and Kullback-Leibler divergence",
        IEEE Transactions on Information Theory 60(7), 2014.
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

    def _between(self, p: Floats, q: Floats) -> Floats:
        if self.order > _LARGEST:
            return np.asarray(log_ratios(p, q).max(axis=-1))
        if self.order == 1:
            return power_sum(p, q, 1.0)
        excess = self.order - 1
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            shift = excess * power_sum(p, q, self.order)
            near: Floats = np.log1p(shift) / excess
        # Where the sum overflows, or is a small rest of 1, its logarithm is taken term by term.
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
