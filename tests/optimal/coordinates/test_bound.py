"""The best conceivable: closed forms, mechanisms that must not beat it, and what it does not depend on."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato import coordinate_bound
from sfumato.errors import InputError, UnitError
from sfumato.mechanisms import geometric_median, remap_in_plane
from sfumato.optimal.coordinates.bound import Round
from sfumato_papers.invented_city import invented_city

from ...clock import set_clock

KM = 1000.0


def bound(places, epsilon, loss="euclidean", **more):
    """Return the bound for places in km."""
    return coordinate_bound(np.asarray(places) * KM, epsilon, loss, **{"gap": 0.03, "time_limit": 20.0, **more})


@pytest.mark.parametrize(
    ("apart", "first", "epsilon"), [(1, 0.5, 1), (2, 0.3, 1), (1, 0.1, 1), (1, 0.4, 3), (0.2, 0.5, 10)]
)
def test_two_places_have_a_closed_form(apart, first, epsilon):
    """Reports between the two are no better than the two ends, as loss is linear there: a table of 2 x 2.

    Its corners are the two constants and randomised response.
    """
    exact = apart * min(first, 1 - first, 1 / (1 + np.exp(epsilon * apart)))
    found = bound([[0, 0], [apart, 0]], f"{epsilon}/km", weights=[first, 1 - first], gap=2e-3)
    assert found.least.lower <= exact <= found.least.upper
    assert found.least.lower >= 0.99 * exact


@pytest.mark.slow
def test_hardly_any_epsilon_leaves_the_best_constant_report():
    rng = np.random.default_rng(3)
    places, weights = rng.random((6, 2)), rng.dirichlet(np.ones(6))
    point = geometric_median(places, weights).point
    median = float(weights @ np.linalg.norm(places - point, axis=1))
    found = bound(places, "1e-6/km", weights=weights, gap=1e-3)
    assert 0.997 * median <= found.lower <= median
    mean = weights @ places
    variance = float(weights @ ((places - mean) ** 2).sum(axis=1))
    squared = bound(places, "1e-6/km", "squared", weights=weights, gap=1e-3)
    assert 0.997 * variance <= squared.lower <= variance
    assert squared.loss_unit == "km^2"


def test_a_large_epsilon_allows_the_truth():
    found = bound([[0, 0], [1, 0], [0, 1]], "50/km")
    assert 0 <= found.lower <= 1e-6
    assert found.excess(0.5) > 1e6 or np.isinf(found.excess(0.5))


@pytest.mark.slow
def test_the_upper_end_is_approached_by_designs_with_many_reports():
    rng = np.random.default_rng(8)
    places = rng.random((6, 2))
    found = bound(places, "3/km", gap=2e-3)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 23)] * 2), -1).reshape(-1, 2)
    space, reports = sf.Space(range(6), places, "km"), sf.Space(range(535), np.concatenate([grid, places]), "km")
    best = sf.design(
        sf.Prior.uniform(space),
        loss=sf.loss(space, reports),
        guarantees=sf.MetricPrivacy("3/km", space.metric("euclidean")),
        observables=reports,
        tie_break=False,
    ).certificate
    assert found.lower <= best.loss
    assert best.loss <= found.least.upper * 1.01
    assert found.lower >= 0.985 * best.bound


@pytest.mark.slow
def test_square_cells_with_the_distance_to_the_nearest_point_bound_too_and_less():
    """The plain route to a bound: every report in a cell is at least as far as the cell's nearest point."""
    rng = np.random.default_rng(12)
    places, cells = rng.random((8, 2)), 14
    space = sf.Space(range(8), places, "km")
    side = 1 / cells
    middles = np.stack(np.meshgrid(*[side * (np.arange(cells) + 0.5)] * 2), -1).reshape(-1, 2)
    apart = np.maximum(np.abs(places[:, None] - middles) - side / 2, 0)
    plain = sf.design(
        sf.Prior.uniform(space),
        loss=sf.Loss(np.linalg.norm(apart, axis=2), "km"),
        guarantees=sf.MetricPrivacy("2/km", space.metric("euclidean")),
        observables=sf.Space(range(cells**2)),
        gap=1e-3,
        tie_break=False,
    ).certificate.bound
    found = bound(places, "2/km", gap=0.02)
    assert found.log[-1].corners < cells**2
    assert plain < found.lower
    assert plain > 0.75 * found.least.upper


