"""Reports from lists, tables and samplers."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.estimation import Reports, estimate_population, maximum_likelihood, read_reports, unbiased_estimate

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
    with pytest.raises(sf.errors.DataError, match=r"first is number 2\)"):
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


def test_weights_that_are_none_are_refused():
    coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
    for weights, says in (
        ([1, -1, 1], "1 weight of 3 cannot be used: that of report 2 is -1"),
        ([1, np.nan, np.inf], "2 weights of 3"),
        ([0, 0, 0], "all weights are zero"),
        ([1, 1], "2 weights for 3 reports"),
    ):
        with pytest.raises(InputError, match=says):
            Reports.at(coin, np.array([0, 1, 0]), weights)


def test_equal_weights_are_none():
    coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
    positions = np.array([0, 1, 0, 0])
    plain, weighted = Reports.at(coin, positions), Reports.at(coin, positions, np.full(4, 0.3))
    assert weighted.effective == 4
    np.testing.assert_array_equal(plain.sums, weighted.sums)


@pytest.mark.parametrize("method", ["maximum-likelihood", "least-squares", "inversion"])
def test_whole_weights_are_copies_of_reports_but_vary_more(method):
    coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
    positions, weights = np.array([0, 1, 0, 0, 1, 1, 0, 0]), np.array([3, 1, 2, 0, 1, 4, 1, 2])
    weighted = Reports.at(coin, positions, weights)
    copies = Reports.at(coin, np.repeat(positions, weights))
    shares = [estimate_population(each, method).probabilities for each in (weighted, copies)]
    np.testing.assert_allclose(shares[0], shares[1], atol=1e-4)
    assert weighted.effective == pytest.approx(14**2 / 36)
    one = unbiased_estimate(weighted)
    matrix = np.linalg.inv(coin.matrix)[positions]
    residuals = matrix - one.estimate.probabilities
    by_hand = (residuals.T * weights**2) @ residuals / weights.sum() ** 2
    np.testing.assert_allclose(one.covariance, by_hand, atol=1e-12)
    assert one.covariance[0, 0] > unbiased_estimate(copies).covariance[0, 0]
    many = Reports.at(coin, np.tile(positions, 3), np.tile(weights, 3))
    for kind in ("profile", "bootstrap"):
        with pytest.raises(InputError, match="do not hold for weighted reports"):
            estimate_population(weighted, "maximum-likelihood", intervals=kind, seed=1)
    with pytest.raises(InputError, match="do not hold for weighted reports"):
        estimate_population(many, "early-stopped", seed=1)


@pytest.mark.slow
def test_intervals_of_weighted_reports_cover_the_weighted_share():
    """Rare people weigh nine times as much, and answer otherwise: 95 % of intervals cover the population's share.

    With a coverage of .95, fewer than 355 of 400 happens with probability below 1e-6, and the seeds are fixed.
    """
    coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
    rng = np.random.default_rng(11)
    covered = naive = 0
    for _ in range(400):
        rare = rng.random(1500) < 0.1
        weights = np.where(rare, 9.0, 1.0)  # one in ten answers stands for nine people
        secrets = (rng.random(1500) < np.where(rare, 0.7, 0.2)).astype(int)
        reports = np.where(rng.random(1500) < 0.25, 1 - secrets, secrets)
        weighted = Reports.at(coin, reports, weights)
        wide = estimate_population(weighted, "inversion", intervals="normal").intervals
        assert wide is not None
        covered += bool(wide.lower[1] <= 0.45 <= wide.upper[1])
        width = float(wide.upper[1] - wide.lower[1])
        equal = Reports(coin, np.rint(weighted.sums * 1500 / weighted.sums.sum()))
        narrow = estimate_population(equal, "inversion", intervals="normal").intervals
        assert narrow is not None
        naive += bool(narrow.lower[1] <= 0.45 <= narrow.upper[1])
        assert width > float(narrow.upper[1] - narrow.lower[1])
    assert covered >= 355
    assert naive < 330
