"""Distance of a mechanism from refining another one, under one prior and the widest bounded class of gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ..core import Bracket, Mechanism, Prior
from ..core.arguments import checked
from ..core.arrays import Floats, readonly
from ..core.frozen import Short
from ..errors import InputError, SolverError
from .gain import g_vulnerability
from .separation import check_same_secrets

_MOST: Final = 4_000_000  # entries of the program that are quickly looked at
_TOLERANCE: Final = 1e-10  # the least that HiGHS takes


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RefinementMetric(Short):
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
    if n * wanted * given > _MOST:
        raise InputError(
            f"the metric for {n:,} secrets and {given:,} by {wanted:,} observables is a program of "
            f"{n * wanted * given:,} entries; {_MOST:,} are possible.",
            "merge secrets or observables first.",
        )
    joint = mechanism.joint(prior)
    rival = prior.probabilities[:, None] * other.matrix
    covered, prices = _solved(joint, rival)
    upper = max(float((joint - rival @ covered).sum()), 0.0)
    possible = prior.probabilities > 0
    gain = np.ones((wanted + 1, n))
    gain[:-1, possible] -= prices[possible].T
    gain[-1] = 0.0
    beyond = Mechanism.from_weights(other.weights, other.bits, mechanism.secrets)
    lower = max(g_vulnerability(mechanism, prior, gain) - g_vulnerability(beyond, prior, gain), 0.0)
    return RefinementMetric(Bracket(lower, lower, max(lower, upper)), readonly(gain))


def _solved(joint: Floats, rival: Floats) -> tuple[Floats, Floats]:
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
        options={"primal_feasibility_tolerance": _TOLERANCE, "dual_feasibility_tolerance": _TOLERANCE},
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
