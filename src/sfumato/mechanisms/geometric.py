"""The truncated geometric mechanism on numbers."""

from __future__ import annotations

import numpy as np

from ..core import Mechanism, MetricPrivacy, Space
from ..core.arguments import checked
from ..core.arrays import Floats
from .strict import exponents_of, strictly_private


@checked
def geometric(space: Space, epsilon: float | str) -> Mechanism:
    """Return the truncated geometric mechanism on a line of numbers.

    ``p(o|s) = w(o) exp(-epsilon |s - o|)``. With gaps g(1), ..., g(n-1) between
    neighbours and t(k) = tanh(epsilon g(k) / 2),

        w(1) = (1 + t(1)) / 2,   w(k) = (t(k-1) + t(k)) / 2,   w(n) = (t(n-1) + 1) / 2.

    On equally spaced numbers it is geometric noise whose reports beyond either end are
    moved to that end. Every pair of neighbours is as distinguishable as epsilon allows;
    followed by the optimal remap (`remapped`) it loses least for every prior and every
    loss that grows with the distance.

    Args:
        space: Numbers (one coordinate each), in any order and spacing.
        epsilon: Per unit of the coordinates, for the metric ``absolute``; a number or
            text such as ``"0.1/year"``.

    Raises:
        InputError: If the space has not exactly one coordinate, or epsilon is not positive.
        UnitError: If the unit of epsilon does not fit.

    Source:
        Ghosh, Roughgarden and Sundararajan, "Universally utility-maximizing privacy
        mechanisms", STOC 2009, section 2. The weights for unequal gaps: see
        docs/proofs/closed-forms.md.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.mechanisms import geometric
        >>> ages = sf.Space.numbers(range(18, 21), unit="year")
        >>> geometric(ages, "1/year").matrix[0].round(3)
        array([0.731, 0.17 , 0.099])
    """
    guarantee = MetricPrivacy(epsilon, space.metric("absolute"))
    return strictly_private(_on_a_line, exponents_of(space, guarantee), space).promising(guarantee)


def _on_a_line(exponents: Floats) -> Floats:
    order = np.argsort(exponents[np.argmax(exponents[0])], kind="stable")
    gaps = exponents[order[:-1], order[1:]]
    t = np.concatenate([[1.0], np.tanh(gaps / 2), [1.0]])
    w = np.empty(len(order))
    w[order] = (t[:-1] + t[1:]) / 2
    matrix: Floats = np.exp(-exponents) * w
    return matrix
