"""Reports of one person add up to what was proved, also where several mechanisms draw them."""

import itertools
import math
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.mechanisms import DiscreteGaussian, DiscreteLaplace, randomised_response
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.releases import prepare_frame

from ..catalogue import geometric

LABELS = sf.Space(list("xy"))
BARE = sf.Mechanism(np.eye(2), LABELS)
UNLIKE = "no single number covers all of them"
USERS = ["ada", "ada", "bob", "bob", "bob"]


def told(mechanisms, **columns):
    """Return what the release says of two reports of ada and three of bob, each by their mechanism."""
    names = [name for name in columns if name != "lat"]
    more = {"lon": [2.35] * 5} if "lat" in columns else {}
    column: dict[str, Any] = {"column": names[0] if len(names) == 1 else names} if names else {}
    table = pa.table({"user": USERS, **columns, **more})
    by: dict[str, Any] = {} if names[1:] else {"by": "user"}
    return " ".join(prepare_frame(mechanisms, table, user="user", **by, **column).promises)


def on_labels(**mechanisms):
    return told(mechanisms, n=list("xyxxy"))


def on_numbers(**mechanisms):
    return told(mechanisms, n=[1, 2, 3, 4, 5])


def number(said):
    found = re.search(r"3 reports of one person: at most 3 times the largest (?:epsilon|rho), ([\d.]+)", said)
    return None if found is None else float(found[1])


def promising(epsilon, distance, space=LABELS):
    metric = sf.Metric([[0, distance], [distance, 0]], "km")
    likely = 1 / (1 + math.exp(-epsilon * distance * 0.999))
    matrix = np.array([[likely, 1 - likely], [1 - likely, likely]])
    return sf.Mechanism(matrix, space, space).promising(sf.MetricPrivacy(epsilon, metric))


def test_the_largest_epsilon_bounds_whatever_mix_of_mechanisms_a_person_has():
    pair = [randomised_response(LABELS, epsilon).matrix for epsilon in (0.4, 1.5)]
    worst = max(
        sum(math.log(mechanism[s, o] / mechanism[t, o]) for mechanism, (s, t, o) in zip(mix, way, strict=True))
        for mix in itertools.product(pair, repeat=3)
        for way in itertools.product(itertools.product(range(2), repeat=3), repeat=3)
    )
    said = on_labels(ada=randomised_response(LABELS, 0.4), bob=randomised_response(LABELS, 1.5))
    assert worst <= number(said) <= worst * 1.00001
    assert number(said) == 4.5


def test_reports_of_a_mechanism_without_a_promise_are_not_bounded():
    said = on_labels(ada=randomised_response(LABELS, 1), bob=BARE)
    assert number(said) is None
    begin = (
        "3 reports of one person (2 users); not all mechanisms have a guarantee that adds up, so nothing bounds"
    )
    assert begin in said
    assert "Where all have a guarantee of one kind: 3 times epsilon, 3." in said
    said = on_labels(ada=BARE, bob=BARE)
    assert "3 reports of one person (2 users)." in said
    assert "times" not in said


@pytest.mark.parametrize(
    ("ada", "bob", "each"),
    [
        (
            DiscreteLaplace(1, 10),
            DiscreteLaplace(0.5, 1),  # which is 5 for a difference of 10
            ("3 times epsilon, 3 for true numbers that differ by at most 10", "epsilon, 1.5 for true numbers"),
        ),
        (
            DiscreteLaplace(0.5),
            DiscreteGaussian(0.25),
            ("epsilon, 1.5 for true numbers", "rho, 6 for true numbers"),
        ),
    ],
)
def test_promises_of_different_kinds_have_no_largest(ada, bob, each):
    for said in (on_numbers(ada=ada, bob=bob), on_numbers(ada=bob, bob=ada)):
        assert number(said) is None
        assert f"3 reports of one person (2 users); the mechanisms have different guarantees, so {UNLIKE}" in said
        assert all(part in said for part in each)


def test_noise_of_one_sensitivity_is_compared():
    assert number(on_numbers(ada=DiscreteLaplace(0.5, 10), bob=DiscreteLaplace(1, 10))) == 3
    assert number(on_numbers(ada=DiscreteGaussian(1), bob=DiscreteGaussian(0.25))) == 6
    assert "3 times the largest rho, 6" in on_numbers(ada=DiscreteGaussian(1), bob=DiscreteGaussian(0.25))


def test_distances_are_compared_only_where_they_are_the_same():
    same = on_labels(ada=promising(1, 2), bob=promising(2, 2))
    assert number(same) == 6
    assert "6/km (metric)" in same
    other = on_labels(
        ada=promising(1, 9), bob=promising(2, 2)
    )  # the first is 9, for values that the second has at 2
    assert number(other) is None
    assert UNLIKE in other
    elsewhere = sf.Space(list("yx"))
    assert number(on_labels(ada=promising(1, 2), bob=promising(2, 2, elsewhere))) is None


