"""Movement models and followers: counts by hand, beliefs in closed form, and what is refused."""

from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.geo import Projection, geometric_median
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.sequences import (
    Follower,
    MarkovChain,
    MovementModel,
    PrivateFollower,
    PrivateMovementModel,
    day_positions,
)

PLANE = Projection(40.0, -74.0)
SLOTS = [540, 660, 780]
ZONE = "America/New_York"
TWO = PLANE.inverse([[0.0, 0.0], [1000.0, 0.0]])
CROSS = 100 * np.array([(0, 0), (1, 0), (0, 1), (2, 2)], dtype=float)
MOVES = np.array([(0.7, 0.1, 0.1, 0.1), (0.2, 0.6, 0.1, 0.1), (0.1, 0.1, 0.7, 0.1), (0.1, 0.2, 0.1, 0.6)])
START = np.array([0.4, 0.3, 0.2, 0.1])


def model(parts=1, kind=MovementModel):
    kernels = np.array([np.linalg.matrix_power(MOVES, part + 1) for part in range(parts)])
    return kind(PLANE.inverse(CROSS), SLOTS, np.tile(START, (3, 1)), np.tile(kernels, (3, 1, 1, 1)), ZONE)


def noise(epsilon="10/km", step="1 mm"):
    return CoordinateNoise(epsilon, step, PLANE, "1 km")


def degrees(x, y):
    lat, lon = PLANE.inverse_one(100 * x, 100 * y)
    return lat, lon


def visits(*rows, zone_hours=4):
    """Return visits of (user, local day of July 2024, hour, place 0 or 1), in summer time of New York."""
    times = [
        np.datetime64("2024-07-01T00:00") + np.timedelta64(round((24 * (day - 1) + hour + zone_hours) * 60), "m")
        for _, day, hour, _ in rows
    ]
    lat, lon = TWO[[place for *_, place in rows]].T
    return sf.Visits(lat, lon, user=[user for user, *_ in rows], time=np.array(times))


def test_beliefs_medians_and_risks_agree_with_printed_numbers():
    plane = Projection(0.0, 0.0)
    public = MovementModel(
        plane.inverse(CROSS), SLOTS, np.tile(START, (3, 1)), np.tile(MOVES, (3, 1, 1, 1)), "UTC"
    )
    follower = Follower(public, CoordinateNoise("10/km", Fraction(1, 10**6), plane, "400 m"))
    points = [(0.2, 0.1), (0.9, 0.3), (1.5, 1.2)]
    beliefs = [
        (0.591592475, 0.247773980, 0.147130976, 0.013502569),
        (0.437896810, 0.386976375, 0.141908773, 0.033218041),
        (0.260340127, 0.358156834, 0.180502555, 0.201000485),
    ]
    medians, risks = [(0, 0), (0.0238, 0.0095), (0.7918, 0.1847)], [0.433096, 0.622780, 0.954800]
    for slot, point, belief, median, risk in zip(SLOTS, points, beliefs, medians, risks, strict=True):
        report = plane.inverse_one(100 * point[0], 100 * point[1])
        np.testing.assert_allclose(follower.update(slot, *report), belief, atol=2e-9)
        estimate = follower.estimate(slot)
        np.testing.assert_allclose(
            plane.forward_one(estimate.lat, estimate.lon), 100 * np.array(median), atol=6e-3
        )
        assert estimate.error_m / 100 == pytest.approx(risk, abs=6e-7)
        assert estimate.as_of == slot


def test_estimates_agree_with_another_median_and_radius():
    rng = np.random.default_rng(4)
    xy = rng.normal(size=(40, 2)) * 2000
    marginals = rng.dirichlet(np.ones(40) * 0.2, size=3)
    public = MovementModel(PLANE.inverse(xy), SLOTS, marginals, np.tile(np.eye(40), (3, 1, 1, 1)), ZONE)
    for seed in range(20):
        follower = Follower(public, CoordinateNoise("1/km", projection=PLANE))
        belief = follower.update(660, *PLANE.inverse(rng.normal(size=(1, 2)) * 2000)[0])
        estimate = follower.estimate(700, 0.5 + seed / 50)
        median = geometric_median(xy, belief, 1e-9)
        assert estimate.error_m == pytest.approx(median.total.value, rel=2e-6)
        away = np.hypot(*(PLANE.forward(estimate.lat, estimate.lon)[0] - xy).T)
        share = belief[away <= estimate.radius_m + 1e-3].sum()
        assert share >= 0.5 + seed / 50 - 1e-9 > belief[away < estimate.radius_m - 1e-3].sum()


