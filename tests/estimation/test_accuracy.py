"""Margins of shares: against exact sums of coins, the closed-form variance, simulation, and each other."""

import math
from itertools import product
from typing import Any, get_args

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import convolve2d
from scipy.special import betainc
from scipy.stats import binom

import sfumato as sf
from sfumato.errors import InfeasibleError, InputError
from sfumato.estimation import Reports, unbiased_estimate
from sfumato.estimation.accuracy import By
from sfumato.mechanisms import RandomisedResponse, UnaryEncoding


def unary(kind) -> Any:
    return f"{kind}-unary"


def support(k, epsilon):
    return RandomisedResponse(sf.Space(range(k)), epsilon).support


def missed_by_coins(k, epsilon, people, margin, found=None):
    """Return the exact probability that each share of these very people is off by the margin or more."""
    p, q = found or support(k, epsilon)
    found = []
    for own in people:
        law = np.convolve(
            binom.pmf(range(own + 1), own, p), binom.pmf(range(sum(people) - own + 1), sum(people) - own, q)
        )
        estimates = (np.arange(len(law)) / sum(people) - q) / (p - q)
        found.append(law[np.abs(estimates - own / sum(people)) >= margin].sum())
    return found


@pytest.mark.parametrize("people", [(40, 0, 0), (20, 20, 0), (20, 10, 10), (1, 2, 37)])
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_exact_sums_of_coins_miss_no_more_often(people, epsilon):
    found = sf.accuracy(3, epsilon=epsilon, answers=40, failure=0.1)
    assert sum(missed_by_coins(3, epsilon, people, found.margin)) <= 0.1
    assert max(missed_by_coins(3, epsilon, people, found.single)) <= 0.1


@pytest.mark.thinned(2)
@pytest.mark.parametrize("kind", ["optimised", "symmetric"])
@pytest.mark.parametrize(("k", "epsilon", "n"), [(2, 2.0, 30), (3, 4.0, 12), (4, 3.0, 12)])
def test_all_shares_at_once_by_unary_encoding_for_every_small_survey(kind, k, epsilon, n):
    failure = 0.2
    bits = UnaryEncoding(sf.Space(range(k)), epsilon, kind).support
    found = sf.accuracy(k, epsilon=epsilon, answers=n, failure=failure, by=unary(kind))
    assert found.margin < 1
    for people in product(range(n + 1), repeat=k):
        if sum(people) == n:
            missed = missed_by_coins(k, epsilon, people, found.margin, bits)  # bits are drawn independently
            assert 1 - np.prod(1 - np.array(missed)) <= failure
            assert max(missed_by_coins(k, epsilon, people, found.single, bits)) <= failure


@pytest.mark.parametrize("kind", ["optimised", "symmetric"])
def test_the_typical_margin_by_unary_encoding_is_that_of_the_closed_form_variance(kind):
    oracle = UnaryEncoding(sf.Space(range(40)), 1.0, kind)
    p, q = oracle.support
    share = (0.5 - q) / (p - q)  # whose bit is as likely 1 as 0
    found = sf.accuracy(40, epsilon=1, answers=2_000, by=unary(kind))
    drawn = oracle.estimate_variance(share, 2_000) + share * (1 - share) / 2_000  # and from a population
    assert found.typical == pytest.approx(1.959964 * math.sqrt(drawn), rel=1e-6)
    assert found.by == unary(kind)


def test_simulated_surveys_by_unary_encoding_are_within_the_margin():
    n, surveys, shares = 400, 300, np.array([0.6, 0.2, 0.1, 0.1, 0.0])
    oracle = UnaryEncoding(sf.Space(range(5)), 2.0, "optimised")
    found = sf.accuracy(5, epsilon=2, answers=n, by="optimised-unary")
    p, q = oracle.support
    rng = np.random.default_rng(11)
    own = np.repeat(np.arange(5), np.rint(shares * n).astype(int))
    chance = np.where(own[:, None] == np.arange(5), p, q)
    off = [
        np.abs(((rng.random(chance.shape) < chance).mean(axis=0) - q) / (p - q) - shares).max()
        for _ in range(surveys)
    ]
    assert np.mean(np.array(off) >= found.margin) <= 0.05
    assert np.quantile(off, 0.95) > 0.6 * found.margin


@pytest.mark.slow
def test_many_categories_are_known_better_by_unary_encoding_and_few_by_randomised_response():
    for k, better in ((4, "randomised-response"), (64, "optimised-unary")):
        names = get_args(By)
        margins = [sf.accuracy(k, epsilon=1, answers=100_000, by=by).margin for by in names]
        assert names[int(np.argmin(margins))] == better


def test_another_mechanism_is_refused():
    with pytest.raises(InputError, match="by='olh' is unknown") as caught:
        sf.accuracy(3, epsilon=1, answers=10, by="olh")
    assert "optimised-unary (OUE)" in caught.value.hint


