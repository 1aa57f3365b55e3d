import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import attacks
from sfumato.core import Loss, Mechanism, Metric, Prior, Space, blind_error, hamming
from sfumato.errors import InputError
from sfumato.leakage import bayes_error, bayes_vulnerability, g_vulnerability, prior_vulnerability

from ..leakage.channels import cases, exponential_on_line, line, maps, sparse_case, tight_on_line

CLOSE = 1e-12


@st.composite
def attacked(draw, largest=4):
    """A mechanism, a prior, and a distance from any guesses, some of them equally good."""
    mechanism, prior = draw(cases(largest))
    guesses = draw(st.integers(1, 3))
    size = guesses * len(prior)
    entries = draw(st.lists(st.integers(-2, 5), min_size=size, max_size=size))
    return mechanism, prior, np.array(entries, dtype=float).reshape(guesses, len(prior))


@given(attacked())
def test_no_map_does_better(case):
    mechanism, prior, d = case
    attack = attacks.optimal(mechanism, prior, d)
    joint = mechanism.joint(prior)
    errors = [sum(joint[:, o] @ d[g] for o, g in enumerate(guess)) for guess in maps(joint.shape[1], len(d))]
    assert attack.error == pytest.approx(min(errors), abs=CLOSE)
    assert attack.error == pytest.approx(-g_vulnerability(mechanism, prior, -d), abs=CLOSE)


@given(attacked(), st.randoms(use_true_random=False))
def test_no_random_strategy_does_better(case, random):
    mechanism, prior, d = case
    rng = np.random.default_rng(random.getrandbits(32))
    strategy = rng.dirichlet(np.ones(len(d)), size=mechanism.shape[1])
    given_one = attacks.evaluate(mechanism, prior, d, strategy)
    assert attacks.optimal(mechanism, prior, d).error <= given_one.error + CLOSE
    by_loops = sum(
        prior.probabilities[s] * mechanism.matrix[s, o] * strategy[o, g] * d[g, s]
        for s in range(len(prior))
        for o in range(mechanism.shape[1])
        for g in range(len(d))
    )
    assert given_one.error == pytest.approx(by_loops, abs=CLOSE)


@given(attacked())
def test_the_errors_of_the_secrets_average_to_the_expected_error(case):
    mechanism, prior, d = case
    attack = attacks.optimal(mechanism, prior, d)
    assert attack.error == pytest.approx(prior.probabilities @ attack.per_secret, abs=CLOSE)
    for s, error in enumerate(attack.per_secret):
        certain = Prior(mechanism.secrets, np.eye(len(prior))[s])
        moved = attacks.evaluate(mechanism, certain, d, attack.strategy)
        assert moved.error == pytest.approx(error, abs=CLOSE)
    assert attack.worst_case_error == max(attack.per_secret)


def test_the_default_case():
    mechanism, prior = sparse_case()
    attack = attacks.optimal(mechanism, prior, Loss(line(4), "km"))
    # The joint columns are (4 1 0)/16, (8 4 1)/32 and (0 2 7)/32; the other two reports tell
    # nothing, and without any report a and b are equally good.
    assert attack.estimates.tolist() == [0, 0, 2, 0, 0]
    assert attack.error == pytest.approx((2 + 6 + 2) / 32, abs=CLOSE)
    assert attack.per_secret.tolist() == [0.0, 1.0, 0.25, 2.0]
    assert attack.worst_case_error == 2.0
    assert attack.hit_rate == pytest.approx((8 + 8 + 7) / 32, abs=CLOSE)
    assert (attack.unit, attack.minimax) == ("km", None)
    assert repr(attack) == (
        "Attack 'optimal' with 4 guesses from 5 observables: average error about 312 m, "
        "finds the secret 72 % of the time"
    )


def test_golden_mechanisms_on_the_line():
    prior, d = Prior.uniform(Space(range(5))), Metric(line(5))
    tight = tight_on_line(1.0)
    assert tight.expected_loss(prior, d) == pytest.approx(0.583505631, abs=1e-9)
    assert attacks.optimal(tight, prior, d).error == pytest.approx(0.583505631, abs=1e-9)
    assert attacks.optimal(tight_on_line(np.log(2)), prior, d).error == pytest.approx(0.816666667, abs=1e-9)

    exponential = exponential_on_line()
    assert exponential.expected_loss(prior, d) == pytest.approx(0.993311918, abs=1e-9)
    assert attacks.optimal(exponential, prior, d).estimates.tolist() == [1, 1, 2, 3, 3]
    assert attacks.optimal(exponential, prior, d).error < 0.993311918


@given(cases())
def test_after_the_optimal_remap_error_and_loss_agree(case):
    mechanism, prior = case
    d = Metric(line(len(prior)))
    attack = attacks.optimal(mechanism, prior, d)
    remap = Mechanism(attack.strategy, mechanism.observables, mechanism.secrets)
    remapped = mechanism.then(remap)
    assert remapped.expected_loss(prior, d) == pytest.approx(attack.error, abs=CLOSE)
    assert attacks.optimal(remapped, prior, d).error == pytest.approx(attack.error, abs=CLOSE)