def test_the_belief_between_ticks_mixes_the_kernels_around_it():
    follower = Follower(model(parts=4), noise())
    belief = follower.update(540, *degrees(0.2, 0.1))
    power = [belief @ np.linalg.matrix_power(MOVES, k) for k in range(10)]
    np.testing.assert_allclose(follower.belief(540), power[0])
    np.testing.assert_allclose(follower.belief(570), power[1])
    np.testing.assert_allclose(follower.belief(585), (power[1] + power[2]) / 2)
    np.testing.assert_allclose(follower.belief(660), power[4])
    np.testing.assert_allclose(follower.belief(720), power[6])
    np.testing.assert_allclose(
        follower.belief(1980), belief @ np.linalg.matrix_power(np.linalg.matrix_power(MOVES, 4), 3)
    )
    skipped = follower.update(780, *degrees(0, 0))
    np.testing.assert_allclose(
        skipped, (lambda b: b / b.sum())(power[8] * np.exp(-np.hypot(*CROSS.T) / 100)), atol=1e-5
    )
    follower.restart()
    np.testing.assert_allclose(follower.belief(540), START)
    assert follower.estimate(600).as_of is None


@pytest.mark.parametrize("kind", ["cells", "lattice"])
def test_a_table_gives_each_place_the_mixture_of_its_rows(kind):
    region = "4 km x 4 km around 40,-74"
    space = sf.Grid.covering(region, shape=(4, 4)) if kind == "cells" else sf.geo.Lattice.covering(region, "1 km")
    table = sf.mechanisms.exponential(space, space.metric("euclidean", unit="km"), "1/km")
    rng = np.random.default_rng(2)
    public = MovementModel(
        PLANE.inverse(CROSS * 5), SLOTS, np.tile(START, (3, 1)), np.tile(MOVES, (3, 1, 1, 1)), ZONE
    )
    rounding = space.rounding(*public.places.T)
    rows = [
        [sum(w * table.matrix[s, o] for s, w in zip(*pair, strict=True)) for o in range(len(space))]
        for pair in zip(rounding.positions, rounding.shares, strict=True)
    ]
    mixture = sf.Mechanism(np.array(rows), sf.Space(range(4)), space)
    chain = MarkovChain(sf.Prior(mixture.secrets, START), sf.Mechanism(MOVES, mixture.secrets, mixture.secrets))
    observables = rng.integers(len(space), size=3)
    follower = Follower(public, table)
    reports = np.asarray(sf.geo.latlon_of(space))[observables]
    beliefs = [follower.update(slot, *report) for slot, report in zip(SLOTS, reports, strict=True)]
    np.testing.assert_allclose(beliefs, chain.filter([(mixture, int(o)) for o in observables]), rtol=1e-9)
    with pytest.raises(InputError, match="none of the mechanism's"):
        Follower(public, table).update(540, 40.000123, -74)


def test_moves_are_counted_by_days():
    """Two people, four days; every place holds for the whole window, so counts are whole days."""
    data = visits(("a", 1, 1, 0), ("a", 1, 10.8, 1), ("b", 1, 1, 1), ("b", 2, 1, 0), ("a", 2, 1, 0))
    shuffled = data.select(np.array([3, 1, 4, 0, 2]))
    slots = [480, 1320]
    found = MovementModel.of_visits(data, TWO, slots, ZONE)
    # At 8:00 three of four days are at place 0; of these one moves by 22:00, and the day at place 1 stays.
    marginals = 0.98 * np.array([[3 / 4, 1 / 4], [2 / 4, 2 / 4]]) + 0.01
    stay = 3 / 4
    target = stay * np.eye(2) + (1 - stay) * marginals[1]
    counts = np.array([[2.0, 1.0], [0.0, 1.0]])
    kernel = 0.98 * (counts + 4 * target) / (counts.sum(axis=1, keepdims=True) + 4) + 0.01
    np.testing.assert_allclose(found.marginals, marginals)
    np.testing.assert_allclose(found.kernels[0, -1], kernel)
    again = MovementModel.of_visits(shuffled, TWO, slots, ZONE)
    np.testing.assert_array_equal(found.kernels, again.kernels)
    own = PrivateMovementModel.of_days(data.of_user("b"), TWO, slots, ZONE)
    np.testing.assert_allclose(own.marginals[0], 0.98 * np.array([1 / 2, 1 / 2]) + 0.01)


def test_positions_are_held_over_and_clocks_are_local():
    """The clock of New York goes back on 3 November 2024 at 6:00 UTC."""
    times = np.array(
        ["2024-11-02T14:30", "2024-11-03T14:30", "2024-11-03T14:30", "2024-11-05T23:00"], dtype="M8[m]"
    )
    lat, lon = TWO[[0, 0, 1, 0]].T
    days = day_positions(sf.Visits(lat, lon, user=["a"] * 4, time=times), [600, 660, 1380], ZONE)
    nothing, (home, work) = [np.nan, np.nan], TWO
    # 14:30 UTC is 10:30 on the second and 9:30 on the third; of two visits at one time the later row counts.
    np.testing.assert_array_equal(days, [[nothing, home, home], [work, work, work], [work, work, home]])
    public = model()
    assert public.minute(datetime(2024, 11, 3, 14, 30, tzinfo=UTC)) == 9.5 * 60
    assert public.minute(datetime(2024, 11, 3, 5, 30, tzinfo=UTC)) == 25.5 * 60


