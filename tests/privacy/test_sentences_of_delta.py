"""Claims of sentences with a delta, read back as a statement and held against every set of reports."""

import re
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest

from sfumato.core import Metric
from sfumato.privacy import (
    Claim,
    DeltaOfDifferentialPrivacy,
    DeltaOfProbabilisticDifferentialPrivacy,
    DifferentialPrivacy,
    DistributionPrivacy,
    Family,
    MetricDifferentialPrivacy,
    MetricDistributionPrivacy,
    ProbabilisticDifferentialPrivacy,
    ProbabilisticDistributionPrivacy,
)

NUMBER = r"(\d+(?:\.\d+)?(?:e-?\d+)?)"
ADVANTAGE = re.compile(rf"the probability of any set of reports .* at most {NUMBER} times that .*, plus {NUMBER}")
RARE = re.compile(
    rf"No report is more than {NUMBER} times .*except for reports that together have a probability of at most "
    rf"{NUMBER} "
)
BEYOND = re.compile(rf"A report that is more than {NUMBER} times as likely .* with probability at most {NUMBER}\.")
RESPONSE = [[0.75, 0.25], [0.25, 0.75]]
SEEDS = range(40)


def channel(seed):
    random = np.random.default_rng(seed)
    n, m = int(random.integers(2, 5)), int(random.integers(2, 6))
    weights = random.integers(0, 9, (n, m)) * (random.random((n, m)) < 0.8)
    weights[:, 0] += 32 - weights.sum(axis=1)  # sums of 32: every entry is a float, exactly
    return weights / 32


def numbers(pattern, sentence):
    found = pattern.search(sentence)
    assert found, sentence
    return [Fraction(float(number)) for number in found.groups()]  # a decimal stands for its nearest double


def exactly(rows):
    return [[Fraction(value) for value in row] for row in np.asarray(rows).tolist()]


def holds_as_advantage(sentence, rows):
    """P(R|s) <= factor P(R|s') + delta, for every set R and both orders of every pair."""
    factor, delta = numbers(ADVANTAGE, sentence[0].lower() + sentence[1:])
    return all(
        sum(p[o] for o in chosen) <= factor * sum(q[o] for o in chosen) + delta
        for p, q in permutations(exactly(rows), 2)
        for size in range(len(p) + 1)
        for chosen in combinations(range(len(p)), size)
    )


def holds_for_probable_reports(sentence, rows, pattern):
    """The reports that are beyond the factor have together at most the probability."""
    factor, delta = numbers(pattern, sentence)
    return all(
        sum(a for a, b in zip(p, q, strict=True) if a > factor * b or b > factor * a) <= delta
        for p, q in permutations(exactly(rows), 2)
    )


def test_delta_is_not_the_probability_of_a_report_that_tells_apart():
    found = DeltaOfDifferentialPrivacy(1.0).measure(RESPONSE)
    assert found.sentence == (
        "The probability of any set of reports from one of any two secrets is at most 2.719 times that from the "
        "other, plus 0.07043 (epsilon 1, delta 0.07043)."
    )
    assert holds_as_advantage(found.sentence, RESPONSE)
    # Every report of this mechanism is three times as likely from one secret as from the other.
    stronger = "No report is more than 2.719 times as likely, except for reports that together have a probability "
    assert not holds_for_probable_reports(f"{stronger}of at most 0.07043 (", RESPONSE, RARE)


@pytest.mark.parametrize("seed", SEEDS)
def test_sentences_claim_what_every_set_of_reports_keeps(seed):
    rows = channel(seed)
    n = len(rows)
    delta = float(np.random.default_rng(seed).choice([0.03, 0.1, 0.25]))
    ground = Metric(1.0 - np.eye(n), name="one step")
    family = Family({f"d{i}": row for i, row in enumerate(np.eye(n))})
    notions = [
        DifferentialPrivacy(delta=delta),
        DeltaOfDifferentialPrivacy(0.5),
        DeltaOfDifferentialPrivacy(0.0),
        MetricDifferentialPrivacy(ground, delta),
        DistributionPrivacy(family, delta),
    ]
    for notion in notions:
        found = notion.measure(rows)
        if np.isfinite(found.upper):
            assert holds_as_advantage(notion.sentence(found.upper), rows), notion
    for notion, pattern in (
        (ProbabilisticDifferentialPrivacy(delta=delta), RARE),
        (DeltaOfProbabilisticDifferentialPrivacy(0.5), BEYOND),
    ):
        found = notion.measure(rows)
        if np.isfinite(found.upper):
            assert holds_for_probable_reports(notion.sentence(found.upper), rows, pattern), notion


def test_metric_sentences_of_distributions_scale_the_exponent():
    family = Family({"a": [1.0, 0.0, 0.0], "b": [0.0, 1.0, 0.0], "c": [0.0, 0.0, 1.0]})
    distance = Metric([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]], "km", name="line")
    for delta in (0.0, 0.05):
        notion = MetricDistributionPrivacy(family, distance, delta)
        found = notion.measure([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])
        assert "x distance)" in found.sentence
        assert found.sentence.endswith("the line in km.")


def test_unbounded_sentences():
    truth = np.eye(2)
    assert "one of any two secrets makes and the other never" in DeltaOfDifferentialPrivacy(np.inf).sentence(0.5)
    assert "no epsilon" in ProbabilisticDifferentialPrivacy(delta=0.1).measure(truth).sentence
    family = Family({"a": [1.0, 0.0], "b": [0.0, 1.0]})
    for notion in (DistributionPrivacy(family, 0.1), ProbabilisticDistributionPrivacy(family, 0.1)):
        assert "no epsilon" in notion.measure(truth).sentence


def test_claims_add_delta():
    text = Claim("differential-privacy", epsilon=1.0, delta=0.01).sentence
    assert text.endswith("as likely for one of any two secrets as for the other, plus a probability of 0.01.")
