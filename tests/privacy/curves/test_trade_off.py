import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import sfumato as sf
from sfumato.audits import Outcome, Requirement, audit
from sfumato.cli.audit_knowledge import curve_from
from sfumato.core import Metric
from sfumato.divergences import TOTAL_VARIATION, hockey_stick
from sfumato.errors import InputError
from sfumato.privacy import DifferentialPrivacy, Relation, TradeOff, TradeOffPrivacy

from ...catalogue import CASES
from ...divergences.pairs import several, subsets

ALPHAS = st.one_of(st.sampled_from([0.0, 1e-300, 0.25, 1.0]), st.floats(0, 1))


def best_test(p, q, alpha):
    """The least type II error of a randomised test by linear programming (Neyman and Pearson)."""
    found = linprog(-np.asarray(q), A_ub=[p], b_ub=[alpha], bounds=(0, 1))
    return 1 + found.fun


@settings(max_examples=20)
@given(several(), ALPHAS)
def test_curve_is_the_best_randomised_test(rows, alpha):
    p, q = rows
    assert float(TradeOff(p, q)(alpha)) == pytest.approx(best_test(p, q, alpha), abs=1e-9)


@given(several(), st.floats(-4, 4))
def test_duality_of_errors_and_hockey_stick(rows, epsilon):
    p, q = rows
    curve = TradeOff(p, q)
    by_sets = max([0.0] + [q[list(R)].sum() - math.exp(epsilon) * p[list(R)].sum() for R in subsets(len(p))])
    by_vertices = max([0.0, *(curve.powers - math.exp(epsilon) * curve.alphas)])
    assert by_vertices == pytest.approx(by_sets, abs=1e-12)
    assert float(curve.profile.delta(epsilon)) == pytest.approx(by_sets, abs=1e-12)
    assert float(curve.inverse.profile.delta(epsilon)) == pytest.approx(
        float(hockey_stick(p, q, epsilon)), abs=1e-12
    )


@given(several())
def test_curve_is_convex_falling_and_below_the_diagonal(rows):
    curve = TradeOff(*rows)
    assert (np.diff(curve.alphas) > 0).all()
    assert (np.diff(curve.betas) <= 0).all()
    assert (np.diff(np.diff(curve.betas) / np.diff(curve.alphas)) > -1e-12).all()
    assert (curve.betas <= curve.confidences + 1e-12).all()
    assert curve.alphas + curve.confidences == pytest.approx(1)
    assert curve.betas + curve.powers == pytest.approx(1)
    assert curve(curve.alphas.clip(0, 1)) == pytest.approx(curve.betas, abs=1e-12)
    assert curve.null.sum() == pytest.approx(1)
    assert curve.alternative.sum() == pytest.approx(1)


@given(several(), ALPHAS)
def test_inverse_is_the_inverse_function(rows, beta):
    curve = TradeOff(*rows)
    alpha = float(curve.inverse(beta))
    assert float(curve(min(1.0, alpha + 1e-12))) <= beta + 1e-9
    if alpha > 1e-9:
        assert float(curve(alpha - 1e-9)) > beta - 1e-12


@given(several())
def test_least_total_error_and_area(rows):
    p, q = rows
    curve = TradeOff(p, q)
    assert curve.least_total_error == pytest.approx(1 - TOTAL_VARIATION(p, q))
    # The area is the chance that the ratio of a draw from q is the smaller, ties counting half.
    logs = [math.inf if a == 0 else b / a for a, b in zip(p, q, strict=True)]
    chance = sum(
        p[i] * q[j] * ((logs[j] < logs[i]) + (logs[j] == logs[i]) / 2)
        for i, j in itertools.product(range(len(p)), repeat=2)
        if p[i] and q[j]
    )
    assert curve.area == pytest.approx(chance, abs=1e-12)


def test_equal_ratios_are_one_output_and_absent_ones_none():
    curve = TradeOff([0.3, 0.2, 0.1, 0.4, 0.0], [0.06, 0.04, 0.02, 0.88, 0.0])
    assert curve.null == pytest.approx([0.4, 0.6])
    assert curve.alternative == pytest.approx([0.88, 0.12])


