"""Lattices: every point is rounded to the vertices around it, so that it stays where it is on average."""

import csv
import json
import math
import pickle
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import DataError, InputError, UnitError
from sfumato.geo import Lattice, Projection, Region, Visits, places_from
from sfumato.geo.vertices import SNAP_BITS, Kind, spline_weights
from sfumato_papers.invented_city import invented_city
from tests.sampling.test_sampler import BY_CHANCE, chance

REGION = "8 km x 6 km around 48.85,2.35"
KINDS: tuple[Kind, ...] = ("square", "triangular")


def _first(words, count):
    return words[:count]


def centres(lattice):
    return lattice.coordinates


def points_of(region, n, seed=0):
    area, rng = Region.parse(region), np.random.default_rng(seed)
    return rng.uniform(area.south, area.north, n), rng.uniform(area.west, area.east, n)


@st.composite
def lattices(draw):
    """A lattice of some vertices, possibly with bays and islands."""
    kind, seed = draw(st.sampled_from(KINDS)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    whole = Lattice.covering(
        f"{draw(st.floats(0.5, 9)):.3f} km x {draw(st.floats(0.5, 9)):.3f} km around "
        f"{draw(st.floats(-60, 60)):.4f},{draw(st.floats(-170, 170)):.4f}",
        draw(st.floats(300, 2000)),
        kind=kind,
    )
    pieces = whole.pieces
    kept = np.unique(pieces[rng.random(len(pieces)) < draw(st.floats(0.05, 1))])
    if not len(kept):
        kept = np.unique(pieces[:1])
    return Lattice(whole.vertices[kept], whole.spacing_m, whole.origin, str(whole.crs), kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spacing", ["1 km", "700 m", 450])
def test_it_serves_the_whole_region_with_no_vertex_too_many(kind, spacing):
    lattice = Lattice.covering(REGION, spacing, kind=kind)
    assert lattice.inside(*points_of(REGION, 5000)).all()
    area = Region.parse(REGION)
    assert lattice.inside([area.south, area.north] * 2, [area.west, area.east, area.east, area.west]).all()
    assert np.unique(lattice.pieces).size == len(lattice)  # each vertex is needed by a piece
    far = Region.around(48.85, 2.35, "14 km", "12 km")
    assert not lattice.inside([far.south, far.north, 0, 89], [far.west, far.east, 0, -170]).any()


@settings(max_examples=20)
@given(lattices())
def test_points_stay_where_they_are_on_average(lattice):
    corners = centres(lattice)[lattice.pieces]
    mix = np.random.default_rng(1).dirichlet(np.ones(corners.shape[1]), len(corners))
    xy = (mix[:, :, None] * corners).sum(axis=1)
    lat, lon = lattice.projection.inverse(xy).T
    rounding = lattice.rounding(lat, lon)
    np.testing.assert_allclose(rounding.shares.sum(axis=1), 1, atol=1e-15)
    assert (rounding.shares >= 0).all()
    inside = rounding.inside
    if lattice.kind == "triangular":
        assert inside.all()
    mean = (rounding.shares[inside, :, None] * centres(lattice)[rounding.positions[inside]]).sum(axis=1)
    np.testing.assert_allclose(mean, xy[inside], atol=lattice.spacing_m * 2.0**-SNAP_BITS + 1e-6)


def test_spline_weights_are_exact_integers():
    one = 2**SNAP_BITS
    for offset in (-one // 2, -12345, 0, 1, 77777, one // 2):
        t = Fraction(offset, one)
        wanted = ((Fraction(1, 2) - t) ** 2 / 2, Fraction(3, 4) - t**2, (Fraction(1, 2) + t) ** 2 / 2)
        found = [Fraction(int(w), 2 ** (2 * SNAP_BITS + 1)) for w in spline_weights(np.array(offset))]
        assert tuple(found) == wanted
        assert sum(found) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_rounding_is_continuous_across_every_border(kind):
    """Two points a hand apart are rounded alike, wherever they are: the weights have no jump."""
    lattice = Lattice.covering(REGION, "1 km", kind=kind)
    rng = np.random.default_rng(3)
    xy = centres(lattice)[lattice.pieces].mean(axis=1).repeat(40, axis=0) + rng.normal(
        0, 400, (40 * len(lattice.pieces), 2)
    )
    aside = xy + rng.normal(0, 0.1, xy.shape)
    dense = []
    for at in (xy, aside):
        rounding = lattice.rounding(*lattice.projection.inverse(at).T)
        found = np.zeros((len(at), len(lattice) + 1))
        np.put_along_axis(found, rounding.positions, rounding.shares, axis=1)
        found[~rounding.inside] = 0
        dense.append(found)
    both = dense[0].any(axis=1) & dense[1].any(axis=1)
    assert both.sum() > 1000
    assert np.abs(dense[0][both] - dense[1][both]).max() < 2e-3


def test_steps_are_those_of_the_whole_lattice():
    """By breadth-first search over a lattice without holes."""
    from scipy.sparse.csgraph import shortest_path

    for kind in KINDS:
        whole = Lattice.covering(REGION, "800 m", kind=kind)
        away = whole.vertices[:, None] - whole.vertices[None]
        diagonal = np.abs(away).min(axis=2) == 1
        if kind == "square":
            near = np.abs(away).max(axis=2) == 1
            weights = np.where(near, np.where(diagonal, math.sqrt(2), 1.0), 0.0)
        else:
            weights = ((np.abs(away).max(axis=2) == 1) & (np.abs(away.sum(axis=2)) <= 1)).astype(float)
            lengths = whole.metric().array[weights > 0]
            np.testing.assert_allclose(lengths, 800, rtol=1e-12)
        np.testing.assert_allclose(shortest_path(weights), whole.steps().array, rtol=1e-12)
        kept = np.unique(whole.pieces[::3])
        holed = Lattice(whole.vertices[kept], 800, whole.origin, str(whole.crs), kind)
        np.testing.assert_array_equal(holed.steps().array, whole.steps().array[np.ix_(kept, kept)])


def test_octile_steps_are_rounded_down():
    steps = Lattice.covering(REGION, "800 m").steps().array
    root = math.isqrt(2 * 10**60)
    vertices = Lattice.covering(REGION, "800 m").vertices
    for i, j in [(0, 13), (3, 40), (5, 60), (0, len(steps) - 1)]:
        dx, dy = np.abs(vertices[i] - vertices[j]).tolist()
        assert Fraction(float(steps[i, j])) <= abs(dx - dy) + min(dx, dy) * Fraction(root, 10**30)


@settings(max_examples=12)
@given(lattices())
def test_a_description_builds_it_again(lattice):
    again = places_from(json.loads(json.dumps(lattice.describe())))
    assert again == lattice
    assert isinstance(again, Lattice)
    np.testing.assert_array_equal(again.vertices, lattice.vertices)
    assert pickle.loads(pickle.dumps(lattice)) == lattice


def test_the_prior_and_the_loss_are_those_of_the_true_points():
    """The expected loss of a mechanism on vertices is the mean distance from true point to report."""
    visits = invented_city()
    for kind in KINDS:
        lattice = Lattice.covering(visits, "900 m", kind=kind, region=visits.region(trim=0.05))
        inside = lattice.inside(visits.lat, visits.lon)
        served = visits.select(inside)
        prior, loss = sf.Prior.from_visits(lattice, visits), lattice.loss(visits)
        rng = np.random.default_rng(0)
        mechanism = sf.Mechanism(rng.dirichlet(np.ones(len(lattice)), len(lattice)), lattice)
        rounding = lattice.rounding(served.lat, served.lon)
        rows = (rounding.shares[:, :, None] * mechanism.matrix[rounding.positions]).sum(axis=1)
        xy = lattice.projection.forward(served.lat, served.lon) / 1000
        distances = np.hypot(*(xy[:, None] - centres(lattice)[None] / 1000).transpose(2, 0, 1))
        assert mechanism.expected_loss(prior, loss) == pytest.approx(
            (rows * distances).sum(axis=1).mean(), rel=1e-12
        )
        assert loss.unit == "km"
        one = next(iter(visits.users())) if visits.user is not None else None
        if one is not None:
            assert lattice.loss(visits, user=one).array.shape == loss.array.shape


def test_only_what_is_near_visits():
    rng = np.random.default_rng(0)
    towns = [(48.80, 2.20), (48.90, 2.45)]
    lat = np.concatenate([town[0] + 0.005 * rng.normal(size=200) for town in towns])
    lon = np.concatenate([town[1] + 0.005 * rng.normal(size=200) for town in towns])
    visits = Visits(lat, lon)
    for kind in KINDS:
        whole, near = (Lattice.covering(visits, "500 m", kind=kind, near=limit) for limit in (None, "600 m"))
        assert len(near) < len(whole) / 4
        assert near.inside(lat, lon).all()
        xy = near.projection.forward(lat, lon)
        at = xy + 599 * np.array([np.cos(np.arange(400)), np.sin(np.arange(400))]).T
        box = whole.inside(*near.projection.inverse(at).T)
        assert near.inside(*near.projection.inverse(at).T)[box].all()


def test_bad_input_is_told():
    with pytest.raises(InputError, match="not positive"):
        Lattice.covering(REGION, "0 m")
    with pytest.raises(InputError, match="at most 10,000"):
        Lattice.covering(REGION, "20 m")
    with pytest.raises(UnitError):
        Lattice.covering(REGION, "5 kg")
    with pytest.raises(InputError, match="kind of lattice"):
        Lattice.covering(REGION, "500 m", kind="hexagonal")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="near= needs visits"):
        Lattice.covering(REGION, "500 m", near="1 km")
    lattice = Lattice.covering(REGION, "1 km")
    with pytest.raises(InputError, match="twice"):
        Lattice([[0, 0], [0, 0]], 1000, (0, 0), str(lattice.crs))
    with pytest.raises(InputError, match="surround no point"):
        Lattice([[0, 0], [0, 1]], 1000, (0, 0), str(lattice.crs))
    with pytest.raises(InputError, match="whole numbers"):
        Lattice([[0.5, 0]], 1000, (0, 0), str(lattice.crs))
    with pytest.raises(DataError, match="falls into what the"):
        sf.Prior.from_visits(lattice, Visits([40.0], [-74.0]))
    with pytest.raises(InputError, match="same plane"):
        lattice.loss(invented_city(), observables=sf.Space("ab"))
    assert not lattice.inside([math.nan, 48.85], [2.35, math.inf]).any()
    with pytest.raises(InputError, match="contradicts itself"):
        places_from({**lattice.describe(), "runs": [[1, 0, 4], [0, 0, 4], [2, 0, 4]]} | {"extra": 1})
    damaged = lattice.describe()
    del damaged["runs"]
    with pytest.raises(InputError, match="incomplete or damaged"):
        places_from(damaged)
    assert Projection.from_crs(str(lattice.crs)).stretch(0) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_vertices_are_drawn_with_their_weights(kind):
    """All integers of a draw are tried: as many lead to each vertex as its weight says, up to their rounding."""
    lattice = Lattice.covering(REGION, "1 km", kind=kind)
    lat, lon = points_of(REGION, 6, seed=2)
    rounding = lattice.rounding(lat, lon)
    for point in range(len(lat)):
        here = np.repeat(lat[point], 4096), np.repeat(lon[point], 4096)
        spread = np.arange(64, dtype=np.uint64) << np.uint64(58)
        first, second = np.meshgrid(spread, spread)
        pairs = np.stack([first.ravel(), second.ravel()], axis=1).ravel()
        words = pairs if kind == "square" else np.arange(4096, dtype=np.uint64) << np.uint64(52)
        drawn = lattice.draw_secrets(*here, partial(_first, words))
        shares = np.bincount(drawn, minlength=len(lattice)) / 4096
        wanted = np.zeros(len(lattice))
        wanted[rounding.positions[point]] = rounding.shares[point]
        np.testing.assert_allclose(shares, wanted, atol=0.05)
        assert set(np.flatnonzero(shares)) <= set(rounding.positions[point])


def test_a_vertex_itself_is_drawn_exactly():
    """On a triangular lattice a vertex stays where it is; on a square one it moves to a neighbour with 1 of 4."""
    lattice = Lattice.covering(REGION, "1 km", kind="triangular")
    middle = lattice.pieces[len(lattice.pieces) // 2][0]
    lat, lon = lattice.projection.inverse(centres(lattice)[[middle]])[0]
    ends = np.array([0, 2**64 - 1], dtype=np.uint64)
    assert (lattice.draw_secrets([lat, lat], [lon, lon], lambda count: ends[:count]) == middle).all()


def test_points_outside_are_not_drawn():
    lattice = Lattice.covering(REGION, "1 km")
    zeros = np.zeros(10, dtype=np.uint64)
    assert lattice.draw_secrets([48.85, 0.0], [2.35, 0.0], lambda count: zeros[:count]).tolist()[1] == -1


def test_blurred_points_are_spread_as_the_mechanism_says():
    """One point, many reports: their frequencies are those of the rounded rows."""
    lattice = Lattice.covering("2 km x 2 km around 48.85,2.35", "1 km")
    rows = np.random.default_rng(0).dirichlet(np.ones(len(lattice)), len(lattice))
    mechanism = sf.Mechanism(rows, lattice)
    lat, lon = 48.8521, 2.3537
    simulator = sf.simulator(mechanism, seed=3)
    reports = simulator.blur(np.full(40_000, lat), np.full(40_000, lon))
    rounding = lattice.rounding(lat, lon)
    wanted = (rounding.shares[0][:, None] * mechanism.matrix[rounding.positions[0]]).sum(axis=0)
    found = np.array([(np.abs(reports - place).max(axis=1) < 1e-7).mean() for place in lattice.latlon])
    assert (np.abs(found - wanted) < 5 * np.sqrt(wanted / 40_000) + 1e-9).all()
    assert sf.sampler(mechanism).blur(lat, lon).shape == (2,)
    assert simulator.blur([[lat, lat]], [[lon, lon]]).shape == (1, 2, 2)
    with pytest.raises(InputError, match="not served"):
        simulator.blur(0.0, 0.0)
    with pytest.raises(InputError, match="not places"):
        sf.sampler(sf.Mechanism(np.eye(2))).blur(lat, lon)


def test_a_release_rounds_points_at_random(tmp_path):
    """Reports of one place are spread as rounding and mechanism say together; a nearest vertex would show."""
    lattice = Lattice.covering("2 km x 2 km around 48.85,2.35", "1 km")
    keep = sf.Mechanism(np.eye(len(lattice)), lattice)  # reports the vertex: what is left is the rounding
    visits = Visits(np.full(60_000, 48.8521), np.full(60_000, 2.3537))
    sf.release(keep, visits, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open() as file:
        labels = [row["label"] for row in csv.DictReader(file)]
    found = np.bincount(lattice.positions(labels), minlength=len(lattice))
    assert found.sum() == 60_000
    rounding = lattice.rounding(48.8521, 2.3537)
    wanted = np.zeros(len(lattice))
    wanted[rounding.positions[0]] = rounding.shares[0]
    assert chance(found, wanted) > BY_CHANCE


def test_a_release_moves_points_outside_where_that_keeps_the_promise(tmp_path):
    lattice = Lattice.covering("2 km x 2 km around 48.85,2.35", "500 m")
    keep = sf.Mechanism(np.eye(len(lattice)), lattice)
    visits = Visits([48.85, 48.95, -30.0], [2.35, 2.36, 150.0])
    done = sf.release(keep, visits, tmp_path / "out.csv", outside="nearest", within="20000 km", allow=0.7)
    assert (done.rows, done.moved) == (3, 2)
    with (tmp_path / "out.csv").open() as file:
        reports = np.array([(float(row["latitude"]), float(row["longitude"])) for row in csv.DictReader(file)])
    xy = lattice.projection.forward(*reports.T)
    assert xy[1, 1] >= 500  # within a step of the north side
    assert np.abs(xy[2]).max() <= 1000  # from beyond the antipode's side: as if at the centre
    bay = Lattice(lattice.vertices[:-1], 500, lattice.origin, str(lattice.crs))
    with pytest.raises(InputError, match=r"not convex.*break the guarantee"):
        sf.release(
            sf.Mechanism(np.eye(len(bay)), bay), Visits([48.85], [2.35]), tmp_path / "o.csv", outside="nearest"
        )


@pytest.mark.parametrize(
    "changes",
    [
        {"runs": [[0, math.inf, 2]]},
        {"runs": [[10**30, 0, 2], [0, 0, 3]]},
        {"runs": [[0.5, 0, 2.7], [1, 0, 2], [2, 0, 2]]},
        {"runs": [[0, 0, 2], [1, 0, 2], [2, 0, 2], [2**20, 0, 2], [0, 2**20 - 1, 2**20]]},
        {"spacing_m": 10**400},
        {"origin_m": [10**400, 0]},
        {"origin_m": ["a", "b"]},
        {"origin_m": [math.nan, 0]},
        {"origin_m": [[1], [2]]},
    ],
)
def test_damaged_descriptions_are_refused(changes):
    with pytest.raises(InputError):
        places_from({**Lattice.covering(REGION, "2 km").describe(), **changes})


@pytest.mark.parametrize("vertices", [[[-(2**63), 0], [0, 0], [1, 0]], [["a", "b"]], [[0, 0], [1]]])
def test_vertices_that_are_no_small_integers_are_refused(vertices):
    with pytest.raises(InputError):
        Lattice(vertices, 1000, (0, 0), str(Lattice.covering(REGION, "2 km").crs))


def test_more_wrong_arguments():
    with pytest.raises(InputError, match="to visits is not positive"):
        Lattice.covering(invented_city(), "2 km", near=-5)
    lattice = Lattice.covering(REGION, "2 km")
    mechanism = sf.Mechanism(
        np.full((len(lattice), 1), 1.0), lattice, sf.Space([0], [[0.0, 0.0]], crs="EPSG:4326")
    )
    with pytest.raises(InputError, match="latitudes of shape"):
        sf.sampler(mechanism).blur([48.85, 48.85], [2.35] * 3)


@pytest.mark.parametrize(
    ("spacing", "words"),
    [(5e-324, "cannot be distinguished"), (1e-30, "cannot be distinguished"), (1.7e308, "km from the centre")],
)
@pytest.mark.parametrize("kind", ["square", "triangular"])
def test_spacings_at_the_ends_of_the_floats(spacing, words, kind):
    vertices = [(a, b) for a in range(4) for b in range(4)]
    with pytest.raises(InputError, match=words):
        Lattice(vertices, spacing, (1000.0, -1000.0), Projection(48.85, 2.35).crs, kind)


@pytest.mark.parametrize("kind", ["square", "triangular"])
def test_a_sublattice_is_a_lattice_of_its_vertices_that_is_coarser(kind):
    lattice = Lattice.covering("3 km x 2 km around 48.85,2.35", "250 m", kind=kind)
    found = lattice.sublattice(2)
    assert len(found) == pytest.approx(len(lattice) / 4, rel=0.2)
    steps = lattice.steps().array[np.ix_(found.indices, found.indices)]
    np.fill_diagonal(steps, np.inf)
    assert steps.min(axis=1) == pytest.approx(2)
    with pytest.raises(InputError, match="step=0 is not a whole number"):
        lattice.sublattice(0)
