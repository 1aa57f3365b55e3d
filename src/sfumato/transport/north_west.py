"""The north-west corner rule: an optimal coupling in one pass, where the distances allow it."""

from __future__ import annotations

import numpy as np

from ..core.arrays import Floats
from ..errors import InputError
from .coupling import Coupling
from .inputs import Distances, Distribution, distances_between, distribution
from .simplex import exact_masses

_ROUNDING = 1e-12  # of the largest cost


def north_west_corner(first: Distribution, second: Distribution, distances: Distances, p: float = 1.0) -> Coupling:
    """Return the coupling of the north-west corner rule, which is optimal where this succeeds.

    From the first pair on, as much mass as possible is moved and the exhausted side
    advances. The order of the values matters: it must make the cost d**p Monge,

        c(i, j) + c(i', j') <= c(i, j') + c(i', j)    for i < i', j < j'

    and for p = inf the same with max in place of the sums. Distances ``|x - x'|`` on the
    line are, for every p, in the order of x; distances in the plane are not. The masses
    are the exact proportions of the given floats: no rounding in them is ignored.

    Args:
        first: Array (n,), or a prior.
        second: Array (m,), or a prior.
        distances: Array (n, m) of finite numbers, or a metric.
        p: At least 1, or ``inf``.

    Raises:
        InputError: If an argument does not fit, or the cost is not Monge: the rule would
            then be a guess.

    Example:
        >>> import numpy as np
        >>> line = np.abs(np.arange(3)[:, None] - np.arange(3))
        >>> north_west_corner([0.5, 0.5, 0.0], [0.0, 0.5, 0.5], line).expected(line)
        1.0

    Source:
        Hoffman, "On simple linear programming problems", 1963; Burkard, Klinz and Rudolf,
        Discrete Applied Mathematics 70, 1996 (Monge and bottleneck Monge arrays).
    """
    rows, columns = distribution(first, "the first distribution"), distribution(second, "the second distribution")
    d = distances_between(distances, (len(rows), len(columns)), p)
    if np.isinf(d).any():
        raise InputError("a distance is infinite.", "use wasserstein(), which allows it.")
    _check_monge(d, p)
    return Coupling(_staircase(rows, columns), rows, columns)


def _staircase(first: Floats, second: Floats) -> Floats:
    joint = np.zeros((len(first), len(second)))
    rows, columns = exact_masses(first, second)
    total, i, j = sum(rows), 0, 0
    while i < len(rows) and j < len(columns):
        moved = min(rows[i], columns[j])
        joint[i, j] = moved / total
        rows[i] -= moved
        columns[j] -= moved
        if rows[i] == 0:
            i += 1
        else:
            j += 1
    return joint


def _check_monge(d: Floats, p: float) -> None:
    found = _not_bottleneck_monge(d) if np.isinf(p) else _not_monge(d, p)
    if found is None:
        return
    i, i2, j, j2 = found
    sign, what = ("max", "bottleneck Monge") if np.isinf(p) else ("sum", "Monge")
    raise InputError(
        f"the distances at p = {p:g} are not {what} in this order: the {sign} over ({i}, {j}) and ({i2}, {j2}) "
        f"exceeds that over ({i}, {j2}) and ({i2}, {j}), so that the north-west corner rule need not be optimal.",
        "order the values along a line, or use wasserstein(), which needs no order.",
    )


def _not_monge(d: Floats, p: float) -> tuple[int, int, int, int] | None:
    """Return rows i < i' and columns j < j' that violate it; neighbours decide for all."""
    top = float(d.max())
    cost = (d / top if top > 0 else d) ** p
    excess = cost[:-1, :-1] + cost[1:, 1:] - cost[:-1, 1:] - cost[1:, :-1]
    if excess.size == 0 or excess.max() <= _ROUNDING:
        return None
    i, j = divmod(int(excess.argmax()), excess.shape[1])
    return i, i + 1, j, j + 1


def _not_bottleneck_monge(d: Floats) -> tuple[int, int, int, int] | None:
    """Return rows i < i' and columns j < j' with max(a_j, b_j') > max(a_j', b_j), a and b the two rows.

    Neighbours do not decide here. Either a_j exceeds b_j and some later a, or b_j'
    exceeds a_j' and some earlier b; running minima find both.
    """
    n, m = d.shape
    if m < 2:
        return None
    later = np.minimum.accumulate(d[:, ::-1], axis=1)[:, ::-1]
    earlier = np.minimum.accumulate(d, axis=1)
    slack = _ROUNDING * float(d.max())
    for i in range(n - 1):
        a, b = d[i], d[i + 1 :]
        by_a = (a[:-1] > later[i, 1:] + slack) & (a[:-1] > b[:, :-1] + slack)
        by_b = (b[:, 1:] > a[1:] + slack) & (b[:, 1:] > earlier[i + 1 :, :-1] + slack)
        if by_a.any():
            k, j = (int(x) for x in np.argwhere(by_a)[0])
            return i, i + 1 + k, j, j + 1 + int(np.argmin(a[j + 1 :]))
        if by_b.any():
            k, j = (int(x) for x in np.argwhere(by_b)[0])
            return i, i + 1 + k, int(np.argmin(b[k, : j + 1])), j + 1
    return None