def test_small_errors_keep_their_digits():
    curve = TradeOff([1e-40, 0.5, 0.5 - 1e-20, 1e-20], [0.25, 0.25, 0.5, 1e-60])
    assert curve.alphas[1] == pytest.approx(1e-40, rel=1e-12)
    assert curve.betas[-2] == pytest.approx(1e-60, rel=1e-12)
    assert float(curve(5e-41)) == pytest.approx(0.875)
    kept = TradeOff.lowest([curve, TradeOff.of_epsilon(0.0)])
    assert curve.shortfall(kept)[0] == 0
    assert kept.betas[-2] == pytest.approx(1e-60, rel=1e-12)
    assert kept.alphas[1] == pytest.approx(1e-40, rel=1e-12)


@given(several(count=3), st.floats(-3, 3))
def test_curve_of_a_mechanism_is_the_worst_over_all_pairs(rows, epsilon):
    curve = TradeOff.of(rows)
    worst = max(float(hockey_stick(p, q, epsilon)) for p, q in itertools.permutations(rows, 2))
    assert float(curve.profile.delta(epsilon)) == pytest.approx(worst, abs=1e-12)
    for p, q in itertools.permutations(rows, 2):
        assert TradeOff(p, q).shortfall(curve)[0] <= 1e-14
    assert curve.shortfall(curve.symmetrisation)[0] <= 1e-14


@given(several(count=4), st.floats(-3, 3))
def test_lowest_of_curves_has_the_largest_profile(rows, epsilon):
    curves = [TradeOff(rows[0], rows[1]), TradeOff(rows[2], rows[3])]
    lowest = TradeOff.lowest(curves)
    by_profiles = max(float(curve.profile.delta(epsilon)) for curve in curves)
    assert float(lowest.profile.delta(epsilon)) == pytest.approx(by_profiles, abs=1e-12)
    assert float(curves[0].symmetrisation.profile.delta(epsilon)) == pytest.approx(
        max(float(curve.profile.delta(epsilon)) for curve in (curves[0], curves[0].inverse)), abs=1e-12
    )


@given(several(count=4))
def test_shortfall_is_the_largest_gap_and_is_attained(rows):
    first, second = TradeOff(rows[0], rows[1]), TradeOff(rows[2], rows[3])
    gap, alpha = first.shortfall(second)
    grid = np.linspace(0, 1, 301)
    assert gap >= (second(grid) - first(grid)).max() - 1e-12
    if gap:
        assert float(second(alpha)) - float(first(alpha)) == pytest.approx(gap, abs=1e-12)


@given(st.floats(0, 5), st.floats(0, 1), ALPHAS)
def test_curve_of_epsilon_and_delta(epsilon, delta, alpha):
    formula = max(0.0, 1 - delta - math.exp(epsilon) * alpha, math.exp(-epsilon) * (1 - delta - alpha))
    curve = TradeOff.of_epsilon(epsilon, delta)
    assert float(curve(alpha)) == pytest.approx(formula, abs=1e-12)
    assert float(curve.profile.delta(epsilon)) == pytest.approx(delta, abs=1e-12)


@given(several(count=3), st.floats(0, 2))
def test_differential_privacy_is_a_curve(rows, epsilon):
    delta = max(float(hockey_stick(p, q, epsilon)) for p, q in itertools.permutations(rows, 2))
    assert TradeOffPrivacy(TradeOff.of_epsilon(epsilon, delta)).measure(rows).value <= 1e-13
    assume(delta > 1e-6)
    assert TradeOffPrivacy(TradeOff.of_epsilon(epsilon, delta * 0.999)).measure(rows).value > 0


@settings(max_examples=20)
@given(several(count=3), several())
def test_slack_and_its_witness(rows, pair):
    bound = TradeOff(*pair)
    found = TradeOffPrivacy(bound).measure(rows)
    gaps = [
        float(bound(float(min(1.0, p[list(R)].sum())))) - q[[y for y in range(len(p)) if y not in R]].sum()
        for p, q in itertools.permutations(rows, 2)
        for R in [(), *subsets(len(p))]
    ]
    assert found.value == pytest.approx(max(0.0, *gaps), abs=1e-12)
    if found.value > 1e-12:
        assert found.witness.pair is not None
        first, second = found.witness.pair
        R = found.witness.outputs
        alpha, beta = rows[first][R].sum(), 1 - rows[second][R].sum()
        assert float(bound(min(1.0, alpha))) - beta == pytest.approx(found.value, abs=1e-12)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_catalogue_against_its_own_curve(case):
    curve = TradeOff.of(case.mechanism)
    found = TradeOffPrivacy(curve).measure(case.mechanism)
    assert found.value <= found.rounding
    assert found.upper < 1e-12
    assert "secrets" in found.sentence
    near = TradeOff.of(case.mechanism, Relation.of_radius(case.metric, 1.0))
    assert near.shortfall(curve)[0] <= 1e-14
    if math.isfinite(case.epsilon):
        assert near.shortfall(TradeOff.of_epsilon(case.epsilon * 1.00001))[0] <= 1e-12