@pytest.mark.slow
def test_unary_encoding_is_noisy_at_any_epsilon():
    with pytest.raises(InfeasibleError, match="even at epsilon 40") as caught:
        sf.accuracy(3, answers=10, margin=0.01, by="optimised-unary")
    enough = int(caught.value.hint.split()[0].replace(",", ""))
    assert sf.accuracy(3, answers=enough, margin=0.01, by="optimised-unary").epsilon <= 40


def law_of_answers(k, epsilon, people):
    """Return the exact joint law of how often each of three categories is answered, array (n + 1, n + 1)."""
    p, q = support(k, epsilon)
    law = np.ones((1, 1))
    for category, count in enumerate(people):
        own = [p if category == place else q for place in range(k)]
        answer = np.array([[own[2], own[1]], [own[0], 0.0]])  # one answer: to the first, the second, or neither
        for _ in range(count):
            law = convolve2d(law, answer)
    return law


@pytest.mark.parametrize("epsilon", [2.0, 4.0])
def test_all_shares_at_once_for_every_small_survey(epsilon):
    n, failure = 12, 0.2
    p, q = support(3, epsilon)
    found = sf.accuracy(3, epsilon=epsilon, answers=n, failure=failure)
    assert found.margin < 1
    first, second = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    counts = np.stack([first, second, n - first - second])
    worst = 0.0
    for people in product(range(n + 1), repeat=3):
        if sum(people) == n:
            shares = np.array(people)[:, None, None] / n
            off = np.abs((counts / n - q) / (p - q) - shares).max(axis=0)
            worst = max(worst, float(law_of_answers(3, epsilon, people)[off >= found.margin].sum()))
    assert worst <= failure


@pytest.mark.parametrize("n", [3, 8, 20])
@pytest.mark.parametrize(("p", "q"), [(0.9, 0.1), (0.6, 0.25), (0.5, 0.01)])
def test_unequal_coins_are_a_whole_answer_off_no_more_often_than_equal_ones(n, p, q):
    for own in range(n + 1):
        law = np.convolve(binom.pmf(range(own + 1), own, p), binom.pmf(range(n - own + 1), n - own, q))
        mean = own * p + (n - own) * q
        for c in range(n + 1):
            if c >= mean + 1:
                assert law[c:].sum() <= binom.sf(c - 1, n, mean / n) + 1e-12
            if c <= mean - 1:
                assert law[: c + 1].sum() <= binom.cdf(c, n, mean / n) + 1e-12


@pytest.mark.slow
def test_the_error_of_tails_is_below_what_is_added():
    with ctx.workprec(300):
        for n, mean, deviations in product(
            [10**3, 10**8, 10**9, 10**10, 10**11, 10**12], [1e-6, 0.27, 0.49, 0.74], [1, 4.5, 7.3, 8.5]
        ):
            least = math.ceil(n * mean + deviations * math.sqrt(n * mean * (1 - mean)))
            exact = arb(mean).beta_lower(arb(least), arb(n - least + 1), regularized=1)
            assert abs(float(arb(betainc(least, n - least + 1, mean)) / exact - 1)) < 0.5 * (1e-8 + 2e-16 * n)


@pytest.mark.parametrize("share", np.linspace(0, 1, 21))
def test_a_population_is_missed_no_more_often(share):
    k, epsilon, n = 4, 1.5, 200
    p, q = support(k, epsilon)
    mean = q + share * (p - q)
    reach = sf.accuracy(k, epsilon=epsilon, answers=n).single * (p - q)
    counts = np.arange(n + 1)
    missed = binom.pmf(counts, n, mean)[np.abs(counts / n - mean) >= reach].sum()
    assert missed <= 0.05


def test_it_is_hardly_larger_than_the_exact_one():
    k, epsilon, n = 3, 2.0, 1_000
    p, q = support(k, epsilon)
    found = sf.accuracy(k, epsilon=epsilon, answers=n)
    reach, counts = 0.96 * found.single * (p - q), np.arange(n + 1)
    means = np.linspace(q, p, 101)
    missed = [binom.pmf(counts, n, mean)[np.abs(counts / n - mean) >= reach].sum() for mean in means]
    assert max(missed) > 0.05


def test_the_typical_margin_is_that_of_the_closed_form_variance():
    k, epsilon, n = 5, 1.0, 2_000
    oracle = RandomisedResponse(sf.Space(range(k)), epsilon)
    drawn = oracle.estimate_variance(1.0, n)  # a population adds nothing where all give one answer
    assert sf.accuracy(k, epsilon=epsilon, answers=n).typical == pytest.approx(
        1.959964 * math.sqrt(drawn), rel=1e-6
    )
    assert oracle.support[0] < 0.5  # so that the variance grows with the share


@pytest.mark.slow
def test_simulated_surveys_are_within_the_margin():
    k, n, surveys = 4, 500, 400
    shares = np.array([0.55, 0.3, 0.15, 0.0])
    found = sf.accuracy(k, epsilon=2, answers=n)
    mechanism = sf.mechanisms.randomised_response(sf.Space(range(k)), 2)
    simulator = sf.simulator(mechanism, seed=5)
    people = np.repeat(np.arange(k), (shares * n).astype(int))
    off = []
    for _ in range(surveys):
        estimate = unbiased_estimate(Reports.at(mechanism, simulator.draw(people))).estimate.probabilities
        off.append(np.abs(estimate - shares).max())
    assert np.mean(np.array(off) >= found.margin) <= 0.05
    assert np.quantile(off, 0.95) > 0.6 * found.margin  # and the margin is not far too wide


