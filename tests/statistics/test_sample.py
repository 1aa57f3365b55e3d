"""Samples: counted as given, and refused when they mean nothing."""

from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest

from sfumato.core import Space
from sfumato.errors import InputError
from sfumato.statistics import IntervalBins, Sample, epsilon_lower
from sfumato.statistics.sample import split


def test_pairs_are_counted_by_label_in_the_order_of_the_space():
    sample = Sample.of(
        ["b", "a", "b", "b"], [(1, 2), "x", "x", (1, 2)], space=Space("abc"), observables=Space(["x", (1, 2), "z"])
    )
    assert sample.counts.tolist() == [[1, 0, 0], [1, 2, 0], [0, 0, 0]]
    assert len(sample) == 4
    assert sample.secrets_named
    assert sample.outputs_fixed
    assert not sample.counts.flags.writeable


def test_labels_that_occur_need_no_space():
    sample = Sample.of(np.array([3, 1, 3]), np.array(["u", "v", "u"]))
    assert sample.secrets.labels == (3, 1)
    assert sample.counts.tolist() == [[2, 0], [0, 1]]
    assert not sample.secrets_named
    assert not sample.outputs_fixed


def test_counts_fix_their_outputs_only_if_these_are_named():
    assert not Sample([[1, 2], [3, 4]]).outputs_fixed
    assert Sample([[1, 2], [3, 4]], outputs=Space("xy")).outputs_fixed


@pytest.mark.parametrize("make", [dict, pa.table])
def test_columns_of_a_table(make):
    table = make({"s": ["a", "b", "a"], "o": [1, 1, 2]})
    assert Sample.from_columns(table, "s", "o").counts.tolist() == [[1, 1], [1, 0]]
    with pytest.raises(InputError, match="no column 'report'"):
        Sample.from_columns(table, "s", "report")


def test_values_in_given_cells_are_all_counted():
    sample = Sample.of_values(["a", "a", "b"], [0.5, 1.0, 7.0], IntervalBins([1.0, 2.0]))
    assert sample.counts.tolist() == [[1, 1, 0], [0, 0, 1]]
    assert sample.outputs_fixed


def test_chosen_cells_are_chosen_on_samples_that_are_not_counted():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(1000, 2))
    secrets = np.arange(1000) % 2
    sample = Sample.of_values(secrets, values, 8, share=0.2, seed=3)
    assert len(sample) == 800
    assert len(sample.outputs) == 8
    assert sample.counts.sum(axis=0).min() > 40
    again = Sample.of_values(secrets, values, 8, share=0.2, seed=3)
    assert np.array_equal(sample.counts, again.counts)


@pytest.mark.parametrize(
    ("secrets", "outputs", "message"),
    [
        ([], [], "no sample"),
        (["a", "a"], [1, 2], "only one secret"),
        (["a", "b"], [1, float("nan")], "output of sample 1"),
        (["a", "b"], [(0.0, float("nan")), 1], "output of sample 0"),
        (["a", None], [1, 2], "secret of sample 1"),
        (["a", "b"], [1], "1 outputs"),
        (["a", "b"], [{}, 1], "cannot be hashed"),
    ],
)
def test_what_is_no_sample_is_refused(secrets, outputs, message):
    with pytest.raises(InputError, match=message):
        Sample.of(secrets, outputs)


@pytest.mark.parametrize("counts", [[[1.5, 1], [1, 1]], [[-1, 2], [1, 1]], [[np.nan, 1], [1, 1]], [1, 2], [[]]])
def test_what_are_no_counts_is_refused(counts):
    with pytest.raises(InputError, match="count"):
        Sample(counts)


def test_counts_must_fit_their_labels_and_values_must_be_finite():
    with pytest.raises(InputError, match="2 x 2, but there are 3"):
        Sample([[1, 2], [3, 4]], Space("abc"))
    with pytest.raises(InputError, match="nan"):
        Sample.of_values(["a", "b"], [1.0, np.nan], IntervalBins([0.0]))
    with pytest.raises(InputError, match="2 secrets, but 3"):
        Sample.of_values(["a", "b"], [1.0, 2.0, 3.0], IntervalBins([0.0]))
    with pytest.raises(InputError, match="share"):
        Sample.of_values(["a", "b"], [1.0, 2.0], 4, share=1.0)


def test_a_split_keeps_every_sample_and_its_share():
    counts = np.array([[5, 0, 95], [0, 0, 0], [1000, 3, 7]])
    first, second = split(counts, 0.3, np.random.default_rng(5))
    assert np.array_equal(first + second, counts)
    assert first.sum(axis=1).tolist() == [30, 0, 303]
    assert (first >= 0).all()
    assert (second >= 0).all()
    with pytest.raises(InputError, match="share"):
        split(counts, 0.0, np.random.default_rng(5))


def test_the_parts_of_a_split_are_hypergeometric():
    rng = np.random.default_rng(6)
    parts = [split(np.array([[6, 4]]), 0.5, rng)[0][0, 0] for _ in range(4000)]
    assert np.mean(parts) == pytest.approx(3.0, abs=0.08)
    assert np.var(parts) == pytest.approx(5 * 0.6 * 0.4 * 5 / 9, abs=0.08)


def test_too_few_samples_are_refused_in_words():
    with pytest.raises(InputError, match="1 sample cannot choose bins"):
        Sample.of_values(["a"], [0.5], 4)
    with pytest.raises(InputError, match="no event can be chosen from 3 samples"):
        epsilon_lower(Sample.of(["a", "a", "b"], [1, 2, 3]), seed=1)


def test_a_label_that_is_none_is_not_shown():
    with pytest.raises(InputError, match=r"the secret of sample 0: the label cannot be hashed") as refused:
        Sample.of(cast(Any, [{"ann": 1}]), ["x"])
    assert "ann" in refused.value.render(values=True)
