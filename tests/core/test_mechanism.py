from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core import Loss, Mechanism, Metric, Prior, Space, hamming
from sfumato.errors import InputError, at_command_line

from ..catalogue import CASES, randomised_response
from ..leakage.channels import cases
from .arrays import refused, stochastic

small = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Mechanism([[0.5, 0.6], [0.5, 0.5]]), "row 0 sums to 1.1"),
        (lambda: Mechanism([[0.5, 0.5], [0.5, 0.49985]]), "1 row of the matrix does not sum to 1; row 1"),
        (lambda: Mechanism([[0.5, 0.5], [1.00000001, -1e-8]]), "negative at secret 1, observable 1: -1e-08"),
        (lambda: Mechanism([[0.5, np.nan]]), "nan at position (0, 1)"),
        (lambda: Mechanism([[0.5, np.inf]]), "inf"),
        (lambda: Mechanism(np.zeros((0, 0))), "empty"),
        (lambda: Mechanism(np.zeros((2, 0))), "empty"),
        (lambda: Mechanism([0.5, 0.5]), "shape 2"),
        (lambda: Mechanism([[1.0], [0.5, 0.5]]), "not an array of numbers"),
        (lambda: Mechanism([[0.0, 0.0]]), "sums to 0"),
        (lambda: Mechanism(np.eye(2), Space("abc")), "2 rows, but there are 3 secrets"),
        (lambda: Mechanism(np.eye(2), Space("ab"), Space("a")), "2 columns, but there are 1 observables"),
        (lambda: Mechanism(np.eye(2)).joint(Prior.uniform(Space("abc"))), "prior has 3 values"),
        (lambda: Mechanism(np.eye(2)).expected_loss(Prior.uniform(Space("ab")), np.eye(3)), "3 secrets"),
        (lambda: Mechanism(np.eye(2)).lift([0.5, 0.6]), "does not sum to 1"),
        (lambda: Mechanism(np.eye(2)).lift([1.5, -0.5]), "negative"),
        (lambda: Mechanism(np.eye(2)).lift([1.0]), "shape"),
        (lambda: Mechanism(np.eye(2)).lift([[1.0, 0.0], [1.0]]), "not an array of numbers"),
        (lambda: Mechanism(np.eye(2), Space("ab")).then(Mechanism(np.eye(2))), "second mechanism takes"),
        (lambda: Mechanism.deterministic({"a": 1}, Space("ab"), Space([1])), "says nothing about 'b'"),
        (lambda: Mechanism.deterministic({"a": 2}, Space("a"), Space([1])), "2 is not in the space"),
    ],
)
def test_what_is_no_mechanism_is_refused(make, says):
    refused(make, says)


@pytest.mark.parametrize(
    ("rows", "python", "shell"),
    [
        ([[0.3333, 0.6666], [0.5, 0.5]], "in double precision: ", "in double precision, and save"),
        (np.array([[0.1, 0.9], [0.3, 0.7]], np.float32), "divide each row by its sum", "divide each row by its"),
        ([[0.9, 0.3], [0.1, 0.7]], "pass matrix.T", "save the transpose"),
    ],
)
def test_what_to_do_about_rows_that_do_not_sum_to_one(rows, python, shell):
    with pytest.raises(InputError, match="not sum to 1") as error:
        Mechanism(rows)
    assert python in str(error.value)
    told = error.value.render(at_command_line)
    assert shell in told
    assert "matrix" not in told.partition("Hint")[2]
    rows = np.array(rows, float)
    Mechanism(rows.T if "transpose" in shell else rows / rows.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("matrix", "told"), [([[0.9, 0.2, 0.5], [0.1, 0.8, 0.5]], True), ([[0.9, 0.2], [0.2, 0.8]], False)]
)
def test_a_matrix_with_a_column_for_each_secret_is_told_to_turn(matrix, told):
    with pytest.raises(InputError) as caught:
        Mechanism(matrix)
    assert caught.value.hint.endswith("or pass matrix.T, whose rows are distributions.") == told


def test_spaces_are_numbered_where_left_out():
    square, wide = Mechanism(np.eye(2), Space("ab")), Mechanism(np.eye(3)[:2])
    assert square.observables is square.secrets
    assert wide.secrets.labels == (0, 1)
    assert wide.observables.labels == (0, 1, 2)
    assert repr(wide) == "Mechanism of 2 secrets and 3 observables in 62-bit integers"


