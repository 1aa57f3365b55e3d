import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InputError
from sfumato.privacy import (
    DeltaOfDifferentialPrivacy,
    DeltaOfProbabilisticDifferentialPrivacy,
    DifferentialPrivacy,
    ProbabilisticDifferentialPrivacy,
    Relation,
)

from ...catalogue import CASES, randomised_response
from ...divergences.pairs import several, subsets
from ..atlas.claimed import implied

DELTAS = st.one_of(st.sampled_from([0.0, 1e-12, 0.02, 0.3, 0.99]), st.floats(0, 0.99))


def holds(p, q, epsilon, delta):
    """The definition word for word: some set R' of probability at most delta may be left out."""
    factor, slack = math.exp(epsilon), 1e-12
    for k in [(), *subsets(len(p))]:
        out = list(k)
        if p[out].sum() > delta + slack or q[out].sum() > delta + slack:
            continue
        inside = [y for y in range(len(p)) if y not in k]
        # Over singletons: sums of inequalities hold where each does.
        if (p[inside] <= factor * q[inside] + slack).all() and (q[inside] <= factor * p[inside] + slack).all():
            return True
    return False


@given(several(count=3, largest=5), DELTAS)
def test_least_epsilon_is_that_of_the_definition(rows, delta):
    found = ProbabilisticDifferentialPrivacy(delta=delta).measure(rows)
    pairs = [(0, 1), (0, 2), (1, 2)]
    if math.isfinite(found.value):
        assert all(holds(rows[s], rows[t], found.value + 1e-9, delta) for s, t in pairs)
    if found.value > 1e-3 and found.rounding < 1e-9:
        below = min(found.value, 100.0) * (1 - 1e-6)
        assert not all(holds(rows[s], rows[t], below, delta) for s, t in pairs)
    if found.value > 0:
        assert found.witness.pair is not None
        s, t = found.witness.pair
        V = found.witness.outputs
        assert max(rows[s, V].sum(), rows[t, V].sum()) > delta


@given(several(count=3), st.floats(0, 4))
def test_least_delta_is_the_mass_of_the_ratios_beyond(rows, epsilon):
    found = DeltaOfProbabilisticDifferentialPrivacy(epsilon).measure(rows)
    factor, best = math.exp(epsilon), 0.0
    for p in rows:
        for q in rows:
            V = [
                y
                for y in range(len(p))
                if p[y] > factor * q[y] * (1 + 1e-12) or q[y] > factor * p[y] * (1 + 1e-12)
            ]
            best = max(best, p[V].sum())
    assert found.lower <= best <= found.upper
    if found.rounding < 1e-9:
        assert found.value == pytest.approx(best, abs=1e-9)
        if found.value > 0:
            assert found.witness.pair is not None
            s, t = found.witness.pair
            outputs = found.witness.outputs
            assert max(rows[s, outputs].sum(), rows[t, outputs].sum()) == pytest.approx(found.value)


@given(several(count=3), DELTAS)
def test_epsilon_and_delta_are_each_others_inverse(rows, delta):
    epsilon = ProbabilisticDifferentialPrivacy(delta=delta).measure(rows)
    if math.isfinite(epsilon.upper):
        least = DeltaOfProbabilisticDifferentialPrivacy(epsilon.upper + 1e-12).measure(rows)
        assert least.value <= delta + 1e-12
    if epsilon.value > 1e-3 and epsilon.rounding < 1e-9:
        below = DeltaOfProbabilisticDifferentialPrivacy(min(epsilon.value, 1e9) - 1e-6).measure(rows)
        assert below.value > delta


@given(several(count=3), DELTAS)
def test_it_implies_differential_privacy_with_the_same_numbers(rows, delta):
    strong = ProbabilisticDifferentialPrivacy(delta=delta).measure(rows)
    weak = DifferentialPrivacy(delta=delta).measure(rows)
    if strong.rounding < 1e-9 and weak.rounding < 1e-3:
        assert weak.value <= strong.value + 1e-9
    same = implied("pdp-to-dp", epsilon=0.5, delta=0.1)
    assert (same["epsilon"], same["delta"]) == (0.5, 0.1)


def test_the_converse_is_false():
    # Two reports a little beyond a factor e: differential privacy pays for the excess, the other for all.
    rows = np.array([[0.30, 0.10, 0.60], [0.10, 0.30, 0.60]])
    delta = DeltaOfDifferentialPrivacy(1.0).measure(rows).value
    assert delta == pytest.approx(0.3 - 0.1 * math.e)
    assert DeltaOfProbabilisticDifferentialPrivacy(1.0).measure(rows).value == pytest.approx(0.4)
    assert ProbabilisticDifferentialPrivacy(delta=delta).measure(rows).value > 1.0


