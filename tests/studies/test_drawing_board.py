"""The drawing-board study: its measures by integration and enumeration, and the published table's arithmetic."""

import csv
import math

import numpy as np
import pytest

import sfumato as sf
from sfumato.attacks import blind, optimal
from sfumato.errors import DataError, InputError
from sfumato.leakage import conditional_entropy_bits
from sfumato.mechanisms import coin_of_distortion, exponential, geometric_median, rate_distortion_of_loss, remapped
from sfumato.studies.drawing_board import (
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
    DrawingBoardResults,
    Measure,
    advantage,
    coins,
    figures,
    measures,
    of_mechanism,
    of_noise,
    spots,
)

# Nobody is ever at the third place.
THREE = sf.Prior(sf.Space(("a", "b", "c"), [[0.0, 0.0], [800.0, 0.0], [300.0, 300.0]], "m"), [0.7, 0.3, 0.0])
KM = THREE.space.metric("euclidean", unit="km")

HOUSES = np.random.default_rng(5).uniform(0, 4000, (9, 2))
TOWN = sf.Space(range(9), HOUSES, "m")
PEOPLE = sf.Prior(TOWN, np.array([5, 0, 1, 7, 2, 9, 3, 1, 4]) / 32)
TOWN_KM = TOWN.metric("euclidean", unit="km")


def bits(p):
    return -float((p[p > 0] * np.log2(p[p > 0])).sum())


def published_measures():
    found = [
        Measure(name, level, level, *pair)
        for name, pairs in PUBLISHED.items()
        for level, pair in zip(LEVELS_KM, pairs, strict=True)
    ]
    return found + [Measure(COIN, math.nan, loss, loss, entropy) for loss, entropy in PUBLISHED_COIN]


def test_the_published_table_says_what_the_paper_concludes():
    found = published_measures()
    better = advantage(found)
    assert len(better) == 11 * 4 + 4 - 1  # Laplace at 5 km loses more than ExPost ever does
    assert min(better.values()) > 0
    laplace = {each.level_km: each for each in found if each.mechanism == LAPLACE}
    assert laplace[1.0].gain == pytest.approx(0.25, abs=0.005)
    assert laplace[0.3].gain == min(each.gain for each in laplace.values()) < 0.18
    assert laplace[5.0].gain > 0.5
    # The coin's entropy is its loss over the blind error, times about the entropy of the prior.
    slopes = [entropy / loss for loss, entropy in PUBLISHED_COIN]
    np.testing.assert_allclose(slopes, slopes[0], rtol=1e-3)
    assert PUBLISHED_PRIOR_BITS / slopes[0] == pytest.approx(4.01, abs=0.01)


@pytest.mark.parametrize(("name", "level"), [(LAPLACE, 0.5), (GAUSSIAN, 0.7), (CIRCLE, 0.6), (CIRCLE, 0.2)])
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
    found = of_noise(name, level, THREE, KM, samples=20_000, rng=np.random.default_rng(4))
    assert found.loss_before_km == level
    assert found.loss_km == pytest.approx(loss, abs=3 * found.loss_margin_km + 1e-3)
    assert found.entropy_bits == pytest.approx(entropy, abs=3 * found.entropy_margin_bits + 3e-3)
    assert found.loss_margin_km < 0.01
    if level == 0.2:  # circles that do not meet betray the place
        assert (found.loss_km, found.entropy_bits) == pytest.approx((0, 0), abs=1e-12)


def test_much_noise_tells_nothing():
    centre = geometric_median(HOUSES, PEOPLE.probabilities)
    found = of_noise(GAUSSIAN, 1e5, PEOPLE, TOWN_KM, samples=50, rng=np.random.default_rng(1))
    assert found.loss_km == pytest.approx(centre.total.value / 1000, rel=1e-3)
    assert found.entropy_bits == pytest.approx(PEOPLE.entropy_bits, abs=1e-3)
    assert found.gain > 0.99


def test_a_mechanism_is_measured_report_by_report():
    mechanism = exponential(TOWN, TOWN_KM, 3.0)
    found = of_mechanism("any", 1.0, mechanism, PEOPLE, TOWN_KM)
    joint = PEOPLE.probabilities[:, None] * mechanism.matrix
    loss = sum((geometric_median(HOUSES, column).total.value for column in joint.T), start=0.0) / 1000
    entropy = sum(column.sum() * bits(column / column.sum()) for column in joint.T)
    assert found.loss_before_km == pytest.approx((joint * TOWN_KM.array).sum())
    assert found.loss_km == pytest.approx(loss, rel=1e-5)
    assert found.entropy_bits == pytest.approx(entropy, rel=1e-9)
    # In the plane the best point can only be better than the best place.
    assert found.loss_km <= remapped(mechanism, PEOPLE, TOWN_KM).expected_loss(PEOPLE, TOWN_KM) + 1e-12


@pytest.mark.parametrize("level", [0.3, 1.0, 2.0])
def test_after_the_best_remap_the_best_attacker_errs_by_the_loss(level):
    """The average error cannot rank mechanisms, and entropy can: ExPost leaves most of it."""
    town = exponential(TOWN, TOWN_KM, 4 / level)
    moved = remapped(town, PEOPLE, TOWN_KM)
    lost = moved.expected_loss(PEOPLE, TOWN_KM)
    assert optimal(moved, PEOPLE, TOWN_KM).error == pytest.approx(lost, rel=1e-12)
    expost = rate_distortion_of_loss(PEOPLE, TOWN_KM, lost)
    assert optimal(expost.mechanism, PEOPLE, TOWN_KM).error == pytest.approx(lost, rel=1e-4)
    coin = coin_of_distortion(PEOPLE, TOWN_KM, lost)
    assert optimal(coin, PEOPLE, TOWN_KM).error == pytest.approx(lost, rel=1e-6)
    entropies = [conditional_entropy_bits(each, PEOPLE) for each in (expost.mechanism, moved, coin)]
    assert entropies[0] >= entropies[1] - 1e-4
    assert entropies[0] > entropies[2]


