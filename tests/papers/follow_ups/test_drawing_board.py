"""The drawing board: its measures by integration and enumeration, and the published table's arithmetic."""

from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.attacks import blind, optimal
from sfumato.errors import DataError, InputError
from sfumato.geo import Region
from sfumato.leakage import conditional_entropy_bits
from sfumato.mechanisms import (
    coin_of_distortion,
    exponential,
    geometric_median,
    rate_distortion_of_loss,
    remap_mechanism,
)
from sfumato_papers.follow_ups import means
from sfumato_papers.follow_ups.aipo import ROME
from sfumato_papers.follow_ups.drawing_board import (
    CIRCLE,
    COIN,
    EXPONENTIAL,
    EXPOST,
    GAUSSIAN,
    LAPLACE,
    LEVELS_KM,
    PUBLISHED,
    PUBLISHED_COIN,
    PUBLISHED_PRIOR_BITS,
    bits_below,
    cap_loss,
    describe_city,
    measure_level,
    of_mechanism,
    of_noise,
    town,
)
from sfumato_papers.follow_ups.regions import VisitedPlaces, spots
from tests.thinned import thinned

# Nobody is ever at the third place.
THREE = sf.Prior(sf.Space(("a", "b", "c"), [[0.0, 0.0], [800.0, 0.0], [300.0, 300.0]], "m"), [0.7, 0.3, 0.0])
KM = THREE.space.metric("euclidean", unit="km")

HOUSES = np.random.default_rng(5).uniform(0, 4000, (9, 2))
TOWN = sf.Space(range(9), HOUSES, "m")
PEOPLE = sf.Prior(TOWN, np.array([5, 0, 1, 7, 2, 9, 3, 1, 4]) / 32)
TOWN_KM = TOWN.metric("euclidean", unit="km")


def bits(p):
    return -float((p[p > 0] * np.log2(p[p > 0])).sum())


def test_the_published_table_says_what_the_paper_concludes():
    rows = [(name, *pair) for name, pairs in PUBLISHED.items() for pair in pairs]
    better = bits_below([*rows, *((COIN, *pair) for pair in PUBLISHED_COIN)])
    assert len(better) == 11 * 4 + 4 - 1  # Laplace at 5 km loses more than ExPost ever does
    assert min(better.values()) > 0
    gains = [1 - lost / level for level, (lost, _) in zip(LEVELS_KM, PUBLISHED[LAPLACE], strict=True)]
    assert gains[LEVELS_KM.index(1.0)] == pytest.approx(0.25, abs=0.005)
    assert gains[LEVELS_KM.index(0.3)] == min(gains) < 0.18
    assert gains[LEVELS_KM.index(5.0)] > 0.5
    # The coin's entropy is its loss over the blind error, times about the entropy of the prior.
    slopes = [entropy / lost for lost, entropy in PUBLISHED_COIN]
    np.testing.assert_allclose(slopes, slopes[0], rtol=1e-3)
    assert PUBLISHED_PRIOR_BITS / slopes[0] == pytest.approx(4.01, abs=0.01)


def test_the_table_of_rome_has_half_as_much_more_for_aipo_in_the_middle():
    more = np.array(ROME["AIPO"]) / np.array(ROME["LP"]) - 1
    np.testing.assert_allclose(more[[0, -1]], [0.153, 0.383], atol=1e-3)
    assert more.max() == pytest.approx(0.529, abs=1e-3)  # between 15 and 38 % at the ends only
    assert 1 - np.mean(ROME["AIPO"]) / np.mean(ROME["EM"]) == pytest.approx(0.58, abs=0.01)


