"""Factorisation and refinement: whether one mechanism is another one with processed reports or secrets."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from ..core import Bracket, Mechanism, Prior
from ..core.arrays import Floats, readonly
from ..core.immutable import CompactRepr
from ..errors import InputError, SolverError, python
from ..rounding import float_above, float_below
from .vulnerability import g_vulnerability

_SCALE: Final = 2**60  # gains are rounded down to exact multiples of one over this

Whole = NDArray[Any]  # of Python's integers, which do not overflow
_MOST: Final = 4_000_000  # largest number of entries of a program
_TOLERANCES: Final = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), 1e-10)
_NOISE: Final = 1e-12  # a solver's error of a zero
_CLOSE: Final = 1e-9  # a distance, or an error of a processing, that counts as 0 in floats
_TINY: Final = float(np.finfo(np.float64).tiny)  # one over it is still finite


def _check_same_secrets(mechanism: Mechanism, other: Mechanism) -> None:
    """Raise InputError for two mechanisms on different secrets; labels of different kinds may differ."""
    n, secrets = len(mechanism.secrets), len(other.secrets)
    if n != secrets:
        raise InputError(f"the mechanisms have {n:,} and {secrets:,} secrets.", "compare two on the same secrets.")
    mechanism.secrets.check_order(other.secrets, "the other mechanism")


def _check_size(task: str, entries: int) -> None:
    if entries > _MOST:
        raise InputError(f"{task} needs {entries:,} entries; {_MOST:,} are possible.", "merge secrets or reports.")


def _solution(name: str, cost: Floats, **program: Any) -> Any:
    """Return scipy's solution of a linear program in variables of at least 0."""
    solution = linprog(cost, method="highs", **program)
    if solution.x is None:
        raise SolverError(f"the program of {name} was not solved: {solution.message}.", "try smaller mechanisms.")
    return solution


def _whole(gains: Floats) -> Whole:
    """Return gains as integers, in units of 1 / `_SCALE`, rounded down."""
    integers: Whole = np.array([int(value) for value in np.floor(gains * _SCALE).ravel().tolist()], dtype=object)
    return integers.reshape(gains.shape)


def _separation(mechanism: Mechanism, other: Mechanism, weighted: Whole) -> Fraction:
    """Return the exact difference in worth of two mechanisms; integers (guesses, secrets) are prior times gain."""
    sums = [int((weighted @ channel.weights.astype(object)).max(axis=0).sum()) for channel in (mechanism, other)]
    return Fraction(sums[0], 2**mechanism.bits) - Fraction(sums[1], 2**other.bits)


class Nearest(CompactRepr):
    """The channel nearest to a mechanism, with the remaining total variation."""

    __slots__ = ()

    distance: Bracket

    @property
    def exact(self) -> bool:
        """Whether it makes the mechanism exactly, in its integers."""
        return self.distance.upper == 0

    def __bool__(self) -> bool:
        """Whether it provably makes the mechanism within 1e-9 in total variation."""
        return self.distance.upper <= _CLOSE


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Factorisation(Nearest):
    """The processing of one mechanism that comes nearest to another one, with both witnesses.

    Attributes:
        processing: The nearest mechanism from the other's observables to the mechanism's.
        distance: The remaining total variation, between bounds that are proved over the integers: above by the
            processing, below by the gain. The value is the upper bound.
        prior: The prior for the gain: the given one, or the worst.
        gain: Array (guesses, secrets), entries in [0, 1]: under it and the prior the mechanism is worth more than
            the other one by at least the lower bound; all 0 where that is 0.
    """

    processing: Mechanism
    distance: Bracket
    prior: Prior
    gain: Floats