@given(cases(), cases())
def test_data_processing(case, following):
    mechanism, prior = case
    second = Mechanism(
        np.resize(following[0].matrix, (mechanism.shape[1], following[0].shape[1])),
        mechanism.observables,
        following[0].observables,
    )
    d = Metric(line(len(prior)))
    before, after = attacks.optimal(mechanism, prior, d), attacks.optimal(mechanism.then(second), prior, d)
    assert before.error <= after.error + CLOSE
    assert after.error <= attacks.blind(prior, d).error + CLOSE


@given(cases())
def test_hamming_gives_the_most_probable_guess(case):
    mechanism, prior = case
    attack = attacks.optimal(mechanism, prior, hamming(mechanism.secrets))
    assert attack.error == pytest.approx(bayes_error(mechanism, prior), abs=CLOSE)
    assert attack.hit_rate == pytest.approx(bayes_vulnerability(mechanism, prior), abs=CLOSE)
    posterior = mechanism.posterior(prior)
    seen = mechanism.marginal(prior) > 0
    chosen = posterior[np.arange(len(posterior)), attack.estimates]
    assert np.abs(chosen - posterior.max(axis=1))[seen].max() <= CLOSE


def test_ties_go_to_the_first_guess_whatever_the_rounding():
    mechanism = Mechanism(np.full((7, 3), 1 / 3))
    prior = Prior.from_counts(mechanism.secrets, [1] * 7)
    attack = attacks.optimal(mechanism, prior, hamming(mechanism.secrets))
    assert attack.estimates.tolist() == [0, 0, 0]
    scrambled = np.tile(np.random.default_rng(5).random(7), (4, 1))
    scrambled[1:] *= 1 - 1e-16
    assert attacks.optimal(mechanism, prior, scrambled).estimates.tolist() == [0, 0, 0]


def test_many_observables_are_taken_in_blocks(monkeypatch):
    mechanism, prior = sparse_case()
    d = np.sin(np.arange(28.0)).reshape(7, 4)
    whole = attacks.optimal(mechanism, prior, d)
    assert whole.strategy.shape == (5, 7)
    assert whole.hit_rate is None
    module = importlib.import_module("sfumato.attacks.known_prior")
    monkeypatch.setattr(module, "_BLOCK", 14)
    assert np.array_equal(attacks.optimal(mechanism, prior, d).strategy, whole.strategy)


def test_no_mechanism_and_no_noise():
    prior = Prior(Space("abc"), [0.5, 0.5, 0.0])
    d = Metric(line(3), "km")
    open_one = Mechanism(np.eye(3), prior.space)
    clear = attacks.optimal(open_one, prior, d)
    assert (clear.error, clear.hit_rate) == (0.0, 1.0)
    nothing = attacks.blind(prior, d)
    assert nothing.strategy.shape == (1, 3)
    assert nothing.error == blind_error(prior.probabilities, d.array) == 0.5
    assert nothing.hit_rate == prior_vulnerability(prior)
    assert repr(nothing).startswith("Attack 'blind'")


@given(attacked())
def test_the_blind_guess_is_the_maximum(case):
    mechanism, prior, d = case
    nothing = attacks.blind(prior, d)
    assert nothing.error == pytest.approx(blind_error(prior.probabilities, d), abs=CLOSE)
    assert attacks.optimal(mechanism, prior, d).error <= nothing.error + CLOSE


def test_results_cannot_be_written_to():
    mechanism, prior = sparse_case()
    attack = attacks.optimal(mechanism, prior, line(4))
    for array in (attack.strategy, attack.per_secret, attack.estimates):
        assert not array.flags.writeable


@pytest.mark.parametrize(
    ("d", "message"),
    [
        (np.ones((4, 5)), "4 guesses and 5 secrets, but there are 4 secrets"),
        (np.ones((0, 4)), "0 guesses"),
        (np.full((4, 4), np.nan), "holds nan"),
        (Metric([[0, np.inf], [np.inf, 0]]), "holds inf"),
    ],
)
def test_distances_that_do_not_fit(d, message):
    mechanism, prior = sparse_case()
    with pytest.raises(InputError, match=message):
        attacks.optimal(mechanism, prior, d)


def test_a_prior_on_other_secrets_is_refused():
    mechanism, _ = sparse_case()
    with pytest.raises(InputError, match="3 values, but the mechanism has 4 secrets"):
        attacks.optimal(mechanism, Prior.uniform(Space(range(3))), line(4))


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        (np.full((5, 4), 0.3), "sums to 1.2 at observable 0"),
        (np.tile([1.5, -0.5, 0.0, 0.0], (5, 1)), "negative at observable 0, column 1"),
        (np.eye(4), "shape 4 x 4, but 5 x 4 is needed"),
    ],
)
def test_strategies_that_are_none(strategy, message):
    mechanism, prior = sparse_case()
    with pytest.raises(InputError, match=message):
        attacks.evaluate(mechanism, prior, line(4), strategy)
