"""Every entry of an audit, of random channels with zeros, against the definitions by brute force."""

import math

import numpy as np
import pytest

import sfumato as sf
from sfumato.core import Side

from ..privacy.brute import (
    ASKED,
    SETTING,
    channels,
    chi_squared,
    epsilon,
    guesses,
    hellinger,
    information_bits,
    over,
    per_unit,
    related,
    variation,
)

AT = SETTING
DIVERGENCES = {"total-variation": variation, "chi-square": chi_squared, "hellinger": hellinger}
FARTHEST = 6.0
"""The Wasserstein distance of order inf of the two rivals: on a line the sorted coupling is optimal."""


def by_definition(entry, rows):
    """The value of an entry; None where no definition is written out here."""
    found = over_pairs(entry, rows)
    if found is not None:
        return found
    given = set(entry.options)
    if entry.key in ASKED and not given - {"order", "of"}:
        return ASKED[entry.key](rows, AT)
    if given == {"delta"} and f"{entry.key} at delta" in ASKED:
        return ASKED[f"{entry.key} at delta"](rows, AT)
    return {
        "differential-privacy": lambda: ASKED["delta of differential-privacy"](rows, AT),
        "probabilistic-differential-privacy": lambda: ASKED["probabilistic-differential-privacy"](rows, AT),
        "probabilistic-distribution-privacy": lambda: ASKED["probabilistic-distribution-privacy"](rows, AT),
        "metric-distribution-privacy": lambda: (
            over(related(AT.rivals @ rows), lambda p, q: epsilon(p, q, entry.options.get("delta", 0.0))) / FARTHEST
        ),
        "bayes-vulnerability": lambda: 1 - guesses(rows, AT.prior, 1 - np.eye(4)),
        "min-entropy-leakage": lambda: math.log2((1 - guesses(rows, AT.prior, 1 - np.eye(4))) / AT.prior.max()),
        "kind-vulnerability": lambda: 1 - guesses(rows, AT.prior, 1.0 - AT.values),
        "mutual-information": lambda: information_bits(rows, AT.prior),
        "distortion": lambda: guesses(rows, AT.prior, AT.distances),
        "min-entropy-capacity": lambda: math.log2(rows.max(axis=0).sum()),
    }[entry.key]()


def over_pairs(entry, rows):
    """The value of an entry that is about a divergence."""
    of = DIVERGENCES.get(str(entry.options.get("of")))
    if of is None:
        return None
    return {
        "divergence-privacy": lambda: over(related(rows, AT.related), of),
        "divergence-metric-privacy": lambda: per_unit(rows, AT, of),
        "divergence-distribution-privacy": lambda: over(related(AT.rivals @ rows), of),
        "divergence-metric-distribution-privacy": lambda: over(related(AT.rivals @ rows), of) / FARTHEST,
    }[entry.key]()


def check(seed, count):
    rng = np.random.default_rng(seed)
    for rows in channels(rng, count):
        found = sf.audit(
            sf.Mechanism(rows, AT.space),
            prior=sf.Prior(AT.space, AT.prior),
            metric=AT.metric,
            relation=AT.relation,
            events=AT.events,
            family=AT.family,
            interventions=(AT.settings,),
            deltas=(AT.delta,),
            delta_at=(AT.epsilon,),
            orders=(AT.order,),
            also=("rise", "fall", "inferential", "identity", "indistinguishable"),
        )
        for entry in found:
            lower, upper = entry.bracket.lower, entry.bracket.upper
            assert entry.side is not Side.ESTIMATE
            told = entry.as_dict()
            assert told["lower"] is not None
            assert told["upper"] is not None
            assert lower <= upper
            if entry.key == "shannon-capacity":
                beliefs = [AT.prior, *rng.dirichlet(np.ones(4), 5)]
                assert max(information_bits(rows, each) for each in beliefs) <= upper + 1e-11
                continue
            true = by_definition(entry, rows)
            slack = 1e-4 * true if entry.key == "concentrated-privacy" else 1e-11 * (1 + true)
            if math.isinf(true):
                assert entry.value == math.inf, (entry.title, rows)
                continue
            assert lower - slack <= true <= upper + slack, (entry.title, rows, entry.value, true)


def test_entries_are_what_their_definitions_say():
    check(0, 20)


@pytest.mark.slow
def test_entries_are_what_their_definitions_say_of_hundreds_of_channels():
    check(1, 300)
