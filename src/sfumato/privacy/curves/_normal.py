"""The normal distribution at probabilities that are known from both ends."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.special import ndtri

from ...core.arrays import Floats
from ...rounding import UNIT

LARGEST: Final = 38.5
"""No float above 0 has a quantile further out."""

QUANTILE_ERROR: Final = 16 * UNIT
"""By how much, relatively, scipy's quantile may be off; held by a test against interval arithmetic."""


def quantile(probability: Floats, complement: Floats) -> Floats:
    """Return the standard normal quantile, to a small relative error even near 0 and 1.

    Args:
        probability: Array of probabilities.
        complement: One minus them, computed without cancellation.
    """
    z = ndtri(np.minimum(probability, complement))
    return np.asarray(np.where(probability <= complement, z, -z))
