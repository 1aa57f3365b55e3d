import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato import attacks
from sfumato.core import Mechanism, Metric, Prior, Space
from sfumato.errors import InputError
from sfumato.leakage import bayes_vulnerability
from sfumato.mechanisms.planar import coarsen
from sfumato_papers.invented_city import invented_city

from ..leakage.channels import cases, exponential_on_line, line, sparse_case

CLOSE = 1e-12


@given(cases())
def test_the_bayesian_attack_errs_no_less_than_the_optimal_one(case):
    mechanism, prior = case
    d = Metric(line(len(prior)))
    bayes = attacks.bayes(mechanism, prior, d)
    assert bayes.error >= attacks.optimal(mechanism, prior, d).error - CLOSE
    joint, posterior = mechanism.joint(prior), mechanism.posterior(prior)
    assert bayes.error == pytest.approx(np.einsum("so,og,gs->", joint, posterior, d.array), abs=CLOSE)
    assert bayes.hit_rate == pytest.approx((joint * posterior.T).sum(), abs=CLOSE)


@given(cases())
def test_with_a_metric_the_bayesian_error_is_at_most_twice_the_optimal(case):
    # d(guess, s) <= d(guess, best) + d(best, s), and each term is on average the optimal error.
    mechanism, prior = case
    d = Metric(line(len(prior)))
    optimal = attacks.optimal(mechanism, prior, d).error
    assert attacks.bayes(mechanism, prior, d).error <= 2 * optimal + CLOSE


def test_without_information_the_bayesian_guess_is_drawn_from_the_prior():
    mechanism, prior = sparse_case()
    strategy = attacks.bayes(mechanism, prior, line(4)).strategy
    assert strategy[0].tolist() == [0.8, 0.2, 0.0, 0.0]
    assert strategy[3].tolist() == strategy[4].tolist() == prior.probabilities.tolist()


def test_the_bayesian_attack_guesses_secrets():
    mechanism, prior = sparse_case()
    with pytest.raises(InputError, match="for 3 guesses and 4 secrets"):
        attacks.bayes(mechanism, prior, np.ones((3, 4)))


@given(cases(), st.data())
def test_a_false_belief_never_decreases_the_error(case, data):
    mechanism, prior = case
    d = Metric(line(len(prior)))
    weights = data.draw(st.lists(st.integers(0, 4), min_size=len(prior), max_size=len(prior)).filter(any))
    belief = Prior.from_counts(mechanism.secrets, weights)
    best = attacks.optimal(mechanism, prior, d)
    assert attacks.misinformed_attack(mechanism, prior, d, belief).error >= best.error - CLOSE
    same = attacks.misinformed_attack(mechanism, prior, d, prior)
    assert same.error == best.error
    assert np.array_equal(same.strategy, best.strategy)


def test_a_report_that_the_belief_holds_impossible_gets_its_blind_guess():
    mechanism = Mechanism(np.eye(3), Space("abc"))
    prior = Prior(mechanism.secrets, [0.25, 0.25, 0.5])
    belief = Prior(mechanism.secrets, [0.75, 0.25, 0.0])
    attack = attacks.misinformed_attack(mechanism, prior, Metric(line(3)), belief)
    assert attack.estimates.tolist() == [0, 1, 0]
    assert attack.error == 1.0
    assert attack.name == "misinformed"


@given(cases(), st.floats(0, 1))
def test_a_sharper_belief_of_the_likeliest_secret(case, weight):
    mechanism, prior = case
    d = Metric(line(len(prior)))
    sharper = prior.sharpen(weight, places=1)
    claimed = attacks.misinformed_attack(mechanism, prior, d, sharper)
    known = attacks.optimal(mechanism, sharper, d)
    assert np.array_equal(claimed.strategy, known.strategy)
    assert claimed.error >= attacks.optimal(mechanism, prior, d).error - CLOSE


@given(cases())
def test_the_unweighted_attack_has_the_least_sum_of_errors(case):
    mechanism, prior = case
    d = line(len(prior))
    attack = attacks.unweighted_attack(mechanism, prior, d)
    least = (d @ mechanism.matrix).min(axis=0).sum()
    assert attack.per_secret.sum() == pytest.approx(least, abs=CLOSE)
    assert attack.error >= attacks.optimal(mechanism, prior, d).error - CLOSE


def test_the_unweighted_attack_is_optimal_under_the_uniform_prior():
    mechanism = exponential_on_line()
    prior = Prior.uniform(mechanism.secrets)
    d = Metric(line(5))
    attack = attacks.unweighted_attack(mechanism, prior, d)
    assert attack.error == attacks.optimal(mechanism, prior, d).error
    assert attack.name == "unweighted"


@given(cases(), st.data())
def test_side_information_never_increases_the_error(case, data):
    mechanism, prior = case
    n = len(prior)
    d = Metric(line(n))
    row = st.lists(st.integers(0, 3), min_size=3, max_size=3).filter(any)
    signals = np.array(data.draw(st.lists(row, min_size=n, max_size=n)), dtype=float)
    signals /= signals.sum(axis=1, keepdims=True)
    informed = attacks.informed_attack(mechanism, prior, d, signals)
    best = attacks.optimal(mechanism, prior, d)
    assert informed.error <= best.error + CLOSE
    # By another route: the report and the signal are one report of a larger mechanism.
    joint = prior.probabilities[:, None, None] * signals[:, :, None] * mechanism.matrix[:, None, :]
    least = np.einsum("gs,syo->gyo", d.array, joint).min(axis=0).sum()
    assert informed.error == pytest.approx(least, abs=CLOSE)
    assert informed.per_secret @ prior.probabilities == pytest.approx(informed.error, abs=CLOSE)
    right = sum(
        joint[g, y, o] for (y, o), g in zip(np.ndindex(3, mechanism.shape[1]), informed.estimates, strict=True)
    )
    assert informed.hit_rate == pytest.approx(right, abs=CLOSE)


