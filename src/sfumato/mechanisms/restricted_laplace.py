"""The restricted Laplace mechanism: noise that never leaves a disc."""

from __future__ import annotations

import numpy as np

from ..core import AnyLoss, Mechanism, Space, as_loss, units
from ..errors import InfeasibleError, InputError
from ..rounding import amount_at_most


def restricted_laplace(
    space: Space, distance: AnyLoss, epsilon: float | str, radius: float | str, observables: Space | None = None
) -> Mechanism:
    """Return the restricted Laplace mechanism: p(o|s) proportional to exp(-epsilon d(s, o)) within a radius.

    No report is further off than the radius. For that it gives no metric privacy by
    itself: a report tells that the secret is within the radius of it, so secrets with
    different sets of reports can be told apart for certain. Tupling over it restores
    (epsilon, delta) for distributions. Between secrets with the same reports the
    likelihood ratio stays below exp(2 epsilon d).

    Args:
        space: The n secrets.
        distance: d(s, o), array (n, m), at least 0.
        epsilon: Per unit of the distance, at least 0; a number or text such as ``"2/km"``.
        radius: In the unit of the distance; a number or text such as ``"800 m"``. Distances
            that exceed it by a part in 1e12 count as equal to it.
        observables: The m observables; by default the secrets.

    Raises:
        InputError: If sizes differ, or a number is negative.
        InfeasibleError: If a secret has no observable within the radius.
        UnitError: If a unit does not fit.

    Source:
        Kawamoto and Murakami, "Local obfuscation mechanisms for hiding probability
        distributions", ESORICS 2019, (epsilon, r)-restricted Laplace mechanism.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.mechanisms import restricted_laplace
        >>> line = sf.Space.numbers(range(4))
        >>> restricted_laplace(line, line.metric("absolute"), 1.0, 1).matrix.round(3)[0]
        array([0.731, 0.269, 0.   , 0.   ])
    """
    reports = space if observables is None else observables
    found = as_loss(distance, len(space), len(reports))
    if (found.array < 0).any():
        raise InputError("a distance is negative.", "pass distances of at least 0.")
    rate = units.parse(epsilon, per=True, unit=found.unit, what="epsilon")
    limit = units.parse(radius, unit=found.unit, what="the radius")
    if rate < 0 or limit < 0:
        raise InputError(f"epsilon {epsilon} or the radius {radius} is negative.", "use numbers of at least 0.")
    near = found.array <= limit * (1 + 1e-12)
    empty = ~near.any(axis=1)
    if empty.any():
        s = int(np.argmax(empty))
        nearest = units.show(float(found.array[s].min()), found.unit)
        raise InfeasibleError(
            f"{int(empty.sum())} secrets have no observable within {units.show(limit, found.unit)}; the nearest "
            f"to {space.labels[s]!r} is {nearest} away.",
            f"use a radius of at least {amount_at_most(float(found.array.min(axis=1).max()), found.unit)}.",
        )
    closest = np.where(near, found.array, np.inf).min(axis=1, keepdims=True)
    matrix = np.where(near, np.exp(-rate * (found.array - closest)), 0.0)
    return Mechanism(matrix / matrix.sum(axis=1, keepdims=True), space, reports)
