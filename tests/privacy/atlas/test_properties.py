"""Properties of notions: the table on random mechanisms, and the counterexamples where it says no."""

import math
import pickle
from fractions import Fraction
from itertools import compress, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError
from sfumato.privacy import (
    PROPERTIES,
    Claim,
    InformationPrivacy,
    Priors,
    Property,
    SemanticPrivacy,
    TradeOff,
    answer,
    compose,
)

from ...catalogue import unused
from ..bayes import channels, jointly
from .claimed import DIVERGENCES, halves, line_relation, rho_above, satisfied, true_value

N = 4
SPACE, HALVES = halves(N)
PRIOR = Priors.of(sf.Prior(SPACE, [0.5, 0.2, 0.3, 0.0]))
FULL = Priors.of(sf.Prior(SPACE, [0.4, 0.2, 0.3, 0.1]))
NEAR = line_relation(N)
BAYES = {"priors": PRIOR, "events": HALVES}
CONTEXT = {
    "divergence-privacy": {"divergence": "chi-square divergence"},
    "differential-privacy": {"relation": NEAR, "delta": 0.05},
    "metric-privacy": {"metric": sf.Metric(np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0))))},
    "renyi-privacy": {"order": 3.0},
    "positive-membership": BAYES,
    "negative-membership": BAYES,
    "membership": BAYES,
    "adversarial": {**BAYES, "delta": 0.01},
    "noiseless": BAYES,
    "aposteriori-noiseless": BAYES,
    "inferential": BAYES,
    "identity": BAYES,
    "pufferfish": {"priors": PRIOR, "rivals": HALVES},
    "causal": {"priors": PRIOR, "interventions": (np.array([[0, 0, 2, 2], [1, 1, 3, 3]]),)},
    "semantic": {"maps": np.zeros((1, N), dtype=int)},
    "information": {"priors": PRIOR},
}
NO = [(notion, asked) for notion, row in PROPERTIES.items() for asked in Property if not row[asked].holds]
YES = [
    (notion, asked)
    for notion, row in PROPERTIES.items()
    for asked in (Property.POST_PROCESSING, Property.CONVEXITY)
    # Those of distributions have the sums of differential privacy, on lifted rows.
    if row[asked].holds and "distribution-privacy" not in notion
]


@pytest.mark.parametrize(("notion", "asked"), NO, ids=lambda each: getattr(each, "name", each))
def test_counterexample_runs(notion, asked):
    example = answer(notion, asked).counterexample()
    before, after = example.run()
    assert example.notion.key == notion
    assert example.says
    worst = max(each.value for each in before)
    if asked is Property.COMPOSITION and notion == "adversarial":
        assert worst == 0
        assert after.value == pytest.approx(
            math.log(2)
        )  # the most that any mechanism can have: a fair bit is known
    elif asked is Property.COMPOSITION and notion == "semantic":
        assert worst < 0.2
        assert after.value > 0.95
    elif asked is Property.COMPOSITION:
        assert math.isfinite(worst)
        assert after.value == math.inf
    else:
        assert after.value > 1.2 * worst + 0.02
    for rows in (*example.before, example.after):
        assert np.allclose(rows.sum(axis=1), 1, atol=1e-12)


def test_composed_counterexamples_are_the_joint_mechanisms():
    for notion, asked in NO:
        if asked is Property.COMPOSITION:
            example = answer(notion, asked).counterexample()
            assert np.array_equal(example.after, jointly(*example.before))


