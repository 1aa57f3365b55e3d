import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import OptimizeResult, linprog

from sfumato import attacks
from sfumato.core import Loss, Mechanism, Metric, Prior, hamming
from sfumato.core.arrays import Floats
from sfumato.errors import InputError, SolverError

from ..leakage.channels import cases, exponential_on_line, line, maps, sparse_case, symmetric

SOLVED = 1e-7
MODULE = importlib.import_module("sfumato.attacks.prior_free")


def value_over_maps(mechanism: Mechanism, d: Floats) -> float:
    """The game in normal form: one column per deterministic strategy, played with probability x."""
    columns = [
        [sum(row[o] * d[g, s] for o, g in enumerate(guess)) for s, row in enumerate(mechanism.matrix)]
        for guess in maps(mechanism.shape[1], len(d))
    ]
    errors = np.array(columns).T
    cost = np.append(np.zeros(errors.shape[1]), 1.0)
    bounds = [(0, None)] * errors.shape[1] + [(None, None)]
    solution = linprog(
        cost,
        A_ub=np.hstack([errors, -np.ones((len(errors), 1))]),
        b_ub=np.zeros(len(errors)),
        A_eq=[[1.0] * errors.shape[1] + [0.0]],
        b_eq=[1.0],
        bounds=bounds,
    )
    return float(solution.fun)


@settings(max_examples=20)
@given(cases(largest=3))
def test_the_value_is_that_of_the_normal_form(case):
    mechanism, prior = case
    d = line(len(prior))
    attack = attacks.prior_free(mechanism, prior, d)
    assert attack.worst_case_error == pytest.approx(value_over_maps(mechanism, d), abs=SOLVED)


@settings(max_examples=20)
@given(cases(), st.data())
def test_minimax(case, data):
    mechanism, prior = case
    guesses = data.draw(st.integers(1, 4))
    size = guesses * len(prior)
    entries = data.draw(st.lists(st.integers(-1, 5), min_size=size, max_size=size))
    d = np.array(entries, dtype=float).reshape(guesses, len(prior))
    attack = attacks.prior_free(mechanism, prior, d)
    game = attack.minimax
    assert game is not None
    assert attack.worst_case_error == game.value.upper
    assert attacks.optimal(mechanism, prior, d).error <= game.value.upper + SOLVED
    assert attacks.optimal(mechanism, prior, d).error <= attack.error + SOLVED
    assert game.least_favourable is not None
    at_worst = attacks.optimal(mechanism, game.least_favourable, d).error
    assert at_worst == game.value.lower
    assert at_worst == pytest.approx(game.value.value, abs=SOLVED)


@pytest.mark.parametrize("size", [2, 3, 6])
@pytest.mark.parametrize("error", [0.0, 0.2, 0.5])
def test_randomised_response_by_closed_form(size, error):
    mechanism = symmetric(size, error)
    attack = attacks.prior_free(mechanism, Prior.uniform(mechanism.secrets), hamming(mechanism.secrets))
    expected = min(error, 1 - 1 / size)
    assert attack.worst_case_error == pytest.approx(expected, abs=SOLVED)
    assert attack.error == pytest.approx(expected, abs=SOLVED)


def test_a_silent_mechanism_leaves_the_middle():
    mechanism = Mechanism(np.ones((5, 1)))
    attack = attacks.prior_free(mechanism, Prior.uniform(mechanism.secrets), Metric(line(5), "km"))
    assert attack.worst_case_error == pytest.approx(2.0, abs=SOLVED)
    assert attack.unit == "km"
    assert attack.minimax is not None
    assert attack.minimax.least_favourable is not None
    assert attack.minimax.least_favourable.probabilities[[0, 4]].tolist() == pytest.approx([0.5, 0.5], abs=SOLVED)


def test_the_unit_scales_the_value_only():
    mechanism = exponential_on_line()
    prior = Prior.uniform(mechanism.secrets)
    km = attacks.prior_free(mechanism, prior, Loss(line(5), "km"))
    m = attacks.prior_free(mechanism, prior, Loss(1e6 * line(5), "mm"))
    assert m.worst_case_error == pytest.approx(1e6 * km.worst_case_error, rel=SOLVED)


