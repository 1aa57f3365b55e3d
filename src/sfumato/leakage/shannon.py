"""Shannon's measures in bits: the information in a report, and the remaining entropy."""

from __future__ import annotations

import numpy as np

from ..core import Mechanism, Prior
from ..core.arguments import checked
from ..core.arrays import Floats

_MOST = float(np.finfo(np.float64).max)
_NEAR = 1e-4  # below this relative difference the divergence's terms cancel, and its series is exact


@checked
def mutual_information_bits(mechanism: Mechanism, prior: Prior) -> float:
    """Return how much a report tells about the secret on average, in bits.

    I(S; O) = sum over s, o of prior(s) p(o|s) log2(p(o|s) / p(o))

    It is a sum of terms that are never negative, so weak leakage keeps its digits.

    Args:
        mechanism: The mechanism.
        prior: The distribution of the secret.

    Raises:
        InputError: If the prior does not fit the mechanism.

    Source:
        Cover and Thomas, "Elements of Information Theory", section 2.3.
    """
    marginal = mechanism.marginal(prior)
    support = prior.support
    return float(prior.probabilities[support] @ divergences_bits(mechanism.matrix[support], marginal))


@checked
def conditional_entropy_bits(mechanism: Mechanism, prior: Prior) -> float:
    """Return what remains unknown of the secret after the report, in bits.

    H(S|O) = - sum over s, o of prior(s) p(o|s) log2 p(s|o)

    Args:
        mechanism: The mechanism.
        prior: The distribution of the secret.

    Raises:
        InputError: If the prior does not fit the mechanism.

    Source:
        Cover and Thomas, section 2.2; Oya, Troncoso and Perez-Gonzalez, CCS 2017, use it
        as a measure of location privacy.
    """
    joint, posterior = mechanism.joint(prior), mechanism.posterior(prior).T
    possible = posterior > 0
    return float(-(joint[possible] * np.log2(posterior[possible])).sum()) + 0.0


def joint_information_bits(joint: Floats) -> float:
    """Return the mutual information of two values from the probabilities of their pairs, in bits.

    I(X; Z) = sum over x, z of p(x, z) log2(p(x, z) / (p(x) p(z)))

    Args:
        joint: Array (x, z), with sum one; from counts, it is the plug-in estimate, on average too large.

    Source:
        Cover and Thomas, section 2.3.

    Example:
        >>> import numpy as np
        >>> joint_information_bits(np.array([[0.5, 0.0], [0.0, 0.5]]))
        1.0
    """
    seen = joint > 0
    given = joint / np.where(seen.any(axis=1, keepdims=True), joint.sum(axis=1, keepdims=True), 1.0)
    with np.errstate(over="ignore"):  # only where both values are too rare to count
        lift = np.minimum(given / np.where(seen.any(axis=0), joint.sum(axis=0), 1.0), _MOST)
    return max(float((joint[seen] * np.log2(lift[seen])).sum()), 0.0)


def divergences_bits(rows: Floats, reference: Floats) -> Floats:
    """Return the Kullback-Leibler divergence of each row from one distribution, array (rows,).

    It is summed as p ln(p / q) - p + q, whose terms are never negative.

    Args:
        rows: Array (k, m) of distributions.
        reference: Array (m,), positive wherever a row is.
    """
    reached = reference > 0
    p, q = rows[:, reached], reference[reached]
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
