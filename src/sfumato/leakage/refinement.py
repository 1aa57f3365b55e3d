"""Refinement: whether one mechanism is another one with its reports processed, and how far it is from that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ..core import Bracket, Mechanism, Prior
from ..core.arguments import checked
from ..core.arrays import Floats, readonly
from ..core.immutable import CompactRepr
from ..errors import InputError, SolverError, python
from ..rounding import float_below
from .factorisation import MOST, SCALE, TOLERANCES, check_same_secrets, factorise, separation, whole
from .vulnerability import g_vulnerability

_CLOSE: Final = 1e-9  # an error of a processing that floats do not tell from none


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Refinement(CompactRepr):
    """Whether a mechanism refines another one, with the witness.

    Attributes:
        holds: Whether it does: True with a processing whose error is below 1e-9, which is numerical; False with a
            gain that separates them, which is proved; None where neither was found.
        processing: Array (observables of the other, observables of the mechanism), rows that sum to one: the one
            that comes nearest.
        error: The largest difference between what the processing makes of the other and the mechanism.
        gain: Array (guesses, secrets), entries in [-1, 1], under which the mechanism leaks more with an even
            prior; None where it refines.
        advantage: How much more it is worth under that gain, computed exactly and rounded down; 0 where there is
            none.
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


@checked
def refines(mechanism: Mechanism, other: Mechanism) -> Refinement:
    """Return whether a mechanism refines another one: it equals the other one, processed further.

    mechanism = other R for some R whose rows are distributions

    Then it leaks no more under any prior and any gain. Otherwise there is a gain under which it leaks more, with
    an even prior (the coriaceous theorem): the largest violation

        max over |G| <= 1 of  <G, mechanism> - sum over y of max over z of sum over s of other(y|s) G(s, z)

    is the dual of the least error of a processing, so one linear program gives both. The gain is then
    checked over the integers of both mechanisms, so that a False is proved.

    Args:
        mechanism: The mechanism, on n secrets.
        other: Another mechanism on as many secrets.

    Raises:
        InputError: If the secrets differ in number or order, or the program is too large.
        SolverError: If the program was not solved.

    Source:
        McIver, Morgan, Smith, Espinoza and Meinicke, "Abstract channels and their robust information-leakage
        ordering", POST 2014; Alvim et al., "The Science of Quantitative Information Flow" (2020), chapter 9.
    """
    check_same_secrets(mechanism, other)
    a, b = mechanism.matrix, other.matrix
    (n, wanted), given = a.shape, b.shape[1]
    if n * wanted * given > MOST:
        raise InputError(
            f"refinement for {n:,} secrets and {given:,} by {wanted:,} observables is a program of "
            f"{n * wanted * given:,} entries; {MOST:,} are possible.",
            "merge secrets or observables first.",
        )
    # Variables R(y, z) and the error t: (b R - a)(s, z) <= t and >= -t.
    made = sparse.kron(sparse.csr_array(b), sparse.eye_array(wanted), format="csr")
    slack = sparse.csr_array(np.full((n * wanted, 1), -1.0))
    below = sparse.block_array([[made, slack], [-made, slack]], format="csr")
    ones = sparse.kron(sparse.eye_array(given), sparse.csr_array(np.ones((1, wanted))), format="csr")
    equal = sparse.hstack([ones, sparse.csr_array((given, 1))], format="csr")
    cost = np.append(np.zeros(given * wanted), 1.0)
    found = linprog(
        cost,
        A_ub=below,
        b_ub=np.concatenate([a.ravel(), -a.ravel()]),
        A_eq=equal,
        b_eq=np.ones(given),
        method="highs",
    )
    if found.x is None:
        raise SolverError(f"the program of refinement was not solved: {found.message}.", "try smaller mechanisms.")
    processing = np.maximum(found.x[:-1].reshape(given, wanted), 0.0)
    processing /= processing.sum(axis=1, keepdims=True)
    error = float(np.abs(b @ processing - a).max())
    prices = found.ineqlin.marginals
    gain = (prices[: n * wanted] - prices[n * wanted :]).reshape(n, wanted).T
    found_gain = _separating(mechanism, other, gain)
    if found_gain is None and error <= _CLOSE:
        return Refinement(True, readonly(processing), error, None, 0.0)
    if found_gain is None:
        # So little is left that the first program does not tell it from nothing: this one looks closer.
        nearest = factorise(mechanism, other)
        found_gain = _separating(mechanism, other, nearest.gain * nearest.prior.probabilities)
    if found_gain is None:
        return Refinement(None, readonly(processing), error, None, 0.0)
    return Refinement(False, readonly(processing), error, *found_gain)


