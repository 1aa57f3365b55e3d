"""Accuracy of shares before the first answer: answers, epsilon and margin, each from the other two."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import numpy as np
from scipy.special import betainc, ndtri

from ..core.arrays import Floats
from ..core.bracket import bisect
from ..core.immutable import CompactRepr
from ..errors import InfeasibleError, InputError, argument
from ..mechanisms import bit_probabilities
from ..rounding import about, at_least, at_most
from ..statistics.binomial import check_failure

By = Literal["randomised-response", "optimised-unary", "symmetric-unary"]

MOST_ANSWERS: Final = 10**12
MOST_CATEGORIES: Final = 10**6
_SMALLEST_EPSILON: Final = 1e-6
_LARGEST_EPSILON: Final = 40  # e**40 to one: above it a report is almost surely the truth
_CELLS_PER_ROOT: Final = 40  # cells of means per root of the answers: they add about 1 % to the margin
_MOST_CELLS: Final = 50_000
_NEAR: Final = 1e-3  # relative: how near to the least a number found by halving is
_OUTWARD: Final = 1e-9  # relative: more than the rounding of means and counts
_IN_WORDS: Final[dict[By, str]] = {
    "randomised-response": "randomised response",
    "optimised-unary": "optimised unary encoding",
    "symmetric-unary": "symmetric unary encoding",
}
_BY_NAME: Final[dict[str, By]] = {
    **{by: by for by in _IN_WORDS},
    "grr": "randomised-response",
    "rr": "randomised-response",
    "krr": "randomised-response",
    "k-rr": "randomised-response",
    "oue": "optimised-unary",
    "sue": "symmetric-unary",
    "rappor": "symmetric-unary",
}


def mechanism_named(name: str) -> By:
    """Return the mechanism of answers with a name of its own or of the literature (OUE), in any spelling."""
    plain_name = "-".join(name.casefold().replace("_", " ").replace("-", " ").split())
    plain_name = plain_name.replace("optimized", "optimised").replace("randomized", "randomised")
    if kind := _BY_NAME.get(plain_name.removesuffix("-encoding")):
        return kind
    raise InputError(
        f"{argument('by', name)} is unknown.",
        "use randomised-response (GRR), optimised-unary (OUE) or symmetric-unary (SUE).",
    )


class _Oracle(NamedTuple):
    """A mechanism for categories whose reports each support some of the categories."""

    categories: int
    by: By

    @property
    def distinct_errors(self) -> int:
        """The number of shares with errors of their own; two shares of randomised response have the same error."""
        return 1 if self.categories == 2 and self.by == "randomised-response" else self.categories

    def support(self, epsilon: float) -> tuple[float, float]:
        """Return (p, q): the probability that a report supports the true category, and any other."""
        if self.by == "optimised-unary":
            return bit_probabilities("optimised", epsilon)
        if self.by == "symmetric-unary":
            return bit_probabilities("symmetric", epsilon)
        p = 1 / (1 + (self.categories - 1) * math.exp(-epsilon))
        return p, p * math.exp(-epsilon)


@dataclass(frozen=True, slots=True, repr=False)
class Accuracy(CompactRepr):
    """Accuracy of the shares of k categories from private answers.

    Attributes:
        categories: The number k of possible answers.
        by: The mechanism: ``"randomised-response"``, ``"optimised-unary"`` or ``"symmetric-unary"``.
        epsilon: Of each answer: any two true answers are indistinguishable up to the factor e**epsilon.
        answers: The number of people who answer, each once.
        margin: With probability at least 1 - failure, no estimated share is off by this or more: an upper bound,
            for any true shares and all k categories at once. 1 where nothing was proved.
        single: The same for one category that is named beforehand.
        typical: The margin of one category by the normal approximation, where it is largest; no bound.
    """

    categories: int
    by: By
    epsilon: float
    answers: int
    margin: float
    single: float
    typical: float
    failure: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """The accuracy in words."""
        sample, confidence = f"{self.answers:,} answers at epsilon {at_most(self.epsilon, 6)}", 1 - self.failure
        sure = f"{at_least(100 * confidence, 6)} %"
        if self.margin >= 1:
            return (
                f"With {sample}, nothing can be proved of the shares of {self.categories:,} categories ({sure}): "
                "ask more people, or allow a larger epsilon.",
            )
        return (
            f"With {sample}, each of {self.categories:,} shares is known to within "
            f"{at_most(100 * self.margin, 3)} points, all at once ({sure}, proved for any true shares); one that "
            f"is named beforehand to within {at_most(100 * self.single, 3)} points.",
            f"By the normal approximation, one share is known to within about {about(100 * self.typical, 3)} "
            "points, which is no bound.",
            "This holds for the shares among the people who answer, and for the population that they are drawn "
            f"from independently. It is for the unbiased estimate from answers by {_IN_WORDS[self.by]}, one per "
            "person.",
        )

    def __repr__(self) -> str:
        return self.sentences[0]


def accuracy(
    categories: int,
    *,
    epsilon: float | None = None,
    answers: int | None = None,
    margin: float | None = None,
    failure: float = 0.05,
    by: str = "randomised-response",
) -> Accuracy:
    """Return the accuracy of shares from private answers, given two of ``epsilon``, ``answers`` and ``margin``.

    An answer supports a category with probability q + f (p - q), where f is the category's share. By randomised
    response p = e**epsilon / (e**epsilon + k - 1) and q = p e**-epsilon; by unary encoding they are a bit's. The
    estimate of f is (share of answers that support it - q) / (p - q). It is off by the margin t or more where a
    sum of independent coins, one for each person, is n t (p - q) or more from its mean. For n t (p - q) >= 1 this
    has the largest probability for equal coins, a binomial law, whose tails are bounded on small intervals of its
    mean. The j-th largest of all shares is at most 1/j, and the tails are added up. Raises `InputError` if not two
    of the three are given, one is out of range, or the mechanism is none of these. Raises `InfeasibleError` if no
    epsilon, or no number of answers that is tried, suffices.

    Args:
        categories: The number k of possible answers, at least 2.
        epsilon: A pure number.
        answers: The number of people who answer, each once.
        margin: The largest error of an estimated share, such as 0.012 for 1.2 points.
        failure: The probability that a share is off by more.
        by: ``"randomised-response"``, or ``"optimised-unary"`` or ``"symmetric-unary"`` for
            `mechanisms.UnaryEncoding`, which is better for many categories; or GRR, OUE or SUE.

    Source:
        Hoeffding, "On the distribution of the number of successes in independent trials", Annals of Mathematical
        Statistics 27, 1956, theorem 4: P(S <= c) is largest for equal coins where c <= E S - 1. OpenDP's
        conversions between accuracy and scale are the model.

    Example:
        >>> import sfumato as sf
        >>> sf.accuracy(4, epsilon=1, answers=10_000).margin < 0.05
        True
        >>> sf.accuracy(4, epsilon=1, margin=0.05).answers < 10_000
        True
        >>> sf.accuracy(64, epsilon=1, answers=10_000, by="optimised-unary").margin < 0.09
        True
    """
    kind = mechanism_named(by)
    for name, value, least, most, hint in (
        ("categories", categories, 2, MOST_CATEGORIES, "give the number of possible answers."),
        ("epsilon", epsilon, _SMALLEST_EPSILON, _LARGEST_EPSILON, "use a number such as 1."),
        ("answers", answers, 1, MOST_ANSWERS, "give the number of people who answer."),
    ):
        if value is not None and not least <= value <= most:
            raise InputError(f"{argument(name, value)} is not between {least} and {most:,}.", hint)
    risk = check_failure(failure)
    count = sum(value is not None for value in (epsilon, answers, margin))
    if count != 2:
        raise InputError(
            f"two of {argument('epsilon')}, {argument('answers')} and {argument('margin')} are needed, and the "
            f"third is found; {count} were given.",
            "give two of them.",
        )
    if margin is not None and not 0 < margin < 1:
        raise InputError(
            f"{argument('margin', margin)} is not between 0 and 1.",
            f"use {argument('margin', 0.012)} for 1.2 points.",
        )
    oracle = _Oracle(categories, kind)
    if answers is None and epsilon is not None and margin is not None:
        answers = _answers_for(oracle, epsilon, margin, risk)
    elif epsilon is None and answers is not None and margin is not None:
        epsilon = _epsilon_for(oracle, answers, margin, risk)
    if epsilon is None or answers is None:
        raise AssertionError  # two of three were given
    every, single = (_margin_of(oracle, epsilon, answers, risk, shares) for shares in (oracle.distinct_errors, 1))
    every = every if margin is None else min(every, float(margin))
    typical = _typical(oracle, epsilon, answers, risk)
    return Accuracy(categories, kind, float(epsilon), int(answers), every, single, typical, risk)


def _margin_of(oracle: _Oracle, epsilon: float, answers: int, failure: float, shares: int) -> float:
    """Return a margin for which the failure probability suffices; 1 where none below 1 was found."""

    def suffices(margin: float) -> bool:
        return _miss_bound(oracle, epsilon, answers, margin, shares) <= failure

    guess = min(0.999, _typical(oracle, epsilon, answers, failure / shares))
    if not suffices(0.999999):
        return 1.0
    low, high = 0.0, guess
    while not suffices(high):
        low, high = high, min(0.999999, 1.1 * high)
    while not low:
        low, high = (0.0, 0.5 * high) if suffices(0.5 * high) else (0.5 * high, high)
    return bisect(suffices, low, high, relative=_NEAR).holds


def _answers_for(oracle: _Oracle, epsilon: float, margin: float, failure: float) -> int:
    def suffices(n: float) -> bool:
        return _miss_bound(oracle, epsilon, int(n), margin, oracle.distinct_errors) <= failure

    high = max(1, math.ceil((_typical(oracle, epsilon, 1, failure / oracle.categories) / margin) ** 2))
    low = 0
    while not (high <= MOST_ANSWERS and suffices(high)):
        if high > MOST_ANSWERS:
            raise InfeasibleError(
                f"not even {MOST_ANSWERS:,} answers are enough for a margin of {100 * margin:g} points at epsilon "
                f"{epsilon:g}.",
                f"raise {argument('margin')} or {argument('epsilon')}.",
            )
        low, high = high, max(high + 1, math.ceil(1.1 * high))
    while not low and high > 1:
        low, high = (0, high // 2) if suffices(high // 2) else (high // 2, high)
    return bisect(suffices, low, high, stop=lambda low, high: high - low <= max(1, int(_NEAR * high))).holds


def _epsilon_for(oracle: _Oracle, answers: int, margin: float, failure: float) -> float:
    def suffices(epsilon: float) -> bool:
        return _miss_bound(oracle, epsilon, answers, margin, oracle.distinct_errors) <= failure

    if not suffices(_LARGEST_EPSILON):
        without = "without privacy" if oracle.by == "randomised-response" else f"at epsilon {_LARGEST_EPSILON:g}"
        try:
            enough = f"{_answers_for(oracle, _LARGEST_EPSILON, margin, failure):,}"
        except InfeasibleError:
            enough = f"more than {MOST_ANSWERS:,}"
        raise InfeasibleError(
            f"{answers:,} answers are too few for a margin of {100 * margin:g} points, even {without}.",
            f"{enough} answers would be enough {without}",
            f"raise {argument('margin')}.",
        )
    low, high = 0.0, _SMALLEST_EPSILON
    while not suffices(high):
        low, high = high, min(_LARGEST_EPSILON, 2 * high)
    return bisect(suffices, low, high, relative=_NEAR).holds if low else high


def _miss_bound(oracle: _Oracle, epsilon: float, answers: int, margin: float, shares: int) -> float:
    """Return an upper bound of the probability that one of the ``shares`` largest shares is off by the margin."""
    p, q = oracle.support(epsilon)
    reach = margin * (p - q) * (1 - _OUTWARD)
    if answers * reach < 1:
        return 1.0
    cells = int(min(_MOST_CELLS, max(64, _CELLS_PER_ROOT * math.sqrt(answers))))
    means = np.clip(q + (p - q) * np.linspace(0, 1, cells + 1), 0.0, 1.0)
    tails = _tails(answers, reach, means[:-1], means[1:])  # too many
    tails += _tails(answers, reach, 1 - means[1:], 1 - means[:-1])  # too few
    # At 10**12 answers the relative error of betainc is 1.4e-9 in SciPy 1.17, and 5.3e-5 in SciPy 1.15.
    worst = np.maximum.accumulate(np.minimum(1.0, tails * (1 + (1e-8 + 2e-16 * answers))))
    ranks = np.arange(1, min(shares, cells) + 1)
    within = np.ceil(cells / ranks * (1 + _OUTWARD)).astype(np.intp)  # a share of at most 1/j lies in these cells
    return float(worst[np.minimum(within, cells) - 1].sum() + (max(0, shares - cells) * worst[0]))


def _tails(answers: int, reach: float, low: Floats, high: Floats) -> Floats:
    """Return, for every mean in each interval, an upper bound of P(X >= n (mean + reach)), X binomial."""
    least = np.ceil(answers * (low + reach) * (1 - _OUTWARD))
    possible = least <= answers
    tails = np.zeros(len(low))
    c = np.maximum(least[possible], 1.0)
    tails[possible] = betainc(c, answers - c + 1, high[possible])
    return tails


def _typical(oracle: _Oracle, epsilon: float, answers: int, failure: float) -> float:
    p, q = oracle.support(epsilon)
    mean = min(max(0.5, q), p)
    return float(ndtri(1 - failure / 2) * math.sqrt(mean * (1 - mean) / answers) / (p - q))
