"""What every trade-off function can do: give the least type II error of a test at each type I error."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from ...core.arrays import Floats, numbers
from ...errors import InputError
from ._errors_of_tests import Errors


class Curve(ABC):
    """A trade-off function f: convex and falling, with f(a) <= 1 - a for type I errors a from 0 to 1.

    Source:
        Dong, Roth and Su, "Gaussian differential privacy", 2022, definition 2.1 and proposition 2.2.
    """

    __slots__ = ()

    @abstractmethod
    def errors(self, alphas: Floats, confidences: Floats) -> tuple[Floats, Floats]:
        """Return the least type II errors and their complements, two arrays of the same shape.

        Args:
            alphas: Type I errors, any shape.
            confidences: Their complements 1 - alpha, computed without cancellation.
        """

    @property
    def precision(self) -> float:
        """By how much a value may be off, beyond what a few roundings explain."""
        return 0.0

    @final
    def __call__(self, alpha: ArrayLike) -> Floats:
        """Return the least type II error at each type I error, array of the same shape.

        Args:
            alpha: Numbers from 0 to 1.

        Raises:
            InputError: If a number is outside.
        """
        at = numbers(alpha, "alpha")
        if not ((at >= 0) & (at <= 1)).all():
            raise InputError("a type I error is not between 0 and 1.", "pass probabilities.")
        # Sums of probabilities may round beyond 1.
        return np.asarray(np.minimum(self.errors(at, 1.0 - at)[0], 1.0))

    @final
    def gaps(self, tests: Errors) -> Floats:
        """Return f minus the type II errors of tests, array of their shape: by how much each beats the curve."""
        beta, power = self.errors(tests.alphas, tests.confidences)
        return np.where(tests.powers < tests.betas, tests.powers - power, beta - tests.betas)
