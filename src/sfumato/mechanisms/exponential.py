"""The exponential mechanism."""

from __future__ import annotations

import numpy as np

from ..core import Mechanism, Metric, MetricPrivacy, Space
from ..core.arguments import checked
from ..core.arrays import Floats
from ._strict import exponents_of, joined, strictly_private


@checked
def exponential(space: Space, metric: Metric, epsilon: float | str) -> Mechanism:
    """Return the exponential mechanism, p(o|s) proportional to exp(-epsilon d(s, o) / 2).

    The half pays for the normalisation: the numerators of two secrets differ by at most
    exp(epsilon d / 2), and so do their sums. The true epsilon is usually smaller than
    the one promised (`sfumato.evidence.prove_metric_privacy` finds it).

    Args:
        space: The n secrets, which are also the observables.
        metric: The metric on them; where the triangle inequality fails, its closure.
        epsilon: What is promised, per unit of the metric; a number or text such as
            ``"0.6/km"``.

    Raises:
        InputError: If the metric is not on the space, or epsilon is not positive.
        UnitError: If the unit of epsilon does not fit.

    Source:
        McSherry and Talwar, "Mechanism design via differential privacy", FOCS 2007,
        with the utility -d(s, o).
    """
    guarantee = MetricPrivacy(epsilon, metric)
    return strictly_private(_normalised, exponents_of(space, guarantee), space).promising(guarantee)


def _normalised(exponents: Floats) -> Floats:
    matrix = np.exp(-exponents / 2)
    return joined(matrix / matrix.sum(axis=1, keepdims=True), exponents)
