"""Parts of the distribution privacy study: groups, attackers, confidence and the bound, by another route."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.mechanisms import Tupling, attack_success, exponential
from sfumato.privacy import DifferentialPrivacy
from sfumato_papers.distribution_privacy.attackers import confident, measure_coverage, run_attacks, success_of
from sfumato_papers.distribution_privacy.groups import DAY, HOURS, NIGHT, by_day, splits
from sfumato_papers.distribution_privacy.measurements import (
    EVERYWHERE,
    bounds,
    fewest,
    neighbours,
    noise,
    vary_noise,
)
from sfumato_papers.invented_city import invented_city
from sfumato_papers.results import columns_of

CITY = invented_city(users=60)


def table(made: Any, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table that a part made."""
    return [columns_of(row) for row in made[name]]


@pytest.fixture(scope="module")
def found():
    return splits({"city": CITY}, "2 km", 5)


def test_groups_are_of_people_first(found):
    assert [split.attribute for split in found] == ["area", "age_group", HOURS]
    assert [split.of_people for split in found] == [True, True, False]
    area = found[0]
    near = area.visits
    named = near.attributes["area"]
    assert area.counts == tuple(int((named == value).sum()) for value in area.values)
    assert area.users == tuple(len(set(near.user[named == value])) for value in area.values)
    assert area.title == f"{area.values[0]} and {area.values[1]} (city, area)"


def test_hours_are_those_of_the_sun():
    times = ["2024-01-01T12:00", "2024-01-01T07:59", "2024-01-01T20:00", "2024-01-01T23:00"]
    places = sf.Visits([0.0] * 4, [0.0, 0.0, 0.0, 150.0], time=np.array(times, "datetime64[s]"))
    assert by_day(places).tolist() == [True, False, False, True]  # 23 hours at Greenwich is 9 in the far east
    assert {DAY, NIGHT} == {"8 to 20", "20 to 8"}


def test_each_user_counts_once(found):
    area = found[0]
    own = area.by_user().distributions
    for value, law in zip(area.values, own, strict=True):
        visits = area.visits.select(area.visits.attributes["area"] == value)
        laws = [sf.Prior.from_visits(area.city, visits.of_user(user)).probabilities for user in visits.users()]
        np.testing.assert_allclose(law, np.mean(laws, axis=0), atol=1e-12)


def test_halves_share_no_user_and_leave_nobody_out(found):
    area = found[0]
    one, other = area.halves(4)
    again = area.halves(4)
    assert (one.distributions == again[0].distributions).all()
    whole = area.groups.distributions
    for k in range(2):
        share = np.linalg.lstsq(
            np.column_stack([one.distributions[k], other.distributions[k]]), whole[k], rcond=None
        )[0]
        np.testing.assert_allclose(share.sum(), 1, atol=1e-9)  # the whole is a mixture of the halves
        assert (share > 0).all()


def test_a_user_with_visits_in_both_groups_is_in_one_half():
    """Two users, each alone in a cell, by day and by night: what is learned of one says nothing of the other."""
    times = np.array(["2024-01-01T12:00", "2024-01-01T23:00"] * 2, "datetime64[s]")
    users = ["ann", "ann", "bob", "bob"]
    visits = sf.Visits([40.0, 40.0, 40.03, 40.03] * 20, [0.0] * 80, user=users * 20, time=np.tile(times, 20))
    (hours,) = splits({"two": visits}, "2 km", 1)
    one, other = hours.halves(1)
    assert one.total_variation == other.total_variation == 0
    assert not (one.distributions * other.distributions).any()


def test_visits_without_attribute_or_time_are_refused():
    with pytest.raises(DataError, match="no file has an attribute"):
        splits({"bare": sf.Visits([40.0, 40.01], [-30.0, -30.01])}, "2 km", 3)


P, Q, NU = np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.1, 0.3, 0.4, 0.2]), np.array([0.3, 0.3, 0.3, 0.1])


