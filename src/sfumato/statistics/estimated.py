"""Estimated distributions: how far from the true one they are, with a stated confidence."""

from __future__ import annotations

import math

from ..errors import InputError
from .binomial import check_failure

_OUTWARD = 1 + 2.0**-44  # far above the rounding of these few logarithms and roots


def total_variation_radius(samples: int, values: int, failure: float = 0.05) -> float:
    """Return a total variation within which a distribution estimated from independent samples is of the true one.

    With probability at least 1 - failure, TV(mean of the samples, its expectation) is at most the smaller of

        sqrt(ln((2**m - 2) / failure) / (2 n))                    (Hoeffding, for each set of values)
        sqrt((m - 1) / n) / 2 + sqrt(ln(1 / failure) / (2 n))     (McDiarmid, around the expected distance)

    and of 1. A sample is a value, or a distribution on the values, such as how often one user visits each cell.
    Samples must be independent of each other: visits of one person are not, users drawn at random are.

    Args:
        samples: n, at least 1.
        values: m, how many values are possible, at least 1, whether they were seen or not.
        failure: The probability with which the statement may be wrong.

    Raises:
        InputError: If a number is out of range.

    Example:
        >>> round(total_variation_radius(10_000, 20), 3)
        0.029

    Source:
        Weissman, Ordentlich, Seroussi, Verdu and Weinberger, "Inequalities for the L1 deviation of the empirical
        distribution", HP Laboratories 2003 (the first, with a simpler constant); McDiarmid, "On the method of
        bounded differences", 1989. Proofs: docs/proofs/distribution-privacy.md.
    """
    if samples < 1 or values < 1:
        raise InputError(f"{samples} samples of {values} values were given.", "use numbers of at least 1.")
    check_failure(failure)
    if values == 1:
        return 0.0
    sets = values * math.log(2) + math.log1p(-(2.0 ** (1 - values))) - math.log(failure)
    by_sets = math.sqrt(sets / (2 * samples))
    by_mean = math.sqrt((values - 1) / samples) / 2 + math.sqrt(-math.log(failure) / (2 * samples))
    return min(1.0, min(by_sets, by_mean) * _OUTWARD)
