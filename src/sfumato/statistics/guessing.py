"""The best guess from an output (Bayes vulnerability and Bayes error), bounded from samples."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log, log2, sqrt

import numpy as np

from ..core import Bracket, Prior
from ..core.arrays import Floats
from ..errors import InputError
from ..rounding import at_least, at_most
from . import binomial
from .binomial import Counts
from .sample import Sample, split


@dataclass(frozen=True, slots=True, repr=False)
class GuessingEstimate:
    """The probability that the best guess from an output is right (Bayes vulnerability).

    Attributes:
        plug_in: The best guess on the very samples it was learned from: never below the
            truth on average, and far above it where outputs were seen once or twice.
        vulnerability: The Bayes vulnerability. The bounds are proved; the value is the success,
            on the judging part, of the guess learned on the other part, never above the
            truth on average.
        prior: The same of the best guess without any output; exact with a prior.
        failure: The probability that any of these bounds is wrong.
        samples: How many samples there were.
    """

    plug_in: float
    vulnerability: Bracket
    prior: Bracket
    failure: float
    samples: int

    @property
    def error(self) -> Bracket:
        """The Bayes error, with proved bounds."""
        found = self.vulnerability
        return Bracket(1.0 - found.upper, 1.0 - found.value, 1.0 - found.lower)

    @property
    def min_entropy_leakage_bits(self) -> Bracket:
        """The min-entropy leakage in bits, with proved bounds; never below 0."""
        found, before = self.vulnerability, self.prior
        return Bracket(
            _ratio_bits(found.lower, before.upper),
            _ratio_bits(found.value, before.value),
            _ratio_bits(found.upper, before.lower),
        )

    def __repr__(self) -> str:
        return f"GuessingEstimate({self.vulnerability} from {self.samples:,} samples)"

    def __str__(self) -> str:
        """The estimate in words."""
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

    From below: a guess learned on a random part of the samples is tested on the other
    part; no guess does better than the best one. From above: the plug-in is never below
    the truth on average, and one sample moves it by at most 1/n, so it exceeds the truth
    less sqrt(ln(1/a) / 2n) with probability 1 - a (McDiarmid).

    Args:
        sample: The samples. Without a prior, the pairs of secret and output must be
            independent draws, and the statement is for the distribution they come from.
        prior: The prior that is meant, where the secrets were chosen by the auditor; it
            must be on the sample's secrets. The bounds are then Hoeffding's.
        failure: The probability that any bound is wrong; shared equally among them.
        share: The part of the samples that learns the guess.
        seed: Of the split; by default a fresh one.

    Raises:
        InputError: If a secret that the prior holds possible was not sampled.

    Source:
        McDiarmid, "On the method of bounded differences", 1989; Hoeffding, 1963;
        Cherubin, Chatzikokolakis and Palamidessi, S&P 2019, estimate without bounds.

    Example:
        >>> from sfumato.statistics import Sample, estimate_guessing
        >>> found = estimate_guessing(Sample([[800, 200], [200, 800]]), seed=1)
        >>> found.vulnerability.lower < 0.8 < found.vulnerability.upper
        True
    """
    binomial.check_failure(failure)
    rng = np.random.default_rng(seed)
    if prior is None:
        return _of_pairs(sample, failure, share, rng)
    return _of_rows(sample, prior, failure, share, rng)


def _of_pairs(sample: Sample, failure: float, share: float, rng: np.random.Generator) -> GuessingEstimate:
    counts, each = sample.counts, failure / 4
    n = len(sample)
    learning, judging = (part.reshape(counts.shape) for part in split(counts.reshape(1, -1), share, rng))
    guesses = _guesses(learning.astype(np.float64))
    trials = int(judging.sum())
    hits = int(judging[guesses, np.arange(counts.shape[1])].sum())
    blind = int(judging[learning.sum(axis=1).argmax()].sum())
    plug_in, before = float(counts.max(axis=0).sum() / n), float(counts.sum(axis=1).max() / n)
    reach = sqrt(log(1 / each) / (2 * n))
    low, blind_low = binomial.lower(np.array([hits, blind]), np.array([trials]), each)
    return GuessingEstimate(
        plug_in,
        Bracket(float(low), hits / trials if trials else 0.0, _above(plug_in + reach)),
        Bracket(float(blind_low), before, _above(before + reach)),
        failure,
        n,
    )


def _of_rows(
    sample: Sample, prior: Prior, failure: float, share: float, rng: np.random.Generator
) -> GuessingEstimate:
    if not sample.secrets_named or len(prior) != len(sample.secrets):
        raise InputError(
            f"the prior has {len(prior)} values, and the sample {len(sample.secrets)} secrets"
            f"{'' if sample.secrets_named else ' in no given order'}.",
            "pass space= with the prior's secrets when making the sample.",
        )
    counts, p, each = sample.counts, prior.probabilities, failure / 2
    missing = (p > 0) & (counts.sum(axis=1) == 0)
    if missing.any():
        raise InputError(
            f"{int(missing.sum())} secrets of positive prior were not sampled, "
            f"such as {sample.secrets.labels[int(missing.argmax())]!r}.",
            "sample every secret that the prior holds possible.",
        )
    learning, judging = split(counts, share, rng)
    plug_in = float(_weighted(counts, p).max(axis=0).sum())
    learned = _weighted(learning, p)
    # Where nothing was learned about an output, the guess is the likeliest secret.
    guesses = np.where(learned.any(axis=0), learned.argmax(axis=0), int(p.argmax()))
    tested = float(_weighted(judging, p)[guesses, np.arange(counts.shape[1])].sum())
    return GuessingEstimate(
        plug_in,
        Bracket(
            max(tested - _reach(judging, p, each), 0.0) * (1 - 1e-12),
            tested,
            _above(plug_in + _reach(counts, p, each)),
        ),
        Bracket.exact(float(p.max())),
        failure,
        len(sample),
    )


def _guesses(learned: Floats) -> Counts:
    guesses: Counts = np.where(learned.any(axis=0), learned.argmax(axis=0), int(learned.sum(axis=1).argmax()))
    return guesses


def _weighted(counts: Counts, p: Floats) -> Floats:
    """Return prior times observed shares, array (secrets, outputs); a row without samples is zero."""
    totals = counts.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(counts, totals, out=np.zeros(counts.shape), where=totals > 0)
    return p[:, None] * shares


def _reach(counts: Counts, p: Floats, failure: float) -> float:
    """Return how far a weighted sum of shares strays from its mean, with probability ``failure`` at most."""
    totals = counts.sum(axis=1)
    spread = float((p[totals > 0] ** 2 / totals[totals > 0]).sum())
    return sqrt(log(1 / failure) * spread / 2)


def _ratio_bits(after: float, before: float) -> float:
    if after <= 0:
        return 0.0
    return max(log2(after / before), 0.0) if before > 0 else inf


def _above(value: float) -> float:
    return min(value * (1 + 1e-12), 1.0)
