"""Semantic privacy: over all sets by plain loops, over priors by search, and its relation to epsilon."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Space
from sfumato.errors import InputError
from sfumato.privacy import SemanticPrivacy

from ...catalogue import CASES, Case
from ..bayes import channels, events_of, few, pure_epsilon

GOLDEN = np.array([[0.4, 0.1, 0.5], [0.04, 0.01, 0.95], [0.2, 0.2, 0.6], [0.02, 0.02, 0.96]])
GOLDEN_MAP = np.array([[2, 3, -1, -1]])


@st.composite
def mapped(draw, positive=False):
    """A random matrix and one or two maps of its rows, often partial."""
    matrix = draw(channels(positive=positive))
    image = st.integers(-1, len(matrix) - 1)
    row = st.lists(image, min_size=len(matrix), max_size=len(matrix))
    return matrix, np.array(draw(st.lists(row, min_size=1, max_size=2)))


def total_variation(a, b, prior):
    """The total variation of the posteriors for P(S|s) = a(s) and b(s); 0 if either S is impossible."""
    x, y = prior * a, prior * b
    return 0.5 * np.abs(x / x.sum() - y / y.sum()).sum() if x.sum() > 0 and y.sum() > 0 else 0.0


def probabilities(matrix, maps, sets):
    for mapping, S in itertools.product(maps, sets):
        secrets = np.flatnonzero(mapping >= 0)
        if len(secrets):
            yield matrix[secrets][:, S].sum(axis=1), matrix[mapping[secrets]][:, S].sum(axis=1)


def by_two_points(matrix, maps, sets):
    """The supremum over priors on two secrets, at the best share by calculus, in plain loops."""
    best = 0.0
    for a, b in probabilities(matrix, maps, sets):
        for x, y in itertools.permutations(range(len(a)), 2):
            up, down = a[x] * b[y], b[x] * a[y]
            if up > 0:
                root = math.sqrt(down / up)
                best = max(best, (1 - root) / (1 + root))
    return best


@few
@given(mapped())
def test_value_over_all_sets_is_that_of_plain_loops(case):
    matrix, maps = case
    notion = SemanticPrivacy(maps)
    found = notion.measure(matrix)
    assert found.value == pytest.approx(by_two_points(matrix, maps, list(events_of(matrix.shape[1]))), abs=1e-12)
    single = SemanticPrivacy(maps, sets=False).measure(matrix)
    singles = [[o] for o in range(matrix.shape[1])]
    assert single.value == pytest.approx(by_two_points(matrix, maps, singles), abs=1e-12)
    assert single.value <= found.value + 1e-15
    assert found.lower <= notion.bound(matrix)


@few
@given(mapped(), st.integers(0, 10**6))
def test_no_prior_exceeds_the_value(case, seed):
    matrix, maps = case
    found = SemanticPrivacy(maps).measure(matrix)
    rng = np.random.default_rng(seed)
    for a, b in probabilities(matrix, maps, list(events_of(matrix.shape[1]))):
        for sharpness in (0.1, 1.0):
            assert total_variation(a, b, rng.dirichlet(np.full(len(a), sharpness) + 1e-3)) <= found.value + 1e-9


@few
@given(mapped(positive=True))
def test_witness_attains_the_value(case):
    matrix, maps = case
    for sets in (True, False):
        found = SemanticPrivacy(maps, sets=sets).measure(matrix)
        if found.value < 1e-9:
            continue
        S = found.witness.outputs
        prior = found.witness.prior
        assert prior is not None
        best = 0.0
        for mapping in maps:
            inside = mapping >= 0
            if inside[prior > 0].all():
                a, b = matrix[inside][:, S].sum(axis=1), matrix[mapping[inside]][:, S].sum(axis=1)
                best = max(best, total_variation(a, b, prior[inside]))
        assert best == pytest.approx(found.value, abs=1e-9)


def test_golden_example_in_which_only_a_set_tells():
    """H10: per output {0, 0, .0429}, but .0667 for the last two together."""
    single = SemanticPrivacy(GOLDEN_MAP, sets=False).measure(GOLDEN)
    assert single.value == pytest.approx(0.0429, abs=5e-5)
    for o, expected in enumerate((0.0, 0.0, 0.0429)):
        (a, b), *_ = probabilities(GOLDEN, GOLDEN_MAP, [[o]])
        grid = [total_variation(a, b, np.array([w, 1 - w])) for w in np.linspace(0.001, 0.999, 2001)]
        assert max(grid) == pytest.approx(expected, abs=5e-5)
    found = SemanticPrivacy(GOLDEN_MAP).measure(GOLDEN)
    assert found.value == pytest.approx(0.0667, abs=5e-5)
    assert found.witness.outputs.tolist() == [1, 2]
    (a, b), *_ = probabilities(GOLDEN, GOLDEN_MAP, [[1, 2]])
    grid = [total_variation(a, b, np.array([w, 1 - w])) for w in np.linspace(0.001, 0.999, 2001)]
    assert max(grid) == pytest.approx(found.value, abs=1e-6)


@given(mapped(positive=True))
def test_differential_privacy_bounds_it_by_tanh_of_half(case):
    matrix, maps = case
    pairs = [(s, t) for row in maps for s, t in enumerate(row) if t >= 0]
    epsilon = pure_epsilon(matrix, iter(pairs + [(t, s) for s, t in pairs]))
    notion = SemanticPrivacy(maps)
    assert notion.measure(matrix).value <= math.tanh(epsilon / 2) + 1e-12 <= math.expm1(epsilon) + 2e-12
    assert notion.measure(matrix).value <= notion.bound(matrix) <= math.tanh(epsilon / 2) + 1e-12


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_tanh_is_attained_where_the_record_is_turned_around(epsilon):
    e = math.exp(epsilon)
    response = np.array([[e, 1], [1, e]]) / (1 + e)
    found = SemanticPrivacy(np.array([[1, 0]])).measure(response)
    assert found.value == pytest.approx(math.tanh(epsilon / 2), abs=1e-12)
    golden = {0.1: 0.0500, 1.0: 0.4621, 3.0: 0.9051}
    assert found.value == pytest.approx(golden[epsilon], abs=5e-5)


@given(channels(positive=True), st.data())
def test_converse_for_maps_that_change_nothing_twice(matrix, data):
    """If N(N(s)) = N(s), tanh(epsilon / 4) implies epsilon, already for single reports."""
    kept = data.draw(st.lists(st.integers(0, len(matrix) - 1), min_size=1, max_size=len(matrix), unique=True))
    mapping = np.array([s if s in kept else kept[s % len(kept)] for s in range(len(matrix))])
    value = SemanticPrivacy(mapping[None], sets=False).measure(matrix).value
    pairs = [(s, t) for s, t in enumerate(mapping)] + [(t, s) for s, t in enumerate(mapping)]
    assert pure_epsilon(matrix, iter(pairs)) <= 4 * math.atanh(value) + 1e-10


def test_our_converse_is_sharper_than_the_published_one():
    for epsilon in np.linspace(0.01, 10, 50):
        assert math.tanh(epsilon / 4) >= 0.5 - 1 / (math.exp(epsilon) + 1)


def by_default(matrix, default):
    """The largest ratio of p(S | s) and p(S | t) over all sets that the default can report, in plain loops."""
    best = 1.0
    for S in events_of(matrix.shape[1]):
        if matrix[default][S].sum() > 0:
            masses = matrix[:, S].sum(axis=1)
            best = max(best, math.inf if masses.min() == 0 else masses.max() / masses.min())
    return math.tanh(math.log(best) / 4) if best < math.inf else 1.0


@given(channels(outputs=6))
def test_one_default_is_measured_over_all_sets_at_any_number_of_observables(matrix):
    values = []
    for default in range(len(matrix)):
        notion = SemanticPrivacy.replacing(len(matrix), default)
        values.append(notion.measure(matrix).value)
        assert values[-1] == pytest.approx(by_default(matrix, default), abs=1e-12)
        # Parts of a report that the default never makes are best used together.
        parts = [np.repeat(c[:, None] / 10, 10, axis=1) if c[default] == 0 else c[:, None] for c in matrix.T]
        assert notion.measure(np.hstack(parts)).value == pytest.approx(values[-1], abs=1e-12)
    assert SemanticPrivacy().measure(matrix).value == pytest.approx(max(values), abs=1e-12)


@given(channels(outputs=6), st.randoms())
def test_worst_default_is_a_quarter_of_the_epsilon_of_all_pairs_in_any_order(matrix, random):
    found = SemanticPrivacy().measure(matrix)
    epsilon = pure_epsilon(matrix)
    assert found.value == pytest.approx(math.tanh(epsilon / 4), abs=1e-12)
    order, columns = list(range(len(matrix))), list(range(matrix.shape[1]))
    random.shuffle(order)
    random.shuffle(columns)
    shuffled = SemanticPrivacy().measure(matrix[order][:, columns])
    assert shuffled.value == pytest.approx(found.value, abs=1e-15)
    assert found.lower <= SemanticPrivacy().bound(matrix)


def test_worst_default_of_rows_in_either_order():
    rows = np.array([[1.0, 0.0], [0.5, 0.5]])
    first = [SemanticPrivacy.replacing(2, 0).measure(each).value for each in (rows, rows[::-1])]
    assert first == [pytest.approx(math.tanh(math.log(2) / 4)), 1.0]
    assert [SemanticPrivacy().measure(each).value for each in (rows, rows[::-1])] == [1.0, 1.0]


@given(channels(positive=True, outputs=5), st.integers(0, 10**6))
def test_worst_default_bounds_what_a_report_changes_in_any_belief(matrix, seed):
    """After a report without the record one believes what one believed before: the distance is to the prior."""
    found = SemanticPrivacy().measure(matrix)
    rng = np.random.default_rng(seed)
    for sharpness in (0.1, 1.0, 10.0):
        prior = rng.dirichlet(np.full(len(matrix), sharpness) + 1e-3)
        for S in events_of(matrix.shape[1]):
            posterior = prior * matrix[:, S].sum(axis=1)
            if posterior.sum() > 0:
                assert 0.5 * np.abs(posterior / posterior.sum() - prior).sum() <= found.upper + 1e-15
    worst = found.witness.prior
    if found.value > 1e-9:
        assert worst is not None
        posterior = worst * matrix[:, found.witness.outputs].sum(axis=1)
        gap = 0.5 * np.abs(posterior / posterior.sum() - worst).sum()
        assert gap == pytest.approx(found.value, abs=1e-9)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_catalogue(case: Case):
    matrix = case.mechanism.matrix
    notion = SemanticPrivacy.replacing(len(matrix), 0)
    found = notion.measure(case.mechanism)
    sets = list(events_of(matrix.shape[1]))
    assert found.value == pytest.approx(by_two_points(matrix, notion.maps, sets), abs=1e-12)
    assert found.upper <= notion.bound(case.mechanism) + 1e-10
    pairs = [(s, 0) for s in range(len(matrix))] + [(0, s) for s in range(len(matrix))]
    assert found.lower <= math.tanh(min(1e3, pure_epsilon(matrix, iter(pairs))) / 2)


def test_impossible_reports():
    truth = np.eye(3)
    swap = SemanticPrivacy(np.array([[1, 0, 2]]))
    assert swap.measure(truth).value == 1.0
    assert swap.bound(truth) == 1.0
    alone = SemanticPrivacy(np.array([[1, -1, -1]]))
    assert alone.measure(truth).value == 0.0
    nobody = SemanticPrivacy(np.array([[-1, -1, -1]]))
    assert nobody.measure(truth).value == 0.0
    assert nobody.bound(truth) < 1e-14


@given(st.integers(2, 7), st.integers(0, 10**6))
def test_sets_of_reports_block_by_block(m, seed):
    matrix, maps = np.random.default_rng(seed).dirichlet(np.ones(m), 3), np.array([[1, 2, 0], [0, 0, 2]])
    sets = list(events_of(m))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.privacy.beliefs.semantic._BLOCK", 8)
        found = SemanticPrivacy(maps).measure(matrix)
    assert found.value == pytest.approx(by_two_points(matrix, maps, sets), abs=1e-9)


def test_witness_of_a_later_block(monkeypatch):
    matrix = np.random.default_rng(3).dirichlet(np.ones(6), 4)
    notion = SemanticPrivacy(np.array([[1, 0, 3, 2], [0, 0, 0, 0]]))
    whole = notion.measure(matrix)
    monkeypatch.setattr("sfumato.privacy.beliefs.semantic._BLOCK", 8)
    assert notion.measure(matrix).value == pytest.approx(whole.value, abs=1e-14)
    assert notion.measure(matrix).witness.outputs.tolist() == whole.witness.outputs.tolist()
    assert whole.witness.outputs.max() >= 2


def test_many_observables():
    rng = np.random.default_rng(2)
    matrix = rng.dirichlet(np.ones(21), 3)
    notion = SemanticPrivacy(np.array([[1, 2, 0]]))
    with pytest.raises(InputError, match="21 observables are used"):
        notion.measure(matrix)
    single = SemanticPrivacy(notion.maps, sets=False).measure(matrix)
    assert single.lower <= notion.bound(matrix)
    assert SemanticPrivacy.replacing(3, 0).measure(matrix).value > 0
    unused = np.column_stack([rng.dirichlet(np.ones(5), 3), np.zeros((3, 20))])
    assert notion.measure(unused).value == notion.measure(unused[:, :5]).value


def test_maps_by_labels_refusals_and_words():
    space = Space(["with a", "with b", "without"])
    notion = SemanticPrivacy.of_maps(space, [{"with a": "without", "with b": "without"}])
    assert notion.maps is not None
    assert np.array_equal(notion.maps, [[2, 2, -1]])
    with pytest.raises(InputError, match="positions of secrets"):
        SemanticPrivacy(np.array([[0, 2]]))
    with pytest.raises(InputError, match="on 3 secrets, but the mechanism has 2"):
        notion.measure(np.eye(2))
    matrix = [[0.5, 0.5], [0.25, 0.75], [0.3, 0.7]]
    assert "any set of reports" in notion.measure(matrix).sentence
    assert "any single report" in SemanticPrivacy.replacing(3, 0, sets=False).measure(matrix).sentence
