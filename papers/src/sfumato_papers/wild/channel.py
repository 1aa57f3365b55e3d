"""A scheme as a channel: from true points of a local plane to reports, for studies."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from sfumato.core.arrays import Floats, floats
from sfumato.errors import InputError, argument


def check_positive(number: float, what: str) -> None:
    """Refuse a number that is not positive and finite.

    Raises:
        InputError: If it is not.
    """
    if not 0 < number < math.inf:
        raise InputError(f"{what} of {number:g} cannot be used.", "use a positive number.")


class WildChannel(ABC):
    """A channel from points to reports, both in metres on a local plane, as its makers document it.

    It is for studies: its generator has a seed, and it draws in floats.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def independent(self) -> bool:
        """Whether reports of one place are drawn independently of each other."""

    @property
    @abstractmethod
    def mean_m(self) -> float:
        """The mean distance from the true point to a report, metres, for true points spread evenly."""

    @property
    @abstractmethod
    def finite_epsilon(self) -> float:
        """The epsilon per metre of one report, between any two points in real numbers; infinite for none."""

    @abstractmethod
    def _drawn(self, points_m: Floats, count: int, generator: np.random.Generator) -> Floats: ...

    @abstractmethod
    def log_likelihood(self, reports_m: Floats, candidates_m: Floats) -> Floats:
        """Return how likely reports from one place are from candidates for it, as logarithms up to a constant.

        Args:
            reports_m: The reports in their order, array (k, 2), metres.
            candidates_m: Array (m, 2), metres.

        Returns:
            Array (m,); minus infinity where a report cannot come from.
        """

    def reports(self, points_m: ArrayLike, count: int, generator: np.random.Generator) -> Floats:
        """Return reports of people who stay where they are.

        Args:
            points_m: Where they are, array (n, 2), metres east and north.
            count: How many reports each of them makes.
            generator: numpy's generator, seeded.

        Returns:
            Array (n, count, 2), metres.

        Raises:
            InputError: If the points are no such array, or the count is not positive.
        """
        points = floats(points_m, "the points", shape=(None, 2))
        if count < 1:
            raise InputError(f"{count} reports are not positive.", f"use {argument('count', 10)}.")
        return self._drawn(points, count, generator)

    def along(self, paths_m: ArrayLike, generator: np.random.Generator) -> Floats:
        """Return a report at each step of walks that last an hour or less.

        Args:
            paths_m: Array (n, steps, 2), metres.
            generator: numpy's generator, seeded.

        Returns:
            Array (n, steps, 2), metres.
        """
        paths = floats(paths_m, "the paths", shape=(None, None, 2))
        return self._drawn(paths.reshape(-1, 2), 1, generator).reshape(paths.shape)

    def guesses(self, reports_m: Floats) -> Floats:
        """Return where an attacker with the reports and the law alone guesses people to be, by default the mean.

        Args:
            reports_m: Array (n, k, 2), metres.

        Returns:
            Array (n, 2), metres.
        """
        means: Floats = reports_m.mean(axis=1)
        return means