def claim_of(notion, rows, rng):
    context = CONTEXT.get(notion, {})
    if notion == "trade-off":
        return Claim(notion, curve=TradeOff.of(rows))
    if notion == "concentrated-privacy":
        return Claim(notion, rho=rho_above(rows, None))
    first = Claim(notion, **{Claim.names(notion)[0]: 1.0}, **context)
    return first.with_values(**{Claim.names(notion)[0]: max(0.0, true_value(first, rows, rng))})


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("notion", "asked"), YES, ids=lambda each: getattr(each, "name", each))
def test_kept_on_random_mechanisms(notion, asked):
    rng = np.random.default_rng(5)
    for _ in range(4):
        first, second = (unused(rng.dirichlet(np.full(3, 1.5), N)) for _ in range(2))
        if asked is Property.POST_PROCESSING:
            blur = rng.dirichlet(np.full(3, 0.4), 4)
            assert satisfied(claim_of(notion, first, rng), first @ blur, rng, slack=1e-8)
            continue
        claims = [claim_of(notion, each, rng) for each in (first, second)]
        if notion == "trade-off":
            curve = TradeOff.lowest([each.context["curve"] for each in claims])
            weaker = Claim(notion, curve=curve)
        else:
            name = Claim.names(notion)[0]
            weaker = claims[0].with_values(**{name: max(each[name] for each in claims)})
        share = rng.random()
        assert satisfied(weaker, share * first + (1 - share) * second, rng, slack=1e-8)


ADDED = [
    "differential-privacy",
    "probabilistic-differential-privacy",
    "metric-privacy",
    "kl-privacy",
    "renyi-privacy",
]
ADDED += ["concentrated-privacy", "indistinguishable", "bounded-range", "gaussian"]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("notion", ADDED)
def test_compositions_hold(notion):
    rng = np.random.default_rng(6)
    for _ in range(4):
        first, second = (unused(rng.dirichlet(np.full(3, 2.0), N)) for _ in range(2))
        together = compose([claim_of(notion, first, rng), claim_of(notion, second, rng)])
        assert satisfied(together, jointly(first, second), rng, slack=1e-8)


def exact(rows):
    """The entries as fractions; floats are fractions."""
    return [[Fraction(float(entry)) for entry in row] for row in rows]


def shift(rows, prior):
    """e^epsilon of information privacy in fractions: the largest p(o|s) / p(o), or its inverse."""
    worst: Fraction | float = Fraction(1)
    for column in zip(*rows, strict=True):
        average = sum((p * x for p, x in zip(prior, column, strict=True)), Fraction(0))
        for p, x in zip(prior, column, strict=True):
            if p and average:
                worst = max(worst, math.inf if x == 0 else max(x / average, average / x))
    return worst


def test_information_privacy_composes_by_its_rule_in_random_mechanisms():
    rng = np.random.default_rng(2)
    notion = InformationPrivacy(FULL)
    for _ in range(200):
        first, second = (rng.dirichlet(np.full(2, 0.7), N) for _ in range(2))
        claims = [Claim.of(notion.measure(mechanism)) for mechanism in (first, second)]
        assert notion.measure(jointly(first, second)).lower <= compose(claims)["epsilon"]


def test_information_privacy_attains_its_rule_and_exceeds_the_sum_in_fractions():
    """Factors 3 and 2 give 2 (3 x 2 - 2 + 1) = 10, beyond 6 and within 36."""
    prior = [Fraction(1, 4), Fraction(1, 12), Fraction(2, 3)]
    rare = [[Fraction(3), Fraction(1, 3), Fraction(1, 3)], [Fraction(2), Fraction(2), Fraction(1, 2)]]
    first, second = ([[x / 8, 1 - x / 8] for x in column] for column in rare)
    joint = [[x * y for x in a for y in b] for a, b in zip(first, second, strict=True)]
    assert [shift(rows, prior) for rows in (first, second, joint)] == [3, 2, 10]
    priors = Priors.of(sf.Prior(sf.Space(range(3)), [float(p) for p in prior]))
    claims = [Claim("information", epsilon=math.log(factor), priors=priors) for factor in (3, 2)]
    assert compose(claims)["epsilon"] == pytest.approx(math.log(10), rel=1e-12)
    assert compose(claims[::-1])["epsilon"] == compose(claims)["epsilon"]
    third = Claim("information", epsilon=math.log(5), priors=priors)
    assert compose([*claims, third])["epsilon"] == pytest.approx(math.log(154), rel=1e-12)  # 2 (39 x 2 - 2 + 1)
    assert compose([Claim("information", epsilon=1.0)] * 2)["epsilon"] == 2.0
    with pytest.raises(InputError, match="no rule of composition"):
        compose([claims[0].with_values(priors=Priors.of_range(0.1, 0.2))] * 2)