def _separating(mechanism: Mechanism, other: Mechanism, gain: Floats) -> tuple[Floats, float] | None:
    """Return a gain scaled to [-1, 1], and how much more the mechanism is worth under it with an even prior.

    None where that is not more than nothing.
    """
    largest = float(np.abs(gain).max())
    if not largest > 0:
        return None
    gain = np.rint(gain / largest * SCALE) / SCALE
    advantage = float_below(separation(mechanism, other, whole(gain)) / (len(mechanism.secrets) * SCALE))
    return (readonly(gain), advantage) if advantage > 0 else None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RefinementMetric(CompactRepr):
    """The most that a mechanism leaks more than another one, with the gain that shows it.

    Attributes:
        value: From 0 to 1, between bounds that hold up to rounding. Lower bound and value are what the gain
            attains.
        gain: Array (guesses, secrets), entries of at most 1; the last guess is worth 0 at every secret, so that
            the vulnerability lies in [0, 1].
    """

    value: Bracket
    gain: Floats


@checked
def refinement_metric(mechanism: Mechanism, other: Mechanism, prior: Prior) -> RefinementMetric:
    """Return the most that a mechanism leaks more than another one, under gains whose vulnerability is in [0, 1].

    max over g of  V(mechanism) - V(other)  =  1 - max of  sum over s, z of prior(s) (other R)(z|s)

    over R >= 0 whose rows sum to at most one and with other R <= mechanism where the prior is positive: what no
    processing of the other mechanism can cover. It is 0 where the mechanism refines the other one, and the
    additive capacity where the other one says nothing. `factorise` gives the same for gains in [0, 1].

    Args:
        mechanism: The mechanism, on n secrets.
        other: Another mechanism on as many secrets.
        prior: What the adversary believes, and what is true.

    Raises:
        InputError: If the secrets differ in number or order, the prior does not fit, or the program is too large.
        SolverError: If the program was not solved.

    Source:
        Chatzikokolakis and Smith, "Refinement metrics for quantitative information flow", 2019. The dual:
        docs/proofs/additive-capacity.md.
    """
    check_same_secrets(mechanism, other)
    (n, wanted), given = mechanism.shape, other.shape[1]
    if n * wanted * given > MOST:
        raise InputError(
            f"the metric for {n:,} secrets and {given:,} by {wanted:,} observables is a program of "
            f"{n * wanted * given:,} entries; {MOST:,} are possible.",
            "merge secrets or observables first.",
        )
    joint = mechanism.joint(prior)
    rival = prior.probabilities[:, None] * other.matrix
    covered, prices = _solve_cover(joint, rival)
    upper = max(float((joint - rival @ covered).sum()), 0.0)
    possible = prior.probabilities > 0
    gain = np.ones((wanted + 1, n))
    gain[:-1, possible] -= prices[possible].T
    gain[-1] = 0.0
    beyond = Mechanism.from_weights(other.weights, other.bits, mechanism.secrets)
    lower = max(g_vulnerability(mechanism, prior, gain) - g_vulnerability(beyond, prior, gain), 0.0)
    return RefinementMetric(Bracket(lower, lower, max(lower, upper)), readonly(gain))


def _solve_cover(joint: Floats, rival: Floats) -> tuple[Floats, Floats]:
    """Return the R that covers most, array (given, wanted), scaled to fit, and the prices of covering too much.

    Args:
        joint: Array (n, wanted), the prior times the mechanism.
        rival: Array (n, given), the prior times the other one.
    """
    (n, wanted), given = joint.shape, rival.shape[1]
    made = sparse.kron(sparse.csr_array(rival), sparse.eye_array(wanted), format="csr")
    ones = sparse.kron(sparse.eye_array(given), sparse.csr_array(np.ones((1, wanted))), format="csr")
    found = linprog(
        -np.repeat(rival.sum(axis=0), wanted),
        A_ub=sparse.vstack([made, ones], format="csr"),
        b_ub=np.concatenate([joint.ravel(), np.ones(given)]),
        method="highs",
        options=TOLERANCES,
    )
    if found.x is None:
        raise SolverError(f"the program of the metric was not solved: {found.message}.", "try smaller mechanisms.")
    covered = np.maximum(found.x.reshape(given, wanted), 0.0)
    covered[(rival > 0).T.astype(np.float64) @ (joint == 0) > 0] = 0.0  # would make what the mechanism never does
    covered /= np.maximum(covered.sum(axis=1, keepdims=True), 1.0)
    made_of = rival @ covered
    covered *= np.min(np.where(made_of > joint, joint / np.where(made_of > 0, made_of, 1.0), 1.0), axis=0)
    prices = np.maximum(-found.ineqlin.marginals[: n * wanted].reshape(n, wanted), 0.0)
    return covered, prices
