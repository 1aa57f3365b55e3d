"""Estimates of mutual information, of the best guess and of a distribution, from samples."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log, log1p, log2, sqrt
from typing import Final

import numpy as np
from scipy.special import digamma, ndtri, xlogy

from ..core import Bracket, Prior
from ..core.arguments import random_generator
from ..core.arrays import Floats
from ..errors import InputError
from ..rounding import at_least, at_most
from . import binomial
from .binomial import Counts
from .sample import Sample, split

_PAIR_SAMPLES: Final = 5  # samples per pair of secret and output, from trials on channels of known information
_OUTWARD_RADIUS = 1 + 2.0**-44  # far above the rounding of these few logarithms and roots


@dataclass(frozen=True, slots=True, repr=False)
class InformationEstimate:
    """Estimates of the mutual information of secret and output, in bits.

    Nothing here is proved: estimates of entropies are biased for few samples, and the interval is an approximation
    for many. `zero_leakage_test` is exact.

    Attributes:
        bits: The estimate to use, by Grassberger's correction of entropies, between the ends of the approximate
            interval, which are at least 0. The estimate itself may be slightly negative when little leaks.
        plug_in_bits: The mutual information of the shares in the sample: too large.
        miller_madow_bits: The plug-in less the first term of its bias.
        failure: The probability with which the interval misses, approximately.
        scarce: Whether there are fewer than five samples per pair of secret and output; the interval then missed
            up to four times as often as stated in trials.
    """

    bits: Bracket
    plug_in_bits: float
    miller_madow_bits: float
    failure: float
    samples: int
    scarce: bool

    def __repr__(self) -> str:
        return f"InformationEstimate({self.bits} bits from {self.samples:,} samples, not proved)"

    def __str__(self) -> str:
        caution = "; there are too few samples to trust it" if self.scarce else ""
        bits, sure = self.bits, f"{1 - self.failure:.6g}"
        return (
            f"About {max(bits.value, 0.0):.4g} bits leak (approximately {bits.lower:.4g} to {bits.upper:.4g} with "
            f"confidence {sure}, from {self.samples} samples){caution}."
        )


def estimate_information(sample: Sample, *, failure: float = 0.05) -> InformationEstimate:
    """Estimate the mutual information of secret and output, in bits.

    I = H(S) + H(O) - H(S, O), for secrets distributed as in the sample. Each entropy is estimated by
    ln n - sum of k G(k) / n over the counts k, with

        G(k) = psi(k) + (-1)^k (psi((k + 1) / 2) - psi(k / 2)) / 2,

    Compared with the plug-in, Miller-Madow, Chao-Shen and the jackknife on channels of known information, it had
    the least bias from a few samples per pair of secret and output on; with fewer, all of them are off, and
    `scarce` is set. The variance is that of the log ratio p(s, o) / (p(s) p(o)) (the delta method) plus that of
    the chi-square law, which remains where nothing leaks. The interval misses with a probability of approximately
    ``failure``.

    Source:
        Grassberger, "Entropy estimates from insufficient samplings",
        arXiv:physics/0307138, equation 30; Miller, 1955.
    """
    binomial.check_failure(failure)
    counts = sample.counts[sample.counts.any(axis=1)][:, sample.counts.any(axis=0)]
    rows, columns, n = counts.sum(axis=1), counts.sum(axis=0), int(counts.sum())
    plug_in = _plug_in(rows) + _plug_in(columns) - _plug_in(counts)
    count = np.count_nonzero(counts)
    miller = plug_in + (len(rows) + len(columns) - count - 1) / (2 * n * log(2))
    bits = _grassberger(rows) + _grassberger(columns) - _grassberger(counts)
    freedom = (len(rows) - 1) * (len(columns) - 1)
    variance = _variance(counts, plug_in) / n + 2 * freedom / (2 * n * log(2)) ** 2
    reach = -float(ndtri(failure / 2)) * sqrt(variance)
    bracket = Bracket(max(bits - reach, 0.0), bits, max(bits + reach, 0.0))
    return InformationEstimate(bracket, plug_in, miller, failure, n, n < _PAIR_SAMPLES * len(rows) * len(columns))


def _plug_in(counts: Counts) -> float:
    n = counts.sum()
    return float(log(n) - xlogy(counts, counts).sum() / n) / log(2)


def _grassberger(counts: Counts) -> float:
    k = counts[counts > 0].astype(np.float64)
    sign = np.where(k % 2 == 0, 1.0, -1.0)
    g = digamma(k) + sign * (digamma((k + 1) / 2) - digamma(k / 2)) / 2
    return float(log(k.sum()) - k @ g / k.sum()) / log(2)


def _variance(counts: Counts, mean: float) -> float:
    """Return the variance of the log ratio, in bits squared."""
    p: Floats = counts / counts.sum()
    expected = np.outer(p.sum(axis=1), p.sum(axis=0))
    ratio = np.log2(p / expected, out=np.zeros_like(p), where=p > 0)
    return max(float((p * ratio**2).sum()) - mean**2, 0.0)


@dataclass(frozen=True, slots=True, repr=False)
class GuessingEstimate:
    """The probability that the best guess from an output is right (Bayes vulnerability).

    Attributes:
        plug_in: The success of the best guess on the very samples it was learned from: never below the truth on
            average, and far above it where outputs were seen once or twice.
        vulnerability: The bounds are proved; the value is the success, on the judging part, of the guess learned
            on the other part, never above the truth on average.
        prior: The same of the best guess without any output; exact with a prior.
        failure: The probability that any of these bounds is wrong.
    """

    plug_in: float
    vulnerability: Bracket
    prior: Bracket
    failure: float
    samples: int

    @property
    def error(self) -> Bracket:
        """The Bayes error, with proved bounds."""
        success = self.vulnerability
        return Bracket(1.0 - success.upper, 1.0 - success.value, 1.0 - success.lower)

    @property
    def min_entropy_leakage_bits(self) -> Bracket:
        """The min-entropy leakage in bits, with proved bounds; never below 0."""
        after, before = self.vulnerability, self.prior
        return Bracket(
            _ratio_bits(after.lower, before.upper),
            _ratio_bits(after.value, before.value),
            _ratio_bits(after.upper, before.lower),
        )

    def __repr__(self) -> str:
        return f"GuessingEstimate({self.vulnerability} from {self.samples:,} samples)"

    def __str__(self) -> str:
        return (
            f"The best guess from an output is right with probability {at_least(self.vulnerability.lower)} to "
            f"{at_most(self.vulnerability.upper)} (confidence {at_least(1 - self.failure, 6)}); without it, "
            f"{at_least(self.prior.lower)} to {at_most(self.prior.upper)}."
        )


def estimate_guessing(
    sample: Sample,
    prior: Prior | None = None,
    *,
    failure: float = 0.05,
    share: float = 0.5,
    seed: int | None = None,
) -> GuessingEstimate:
    """Bound the Bayes vulnerability and the Bayes error from both sides.

    From below: a guess learned on a random part of the samples is tested on the other part; no guess does better
    than the best one. From above: the plug-in is never below the truth on average, and one sample moves it by at
    most 1/n, so it exceeds the truth less sqrt(ln(1/a) / 2n) with probability 1 - a (McDiarmid). Without a prior
    the pairs of secret and output must be independent draws, and the statement is for the distribution they come
    from. The prior on the sample's secrets is for an auditor who chose the secrets; the bounds are then
    Hoeffding's. ``failure`` is the probability that any bound is wrong, shared equally among them, ``share`` the
    part of the samples that learns the guess, and the seed that of the split. Raises `InputError` if a secret of
    positive prior was not sampled.

    Source:
        McDiarmid, "On the method of bounded differences", 1989; Hoeffding, 1963; Cherubin, Chatzikokolakis and
        Palamidessi, S&P 2019, estimate without bounds.

    Example:
        >>> from sfumato.statistics import Sample, estimate_guessing
        >>> found = estimate_guessing(Sample([[800, 200], [200, 800]]), seed=1)
        >>> found.vulnerability.lower < 0.8 < found.vulnerability.upper
        True
    """
    binomial.check_failure(failure)
    rng = random_generator(seed)
    if prior is None:
        return _of_pairs(sample, failure, share, rng)
    return _of_rows(sample, prior, failure, share, rng)


def _of_pairs(sample: Sample, failure: float, share: float, rng: np.random.Generator) -> GuessingEstimate:
    counts, level = sample.counts, failure / 4
    n = len(sample)
    learning, judging = (part.reshape(counts.shape) for part in split(counts.reshape(1, -1), share, rng))
    guesses = np.where(learning.any(axis=0), learning.argmax(axis=0), int(learning.sum(axis=1).argmax()))
    trials = int(judging.sum())
    hits = int(judging[guesses, np.arange(counts.shape[1])].sum())
    blind = int(judging[learning.sum(axis=1).argmax()].sum())
    plug_in, before = float(counts.max(axis=0).sum() / n), float(counts.sum(axis=1).max() / n)
    reach = sqrt(log(1 / level) / (2 * n))
    low, blind_low = binomial.lower(np.array([hits, blind]), np.array([trials]), level)
    informed = Bracket(float(low), hits / trials if trials else 0.0, _round_up(plug_in + reach))
    blind_bracket = Bracket(float(blind_low), before, _round_up(before + reach))
    return GuessingEstimate(plug_in, informed, blind_bracket, failure, n)


def _of_rows(
    sample: Sample, prior: Prior, failure: float, share: float, rng: np.random.Generator
) -> GuessingEstimate:
    if not sample.secrets_named or len(prior) != len(sample.secrets):
        raise InputError(
            f"the prior has {len(prior)} values, and the sample {len(sample.secrets)} secrets"
            f"{'' if sample.secrets_named else ' in no given order'}.",
            "pass space= with the prior's secrets when making the sample.",
        )
    counts, p, level = sample.counts, prior.probabilities, failure / 2
    missing = (p > 0) & (counts.sum(axis=1) == 0)
    if missing.any():
        raise InputError(
            f"{int(missing.sum())} secrets of positive prior were not sampled, "
            f"such as {sample.secrets.labels[int(missing.argmax())]!r}.",
            "sample every secret that the prior holds possible.",
        )
    learning, judging = split(counts, share, rng)
    plug_in = float(_joint_shares(counts, p).max(axis=0).sum())
    learned = _joint_shares(learning, p)
    # Where nothing was learned about an output, the guess is the most probable secret.
    guesses = np.where(learned.any(axis=0), learned.argmax(axis=0), int(p.argmax()))
    success = float(_joint_shares(judging, p)[guesses, np.arange(counts.shape[1])].sum())
    low = max(success - _reach(judging, p, level), 0.0) * (1 - 1e-12)
    informed = Bracket(low, success, _round_up(plug_in + _reach(counts, p, level)))
    return GuessingEstimate(plug_in, informed, Bracket.exact(float(p.max())), failure, len(sample))


def _joint_shares(counts: Counts, p: Floats) -> Floats:
    """Return prior times observed shares, array (secrets, outputs); a row without samples is zero."""
    totals = counts.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(counts, totals, out=np.zeros(counts.shape), where=totals > 0)
    return p[:, None] * shares


def _reach(counts: Counts, p: Floats, failure: float) -> float:
    """Return by how much a weighted sum of shares exceeds its mean with probability ``failure`` at most."""
    totals = counts.sum(axis=1)
    spread = float((p[totals > 0] ** 2 / totals[totals > 0]).sum())
    return sqrt(log(1 / failure) * spread / 2)


def _ratio_bits(after: float, before: float) -> float:
    if after <= 0:
        return 0.0
    return max(log2(after / before), 0.0) if before > 0 else inf


def _round_up(value: float) -> float:
    return min(value * (1 + 1e-12), 1.0)


def total_variation_radius(samples: int, values: int, failure: float = 0.05) -> float:
    """Return an upper bound of the total variation between a distribution and its estimate from samples.

    With probability at least 1 - failure, TV(mean of the n samples, its expectation) is at most the smaller of

        sqrt(ln((2**m - 2) / failure) / (2 n))                    (Hoeffding, for each set of values)
        sqrt((m - 1) / n) / 2 + sqrt(ln(1 / failure) / (2 n))     (McDiarmid, around the expected distance)

    and of 1, where m values are possible, seen or not. A sample is a value, or a distribution on the values, such
    as the shares of one user's visits to each cell. Samples must be independent of each other: visits of one
    person are not, users drawn at random are. Raises `InputError` if a number is out of range.

    Source:
        Weissman, Ordentlich, Seroussi, Verdu and Weinberger, "Inequalities for the L1 deviation of the empirical
        distribution", HP Laboratories 2003 (the first, with a simpler constant); McDiarmid, "On the method of
        bounded differences", 1989. Proofs: docs/proofs/distribution-privacy.md.
    """
    if samples < 1 or values < 1:
        raise InputError(f"{samples} samples of {values} values were given.", "use numbers of at least 1.")
    binomial.check_failure(failure)
    if values == 1:
        return 0.0
    sets = values * log(2) + log1p(-(2.0 ** (1 - values))) - log(failure)
    by_sets = sqrt(sets / (2 * samples))
    by_mean = sqrt((values - 1) / samples) / 2 + sqrt(-log(failure) / (2 * samples))
    return min(1.0, min(by_sets, by_mean) * _OUTWARD_RADIUS)
