"""Reports from lists, tables and samplers."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.releases.estimate import Reports, maximum_likelihood, read_reports

from .cases import channel, collected, response


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_released_table_is_read_back(tmp_path, suffix):
    space = sf.Space(["007", "08", "nine"])
    source = tmp_path / "truth.csv"
    source.write_text("id\n" + "007\n08\nnine\n" * 40, encoding="utf-8")
    mechanism = sf.mechanisms.randomised_response(space, 8.0)
    sf.release(mechanism, source, tmp_path / f"private{suffix}", column="id")
    reports = read_reports(mechanism, tmp_path / f"private{suffix}")
    assert len(reports) == 120
    np.testing.assert_allclose(maximum_likelihood(reports).probabilities, 1 / 3, atol=0.05)


def test_numbers_stay_numbers(tmp_path):
    mechanism = sf.mechanisms.geometric(sf.Space.numbers([18, 19, 20]), 1.0)
    (tmp_path / "r.csv").write_text("age\n18\n20\n20\n", encoding="utf-8")
    assert read_reports(mechanism, tmp_path / "r.csv", "age", unmarked=True).counts.tolist() == [1, 0, 2]


def test_a_row_that_is_no_report_is_named(tmp_path):
    mechanism = sf.mechanisms.randomised_response(sf.Space("ab"), 1.0)
    (tmp_path / "r.csv").write_text("label\na\nz\nb\n", encoding="utf-8")
    with pytest.raises(sf.errors.DataError, match="first is number 2: z"):
        read_reports(mechanism, tmp_path / "r.csv", unmarked=True)


def test_lists_and_positions_count_alike():
    mechanism = response()
    drawn = sf.simulator(mechanism, 1).draw(np.array([0, 1, 2, 3] * 5))
    labels = [mechanism.observables.labels[i] for i in drawn]
    assert Reports.at(mechanism, drawn).counts.tolist() == Reports.of(mechanism, labels).counts.tolist()


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([1, 2], "shape"),
        ([1, 1, -1, 0, 0, 0], "negative"),
        ([1, 1, 0.5, 0, 0, 0], "whole"),
        ([0] * 6, "no report"),
        ([1, 1, 1, 1, 1, 3], "3 reports cannot come"),
        ([1, 1, np.nan, 0, 0, 0], "NaN"),
    ],
)
def test_counts_that_are_none_are_refused(counts, said):
    with pytest.raises(sf.errors.InputError, match=said):
        Reports(channel(1), counts)


def test_positions_outside_are_refused():
    with pytest.raises(sf.errors.InputError, match="positions"):
        Reports.at(channel(1), np.array([0, 6]))


def test_counts_are_the_users_own_copy():
    given = np.array([3, 1, 0, 0, 0, 0])
    reports = Reports(channel(1), given)
    given[0] = 100
    assert len(reports) == 4
    assert not collected(channel(1), 10, 1).counts.flags.writeable
