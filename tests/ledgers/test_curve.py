"""The attacker's error after t reports: closed forms, all sequences, and simulation against sums."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, binomtest

import sfumato as sf
from sfumato.attacks import optimal
from sfumato.ledgers import Scheme, averaging_errors, composition, errors_after

from .cases import PRIOR, SPACE, noise, response, two_steps
from .test_scheme import SCHEMES, likelihood

D = np.array([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]])


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_sums_are_those_over_all_sequences(scheme):
    m = scheme.instantaneous.shape[1]
    for t in (1, 2, 4):
        exact = sum(
            (D @ (PRIOR.probabilities * likelihood(scheme, sequence))).min()
            for sequence in product(range(m), repeat=t)
        )
        found = errors_after(scheme, PRIOR, D, [t])
        assert found.exact == (True,)
        np.testing.assert_allclose(found.error, exact, rtol=1e-10)
        np.testing.assert_array_equal(found.lower, found.upper)


def test_one_report_is_the_optimal_attack():
    mechanism = noise(6)
    found = errors_after(Scheme.fresh(mechanism), PRIOR, D, [1]).error[0]
    np.testing.assert_allclose(found, optimal(mechanism, PRIOR, D).error, rtol=1e-12)


def test_two_secrets_and_fresh_coins_are_a_vote():
    coin = sf.Mechanism([[0.7, 0.3], [0.3, 0.7]])
    times = [1, 3, 11, 51]
    found = errors_after(Scheme.fresh(coin), sf.Prior.uniform(coin.secrets), sf.hamming(coin.secrets), times)
    np.testing.assert_allclose(found.error, [binom.cdf(t // 2, t, 0.7) for t in times], rtol=1e-9)


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_more_reports_never_help_the_user(scheme):
    error = errors_after(scheme, PRIOR, D, [1, 2, 3, 5, 8]).error
    assert (np.diff(error) <= 1e-12).all()


def test_a_memo_costs_once_and_noise_on_it_lies_between():
    permanent, instantaneous = response(1.0), noise(5, sf.Space("abc?"))
    times = [1, 2, 4, 8, 40]
    memo = errors_after(Scheme.memo(permanent), PRIOR, D, times).error
    fresh = errors_after(Scheme.fresh(permanent), PRIOR, D, times).error
    both = errors_after(Scheme(permanent, instantaneous), PRIOR, D, times).error
    np.testing.assert_allclose(memo, memo[0], rtol=1e-12)
    assert fresh[-1] < 0.02 * memo[-1]
    assert (both >= memo - 1e-12).all()  # it sees the memo through noise
    assert both[-1] < both[0]


@pytest.mark.parametrize("scheme", [SCHEMES[0], SCHEMES[2]], ids=repr)
def test_simulated_errors_have_intervals_that_hold(scheme, monkeypatch):
    times = [2, 5]
    exact = errors_after(scheme, PRIOR, D, times).error
    monkeypatch.setattr(composition, "_LISTED", 0)
    covered = 0
    for seed in range(40):
        found = errors_after(scheme, PRIOR, D, times, trials=500, seed=seed)
        assert found.exact == (False, False)
        covered += int(((found.lower <= exact) & (exact <= found.upper)).sum())
    assert binomtest(covered, 80, 0.95, alternative="less").pvalue > 1e-6
    many = errors_after(scheme, PRIOR, D, times, trials=40_000, seed=1)
    np.testing.assert_allclose(many.error, exact, atol=0.02)


def test_long_runs_are_simulated_and_reach_the_memo():
    scheme = two_steps(9)
    with pytest.raises(sf.errors.InputError, match="seed"):
        errors_after(Scheme.fresh(noise(1, observables=40)), PRIOR, D, [50])
    floor = errors_after(Scheme.memo(scheme.permanent), PRIOR, D, [1]).error[0]
    long = errors_after(scheme, PRIOR, D, [20_000], seed=3)
    assert floor <= long.upper[0]
    np.testing.assert_allclose(long.error[0], floor, atol=0.03)


class TestAveraging:
    LINE = sf.Space.numbers(np.arange(41.0), unit="m")
    MIDDLE = sf.Prior(LINE, np.eye(41)[20])
    NOISE = sf.mechanisms.geometric(LINE, 0.7)

    def test_against_fresh_noise_it_falls_with_the_root_of_the_reports(self):
        found = averaging_errors(Scheme.fresh(self.NOISE), self.MIDDLE, [1, 4, 16, 64, 256], trials=4000, seed=1)
        scatter = np.sqrt(self.NOISE.matrix[20] @ (np.arange(41.0) - 20) ** 2)
        # The mean of t reports is nearly normal, and a normal's mean deviation is sqrt(2 / pi) of its scatter.
        expected = scatter * np.sqrt(2 / np.pi / np.array([16, 64, 256]))
        np.testing.assert_allclose(found.error[2:], expected, rtol=0.05)
        assert (found.lower <= found.error).all()
        assert found.unit == "m"

    def test_against_a_memo_it_does_not_fall(self):
        found = averaging_errors(Scheme.memo(self.NOISE), self.MIDDLE, [1, 16, 256], trials=4000, seed=1)
        first = self.NOISE.matrix[20] @ np.abs(np.arange(41.0) - 20)
        assert (found.lower <= first).all()
        assert (found.upper >= first).all()
        np.testing.assert_allclose(found.error, first, rtol=0.07)

    def test_it_needs_places(self):
        with pytest.raises(sf.errors.InputError, match="coordinates"):
            averaging_errors(Scheme.fresh(response()), PRIOR, [1], seed=1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"reports": []}, "are not numbers of reports"),
        ({"reports": [0]}, "are not numbers of reports"),
        ({"reports": [1], "trials": 1}, "trials"),
    ],
)
def test_what_makes_no_sense_is_refused(options, said):
    with pytest.raises(sf.errors.InputError, match=said):
        errors_after(Scheme.fresh(response()), PRIOR, D, **options)


def test_a_distance_for_other_secrets_is_refused():
    with pytest.raises(sf.errors.InputError, match="secrets"):
        errors_after(Scheme.fresh(response()), PRIOR, np.eye(len(SPACE) + 1), [1])
