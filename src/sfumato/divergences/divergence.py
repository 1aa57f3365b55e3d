"""Divergences: measures that compare a pair of distributions, many pairs, or all rows of a mechanism."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np

from ..core.arrays import Floats
from ..errors import InputError
from .distributions import Rows, distributions, pair, single


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