def test_the_study_on_a_small_town():
    found = list(measures(PEOPLE, (0.5, 2.0), samples=400, seed=2)) + list(coins(PEOPLE, (0.5,)))
    assert [each.mechanism for each in found[:5]] == [EXPOST, EXPONENTIAL, LAPLACE, GAUSSIAN, CIRCLE]
    most = blind(PEOPLE, TOWN_KM).error
    for each in found:
        assert 0 < each.loss_km <= min(each.loss_before_km, most) * (1 + 1e-6)
        assert 0 < each.entropy_bits < PEOPLE.entropy_bits
    expost = found[0]
    assert expost.gain < 0.01
    figure = figures(DrawingBoardResults(tuple(found), PEOPLE.entropy_bits, "a town"))["back-to-the-drawing-board"]
    assert len(figure.axes) == 3
    assert figure.axes[0].get_title() == "a town, computed here"
    with pytest.raises(InputError, match="no measures"):
        figures(DrawingBoardResults((), 1.0, "nowhere"))


def test_advantage_reads_the_chord():
    found = [
        Measure(EXPOST, 1.0, 1.0, 1.0, 2.0),
        Measure(EXPOST, 2.0, 2.0, 3.0, 6.0),
        Measure(LAPLACE, 1.0, 1.0, 1.5, 2.5),
        Measure(LAPLACE, 9.0, 9.0, 3.5, 2.5),
        Measure(COIN, math.nan, 2.0, 2.0, 1.0),
    ]
    assert advantage(found) == {(LAPLACE, 1.0): 0.5, (COIN, 2.0): 3.0}
    with pytest.raises(InputError, match="ExPost is not among"):
        advantage(found[2:])


def test_spots():
    visits = sf.Visits([40.0, 40.00001, 40.01, 40.01, 40.02, 50.0], [-30.0, -30.0, -30.0, -30.0, -30.01, 9.0])
    prior = spots(visits, "8 km x 6 km around 40.01,-30", 2)
    assert prior.space.labels == ("40.0000,-30.0000", "40.0100,-30.0000")
    np.testing.assert_allclose(prior.probabilities, 0.5)
    assert prior.space.metric("euclidean", unit="m").array[0, 1] == pytest.approx(1110, abs=2)
    assert len(spots(visits, "8 km x 6 km around 40.01,-30", 50)) == 3
    with pytest.raises(InputError, match="nothing to hide"):
        spots(visits, "8 km x 6 km around 40.01,-30", 1)
    with pytest.raises(DataError, match="one spot"):
        spots(visits, "1 km x 1 km around 40.02,-30.01", 5)


@pytest.mark.parametrize(
    ("name", "samples", "prior"),
    [("fog", 9, PEOPLE), (LAPLACE, 1, PEOPLE), (LAPLACE, 9, sf.Prior.uniform(sf.Space("abc")))],
)
def test_noise_that_cannot_be_simulated(name, samples, prior):
    with pytest.raises(InputError):
        of_noise(name, 1.0, prior, TOWN_KM, samples=samples, rng=np.random.default_rng(0))


def test_example(load_example, tmp_path, capsys):
    example = load_example("back_to_the_drawing_board")
    example.main(["--spot-count", "40", "--levels", "0.5", "1", "4", "--samples", "100", "--out", str(tmp_path)])
    assert "ExPost's entropy at equal loss" in capsys.readouterr().out
    assert (tmp_path / "back-to-the-drawing-board.png").stat().st_size > 50_000
    with open(tmp_path / "back-to-the-drawing-board.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    laplace = next(row for row in rows if row["mechanism"] == LAPLACE and row["level_km"] == "1.0")
    assert (laplace["published_loss_km"], laplace["published_entropy_bits"]) == ("0.7537", "8.792")
    assert next(row for row in rows if row["level_km"] == "4.0")["published_loss_km"] == ""


@pytest.mark.slow
def test_new_york_shows_the_published_pattern(shared_data):
    """Numbers of docs/back-to-the-drawing-board.md, at three levels and with fewer reports."""
    visits = sf.read_visits(shared_data / "gowalla_nyc.parquet")
    prior = spots(visits, "27.7 km x 12 km around 40.745,-73.98", 1000)
    assert prior.entropy_bits == pytest.approx(9.192, abs=1e-3)
    found = list(measures(prior, (0.5, 1.0, 2.0), samples=500))
    table = {(each.mechanism, each.level_km): each for each in found}
    assert table[LAPLACE, 1.0].gain == pytest.approx(0.25, abs=0.06)
    for each in found:
        published = PUBLISHED[each.mechanism][LEVELS_KM.index(each.level_km)]
        assert each.loss_km == pytest.approx(published[0], rel=0.15)
    for key, more in advantage([*found, *coins(prior, (0.5, 1.0))]).items():
        assert more > -(table[key].entropy_margin_bits if key in table else 0.0), key