def test_distances_between_middles_differ_from_grid_to_grid():
    made = {}
    for user, shape, epsilon in (("ada", (2, 1), 0.5), ("bob", (3, 2), 0.75)):
        grid = sf.Grid.covering("4 km x 4 km around 48.85,2.35", shape=shape)
        promise = sf.MetricPrivacy(epsilon, grid.metric("euclidean", "km"))
        made[user] = sf.Mechanism(np.full((len(grid),) * 2, 1 / len(grid)), grid).promising(promise)
    said = told(made, lat=[48.85] * 5)
    assert number(said) == 2.25
    assert "2.25/km, at the largest of their distances (2 users)" in said
    manhattan = made["bob"].secrets.metric("manhattan", "km")
    made["bob"] = made["bob"].promising(sf.MetricPrivacy(0.75, manhattan))
    said = told(made, lat=[48.85] * 5)
    assert number(said) is None
    assert "1.5/km; 3 times epsilon, 2.25/km (manhattan)" in said


def test_the_slack_is_the_largest_too():
    visits = sf.Visits([48.84, 48.88], [2.3, 2.4])
    coarse = CoordinateNoise.for_visits(visits, "1/km")
    fine = CoordinateNoise("2/km", step="0.5 m", projection=coarse.projection)
    said = told({"ada": coarse, "bob": fine}, lat=[48.85] * 5)
    assert number(said) == 6
    assert "6/km, with 2.83 m added to every distance (2 users)" in said


def test_each_kind_of_promise_of_one_mechanism_is_said():
    metric = sf.Metric([[0, 2], [2, 0]], "km")
    both = randomised_response(LABELS, 1).promising(
        [sf.MetricPrivacy(1, LABELS.metric("hamming")), sf.MetricPrivacy(0.5, metric)]
    )
    table = pa.table({"user": USERS, "n": list("xyxxy")})
    said = " ".join(prepare_frame(both, table, user="user", column="n").promises)
    assert "3 times epsilon, 3 for any two true values; 3 times epsilon, 1.5/km (metric) (2 users)" in said
    said = on_labels(ada=both, bob=randomised_response(LABELS, 2))
    assert number(said) == 6
    assert "/km" not in said.split("The source asks")[1]


def test_without_users_only_one_measure_is_named():
    table = pa.table({"which": ["a", "b"], "n": [1, 2]})

    def said(a, b):
        return " ".join(prepare_frame({"a": a, "b": b}, table, by="which", column="n").promises)

    assert "k reports of one person add up to at most k times the largest epsilon" in said(
        DiscreteLaplace(1), DiscreteLaplace(2)
    )
    assert UNLIKE in said(DiscreteLaplace(1), DiscreteGaussian(2))
    single = prepare_frame(BARE, pa.table({"n": ["x"]}), column="n").promises
    assert "No column names the users, so the reports of one person cannot be counted." in single


def test_columns_of_one_kind_add_up_and_of_others_do_not():
    numbers = {"a": [1, 2, 3, 4, 5], "b": [5, 4, 3, 2, 1]}
    said = told({"a": DiscreteLaplace(1, 10), "b": DiscreteLaplace(0.5, 10)}, **numbers)
    assert (
        "epsilon 1 + 0.5, at most 1.5 for true numbers that differ by at most 10 in each of these columns" in said
    )
    assert "3 times epsilon, 4.5 for true numbers that differ by at most 10 in each of these columns" in said
    said = told({"a": DiscreteLaplace(1, 10), "b": DiscreteLaplace(0.5, 1)}, **numbers)
    assert "no single number says it" in said
    assert "3 reports of one person (2 users): 3 times what is proved of each column." in said
    bare = {"a": randomised_response(LABELS, 1), "b": BARE}
    said = told(bare, a=list("xyxxy"), b=list("xyxxy"))
    assert "nothing bounds all of them, because not all have a guarantee that adds up" in said
    assert "3 times epsilon" not in said


def test_mechanisms_whose_names_are_one_text_are_refused():
    mechanisms: dict[Any, Any] = {1: randomised_response(LABELS, 0.1), "1": randomised_response(LABELS, 9)}
    for names in (mechanisms, dict(reversed(list(mechanisms.items())))):
        with pytest.raises(sf.errors.InputError, match="two mechanisms have the same name as text: '1'"):
            prepare_frame(names, pa.table({"u": [1, 1], "n": ["x", "y"]}), by="u", column="n")


def test_a_sum_over_bins_that_differ_is_for_the_largest_distance():
    """Ages 22 and 23 are a year apart where bins have a year, and five years where they have five."""
    made: dict[str, sf.Mechanism] = {}
    losses = []
    for user, width in (("ada", 1), ("bob", 5)):
        bins = sf.NumberBins(18, width, 80 // width, "year")
        distances = bins.metric("absolute", "year")
        keep = geometric(len(bins), 0.125 * width * (1 - 1e-9))
        made[user] = sf.Mechanism(keep, bins).promising(sf.MetricPrivacy(0.125, distances))
        low, high = ((age - 18) // width for age in (22, 23))
        losses.append(float(np.abs(np.log(keep[low] / keep[high])).max()))
    said = told(made, n=[22, 23, 22, 23, 22])
    assert "at most 3 times the largest epsilon, 0.375/year (absolute), at the largest of their distances" in said
    assert 0.25 < sum(losses) <= 0.25 * 5