def factorise(mechanism: Mechanism, other: Mechanism, prior: Prior | None = None) -> Factorisation:
    """Return the processing X with mechanism = other X, or the one that comes nearest in total variation.

    min over X of  max over s of  TV(mechanism(.|s), (other X)(.|s))

    and with a prior, as weights of the secrets, the mean over s in place of the maximum. This distance is the
    deficiency of the other mechanism relative to the mechanism, and by its dual it is also

    max over the prior and gains in [0, 1] of  V(mechanism) - V(other):

    the most that the mechanism can leak more. It is 0 exactly where the mechanism refines the other one. Both
    sides are computed again over the integers, so the bounds are proved even if the solver was wrong. A mechanism
    is rounded to its integers, so one that was multiplied out in floats is made within about 1e-15, and not
    exactly. Raises `InputError` if the secrets differ in number or order, the prior does not fit, or the program
    is too large. Raises `SolverError` if the program was not solved.

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
    _check_same_secrets(mechanism, other)
    (n, m), columns = mechanism.shape, other.shape[1]
    _check_size(f"factorisation for {n:,} secrets and {columns:,} by {m:,} observables", n * m * columns)
    if prior is not None:
        mechanism.joint(prior)  # refuses a prior that does not fit
    rows, prices = _solve(mechanism.matrix, other.matrix, None if prior is None else prior.probabilities)
    processing = Mechanism(rows, other.observables, mechanism.observables)
    believed = prior
    if believed is None:
        weights = prices.max(axis=1)
        believed = Prior(mechanism.secrets, weights / weights.sum() if weights.any() else np.full(n, 1.0 / n))
    p = believed.probabilities[:, None]
    gain = np.where(p > 0, prices / np.maximum(p, _TINY), 0.0)
    gain = np.minimum(gain / max(1.0, float(gain.max()) if prior is None else 1.0), 1.0)
    upper = _residual(mechanism, other, processing, prior)
    # With a prior the weights are at most it; without one, their maximum over guesses is the prior.
    weighted = _whole((gain * p).T)
    total = _SCALE if prior is not None else int(weighted.max(axis=0).sum())
    lower = max(float_below(_separation(mechanism, other, weighted) / total), 0.0) if total else 0.0
    if lower == 0:
        gain = np.zeros_like(gain)
    return Factorisation(processing, Bracket(lower, upper, upper), believed, readonly(gain.T.copy()))


def _solve(a: Floats, b: Floats, p: Floats | None) -> tuple[Floats, Floats]:
    """Return the nearest processing, array (inputs, m), and prices of the missing mass, (secrets, m)."""
    # Variables are the processing R(y, z), the missing e(s, z) >= a - b R and, without a prior, the largest sum.
    (n, m), inputs = a.shape, b.shape[1]
    product = sparse.kron(sparse.csr_array(b), sparse.eye_array(m), format="csr")
    missing = sparse.eye_array(n * m, format="csr")
    sums = sparse.kron(sparse.eye_array(n), sparse.csr_array(np.ones((1, m))), format="csr")
    ones = sparse.kron(sparse.eye_array(inputs), sparse.csr_array(np.ones((1, m))), format="csr")
    worst = sparse.csr_array(np.full((n, 1), -1.0))
    cost = np.concatenate([np.zeros(inputs * m), np.zeros(n * m) if p is None else np.repeat(p, m)])
    columns = inputs * m + n * m
    rows = [sparse.hstack([-product, -missing])]
    limits = [-a.ravel()]
    if p is None:
        cost, columns = np.append(cost, 1.0), columns + 1
        rows = [
            sparse.hstack([rows[0], sparse.csr_array((n * m, 1))]),
            sparse.hstack([sparse.csr_array((n, inputs * m)), sums, worst]),
        ]
        limits.append(np.zeros(n))
    solution = _solution(
        "factorisation",
        cost,
        A_ub=sparse.vstack(rows, format="csr"),
        b_ub=np.concatenate(limits),
        A_eq=sparse.hstack([ones, sparse.csr_array((inputs, columns - inputs * m))], format="csr"),
        b_eq=np.ones(inputs),
        options=_TOLERANCES,
    )
    processing = solution.x[: inputs * m].reshape(inputs, m)
    processing = np.where(processing < _NOISE, 0.0, processing)
    processing /= processing.sum(axis=1, keepdims=True)
    prices = np.maximum(-solution.ineqlin.marginals[: n * m].reshape(n, m), 0.0)
    return processing, prices


def _residual(mechanism: Mechanism, first: Mechanism, second: Mechanism, prior: Prior | None = None) -> float:
    """Return the total variation that two mechanisms in sequence leave, computed exactly and rounded up."""
    product = first.weights.astype(object) @ second.weights.astype(object)
    bits = first.bits + second.bits
    missing = mechanism.weights.astype(object) * 2 ** (bits - mechanism.bits) - product
    deficits = np.maximum(missing, 0).sum(axis=1)
    if prior is None:
        return float_above(Fraction(int(deficits.max()), 2**bits))
    parts = (Fraction(p) * int(left) for p, left in zip(prior.probabilities.tolist(), deficits, strict=True))
    return float_above(sum(parts, Fraction(0)) / 2**bits)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LeftFactorisation(Nearest):
    """The mixtures of one mechanism's rows that come nearest to another one's, with both witnesses.

    Attributes:
        mixing: The nearest mechanism from the mechanism's secrets to the other's.
        distance: The remaining total variation for the worst secret, between bounds that are proved over the
            integers: above by the mixing, below by the score. The value is the upper bound.
        secret: The position of the secret for which the score proves the lower bound.
        score: Array (observables,), entries in [0, 1]: its mean over the reports of that secret exceeds its mean
            over the reports of every secret of the other mechanism by at least the lower bound.
    """

    mixing: Mechanism
    distance: Bracket
    secret: int
    score: Floats


def left_factorise(mechanism: Mechanism, other: Mechanism) -> LeftFactorisation:
    """Return the mixing X with mechanism = X other, or the one that comes nearest in total variation.

    min over X of  max over s of  TV(mechanism(.|s), (X other)(.|s))

    The rows of the mechanism are then mixtures of the other's rows. `factorise` processes the report; this
    processes the secret, before the other mechanism sees it. Raises `InputError` if the numbers of observables
    differ, or the program is too large. Raises `SolverError` if a program was not solved.

    Source:
        Chatzikokolakis, Fernandes and Palamidessi, "Comparing systems: max-case refinement orders and application
        to differential privacy", CSF 2019, where it decides max-case refinement.

    Example:
        >>> import sfumato as sf
        >>> found = sf.leakage.left_factorise(sf.Mechanism([[0.5, 0.5]]), sf.Mechanism([[1, 0], [0.25, 0.75]]))
        >>> found.mixing.matrix.round(9).tolist()
        [[0.333333333, 0.666666667]]
    """
    (n, m), (inputs, columns) = mechanism.shape, other.shape
    if m != columns:
        raise InputError(f"the mechanisms have {m:,} and {columns:,} observables.", "they must be the same.")
    mechanism.observables.check_order(other.observables, "the other mechanism")
    _check_size(f"mixing {inputs:,} secrets for {n:,}, with {m:,} observables,", n * m * inputs)
    solutions = [_nearest(row, other.matrix) for row in mechanism.matrix]
    mixing = Mechanism([mixture for mixture, _ in solutions], mechanism.secrets, other.secrets)
    upper = _residual(mechanism, mixing, other)
    proofs = [_score_bound(mechanism, s, other, score) for s, (_, score) in enumerate(solutions)]
    secret, lower = int(np.argmax(proofs)), max(proofs)
    score = solutions[secret][1] if lower > 0 else np.zeros(m)
    return LeftFactorisation(mixing, Bracket(lower, upper, upper), secret, readonly(score))


def _nearest(row: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the mixture of the rows of an array nearest to a row, and the prices of the missing mass."""
    count, m = b.shape
    solution = _solution(
        "mixing",
        np.append(np.zeros(count), np.ones(m)),
        A_ub=np.hstack([-b.T, -np.eye(m)]),
        b_ub=-row,
        A_eq=np.append(np.ones(count), np.zeros(m))[None],
        b_eq=[1.0],
        options=_TOLERANCES,
    )
    mixture = np.where(solution.x[:count] < _NOISE, 0.0, solution.x[:count])
    return mixture / mixture.sum(), np.clip(-solution.ineqlin.marginals, 0.0, 1.0)


