"""Beliefs about moving secrets, against sums over all traces."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.ledgers import Scheme
from sfumato.sequences import MarkovChain

from ..ledgers.cases import PRIOR, SPACE, noise


def walk(seed):
    rows = np.random.default_rng(seed).dirichlet(np.ones(3), size=3)
    return MarkovChain(PRIOR, sf.Mechanism(rows, SPACE, SPACE))


def beliefs(chain, released):
    """Belief about each secret after all reports, and of the next secret, by all traces."""
    t = len(released)
    each, coming, total = np.zeros((t, 3)), np.zeros(3), 0.0
    for trace in product(range(3), repeat=t):
        chance = chain.initial.probabilities[trace[0]]
        for a, b in pairwise(trace):
            chance *= chain.transition.matrix[a, b]
        for s, (mechanism, o) in zip(trace, released, strict=True):
            chance *= mechanism.matrix[s, o]
        total += chance
        for i, s in enumerate(trace):
            each[i, s] += chance
        coming += chance * chain.transition.matrix[trace[-1]]
    return each / total, coming / total


@given(st.integers(0, 10**6), st.lists(st.integers(0, 2), min_size=1, max_size=5))
def test_beliefs_are_sums_over_traces(seed, observed):
    chain = walk(seed)
    released = [(noise(seed + i), o) for i, o in enumerate(observed)]
    each, coming = beliefs(chain, released)
    np.testing.assert_allclose(chain.smooth(released), each, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(chain.next_prior(released).probabilities, coming, rtol=1e-8, atol=1e-12)
    for k in range(1, len(released) + 1):
        np.testing.assert_allclose(
            chain.filter(released)[k - 1], beliefs(chain, released[:k])[0][-1], rtol=1e-8, atol=1e-12
        )


def test_a_secret_that_stays_is_fresh_noise_on_one_secret():
    released = [(noise(3), o) for o in (0, 2, 2, 1)]
    found = MarkovChain.constant(PRIOR).filter(released)[-1]
    np.testing.assert_allclose(
        found, Scheme.fresh(noise(3)).posterior(PRIOR, [1, 1, 2, 0]).probabilities, rtol=1e-10
    )


def test_independent_secrets_tell_nothing_of_each_other():
    chain = MarkovChain.independent(PRIOR)
    released = [(noise(3), o) for o in (0, 2, 1)]
    posterior = noise(3).posterior(PRIOR)
    np.testing.assert_allclose(chain.filter(released), posterior[[0, 2, 1]], rtol=1e-10)
    np.testing.assert_allclose(chain.smooth(released), posterior[[0, 2, 1]], rtol=1e-10)
    np.testing.assert_allclose(chain.next_prior(released).probabilities, PRIOR.probabilities, rtol=1e-12)


def test_without_reports_the_next_prior_is_the_first():
    assert walk(1).next_prior([]) is PRIOR


def test_traces_are_counted():
    chain = MarkovChain.of_traces(SPACE, [[0, 1, 1, 2], [1, 1]], smoothing=0.5)
    np.testing.assert_allclose(chain.initial.probabilities, np.array([1.5, 4.5, 1.5]) / 7.5)
    counted = np.array([[0.5, 1.5, 0.5], [0.5, 2.5, 1.5], [0.5, 0.5, 0.5]])
    np.testing.assert_allclose(chain.transition.matrix, counted / counted.sum(axis=1, keepdims=True), atol=1e-12)


@pytest.mark.slow
def test_real_traces_make_beliefs_sharper(shared_data):
    visits = sf.read_visits(shared_data / "foursquare_nyc.parquet")
    person = next(iter(visits.users()))
    trace = visits.of_user(person)
    city = sf.Grid.covering(trace, shape=(5, 5), region=trace.region(trim=0.05))
    places = city.locate(trace.lat, trace.lon)
    places = places[places >= 0]
    chain = MarkovChain.of_traces(city, [places[:-40]])
    noise_ = sf.mechanisms.exponential(city, city.metric("euclidean", unit="km"), "1/km")
    drawn = sf.simulator(noise_, 4).draw(places[-40:])
    released = [(noise_, int(o)) for o in drawn]
    rows = np.arange(40)
    single = noise_.posterior(chain.initial)[drawn][rows, places[-40:]]
    smoothed = chain.smooth(released)[rows, places[-40:]]
    assert np.log(smoothed).mean() > np.log(single).mean()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: MarkovChain(PRIOR, noise(1)), "transition"),
        (lambda: MarkovChain.of_traces(SPACE, [[0, 3]]), "positions"),
        (lambda: MarkovChain.of_traces(SPACE, [[0, 1]], smoothing=0), "smoothing"),
        (lambda: walk(1).filter([(noise(1), 3)]), "report 1 .* impossible"),
        (lambda: walk(1).filter([(noise(1), 9)]), "does not fit"),
    ],
)
def test_what_makes_no_sense_is_refused(call, said):
    with pytest.raises(sf.errors.InputError, match=said):
        call()
