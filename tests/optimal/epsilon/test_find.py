"""The search for epsilon: closed forms, single designs, a table, limits of time, and refusals."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import chance_within
from sfumato.errors import InfeasibleError, InputError, SolverError, UnitError
from sfumato.optimal import AttackerGoal, EpsilonTrial, LossGoal, design, effort, find_epsilon

from ...clock import set_clock

REGION = "6 km x 4 km around 48.85,2.35"
AREA = sf.geo.Region.parse(REGION)
RNG = np.random.default_rng(11)
VISITS = sf.Visits(
    np.clip(RNG.normal(48.85, 0.012, 400), AREA.south, AREA.north),
    np.clip(RNG.normal(2.345, 0.022, 400), AREA.west, AREA.east),
)
CITY = sf.Lattice.covering(REGION, "1.8 km", kind="triangular")
PRIOR = sf.Prior.from_visits(CITY, VISITS)
LOSS = CITY.loss(VISITS)


def search(goal, **more):
    return find_epsilon(PRIOR, loss=LOSS, goal=goal, method="table", **more)


@given(st.floats(0.05, 0.9), st.integers(2, 6))
@settings(max_examples=20)
def test_randomised_response_has_a_closed_form(part, size):
    """The least probability of a wrong report among k values is (k - 1) / (k - 1 + e**epsilon)."""
    wrong = part * (1 - 1 / size)  # of what always the same report gets wrong
    space = sf.Space(range(size))
    distinct = sf.hamming(space)
    found = find_epsilon(
        sf.Prior.uniform(space),
        loss=distinct,
        goal=LossGoal(wrong),
        promise=lambda epsilon: sf.MetricPrivacy(epsilon, distinct),
        tolerance=1e-3,
    )
    exact = math.log((size - 1) * (1 - wrong) / wrong)
    assert exact * (1 - 1e-4) <= found.epsilon <= exact * 1.002
    assert found.is_finished
    assert found.next_trial is not None
    assert found.next_trial.epsilon <= exact
    assert found.unit == ""


@pytest.mark.parametrize("share", [0.55, 0.7, 0.9, 0.99])
def test_two_homes_have_a_closed_form(share):
    """Of two cells, a kilometre apart, the best attacker is right e**epsilon / (1 + e**epsilon) of the time."""
    cells = sf.Grid.covering("2 km x 1 km around 48.85,2.35", "1 km")
    homes = sf.Visits(*cells.latlon.T)
    metric = cells.metric("euclidean", unit="km")
    found = find_epsilon(
        sf.Prior.from_visits(cells, homes),
        loss=cells.loss(homes),
        goal=AttackerGoal(share, "50 m", homes),
        promise=lambda epsilon: sf.MetricPrivacy(epsilon, metric),
    )
    exact = math.log(share / (1 - share))
    assert exact / 1.012 <= found.epsilon <= exact * (1 + 1e-4)
    assert found.next_trial is not None
    assert exact <= found.next_trial.epsilon * (1 + 1e-4)
    assert found.unit == "km"


@pytest.mark.parametrize("most", [pytest.param("1.45 km", marks=pytest.mark.slow), "1.2 km"])
def test_a_loss_is_met_and_the_next_epsilon_cannot_meet_it(most):
    found = search(LossGoal(most))
    limit = sf.core.units.parse(most, unit="km", subject="it")
    assert found.is_finished
    assert len(found.trials) <= 8
    assert 0.985 * limit < found.design.certificate.loss <= limit
    assert found.design.certificate.holds
    assert found.design.problem.guarantees[0].promise.epsilon == found.epsilon
    assert found.next_trial.epsilon < found.epsilon <= 1.01 * found.next_trial.epsilon
    assert found.next_trial.measure.lower > limit
    alone = sf.design(PRIOR, loss=LOSS, guarantees=sf.CoordinatePrivacy(found.next_trial.epsilon), method="table")
    assert alone.certificate.bound > limit
    again = sf.design(PRIOR, loss=LOSS, guarantees=sf.CoordinatePrivacy(found.epsilon), method="table")
    assert again.certificate.loss == pytest.approx(found.design.certificate.loss, rel=2e-4)


@pytest.mark.slow
def test_an_attacker_is_kept_away_and_not_farther_than_need_be():
    goal = AttackerGoal.parse("60 % within 1 km", VISITS)
    found = search(goal)
    assert found.is_finished
    assert not any(trial.holds for trial in found.trials if trial.epsilon > found.epsilon)
    proved = chance_within(found.design.mechanism, VISITS, "1 km")
    assert proved.upper <= 0.6
    assert proved.lower > 0.58
    assert found.trial.measure == proved
    assert found.next_trial.epsilon <= 1.01 * found.epsilon
    assert found.next_trial.measure.upper > 0.6
    assert "%" in found.sentences[0]


def test_the_search_agrees_with_a_table_of_designs():
    line = sf.Space.numbers(range(7), unit="km")
    metric, prior = line.metric("absolute"), sf.Prior.from_counts(line, [4, 0, 1, 7, 2, 2, 5])
    epsilons = np.linspace(0.3, 2, 18)
    losses = [
        design(prior, loss=metric, guarantees=sf.MetricPrivacy(float(e), metric), tie_break=False).certificate.loss
        for e in epsilons
    ]
    for goal in (1.2, 0.9, 0.6):
        found = find_epsilon(
            prior, loss=metric, goal=LossGoal(goal), promise=lambda epsilon: sf.MetricPrivacy(epsilon, metric)
        )
        crossing = np.interp(-goal, -np.array(losses), epsilons)
        assert found.epsilon == pytest.approx(crossing, rel=0.03)


@pytest.mark.slow
def test_where_it_begins_does_not_matter():
    epsilons = [search(LossGoal("1.3 km"), first=near).epsilon for near in (0.05, 9.0)]
    assert epsilons[0] == pytest.approx(epsilons[1], rel=0.011)


@pytest.mark.slow
def test_units_of_the_promise_and_the_loss_do_not_matter():
    metres = find_epsilon(
        PRIOR,
        loss=CITY.loss(VISITS, unit="m"),
        goal=LossGoal("1.3 km"),
        promise=lambda epsilon: sf.CoordinatePrivacy(epsilon, "m"),
        method="table",
    )
    assert metres.unit == "m"
    assert 1000 * metres.epsilon == pytest.approx(search(LossGoal("1300 m")).epsilon, rel=0.011)


def test_hops_and_cells_have_their_own_epsilon():
    cells = sf.Grid.covering(REGION, "1.5 km")
    near = sf.ThresholdPrivacy(1.0, cells.metric("euclidean", unit="km"), "2.2 km")
    found = find_epsilon(
        sf.Prior.from_visits(cells, VISITS),
        loss=cells.loss(VISITS),
        goal=LossGoal("1 km"),
        promise=lambda epsilon: sf.ThresholdPrivacy(epsilon, near.distance, near.within),
    )
    assert found.unit == ""
    assert found.design.has_program
    assert found.design.certificate.loss <= 1


def test_a_stop_returns_what_is_proved_so_far():
    seen: list[EpsilonTrial] = []
    found = search(LossGoal("1.4 km"), first=3.0, progress=seen.append, stop=lambda: bool(seen))
    assert [trial.epsilon for trial in found.trials] == [3.0]
    assert tuple(seen) == found.trials
    assert not found.is_finished
    assert found.next_trial is None
    assert found.design.certificate.loss <= 1.4
    assert "NOT FINISHED" in found.sentences[-1]


def test_a_stop_before_the_goal_is_reached_is_an_error():
    with pytest.raises(SolverError, match="no design reached the goal before"):
        search(LossGoal("1 km"), stop=lambda: True)
    seen: list[EpsilonTrial] = []
    with pytest.raises(SolverError, match=r"stopped. The nearest was epsilon 0.1/km: loss at most 1\.\d+ km"):
        search(LossGoal("1 km"), first=0.1, progress=seen.append, stop=lambda: bool(seen))


def test_a_time_limit_is_kept(monkeypatch):
    ticks = itertools.count()
    set_clock(monkeypatch, lambda: next(ticks) / 100)
    monkeypatch.setattr(effort, "proof_seconds", lambda *_: 0.05)  # on every machine
    fine = sf.Lattice.covering(REGION, "500 m")
    prior, loss = sf.Prior.from_visits(fine, VISITS), fine.loss(VISITS)
    said = ""
    try:
        found = find_epsilon(prior, loss=loss, goal=LossGoal("700 m"), time_limit=0.5, method="table")
        said = found.sentences[-1]
    except SolverError as error:
        said = error.problem
    assert "NOT FINISHED" in said or "before the search was stopped" in said
    assert next(ticks) < 300  # the limit is 200: it looks at the clock for half as long again, at most


def test_impossible_losses_say_what_is_possible():
    with pytest.raises(InfeasibleError, match="the best report for every secret already loses") as caught:
        search(LossGoal("200 m"))
    least = float(PRIOR.probabilities @ LOSS.array.min(axis=1))
    assert f"{1000 * least:.0f}"[:2] in caught.value.hint
    with pytest.raises(InputError, match="one report for every secret loses only") as found:
        search(LossGoal("3 km"))
    assert not isinstance(found.value, InfeasibleError)


def test_what_is_said_of_the_impossible_fits_the_space():
    ages = sf.Space.numbers(range(20, 60), unit="year")
    years = ages.metric("absolute")
    cells = sf.Grid.covering(REGION, "2 km")
    for prior, loss, hint in (
        (PRIOR, LOSS, "spacing="),
        (sf.Prior.from_visits(cells, VISITS), cells.loss(VISITS), "smaller cells"),
        (sf.Prior.uniform(ages), sf.Loss(years.array + 2.0, "km"), "allow more than 2"),
    ):
        with pytest.raises(InfeasibleError) as caught:
            find_epsilon(
                prior,
                loss=loss,
                goal=LossGoal("200 m"),
                promise=lambda epsilon: sf.MetricPrivacy(epsilon, years),
            )
        assert hint in caught.value.hint
        assert ("spacing" in caught.value.hint) == (prior is PRIOR)


def test_ages_have_an_epsilon_per_year():
    ages = sf.Space.numbers(range(20, 30), unit="year")
    years = ages.metric("absolute")
    found = find_epsilon(
        sf.Prior.uniform(ages),
        loss=years,
        goal=LossGoal("1.5 years"),
        promise=lambda epsilon: sf.MetricPrivacy(epsilon, years),
    )
    assert found.unit == "year"
    assert found.design.has_program
    assert 1.45 < found.design.certificate.loss <= 1.5
    assert "/year is the smallest" in found.sentences[0]


def test_impossible_chances_say_what_is_possible():
    with pytest.raises(InfeasibleError, match="without a report"):
        search(AttackerGoal(0.05, "1 km", VISITS))
    with pytest.raises(InputError, match="every epsilon limits the best attacker"):
        search(AttackerGoal(0.99, "100 m", VISITS))


@pytest.mark.slow
def test_a_loss_next_to_the_least_is_not_reached():
    """Rows for the steepest slopes that are proved leave a little of the loss."""
    least = float(PRIOR.probabilities @ LOSS.array.min(axis=1))
    with pytest.raises(
        InfeasibleError,
        match=r"; 6 epsilons were tried\. The nearest was",
    ):
        search(LossGoal(least * (1 + 1e-7)))


@pytest.mark.slow
def test_a_chance_next_to_that_without_a_report_takes_a_tiny_epsilon():
    blind = chance_within(sf.Mechanism(np.ones((len(CITY), 1)), CITY), VISITS, "1 km").upper
    found = search(AttackerGoal(blind * (1 + 1e-6), "1 km", VISITS))
    assert found.trial.measure.upper <= blind * (1 + 1e-6)
    assert found.epsilon < 0.3


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"tolerance": 0.0}, "tolerance"),
        ({"tolerance": math.nan}, "tolerance"),
        ({"first": -1.0}, "not positive"),
        ({"first": math.inf}, "not positive"),
        ({"time_limit": 0.0}, "time limit"),
        ({"time_limit": math.nan}, "time limit"),
        ({"promise": lambda _: ()}, "not one epsilon"),
        ({"promise": lambda _: 3}, "not a guarantee"),
        ({"goal": "500 m"}, "DesignGoal"),
        ({"method": "both"}, "'both' is unknown"),
        ({"method": "noise", "goal": AttackerGoal(0.5, "1 km", VISITS)}, "near is not proved"),
    ],
)
def test_bad_input(more, message):
    with pytest.raises(InputError, match=message):
        find_epsilon(**{"prior": PRIOR, "loss": LOSS, "goal": LossGoal("1 km"), **more})


def test_cells_need_a_promise_of_their_own():
    cells = sf.Grid.covering(REGION, "2 km")
    with pytest.raises(InputError, match="not the vertices of a lattice"):
        find_epsilon(sf.Prior.from_visits(cells, VISITS), loss=cells.loss(VISITS), goal=LossGoal("1 km"))


@pytest.mark.slow
def test_the_unit_of_a_loss_is_needed():
    with pytest.raises(UnitError, match="no unit"):
        search(LossGoal("500"))
    assert search(LossGoal(1.3), tolerance=0.5).design.certificate.loss <= 1.3
