"""Factorisation: the processing of reports, or the mixing of secrets, that comes nearest to another mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from ..core import Bracket, Mechanism, Prior
from ..core.arguments import checked
from ..core.arrays import Floats, readonly
from ..core.immutable import CompactRepr
from ..errors import InputError, SolverError
from ..rounding import float_above, float_below

SCALE: Final = 2**60  # gains are rounded to multiples of one over this, and then exact

Whole = NDArray[Any]  # of Python's integers, which do not overflow
MOST: Final = 4_000_000  # entries of a program that is quickly looked at
TOLERANCES: Final = {
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
}  # HiGHS takes no less
NOISE: Final = 1e-12  # what a solver leaves of a zero
_CLOSE: Final = 1e-9  # a distance that floats do not tell from none
_TINY: Final = float(np.finfo(np.float64).tiny)  # one over it is still finite


def check_same_secrets(mechanism: Mechanism, other: Mechanism) -> None:
    """Refuse two mechanisms whose rows are not about the same secrets; labels of different kinds are left alone.

    Raises:
        InputError: If the numbers of secrets differ, or their labels are the same ones in another order.
    """
    n, secrets = len(mechanism.secrets), len(other.secrets)
    if n != secrets:
        raise InputError(f"the mechanisms have {n:,} and {secrets:,} secrets.", "compare two on the same secrets.")
    mechanism.secrets.check_order(other.secrets, "the other mechanism")


def whole(gains: Floats) -> Whole:
    """Return gains as integers, in units of 1 / `SCALE`; each is rounded down.

    Args:
        gains: Array of any shape.
    """
    found: Whole = np.array([int(value) for value in np.floor(gains * SCALE).ravel().tolist()], dtype=object)
    return found.reshape(gains.shape)


def separation(mechanism: Mechanism, other: Mechanism, weighted: Whole) -> Fraction:
    """Return how much more a mechanism is worth than another one, exactly.

    sum over o of max over z of sum over s of p(o|s) w(z, s) - the same of q

    Args:
        mechanism: The mechanism p.
        other: The other one, q, on as many secrets.
        weighted: Integers (guesses, secrets): the prior of s times what guess z is worth there, in any unit; the
            answer has the same unit.
    """
    own = int((weighted @ mechanism.weights.astype(object)).max(axis=0).sum())
    best = int((weighted @ other.weights.astype(object)).max(axis=0).sum())
    return Fraction(own, 2**mechanism.bits) - Fraction(best, 2**other.bits)


class Nearest(CompactRepr):
    """The channel that comes nearest to a mechanism, with the total variation that is left."""

    __slots__ = ()

    distance: Bracket

    @property
    def exact(self) -> bool:
        """Whether it makes the mechanism to the last of its integers."""
        return self.distance.upper == 0

    def __bool__(self) -> bool:
        """Whether it makes the mechanism within 1e-9 in total variation, which is proved."""
        return self.distance.upper <= _CLOSE


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
    rows, prices = _solve(mechanism.matrix, other.matrix, None if prior is None else prior.probabilities)
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
    lower = _gain_bound(mechanism, other, whole((gain * p).T), prior)
    if lower == 0:
        gain = np.zeros_like(gain)
    return Factorisation(processing, Bracket(lower, upper, upper), believed, readonly(gain.T.copy()))


def _solve(a: Floats, b: Floats, p: Floats | None) -> tuple[Floats, Floats]:
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


def _gain_bound(mechanism: Mechanism, other: Mechanism, weighted: Whole, prior: Prior | None) -> float:
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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LeftFactorisation(Nearest):
    """The mixtures of one mechanism's rows that come nearest to another one's, with both witnesses.

    Attributes:
        mixing: The mechanism from the mechanism's secrets to the other's: the one that comes nearest.
        distance: The total variation that is left for the worst secret, between bounds that are proved over the
            integers: above by the mixing, below by the score. The value is the upper bound.
        secret: The position of the secret for which the score proves the lower bound.
        score: Array (observables,), entries in [0, 1]: its mean over the reports of that secret exceeds its mean
            over the reports of every secret of the other mechanism by at least the lower bound.
    """

    mixing: Mechanism
    distance: Bracket
    secret: int
    score: Floats


@checked
def left_factorise(mechanism: Mechanism, other: Mechanism) -> LeftFactorisation:
    """Return the mixing X with mechanism = X other, or the one that comes nearest in total variation.

    min over X of  max over s of  TV(mechanism(.|s), (X other)(.|s))

    The rows of the mechanism are then mixtures of the other's rows. Where `factorise` processes the report, this
    processes the secret, before the other mechanism sees it.

    Args:
        mechanism: The mechanism.
        other: Another mechanism with as many observables.

    Raises:
        InputError: If the numbers of observables differ, or the program is too large.
        SolverError: If a program was not solved.

    Source:
        Chatzikokolakis, Fernandes and Palamidessi, "Comparing systems: max-case refinement orders and application
        to differential privacy", CSF 2019, where it decides max-case refinement.

    Example:
        >>> import sfumato as sf
        >>> found = sf.leakage.left_factorise(sf.Mechanism([[0.5, 0.5]]), sf.Mechanism([[1, 0], [0.25, 0.75]]))
        >>> found.mixing.matrix.round(9).tolist()
        [[0.333333333, 0.666666667]]
    """
    (n, wanted), (given, columns) = mechanism.shape, other.shape
    if wanted != columns:
        raise InputError(
            f"the mechanisms have {wanted:,} and {columns:,} observables.",
            "compare two on the same observables.",
        )
    mechanism.observables.check_order(other.observables, "the other mechanism")
    if n * wanted * given > MOST:
        raise InputError(
            f"mixing {given:,} secrets for {n:,}, with {wanted:,} observables, is a program of "
            f"{n * wanted * given:,} entries; {MOST:,} are possible.",
            "merge secrets or observables first.",
        )
    solved = [_nearest(row, other.matrix) for row in mechanism.matrix]
    mixing = Mechanism([mixture for mixture, _ in solved], mechanism.secrets, other.secrets)
    bits = other.bits + mixing.bits
    missing = mechanism.weights.astype(object) * 2 ** (bits - mechanism.bits) - (
        mixing.weights.astype(object) @ other.weights.astype(object)
    )
    upper = float_above(Fraction(int(np.maximum(missing, 0).sum(axis=1).max()), 2**bits))
    proofs = [_score_bound(mechanism, s, other, score) for s, (_, score) in enumerate(solved)]
    secret = int(np.argmax(proofs))
    lower = proofs[secret]
    score = solved[secret][1] if lower > 0 else np.zeros(wanted)
    return LeftFactorisation(mixing, Bracket(lower, upper, upper), secret, readonly(score))


def _nearest(row: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the mixture of the rows of an array that comes nearest to a row, and the prices of what it misses."""
    given, wanted = b.shape
    found = linprog(
        np.append(np.zeros(given), np.ones(wanted)),
        A_ub=np.hstack([-b.T, -np.eye(wanted)]),
        b_ub=-row,
        A_eq=np.append(np.ones(given), np.zeros(wanted))[None],
        b_eq=[1.0],
        method="highs",
        options=TOLERANCES,
    )
    if found.x is None:
        raise SolverError(f"the program of mixing was not solved: {found.message}.", "try smaller mechanisms.")
    mixture = np.where(found.x[:given] < NOISE, 0.0, found.x[:given])
    return mixture / mixture.sum(), np.clip(-found.ineqlin.marginals, 0.0, 1.0)


def _score_bound(mechanism: Mechanism, secret: int, other: Mechanism, score: Floats) -> float:
    """Return the least distance of a row that a score proves, computed exactly and rounded down."""
    counts = whole(score)
    own = Fraction(int(mechanism.weights[secret].astype(object) @ counts), 2**mechanism.bits)
    best = Fraction(int((other.weights.astype(object) @ counts).max()), 2**other.bits)
    return max(float_below((own - best) / SCALE), 0.0)
