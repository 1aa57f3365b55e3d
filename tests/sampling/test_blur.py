"""Points: single ones are drawn as arrays are, outside ones are moved or refused, and processes share no words."""

import os
import pickle

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.geo import Lattice
from tests.geo.test_lattice import KINDS, REGION, points_of


def mechanism_on(places, seed=0):
    rows = np.random.default_rng(seed).dirichlet(np.ones(len(places)), len(places))
    return sf.Mechanism(rows, places)


@pytest.mark.parametrize("kind", KINDS)
def test_single_points_are_drawn_from_the_same_words_as_arrays(kind):
    mechanism = mechanism_on(Lattice.covering(REGION, "1 km", kind=kind))
    lat, lon = points_of("8 km x 6 km around 48.85,2.35", 100, seed=1)
    for outside in ("error", "nearest"):
        one, many = sf.simulator(mechanism, seed=5), sf.simulator(mechanism, seed=5)
        for point in zip(lat.tolist(), lon.tolist(), strict=True):
            single = one.blur(*point, outside=outside)
            assert single.shape == (2,)
            np.testing.assert_array_equal(single, many.blur([point[0]], [point[1]], outside=outside)[0])


def test_single_points_with_two_words_a_draw():
    lattice = Lattice.covering(REGION, "2 km")
    rows = np.full((len(lattice), 2), 0.5)
    rows[0] = 2.0**-70, 1 - 2.0**-70
    mechanism = sf.Mechanism(rows, lattice, sf.Space("ab", [[48.0, 2.0], [49.0, 3.0]], crs="EPSG:4326"))
    assert mechanism.bits == 126
    one, many = sf.simulator(mechanism, seed=2), sf.simulator(mechanism, seed=2)
    for _ in range(100):
        np.testing.assert_array_equal(one.blur(48.85, 2.35), many.blur([48.85], [2.35])[0])


@pytest.mark.parametrize(
    "places",
    [sf.Grid.covering(REGION, cell="2 km"), sf.Hexagons.covering(REGION, "2 km")],
    ids=["grid", "hexagons"],
)
def test_points_of_cells(places):
    keep = sf.Mechanism(np.eye(len(places)), places)
    sampler = sf.sampler(keep)
    centre = places.latlon[3]
    np.testing.assert_allclose(sampler.blur(*map(float, centre)), centre)
    with pytest.raises(InputError, match="1 of 1 points are not served") as caught:
        sampler.blur(0.0, 0.0)
    assert "outside='nearest'" in caught.value.hint
    moved = sampler.blur([0.0, 60.0], 2 * [2.35], outside="nearest")
    assert (places.locate(*moved.T) >= 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_points_outside_are_reported_as_if_on_the_border(kind):
    lattice = Lattice.covering(REGION, "1 km", kind=kind)
    sampler = sf.sampler(sf.Mechanism(np.eye(len(lattice)), lattice))
    for point in ((48.85, 9.0), (49.9, 2.35), (-48.85, -177.65), (90.0, 0.0)):
        assert lattice.projection.forward(*sampler.blur(*point, outside="nearest")).shape == (1, 2)
        with pytest.raises(InputError, match="not served"):
            sampler.blur(*point)
    reports = sampler.blur(np.full(500, 48.85), np.full(500, 9.0), outside="nearest")
    xy = lattice.projection.forward(*reports.T)
    assert lattice.convex_part is not None
    east = lattice.convex_part.corners[:, 0].max()
    assert xy[:, 0].min() >= east - 1500
    assert xy[:, 0].mean() == pytest.approx(east, abs=300)  # rounding keeps the mean; by chance: 2e-39 (Hoeffding)
    with pytest.raises(InputError, match="outside='drop' is unknown"):
        sampler.blur(48.85, 2.35, outside="drop")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the latitude first: the other way round it is served"):
        sampler.blur(2.35, 48.85)
    for bad in (np.nan, np.inf, 91.0):
        for outside in ("error", "nearest"):
            with pytest.raises(InputError, match=r"not served by .* which is not a latitude and a longitude"):
                sampler.blur(bad, 2.35, outside=outside)
            with pytest.raises(InputError, match=r"not served by .* which is not a latitude and a longitude"):
                sampler.blur([bad, 48.85], [2.35, 2.35], outside=outside)


def test_whole_numbers_are_numbers():
    lattice = Lattice.covering("300 km x 300 km around 48.5,2.5", "50 km")
    assert sf.sampler(mechanism_on(lattice)).blur(48, 2).shape == (2,)
    assert sf.sampler(mechanism_on(lattice)).blur(np.float64(48), np.float64(2)).shape == (2,)
    assert sf.sampler(mechanism_on(lattice)).blur([], []).shape == (0, 2)


def test_numbers_beyond_floats_are_refused():
    sampler = sf.sampler(mechanism_on(Lattice.covering(REGION, "2 km")))
    for bad in (10**400, [10**400], "x", None, 1j):
        with pytest.raises(InputError):
            sampler.blur(bad, 2.35)  # type: ignore[arg-type]


def test_samplers_that_have_drawn_can_be_sent_to_other_processes():
    lattice = Lattice.covering(REGION, "2 km")
    sampler = sf.sampler(mechanism_on(lattice))
    sampler.blur(48.85, 2.35)
    assert pickle.loads(pickle.dumps(sampler)).blur(48.85, 2.35).shape == (2,)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_processes_that_fork_share_no_words():
    """The same report twenty times in parent and child has a chance of 20**-20 or so."""
    lattice = Lattice.covering(REGION, "1 km")
    sampler = sf.sampler(sf.Mechanism(np.full((len(lattice), len(lattice)), 1 / len(lattice)), lattice))
    sampler.blur(48.85, 2.35)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, np.array([sampler.blur(48.85, 2.35) for _ in range(20)]).tobytes())
        os._exit(0)
    here = np.array([sampler.blur(48.85, 2.35) for _ in range(20)])
    there = np.frombuffer(os.read(reader, here.nbytes)).reshape(here.shape)
    os.waitpid(child, 0)
    os.close(reader)
    os.close(writer)
    assert not np.array_equal(here, there)