@pytest.mark.slow
@given(st.integers(2, 30), st.floats(0.2, 6), st.floats(0.02, 0.4))
@settings(max_examples=8, deadline=None)
def test_answers_and_epsilon_that_were_found_are_enough(k, epsilon, margin):
    enough = sf.accuracy(k, epsilon=epsilon, margin=margin)
    assert enough.margin <= margin
    again = sf.accuracy(k, epsilon=epsilon, answers=enough.answers)
    assert again.margin <= margin * (1 + 2e-3)
    fewer = sf.accuracy(k, epsilon=epsilon, answers=max(1, int(0.95 * enough.answers) - 1))
    assert fewer.margin > margin * (1 - 2e-2)
    needed = sf.accuracy(k, answers=enough.answers, margin=margin)
    assert needed.epsilon <= epsilon * 1.02


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("k", "epsilon", "margin"), [(29, 2.0, 0.0625), (10_000, 20.0, 0.05), (3, 0.05, 0.9)])
def test_no_more_is_asked_for_than_about_the_least(k, epsilon, margin):
    enough = sf.accuracy(k, epsilon=epsilon, margin=margin).answers
    assert sf.accuracy(k, epsilon=epsilon, answers=int(0.98 * enough)).margin > margin
    found = sf.accuracy(k, epsilon=epsilon, answers=enough).margin
    assert margin * 0.97 <= found <= margin * (1 + 2e-3)


@pytest.mark.slow
def test_more_answers_more_epsilon_and_fewer_categories_tell_more():
    margins = [sf.accuracy(6, epsilon=1, answers=n).margin for n in (300, 3_000, 30_000, 300_000)]
    assert margins == sorted(margins, reverse=True)
    margins = [sf.accuracy(6, epsilon=e, answers=3_000).margin for e in (0.5, 1, 2, 4)]
    assert margins == sorted(margins, reverse=True)
    margins = [sf.accuracy(k, epsilon=1, answers=30_000).margin for k in (2, 3, 6, 12)]
    assert margins == sorted(margins)


def test_of_two_shares_both_are_off_by_the_same():
    found = sf.accuracy(2, epsilon=1, answers=1_000)
    assert found.margin == found.single


def test_answers_that_tell_nothing_say_so():
    found = sf.accuracy(1_000, epsilon=0.1, answers=100)
    assert found.margin == 1
    assert "nothing can be proved" in repr(found)
    assert sf.accuracy(2, epsilon=1e-6, answers=1).margin == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "0 were given"),
        ({"epsilon": 1.0}, "1 were given"),
        ({"epsilon": 1.0, "answers": 10, "margin": 0.1}, "3 were given"),
        ({"epsilon": float("nan"), "answers": 10}, "epsilon=.nan"),
        ({"epsilon": float("inf"), "answers": 10}, "epsilon=.inf"),
        ({"epsilon": 0.0, "answers": 10}, "epsilon=0.0"),
        ({"epsilon": 1e-17, "answers": 10}, "epsilon=1e-17"),
        ({"epsilon": 1.0, "answers": 0}, "answers=0"),
        ({"epsilon": 1.0, "margin": 1.0}, "margin=1.0"),
        ({"epsilon": 1.0, "margin": float("nan")}, "margin=.nan"),
        ({"epsilon": 1.0, "answers": 10, "failure": 0.0}, "failure"),
    ],
)
def test_what_cannot_be_asked(options, told):
    with pytest.raises(InputError, match=told):
        sf.accuracy(3, **options)


def test_one_category_or_too_many_are_refused():
    for categories in (1, 10**7):
        with pytest.raises(InputError, match="categories"):
            sf.accuracy(categories, epsilon=1, answers=10)


def test_too_few_answers_even_without_privacy():
    with pytest.raises(InfeasibleError, match="even without privacy") as caught:
        sf.accuracy(3, answers=10, margin=0.01)
    enough = int(caught.value.hint.split()[0].replace(",", ""))
    assert sf.accuracy(3, answers=enough, margin=0.01).epsilon <= 40
    with pytest.raises(InfeasibleError, match="not even"):
        sf.accuracy(3, epsilon=1e-6, margin=0.01)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("OUE", "optimised-unary"),
        ("Optimized Unary Encoding", "optimised-unary"),
        ("sue", "symmetric-unary"),
        ("symmetric_unary", "symmetric-unary"),
        ("GRR", "randomised-response"),
        ("k-RR", "randomised-response"),
        ("randomized response", "randomised-response"),
    ],
)
def test_the_names_of_the_literature_are_taken(name, kind):
    assert sf.accuracy(8, epsilon=1, answers=1_000, by=name) == sf.accuracy(8, epsilon=1, answers=1_000, by=kind)