def test_exact_reports_count_as_days():
    others = MovementModel(
        TWO, SLOTS, np.tile([0.6, 0.4], (3, 1)), np.tile([[0.8, 0.2], [0.3, 0.7]], (3, 1, 1, 1)), ZONE
    )
    reports = np.array([[TWO[0], TWO[0], TWO[1]], [TWO[1], TWO[0], [np.nan, np.nan]]])
    found = MovementModel.of_reports(reports, noise("1000/km"), others)
    counts = np.array([[1, 1], [2, 0], [0, 1]])
    weights = counts + counts.mean(axis=0) / 2 + 3 * others.marginals
    np.testing.assert_allclose(found.marginals, weights / weights.sum(axis=1, keepdims=True), atol=1e-9)
    # Of others .76 stay, .52 of them by chance: r = .5.
    kernel = 0.9 * (0.5 * np.eye(2) + 0.5 * found.marginals[1]) + 0.1 * others.kernels[0, 0]
    np.testing.assert_allclose(found.kernels[0, 0], kernel)


def test_private_models_and_followers_do_not_pass_for_public_ones():
    private = model(kind=PrivateMovementModel)
    assert not issubclass(PrivateMovementModel, MovementModel)
    assert not issubclass(PrivateFollower, Follower)
    with pytest.raises(InputError, match="MovementModel is needed"):
        Follower(private, noise())
    with pytest.raises(InputError, match="PrivateMovementModel is needed"):
        PrivateFollower(model(), noise())
    with pytest.raises(InputError, match="MovementModel is needed"):
        MovementModel.of_reports(np.zeros((1, 3, 2)), noise(), private)
    same = PrivateFollower(private, noise()).update(540, *degrees(1, 0))
    np.testing.assert_array_equal(same, Follower(model(), noise()).update(540, *degrees(1, 0)))


def test_one_place_is_certain():
    one = MovementModel(TWO[:1], [600], [[1.0]], [[[[1.0]]]], ZONE)
    follower = Follower(one, noise())
    assert follower.update(600, *degrees(5, 5)).tolist() == [1.0]
    estimate = follower.estimate(700)
    assert (estimate.error_m, estimate.radius_m) == (0.0, 0.0)


DATA = visits(("a", 1, 1, 0), ("b", 1, 1, 1))
FOLLOWER = Follower(model(), noise())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MovementModel.of_visits(DATA, TWO, [660, 540], ZONE), "not ascending"),
        (lambda: MovementModel.of_visits(DATA, TWO, [540, 540], ZONE), "not ascending"),
        (lambda: MovementModel.of_visits(DATA, TWO, [540, 1981], ZONE), "not ascending"),
        (lambda: MovementModel.of_visits(DATA, TWO, SLOTS, "Mars/Olympus"), "zone='Mars/Olympus' is no time zone"),
        (lambda: MovementModel.of_visits(DATA, [[np.nan, 1.0]], SLOTS, ZONE), "holds nan"),
        (lambda: MovementModel.of_visits(DATA, [[91.0, 1.0]], SLOTS, ZONE), "latitudes"),
        (lambda: MovementModel.of_visits(sf.Visits([40], [-74]), TWO, SLOTS, ZONE), "no user column"),
        (lambda: MovementModel.of_visits(sf.Visits([40], [-74], user=["a"]), TWO, SLOTS, ZONE), "no times"),
        (lambda: MovementModel.of_visits(visits(("a", 1, 20, 0)), TWO, SLOTS, ZONE), "no day has a position near"),
        (lambda: PrivateMovementModel.of_days(DATA, TWO, SLOTS, ZONE), "of 2 users"),
        (lambda: MovementModel(TWO, [540], [[0.0, 0.0]], [[np.eye(2)]], ZONE), "row of the marginals"),
        (lambda: MovementModel(TWO, [540], [[0.5, 0.5]], [[2 * np.eye(2)]], ZONE), "row of the kernels"),
        (lambda: model().minute(datetime(2024, 11, 3, 1, 30)), "no time zone"),
        (lambda: MovementModel.of_reports(np.zeros((2, 2, 2)), noise(), model()), "any x 3 x 2"),
        (lambda: MovementModel.of_reports(np.full((2, 3, 2), np.nan), noise(), model()), "there is no report"),
        (lambda: FOLLOWER.update(541, 40.0, -74.0), "no tick"),
        (lambda: FOLLOWER.update(540, 95.0, -74.0), "not a latitude"),
        (lambda: FOLLOWER.belief(539), "not between 540 and 1980"),
        (lambda: FOLLOWER.estimate(600, 0.0), "share"),
        (lambda: (FOLLOWER.update(660, 40.0, -74.0), FOLLOWER.update(660, 40.0, -74.0)), "not after the last"),
        (lambda: Follower(model(), CoordinateNoise("1/km")), "no projection"),
        (lambda: Follower(model(), sf.mechanisms.geometric(sf.Space.numbers(range(3)), 1.0)), "lead from places"),
        (
            lambda: Follower(
                model(),
                (lambda s: sf.Mechanism(np.eye(len(s)), s, s))(
                    sf.Grid.covering("2 km x 2 km around 48.85,2.35", shape=(2, 2))
                ),
            ),
            "does not serve 4 of the 4",
        ),
    ],
)
def test_bad_input_is_explained(call, message):
    with pytest.raises((InputError, DataError), match=message):
        call()