def spread(rows, maps):
    """R of semantic privacy in fractions, over all sets of reports: epsilon is (sqrt R - 1) / (sqrt R + 1)."""
    worst: Fraction | float = Fraction(1)
    width = len(rows[0])
    for subset in product((False, True), repeat=width):
        masses = [sum(compress(row, subset), Fraction(0)) for row in rows]
        for images in maps:
            pairs = [(masses[s], masses[d]) for s, d in enumerate(images) if d >= 0]
            for (a, b), (c, d) in product(pairs, repeat=2):
                if a * d or b * c:
                    worst = max(worst, a * d / (b * c) if b * c else math.inf)
    return worst


@pytest.mark.parametrize(
    ("trait", "before", "after"),
    [
        (Property.POST_PROCESSING, 1.2, 1.5),
        (Property.CONVEXITY, 1.01, 1.5),
        (Property.COMPOSITION, 2, 2**11 - 2),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_semantic_privacy_is_refuted_in_fractions(trait, before, after):
    example = answer("semantic", trait).counterexample()
    assert isinstance(example.notion, SemanticPrivacy)
    worst = max(spread(exact(rows), example.notion.maps) for rows in example.before)
    combined = spread(exact(example.after), example.notion.maps)
    assert worst <= before < after <= combined
    findings, result = example.run()
    for factor, value in ((worst, max(finding.value for finding in findings)), (combined, result.value)):
        root = math.sqrt(factor)
        assert value == pytest.approx((root - 1) / (root + 1), rel=1e-9)


def breadth(rows):
    """e^eta of bounded range in fractions, for two rows."""
    p, q = exact(rows)
    used = [(a, b) for a, b in zip(p, q, strict=True) if a or b]
    if any(not a or not b for a, b in used):
        return math.inf
    ratios = [a / b for a, b in used]
    return max(ratios) / min(ratios)


def test_mixtures_of_bounded_ranges_are_refuted_in_fractions_and_at_most_doubled():
    example = answer("bounded-range", Property.CONVEXITY).counterexample()
    worst = max(breadth(rows) for rows in example.before)
    assert worst < Fraction(13, 10) < Fraction(3, 2) < breadth(example.after) < worst**2
    rng = np.random.default_rng(4)
    for _ in range(100):
        first, second = (rng.dirichlet(np.ones(3), 2) for _ in range(2))
        share = rng.random()
        assert breadth(share * first + (1 - share) * second) <= max(breadth(first), breadth(second)) ** 2
    # Losses just above 0 and at -ln 2, and just below 0 and at ln 2: twice the range is approached.
    low = np.array([[1 - 2.0**-20, 2.0**-20, 0, 0], [1 - 2.0**-19, 2.0**-19, 0, 0]])
    high = low[::-1, ::-1]
    assert breadth(low) == breadth(high) < Fraction(2) + Fraction(1, 2**18)
    assert breadth((low + high) / 2) == 4


@given(channels(3, 3, outputs=4), channels(3, 3, outputs=4), channels(4, 4, outputs=3), st.integers(0, 4))
def test_semantic_privacy_is_closed_for_defaults_that_can_make_every_report(first, second, blur, quarter):
    """Against every default the entries may be zero; one default must make every report that is made."""
    every = SemanticPrivacy()
    width = max(first.shape[1], second.shape[1])
    first, second = (np.pad(rows, ((0, 0), (0, width - rows.shape[1]))) for rows in (first, second))
    possible = [SemanticPrivacy.replacing(3, default) for default in range(3)]
    safe = [one for d, one in enumerate(possible) if all((m[d] > 0)[m.any(axis=0)].all() for m in (first, second))]
    for notion in [every, *safe]:
        values = [notion.measure(rows).value for rows in (first, second)]
        assert notion.measure(first @ blur[:width]).value <= values[0] + 1e-9
        share = quarter / 4
        assert notion.measure(share * first + (1 - share) * second).value <= max(values) + 1e-9
        if max(values) < 1:
            claims = [Claim("semantic", epsilon=v, maps=notion.maps, possible=True) for v in values]
            assert notion.measure(jointly(first, second)).value <= compose(claims)["epsilon"] + 1e-9


def test_semantic_privacy_of_a_default_that_cannot_make_every_report_is_not_closed():
    """Each of processing, mixing and repeating lets the default make a little of what it could not."""
    notion = SemanticPrivacy.replacing(2, 0)
    rows = np.array([[1.0, 0.0], [0.5, 0.5]])
    held = notion.measure(rows).value
    blur = np.array([[0.99, 0.01], [0.0, 1.0]])
    assert notion.measure(rows @ blur).value > held + 0.5
    same = np.full((2, 2), [0.1, 0.9])
    assert notion.measure(same).value == 0
    assert notion.measure(0.9 * rows + 0.1 * same).value > held + 0.2
    with pytest.raises(InputError, match="does not compose"):
        compose([Claim("semantic", epsilon=held, maps=notion.maps)] * 2)


@pytest.mark.parametrize("name", DIVERGENCES)
def test_divergences_compose(name):
    rng = np.random.default_rng(8)
    (p, q), (r, s) = (rng.dirichlet(np.ones(4), 2) for _ in range(2))
    x, y = (DIVERGENCES[name](*pair) for pair in ((p, q), (r, s)))
    together = DIVERGENCES[name](np.outer(p, r).ravel(), np.outer(q, s).ravel())
    if name == "total variation":
        assert max(x, y) <= together <= x + y
    else:
        product = {
            "chi-square divergence": (1 + x) * (1 + y) - 1,
            "squared Hellinger distance": 1 - (1 - x) * (1 - y),
        }
        assert together == pytest.approx(product.get(name, x + y), rel=1e-12)


def test_refusals():
    membership = Claim("membership", epsilon=0.1)
    with pytest.raises(InputError, match=r"does not compose: the parity"):
        compose([membership, membership])
    with pytest.raises(InputError, match="no claim was given"):
        compose([])
    with pytest.raises(InputError, match="not about the same"):
        compose([Claim("kl-privacy", epsilon=1.0), Claim("kl-privacy", epsilon=1.0, relation=NEAR)])
    with pytest.raises(InputError, match="apply that rule"):
        compose([Claim("divergence-privacy", epsilon=1.0, divergence="total variation")] * 2)
    with pytest.raises(InputError, match="not in the table"):
        answer("distortion", Property.CONVEXITY)
    with pytest.raises(InputError, match="the property holds"):
        answer("gaussian", Property.CONVEXITY).counterexample()


def test_claims_with_different_priors_are_refused_by_name():
    space = sf.Space("ab")
    claims = [
        Claim("information", epsilon=1.0, priors=prior)
        for prior in (sf.Prior.uniform(space), sf.Prior(space, [0.1, 0.9]))
    ]
    with pytest.raises(InputError, match=r"their priors differ \(Prior on 2 values, .* and Prior on 2 values"):
        compose(claims)


def test_claims_can_be_pickled():
    prior = sf.Prior.uniform(sf.Space("ab"))
    for claim in (Claim("differential-privacy", epsilon=1.0), Claim("information", epsilon=1.0, priors=prior)):
        again = pickle.loads(pickle.dumps(claim))
        assert (again.notion, dict(again.numbers), str(again)) == (claim.notion, dict(claim.numbers), str(claim))
        assert again.context.keys() == claim.context.keys()


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0])
def test_a_delta_is_at_most_one(epsilon):
    truth = sf.Mechanism(np.eye(40), sf.Space(range(40)), sf.Space(range(40)))
    for notion in (
        sf.privacy.DeltaOfDifferentialPrivacy(epsilon),
        sf.privacy.DeltaOfProbabilisticDifferentialPrivacy(epsilon),
    ):
        assert notion.measure(truth).upper <= 1.0
