"""Leakage of a label: exactly, or a lower bound by an attacker trained on examples."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log, log2, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ..attacks.learned import Classifier, Examples
from ..core import AnyLoss, Bracket, Mechanism, Prior
from ..core.arrays import Floats, floats
from ..errors import InputError
from ..leakage import joint_information_bits
from ..rounding import at_least
from ..statistics import binomial

_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Hiding:
    """Measures of how well a mechanism hides a label, for one joint distribution of labels and useful values.

    ``hit_rate`` is the Bayes vulnerability of the label given a report, and ``loss`` the expected loss of a
    report, in the unit of the loss.
    """

    hit_rate: float
    information_bits: float
    loss: float

    @property
    def error(self) -> float:
        """The Bayes error: the probability that the best guess of the label is wrong."""
        return 1.0 - self.hit_rate


def checked_joint(joint: ArrayLike, values: int, labels: int = 1) -> Floats:
    """Return a joint distribution, array (labels, values), of at least so many labels."""
    p = floats(joint, "the joint distribution", shape=(None, values))
    if len(p) < labels or (p < 0).any() or abs(float(p.sum()) - 1) > _SUM_TOLERANCE:
        raise InputError(
            f"the joint distribution has {len(p)} labels, least value {p.min():g} and sum {p.sum():.12g}.",
            "pass P(x, w): at least two labels, no negative entry, sum 1; Pairs.joint makes one.",
        )
    return p


def hiding(mechanism: Mechanism, joint: ArrayLike, loss: AnyLoss) -> Hiding:
    """Return how well a mechanism hides a label that it does not see.

    The attacker knows the mechanism and the joint distribution. With P(x, z) = sum over w of P(x, w) p(z|w), the
    best guess is right with probability sum over z of max over x of P(x, z). The joint distribution P(x, w), array
    (labels, useful values), sums to one (`Pairs.joint` makes one), and ``loss`` is l(w, z), array (useful values,
    reports), a `Loss` or a `Metric`. Raises `InputError` if sizes do not fit, or the joint distribution does not
    sum to one.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, section II.
    """
    p = checked_joint(joint, mechanism.shape[0])
    shares = p @ mechanism.matrix
    prior = Prior(mechanism.secrets, p.sum(axis=0))
    hit_rate = float(shares.max(axis=0).sum())
    return Hiding(hit_rate, joint_information_bits(shares), mechanism.expected_loss(prior, loss))


@dataclass(frozen=True, slots=True)
class InformationBound:
    """A lower bound of the mutual information of secret and output, in bits.

    Attributes:
        bits: The value is the gain of the attacker's beliefs over the prior on examples that were not learned
            from; on average never above the mutual information, and negative where the beliefs are wrong. The
            lower bound, at least 0, holds except with probability ``failure``; no upper one is known.
    """

    bits: Bracket
    failure: float
    rule: str
    judged_on: int

    def __str__(self) -> str:
        return (
            f"At least {at_least(self.bits.lower)} bits leak (confidence {1 - self.failure:.6g}); "
            f"the beliefs of {self.rule} gain {self.bits.value:.4g} bits."
        )


def information_lower(
    examples: Examples,
    rule: Classifier,
    prior: Prior | None = None,
    *,
    failure: float = 0.05,
    share: float = 0.5,
    caution: float = 0.01,
    seed: int | None = None,
) -> InformationBound:
    """Bound the mutual information from below, for outputs of any kind.

    For any beliefs q(x|z), I(X; Z) >= H(X) - E[-log2 q(x|z)]. The mean is bounded by the empirical Bernstein
    inequality, on examples that the beliefs were not learned from. Raises `InputError` if an argument does not
    fit. Raises `MissingExtraError` if the library of the rule is not installed.

    Args:
        examples: Independent draws of secrets and outputs.
        rule: The classifier that learns beliefs, such as `NeuralClassifier`.
        prior: The distribution that the secrets were drawn from, if it is known; without it the entropy itself is
            bounded from the examples, which costs a lot.
        failure: The probability with which the bound may be wrong.
        share: The part of the examples that learns.
        caution: The part of each belief that is spread evenly, so that every surprise is finite.
        seed: For studies: makes the split and the rule the same each time.

    Source:
        Barber and Agakov, "The IM algorithm", 2003; Maurer and Pontil, "Empirical Bernstein bounds and
        sample-variance penalization", COLT 2009, theorem 4; McDiarmid, 1989, for the entropy.
    """
    binomial.check_failure(failure)
    n = len(examples.space)
    if not 0 < caution < 1:
        raise InputError(f"a caution of {caution} is not between 0 and 1.", "use 0.01.")
    if prior is not None and len(prior) != n:
        raise InputError(f"the prior has {len(prior)} values, but there are {n} secrets.", "pass one on these.")
    if prior is not None:
        examples.space.check_order(prior.space, "the prior")
    learning, judging = examples.split(share, seed=seed)
    beliefs = rule.fit(learning, seed=seed).probabilities(judging.points)
    mixed = (1 - caution) * beliefs[np.arange(len(judging)), judging.secrets] + caution / n
    surprises = -np.log2(mixed)
    k = len(judging)
    if prior is not None:
        entropy, entropy_low, level = prior.entropy_bits, prior.entropy_bits, failure
    else:
        level = failure / 2
        shares = judging.shares[judging.shares > 0]
        entropy = float(-(shares * np.log2(shares)).sum())
        # One example moves the plug-in, which is too low on average, by at most 2 log2(k) / k.
        entropy_low = entropy - 2 * log2(k) * sqrt(log(1 / level) / (2 * k))
    mean = float(surprises.mean())
    most = log2(n / caution)
    reach = sqrt(2 * float(surprises.var(ddof=1)) * log(2 / level) / k) + 7 * most * log(2 / level) / (3 * (k - 1))
    lower = max(0.0, (entropy_low - mean - reach) * (1 - 1e-12))
    return InformationBound(Bracket(lower, entropy - mean, inf), failure, rule.name, k)
