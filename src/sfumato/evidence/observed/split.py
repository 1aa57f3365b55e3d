"""Splitting samples at random: one part chooses, the other one judges."""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from .binomial import Counts


def split(counts: Counts, share: float, rng: np.random.Generator) -> tuple[Counts, Counts]:
    """Return the counts of a random part of each row's samples, and those of the rest.

    The part is drawn without replacement, as if the single samples had been shuffled, so
    that the two are independent when the samples are.

    Args:
        counts: Array (rows, outputs).
        share: The share of the first part, between 0 and 1.
        rng: Where the randomness comes from.
    """
    if not 0 < share < 1:
        raise InputError(f"a share of {share} leaves one part empty.", "use a share between 0 and 1, such as 0.5.")
    sizes = np.rint(share * counts.sum(axis=1)).astype(np.int64)
    first = np.array(
        [
            rng.multivariate_hypergeometric(row, size, method="marginals")
            for row, size in zip(counts, sizes, strict=True)
        ],
        dtype=np.int64,
    )
    return first, counts - first
