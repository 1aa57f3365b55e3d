"""Chains of implications: the tightest is found, the reasons are said, the gaps are named."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError
from sfumato.privacy import (
    NOTION_KEYS,
    AdversarialPrivacy,
    Claim,
    DifferentialPrivacy,
    DivergencePrivacy,
    Events,
    Family,
    NegativeMembershipPrivacy,
    NoiselessPrivacy,
    PositiveMembershipPrivacy,
    Priors,
    ProbabilisticDifferentialPrivacy,
    ProbabilisticDistributionPrivacy,
    Relation,
    TradeOff,
    convert,
)
from sfumato.privacy.atlas import SEPARATIONS

from ...catalogue import geometric, line, unused
from .claimed import DIVERGENCES, halves, line_relation, satisfied

N = 4
LINE = sf.Metric(line(N), "km")
NEAR = line_relation(N)
SPACE, HALVES = halves(N)
DP = Claim("differential-privacy", epsilon=1.0)

WANTED: dict[str, dict[str, Any]] = {
    "divergence-privacy": {"divergence": "total variation"},
    "divergence-distribution-privacy": {"divergence": "total variation"},
    "metric-privacy": {"metric": sf.Metric(line(N))},
    "metric-distribution-privacy": {"metric": sf.Metric(line(N)), "order": math.inf},
    "renyi-privacy": {"order": 2.0},
    "semantic": {"maps": np.zeros((1, N), dtype=int)},
    "causal": {"interventions": (np.array([[0, 0, 2, 2], [1, 1, 3, 3]]),)},
    "inference-based-causal": {"interventions": (np.array([[0, 0, 2, 2], [1, 1, 3, 3]]),)},
    "distortion": {
        "distance": sf.Metric(line(N)),
        "priors": Priors.of(sf.Prior(SPACE, [0.5, 0.25, 0.25, 0.0])),
    },
}
UNREACHED = {"divergence-metric-privacy", "divergence-metric-distribution-privacy"}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("notion", sorted(set(NOTION_KEYS) - UNREACHED))
def test_local_differential_privacy_reaches_the_notion(notion):
    rng = np.random.default_rng(3)
    for rows in (unused(rng.dirichlet(np.ones(3), N)), unused(geometric(N, 0.3))):
        found = DifferentialPrivacy().measure(rows)
        chain = convert(found, notion, **WANTED.get(notion, {}))
        assert chain.claim.notion == notion
        assert satisfied(chain.claim, rows, rng), chain
        assert len(chain.reasons) >= len(chain)
        assert str(chain.claim) in str(chain) or chain.claim.sentence in str(chain)


@pytest.mark.parametrize("notion", sorted(UNREACHED))
def test_unknown_implications_are_refused(notion):
    with pytest.raises(InputError, match="no implication is known"):
        convert(DP, notion)


@given(st.floats(0.05, 4.0), st.floats(1e-6, 0.2))
@settings(max_examples=10)
def test_chains_never_promise_too_much_for_randomised_response(epsilon, delta):
    rng = np.random.default_rng(0)
    rows = np.array([[1.0, math.exp(-epsilon)], [math.exp(-epsilon), 1.0]]) / (1 + math.exp(-epsilon))
    start = Claim("differential-privacy", epsilon=epsilon * (1 + 1e-12))
    for notion, wanted in [("differential-privacy", {"delta": delta}), ("adversarial", {"delta": delta})]:
        chain = convert(start, notion, **wanted)
        assert satisfied(chain.claim, rows, rng)
        assert chain.claim["delta"] <= delta
        # The coin attains both, so a smaller epsilon would be false.
        if chain.claim["epsilon"] > 1e-3:
            smaller = chain.claim.with_values(epsilon=chain.claim["epsilon"] * 0.99)
            assert not satisfied(smaller, rows, rng)


def test_tightest_of_several_chains():
    # To Kullback-Leibler privacy lead the direct way, Rényi and concentrated privacy, bounded range.
    chain = convert(Claim("bounded-range", eta=1.0), "kl-privacy")
    assert chain.claim["epsilon"] == pytest.approx(1 / 8, rel=1e-12)
    assert chain.edges[0].name == "range-to-zcdp"
    chain = convert(DP, "kl-privacy")
    assert [edge.name for edge in chain.edges] == ["dp-to-kl"]
    # A known prior of one half makes membership privacy better than epsilon: ln((1 + e) / 2).
    half = convert(DP, "membership", priors=Priors.of_range(0.5, 0.5))
    assert half.claim["epsilon"] == pytest.approx(math.log((1 + math.e) / 2), rel=1e-12)


def test_metric_privacy_within_a_limit_and_over_the_diameter():
    start = sf.MetricPrivacy("0.6/km", LINE)
    near = convert(start, "differential-privacy", relation=Relation.of_radius(LINE, "2 km"))
    assert near.claim["epsilon"] == pytest.approx(1.2, rel=1e-15)
    assert convert(start, "differential-privacy").claim["epsilon"] == pytest.approx(1.8, rel=1e-15)
    # In metres an epsilon per metre is a thousandth.
    metres = convert(start, "metric-privacy", metric=LINE.to("m")).claim
    assert metres["epsilon"] == pytest.approx(0.0006, rel=1e-12)
    assert "in m" in metres.sentence


def test_near_secrets_reach_far_ones_in_hops():
    start = sf.ThresholdPrivacy(0.5, LINE, "1 km")
    chain = convert(start, "differential-privacy", relation=Relation.all(N))
    assert chain.claim["epsilon"] == pytest.approx(1.5, rel=1e-15)
    assert [edge.name for edge in chain.edges] == ["dp-groups"]


def test_infinite_distances_need_no_protection():
    apart = np.full((N, N), math.inf)
    apart[:2, :2] = apart[2:, 2:] = 1 - np.eye(2)
    towns = sf.Metric(apart)
    assert convert(DP, "metric-privacy", metric=towns).claim["epsilon"] == 1.0
    with pytest.raises(InputError, match="infinite distance"):
        convert(sf.MetricPrivacy(1.0, towns), "differential-privacy")
    inside = Relation(apart == 1, "people of one town")
    chain = convert(sf.MetricPrivacy(0.3, towns), "differential-privacy", relation=inside)
    assert chain.claim["epsilon"] == 0.3
    assert "people of one town" in chain.claim.sentence


def test_curves_and_back():
    rows = np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]])
    claim = Claim("trade-off", curve=TradeOff.of(rows))
    for epsilon in (0.1, 0.5, 1.0):
        chain = convert(claim, "differential-privacy", epsilon=epsilon)
        exact = max(np.maximum(p - math.exp(epsilon) * q, 0).sum() for p, q in (rows, rows[::-1]))
        assert chain.claim["delta"] == pytest.approx(exact, abs=1e-12)
        assert chain.claim["delta"] >= exact
    both = Claim("differential-privacy", epsilon=0.7, delta=0.1)
    again = convert(convert(both, "trade-off").claim, both.notion, epsilon=0.7)
    assert again.claim["delta"] == pytest.approx(0.1, abs=1e-12)


def test_families_of_distributions():
    rng = np.random.default_rng(4)
    rows = unused(rng.dirichlet(np.ones(3), N))
    given = [[0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0.5, 0.5]]
    lifted = Family.lift(given, NEAR)
    near = DifferentialPrivacy(NEAR, 0.02).measure(rows)
    chain = convert(near, "distribution-privacy", family=lifted)
    assert chain.claim["delta"] == pytest.approx(0.02, abs=1e-12)
    assert satisfied(chain.claim, rows, rng)
    weak = convert(near, "probabilistic-distribution-privacy", family=lifted)
    assert weak.claim["epsilon"] == pytest.approx(2 * near.value)
    assert satisfied(weak.claim, rows, rng)
    with pytest.raises(InputError, match="couplings within the relation"):
        convert(near, "distribution-privacy", family=Family(given))
    everywhere = convert(DifferentialPrivacy().measure(rows), "distribution-privacy", family=Family(given))
    assert satisfied(everywhere.claim, rows, rng)


def test_printed_constants_are_not_copied():
    assert convert(Claim("kl-privacy", epsilon=0.02), "differential-privacy").claim["delta"] == pytest.approx(0.1)
    assert convert(DP, "kl-privacy").claim["epsilon"] < min(1.0, 1.0**2)
    weak = convert(Claim("differential-privacy", epsilon=1.0, delta=0.01), "probabilistic-differential-privacy")
    assert weak.claim["epsilon"] == 2.0
    assert weak.claim["delta"] < 2 * 0.01 / (1 - math.exp(-1))


def test_refusals_say_what_is_missing():
    with pytest.raises(InputError, match=r"finite order must be given"):
        convert(Claim("concentrated-privacy", rho=1.0), "renyi-privacy")
    with pytest.raises(InputError, match=r"epsilon or a delta above 0 must be given"):
        convert(Claim("gaussian", mu=1.0), "differential-privacy", delta=0.0)
    with pytest.raises(InputError, match=r"metric must be given"):
        convert(DP, "metric-privacy")
    start = Claim("divergence-privacy", epsilon=0.02, divergence="total variation")
    with pytest.raises(InputError, match=r"a counterexample is known: .*no finite epsilon"):
        convert(start, "differential-privacy", delta=0.0)
    with pytest.raises(InputError, match="has no parameter 'colour'"):
        convert(DP, "kl-privacy", colour="red")
    with pytest.raises(InputError, match="no notion of privacy is called"):
        convert(DP, "secrecy")
    with pytest.raises(InputError, match="guarantees nothing"):
        Claim.of(DifferentialPrivacy().measure(np.eye(2)))
    with pytest.raises(InputError, match="without the prior"):
        Claim.of(sf.DistortionPrivacy(1.0, LINE))


def test_claims_are_checked():
    with pytest.raises(InputError, match="without epsilon"):
        Claim("differential-privacy")
    with pytest.raises(InputError, match="without metric"):
        Claim("metric-privacy", epsilon=1.0)
    with pytest.raises(InputError, match="finite number"):
        Claim("differential-privacy", epsilon=math.inf)
    with pytest.raises(InputError, match="order"):
        Claim("renyi-privacy", epsilon=1.0, order=0.5)
    shown = Claim("metric-privacy", epsilon="0.6/km", metric=LINE)
    assert "d is their distance in km" in shown.sentence
    assert not Claim("differential-privacy", epsilon=1.0, relation=NEAR).implies(DP)
    assert DP.implies(Claim("differential-privacy", epsilon=1.5, delta=0.1, relation=NEAR))


@pytest.mark.thinned(3)
@pytest.mark.parametrize("notion", sorted(set(NOTION_KEYS) - UNREACHED))
def test_findings_become_claims(notion):
    rows = np.full((N, 2), 0.5) + 0.1 * np.outer([1, -1, 2, 0], [1, -1])
    claim = convert(DifferentialPrivacy().measure(rows), notion, **WANTED.get(notion, {})).claim
    measure = claim.to_notion()
    if measure is None or not claim.numbers:  # such claims are stated by hand
        return
    found = measure.measure(rows)
    again = Claim.of(found)
    assert again.notion == notion
    assert next(iter(again.numbers.values())) == found.upper
    # The finding is at least as strong, up to the rounding that it allows for.
    if notion == "event-ratio":
        claim = claim.with_values(fall=math.inf)  # a finding is about one of its numbers
    assert again.with_values(**{next(iter(again.numbers)): found.lower}).implies(claim)


def test_separations_are_between_notions():
    assert {key for pair in SEPARATIONS for key in pair} <= set(NOTION_KEYS)


def test_separating_mechanisms():
    infinite = math.inf
    # Small total variation, no finite epsilon (errata H2).
    rows = np.array([[0.98, 0.02, 0.0], [0.98, 0.0, 0.02]])
    assert DivergencePrivacy(DIVERGENCES["total variation"]).measure(rows).value == pytest.approx(0.02)
    assert DifferentialPrivacy().measure(rows).value == infinite
    # Differential privacy with epsilon 0 and delta .021, and yet a fact is certain after the second report.
    assert DifferentialPrivacy(delta=0.021).measure(rows).upper < 1e-12
    assert AdversarialPrivacy(Priors.of_range(0.1, 0.1), 0.021).measure(rows).value > math.log(9)
    # Positive, not negative.
    space = sf.Space(["s", "t"])
    rows, fact = np.array([[1.0, 0.0], [0.5, 0.5]]), Events.sets(space, [["s"]])
    assert PositiveMembershipPrivacy(Priors.all(), fact).measure(rows).value == pytest.approx(math.log(2))
    assert NegativeMembershipPrivacy(Priors.all(), fact).measure(rows).value == infinite
    assert DifferentialPrivacy().measure(rows).value == infinite
    # The parity of two fair bits.
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    assert NoiselessPrivacy(Priors.of(sf.Prior.uniform(SPACE)), HALVES).measure(rows).value == 0.0
    assert DifferentialPrivacy().measure(rows).value == infinite
    # Bad sets of different pairs of secrets join.
    rows = np.array([[0.1, 0.12, 0.78], [0.12, 0.1, 0.78], [0.0, 0.12, 0.88], [0.12, 0.1, 0.78]])
    pairs = np.zeros((4, 4), dtype=bool)
    pairs[0, 2] = pairs[2, 0] = pairs[1, 3] = pairs[3, 1] = True
    epsilon, delta = 0.5, 0.1
    assert ProbabilisticDifferentialPrivacy(delta, Relation(pairs)).measure(rows).value <= epsilon
    family = Family([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    assert ProbabilisticDistributionPrivacy(family, delta).measure(rows).value > epsilon


def test_a_claim_by_a_metric_that_is_not_symmetric_says_which_direction_counts():
    hill = sf.Metric([[0, 1, 2], [3, 0, 1], [6, 3, 0]], "km", symmetric=False)
    claim = Claim("metric-privacy", epsilon=0.5, metric=hill)
    assert "d is their distance in km, from the one to the other" in claim.sentence
    assert convert(claim, "differential-privacy").claim["epsilon"] == pytest.approx(3.0)
    assert convert(claim, "metric-privacy", metric=hill.symmetrise()).claim["epsilon"] == pytest.approx(1.5)
