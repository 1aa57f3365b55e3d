"""PRIVIC: steps of Blahut and Arimoto by hand, tight epsilons pair by pair, and the noise of two cells."""

from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.mechanisms import rate_distortion
from sfumato_papers.follow_ups.privic import BLAHUT, NOISE, compare_noise, run_blahut, run_rounds, solve_slope
from sfumato_papers.follow_ups.regions import SAN_FRANCISCO, CityCells, box_name
from sfumato_papers.invented_city import invented_city

LINE = sf.Space.numbers(range(4))
PRIOR = sf.Prior(LINE, [0.4, 0.1, 0.5, 0.0])
METRIC = LINE.metric("absolute")


@pytest.fixture(scope="module")
def city():
    return invented_city()


def tight(matrix, distance):
    """Return the largest epsilon between two rows, pair by pair."""
    logs = np.log(matrix)
    return max(
        np.abs(logs[i] - logs[j]).max() / distance[i, j] for i in range(len(logs)) for j in range(i + 1, len(logs))
    )


def test_steps_by_hand():
    b = 0.7
    first = np.array([[np.exp(-b * abs(s - o)) for o in range(4)] for s in range(4)])
    first /= first.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(run_blahut(PRIOR.probabilities, METRIC, b, 1), first)
    reports = [sum(PRIOR.probabilities[s] * first[s, o] for s in range(4)) for o in range(4)]
    second = [[reports[o] * np.exp(-b * abs(s - o)) for o in range(4)] for s in range(4)]
    second /= np.sum(second, axis=1, keepdims=True)
    np.testing.assert_allclose(run_blahut(PRIOR.probabilities, METRIC, b, 2), second)


def test_many_steps_lead_to_the_least_information():
    best = rate_distortion(PRIOR, METRIC, 0.7)
    found = sf.Mechanism(run_blahut(PRIOR.probabilities, METRIC, 0.7, 5_000), LINE, LINE)
    assert found.expected_loss(PRIOR, METRIC) == pytest.approx(best.loss, rel=1e-4)


def test_tight_epsilons_are_proved_below_twice_the_slope(city):
    made_of: Any = solve_slope("a city", city, 0.5, (8,))["privic-slopes"]
    eight, best = made_of
    cells = CityCells.of(city)
    assert not cells.box
    made = run_blahut(cells.prior.probabilities, cells.distance, 0.5, 8)
    assert tight(made, cells.distance.array) == pytest.approx(eight.epsilon_proved, rel=1e-6)
    for row in (eight, best):
        assert row.kept
        assert row.epsilon_proved <= 1.0 + 1e-9
    assert best.loss < eight.loss


def test_published_boxes_are_known_by_where_visits_lie(city):
    """The invented city, moved from 40, -30 to the middle of San Francisco."""
    there = sf.Visits(city.lat - 2.2413, city.lon - 92.4471, city.user)
    cells = CityCells.of(there)
    assert (cells.box, cells.shape, len(cells.prior)) == ("San Francisco", (24, 17), 408)
    columns = np.arange(408) % 24
    rows = np.arange(408) // 24
    apart = np.hypot(columns[:, None] - columns, rows[:, None] - rows)
    np.testing.assert_allclose(cells.distance.array, apart)
    few = there.select(np.flatnonzero(there.inside(SAN_FRANCISCO.region).lat > 0)[:999])
    assert [box_name(visits) for visits in (city, there, few)] == ["", "San Francisco", ""]


def test_check_ins_of_paris_are_in_the_published_cells(shared_data):
    cells = CityCells.of(sf.read_visits(shared_data / "gowalla_paris.parquet"))
    assert (cells.box, cells.shape) == ("Paris", (16, 12))


def test_noise_of_two_cells(city):
    made: Any = compare_noise("a city", city, 1.0, 2)
    rows = {(row.place, row.mechanism): row for row in made["privic-places"]}
    epsilon = rows["isolated", NOISE].epsilon
    apart = np.hypot(*np.meshgrid(np.arange(-30, 31), np.arange(-30, 31)))
    weights = np.exp(-epsilon * apart)
    endless = (weights * apart).sum() / weights.sum()  # without borders
    for place in ("isolated", "busiest"):
        assert rows[place, NOISE].distance == pytest.approx(endless, rel=0.01)
        assert rows[place, NOISE].true == pytest.approx(1 / weights.sum(), rel=0.01)
    assert rows["isolated", "Blahut-Arimoto"].distance > 2 * endless
    assert rows["isolated", BLAHUT].near < rows["busiest", BLAHUT].near
    assert len(made["privic-estimates"]) == 2 * 2 * 2 * 2


def test_a_collection_is_the_same_again(city):
    runs: Any = [run_rounds("a city", city, 1.0, 8, 2, 3)["privic-rounds"] for _ in range(2)]
    first, again = runs
    assert first == again
    assert [row.number for row in first] == [1, 2]
    assert first[0].users == round(0.1 * len(city))
    assert all(0 < row.truth_km < 5 for row in first)
