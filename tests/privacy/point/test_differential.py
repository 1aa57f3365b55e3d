import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core import Mechanism
from sfumato.divergences import MaxDivergence, Profile
from sfumato.errors import InputError
from sfumato.privacy import DeltaOfDifferentialPrivacy, DifferentialPrivacy, PrivacyProfile, Relation
from sfumato.rounding import at_most

from ...catalogue import CASES, randomised_response
from ...divergences.pairs import several, subsets

DELTAS = st.one_of(st.sampled_from([0.0, 1e-12, 0.02, 0.3, 1.0]), st.floats(0, 1))
LINE = Relation(np.abs(np.arange(4)[:, None] - np.arange(4)) == 1, "neighbours")
UPWARDS = Relation(np.eye(4, k=1, dtype=bool))


def as_fractions(mechanism):
    """The exact probabilities of a mechanism."""
    return [[Fraction(int(w), 1 << mechanism.bits) for w in row] for row in mechanism.weights]


def log(x: Fraction) -> Decimal:
    return Decimal(x.numerator).ln() - Decimal(x.denominator).ln()


def exact_epsilon(p, q, delta: float) -> Decimal:
    """The approximate max divergence by all sets, in 60 digits; at least 0."""
    best, allowed = Decimal(0), Fraction(delta)
    for chosen in subsets(len(p)):
        mass, other = sum(p[y] for y in chosen), sum(q[y] for y in chosen)
        if mass > allowed:
            best = max(best, Decimal("inf") if other == 0 else log((mass - allowed) / other))
    return best


def exact_delta(p, q, epsilon: float) -> Decimal:
    factor = Decimal(epsilon).exp()
    decimals = [
        (Decimal(a.numerator) / a.denominator, Decimal(b.numerator) / b.denominator)
        for a, b in zip(p, q, strict=True)
    ]
    return sum((max(Decimal(0), a - factor * b) for a, b in decimals), Decimal(0))


@given(several(count=4, largest=5), DELTAS, st.sampled_from([None, LINE, UPWARDS]))
@settings(max_examples=20)
def test_epsilon_is_the_best_of_all_sets_of_reports_and_its_bounds_hold(rows, delta, relation):
    mechanism = Mechanism(rows)
    found = DifferentialPrivacy(relation, delta).measure(mechanism)
    exact = as_fractions(mechanism)
    pairs = (Relation.all(4) if relation is None else relation).pairs
    with localcontext() as context:
        context.prec = 60
        truth = max(exact_epsilon(exact[s], exact[t], delta) for s, t in pairs)
        assert Decimal(found.lower) <= truth <= Decimal(found.upper) or found.value == math.inf
    if math.isfinite(found.rounding):
        # Elsewhere delta is, up to rounding, the mass at which epsilon jumps.
        assert found.value == pytest.approx(float(truth), abs=1e-6)
        assert found.rounding < 1e-6 or abs(found.value - float(truth)) < 1e-9


@given(several(count=4, largest=5), st.floats(0, 4), st.sampled_from([None, LINE, UPWARDS]))
@settings(max_examples=20)
def test_delta_is_the_best_of_all_sets_of_reports_and_its_bounds_hold(rows, epsilon, relation):
    mechanism = Mechanism(rows)
    found = DeltaOfDifferentialPrivacy(epsilon, relation).measure(mechanism)
    exact = as_fractions(mechanism)
    pairs = (Relation.all(4) if relation is None else relation).pairs
    with localcontext() as context:
        context.prec = 60
        truth = max(exact_delta(exact[s], exact[t], epsilon) for s, t in pairs)
        assert Decimal(found.lower) <= truth <= Decimal(found.upper)
    assert found.rounding < 1e-13
    assert found.witness.pair is not None
    s, t = found.witness.pair
    R = found.witness.outputs
    matrix = mechanism.matrix
    assert found.value == pytest.approx(matrix[s, R].sum() - math.exp(epsilon) * matrix[t, R].sum(), abs=1e-12)


@given(several(count=4), DELTAS)
def test_the_definition_holds_at_the_upper_bound_and_fails_below_the_lower(rows, delta):
    found = DifferentialPrivacy(delta=delta).measure(rows)
    if math.isfinite(found.upper):
        assert DeltaOfDifferentialPrivacy(found.upper).measure(rows).value <= delta + 1e-13
    if found.lower > 1e-3 and math.isfinite(found.rounding) and math.isfinite(found.value):
        assert DeltaOfDifferentialPrivacy(found.lower * (1 - 1e-3)).measure(rows).value > delta
    if found.value > 0:
        assert found.witness.pair is not None
        s, t = found.witness.pair
        R = found.witness.outputs
        mass, other = rows[s, R].sum() - delta, rows[t, R].sum()
        if math.isinf(found.value):
            assert other == 0
            assert mass > 0
        elif mass > 1e-6:
            assert math.log(mass / other) == pytest.approx(found.value, abs=1e-6)


