import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InputError
from sfumato.transport import lifting, optimal_lifting, wasserstein

from .problems import distributions, least_cost, most_violation, problems

INF = np.inf


@st.composite
def related(draw, largest=5):
    """A transport problem with a relation."""
    first, second, d = draw(problems(largest))
    truths = st.lists(st.booleans(), min_size=d.size, max_size=d.size)
    return first, second, d, np.array(draw(truths)).reshape(d.shape)


@given(related())
def test_witness_either_way(case):
    first, second, _, relation = case
    found = lifting(relation, first, second)
    worst = most_violation(first, second, relation)
    assert found.outside == pytest.approx(worst, abs=1e-12)
    assert found.coupling.mass_outside(relation) == pytest.approx(found.outside, abs=1e-12)
    assert found.holds == (worst <= 1e-12)
    if found.holds:
        assert len(found.violated) == 0
    else:
        image = relation[found.violated].any(axis=0)
        assert first[found.violated].sum() - second[image].sum() == pytest.approx(worst, abs=1e-12)
    assert ("not in" in repr(found)) != found.holds


@given(related())
def test_lifting_by_a_general_solver(case):
    first, second, _, relation = case
    assert lifting(relation, first, second).outside == pytest.approx(
        least_cost(first, second, (~relation).astype(float)), abs=1e-6
    )


@given(st.integers(0, 3), st.integers(0, 3), st.lists(st.booleans(), min_size=16, max_size=16))
def test_point_masses_are_related_as_their_points(s, t, truths):
    relation = np.array(truths).reshape(4, 4)
    assert lifting(relation, np.eye(4)[s], np.eye(4)[t]).holds == relation[s, t]


@given(related(), st.sampled_from([1.0, 2.0, INF]))
def test_optimal_lifting_by_its_definition(case, p):
    first, second, d, relation = case
    found = optimal_lifting(relation, first, second, d, p)
    distance = wasserstein(first, second, d, p).distance.value
    assert found.distance.value == distance
    if p == INF:
        expected = most_violation(first, second, relation & (d <= distance)) <= 1e-12
    else:
        inside = least_cost(first, second, np.where(relation, d**p, INF))
        expected = inside <= distance**p + 1e-5 * max(1.0, d.max() ** p)
        if found.lifting.holds:
            assert found.restricted**p == pytest.approx(inside, rel=1e-6, abs=1e-5)
        else:
            assert inside == INF or found.lifting.outside < 1e-6
    assert found.holds == expected
    if found.holds:
        assert found.lifting.holds
        assert lifting(relation, first, second).holds  # the optimal lifting is part of the lifting
        assert found.coupling.mass_outside(relation) <= 1e-12
        if p == INF:
            assert found.coupling.joint[d > distance].sum() <= 1e-12
        else:
            attained = found.coupling.expected_distance(d, p) ** p
            assert attained == pytest.approx(distance**p, abs=1e-9 * max(1.0, d.max()) ** p)


def test_the_optimal_lifting_is_a_proper_part_of_the_lifting():
    line = np.abs(np.arange(3.0)[:, None] - np.arange(3.0))
    far = np.array([[False, False, True], [False, True, False], [False, False, False]])
    first, second = [0.5, 0.5, 0.0], [0.0, 0.5, 0.5]
    assert lifting(far, first, second).holds
    assert optimal_lifting(far, first, second, line, 1.0).holds
    for p in (2.0, INF):
        assert not optimal_lifting(far, first, second, line, p).holds
    assert optimal_lifting(far, first, second, line, 2.0).restricted == pytest.approx(np.sqrt(2.0))
    assert optimal_lifting(far, first, second, line, INF).restricted == INF


@given(st.data())
def test_lifted_privacy_keeps_its_delta(data):
    """The tight form of DP => DistP: max over sets of A#mu[R] - e**eps A#mu'[R] is at most delta + outside."""
    n, m, epsilon = 3, 3, 0.5
    rows = np.array([data.draw(distributions(m)) for _ in range(n)])
    relation = np.array(data.draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))).reshape(n, n)
    first, second = data.draw(distributions(n)), data.draw(distributions(n))

    def excess(p, q):
        return float(np.maximum(p - np.exp(epsilon) * q, 0).sum())

    delta = max([0.0] + [excess(rows[s], rows[t]) for s, t in np.argwhere(relation)])
    assert excess(first @ rows, second @ rows) <= delta + lifting(relation, first, second).outside + 1e-12


@given(st.data())
def test_max_divergence_grows_at_most_with_the_largest_distance(data):
    """XDP for W_inf: D_inf(A#mu || A#mu') <= epsilon W_inf(mu, mu')."""
    x = np.array([0.0, 1.0, 2.5, 4.0])
    d = np.abs(x[:, None] - x)
    weights = np.exp(-d / 2)
    rows = weights / weights.sum(axis=1, keepdims=True)
    first, second = data.draw(distributions(4)), data.draw(distributions(4))
    tight = max(np.log(rows[s] / rows[t]).max() / d[s, t] for s in range(4) for t in range(4) if s != t)
    apart = np.log((first @ rows) / (second @ rows)).max()
    assert apart <= tight * wasserstein(first, second, d, INF).distance.value + 1e-12


def test_rounding_is_ignored_unless_told_otherwise():
    same = np.eye(2, dtype=bool)
    assert lifting(same, [0.3, 0.7], [0.1 + 0.2, 0.7]).holds
    strict = lifting(same, [0.3, 0.7], [0.1 + 0.2, 0.7], tolerance=0.0)
    assert not strict.holds
    assert 0 < strict.outside < 1e-15
    assert list(strict.violated) == [1]  # both are normalised exactly, so the second value has lost mass


def test_refusals():
    with pytest.raises(InputError, match="truths"):
        lifting(np.eye(2), [0.5, 0.5], [0.5, 0.5])
    with pytest.raises(InputError, match="shape"):
        lifting(np.eye(3, dtype=bool), [0.5, 0.5], [0.5, 0.5])
    with pytest.raises(InputError, match="infinite distance"):
        optimal_lifting(np.eye(2, dtype=bool), [1.0, 0.0], [0.0, 1.0], [[0.0, INF], [INF, 0.0]])
