"""Table I: the generators of f-divergences, checked, and their divergences by two routes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Final

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.divergences import CHI_SQUARED, HELLINGER, KL, REVERSE_KL, TOTAL_VARIATION, Divergence, FDivergence

from ..reproduction import Made
from ..results import columns_of

GENERATORS: Final = "generators"
_RATIOS: Final = np.geomspace(1e-4, 1e4, 2001)

_Printed = tuple[str, Callable[[Floats], Floats], float, float, Divergence]

PRINTED: Final[tuple[_Printed, ...]] = (
    ("t ln t", lambda t: t * np.log(t), 0.0, inf, KL),
    ("-ln t", lambda t: -np.log(t), inf, 0.0, REVERSE_KL),
    ("|t - 1| / 2", lambda t: np.abs(t - 1) / 2, 0.5, 0.5, TOTAL_VARIATION),
    ("(t - 1)^2", lambda t: (t - 1) ** 2, 1.0, inf, CHI_SQUARED),
    ("(sqrt t - 1)^2 / 2", lambda t: (np.sqrt(t) - 1) ** 2 / 2, 0.5, 0.5, HELLINGER),
)
"""Each generator as printed, with f(0), the limit of f(t)/t at infinity, and the divergence of the package."""


@dataclass(frozen=True, slots=True, repr=False)
class GeneratorRow(CompactRepr):
    """A generator of Table I.

    Attributes:
        divergence: Its name.
        generator: f(t).
        at_one: f(1), which must be 0.
        least_turn: The least second difference over a grid of ratios from 0.0001 to 10,000, divided by its largest
            size: at least 0, rounding aside, for a convex f.
        pairs: How many random pairs of distributions were compared.
        largest_difference: The largest relative difference of the sum over f(p/q) and of the other formula.
        both_infinite: On how many pairs both are infinite, because a report is possible under one alone.
    """

    divergence: str
    generator: str
    at_one: float
    least_turn: float
    pairs: int
    largest_difference: float
    both_infinite: int


def generators(seed: int, pairs: int) -> Made:
    """Return Table I, checked.

    Args:
        seed: Of the random pairs.
        pairs: How many; in every fourth a report has probability 0.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    given = [_pair(random, k % 4 == 0) for k in range(pairs)]
    rows = []
    for printed, f, at_zero, slope, own in PRINTED:
        by_generator = FDivergence(f"generator {printed}", f, at_zero, slope)
        found = [(by_generator(p, q), own(p, q)) for p, q in given]
        finite = [(a, b) for a, b in found if np.isfinite([a, b]).all()]
        infinite = sum(np.isinf(a) and np.isinf(b) for a, b in found)
        # A pair of which one alone is infinite counts as infinitely far apart.
        worst = max(abs(a - b) / b for a, b in finite) if len(finite) + infinite == pairs else inf
        rows.append(
            GeneratorRow(own.name, printed, float(f(np.ones(1))[0]), _turn(f), pairs, worst, int(infinite))
        )
    return {GENERATORS: [columns_of(row) for row in rows]}


def _pair(random: np.random.Generator, bare: bool) -> tuple[Floats, Floats]:
    m = int(random.integers(2, 9))
    p, q = random.dirichlet(np.ones(m), 2)
    if bare:
        (p if random.random() < 0.5 else q)[random.integers(m)] = 0.0
    return p / p.sum(), q / q.sum()


def _turn(f: Callable[[Floats], Floats]) -> float:
    """Return the least rise of slopes between neighbouring ratios, over the largest slope there."""
    slopes = np.diff(f(_RATIOS)) / np.diff(_RATIOS)
    scale = np.maximum(np.abs(slopes[1:]), np.abs(slopes[:-1]))
    return float((np.diff(slopes) / scale).min())
