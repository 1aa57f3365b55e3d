"""What leaks to an attacker who knows the prior, and how far he errs."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..attacks import blind, optimal
from ..core import Mechanism, Metric, Prior
from ..leakage import (
    bayes_vulnerability,
    min_entropy_capacity_bits,
    min_entropy_leakage_bits,
    mutual_information_bits,
    prior_vulnerability,
    shannon_capacity,
)
from ..rounding import at_most
from .findings import Entry


def measures(mechanism: Mechanism, prior: Prior | None, metric: Metric | None) -> Iterator[Entry]:
    """Yield the measures of leakage, and the error of the best attack.

    Args:
        mechanism: The mechanism.
        prior: What the attacker knows; without it only capacities are measured.
        metric: How errors count.
    """
    n, m = mechanism.shape
    sums = (n + m + 8) * 2.0**-52  # relative error of sums of products that are not negative
    logs = (n + m + 16) * 2.0**-51 * (1 + math.log2(n * m))
    if prior is not None:
        hit = bayes_vulnerability(mechanism, prior)
        yield _entry(
            "bayes-vulnerability",
            "Bayes vulnerability",
            "probability",
            hit,
            sums * hit,
            f"The best attacker finds the secret with probability {hit:.4g}; "
            f"{prior_vulnerability(prior):.4g} had he seen nothing.",
            "Smith, FoSSaCS 2009",
        )
        leaked = min_entropy_leakage_bits(mechanism, prior)
        yield _entry(
            "min-entropy-leakage",
            "Min-entropy leakage",
            "bits",
            leaked,
            logs,
            f"A report multiplies the probability of his hit by {2**leaked:.4g}.",
            "Smith, FoSSaCS 2009",
        )
        bits = mutual_information_bits(mechanism, prior)
        yield _entry(
            "mutual-information",
            "Mutual information",
            "bits",
            bits,
            logs,
            f"A report tells {bits:.4g} of the {prior.entropy_bits:.4g} bits of the secret on average.",
            "Shannon, 1948",
        )
        if metric is not None and np.isfinite(metric.array).all():
            error, before = optimal(mechanism, prior, metric).error, blind(prior, metric).error
            unit = f" {metric.unit}" if metric.unit else ""
            yield _entry(
                "distortion",
                "Distortion privacy",
                "error",
                error,
                sums * error,
                f"The best attacker errs by {error:.4g}{unit} on average; {before:.4g}{unit} had he seen nothing.",
                "Shokri, Privacy Games, equation 19",
                unit=metric.unit,
                larger_hides=True,
            )
    most = min_entropy_capacity_bits(mechanism)
    yield _entry(
        "min-entropy-capacity",
        "Min-entropy capacity",
        "bits",
        most,
        logs,
        "Whatever the prior, a report multiplies the probability of a hit by at most "
        f"{at_most(2 ** (most + logs))}.",
        "Braun, Chatzikokolakis and Palamidessi, 2009",
    )
    capacity = shannon_capacity(mechanism)
    yield Entry(
        "shannon-capacity",
        "Shannon capacity",
        "bits",
        capacity.lower_bits,
        max(0.0, capacity.lower_bits - logs),
        capacity.upper_bits + logs,
        sentence="Whatever the prior, a report tells at most "
        f"{at_most(capacity.upper_bits + logs)} bits on average.",
        source="Blahut, 1972; Arimoto, 1972",
    )


def _entry(
    key: str,
    title: str,
    parameter: str,
    value: float,
    rounding: float,
    sentence: str,
    source: str,
    *,
    unit: str = "",
    larger_hides: bool = False,
) -> Entry:
    return Entry(
        key,
        title,
        parameter,
        value,
        max(0.0, value - rounding),
        value + rounding,
        unit=unit,
        larger_hides=larger_hides,
        sentence=sentence,
        source=source,
    )
