"""The test of zero leakage: whether the outputs tell anything of the secret at all."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy
from scipy.stats import random_table

from .permutation import PermutationTest, check_permutations, p_value
from .sample import Sample


def zero_leakage_test(
    sample: Sample, *, permutations: int = 999, level: float = 0.05, seed: int | None = None
) -> PermutationTest:
    """Test whether secrets and outputs are independent, by the G statistic.

    G = 2 sum over s, o of n(s, o) ln(n(s, o) n / (n(s) n(o)))

    It is 2 n ln 2 times the plug-in mutual information in bits. Under the hypothesis every
    order of the outputs is equally likely, and random tables with the same margins are
    random orders, so the level is exact for any number of samples.

    Args:
        sample: The samples.
        permutations: How many random tables to compare with.
        level: The probability of rejecting although nothing leaks.
        seed: Of the tables; by default a fresh one.

    Raises:
        InputError: If so few permutations can never reject at the level.

    Source:
        Chatzikokolakis, Chothia and Guha, "Statistical measurement of information
        leakage", TACAS 2010, test by the distribution at zero leakage; here by
        permutation instead of its asymptotic form.
    """
    check_permutations(permutations, level)
    counts = sample.counts[sample.counts.any(axis=1)][:, sample.counts.any(axis=0)]
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    tables = random_table(rows, columns, seed=np.random.default_rng(seed))
    own = float(xlogy(counts, counts).sum())
    # One table at a time: many of a large one would fill the memory.
    permuted = np.array([float(xlogy(t, t).sum()) for t in (tables.rvs() for _ in range(permutations))])
    fixed = float(xlogy(rows, rows).sum() + xlogy(columns, columns).sum() - xlogy(rows.sum(), rows.sum()))
    return PermutationTest(
        "the outputs tell nothing of the secret", 2 * (own - fixed), p_value(own, permuted), permutations, level
    )
