import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sfumato.core import Mechanism, Metric
from sfumato.divergences import (
    CHI_SQUARED,
    HELLINGER,
    KL,
    REVERSE_KL,
    TOTAL_VARIATION,
    FDivergence,
    HockeyStick,
    MaxDivergence,
    Renyi,
)
from sfumato.errors import InputError
from sfumato.privacy import (
    DeltaOfDifferentialPrivacy,
    DifferentialPrivacy,
    DivergenceMetricPrivacy,
    DivergencePrivacy,
    KLPrivacy,
    Relation,
    RenyiPrivacy,
)

from ...catalogue import CASES, line, randomised_response
from ...divergences.pairs import several
from ..atlas.claimed import implied

TRIANGULAR = FDivergence("triangular", lambda t: (t - 1) ** 2 / (t + 1), 1.0, 1.0)
UPWARDS = Relation(np.eye(3, k=1, dtype=bool))
INFINITE = Decimal("inf")
TINY = Decimal("1e-80")  # Decimal itself rounds at 1e-100


def kl(p, q):
    return sum((INFINITE if b == 0 else a * (a / b).ln() for a, b in zip(p, q, strict=True) if a), Decimal(0))


def chi(p, q):
    return sum((INFINITE if b == 0 else (a - b) ** 2 / b for a, b in zip(p, q, strict=True) if a or b), Decimal(0))


def power(order):
    a = Decimal(order)

    def between(p, q):
        total = Decimal(0)
        for x, y in zip(p, q, strict=True):
            if x and y:
                total += x**a * y ** (1 - a)
            elif x and a > 1:
                return INFINITE
        return total.ln() / (a - 1) if total else INFINITE

    return between


EXACT = {
    "kl": (KLPrivacy(), kl),
    "reverse": (DivergencePrivacy(REVERSE_KL), lambda p, q: kl(q, p)),
    "chi": (DivergencePrivacy(CHI_SQUARED), chi),
    "tv": (
        DivergencePrivacy(TOTAL_VARIATION),
        lambda p, q: sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2,
    ),
    "hellinger": (
        DivergencePrivacy(HELLINGER),
        lambda p, q: sum((a.sqrt() - b.sqrt()) ** 2 for a, b in zip(p, q, strict=True)) / 2,
    ),
    "renyi 0.3": (RenyiPrivacy(0.3), power(0.3)),
    "renyi 2": (RenyiPrivacy(2.0), power(2.0)),
    "renyi 7.5": (RenyiPrivacy(7.5), power(7.5)),
}


NEAR_TIES = [[4, 2, 3, 8, 5], [8, 5, 2, 3, 4], [5, 3, 8, 4, 2]]  # of 22: in floats another pair is the farthest


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", EXACT)
@given(several(count=3, largest=5))
@example([[part / 22 for part in row] for row in NEAR_TIES])
@settings(max_examples=10)
def test_the_truth_lies_within_the_rounding(name, rows):
    notion, between = EXACT[name]
    mechanism = Mechanism(rows)
    found = notion.measure(mechanism)
    with localcontext() as context:
        context.prec = 100
        scale = Decimal(2) ** mechanism.bits
        exact = [[Decimal(int(w)) / scale for w in row] for row in mechanism.weights]
        values = {(s, t): between(exact[s], exact[t]) for s in range(3) for t in range(3) if s != t}
        truth = max(
            Decimal(0), *(+value.quantize(TINY) if value.is_finite() else value for value in values.values())
        )
        assert Decimal(found.lower) <= truth <= Decimal(found.upper)
        assert found.witness.pair is not None
        assert values[found.witness.pair] + TINY >= Decimal(found.lower)
    assert found.rounding < 1e-11 * (1 + (found.value if math.isfinite(found.value) else 0))