def test_arrays_are_read_only_and_copies():
    matrix = np.eye(2)
    mechanism = Mechanism(matrix)
    matrix[0] = [0, 1]
    assert mechanism.matrix[0, 0] == 1
    weights = mechanism.weights.copy()
    again = Mechanism.from_weights(weights, 62)
    weights[0] = weights[1]
    assert again == mechanism
    for array in (mechanism.matrix, mechanism.weights, again.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 0


def test_equality_and_hash():
    a, b = Mechanism(randomised_response(3, 1.0)), Mechanism(randomised_response(3, 1.0))
    assert a == b
    assert hash(a) == hash(b)
    assert a != Mechanism(randomised_response(3, 1.1))
    assert a != Mechanism(a.matrix, Space("abc"))
    assert a != Mechanism(a.matrix, None, Space("abc"))
    assert a != "a"
    assert Mechanism([[0.0, 1.0]]) == Mechanism([[-0.0, 1.0]])


@given(cases())
def test_bayes_rule(case):
    mechanism, prior = case
    pi, p = prior.probabilities, mechanism.matrix
    posterior, marginal = mechanism.posterior(prior), mechanism.marginal(prior)
    assert marginal.sum() == pytest.approx(1)
    for o in range(mechanism.shape[1]):
        seen = sum(pi[s] * p[s, o] for s in range(len(pi)))
        assert marginal[o] == pytest.approx(seen, abs=1e-15)
        for s in range(len(pi)):
            assert posterior[o, s] == pytest.approx(pi[s] * p[s, o] / seen if seen else 0.0)
    np.testing.assert_allclose(marginal @ posterior, pi, atol=1e-15)
    np.testing.assert_allclose(mechanism.lift(pi), marginal, atol=1e-15)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_posterior_of_an_unused_observable_is_zero(case):
    posterior = case.mechanism.posterior(case.prior)
    unseen = case.mechanism.marginal(case.prior) == 0
    assert not posterior[unseen].any()
    np.testing.assert_allclose(posterior[~unseen].sum(axis=1), 1)
    assert not posterior[:, case.prior.probabilities == 0].any()


@given(cases(), st.integers(0, 2**32))
def test_losses_by_loops(case, seed):
    mechanism, prior = case
    n, m = mechanism.shape
    loss = Loss(np.random.default_rng(seed).normal(size=(n, m)), "m")
    of_secrets = [sum(mechanism.matrix[s, o] * loss.array[s, o] for o in range(m)) for s in range(n)]
    np.testing.assert_allclose(mechanism.loss_of_secrets(loss), of_secrets, atol=1e-14)
    expected = sum(pi * x for pi, x in zip(prior.probabilities, of_secrets, strict=True))
    assert mechanism.expected_loss(prior, loss) == pytest.approx(expected, abs=1e-14)
    assert mechanism.worst_case_loss(loss) == pytest.approx(max(of_secrets), abs=1e-14)
    assert mechanism.expected_loss(prior, loss) <= mechanism.worst_case_loss(loss) + 1e-14


def test_hamming_loss_is_the_rate_of_misreports():
    mechanism = Mechanism(randomised_response(4, 1.0))
    lies = 3 / (3 + np.e)
    assert mechanism.worst_case_loss(hamming(mechanism.secrets)) == pytest.approx(lies)
    assert mechanism.expected_loss(Prior.uniform(mechanism.secrets), Metric(1 - np.eye(4))) == pytest.approx(lies)


@given(small.flatmap(lambda s: st.tuples(stochastic(s[0], s[1]), stochastic(s[1], s[2]))))
def test_the_cascade_is_the_matrix_product(pair):
    first, second = pair
    n, k, m = len(first), len(second), second.shape[1]
    a = Mechanism(first, Space(range(n)), Space(range(k)))
    b = Mechanism(second, Space(range(k)), Space(range(m)))
    cascade = a.then(b)
    assert (cascade.secrets, cascade.observables) == (a.secrets, b.observables)
    np.testing.assert_allclose(cascade.matrix, a.matrix @ b.matrix, atol=1e-8)
    np.testing.assert_allclose(cascade.lift(np.eye(n)), cascade.matrix)


@given(st.tuples(st.integers(1, 4), st.integers(1, 5)).flatmap(lambda s: stochastic(*s)), st.data())
def test_a_deterministic_second_step_is_exact(matrix, data):
    n, m = matrix.shape
    mechanism = Mechanism(matrix, Space(range(n)), Space(range(m)))
    target = data.draw(st.lists(st.integers(0, 2), min_size=m, max_size=m))
    remap = Mechanism.deterministic(dict(enumerate(target)), mechanism.observables, Space(range(3)))
    cascade = mechanism.then(remap)
    assert cascade.bits == mechanism.bits
    for row, before in zip(cascade.weights.tolist(), mechanism.weights.tolist(), strict=True):
        assert row == [sum(w for w, goal in zip(before, target, strict=True) if goal == o) for o in range(3)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_distributions_are_lifted_at_once(case):
    n = case.mechanism.shape[0]
    several = np.random.default_rng(1).dirichlet(np.ones(n), size=3)
    lifted = case.mechanism.lift(several)
    for one, row in zip(several, lifted, strict=True):
        np.testing.assert_allclose(case.mechanism.lift(one), row)
        np.testing.assert_allclose(row, sum(x * p for x, p in zip(one, case.mechanism.matrix, strict=True)))


def test_a_prior_of_the_same_labels_in_another_order_is_refused_wherever_it_meets_a_mechanism():
    secrets = Space(["never", "once", "often"])
    coin = Mechanism(randomised_response(3, 1.0), secrets, secrets)
    turned = Prior(Space(["often", "never", "once"]), [0.5, 0.3, 0.2])
    for ask in (
        coin.joint,
        coin.posterior,
        lambda prior: sf.audit(coin, prior=prior),
        lambda prior: sf.attacks.optimal(coin, prior, hamming(secrets)),
        lambda prior: sf.leakage.bayes_vulnerability(coin, prior),
        lambda prior: sf.MechanismFile(coin, prior),
        lambda prior: sf.proofs.expected_loss_above(coin, prior, hamming(secrets)),
        lambda prior: sf.privacy.AdversarialPrivacy(sf.privacy.Priors.of(prior)).measure(coin),
        lambda prior: sf.privacy.attained_band(coin, sf.privacy.Priors.of(prior)),
        lambda prior: sf.privacy.bayes_factors(coin, prior, prior),
        lambda prior: sf.mechanisms.constant(secrets, prior),
    ):
        with pytest.raises(InputError, match="same labels in another order: position 0 is 'often' there"):
            ask(turned)
    assert coin.joint(Prior(Space(range(3)), [0.2, 0.3, 0.5])).shape == (3, 3)


def test_a_list_is_no_mapping_from_label_to_label():
    positions: Any = [0, 0]
    with pytest.raises(InputError, match="type list"):
        Mechanism.deterministic(positions, Space(["a", "b"]), Space([0]))


def test_distributions_times_a_mechanism_are_distributions_of_reports():
    wide = Mechanism([[0.5, 0.25, 0.25], [0.125, 0.5, 0.375]])
    prior = Prior([0.25, 0.75])
    by_hand = [sum(prior.probabilities[s] * wide.matrix[s, o] for s in range(2)) for o in range(3)]
    for left in (prior, prior.probabilities, [0.25, 0.75], (0.25, 0.75)):
        product = left @ wide
        assert isinstance(product, np.ndarray)
        np.testing.assert_allclose(product, by_hand)
    np.testing.assert_array_equal(np.eye(2) @ wide, wide.matrix)
    np.testing.assert_allclose(prior @ wide, wide.joint(prior).sum(axis=0))


@pytest.mark.parametrize("left", [np.ones(3), np.ones((2, 3)), np.ones((1, 1, 2)), Prior([0.5, 0.25, 0.25])])
def test_products_of_other_sizes_are_refused(left):
    with pytest.raises(InputError, match="2 secrets"):
        left @ Mechanism([[0.75, 0.25], [0.25, 0.75]])


def test_a_prior_in_another_order_is_refused():
    coin = Mechanism([[0.75, 0.25], [0.25, 0.75]], Space("ab"))
    with pytest.raises(InputError, match="another order"):
        Prior(Space("ba"), [0.5, 0.5]) @ coin