@pytest.mark.slow
@given(st.integers(0, 2**32), st.sampled_from([0.3, 1.0, 4.0]), st.sampled_from(["euclidean", "squared"]))
@settings(max_examples=4)
def test_no_mechanism_with_the_promise_is_better(seed, epsilon, loss):
    """Planar Laplace on a fine lattice of reports, then the best remap in the plane, and random remaps of it."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    places, weights = rng.normal(size=(n, 2)), rng.dirichlet(np.full(n, 0.5))
    found = bound(places, f"{epsilon}/km", loss, weights=weights, time_limit=1.0)
    reports = np.stack(np.meshgrid(*[np.linspace(-5, 5, 41)] * 2), -1).reshape(-1, 2)
    rows = np.exp(-epsilon * np.linalg.norm(places[:, None] - reports, axis=2))
    # The mass of all reports but one keeps the ratios; the rest goes to one report more for every row.
    rows /= 1.001 * rows.sum(axis=1).max()
    share = np.linalg.norm(places[:, None] - places, axis=2)
    rest = 1 - rows.sum(axis=1)
    kept = (np.log(rest[:, None] / rest[None]) <= epsilon * share + 1e-9).all()
    rows = np.column_stack([rows, rest])
    assume(kept)
    space = sf.Space(range(n), places, "km")
    prior = sf.Prior.from_counts(space, weights)
    remapped = remap_in_plane(sf.Mechanism(rows, space, sf.Space(range(len(rows[0])))), prior, loss)
    at = np.asarray(remapped.observables.coordinates)
    lost = np.linalg.norm(places[:, None] - at, axis=2) ** (1 if loss == "euclidean" else 2)
    each = (remapped.matrix * lost).sum(axis=1)
    assert found.lower <= float(weights @ each) * (1 + 1e-9)
    assert found.excess(each) >= 0
    outside = rng.normal(size=at.shape) * 10
    worse = np.linalg.norm(places[:, None] - outside, axis=2) ** (1 if loss == "euclidean" else 2)
    assert found.lower <= float(weights @ (remapped.matrix * worse).sum(axis=1))


@pytest.mark.slow
def test_order_and_repetition_of_places_do_not_matter():
    rng = np.random.default_rng(5)
    places = rng.random((10, 2))
    order = rng.permutation(10)
    one, other = bound(places, "2/km"), bound(places[order], "2/km")
    assert one.lower == pytest.approx(other.lower, rel=1e-2)
    twice = bound(np.concatenate([places, places[:3]]), "2/km")
    weighted = bound(places, "2/km", weights=[2, 2, 2, *[1] * 7])
    assert twice.lower == pytest.approx(weighted.lower, rel=1e-12)
    assert len(twice.rows) == 13
    assert len(twice.places) == 10


@pytest.mark.slow
def test_lengths_and_epsilon_scale_together():
    places = np.random.default_rng(6).random((6, 2))
    one, other = bound(places, "2/km"), bound(8 * places, "0.25/km")
    assert other.lower == pytest.approx(8 * one.lower, rel=1e-6)
    metres = bound(places, "0.002/m", unit="m")
    assert metres.lower == pytest.approx(KM * one.lower, rel=1e-6)
    moved = bound(places + np.array([448, 5411]), "2/km")
    assert moved.lower == pytest.approx(one.lower, rel=1e-2)


@pytest.mark.slow
def test_a_larger_epsilon_bounds_less():
    places = np.random.default_rng(7).random((6, 2))
    found = [bound(places, f"{epsilon}/km") for epsilon in (0.5, 2, 8)]
    for less, more in itertools.pairwise(found):
        assert more.lower < less.least.upper
        assert more.lower < less.lower


@pytest.mark.slow
def test_more_time_never_bounds_less():
    places = np.random.default_rng(9).random((12, 2))
    rounds: list[Round] = []
    found = bound(places, "2/km", progress=rounds.append)
    assert found.log == tuple(rounds)
    assert found.lower == pytest.approx(max(step.bound for step in rounds), rel=1e-12)
    assert found.lower <= max(step.bound for step in rounds)
    assert [step.corners for step in rounds] == sorted(step.corners for step in rounds)
    coarse = bound(places, "2/km", gap=0.2)
    assert coarse.lower <= found.lower


@pytest.mark.slow
def test_a_place_where_nobody_is_adds_its_promise():
    """A brute-force program over 84 reports has 0.0627 without the last place and 0.0773 with it."""
    places = [
        [0.05946415, 0.38077051],
        [0.42977406, 0.48884955],
        [0.97646232, 0.77569119],
        [0.69484106, 0.62952639],
    ]
    weights = [0.13172917, 0.64937504, 0.21889579, 0.0]
    without = bound(places[:3], "5/km", weights=weights[:3], gap=0.01)
    with_it = bound(places, "5/km", weights=weights, gap=0.01)
    assert with_it.lower > 1.15 * without.least.upper
    assert without.lower == pytest.approx(0.0627, rel=0.03)
    assert with_it.lower == pytest.approx(0.0773, rel=0.03)
    spread = bound(places[:3], "5/km", weights=weights[:3], empty=10, gap=0.01)
    assert spread.lower > with_it.lower
    assert 10 <= spread.empty <= 30
    assert len(spread.places) == 3
    assert spread.lower <= spread.least.upper


@pytest.mark.slow
def test_groups_bound_what_all_places_bound():
    rng = np.random.default_rng(10)
    middles = rng.random((10, 2)) * 2
    places = np.repeat(middles, 3, axis=0) + rng.normal(size=(30, 2)) * 0.01
    every = bound(places, "1/km", points=30)
    few = bound(places, "1/km", points=10)
    assert few.heads == 10
    assert np.isinf(few.least.upper)
    assert 0 < few.radius < 0.06
    assert 0.95 * every.lower <= few.lower <= every.least.upper
    assert few.lower >= every.lower * np.exp(-few.radius)


def test_the_sentences():
    found = bound([[0, 0], [1, 0]], "1/km", gap=1e-3)
    assert str(found) == found.sentence
    assert found.sentence == (
        "No mechanism that keeps epsilon 1/km between all points can lose less than 268 m on average "
        "on these 2 places."
    )
    assert found.comparison(0.3).startswith(
        "It is within 12 % of the best"
    ) or "of the best that any" in found.comparison(0.3)
    assert found.excess([0.3, 0.3]) == pytest.approx(0.3 / found.lower - 1)
    assert "at least 268 m on 2 places" in repr(found)
    squared = bound([[0, 0], [1, 0], [1, 0]], "1/km", "squared")
    assert "mean squared distance" in squared.sentence
    assert "3 visits to 2 places" in squared.sentence


def test_a_loss_that_no_mechanism_has_is_refused():
    found = bound([[0, 0], [1, 0]], "1/km")
    with pytest.raises(InputError, match="no mechanism with this promise"):
        found.excess(0.2)
    with pytest.raises(InputError, match="shape"):
        found.excess([0.3, 0.3, 0.3])
    with pytest.raises(InputError, match="holds nan"):
        found.excess(float("nan"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"loss": "hamming"}, "no bound over all mechanisms"),
        ({"epsilon": "0/km"}, "positive"),
        ({"epsilon": "-1/km"}, "positive"),
        ({"time_limit": 0}, "time limit"),
        ({"gap": 0}, "gap"),
        ({"points": 0}, "points"),
        ({"empty": -1}, "empty=-1 is negative"),
        ({"weights": [1, -1]}, "weight is negative"),
        ({"weights": [0, 0]}, "all are zero"),
        ({"weights": [1]}, "weights"),
        ({"places": [[0, 0, 0]]}, "places"),
        ({"places": [[0, float("nan")]]}, "nan"),
        ({"places": np.zeros((0, 2))}, "no place"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments, words):
    given_all = {"places": [[0, 0], [1, 0]], "epsilon": "1/km", **arguments}
    with pytest.raises(InputError, match=words):
        coordinate_bound(given_all.pop("places"), given_all.pop("epsilon"), **given_all)


def test_epsilon_needs_a_length():
    with pytest.raises(UnitError):
        coordinate_bound([[0, 0], [1, 0]], "1/h")


def test_one_place_loses_nothing():
    found = bound([[0.3, 0.4]], "1/km")
    assert found.lower == 0
    assert found.excess(0.0) == 0


def test_it_stops_on_request_and_in_time(monkeypatch):
    places = np.random.default_rng(11).random((40, 2))
    rounds: list[Round] = []
    stopped = bound(places, "2/km", progress=rounds.append, stop=lambda: len(rounds) >= 1, gap=1e-6)
    assert len(stopped.log) == 1
    ticks = itertools.count()
    set_clock(monkeypatch, lambda: next(ticks) / 100)
    hurried = bound(places, "2/km", time_limit=0.5, gap=1e-6)
    assert hurried.seconds < 0.6  # it looks at the clock ten times more, at most


@pytest.mark.slow
@pytest.mark.parametrize(("places", "points"), [(200, 200), (40_000, 3000)])
def test_many_places_and_points_stay_in_time(places, points):
    x = np.random.default_rng(12).normal(size=(places, 2)) * 3
    found = bound(x, "1/km", points=points, time_limit=2.0)
    assert found.heads < points
    assert 0 <= found.lower < 4


def test_visits_are_projected_and_the_stretch_counts():
    city = invented_city(users=5, days=2)
    found = coordinate_bound(city, "1/km", points=20, time_limit=20.0, gap=0.05)
    assert len(found.rows) == len(city)
    assert 0 < found.lower < 4
    from sfumato.optimal.coordinates.bound import on_plane

    assert 1 < on_plane(city)[1] < 1 + 1e-5
    metres, stretch = on_plane(sf.Visits([40.0, 46.0], [5.0, 12.0]))
    # Half of 850 km to the middle; twice that is 0.13 of the radius: c / sin c = 1 + c^2 / 6.
    assert stretch == pytest.approx(1 + (2 * np.hypot(*metres.T).max() / 6_356_752) ** 2 / 6, rel=1e-4)


@pytest.mark.slow
def test_the_centre_of_paris(shared_data):
    """Few points and little time: the right size, below what remapped planar Laplace loses (0.810 km)."""
    region = sf.Region.around(48.8566, 2.3522, 3000, 3000)
    visits = sf.read_visits(shared_data / "gowalla_paris.parquet").inside(region)
    found = coordinate_bound(visits, "1/km", points=20, time_limit=15.0, gap=0.1)
    assert 0.6 < found.lower < 0.8103
    assert found.sentence.endswith("on average on these 4,237 visits to 1,004 places.")