@given(several(count=3))
@settings(max_examples=15)
def test_each_order_counts_as_the_relation_says(rows):
    for notion, between in (
        (KLPrivacy(UPWARDS), KL),
        (RenyiPrivacy(2.0, UPWARDS), Renyi(2.0)),
        (DivergencePrivacy(CHI_SQUARED, UPWARDS), CHI_SQUARED),
        (DivergencePrivacy(TRIANGULAR, UPWARDS), TRIANGULAR),
    ):
        expected = max(between(rows[0], rows[1]), between(rows[1], rows[2]))
        assert notion.measure(rows).value == pytest.approx(expected, abs=1e-13)
        assert notion.measure(rows).witness.pair in {(0, 1), (1, 2)}


@given(several(count=2, positive=True))
def test_pure_epsilon_bounds_kl(rows):
    epsilon = DifferentialPrivacy().measure(rows).upper
    found = KLPrivacy().measure(rows)
    bound = implied("dp-to-kl", epsilon=epsilon)["epsilon"]
    assert found.lower <= bound <= min(epsilon, epsilon**2 / 2) * (1 + 1e-12) + 1e-300
    assert found.lower <= min(epsilon, epsilon**2)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 5.0, 30.0])
def test_the_coin_attains_the_bound_of_kl(epsilon):
    found = KLPrivacy().measure(randomised_response(2, epsilon))
    assert found.value == pytest.approx(implied("dp-to-kl", epsilon=epsilon)["epsilon"], rel=1e-9)


@given(several(count=2))
def test_kl_bounds_the_total_variation(rows):
    epsilon = KLPrivacy().measure(rows).upper
    delta = DeltaOfDifferentialPrivacy(0.0).measure(rows)
    if math.isfinite(epsilon):
        bound = implied("kl-to-dp", epsilon=epsilon)["delta"]
        assert delta.lower <= bound <= min(1.0, math.sqrt(2 * epsilon))


def test_the_bound_of_pinsker_is_the_best_for_small_kl():
    rows = [[0.5 + 1e-4, 0.5 - 1e-4], [0.5 - 1e-4, 0.5 + 1e-4]]
    bound = implied("kl-to-dp", epsilon=KLPrivacy().measure(rows).value)["delta"]
    assert DeltaOfDifferentialPrivacy(0.0).measure(rows).value == pytest.approx(bound, rel=1e-6)
    assert implied("kl-to-dp", epsilon=1e300)["delta"] == 1.0
    assert implied("kl-to-dp", epsilon=3.0)["delta"] < 1.0


@given(several(count=3))
def test_renyi_grows_from_kl_to_the_max_divergence(rows):
    values = [RenyiPrivacy(order).measure(rows).value for order in (0.5, 1.0, 2.0, 8.0)]
    pure = DifferentialPrivacy().measure(rows).value
    for first, second in zip(values, [*values[1:], pure], strict=True):
        assert first <= second + 1e-11
    assert values[1] == pytest.approx(KLPrivacy().measure(rows).value, abs=1e-13)


@given(several(count=3), several(count=3, largest=3))
@settings(max_examples=15)
def test_a_second_step_gains_nothing(rows, second):
    step = np.vstack([second[k % 3] for k in range(rows.shape[1])])
    for notion, _ in EXACT.values():
        before, after = notion.measure(rows), notion.measure(rows @ step)
        assert after.lower <= before.upper


@given(several(count=3))
def test_divergence_by_distance(rows):
    d = 2 * line(3)
    found = DivergenceMetricPrivacy(KL, Metric(d)).measure(rows)
    expected = max(KL(rows[s], rows[t]) / d[s, t] for s in range(3) for t in range(3) if s != t)
    assert found.value == pytest.approx(expected)
    assert found.lower <= found.value <= found.upper
    assert found.witness.pair is not None


