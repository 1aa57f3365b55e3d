"""Hard places: at the edges of lattices and of the Earth, with one visit or many alike, and too fine to fit."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import DataError, InfeasibleError, InputError, UnitError
from sfumato.geo import Lattice
from sfumato.reports import summarise

REGION = "5 km x 4 km around 48.85,2.35"
MAKERS = {
    "square": lambda places: Lattice.covering(places, "1 km"),
    "triangular": lambda places: Lattice.covering(places, "1 km", kind="triangular"),
    "grid": lambda places: sf.Grid.covering(places, "1 km"),
}


@pytest.fixture(params=MAKERS)
def places(request):
    return MAKERS[request.param](REGION)


@pytest.mark.parametrize("spacing", ["1 cm", "1 m", "20 m"])
@pytest.mark.parametrize("kind", ["square", "triangular"])
def test_a_spacing_too_fine_is_refused_with_one_that_fits(spacing, kind):
    with pytest.raises(InputError, match="vertices, but at most 10,000 are possible") as refused:
        Lattice.covering(REGION, spacing, kind=kind)
    least = re.search(r"\((\d+ m) is about the least that fits\)", str(refused.value))
    usual = re.search(r"spacing='(\d+ m)'", str(refused.value))
    assert least
    assert usual
    assert 4000 < len(Lattice.covering(REGION, least[1], kind="square")) <= 10_000
    assert len(Lattice.covering(REGION, usual[1], kind=kind)) < 4000


def test_cells_too_fine_are_refused_with_a_size_that_fits():
    with pytest.raises(InputError, match="cells, but at most 10,000 are possible") as refused:
        sf.Grid.covering(REGION, "1 m")
    least = re.search(r"\((\d+ m) is about the least that fits\)", str(refused.value))
    assert least
    assert 4000 < len(sf.Grid.covering(REGION, least[1])) <= 10_000


@pytest.mark.parametrize(
    ("region", "words"),
    [
        ("8 km x 6 km around -17,179.99", "across the 180th meridian"),
        ("-17.1,179.9,-17,-179.9", "cannot cross the 180th meridian"),
        ("8 km x 6 km around 89.99,10", "over a pole"),
        ("8 km x 6 km around -89.99,10", "over a pole"),
    ],
)
def test_regions_across_the_dateline_or_a_pole_are_refused(region, words):
    with pytest.raises(InputError, match=words):
        Lattice.covering(region, "1 km")


def test_visits_on_both_sides_of_the_dateline_are_refused_with_what_to_do():
    visits = sf.Visits([-17.0, -17.1, -17.05], [179.9, -179.9, 179.95])
    with pytest.raises(InputError, match="take the visits of each side separately"):
        Lattice.covering(visits, "1 km")


@pytest.mark.parametrize("lat", [89.5, -89.5, 85.0, 0.0])
def test_near_a_pole_and_the_equator_a_lattice_is_as_good_as_elsewhere(lat):
    """Distances of the true point against those on the sphere: no stretch of longitudes is left over."""
    lattice = Lattice.covering(f"8 km x 6 km around {lat},10", "2 km")
    rng = np.random.default_rng(0)
    at, on = lattice.projection.inverse(rng.uniform(-2500, 2500, (30, 2))).T
    visits = sf.Visits(at, on, polar=True)
    loss = lattice.loss(visits, unit="m").array
    prior = sf.Prior.from_visits(lattice, visits).probabilities
    points, reports = np.radians(np.column_stack([at, on])), np.radians(lattice.latlon)
    step = np.sin((points[:, None] - reports[None]) / 2) ** 2
    chord = step[..., 0] + np.cos(points[:, None, 0]) * np.cos(reports[None, :, 0]) * step[..., 1]
    sphere = 2 * 6_371_000 * np.arcsin(np.sqrt(chord)).mean(axis=0)
    np.testing.assert_allclose(prior @ loss, sphere, rtol=0.01)


def test_points_that_are_none_are_outside(places):
    wrong = [np.nan, np.inf, -np.inf, 48.85, 48.85, 95.0, 10.0]
    other = [2.35, 2.35, 2.35, np.nan, np.inf, 2.35, 10.0]
    assert not places.inside(wrong, other).any()
    words = iter(range(10**6))
    drawn = places.draw_secrets(wrong, other, lambda n: np.array([next(words) for _ in range(n)], dtype=np.uint64))
    assert (drawn == -1).all()
    assert len(places.inside([], [])) == 0
    with pytest.raises(InputError, match="2 latitudes and 1 longitudes"):
        places.inside([1.0, 2.0], [3.0])


def test_points_on_vertices_and_edges_are_rounded_like_their_neighbours(places):
    corners = places.outlines_latlon().reshape(-1, 2)
    for at in (places.latlon, corners, (corners + np.roll(corners, 1, axis=0)) / 2):
        rounding = places.rounding(*at.T)
        inside = rounding.inside
        assert inside.any()
        np.testing.assert_allclose(rounding.shares[inside].sum(axis=1), 1, atol=1e-12)
        assert (rounding.positions[inside][rounding.shares[inside] > 0] >= 0).all()


def test_the_loss_of_one_visit_is_its_distance(places):
    visits = sf.Visits([48.851], [2.353])
    loss = places.loss(visits, unit="m").array
    xy = places.projection.forward(visits.lat, visits.lon)[0]
    away = np.hypot(*(places.coordinates - xy).T)
    seen = sf.Prior.from_visits(places, visits).support
    np.testing.assert_allclose(loss[seen], np.tile(away, (len(seen), 1)), rtol=1e-12)
    unseen = np.setdiff1d(np.arange(len(places)), seen)
    np.testing.assert_allclose(loss[unseen], places.metric(unit="m").array[unseen], rtol=1e-12)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 5), min_size=1, max_size=8))
def test_equal_visits_weigh_as_many(seed, repeats):
    """Visits repeated k times weigh k times: against the mean of each alone, weighted."""
    lattice = Lattice.covering(REGION, "1 km")
    rng = np.random.default_rng(seed)
    xy = rng.uniform(-1900, 1900, (len(repeats), 2))
    lat, lon = lattice.projection.inverse(xy).T
    together = sf.Visits(np.repeat(lat, repeats), np.repeat(lon, repeats))
    prior, loss = sf.Prior.from_visits(lattice, together).probabilities, lattice.loss(together, unit="m").array
    share = np.array(repeats) / sum(repeats)
    alone = [lattice.rounding([a], [b]) for a, b in zip(lat, lon, strict=True)]
    joint = np.zeros((len(lattice), len(lattice)))
    for weight, point, rounding in zip(share, xy, alone, strict=True):
        away = np.hypot(*(lattice.coordinates - point).T)
        np.add.at(joint, rounding.positions[0], weight * rounding.shares[0][:, None] * away[None])
    np.testing.assert_allclose(prior[:, None] * loss, joint, rtol=1e-9, atol=1e-6)


def test_losses_refuse_what_they_cannot_count(places):
    visits = sf.Visits([48.85, 48.86], [2.35, 2.36])
    with pytest.raises(DataError, match="of 1 visit none falls into"):
        places.loss(sf.Visits([10.0], [10.0]))
    with pytest.raises(InputError, match="the loss 'hamming' is unknown"):
        places.loss(visits, "hamming")
    with pytest.raises(UnitError):
        places.loss(visits, unit="kg")
    with pytest.raises(DataError, match="no user column"):
        places.loss(visits, user="ada")
    with pytest.raises(InputError, match="not places on the same plane"):
        places.loss(visits, observables=sf.Space(["a"]))


def test_a_promise_for_near_secrets_is_refused_for_points():
    visits = sf.Visits([48.85, 48.86], [2.35, 2.36])
    lattice = Lattice.covering(REGION, "1 km")
    metric = lattice.metric(unit="km")
    prior, loss = sf.Prior.from_visits(lattice, visits), lattice.loss(visits)
    near = sf.ThresholdPrivacy(1, metric, "1.2 km")
    with pytest.raises(InputError, match="guarantee nothing for two points"):
        sf.design(prior, loss=loss, guarantees=near)
    made = sf.design(prior, loss=loss, guarantees=sf.MetricPrivacy("1/km", metric), tie_break=False)
    assert "no guarantee per distance for two positions" in summarise(made).markdown()


def test_one_place_hides_nothing_and_is_told_so():
    visits = sf.Visits([48.85] * 3, [2.35] * 3)
    lattice = Lattice.covering(REGION, "1 km")
    prior, loss = sf.Prior.from_visits(lattice, visits), lattice.loss(visits)
    promise = sf.CoordinatePrivacy("1/km")
    with pytest.raises(InfeasibleError, match="all visits are at one place"):
        sf.design(prior, loss=loss, guarantees=[promise, sf.PlaceDistortion("1 m", lattice, visits)])
    made = sf.design(
        prior, loss=loss, guarantees=[promise, sf.PlaceDistortion(0, lattice, visits)], method="table"
    )
    better = sf.optimal.at_medians(made, visits)
    assert better.certificate.holds
    assert better.certificate.loss < 1e-6  # the one place is reported, whatever happens


@pytest.mark.parametrize(("share", "seed"), [("x", 1), (None, 1), (0.5, -1)])
def test_what_cannot_be_held_out_is_refused(share, seed):
    with pytest.raises(InputError):
        sf.Visits([48.85, 48.86], [2.35, 2.36]).held_out(share, seed=seed)


@pytest.mark.parametrize(
    "given",
    [
        pd.DataFrame({"lat": [48.85], "lon": [2.35]}),
        pa.table({"lat": [48.85], "lon": [2.35]}),
        {"lat": [48.85], "lon": [2.35]},
        np.array([[48.85, 2.35]]),
        [(48.85, 2.35)],
        ["nowhere"],
        "visits.csv",
        3,
    ],
    ids=lambda given: type(given).__name__,
)
def test_what_is_no_visits_is_told_how_to_become_visits(places, given):
    with pytest.raises(InputError, match=r"sf\.Visits\(lat, lon\)"):
        sf.Prior.from_visits(places, given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (pd.DataFrame({"lat": [48.85]}), "of type DataFrame"),
        ({"lat": [48.85]}, "of type dict"),
        ("visits.csv", "the text 'visits.csv'"),
    ],
)
def test_columns_keys_and_letters_are_not_taken_for_labels(places, given, said):
    with pytest.raises(InputError, match=said):
        sf.Prior.from_visits(places, given)


def test_users_are_asked_of_visits_only(places):
    with pytest.raises(InputError, match="has no users"):
        places.counts(list(places.labels), user="ann")