def test_an_informed_attack_without_information_is_optimal_and_with_all_has_no_error():
    mechanism, prior = sparse_case()
    d = Metric(line(4))
    uninformed = attacks.informed_attack(mechanism, prior, d, np.ones((4, 1)))
    best = attacks.optimal(mechanism, prior, d)
    assert uninformed.error == best.error
    np.testing.assert_array_equal(uninformed.strategy, best.strategy)
    assert attacks.informed_attack(mechanism, prior, d, np.eye(4)).error == 0.0
    with pytest.raises(InputError, match=r"sums to 0\.5"):
        attacks.informed_attack(mechanism, prior, d, np.full((4, 1), 0.5))


@given(cases(), st.floats(0, 1), st.integers(1, 5))
def test_information_on_the_main_places_never_increases_the_error(case, share, places):
    mechanism, prior = case
    places = min(places, len(prior))
    d = Metric(line(len(prior)))
    signals = attacks.main_place_information(prior, share, places=places)
    np.testing.assert_allclose(signals.sum(axis=1), 1.0)
    top = np.argsort(-prior.probabilities, kind="stable")[:places]
    assert set(np.flatnonzero(signals[:, 1])) <= set(top)
    informed = attacks.informed_attack(mechanism, prior, d, signals)
    assert informed.error <= attacks.optimal(mechanism, prior, d).error + CLOSE


@given(cases(), st.floats(0, 1), st.integers(1, 5))
def test_the_true_prior_gives_no_larger_error_than_that_of_the_design(case, weight, places):
    # Privacy Games, section 9.2: the truth is sharper than the prior that the mechanism was made for.
    mechanism, prior = case
    d = Metric(line(len(prior)))
    truth = prior.sharpen(weight, places=min(places, len(prior)))
    informed = attacks.optimal(mechanism, truth, d)
    designed_for = attacks.misinformed_attack(mechanism, truth, d, prior)
    assert informed.error <= designed_for.error + CLOSE


@given(cases())
def test_the_two_goals_of_an_attacker(case):
    mechanism, prior = case
    d = Metric(line(len(prior)))
    goals = attacks.goals(mechanism, prior, d)
    assert goals.near.error <= goals.hit.error + CLOSE
    assert goals.hit_rate >= (goals.near.hit_rate or 0.0) - CLOSE
    assert goals.near_blind.error <= goals.hit_blind.error + CLOSE
    assert goals.blind_hit_rate == pytest.approx(prior.probabilities.max(), abs=CLOSE)
    assert goals.hit_rate == pytest.approx(bayes_vulnerability(mechanism, prior), abs=CLOSE)
    assert goals.near.error == attacks.optimal(mechanism, prior, d).error
    assert goals.near_blind.error == attacks.blind(prior, d).error
    assert goals.near.error <= goals.near_blind.error + CLOSE
    assert goals.hit_rate >= goals.blind_hit_rate - CLOSE


def test_one_call_gives_the_attacks_of_the_command():
    visits = invented_city(users=12, days=10)
    grid = sf.Grid.covering(visits, shape=(4, 3))
    prior, metric = sf.Prior.from_visits(grid, visits), grid.metric(unit="km")
    made = sf.design(prior, loss=metric, guarantees=sf.MetricPrivacy("1/km", metric))
    result = sf.attack(made, visits=visits, within="500 m", sharper=0.3)
    assert result.goals.near.error == attacks.optimal(made.mechanism, prior, metric).error
    assert result.place is not None
    assert result.place.error == attacks.true_place(made.mechanism, visits, unit="m").error
    assert result.within is not None
    assert result.within[0] == attacks.chance_within(made.mechanism, visits, "500 m")
    assert [len(table.rows) for table in result.tables()] == [9, 3, 8]
    assert sf.attack(made).goals.hit_rate == result.goals.hit_rate  # the prior of the design is that of the visits


@pytest.mark.slow
def test_noise_is_attacked_on_cells_and_from_its_true_points():
    visits = invented_city(users=12, days=10)
    made = sf.design(visits, epsilon="1/km", spacing="3 km", method="noise")
    result = sf.attack(made, visits=visits)
    assert result.place is not None
    assert result.place.error == attacks.true_place(made.mechanism, visits, unit="m").error
    assert result.mechanism.matrix == pytest.approx(coarsen(made.mechanism).mechanism.matrix)
    with pytest.raises(InputError, match="noise has no proved chance"):
        sf.attack(made, visits=visits, within="500 m")


@pytest.mark.parametrize(
    ("options", "message"), [({}, "there is no prior"), ({"informed": 2.0}, "is not between 0 and 1")]
)
def test_an_attack_without_a_prior_or_with_a_wrong_share_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        sf.attack(sf.Mechanism([[0.75, 0.25], [0.25, 0.75]]), **options)