@given(several(count=2), st.floats(0.01, 3), st.floats(0.01, 3))
def test_the_weak_converse_holds_at_every_target(rows, epsilon, more):
    delta = DeltaOfDifferentialPrivacy(epsilon).measure(rows).upper
    weak = implied("dp-to-pdp", {"epsilon": epsilon + more}, epsilon=epsilon, delta=min(delta, 1.0))
    assert DeltaOfProbabilisticDifferentialPrivacy(epsilon + more).measure(rows).lower <= weak["delta"]


@given(st.floats(0.01, 5), st.floats(0, 0.2))
def test_the_lemma_of_kasiviswanathan_and_smith_is_weaker(epsilon, delta):
    weak = implied("dp-to-pdp", epsilon=epsilon, delta=delta)
    assert weak["epsilon"] == 2 * epsilon if delta else epsilon
    assert weak["delta"] <= 2 * delta / (1 - math.exp(-epsilon)) * (1 + 1e-12)


@given(st.floats(0.05, 3), st.floats(0.05, 3), st.floats(0.01, 0.5))
def test_no_smaller_delta_will_do(epsilon, more, mass):
    goal = epsilon + more
    ratio = math.exp(goal + 1e-9)  # just beyond the target
    rows = np.array([[mass, mass / ratio], [mass / ratio, mass]])
    rows = np.column_stack([rows, 1 - rows.sum(axis=1)])
    delta = DeltaOfDifferentialPrivacy(epsilon).measure(rows).value
    needed = DeltaOfProbabilisticDifferentialPrivacy(goal).measure(rows).value
    weak = implied("dp-to-pdp", {"epsilon": goal}, epsilon=epsilon, delta=delta)
    assert weak["delta"] == pytest.approx(needed, rel=1e-6)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_at_delta_zero_it_is_pure_differential_privacy_of_both_orders(case):
    found = ProbabilisticDifferentialPrivacy(0.0).measure(case.mechanism)
    assert found.value == pytest.approx(DifferentialPrivacy().measure(case.mechanism).value, abs=1e-12)


def test_both_orders_count_whatever_the_relation_says():
    rows = [[0.5, 0.4, 0.1], [0.25, 0.74, 0.01]]
    one_way = Relation(np.array([[False, False], [True, False]]))
    both = ProbabilisticDifferentialPrivacy(delta=0.1)
    assert ProbabilisticDifferentialPrivacy(0.1, one_way).measure(rows).value == both.measure(rows).value


def test_steps_of_randomised_response():
    rows = randomised_response(3, 1.0)
    keep = math.e / (math.e + 2)
    aside = 1 / (math.e + 2)
    assert ProbabilisticDifferentialPrivacy(delta=keep + aside - 1e-3).measure(rows).value == pytest.approx(1.0)
    assert ProbabilisticDifferentialPrivacy(delta=keep + aside + 1e-3).measure(rows).value == 0.0
    assert DeltaOfProbabilisticDifferentialPrivacy(0.9).measure(rows).value == pytest.approx(keep + aside)
    assert DeltaOfProbabilisticDifferentialPrivacy(1.1).measure(rows).upper < 1e-12
    # At the ratio itself, rounding cannot tell: the upper bound counts it.
    assert DeltaOfProbabilisticDifferentialPrivacy(1.0).measure(rows).upper >= keep + aside


def test_certain_reports():
    twins = [[0.98, 0.02, 0.0], [0.98, 0.0, 0.02]]
    assert ProbabilisticDifferentialPrivacy(delta=0.01).measure(twins).value == math.inf
    assert ProbabilisticDifferentialPrivacy(delta=0.03).measure(twins).value == 0.0
    assert DeltaOfProbabilisticDifferentialPrivacy(math.inf).measure(twins).value == pytest.approx(0.02)
    assert "only one" in DeltaOfProbabilisticDifferentialPrivacy(math.inf).sentence(0.5)
    assert DeltaOfProbabilisticDifferentialPrivacy(50.0).measure(twins).value == pytest.approx(0.02)
    assert "a probability above 0" in ProbabilisticDifferentialPrivacy(0.0).sentence(math.inf)
    assert "0.03" in ProbabilisticDifferentialPrivacy(delta=0.03).sentence(1.0)
    assert "2.719" in DeltaOfProbabilisticDifferentialPrivacy(1.0).sentence(0.5)


def test_refusals():
    with pytest.raises(InputError, match="delta"):
        ProbabilisticDifferentialPrivacy(delta=2.0)
    with pytest.raises(InputError, match="epsilon"):
        DeltaOfProbabilisticDifferentialPrivacy(math.nan)
    with pytest.raises(AssertionError, match="an epsilon above 1 is needed"):
        implied("dp-to-pdp", {"epsilon": 1.0}, epsilon=1.0, delta=0.1)
    assert implied("dp-to-pdp", {"epsilon": 1.0}, epsilon=1.0)["delta"] == 0.0
    assert implied("dp-to-pdp", {"epsilon": 700.0}, epsilon=1.0, delta=0.1)["delta"] == pytest.approx(0.1)