def test_one_way_relation_compares_one_order_only():
    rows = np.array([[1.0, 0.0], [0.5, 0.5]])
    relation = Relation(np.array([[False, True], [False, False]]))
    curve = TradeOff.of(rows, relation)
    assert float(curve(0.0)) == 0.5
    assert TradeOffPrivacy(curve, relation).measure(rows).value == 0
    assert TradeOffPrivacy(curve).measure(rows).witness.pair == (1, 0)


def test_no_pair_to_compare_hides_perfectly():
    assert TradeOff.of([[0.25, 0.75]]).least_total_error == 1
    relation = Relation.of_radius(Metric([[0.0, 2.0], [2.0, 0.0]]), 1.0)
    assert TradeOff.of([[1.0, 0.0], [0.0, 1.0]], relation).area == 0.5


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: TradeOff([0.5, 0.5], [0.5, 0.6]),
        lambda: TradeOff([1.0], [0.5, 0.5]),
        lambda: TradeOff.of_epsilon(-0.1),
        lambda: TradeOff.of_epsilon(1.0, 1.5),
        lambda: TradeOff.lowest([]),
        lambda: TradeOff([1.0], [1.0])(1.5),
        lambda: TradeOff([1.0], [1.0])(math.nan),
    ],
)
def test_what_is_no_curve_is_refused(wrong):
    with pytest.raises(InputError, match="Hint"):
        wrong()


def test_no_error_is_above_1():
    p, q = np.array([0.0, 3, 8, 5, 3]) + 1e-12, np.array([8.0, 5, 8, 0, 4]) + 1e-12
    assert TradeOff(p / p.sum(), q / q.sum())(0.0) <= 1


def test_a_curve_is_made_of_its_vertices():
    coin = TradeOff([0.75, 0.25], [0.25, 0.75])
    again = TradeOff.of_vertices(coin.alphas, coin.betas)
    np.testing.assert_allclose(again.null, coin.null)
    np.testing.assert_allclose(again.alternative, coin.alternative)
    # A curve that falls at once: what the first vertex lacks is told apart for certain.
    np.testing.assert_allclose(TradeOff.of_vertices([0.0, 1.0], [0.9, 0.0]).betas, [0.9, 0.0])
    with pytest.raises(InputError, match="not those of a trade-off curve"):
        TradeOff.of_vertices([0.0, 0.5], [1.0, 0.0])
    with pytest.raises(InputError, match="not convex"):
        TradeOff.of_vertices([0.0, 0.5, 1.0], [1.0, 0.9, 0.0])


@pytest.mark.parametrize("seed", range(20))
def test_a_curve_with_room_to_spare_is_kept_exactly(seed):
    """Every curve meets every other where alpha or beta is 1; that alone leaves nothing open."""
    random = np.random.default_rng(seed)
    rows = random.dirichlet(np.ones(4), 3)
    needed = float(np.log(np.maximum.reduce([rows[s] / rows[t] for s in range(3) for t in range(3)])).max())
    assert TradeOffPrivacy(TradeOff.of_epsilon(needed * 1.001)).measure(rows).upper == 0
    broken = TradeOffPrivacy(TradeOff.of_epsilon(needed * 0.999)).measure(rows)
    assert broken.lower > 0


def test_a_requirement_on_a_curve_is_decided():
    mechanism = sf.mechanisms.randomised_response(sf.Space("ab"), 1.0)
    kept, broken = (audit(mechanism, curve=TradeOff.of_epsilon(epsilon)) for epsilon in (1.01, 0.99))
    assert Requirement.parse("trade-off <= 0").hold_against(kept).outcome is Outcome.HOLDS
    assert Requirement.parse("trade-off <= 0").hold_against(broken).outcome is Outcome.FAILS