def enumerated(believed, true, dummies):
    """The share right of the likelihood-ratio rule for believed laws, tuple by tuple."""
    right = 0.0
    for y in itertools.product(range(4), repeat=dummies + 1):
        weight = math.prod(NU[each] for each in y)
        score = sum((believed[0][each] - believed[1][each]) / NU[each] for each in y)
        chances = [weight * sum(law[each] / NU[each] for each in y) / (dummies + 1) for law in true]
        right += chances[0] / 2 if score > 1e-12 else chances[1] / 2 if score < -1e-12 else sum(chances) / 4
    return right


@pytest.mark.parametrize("dummies", [0, 2])
def test_an_attacker_who_learned_other_laws(dummies):
    random = np.random.default_rng(1)
    believed, true = np.array([P, Q]), np.array([[0.3, 0.3, 0.3, 0.1], [0.2, 0.2, 0.3, 0.3]])
    for given in (believed, true):
        found = success_of(believed, given, NU, dummies, random, draws=200_000)
        assert found == pytest.approx(enumerated(believed, given, dummies), abs=2e-3 if dummies else 1e-12)
    assert success_of(believed, true, NU, dummies, random) <= enumerated(true, true, dummies) + 0.01


def test_success_on_what_was_learned_is_that_of_the_accountant(found):
    area = found[0]
    halves = area.halves(1)
    rows = table(run_attacks(halves, area.city, 1, (0, 5), (4.0,)), "success")
    for row in rows:
        same = table(run_attacks((halves[0], halves[0]), area.city, 1, (row["dummies"],), (4.0,)), "success")[0]
        assert same["judged_on"] == pytest.approx(same["learned_from"], abs=5e-3)
        assert same["learned_from"] == row["learned_from"]
        assert row["judged_on"] <= row["at_most"] + 5e-3


def test_confidence_is_between_the_estimate_and_anyone(found):
    area = found[0]
    sizes = [("few", (20, 30)), ("more", (10_000, 20_000)), ("most", (10**9, 10**9))]
    few, more, most = table(confident(area.by_user(), area.city, sizes, 0.5), "confidence")
    assert few["radius"] > more["radius"] > most["radius"] > 0
    assert few["anyone"] >= few["epsilon_upper"] >= more["epsilon_upper"] >= most["epsilon_upper"]
    assert most["epsilon_upper"] == pytest.approx(most["estimated"], rel=0.05)
    inner = exponential(area.city, area.groups.metric, 1.0)
    assert few["anyone"] == DifferentialPrivacy().measure(inner).upper
    (row,) = table(measure_coverage(area.groups, area.city, 50, 2, 40, 4), "coverage")
    assert (row["beyond"], row["truth_kept"], row["checked"]) == (0, 4, 4)
    assert 0 < row["mean_distance"] < row["radius"]


def test_tupling_tables(found):
    area = found[0]
    groups, city = area.groups, area.city
    rows = table(vary_noise(groups, city, (2.0, EVERYWHERE), (0.5,)), "tupling")
    assert [row["varied"] for row in rows] == ["r"] * 4 + ["epsilon_A"] * 2
    wide = noise(city, groups.metric, 1.0, EVERYWHERE)
    np.testing.assert_allclose(noise(city, groups.metric, 1.0, 50.0).matrix, wide.matrix, atol=1e-15)
    four, *_ = table(bounds(groups, city, (20,), (10**6,)), "bounds")
    assert four["epsilon_upper"] == pytest.approx(0.4431, abs=2e-4)
    # The paper's bound by hand: the least alpha that gives delta, with beta = 0.4.
    alpha = 0.4 * math.sqrt(20 * math.log(2 / 1e-3) / 2)
    assert four["published"] == pytest.approx(math.log((20 + (alpha + 0.4) * 4) / (20 - alpha * 4)), rel=1e-3)
    (plan,) = table(fewest(groups, city, (2.0,), (1.0,)), "fewest")
    inner = noise(city, groups.metric, 2.0, 2.0)
    assert plan["proved_fewest"]
    rows = table(neighbours(groups, city, (2.0,), (0, plan["dummies"])), "neighbours")
    assert rows[1]["of_groups"] < rows[0]["of_groups"]
    nu = np.full(len(city), 1 / len(city))
    alone = attack_success(Tupling(inner, 0, nu), *groups.distributions)
    p, q = inner.lift(groups.distributions)
    assert alone.upper == pytest.approx(0.5 + np.abs(p - q).sum() / 4, abs=1e-4)
