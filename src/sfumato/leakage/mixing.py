"""Factorisation on the side of the secrets: a mechanism as another one whose secret is drawn at random first."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from ..core import Bracket, Mechanism
from ..core.arguments import checked
from ..core.arrays import Floats, readonly
from ..errors import InputError, SolverError
from ..rounding import float_above, float_below
from .nearest import MOST, NOISE, TOLERANCES, Nearest
from .separation import SCALE, whole


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
    proofs = [_proved(mechanism, s, other, score) for s, (_, score) in enumerate(solved)]
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


def _proved(mechanism: Mechanism, secret: int, other: Mechanism, score: Floats) -> float:
    """Return the least distance of a row that a score proves, computed exactly and rounded down."""
    counts = whole(score)
    own = Fraction(int(mechanism.weights[secret].astype(object) @ counts), 2**mechanism.bits)
    best = Fraction(int((other.weights.astype(object) @ counts).max()), 2**other.bits)
    return max(float_below((own - best) / SCALE), 0.0)