def test_infinite_and_zero_distances():
    towns = Metric([[0, 1, np.inf], [1, 0, np.inf], [np.inf, np.inf, 0]])
    rows = [[0.75, 0.25, 0.0, 0.0], [0.25, 0.75, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
    assert DivergenceMetricPrivacy(KL, towns).measure(rows).value == pytest.approx(0.5 * math.log(3))
    twins = Metric([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    alike, unlike = [0.5, 0.5, 0.0], [0.6, 0.4, 0.0]
    assert DivergenceMetricPrivacy(TOTAL_VARIATION, twins).measure([alike, alike, unlike]).value == pytest.approx(
        0.1
    )
    broken = DivergenceMetricPrivacy(KL, twins).measure([alike, unlike, unlike])
    assert broken.value == math.inf
    assert broken.witness.pair in {(0, 1), (1, 0)}
    weights = np.array([[2**61, 2**61], [2**61 + 1, 2**61 - 1], [2**61, 2**61]], dtype=np.int64)
    doubtful = DivergenceMetricPrivacy(KL, twins).measure(Mechanism.from_weights(weights, 62))
    assert doubtful.value == 0
    assert doubtful.upper == math.inf


@given(several(count=3), st.floats(0, 2))
def test_the_hockey_stick_by_distance(rows, epsilon):
    found = DivergenceMetricPrivacy(HockeyStick(epsilon), Metric(line(3))).measure(rows)
    stick = HockeyStick(epsilon)
    assert found.value == pytest.approx(
        max(stick(rows[s], rows[t]) / abs(s - t) for s in range(3) for t in range(3) if s != t), abs=1e-13
    )
    assert found.rounding < 1e-13


def test_of_a_divergence_of_ones_own_nothing_is_promised_that_was_not_vouched_for():
    coin = randomised_response(2, 1.0)
    assert DivergencePrivacy(TRIANGULAR).measure(coin).upper == math.inf
    vouched = DivergencePrivacy(TRIANGULAR, precision=1e-12).measure(coin)
    assert vouched.upper == pytest.approx(vouched.value, abs=1e-11)
    assert vouched.upper > vouched.value


@pytest.mark.parametrize("case", CASES, ids=str)
def test_catalogue(case):
    n = case.mechanism.shape[0]
    matrix = case.mechanism.matrix
    found = KLPrivacy().measure(case.mechanism)
    if n == 1:
        assert (found.value, found.upper < 1e-300, found.witness.pair) == (0, True, None)
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(matrix[:, None] > 0, matrix[:, None] * np.log(matrix[:, None] / matrix), 0.0)
    assert found.value == pytest.approx(terms.sum(axis=2).max(), abs=1e-12)


def test_sentences():
    coin = randomised_response(2, 1.0)
    assert "KL divergence" in KLPrivacy().measure(coin).sentence
    assert "any two secrets" in DivergencePrivacy(HELLINGER).measure(coin).sentence
    assert "no bound" in KLPrivacy().sentence(math.inf)
    assert "order 2" in RenyiPrivacy(2.0).sentence(1.0)
    assert "per km" in DivergenceMetricPrivacy(KL, Metric([[0, 1], [1, 0]], "km")).measure(coin).sentence


def test_refusals():
    with pytest.raises(InputError, match="delta of differential privacy"):
        DivergencePrivacy(HockeyStick(1.0))
    for make in (
        lambda: DivergencePrivacy(MaxDivergence()),
        lambda: DivergenceMetricPrivacy(MaxDivergence(), Metric([[0.0]])),
    ):
        with pytest.raises(InputError, match="use DifferentialPrivacy"):
            make()
    with pytest.raises(InputError, match="precision"):
        DivergencePrivacy(TRIANGULAR, precision=math.nan)
    with pytest.raises(InputError, match="order"):
        RenyiPrivacy(0.0)
    with pytest.raises(InputError, match="metric is on 1"):
        DivergenceMetricPrivacy(KL, Metric([[0.0]])).measure(np.eye(2))
    for name in ("dp-to-kl", "kl-to-dp"):
        with pytest.raises(InputError, match="epsilon"):
            implied(name, epsilon=-1.0)
