"""Divergences: the interface, checked distributions, their log-ratios and sums of powers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from ..core import Mechanism, Prior
from ..core.arrays import Floats, numbers, readonly
from ..core.prior import SUM_TOLERANCE
from ..errors import InputError

Rows = Mechanism | Prior | ArrayLike
"""One distribution, array (m,), or several, array (..., m)."""
_NEAR = 1e-4  # below this relative difference the terms cancel, and their series is exact


def distributions(value: Rows, what: str) -> Floats:
    """Return a read-only float array (..., m) whose last axis holds distributions.

    Args:
        value: A prior, a mechanism (its rows) or an array.
        what: What it is, for the error message.

    Raises:
        InputError: If an entry is negative, NaN or infinite, or a sum is not one within 1e-9.
    """
    if isinstance(value, Prior):
        return value.probabilities
    if isinstance(value, Mechanism):
        return value.matrix
    array = numbers(value, what)
    if array.ndim == 0 or array.size == 0:
        raise InputError(f"{what} is not an array of probabilities.", "pass one probability per observable.")
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise InputError(
            f"{what} holds {array[where]:g} at position {where[0] if len(where) == 1 else where}.",
            "a probability is a finite number of at least 0.",
        )
    sums = array.sum(axis=-1)
    error = np.abs(sums - 1.0)
    if (error > SUM_TOLERANCE).any():
        total = float(np.ravel(sums)[int(np.argmax(error))])
        raise InputError(
            f"{what} sums to {total:.12g}, not to 1.",
            "a distribution sums to 1 within 1e-9; nothing is renormalised silently.",
        )
    return readonly(array)


def pair(first: Rows, second: Rows) -> tuple[Floats, Floats]:
    """Return two checked arrays (..., m), broadcast against each other.

    Raises:
        InputError: If either holds no distributions, or they are not on the same observables.
    """
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
            f"arrays of distributions of shapes {p.shape} and {q.shape} do not go together.",
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
    """Return ln(p / q): inf where only q is zero, -inf where p is zero.

    Neither an overflowing quotient nor a quotient near 1 costs digits.
    """
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
    """Return the sum of q g(p/q) with g(t) = (t**a - t) / (a - 1) - (t - 1), for order a > 0.

    For order 1 it is the limit, g(t) = t ln t - t + 1. On distributions the sum equals
    (sum of p**a q**(1-a) - 1) / (a - 1): Kullback-Leibler at 1, chi-square at 2.

    Args:
        p: Array (..., m) of distributions.
        q: Array (..., m) of distributions.
        order: The order a.

    Returns:
        Array (...); ``inf`` where the sum is, or exceeds the largest float.
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

    Zero against zero adds nothing, 0 ln 0 is 0, and a divergence may be ``inf``.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the divergence in texts."""

    @abstractmethod
    def _between(self, p: Floats, q: Floats) -> Floats:
        """Return the divergences of checked distributions, arrays (..., m), along the last axis."""

    @final
    def __call__(self, p: Rows, q: Rows) -> float:
        """Return D(p || q).

        Args:
            p: A distribution, array (m,) or a prior.
            q: A distribution on the same observables.

        Raises:
            InputError: If either is not a distribution, or their lengths differ.
        """
        return float(self._between(*single(p, q)))

    @final
    def rows(self, p: Rows, q: Rows) -> Floats:
        """Return D of many pairs at once, array (...).

        Args:
            p: Distributions along the last axis, array (..., m).
            q: Distributions along the last axis; the leading axes broadcast.

        Raises:
            InputError: If an array holds no distributions, or they do not go together.
        """
        return np.asarray(self._between(*pair(p, q)))

    @final
    def pairwise(self, rows: Rows) -> Floats:
        """Return D(rows[s] || rows[t]) for all s and t, array (n, n).

        Args:
            rows: A mechanism, or an array (n, m) of distributions.

        Raises:
            InputError: If the array has another shape, or holds no distributions.
        """
        array = distributions(rows, "the rows")
        if array.ndim != 2:
            raise InputError(f"the rows have shape {array.shape}.", "pass an array of secrets x observables.")
        return np.stack([self._between(*np.broadcast_arrays(row, array)) for row in array])