def small_rows(size):
    """Distributions in sixteenths."""
    return st.lists(st.integers(0, 16), min_size=size - 1, max_size=size - 1).map(
        lambda cuts: [b - a for a, b in itertools.pairwise([0, *sorted(cuts), 16])]
    )


def least_error(p, q, alpha):
    """The least type II error of a randomised test, in fractions, by all mixtures of two tests."""
    tests = [(sum(p[k] for k in R), 16 - sum(q[k] for k in R)) for R in [(), *subsets(len(p))]]
    best = Fraction(16)
    for (a, one), (b, other) in itertools.product(tests, repeat=2):
        if a <= alpha <= b:
            best = min(best, Fraction(one) if a == b else one + (alpha - a) * Fraction(other - one, b - a))
    return best


@settings(max_examples=60)
@given(small_rows(3), small_rows(3), small_rows(3), small_rows(3))
@example([12, 4, 0], [4, 12, 0], [12, 4, 0], [4, 12, 0])
@example([8, 4, 4], [4, 4, 8], [12, 4, 0], [8, 8, 0])
def test_a_curve_that_is_touched_is_decided_in_integers(p, q, null, alternative):
    curve = TradeOff(np.array(null) / 16, np.array(alternative) / 16)
    related = Relation(np.array([[False, True], [False, False]]))
    found = TradeOffPrivacy(curve, related).measure(np.array([p, q]) / 16)
    slack = max(
        least_error(null, alternative, sum(p[k] for k in R)) - (16 - sum(q[k] for k in R)) for R in subsets(3)
    )
    exact = max(Fraction(0), Fraction(slack) / 16)
    assert Fraction(found.lower) <= exact <= Fraction(found.upper)
    assert (found.upper == 0) == (exact == 0)
    assert (found.lower > 0) == (exact > 0)


def test_the_mechanisms_own_curve_is_kept():
    coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
    own = TradeOff.through([0, 0.25, 1], [1, 0.25, 0])
    for curve in (own, TradeOff.of(coin), TradeOff.of_epsilon(math.log(3))):
        entry = audit(coin, curve=curve)
        verdict = Requirement.parse("trade-off <= 0").hold_against(entry)
        assert verdict.outcome is Outcome.HOLDS, verdict
    tighter = audit(coin, curve=TradeOff.through([0, 0.25, 1], [1, 0.25 + 2**-45, 0]))
    assert Requirement.parse("trade-off <= 0").hold_against(tighter).outcome is Outcome.FAILS


def own_corners(counts, unit):
    """The points of all tests between rows of decimals, as floats: the corners of their lower envelope."""
    rows = [[Fraction(int(count), unit) for count in row] for row in counts]
    points = {(Fraction(0), Fraction(1)), (Fraction(1), Fraction(0))}
    for p, q in itertools.permutations(rows, 2):
        points |= {(sum(p[o] for o in R), 1 - sum(q[o] for o in R)) for R in subsets(len(p))}
    corners = [here for here in sorted(points) if on_envelope(here, points)]
    return [float(a) for a, _ in corners], [float(b) for _, b in corners]


def on_envelope(here, points):
    below = envelope_at(here[0], points - {here})
    return below is None or here[1] < below


def envelope_at(alpha, points):
    """The least mixture of two points at a type I error; None where no two lie around it."""
    found = [
        b if a == c else b + (alpha - a) * (d - b) / (c - a)
        for (a, b), (c, d) in itertools.combinations_with_replacement(sorted(points), 2)
        if a <= alpha <= c
    ]
    return min(found, default=None)


CURVES = {
    "vertices": TradeOff.of_vertices,
    "through": TradeOff.through,
    "symmetrisation": lambda alphas, betas: TradeOff.of_vertices(alphas, betas).symmetrisation,
    "inverse": lambda alphas, betas: TradeOff.of_vertices(alphas, betas).inverse.inverse,
}


