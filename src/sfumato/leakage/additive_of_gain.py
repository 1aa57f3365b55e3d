"""The most that a report adds to what a guess is worth under a given gain, over all priors."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from ..core import Bracket, Mechanism, Prior
from ..core.arguments import checked
from ..core.arrays import Floats, readonly
from ..errors import InputError
from .additive import AdditiveCapacity
from .gain import checked_gains, g_vulnerability, prior_g_vulnerability

_MOST: Final = 2_000_000  # entries of the program that are quickly looked at


@checked
def additive_g_capacity(mechanism: Mechanism, gain: ArrayLike, *, time_limit: float = 60.0) -> AdditiveCapacity:
    """Return the largest additive leakage under a gain, over all priors.

    max over priors of  V(after) - V(before)

    This maximum is NP-hard to find, even for the identity as gain, the Bayes vulnerability. A mixed-integer
    program finds it: each report chooses its guess, and each choice leaves a linear program over the priors.
    Stopped early, it still bounds it: below by the prior found, whose leakage is computed anew; above by the
    solver's bound, which holds to about 1e-6 of the gain's range, or by the range times the capacity under any
    gain, where that is less. With the identity as gain, twenty secrets and reports took about fifteen seconds.

    Under the identity some prior that is even on a set of secrets attains it. With gain = -d the prior makes
    the report worth most in distance.

    Args:
        mechanism: The mechanism.
        gain: Array (guesses, secrets): what guess g is worth when the secret is s; any unit, any sign.
        time_limit: Seconds after which the bounds found so far are returned.

    Returns:
        The capacity in the unit of the gain, with the best prior found.

    Raises:
        InputError: If the gain does not fit, the time limit is not positive, or the program is too large.

    Source:
        Alvim, Chatzikokolakis, McIver, Morgan, Palamidessi and Smith, CSF 2014; "The Science of Quantitative
        Information Flow" (2020), chapter 7. The program: docs/proofs/additive-capacity.md.

    Example:
        >>> import numpy as np
        >>> import sfumato as sf
        >>> merged = sf.Mechanism([[1, 0], [1, 0], [0, 1]])
        >>> round(sf.leakage.additive_g_capacity(merged, np.eye(3)).value.value, 9)
        0.5
    """
    given = checked_gains(gain, len(mechanism.secrets))
    if not time_limit > 0:
        raise InputError(
            f"a time limit of {time_limit} seconds leaves no time.", "use a positive number of seconds."
        )
    matrix = mechanism.matrix[:, mechanism.matrix.any(axis=0)]
    entries = matrix.shape[1] * len(given) ** 2 * len(matrix)
    if entries > _MOST:
        raise InputError(
            f"the capacity under {len(given):,} guesses, for {len(matrix):,} secrets and {matrix.shape[1]:,} "
            f"reports, is a program of {entries:,} entries; {_MOST:,} are possible.",
            "merge secrets, reports or guesses first",
            "use sf.leakage.additive_capacity, which bounds it for every gain.",
        )
    # What every guess is worth at a secret adds to both vulnerabilities.
    shifted = given - given.min(axis=0)
    span = float(shifted.max())
    even = Prior.uniform(mechanism.secrets)
    if span == 0:
        return AdditiveCapacity(Bracket.exact(0.0), even, readonly(given.copy()))
    bound = span * float((matrix[0] - matrix.min(axis=0)).sum())
    found, solved = _solved(matrix, shifted / span, time_limit)
    candidates = [even] if found is None else [even, Prior(mechanism.secrets, found)]
    leaks = [
        g_vulnerability(mechanism, each, shifted) - prior_g_vulnerability(each, shifted) for each in candidates
    ]
    best = int(np.argmax(leaks))
    lower = max(leaks[best], 0.0)
    return AdditiveCapacity(
        Bracket(lower, lower, max(lower, min(bound, solved * span))), candidates[best], readonly(given.copy())
    )


def _solved(matrix: Floats, gain: Floats, time_limit: float) -> tuple[Floats | None, float]:
    """Return the best prior found, if any, and an upper bound of the capacity.

    Variables are the prior pi(s), the vulnerability t before, and for each report o and guess g: whether it is
    made, b(o, g), and what pi and t are where it is, q(o, g, s) and u(o, g), or else 0. This is the convex hull of
    the choices of each report.

    Args:
        matrix: Array (n, m), the mechanism.
        gain: Array (k, n), entries in [0, 1].
        time_limit: In seconds.
    """
    (n, m), k = matrix.shape, len(gain)
    each = m * k
    guesses = sparse.kron(sparse.eye_array(m), _column(k).T)  # the sum over guesses, for each report
    equal = sparse.block_array(
        [
            [_column(n).T, None, None, None, None],
            [None, None, guesses, None, None],
            [
                -sparse.kron(_column(m), sparse.eye_array(n)),
                None,
                None,
                sparse.kron(guesses, sparse.eye_array(n)),
                None,
            ],
            [None, -_column(m), None, None, guesses],
            [None, None, -sparse.eye_array(each), sparse.kron(sparse.eye_array(each), _column(n).T), None],
        ],
        format="csr",
    )
    rights = np.concatenate([np.ones(1 + m), np.zeros(m * n + m + each)])
    below = sparse.block_array(
        [
            [sparse.csr_array(gain), -_column(k), None, None, None],
            [
                sparse.csr_array((each * k, n)),
                None,
                sparse.csr_array((each * k, each)),
                sparse.kron(sparse.eye_array(each), sparse.csr_array(gain)),
                -sparse.kron(sparse.eye_array(each), _column(k)),
            ],
        ],
        format="csr",
    )
    worth = (matrix.T[:, None, :] * gain[None, :, :]).ravel()  # of q(o, g, s)
    cost = np.concatenate([np.zeros(n), [1.0], np.zeros(each), -worth, np.zeros(each)])
    whole_numbers = np.zeros(len(cost))
    whole_numbers[n + 1 : n + 1 + each] = 1
    found = milp(
        cost,
        integrality=whole_numbers,
        bounds=Bounds(0.0, 1.0),
        constraints=[
            LinearConstraint(equal, rights, rights),
            LinearConstraint(below, -np.inf, 0.0),
        ],
        options={"mip_rel_gap": 1e-9} | ({"time_limit": time_limit} if math.isfinite(time_limit) else {}),
    )
    prior = None
    if found.x is not None:
        prior = np.maximum(found.x[:n], 0.0)
        prior /= prior.sum()
    known = found.get("mip_dual_bound")
    return prior, -float(known) if known is not None else math.inf


def _column(size: int) -> sparse.csr_array:
    """Return a column of ones."""
    return sparse.csr_array(np.ones((size, 1)))