@settings(max_examples=20)
@given(cases(), st.integers(0, 2**32 - 1))
def test_per_guess(case, seed):
    mechanism, prior = case
    d = line(len(prior))
    attack = attacks.per_guess(mechanism, prior, d)
    game = attack.minimax
    assert game is not None
    assert game.least_favourable is None

    def shares(strategy: Floats) -> Floats:
        found: Floats = np.einsum("so,og,gs->sg", mechanism.matrix, strategy, d)
        return found

    assert game.value.value == pytest.approx(shares(attack.strategy).max(), abs=1e-12)
    assert shares(attack.strategy).sum(axis=1) == pytest.approx(attack.per_secret, abs=1e-12)
    assert game.value.lower <= game.value.upper + 1e-12
    rng = np.random.default_rng(seed)
    for concentration in (0.1, 1.0, 10.0):
        other = rng.dirichlet(np.full(len(d), concentration), size=mechanism.shape[1])
        assert shares(other).max() >= game.value.lower - 1e-12
    whole = attacks.prior_free(mechanism, prior, d).worst_case_error
    assert game.value.upper <= whole + SOLVED
    assert whole <= attack.worst_case_error + SOLVED


def test_per_guess_spreads_the_error_of_a_coin_evenly():
    # Two secrets, no report: q of guess a risks q on secret b, 1 - q on secret a.
    mechanism = Mechanism(np.ones((2, 1)))
    attack = attacks.per_guess(mechanism, Prior.uniform(mechanism.secrets), line(2))
    assert attack.strategy[0].tolist() == pytest.approx([0.5, 0.5], abs=SOLVED)
    assert attack.minimax is not None
    assert attack.minimax.value.value == pytest.approx(0.5, abs=SOLVED)


@pytest.mark.parametrize("attack", [attacks.prior_free, attacks.per_guess])
def test_zeros_everywhere(attack):
    mechanism, prior = sparse_case()
    found = attack(mechanism, prior, np.zeros((4, 4)))
    assert found.worst_case_error == 0.0
    found = attack(mechanism, prior, line(4))
    assert np.abs(found.strategy.sum(axis=1) - 1).max() < 1e-12


@pytest.mark.parametrize("attack", [attacks.prior_free, attacks.per_guess])
def test_a_prior_on_other_secrets_is_refused_before_solving(attack, monkeypatch):
    monkeypatch.setattr(MODULE, "linprog", None)
    monkeypatch.setattr(MODULE, "solve_game", None)
    mechanism, _ = sparse_case()
    with pytest.raises(InputError, match="5 values, but the mechanism has 4 secrets"):
        attack(mechanism, Prior.uniform(mechanism.observables), line(4))


def stopped(*_, **__):
    return OptimizeResult(status=1, message="Time limit reached.", x=None)


def careless(*_, **options):
    size = options["A_eq"].shape[1]
    duals = OptimizeResult(marginals=np.full(options["A_ub"].shape[0], -1 / options["A_ub"].shape[0]))
    return OptimizeResult(status=0, x=np.full(size, 0.3), ineqlin=duals)


def suboptimal(*_, **options):
    size = options["A_eq"].shape[1]
    duals = OptimizeResult(marginals=np.full(options["A_ub"].shape[0], -1 / options["A_ub"].shape[0]))
    return OptimizeResult(status=0, x=np.full(size, 0.25), ineqlin=duals)


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        (stopped, r"not solved within 2 s: Time limit reached"),
        (careless, r"off by 0\.2 from being probabilities"),
        (suboptimal, r"reaches 0\.[0-9]+, but its dual weights prove only"),
    ],
)
def test_a_solver_that_fails_is_not_believed(solver, message, monkeypatch):
    monkeypatch.setattr(MODULE, "linprog", solver)
    mechanism, prior = sparse_case()
    with pytest.raises(SolverError, match=message):
        attacks.per_guess(mechanism, prior, line(4), time_limit=2.0)


def test_a_strategy_that_its_prior_refutes_is_not_believed(monkeypatch):
    mechanism, prior = sparse_case()
    shares = np.full((mechanism.shape[1], 4), 0.25)
    monkeypatch.setattr(MODULE, "solve_game", lambda *_: (shares, prior.probabilities))
    with pytest.raises(SolverError, match=r"reaches 1\.5, but its dual weights prove only"):
        attacks.prior_free(mechanism, prior, line(4))
