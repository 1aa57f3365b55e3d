"""Priors: an adversary's belief about the secret before any report."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, argument, python
from .arrays import Floats, floats, readonly
from .immutable import Immutable, assign
from .space import Space

SUM_TOLERANCE = 1e-9
_EVEN = 1e-9  # of the largest probability
_SMALLER = 2.0**-64  # of weights whose sum is beyond all floats


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Prior(Immutable):
    """A probability distribution on a space, array (n,), non-negative, with sum one (within 1e-9).

    ``Prior(space, probabilities)`` is on the space; ``Prior(probabilities)`` is on the numbers 0 to n - 1, which
    are also the secrets of ``Mechanism(matrix)``. Nothing is renormalised; use `from_counts` for weights. Raises
    `InputError` if an entry is negative or NaN, or the sum is not one.
    """

    space: Space
    probabilities: Floats

    def __init__(self, space: Space | ArrayLike, probabilities: ArrayLike | None = None) -> None:
        if not isinstance(space, Space):
            if probabilities is not None:
                raise InputError(
                    f"the space of the prior is of type {type(space).__name__}.",
                    python("make one with sf.Space(labels), or pass the probabilities alone."),
                )
            probabilities = floats(space, "the prior", shape=(None,))
            space = Space(range(len(probabilities)))
        if probabilities is None:
            raise InputError(
                "the prior has a space, but no probabilities.",
                python("pass sf.Prior(space, probabilities), or use sf.Prior.uniform(space)."),
            )
        array = floats(probabilities, "the prior", shape=(len(space),))
        if (array < 0).any():
            i = int(np.argmin(array))
            raise InputError(
                f"the prior of {space.labels[i]!r} is negative ({array[i]:g}).", "use probabilities of at least 0."
            )
        with np.errstate(over="ignore"):  # what sums to infinity does not sum to one
            total = float(array.sum())
        if abs(total - 1.0) > SUM_TOLERANCE:
            raise InputError(
                f"the prior sums to {total:.12g}, not to 1.",
                "make the probabilities sum to 1",
                python("pass counts or weights to Prior.from_counts."),
            )
        assign(self, space=space, probabilities=array)

    @classmethod
    def uniform(cls, space: Space) -> Prior:
        """Return the prior of equal probabilities."""
        return cls(space, np.full(len(space), 1.0 / len(space)))

    @classmethod
    def from_counts(cls, space: Space, counts: ArrayLike, *, smoothing: float = 0.0) -> Prior:
        """Return the prior proportional to counts or weights.

        Counts are an array (n,), non-negative and not all zero. ``smoothing`` is added to each (1 is Laplace's
        rule, 0 maximum likelihood).
        """
        weights = floats(counts, "the counts", shape=(len(space),))
        if (weights < 0).any():
            raise InputError(f"a count is negative ({weights.min():g}).", "use counts of at least 0.")
        if not (np.isfinite(smoothing) and smoothing >= 0):
            raise InputError(
                f"the smoothing {smoothing} is not a number of at least 0.",
                "use 0 for none, 1 for Laplace's rule.",
            )
        with np.errstate(over="ignore"):
            total = float((weights + smoothing).sum())
        if total == np.inf:
            return cls.from_counts(space, weights * _SMALLER, smoothing=smoothing * _SMALLER)
        if not total > 0:
            raise InputError(
                "all counts are zero.",
                "check that the values fall inside the space",
                f"pass {argument('smoothing', 1)}.",
            )
        return cls(space, (weights + smoothing) / total)

    @classmethod
    def from_visits(
        cls, space: Space, visits: Any, *, user: Hashable | None = None, smoothing: float = 0.0
    ) -> Prior:
        """Return the maximum-likelihood prior of visited places (or observed labels).

        A grid counts visits, of one user where one is named, and a plain space counts labels. ``smoothing`` is
        added to every count.
        """
        return cls.from_counts(space, space.counts(visits, user), smoothing=smoothing)

    @property
    def even(self) -> bool:
        """Whether all probabilities are equal, within 1e-9 of the largest."""
        return bool(np.ptp(self.probabilities) <= _EVEN * self.probabilities.max())

    def __len__(self) -> int:
        return len(self.probabilities)

    def __repr__(self) -> str:
        return (
            f"Prior on {len(self)} values, {len(self.support)} of them possible, "
            f"entropy {self.entropy_bits:.2f} of {np.log2(len(self)):.2f} bits"
        )

    @property
    def support(self) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        """The positions of the secrets of positive probability."""
        return np.flatnonzero(self.probabilities)

    @property
    def entropy_bits(self) -> float:
        """The Shannon entropy in bits."""
        p = self.probabilities[self.support]
        return float(-(p * np.log2(p)).sum()) + 0.0

    def sharpen(self, weight: float, *, places: int = 2, at: Iterable[Hashable] | None = None) -> Prior:
        """Return the prior with a share of the probability moved to the main places, such as home and work.

        It is (1 - weight) p + weight p(. | the places), which are the most probable secrets, or the labels ``at``.
        As the truth it describes a person with stronger habits; as a belief that is not true, an overconfident
        attacker.

        Source:
            Shokri, "Privacy Games", section 9.2 (adversaries with better knowledge).
        """
        if not 0 <= weight <= 1:
            raise InputError(f"the weight {weight} is not between 0 and 1.", "use 0.5 for half the belief.")
        p = self.probabilities
        if at is None and not 1 <= places <= len(p):
            raise InputError(f"{argument('places', places)} is not from 1 to {len(p)}.", "name fewer main places.")
        positions = np.argsort(-p, kind="stable")[:places] if at is None else self.space.positions(at)
        known = np.zeros_like(p)
        known[positions] = p[positions]
        if not known.sum() > 0:
            raise InputError("the known places all have probability zero.", "name places of positive probability.")
        return Prior(self.space, readonly((1 - weight) * p + weight * (known / known.sum())))
