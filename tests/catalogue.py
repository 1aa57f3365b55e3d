"""The small mechanisms and families that tests run over: what each promises, and on what.

Every case has, where it can, a secret of prior zero and an observable that no secret
produces, because that is where formulas divide by zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

import numpy as np

from sfumato.core import Mechanism, Metric, Prior, Space
from sfumato.core.arrays import Floats
from sfumato.geo import Grid
from sfumato.mechanisms import (
    ContinuousStaircase,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    LocalHashing,
    MechanismFamily,
    PermuteAndFlip,
    PlanarGaussian,
    PlanarGeometric,
    PlanarLaplace,
    RandomisedResponse,
    Staircase,
    SubsetSelection,
    UnaryEncoding,
    UtilityTable,
)


@dataclass(frozen=True)
class Case:
    """A mechanism, a prior on its secrets, a metric, and the true epsilon for that metric."""

    name: str
    mechanism: Mechanism
    prior: Prior
    metric: Metric
    epsilon: float

    def __str__(self) -> str:
        return self.name


def line(size: int) -> Floats:
    """The distances of the points 0, 1, ... of a line."""
    x = np.arange(float(size))
    distances: Floats = np.abs(x[:, None] - x)
    return distances


def directed_metrics(count: int, seed: int, *, least: int = 2, most: int = 6) -> Iterator[Metric]:
    """Random asymmetric metrics in km, shortest ways of directed graphs: some are infinite in one direction."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size = int(rng.integers(least, most + 1))
        steps = np.where(rng.random((size, size)) < 0.7, rng.uniform(0.1, 3, (size, size)), np.inf)
        np.fill_diagonal(steps, 0)
        yield Metric(steps, "km", name="streets", symmetric=False, triangle=False).closure()


def unused(matrix: Floats) -> Floats:
    """The matrix with a last observable that no secret produces."""
    return np.column_stack([matrix, np.zeros(len(matrix))])


def geometric(size: int, epsilon: float) -> Floats:
    """The truncated geometric mechanism: e^(-epsilon d) diag(w) with rows that sum to one (golden G.3)."""
    decay = np.exp(-epsilon * line(size))
    matrix: Floats = decay * np.linalg.solve(decay, np.ones(size))
    return matrix


def randomised_response(size: int, epsilon: float) -> Floats:
    """The truth with odds e^epsilon against each other value."""
    matrix = np.ones((size, size))
    np.fill_diagonal(matrix, np.exp(epsilon))
    answer: Floats = matrix / matrix.sum(axis=1, keepdims=True)
    return answer


def exponential(distances: Floats, rate: float) -> Floats:
    """The exponential mechanism: p(o|s) proportional to e^(-rate d(s, o)), each row for itself."""
    matrix = np.exp(-rate * distances)
    answer: Floats = matrix / matrix.sum(axis=1, keepdims=True)
    return answer


def discrete(size: int) -> Floats:
    """The discrete metric."""
    return 1.0 - np.eye(size)


def _case(name: str, matrix: Floats, distances: Floats, epsilon: float, observables: Space | None = None) -> Case:
    n = len(matrix)
    space = Space([f"s{i}" for i in range(n)])
    if observables is None:
        matrix = unused(matrix)
        observables = Space([f"o{i}" for i in range(matrix.shape[1])])
    belief = np.arange(float(n)) / np.arange(n).sum() if n > 1 else np.ones(1)
    mechanism = Mechanism(matrix, space, observables)
    return Case(name, mechanism, Prior(space, belief), Metric(distances), epsilon)


def _cells() -> Case:
    space = Space([f"s{i}" for i in range(4)])
    groups = space.group_labels([["s0", "s1"], ["s2", "s3"], ["s0", "s1", "s2", "s3"], ["s1"]])
    matrix = np.array([[0.5, 0.25, 0.25, 0.0]] * 2 + [[0.25, 0.5, 0.25, 0.0]] * 2)
    return _case("generalised cells", matrix, discrete(4), log(2), groups)


def cases() -> list[Case]:
    """All cases."""
    square = np.abs(np.array([0, 0, 1, 1])[:, None] - [0, 0, 1, 1]) + np.abs(
        np.array([0, 1, 0, 1])[:, None] - [0, 1, 0, 1]
    ).astype(float)
    apart = np.full((4, 4), np.inf)
    apart[:2, :2] = apart[2:, 2:] = discrete(2)
    blocks = np.zeros((4, 4))
    blocks[:2, :2] = blocks[2:, 2:] = randomised_response(2, 1.0)
    names = np.repeat(randomised_response(2, 0.7), 2, axis=0)
    coarse = np.repeat(np.repeat(discrete(2), 2, axis=0), 2, axis=1)
    return [
        _case("randomised response", randomised_response(4, 1.2), discrete(4), 1.2),
        _case("geometric on a line", geometric(5, log(2)), line(5), log(2)),
        _case("exponential on a line", exponential(line(5), 0.5), line(5), 0.683970616),
        _case("exponential on a square", exponential(square, 0.4), square, 0.4),
        _case("constant", np.tile([0.5, 0.125, 0.375], (3, 1)), discrete(3), 0.0),
        _case("truth", np.eye(3), discrete(3), float("inf")),
        _case("two towns, far apart", blocks, apart, 1.0),
        _case("two names of one place", names, coarse, 0.7),
        _case("tiny probabilities", randomised_response(3, 60.0), discrete(3), 60.0),
        _case("one secret", np.array([[0.25, 0.75]]), np.zeros((1, 1)), 0.0),
        _cells(),
    ]


CASES = cases()


def families() -> list[MechanismFamily]:
    """A small one of every family of mechanisms."""
    five, table = Space("abcde"), UtilityTable([[3, 1, 0], [2, 2, 1], [0, 1, 3]])
    city = Grid.covering("2 km x 1500 m around 48.85,2.35", cell="500 m")
    return [
        RandomisedResponse(five, 1.2),
        UnaryEncoding(five, 1.2, "symmetric"),
        UnaryEncoding(five, 1.2, "optimised"),
        LocalHashing(five, 1.2),
        SubsetSelection(five, 0.7, 2),
        ExponentialMechanism(table, 1.0, "mcsherry-talwar"),
        PermuteAndFlip(table, 1.0),
        PlanarGeometric(city, "2/km"),
        PlanarGaussian(city, "500 m"),
        DiscreteLaplace(0.7, 2),
        DiscreteGaussian(4, 2),
        Staircase(1, 3),
        DiscreteLaplace(0.7, 2).clamp(-3, 3),
        DiscreteGaussian(4, 2).clamp(-3, 3),
        Laplace(0.7, 2.0),
        Gaussian(1.3),
        ContinuousStaircase(1.0, 2.0),
        PlanarLaplace("2/km"),
    ]


FAMILIES = families()