def _score_bound(mechanism: Mechanism, secret: int, other: Mechanism, score: Floats) -> float:
    """Return the least distance of a row that a score proves, computed exactly and rounded down."""
    counts = _whole(score)
    mean = Fraction(int(mechanism.weights[secret].astype(object) @ counts), 2**mechanism.bits)
    best = Fraction(int((other.weights.astype(object) @ counts).max()), 2**other.bits)
    return max(float_below((mean - best) / _SCALE), 0.0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Refinement(CompactRepr):
    """Whether a mechanism refines another one, with the witness.

    Attributes:
        holds: True with a processing whose error is below 1e-9, which is numerical; False with a gain that
            separates them, which is proved; None where neither was found.
        processing: Array (observables of the other, observables of the mechanism), rows that sum to one: the
            nearest processing.
        error: The largest difference between the processed other mechanism and the mechanism.
        gain: Array (guesses, secrets), entries in [-1, 1], under which the mechanism leaks more with an even
            prior; None where it refines.
        advantage: The additional worth under that gain, computed exactly and rounded down, or 0.
    """

    holds: bool | None
    processing: Floats
    error: float
    gain: Floats | None
    advantage: float

    def __bool__(self) -> bool:
        if self.holds is None:
            raise SolverError(
                "whether it refines the other one is not known: neither a processing nor a gain was found.",
                python("look at .holds, which is None, and at .error."),
            )
        return self.holds


def refines(mechanism: Mechanism, other: Mechanism) -> Refinement:
    """Return whether a mechanism refines another one: it equals the other one, processed further.

    mechanism = other R for some R whose rows are distributions

    Then it leaks no more under any prior and any gain. Otherwise there is a gain under which it leaks more, with
    an even prior (the coriaceous theorem): the largest violation

        max over |G| <= 1 of  <G, mechanism> - sum over y of max over z of sum over s of other(y|s) G(s, z)

    is the dual of the least error of a processing, so one linear program gives both. The gain is then checked over
    the integers of both mechanisms, so that a False is proved. Raises `InputError` if the secrets differ in number
    or order, or the program is too large. Raises `SolverError` if the program was not solved.

    Source:
        McIver, Morgan, Smith, Espinoza and Meinicke, "Abstract channels and their robust information-leakage
        ordering", POST 2014; Alvim et al., "The Science of Quantitative Information Flow" (2020), chapter 9.
    """
    _check_same_secrets(mechanism, other)
    a, b = mechanism.matrix, other.matrix
    (n, m), columns = a.shape, b.shape[1]
    _check_size(f"refinement for {n:,} secrets and {columns:,} by {m:,} observables", n * m * columns)
    # Variables R(y, z) and the error t: (b R - a)(s, z) <= t and >= -t.
    product = sparse.kron(sparse.csr_array(b), sparse.eye_array(m), format="csr")
    slack = sparse.csr_array(np.full((n * m, 1), -1.0))
    ones = sparse.kron(sparse.eye_array(columns), sparse.csr_array(np.ones((1, m))), format="csr")
    solution = _solution(
        "refinement",
        np.append(np.zeros(columns * m), 1.0),
        A_ub=sparse.block_array([[product, slack], [-product, slack]], format="csr"),
        b_ub=np.concatenate([a.ravel(), -a.ravel()]),
        A_eq=sparse.hstack([ones, sparse.csr_array((columns, 1))], format="csr"),
        b_eq=np.ones(columns),
    )
    processing = np.maximum(solution.x[:-1].reshape(columns, m), 0.0)
    processing /= processing.sum(axis=1, keepdims=True)
    error = float(np.abs(b @ processing - a).max())
    prices = solution.ineqlin.marginals
    gain = (prices[: n * m] - prices[n * m :]).reshape(n, m).T
    found_gain = _separating(mechanism, other, gain)
    if found_gain is None and error > _CLOSE:
        # The error is too small for the first program; this one has a smaller tolerance.
        nearest = factorise(mechanism, other)
        found_gain = _separating(mechanism, other, nearest.gain * nearest.prior.probabilities)
    if found_gain is None:
        return Refinement(True if error <= _CLOSE else None, readonly(processing), error, None, 0.0)
    return Refinement(False, readonly(processing), error, *found_gain)


def _separating(mechanism: Mechanism, other: Mechanism, gain: Floats) -> tuple[Floats, float] | None:
    """Return a gain scaled to [-1, 1], and its advantage above 0 with an even prior, or None."""
    largest = float(np.abs(gain).max())
    if not largest > 0:
        return None
    gain = np.rint(gain / largest * _SCALE) / _SCALE
    advantage = float_below(_separation(mechanism, other, _whole(gain)) / (len(mechanism.secrets) * _SCALE))
    return (readonly(gain), advantage) if advantage > 0 else None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RefinementMetric(CompactRepr):
    """The most that a mechanism leaks more than another one, with the gain that shows it.

    Attributes:
        value: From 0 to 1, between bounds that hold up to rounding; the gain attains lower bound and value.
        gain: Array (guesses, secrets), entries of at most 1; the last guess is worth 0 at every secret, so that
            the vulnerability lies in [0, 1].
    """

    value: Bracket
    gain: Floats


def refinement_metric(mechanism: Mechanism, other: Mechanism, prior: Prior) -> RefinementMetric:
    """Return the most that a mechanism leaks more than another one, under gains whose vulnerability is in [0, 1].

    max over g of  V(mechanism) - V(other)  =  1 - max of  sum over s, z of prior(s) (other R)(z|s)

    over R >= 0 whose rows sum to at most one and with other R <= mechanism where the prior is positive: the mass
    that no processing of the other mechanism can cover. It is 0 where the mechanism refines the other one, and the
    additive capacity where the other one says nothing. The prior is the adversary's belief and the truth.
    `factorise` gives the same for gains in [0, 1]. Raises `InputError` if the secrets differ in number or order,
    the prior does not fit, or the program is too large. Raises `SolverError` if the program was not solved.

    Source:
        Chatzikokolakis and Smith, "Refinement metrics for quantitative information flow", 2019. The dual:
        docs/proofs/additive-capacity.md.
    """
    _check_same_secrets(mechanism, other)
    (n, m), columns = mechanism.shape, other.shape[1]
    _check_size(f"the metric for {n:,} secrets and {columns:,} by {m:,} observables", n * m * columns)
    joint = mechanism.joint(prior)
    rival = prior.probabilities[:, None] * other.matrix
    covered, prices = _solve_cover(joint, rival)
    upper = max(float((joint - rival @ covered).sum()), 0.0)
    possible = prior.probabilities > 0
    gain = np.ones((m + 1, n))
    gain[:-1, possible] -= prices[possible].T
    gain[-1] = 0.0
    beyond = Mechanism.from_weights(other.weights, other.bits, mechanism.secrets)
    lower = max(g_vulnerability(mechanism, prior, gain) - g_vulnerability(beyond, prior, gain), 0.0)
    return RefinementMetric(Bracket(lower, lower, max(lower, upper)), readonly(gain))


def _solve_cover(joint: Floats, rival: Floats) -> tuple[Floats, Floats]:
    """Return the R that covers most, array (columns, m), scaled to fit, and prices of covering too much."""
    (n, m), columns = joint.shape, rival.shape[1]
    product = sparse.kron(sparse.csr_array(rival), sparse.eye_array(m), format="csr")
    ones = sparse.kron(sparse.eye_array(columns), sparse.csr_array(np.ones((1, m))), format="csr")
    solution = _solution(
        "the metric",
        -np.repeat(rival.sum(axis=0), m),
        A_ub=sparse.vstack([product, ones], format="csr"),
        b_ub=np.concatenate([joint.ravel(), np.ones(columns)]),
        options=_TOLERANCES,
    )
    covered = np.maximum(solution.x.reshape(columns, m), 0.0)
    covered[(rival > 0).T.astype(np.float64) @ (joint == 0) > 0] = 0.0  # reports that the mechanism never makes
    covered /= np.maximum(covered.sum(axis=1, keepdims=True), 1.0)
    made_of = rival @ covered
    covered *= np.min(np.where(made_of > joint, joint / np.where(made_of > 0, made_of, 1.0), 1.0), axis=0)
    prices = np.maximum(-solution.ineqlin.marginals[: n * m].reshape(n, m), 0.0)
    return covered, prices
