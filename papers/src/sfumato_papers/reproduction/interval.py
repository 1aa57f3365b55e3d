"""Means over seeds, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import t as student

from sfumato.core import Bracket


def interval(values: Sequence[float], level: float = 0.95) -> Bracket:
    """Return the mean of independent values, and Student's interval for the mean of what they are drawn from.

    Args:
        values: At least one; of one alone the interval is the whole line.
        level: The probability with which the interval holds the true mean, for values that are normal.

    Returns:
        The lower end, the mean and the upper end.

    Source:
        Student, "The probable error of a mean", Biometrika 1908.
    """
    mean = float(np.mean(values))
    if len(values) < 2:
        return Bracket(-math.inf, mean, math.inf)
    half = float(student.ppf((1 + level) / 2, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values)))
    return Bracket(mean - half, mean, mean + half)
