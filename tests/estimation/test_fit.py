"""The test of fit: its statistic by a plain search, and how rarely it is wrong."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2

import sfumato as sf
from sfumato.estimation import Reports, reports_fit

CHANNEL = sf.Mechanism(np.random.default_rng(5).dirichlet(np.ones(5), 3))


def by_search(mechanism, counts):
    """Minimise n D(f || p A) over populations p, by a general method."""
    n, f = counts.sum(), counts / counts.sum()

    def distance(x):
        p = np.exp(x - x.max())
        q = p / p.sum() @ mechanism.matrix
        return n * (f[f > 0] * np.log(f[f > 0] / q[f > 0])).sum()

    return min(
        minimize(distance, start, method="Nelder-Mead", options={"maxiter": 4000, "fatol": 1e-9}).fun
        for start in np.random.default_rng(6).normal(size=(4, 3))
    )


@pytest.mark.parametrize("counts", [[40, 5, 5, 30, 20], [100, 0, 0, 0, 0], [7, 7, 7, 7, 7]])
def test_the_statistic_is_the_least_divergence(counts):
    found = reports_fit(Reports(CHANNEL, counts))
    assert found.nats == pytest.approx(by_search(CHANNEL, np.array(counts)), abs=1e-4)


def test_the_bound_is_above_the_chi_square_tail_and_falls():
    before = 1.0
    for first in (60, 120, 240, 480, 960):
        found = reports_fit(Reports(CHANNEL, [first, 20, 20, 20, 20]))
        assert chi2.sf(2 * found.nats, 4) <= found.failure <= before
        before = found.failure
    assert before < 1e-6


def test_it_is_hardly_ever_wrong():
    rng = np.random.default_rng(7)
    wrong = sum(
        reports_fit(Reports(CHANNEL, rng.multinomial(300, rng.dirichlet(np.ones(3)) @ CHANNEL.matrix))).failure
        < 0.2
        for _ in range(200)
    )
    assert wrong <= 200 * 0.2


def test_one_observable_and_impossible_ones():
    always = sf.Mechanism([[1.0, 0.0], [1.0, 0.0]])
    assert reports_fit(Reports(always, [10, 0])).failure == 1