@pytest.mark.thinned(2)
@pytest.mark.parametrize("kind", CURVES)
def test_curves_of_decimals_are_decided(kind):
    """Curves that touch those of a mechanism at decimals, which floats hold as other numbers, in fractions."""
    random = np.random.default_rng(list(CURVES).index(kind))
    outcomes = set()
    for trial in range(60):
        unit = int(random.choice([10, 20, 16]))
        counts = np.array([random.multinomial(unit, random.dirichlet(np.ones(3))) for _ in range(2)])
        mechanism = sf.Mechanism(counts / unit)
        given = mechanism if trial % 3 else counts / unit
        alphas, betas = own_corners(counts, unit)
        if trial % 5 == 0 and len(alphas) > 2:
            alphas, betas = alphas[:1] + alphas[2:], betas[:1] + betas[2:]
        corners = {(Fraction(a), Fraction(b)) for a, b in zip(alphas, betas, strict=True)}
        if kind == "symmetrisation":
            corners |= {(b, a) for a, b in corners} | {(Fraction(0), Fraction(1))}
        weights = (mechanism.weights if trial % 3 else counts / unit).tolist()
        rows = [[Fraction(entry) / sum(map(Fraction, row)) for entry in row] for row in weights]
        slack = max(
            envelope_at(sum(p[o] for o in R), corners) - 1 + sum(q[o] for o in R)
            for p, q in itertools.permutations(rows, 2)
            for R in [(), *subsets(3)]
        )
        found = TradeOffPrivacy(CURVES[kind](alphas, betas)).measure(given)
        assert Fraction(found.lower) <= max(slack, 0) <= Fraction(found.upper)
        assert (found.upper == 0) == (slack <= 0)
        assert (found.lower > 0) == (slack > 0)
        outcomes.add((slack > 0, slack < 1e-14))
    assert outcomes == {(False, True), (True, True), (True, False)}


@pytest.mark.thinned(2)
@pytest.mark.parametrize("share", [0.1, 0.2, 0.3, 0.35, 0.45])
def test_a_coin_of_decimals_satisfies_its_own_curve(share, tmp_path):
    """The numbers of a table are read like those of the mechanism, so that equal decimals are equal."""
    coin = sf.Mechanism([[1 - share, share], [share, 1 - share]])
    table = tmp_path / "curve.csv"
    table.write_text(f"alpha,beta\n0,1\n{share},{share}\n1,0\n")
    for curve in (curve_from(str(table)), TradeOff.of(coin), TradeOff.through([share], [share])):
        verdict = Requirement.parse("trade-off <= 0").hold_against(audit(coin, curve=curve))
        assert verdict.outcome is Outcome.HOLDS, verdict
    above = math.nextafter(share, 1)
    broken = TradeOffPrivacy(TradeOff.through([share], [above])).measure(coin)
    assert 0 < broken.lower <= broken.upper < 1e-16
    assert broken.witness.pair is not None


@pytest.mark.slow
def test_a_curve_that_many_pairs_touch_is_decided():
    size = 100  # its pairs have 990,000 entries
    response = np.full((size, size), 0.5 / (size - 1)) + (0.5 - 0.5 / (size - 1)) * np.eye(size)
    mechanism = sf.Mechanism(response)
    own = TradeOff.of(sf.Mechanism(mechanism.matrix[:2]))
    assert TradeOffPrivacy(own).measure(mechanism).upper == 0


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 40.0, math.inf])
def test_the_corners_of_a_promise_enclose_it(epsilon):
    corners = TradeOff.of_epsilon(epsilon, 0.25).corners()
    assert corners is not None
    below, above = corners
    assert [a for a, _ in below] == pytest.approx([a for a, _ in above], rel=1e-30)
    for (a, b), (c, d) in zip(below, above, strict=True):
        assert b <= d
        assert a <= c
    if epsilon < math.inf:
        formula = [max(0.0, 0.75 - math.exp(epsilon) * a, math.exp(-epsilon) * (0.75 - a)) for a, _ in below]
        assert [float(b) for _, b in below] == pytest.approx(formula, abs=1e-15)


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_the_curve_of_a_promise_is_kept_where_the_promise_is(delta):
    mechanism = sf.mechanisms.randomised_response(sf.Space(range(3)), 1.0)
    found = TradeOffPrivacy(TradeOff.of_epsilon(1.0, delta)).measure(mechanism)
    assert found.upper == 0
    epsilon = DifferentialPrivacy(delta=delta).measure(mechanism)
    kept, broken = (
        TradeOffPrivacy(TradeOff.of_epsilon(each, delta)).measure(mechanism).upper
        for each in (epsilon.upper, epsilon.lower * (1 - 2**-52))
    )
    assert kept == 0 < broken
