"""A transformer of scikit-learn: its checks, its law, its promise, and what it loses at least."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from sfumato.errors import InputError
from sfumato.releases.transformers import LocalRandomizer
from tests.sampling.mechanisms import fix_seeds
from tests.sampling.test_sampler import BY_CHANCE, chance

RANDOM = "every transform draws fresh reports, on purpose: equal ones would give away that rows are equal"
EXPECTED = {
    "check_estimators_pickle": f"it compares two transforms, before and after pickling; {RANDOM}",
    "check_fit_idempotent": f"it compares two transforms, after one fit and after two; {RANDOM}",
}
ROWS = np.random.default_rng(5).normal(size=(300, 2)) * [1, 3]


@pytest.mark.slow
def test_the_checks_of_scikit_learn(monkeypatch):
    """Checks that compare two transforms fail, or are left out for estimators that are tagged as random."""
    fix_seeds(monkeypatch)
    found = check_estimator(LocalRandomizer(n_values=2), expected_failed_checks=EXPECTED, on_skip=None)
    by_status: dict[str, set[str]] = {}
    for each in found:
        by_status.setdefault(each["status"], set()).add(each["check_name"])
    assert by_status.pop("xfail") == set(EXPECTED)
    assert by_status.pop("skipped") <= {
        "check_pipeline_consistency",
        "check_array_api_input",
        "check_transformer_data_not_an_array",
        "check_transformer_general",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
    }
    assert len(by_status.pop("passed")) > 30
    assert not by_status


@pytest.mark.slow
def test_what_fit_finds_does_not_change_from_fit_to_fit_nor_in_a_pickle():
    first, second = (LocalRandomizer(n_values=4).fit(ROWS) for _ in range(2))
    for other in (second, pickle.loads(pickle.dumps(first))):
        assert np.array_equal(first.values_, other.values_)
        assert np.array_equal(first.mechanism_.weights, other.mechanism_.weights)


def test_reports_follow_the_designed_mechanism():
    made = LocalRandomizer(1.0, 5).fit(ROWS)
    row = ROWS[7]
    nearest = int(np.argmin(np.linalg.norm(made.values_ - row, axis=1)))
    reports = made.transform(np.tile(row, (50_000, 1)))
    equal = (reports[:, None] == made.values_).all(axis=2)
    assert equal.any(axis=1).all()
    assert chance(equal.sum(axis=0), made.mechanism_.matrix[nearest]) > BY_CHANCE


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_any_two_rows_differ_by_epsilon_at_most(epsilon):
    weights = np.array(LocalRandomizer(epsilon, 6).fit(ROWS).mechanism_.weights, dtype=object)
    for column in weights.T:
        used = [weight for weight in column if weight]
        assert not used or (len(used) == len(column) and math.log(max(used) / min(used)) <= epsilon)


def test_two_values_are_told_with_the_best_coin():
    """Randomised response is optimal for two values that are equally frequent: it loses 1 / (1 + e**epsilon)."""
    rows = np.array([[0.0], [4.0]] * 20)
    made = LocalRandomizer(1.0).fit(rows)
    assert made.values_.tolist() == [[0.0], [4.0]]
    assert np.allclose(made.mechanism_.matrix[0, 1], 1 / (1 + math.e), rtol=1e-6)


def test_a_pipeline_over_data_frames():
    frame = pd.DataFrame(ROWS, columns=["age", "income"], index=range(5, 305))
    steps = make_pipeline(StandardScaler(), LocalRandomizer(n_values=4)).set_output(transform="pandas")
    found = steps.fit(frame).transform(frame)
    assert list(found.columns) == ["age", "income"]
    assert found.index.equals(frame.index)
    assert len(found.drop_duplicates()) <= 4


def test_borders():
    same = LocalRandomizer().fit(np.ones((4, 2)))
    assert same.design_ is None
    assert np.array_equal(same.transform([[9.0, 9.0]]), [[1.0, 1.0]])
    for wrong in ({"epsilon": 0.0}, {"epsilon": math.nan}, {"n_values": 0}):
        with pytest.raises(InputError):
            LocalRandomizer(**wrong).fit(ROWS)
    with pytest.raises(InputError, match="scale the columns"):
        LocalRandomizer().fit([[0.0], [1e-200]])
    with pytest.raises(ValueError, match="NaN"):
        LocalRandomizer().fit([[math.nan], [1.0]])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"epsilon": "2/km"}, "epsilon is '2/km', which is not a number"),
        ({"epsilon": None}, "epsilon is None, which is not a number"),
        ({"epsilon": True}, "epsilon is True, which is not a number"),
        ({"epsilon": math.nan}, "an epsilon of nan"),
        ({"epsilon": math.inf}, "an epsilon of inf"),
        ({"n_values": "8"}, "n_values is '8', which is not a whole number"),
        ({"n_values": 2.5}, "n_values is 2.5, which is not a whole number"),
    ],
)
def test_parameters_of_another_type(parameters, words):
    with pytest.raises(InputError, match=words):
        LocalRandomizer(**parameters).fit(ROWS)