@given(several(count=4), DELTAS)
def test_the_relation_says_which_orders_count(rows, delta):
    profiles = [Profile(rows[s], rows[s + 1]) for s in range(3)]
    expected = max(0.0, *(float(profile.epsilon(delta)) for profile in profiles))
    found = DifferentialPrivacy(UPWARDS, delta).measure(rows)
    assert found.value == pytest.approx(expected, abs=1e-9)
    assert found.witness.pair in {None, (0, 1), (1, 2), (2, 3)}


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.name not in {"one secret", "two towns, far apart"}], ids=str
)
def test_catalogue_under_the_discrete_relation(case):
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(case.mechanism.matrix[:, None]) - np.log(case.mechanism.matrix)
    assert DifferentialPrivacy().measure(case.mechanism).value == pytest.approx(np.nanmax(logs))


def test_of_one_secret_nothing_is_asked():
    found = DifferentialPrivacy().measure([[0.25, 0.75, 0.0]])
    assert found.value == 0
    assert found.witness.pair is None
    assert PrivacyProfile([[0.25, 0.75]]).delta(0.0) == 0
    assert PrivacyProfile([[0.25, 0.75]]).pairs_at(0.0).tolist() == [-1, -1]


def test_randomised_response_and_the_counterexample_have_their_golden_values():
    coin = randomised_response(2, 1.0)
    assert DifferentialPrivacy().measure(coin).value == pytest.approx(1.0)
    assert DeltaOfDifferentialPrivacy(0.0).measure(coin).value == pytest.approx(0.462117, abs=1e-6)
    twins = [[0.98, 0.02, 0.0], [0.98, 0.0, 0.02]]
    assert DifferentialPrivacy().measure(twins).value == math.inf
    assert DeltaOfDifferentialPrivacy(0.0).measure(twins).value == pytest.approx(0.02)
    assert DifferentialPrivacy(delta=0.021).measure(twins).upper < 1e-9


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
def test_total_variation_is_at_most_tanh(epsilon):
    golden = {0.1: 0.0500, 0.5: 0.2449, 1.0: 0.4621, 2.0: 0.7616}
    found = DeltaOfDifferentialPrivacy(0.0).measure(randomised_response(2, epsilon)).value
    assert found == pytest.approx(golden[epsilon], abs=5e-5)
    assert found == pytest.approx(math.tanh(epsilon / 2))


@given(several(count=3, positive=True))
def test_pure_epsilon_bounds_the_total_variation_and_the_errors_of_every_test(rows):
    epsilon = DifferentialPrivacy().measure(rows).upper
    assert DeltaOfDifferentialPrivacy(0.0).measure(rows).value <= math.tanh(epsilon / 2) + 1e-12
    for R in subsets(rows.shape[1]):
        rest = [y for y in range(rows.shape[1]) if y not in R]
        alarm, missed = rows[0, list(R)].sum(), rows[1, rest].sum()
        assert alarm + math.exp(epsilon) * missed >= 1 - 1e-12
        assert math.exp(epsilon) * alarm + missed >= 1 - 1e-12


@given(several(count=4), st.sampled_from([None, LINE, UPWARDS]))
@settings(max_examples=15)
def test_profiles_of_the_mechanism_are_the_largest_of_the_pairs(rows, relation):
    pairs = (Relation.all(4) if relation is None else relation).pairs
    at = np.concatenate([np.linspace(0, 4, 21), [math.inf]])
    by_pairs = np.array([Profile(rows[s], rows[t]).delta(at) for s, t in pairs])
    exact = PrivacyProfile(rows, relation)
    assert exact.delta(at) == pytest.approx(by_pairs.max(axis=0), abs=exact.rounding)
    assert (exact.delta_upper(at) >= by_pairs.max(axis=0)).all()
    for epsilon, (s, t) in zip(at, exact.pairs_at(at), strict=True):
        assert Profile(rows[s], rows[t]).delta(epsilon) == pytest.approx(exact.delta(epsilon), abs=exact.rounding)
    assert (np.diff(exact.epsilons) > 0).all()


