"""Bayes error of a black box, from examples: by a learned rule, and by counts on a grid."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np

from ..attacks.learned import Classifier, Examples, NearestNeighbours, learned
from ..core import Bracket
from ..core.immutable import CompactRepr
from ..statistics import Sample, binomial, estimate_guessing

_ONE_NEIGHBOUR: Final = NearestNeighbours(1)


@dataclass(frozen=True, slots=True, repr=False)
class RiskEstimate(CompactRepr):
    """Bayes error, from a rule that learned from examples.

    Attributes:
        rule: The name of the rule.
        error: The value is the rule's error on held-out examples: on average never below the Bayes error, and
            tending to it as examples grow if the rule is consistent (nearest neighbours with k growing; at no rate
            that holds for every channel). Each bound is wrong with probability ``failure / 2`` at most; the lower
            one is from the frequencies of equal outputs, so 0 where outputs rarely repeat.
        corrected: The error less the gain from the second half of the examples: an estimate with less bias, which
            is no bound; no more than the value of ``error``, or ``blind``.
        limit_lower: A lower bound of the Bayes error with infinitely many examples, by the error of one nearest
            neighbour (Cover and Hart). It is not a bound for these examples.
        blind: The error of the most frequent secret without an output.
        failure: The probability that one of the bounds is wrong.
        learned_from: The number of examples that the rule learned from.
        judged_on: The number of examples that it was judged on.
    """

    rule: str
    error: Bracket
    corrected: float
    limit_lower: float
    blind: float
    failure: float
    learned_from: int
    judged_on: int

    def __str__(self) -> str:
        return (
            f"The Bayes error is {self.error.lower:.4f} to {self.error.upper:.4f} "
            f"(confidence {1 - self.failure:.6g}); {self.rule} err in {self.error.value:.4f} of the cases, "
            f"a guess without the output in {self.blind:.4f}."
        )


def estimate_risk(
    examples: Examples,
    rule: Classifier | None = None,
    *,
    failure: float = 0.05,
    share: float = 0.5,
    seed: int | None = None,
) -> RiskEstimate:
    """Estimate the Bayes error of secret given output, for the distribution of the examples.

    No rule has a smaller error than the Bayes error, so the Clopper-Pearson bound of the held-out error is one of
    the Bayes error; it needs no convergence of the rule. From below, the plug-in of equal outputs never exceeds
    the truth on average (McDiarmid).

    Args:
        examples: Independent draws of secrets and outputs.
        rule: The classifier, such as `NeuralClassifier`; by default nearest neighbours, as many as the logarithm
            of the number of examples.
        failure: The probability with which a bound may be wrong.
        share: The part of the examples that learns.
        seed: For studies: makes the splits and the rule the same each time.

    Raises:
        InputError: If there are too few examples.
        MissingExtraError: If the library of the rule is not installed.

    Source:
        Cherubin, Chatzikokolakis and Palamidessi, "F-BLEAU", S&P 2019; Cover and Hart,
        "Nearest neighbor pattern classification", 1967; Stone, 1977.
    """
    binomial.check_failure(failure)
    chosen = NearestNeighbours() if rule is None else rule
    learning, judging = examples.split(share, seed=seed)
    attack = learned(learning, chosen, judging, seed=seed)
    early = learned(learning.split(0.5, seed=seed)[0], chosen, judging, seed=seed)
    single = attack if chosen == _ONE_NEIGHBOUR else learned(learning, _ONE_NEIGHBOUR, judging, seed=seed)
    wrong, trials = len(judging) - attack.confusion.hits, len(judging)
    blind = 1 - attack.blind_hits / trials
    upper = float(binomial.upper(np.array([wrong]), np.array([trials]), failure / 2)[0])
    return RiskEstimate(
        chosen.name,
        Bracket(_repeated_lower(examples, failure, seed), attack.error, upper),
        max(0.0, min(2 * attack.error - early.error, attack.error, blind)),
        min(cover_hart(single.error, len(examples.space)), blind),
        blind,
        failure,
        len(learning),
        trials,
    )


def cover_hart(error: float, secrets: int) -> float:
    """Return the least Bayes error whose nearest-neighbour rule can have this error R_nn in the limit.

    R_nn <= R (2 - R n / (n - 1)) gives R >= (n - 1) / n (1 - sqrt(1 - n R_nn / (n - 1))), n being the number of
    secrets (Cover and Hart, IEEE Transactions on Information Theory 13(1), 1967).
    """
    most = (secrets - 1) / secrets
    return most * (1 - sqrt(max(0.0, 1 - error / most))) if most > 0 else 0.0


def _repeated_lower(examples: Examples, failure: float, seed: int | None) -> float:
    distinct, where = np.unique(examples.points, axis=0, return_inverse=True)
    if len(np.unique(examples.secrets)) < 2:
        return 0.0
    counts = np.zeros((len(examples.space), len(distinct)))
    np.add.at(counts, (examples.secrets, where.ravel()), 1)
    # A quarter of the failure that is shared there among four bounds falls on this one.
    return max(0.0, estimate_guessing(Sample(counts), failure=min(2 * failure, 0.999), seed=seed).error.lower)
