"""Factorisation: the processing that makes one mechanism of another one, or comes nearest to it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ..core import Bracket, Mechanism, Prior
from ..core.arguments import checked
from ..core.arrays import Floats, readonly
from ..errors import InputError, SolverError
from ..rounding import float_above, float_below
from .nearest import MOST, NOISE, TOLERANCES, Nearest
from .separation import SCALE, Whole, check_same_secrets, separation, whole

_TINY: Final = float(np.finfo(np.float64).tiny)  # one over it is still finite


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Factorisation(Nearest):
    """The processing of one mechanism that comes nearest to another one, with both witnesses.

    Attributes:
        processing: The mechanism from the other's observables to the mechanism's: the one that comes nearest.
        distance: The total variation that is left, between bounds that are proved over the integers: above by
            the processing, below by the gain. The value is the upper bound.
        prior: Under which the gain separates the two; the given one, or the worst.
        gain: Array (guesses, secrets), entries in [0, 1]: under it and the prior the mechanism is worth more than
            the other one by at least the lower bound; all 0 where that is 0.
    """

    processing: Mechanism
    distance: Bracket
    prior: Prior
    gain: Floats


@checked
def factorise(mechanism: Mechanism, other: Mechanism, prior: Prior | None = None) -> Factorisation:
    """Return the processing X with mechanism = other X, or the one that comes nearest in total variation.

    min over X of  max over s of  TV(mechanism(.|s), (other X)(.|s))

    and with a prior the mean over s in place of the maximum. This distance is the deficiency of the other
    mechanism relative to the mechanism, and by its dual it is also

    max over the prior and gains in [0, 1] of  V(mechanism) - V(other):

    the most that the mechanism can leak more. It is 0 exactly where the mechanism refines the other one. Both
    sides are computed again over the integers, so that the bounds are proved whatever the solver did.
    A mechanism is rounded to its integers, so one that was multiplied out in floats is made
    within about 1e-15, and not exactly.

    Args:
        mechanism: The mechanism, on n secrets.
        other: Another mechanism on as many secrets.
        prior: Weights of the secrets; the worst secret counts if it is left out.

    Raises:
        InputError: If the secrets differ in number or order, the prior does not fit, or the program is too large.
        SolverError: If the program was not solved.

    Source:
        Le Cam, "Sufficiency and approximate sufficiency", Ann. Math. Stat. 35(4), 1964; Torgersen, "Comparison of
        Statistical Experiments" (1991), chapter 6.

    Example:
        >>> import numpy as np
        >>> import sfumato as sf
        >>> fine = sf.Mechanism([[0.5, 0.25, 0.25], [0, 0.5, 0.5]])
        >>> coarse = sf.Mechanism([[0.75, 0.25], [0.5, 0.5]])
        >>> found = sf.leakage.factorise(coarse, fine)
        >>> found.exact, found.processing.matrix.tolist()
        (True, [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        >>> round(sf.leakage.factorise(fine, coarse).distance.lower, 9)
        0.2
    """
    check_same_secrets(mechanism, other)
    (n, wanted), given = mechanism.shape, other.shape[1]
    if n * wanted * given > MOST:
        raise InputError(
            f"factorisation for {n:,} secrets and {given:,} by {wanted:,} observables is a program of "
            f"{n * wanted * given:,} entries; {MOST:,} are possible.",
            "merge secrets or observables first.",
        )
    if prior is not None:
        mechanism.joint(prior)  # refuses a prior that does not fit
    rows, prices = _solved(mechanism.matrix, other.matrix, None if prior is None else prior.probabilities)
    processing = Mechanism(rows, other.observables, mechanism.observables)
    if prior is None:
        weights = prices.max(axis=1)
        weights = weights / weights.sum() if weights.any() else np.full(n, 1.0 / n)
        believed = Prior(mechanism.secrets, weights)
    else:
        believed = prior
    p = believed.probabilities[:, None]
    gain = np.where(p > 0, prices / np.maximum(p, _TINY), 0.0)
    gain = np.minimum(gain / max(1.0, float(gain.max()) if prior is None else 1.0), 1.0)
    upper = _left(mechanism, other, processing, prior)
    lower = _proved(mechanism, other, whole((gain * p).T), prior)
    if lower == 0:
        gain = np.zeros_like(gain)
    return Factorisation(processing, Bracket(lower, upper, upper), believed, readonly(gain.T.copy()))


def _solved(a: Floats, b: Floats, p: Floats | None) -> tuple[Floats, Floats]:
    """Return the nearest processing, array (given, wanted), and the prices of what it misses, (secrets, wanted).

    Variables are the processing R(y, z), what is missing e(s, z) >= a - b R and, without a prior, the largest sum.
    """
    (n, wanted), given = a.shape, b.shape[1]
    made = sparse.kron(sparse.csr_array(b), sparse.eye_array(wanted), format="csr")
    missing = sparse.eye_array(n * wanted, format="csr")
    sums = sparse.kron(sparse.eye_array(n), sparse.csr_array(np.ones((1, wanted))), format="csr")
    ones = sparse.kron(sparse.eye_array(given), sparse.csr_array(np.ones((1, wanted))), format="csr")
    worst = sparse.csr_array(np.full((n, 1), -1.0))
    cost = np.concatenate([np.zeros(given * wanted), np.zeros(n * wanted) if p is None else np.repeat(p, wanted)])
    columns = given * wanted + n * wanted
    rows = [sparse.hstack([-made, -missing])]
    limits = [-a.ravel()]
    if p is None:
        cost, columns = np.append(cost, 1.0), columns + 1
        rows = [
            sparse.hstack([rows[0], sparse.csr_array((n * wanted, 1))]),
            sparse.hstack([sparse.csr_array((n, given * wanted)), sums, worst]),
        ]
        limits.append(np.zeros(n))
    found = linprog(
        cost,
        A_ub=sparse.vstack(rows, format="csr"),
        b_ub=np.concatenate(limits),
        A_eq=sparse.hstack([ones, sparse.csr_array((given, columns - given * wanted))], format="csr"),
        b_eq=np.ones(given),
        method="highs",
        options=TOLERANCES,
    )
    if found.x is None:
        raise SolverError(
            f"the program of factorisation was not solved: {found.message}.", "try smaller mechanisms."
        )
    processing = found.x[: given * wanted].reshape(given, wanted)
    processing = np.where(processing < NOISE, 0.0, processing)
    processing /= processing.sum(axis=1, keepdims=True)
    prices = np.maximum(-found.ineqlin.marginals[: n * wanted].reshape(n, wanted), 0.0)
    return processing, prices


def _left(mechanism: Mechanism, other: Mechanism, processing: Mechanism, prior: Prior | None) -> float:
    """Return the total variation that a processing leaves, computed exactly and rounded up."""
    made = other.weights.astype(object) @ processing.weights.astype(object)
    bits = other.bits + processing.bits
    missing = mechanism.weights.astype(object) * 2 ** (bits - mechanism.bits) - made
    each = np.maximum(missing, 0).sum(axis=1)
    if prior is None:
        return float_above(Fraction(int(each.max()), 2**bits))
    parts = (Fraction(p) * int(left) for p, left in zip(prior.probabilities.tolist(), each, strict=True))
    return float_above(sum(parts, Fraction(0)) / 2**bits)


def _proved(mechanism: Mechanism, other: Mechanism, weighted: Whole, prior: Prior | None) -> float:
    """Return the least distance that gains prove, computed exactly and rounded down.

    Args:
        mechanism: The mechanism.
        other: The other one.
        weighted: Integers (guesses, secrets) of at least 0, the prior times the gain in units of 1 / `SCALE`. With
            a prior they are at most it; without one, their maximum over guesses is the prior.
        prior: The given prior.
    """
    total = SCALE if prior is not None else int(weighted.max(axis=0).sum())
    return max(float_below(separation(mechanism, other, weighted) / total), 0.0) if total else 0.0