@given(several(count=4), DELTAS)
@settings(max_examples=20)
def test_the_exact_profile_inverts_as_the_pairs_do(rows, delta):
    exact = PrivacyProfile(rows)
    expected = max(float(Profile(rows[s], rows[t]).epsilon(delta)) for s in range(4) for t in range(4) if s != t)
    found = float(exact.epsilon(delta))
    if abs(delta - exact.delta(math.inf)) > 1e-12 or delta == 0:
        assert found == pytest.approx(max(0.0, expected), abs=1e-9)
    assert found == pytest.approx(DifferentialPrivacy(delta=delta).measure(rows).value, abs=1e-9) or (
        abs(delta - exact.delta(math.inf)) <= 1e-12
    )


def test_profiles_of_the_catalogue_are_found_with_few_lines():
    for case in CASES:
        exact = PrivacyProfile(case.mechanism)
        direct = [DeltaOfDifferentialPrivacy(float(e)).measure(case.mechanism).value for e in exact.epsilons]
        assert exact.delta(exact.epsilons) == pytest.approx(np.array(direct), abs=exact.rounding)
    line = PrivacyProfile(randomised_response(5, 2.0))
    assert len(line.epsilons) == 2
    assert float(line.epsilon(line.delta(1.3))) == pytest.approx(1.3)


def test_tiny_probabilities_keep_their_digits():
    rows = [[1e-30, 1.0], [1e-35, 1.0]]
    assert DeltaOfDifferentialPrivacy(math.log(2)).measure(rows).value == pytest.approx(1e-30, rel=1e-4)
    assert DeltaOfDifferentialPrivacy(1e6).measure([[1.0, 0.0], [5e-324, 1.0]]).value == 1.0
    assert float(PrivacyProfile(rows).epsilon(0.5e-30)) == pytest.approx(
        5 * math.log(10) + math.log(0.5), rel=1e-6
    )


@given(st.integers(5, 25), st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0]))
@settings(max_examples=10)
def test_profiles_of_many_secrets_lose_no_line(size, seed, shape):
    rows = np.random.default_rng(seed).dirichlet(np.full(7, shape), size=size)
    exact = PrivacyProfile(rows)
    between = (exact.epsilons[1:] + exact.epsilons[:-1]) / 2
    for epsilon in [*exact.epsilons, *between]:
        direct = DeltaOfDifferentialPrivacy(float(epsilon)).measure(rows).value
        assert float(exact.delta(epsilon)) == pytest.approx(direct, abs=exact.rounding)


@given(st.integers(5, 25), st.integers(0, 2**32 - 1), st.sampled_from([1e-9, 1e-3, 0.1]))
@settings(max_examples=8)
def test_leaving_pairs_out_loses_none_that_counts(size, seed, delta):
    rows = np.random.default_rng(seed).dirichlet(np.full(9, 0.3), size=size)
    every = MaxDivergence(delta).pairwise(rows)
    np.fill_diagonal(every, 0.0)
    found = DifferentialPrivacy(delta=delta).measure(rows)
    assert found.value == pytest.approx(every.max(), rel=1e-9)
    assert found.witness.pair is not None
    assert every[found.witness.pair] == pytest.approx(every.max(), rel=1e-9)


def test_sentences_round_up():
    coin = randomised_response(2, 1.0)
    words = DifferentialPrivacy(delta=0.01).measure(coin)
    assert "any two secrets" in words.sentence
    assert "plus 0.01 (epsilon" in words.sentence
    assert at_most(0.05) == "0.05"
    assert [at_most(x) for x in (0.050001, 1.23449, 123450.0, 1e-300, 0.0)] == [
        "0.05001",
        "1.235",
        "123450",
        "1e-300",
        "0",
    ]
    assert DifferentialPrivacy().sentence(1.23456).endswith("(epsilon 1.235).")
    assert "no epsilon" in DifferentialPrivacy().sentence(math.inf)
    assert "neighbours" in DeltaOfDifferentialPrivacy(1.0, LINE).sentence(0.1)


def test_refusals():
    for make in (lambda: DifferentialPrivacy(delta=-0.1), lambda: DifferentialPrivacy(delta=math.nan)):
        with pytest.raises(InputError, match="delta"):
            make()
    with pytest.raises(InputError, match="epsilon"):
        DeltaOfDifferentialPrivacy(-1.0)
    with pytest.raises(InputError, match="relation is on 4"):
        DifferentialPrivacy(LINE).measure([[1.0]])
    with pytest.raises(InputError, match="delta"):
        PrivacyProfile([[1.0]]).epsilon(-1.0)
    with pytest.raises(InputError, match="epsilon"):
        PrivacyProfile([[1.0]]).delta(-1.0)