@pytest.mark.parametrize(
    ("name", "level"), thinned([(LAPLACE, 0.5), (GAUSSIAN, 0.7), (CIRCLE, 0.6), (CIRCLE, 0.2)], 2)
)
def test_simulated_noise_agrees_with_integration(name, level):
    """Two places: the best point is the likelier one, and the loss 0.8 km times the smaller posterior."""
    step = 0.01
    x, y = np.meshgrid(np.arange(-6, 6.8, step) + step / 2, np.arange(-6, 6, step) + step / 2, indexing="ij")
    parts = []
    for centre, weight in ((0.0, 0.7), (0.8, 0.3)):
        r = np.hypot(x - centre, y)
        if name == LAPLACE:
            density = (2 / level) ** 2 / (2 * np.pi) * np.exp(-2 / level * r)
        elif name == GAUSSIAN:
            variance = level**2 / (np.pi / 2)
            density = np.exp(-(r**2) / (2 * variance)) / (2 * np.pi * variance)
        else:
            density = (r <= 1.5 * level) / (np.pi * (1.5 * level) ** 2)
        parts.append(weight * density * step**2)
    joint = np.array(parts)
    assert joint.sum() == pytest.approx(1, abs=2e-3)
    total = joint.sum(axis=0)
    loss = 0.8 * joint.min(axis=0).sum()
    entropy = (
        -(joint[joint > 0] * np.log2(joint[joint > 0])).sum()
        + (total[total > 0] * np.log2(total[total > 0])).sum()
    )
    found = [of_noise("", name, level, THREE, KM, samples=4_000, seed=seed) for seed in range(5)]
    (mean,) = means(found)
    assert mean.loss_before_km == level
    room = mean.loss_km.width + 1e-3, mean.entropy_bits.width + 3e-3
    assert mean.loss_km.value == pytest.approx(loss, abs=room[0])
    assert mean.entropy_bits.value == pytest.approx(entropy, abs=room[1])
    assert mean.loss_km.width < 0.03
    if level == 0.2:  # circles that do not meet betray the place
        assert (mean.loss_km.value, mean.entropy_bits.value) == pytest.approx((0, 0), abs=1e-12)


def test_much_noise_tells_nothing():
    centre = geometric_median(HOUSES, PEOPLE.probabilities)
    found = of_noise("", GAUSSIAN, 1e5, PEOPLE, TOWN_KM, samples=50, seed=1)
    assert found.loss_km == pytest.approx(centre.total.value / 1000, rel=1e-3)
    assert found.entropy_bits == pytest.approx(PEOPLE.entropy_bits, abs=1e-3)
    assert found.loss_km < 0.01 * found.loss_before_km


def test_a_mechanism_is_measured_report_by_report():
    mechanism = exponential(TOWN, TOWN_KM, 3.0)
    found = of_mechanism("", "any", 1.0, mechanism, PEOPLE, TOWN_KM)
    joint = PEOPLE.probabilities[:, None] * mechanism.matrix
    loss = sum((geometric_median(HOUSES, column).total.value for column in joint.T), start=0.0) / 1000
    entropy = sum(column.sum() * bits(column / column.sum()) for column in joint.T)
    assert found.loss_before_km == pytest.approx((joint * TOWN_KM.array).sum())
    assert found.loss_km == pytest.approx(loss, rel=1e-5)
    assert found.entropy_bits == pytest.approx(entropy, rel=1e-9)
    # In the plane the best point can only be better than the best place.
    assert found.loss_km <= remap_mechanism(mechanism, PEOPLE, TOWN_KM).expected_loss(PEOPLE, TOWN_KM) + 1e-12


@pytest.mark.parametrize("level", [0.3, 1.0, 2.0])
def test_after_the_best_remap_the_best_attacker_errs_by_the_loss(level):
    """The average error cannot rank mechanisms, and entropy can: ExPost leaves most of it."""
    town = exponential(TOWN, TOWN_KM, 4 / level)
    moved = remap_mechanism(town, PEOPLE, TOWN_KM)
    lost = moved.expected_loss(PEOPLE, TOWN_KM)
    assert optimal(moved, PEOPLE, TOWN_KM).error == pytest.approx(lost, rel=1e-12)
    expost = rate_distortion_of_loss(PEOPLE, TOWN_KM, lost)
    assert optimal(expost.mechanism, PEOPLE, TOWN_KM).error == pytest.approx(lost, rel=1e-4)
    coin = coin_of_distortion(PEOPLE, TOWN_KM, lost)
    assert optimal(coin, PEOPLE, TOWN_KM).error == pytest.approx(lost, rel=1e-6)
    entropies = [conditional_entropy_bits(each, PEOPLE) for each in (expost.mechanism, moved, coin)]
    assert entropies[0] >= entropies[1] - 1e-4
    assert entropies[0] > entropies[2]


@pytest.fixture(scope="module")
def board():
    places = VisitedPlaces("a town", PEOPLE)
    return [*measure_level(places, 0.5, 2, 200)["board"], *describe_city(places)["board"]]


