"""Matrix inversion against every table of reports that might have come."""

import math
from itertools import product

import numpy as np
import pytest

import sfumato as sf
from sfumato.estimation import Reports, unbiased_estimate

from .cases import channel, collected, population, response


def tables(total, columns):
    return [counts for counts in product(range(total + 1), repeat=columns) if sum(counts) == total]


def probability(counts, received):
    orders = math.factorial(sum(counts)) / math.prod(math.factorial(n) for n in counts)
    return orders * math.prod(q**n for q, n in zip(received, counts, strict=True))


@pytest.mark.parametrize(("secrets", "observables"), [(3, 3), (3, 4), (2, 4)])
def test_its_mean_is_the_truth_and_its_variance_as_stated(secrets, observables):
    mechanism = sf.Mechanism(np.random.default_rng(observables).dirichlet(np.ones(observables), size=secrets))
    truth, total = population(secrets), 4
    received = truth @ mechanism.matrix
    mean, square, stated = np.zeros(secrets), np.zeros((secrets, secrets)), np.zeros((secrets, secrets))
    for counts in tables(total, observables):
        chance = probability(counts, received)
        found = unbiased_estimate(Reports(mechanism, counts))
        p = found.estimate.probabilities
        np.testing.assert_allclose(p.sum(), 1, atol=1e-12)
        mean += chance * p
        square += chance * np.outer(p, p)
        stated += chance * found.covariance
    np.testing.assert_allclose(mean, truth, atol=1e-9)
    # The plug-in variance of a multinomial is too small by (total - 1) / total, as ever.
    np.testing.assert_allclose(stated, (square - np.outer(mean, mean)) * (total - 1) / total, atol=1e-8)


def test_batches_keep_their_own_variance():
    first, second = response(3, 2.0), channel(4, 3, 3)
    truth = population(3)
    mean, square, stated = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
    for a in tables(2, 3):
        for b in tables(3, 3):
            chance = probability(a, truth @ first.matrix[:, :3]) * probability(b, truth @ second.matrix[:, :3])
            found = unbiased_estimate([Reports(first, [*a, 0]), Reports(second, [*b, 0])])
            mean += chance * found.estimate.probabilities
            square += chance * np.outer(found.estimate.probabilities, found.estimate.probabilities)
            stated += chance * found.covariance
    np.testing.assert_allclose(mean, truth, atol=1e-9)
    assert np.trace(stated) < np.trace(square - np.outer(mean, mean))
    many = [
        Reports(first, np.rint(2e9 * truth @ first.matrix)),
        Reports(second, np.rint(3e9 * truth @ second.matrix)),
    ]
    exact = (square - np.outer(mean, mean)) * 5 / 5e9
    np.testing.assert_allclose(unbiased_estimate(many).covariance, exact, rtol=1e-6, atol=1e-20)


def test_randomised_response_has_the_closed_form():
    reports = collected(sf.mechanisms.randomised_response(sf.Space("abcde"), 1.0), 1000, 3)
    found = unbiased_estimate(reports)
    oracle = sf.mechanisms.RandomisedResponse(sf.Space("abcde"), 1.0)
    p, q = oracle.support
    share = reports.counts / 1000
    np.testing.assert_allclose(found.estimate.probabilities, (share - q) / (p - q), atol=1e-9)
    np.testing.assert_allclose(np.diag(found.covariance), share * (1 - share) / 1000 / (p - q) ** 2, rtol=1e-8)
    f = found.estimate.probabilities[1]
    # Drawing the reporters adds f (1 - f) / reports to the variance of the mechanism alone.
    np.testing.assert_allclose(
        found.covariance[1, 1], oracle.estimate_variance(f, 1000) + f * (1 - f) / 1000, rtol=1e-8
    )


def test_what_is_negative_is_no_prior():
    found = unbiased_estimate(Reports(response(3), [0, 10, 90, 0])).estimate
    assert found.probabilities[0] < 0
    np.testing.assert_allclose(found.probabilities.sum(), 1)
    with pytest.raises(sf.errors.InputError, match="negative"):
        _ = found.prior


def test_what_cannot_be_inverted_says_what_is_hidden():
    twins = sf.Mechanism([[0.9, 0.1], [0.1, 0.9], [0.1, 0.9]])
    with pytest.raises(sf.errors.InputError, match="do not settle 2 of the 3 shares"):
        unbiased_estimate(Reports(twins, [5, 5]))
