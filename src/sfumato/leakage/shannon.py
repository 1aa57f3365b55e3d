"""Shannon measures in bits: information in a report, remaining entropy, and capacity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..core import Bracket, Mechanism, Prior
from ..core.arrays import Floats
from ..errors import InputError

_MOST = float(np.finfo(np.float64).max)
_NEAR = 1e-4  # below this relative difference the divergence's terms cancel, and its series is exact
_LEAST: Final = 1e-260  # with weights of at least 2**-126, every observable stays reachable in doubles


def mutual_information_bits(mechanism: Mechanism, prior: Prior) -> float:
    """Return the average information of a report about the secret, in bits.

    I(S; O) = sum over s, o of prior(s) p(o|s) log2(p(o|s) / p(o))

    All terms of the sum are non-negative, so weak leakage keeps its digits.

    Source:
        Cover and Thomas, "Elements of Information Theory", section 2.3.
    """
    marginal = mechanism.marginal(prior)
    support = prior.support
    return float(prior.probabilities[support] @ divergences_bits(mechanism.matrix[support], marginal))


def conditional_entropy_bits(mechanism: Mechanism, prior: Prior) -> float:
    """Return the remaining entropy of the secret after the report, in bits.

    H(S|O) = - sum over s, o of prior(s) p(o|s) log2 p(s|o)

    Source:
        Cover and Thomas, section 2.2; a measure of location privacy in Oya, Troncoso and Perez-Gonzalez, CCS 2017.
    """
    joint, posterior = mechanism.joint(prior), mechanism.posterior(prior).T
    possible = posterior > 0
    return float(-(joint[possible] * np.log2(posterior[possible])).sum()) + 0.0


def joint_information_bits(joint: Floats) -> float:
    """Return the mutual information of two values from the probabilities of their pairs, in bits.

    I(X; Z) = sum over x, z of p(x, z) log2(p(x, z) / (p(x) p(z)))

    The array (x, z) has sum one; from counts, it gives the plug-in estimate, on average too large.

    Source:
        Cover and Thomas, section 2.3.
    """
    support = joint > 0
    conditional = joint / np.where(support.any(axis=1, keepdims=True), joint.sum(axis=1, keepdims=True), 1.0)
    with np.errstate(over="ignore"):  # only where both values are too rare to count
        lift = np.minimum(conditional / np.where(support.any(axis=0), joint.sum(axis=0), 1.0), _MOST)
    return max(float((joint[support] * np.log2(lift[support])).sum()), 0.0)


def divergences_bits(rows: Floats, reference: Floats) -> Floats:
    """Return the KL divergence of each row (k, m) from a reference (m,), positive where a row is; array (k,).

    It is summed as p ln(p / q) - p + q, whose terms are never negative.
    """
    support = reference > 0
    p, q = rows[:, support], reference[support]
    with np.errstate(over="ignore"):  # where a quotient is beyond all floats, the logarithms are subtracted
        ratio, difference = p / q, (p - q) / q
    logarithm = np.log(ratio, out=np.zeros_like(ratio), where=ratio > 0)
    far = np.isinf(ratio)
    logarithm[far] = np.log(p[far]) - np.log(np.broadcast_to(q, p.shape)[far])
    near = np.abs(difference) < 0.5
    logarithm[near] = np.log1p(difference[near])
    terms = p * logarithm - (p - q)
    close = np.abs(difference) < _NEAR
    t = difference[close]
    terms[close] = t * t * (1 / 2 - t * (1 / 6 - t * (1 / 12 - t / 20))) * np.broadcast_to(q, p.shape)[close]
    divergences: Floats = terms.sum(axis=1) / np.log(2)
    return divergences


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ShannonCapacity:
    """The Shannon capacity of a mechanism, between bounds that hold up to rounding.

    Attributes:
        bits: The capacity in bits. Lower bound and value are the mutual information under ``prior``; the upper
            bound is the largest divergence of p(.|s) from the distribution of the report under ``prior``, which no
            prior exceeds.
        prior: The best prior found.
        iterations: The number of steps.
        converged: Whether the bracket is as narrow as requested.
    """

    bits: Bracket
    prior: Prior
    iterations: int
    converged: bool

    def __repr__(self) -> str:
        state = "" if self.converged else ", NOT converged"
        return (
            f"ShannonCapacity between {self.bits.lower:.9g} and {self.bits.upper:.9g} bits "
            f"after {self.iterations} iterations{state}"
        )


def min_entropy_capacity_bits(mechanism: Mechanism) -> float:
    """Return the largest min-entropy leakage under any prior, in bits.

    log2 of the sum over o of max over s of p(o|s)

    The uniform prior attains it. It bounds the leakage under every non-negative gain, and is also known as maximal
    leakage.

    Source:
        Braun, Chatzikokolakis and Palamidessi, MFPS 2009; Issa, Wagner and Kamath, 2020.
    """
    return math.log2(float(mechanism.matrix.max(axis=0).sum()))


def shannon_capacity(
    mechanism: Mechanism, *, tolerance_bits: float = 1e-9, max_iterations: int = 100_000
) -> ShannonCapacity:
    """Return the largest mutual information under any prior, by Blahut-Arimoto.

    C = max over priors of I(S; O), with I(S; O) <= C <= max over s of D(p(.|s) || p(.))

    Each step multiplies the prior of s by 2**D(p(.|s) || p(.)), from the uniform prior. It stops where the bracket
    is as narrow as the tolerance. After the most iterations the answer says that it has not converged, and its
    bracket still holds. Raises `InputError` if the tolerance is not positive or there is no step to take.

    Source:
        Blahut, IEEE Trans. Inf. Theory 18(4), 1972; Arimoto, ibid. 18(1), 1972.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.leakage import shannon_capacity
        >>> erasing = sf.Mechanism([[0.75, 0.25, 0], [0, 0.25, 0.75]])
        >>> round(shannon_capacity(erasing).bits.lower, 9)
        0.75
    """
    if not (math.isfinite(tolerance_bits) and tolerance_bits > 0) or max_iterations < 1:
        raise InputError(
            f"a tolerance of {tolerance_bits} bits and {max_iterations} iterations give no capacity.",
            "use a positive tolerance, such as 1e-9, and at least one iteration.",
        )
    from scipy.special import entr

    matrix = mechanism.matrix[:, mechanism.matrix.any(axis=0)]
    negative_entropies = -entr(matrix).sum(axis=1) / math.log(2)
    p = np.full(len(matrix), 1.0 / len(matrix))
    for iteration in range(1, max_iterations + 1):  # noqa: B007
        divergences = negative_entropies - matrix @ np.log2(p @ matrix)
        if divergences.max() - p @ divergences <= tolerance_bits / 2:
            break
        # No entry becomes 0, so that every observable stays possible.
        weights = np.maximum(p * np.exp2(divergences - divergences.max()), _LEAST)
        p = weights / weights.sum()
    best = Prior(mechanism.secrets, p)
    lower = mutual_information_bits(mechanism, best)
    upper = float(divergences_bits(matrix, p @ matrix).max())
    return ShannonCapacity(Bracket(lower, lower, upper), best, iteration, upper - lower <= tolerance_bits)