def test_mechanisms_of_a_small_town(board):
    assert [each.mechanism for each in board] == [
        *(EXPOST, EXPONENTIAL, LAPLACE, LAPLACE, GAUSSIAN, GAUSSIAN, CIRCLE, CIRCLE),
        *(COIN, COIN, COIN),  # of 0.5, 1 and 1.5 km: nobody errs by 2 km
    ]
    most = blind(PEOPLE, TOWN_KM).error
    assert 1.5 < most < 2
    for each in board:
        assert 0 < each.loss_km <= min(each.loss_before_km, most) * (1 + 1e-6)
        assert 0 < each.entropy_bits < PEOPLE.entropy_bits
        if each.error_km is not None:
            assert each.error_km == pytest.approx(each.moved_km, rel=1e-9)
            assert each.loss_km <= each.moved_km * (1 + 1e-6)
    assert board[0].loss_km > 0.99 * board[0].loss_before_km


def test_means_have_intervals_where_something_was_simulated(board):
    found = means(board)
    assert len(found) == 8
    laplace = next(each for each in found if each.mechanism == LAPLACE)
    pair = [each.entropy_bits for each in board if each.mechanism == LAPLACE]
    assert laplace.entropy_bits.value == pytest.approx(sum(pair) / 2)
    assert laplace.entropy_bits.width == pytest.approx(12.706 * abs(pair[0] - pair[1]), rel=1e-3)  # Student, 1
    assert all(each.loss_km.width == 0 for each in found if each.mechanism in (EXPOST, COIN))


def test_a_limit_of_the_worst_loss_costs_entropy():
    made: Any = cap_loss(VisitedPlaces("a town", PEOPLE), 2.0)["board-limited"]
    (row,) = made
    assert row.largest_km <= 1.5 < TOWN_KM.diameter
    assert 0 < row.entropy_bits < row.unlimited_bits + 1e-6


def test_optima_of_one_program_have_other_entropies():
    """On 5 x 5 cells all optima force their loss as an error; ExPost leaves most of all mechanisms."""
    rows: Any = town(2)["board-town"]
    for lost in {row.loss_asked for row in rows}:
        own = {row.mechanism: row for row in rows if row.loss_asked == lost}
        for row in own.values():
            assert row.error == pytest.approx(lost, rel=1e-4)
            assert row.loss == pytest.approx(lost, rel=1e-4)
            assert row.entropy_bits <= own[EXPOST].entropy_bits + 1e-4
        assert own["simplex"].entropy_bits < own["interior point"].entropy_bits


def test_bits_below_reads_the_chord():
    found = [(EXPOST, 1.0, 2.0), (EXPOST, 3.0, 6.0), (LAPLACE, 1.5, 2.5), (LAPLACE, 3.5, 2.5), (COIN, 2.0, 1.0)]
    assert bits_below(found) == {2: 0.5, 4: 3.0}
    with pytest.raises(InputError, match="ExPost is not among"):
        bits_below(found[2:])


def test_spots():
    visits = sf.Visits([40.0, 40.00001, 40.01, 40.01, 40.02, 50.0], [-30.0, -30.0, -30.0, -30.0, -30.01, 9.0])
    region = Region.parse("8 km x 6 km around 40.01,-30")
    prior = spots(visits, region, 2)
    assert prior.space.labels == ("40.0000,-30.0000", "40.0100,-30.0000")
    np.testing.assert_allclose(prior.probabilities, 0.5)
    assert prior.space.metric("euclidean", unit="m").array[0, 1] == pytest.approx(1110, abs=2)
    assert len(spots(visits, region, 50)) == 3
    with pytest.raises(InputError, match="nothing to hide"):
        spots(visits, region, 1)
    with pytest.raises(DataError, match="one spot"):
        spots(visits, Region.parse("1 km x 1 km around 40.02,-30.01"), 5)


@pytest.mark.parametrize(
    ("name", "prior"), [("fog", PEOPLE), (LAPLACE, sf.Prior.uniform(sf.Space("abc")))], ids=["fog", "no plane"]
)
def test_noise_that_cannot_be_simulated(name, prior):
    with pytest.raises(InputError):
        of_noise("", name, 1.0, prior, TOWN_KM, samples=9, seed=0)
