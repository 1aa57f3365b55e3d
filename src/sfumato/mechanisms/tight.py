"""The mechanism all of whose constraints are tight."""

from __future__ import annotations

import numpy as np

from ..core import Mechanism, Metric, MetricPrivacy, Space
from ..core.arguments import checked
from ..core.arrays import Floats
from ..errors import InfeasibleError, InputError
from .strict import exponents_of, strictly_private

_SUM_TOLERANCE = 1e-9


@checked
def tight_constraints(space: Space, metric: Metric, epsilon: float | str) -> Mechanism:
    """Return the mechanism p(o|s) = w(o) exp(-epsilon d(s, o)), where there is one.

    The weights solve Phi w = 1 with Phi(s, o) = exp(-epsilon d(s, o)); they exist as
    long as no w(o) is negative, which holds on every line, for the discrete metric, and
    elsewhere from some epsilon on. Each observable is then as informative of its own
    secret against all others as epsilon allows.

    Args:
        space: The n secrets, which are also the observables.
        metric: The metric on them; where the triangle inequality fails, its closure.
        epsilon: Per unit of the metric; a number or text such as ``"0.6/km"``.

    Raises:
        InfeasibleError: If a weight is negative, or two secrets are at distance 0.
        InputError: If the equations are too near to singular for floats.
        UnitError: If the unit of epsilon does not fit.

    Source:
        Shokri's constraints (Privacy Games, equation 10) taken as equations; the
        mechanism is known as "tight constraints" from Chatzikokolakis's libqif.
    """
    guarantee = MetricPrivacy(epsilon, metric)
    return strictly_private(_tight, exponents_of(space, guarantee), space).promising(guarantee)


def _tight(exponents: Floats) -> Floats:
    decay = np.exp(-exponents)
    hint = "use sfumato.design for the optimal mechanism, exponential() for a closed form, or a larger epsilon."
    try:
        weights = np.linalg.solve(decay, np.ones(len(decay)))
    except np.linalg.LinAlgError:
        raise InfeasibleError(
            "no mechanism has all constraints tight: two secrets are at distance 0.", hint
        ) from None
    if (weights < 0).any():
        raise InfeasibleError(
            f"no mechanism has all constraints tight: {int((weights < 0).sum())} of {len(weights)} weights would "
            f"be negative, the least {weights.min():.3g}.",
            hint,
        )
    matrix: Floats = decay * weights
    if (np.abs(matrix.sum(axis=1) - 1) > _SUM_TOLERANCE).any():
        raise InputError("the equations of tight constraints are too near to singular for floats.", hint)
    return matrix
