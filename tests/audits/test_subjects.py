"""Audits of places say whom they are about: of any two points, of cells, and in lengths that people know."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.core import Metric
from sfumato.errors import DataError, InputError
from sfumato.geo import Lattice
from sfumato.mechanisms.planar import CoordinateNoise

NOTIONS = {
    "differential-privacy": lambda p, q: np.log(p / q).max(),
    "kl-privacy": lambda p, q: (p * np.log(p / q)).sum(),
    "renyi-privacy": lambda p, q: np.log((p**2 / q).sum()),
    "bounded-range": lambda p, q: np.ptp(np.log(p / q)),
}


@pytest.mark.parametrize("kind", ["square", "triangular"])
def test_what_holds_for_any_two_vertices_holds_for_any_two_points(kind):
    """Brute force: points report by mixtures of the vertices' rows, and no two are told apart more."""
    lattice = Lattice.covering("2 km x 2 km around 48.85,2.35", "1 km", kind=kind)
    rng = np.random.default_rng(7)
    rows = rng.dirichlet(np.full(4, 0.4), len(lattice)) + 0.01
    mechanism = sf.Mechanism(rows / rows.sum(axis=1, keepdims=True), lattice)
    found = sf.audit(mechanism)
    assert any("the vertices that points are rounded to at random" in note for note in found.notes)
    lat, lon = lattice.projection.inverse(rng.uniform(-1000, 1000, (60, 2))).T
    rounding = lattice.rounding(lat, lon)
    assert rounding.inside.all()
    rows = (rounding.shares[:, :, None] * mechanism.matrix[rounding.positions]).sum(axis=1)
    pairs = [(p, q) for p in rows for q in rows]
    for key, measured in NOTIONS.items():
        given = {"order": 2} if key == "renyi-privacy" else {}
        assert max(measured(p, q) for p, q in pairs) <= found.find(key, **given).number + 1e-9
    for epsilon in (0.0, 1.0):
        delta = max(np.maximum(p - np.exp(epsilon) * q, 0).sum() for p, q in pairs)
        assert delta <= found.find("delta", epsilon=epsilon).number + 1e-9
    prior = rng.dirichlet(np.ones(60))
    joint = prior[:, None] * rows
    bits = (joint * np.log2(rows / (prior @ rows))).sum()
    masses = (prior[:, None] * rounding.shares).ravel()
    rounded = sf.Prior(lattice, np.bincount(rounding.positions.ravel(), masses, len(lattice)))
    assert bits <= sf.audit(mechanism, prior=rounded).find("mutual-information").number + 1e-9


def test_cells_say_from_where_distances_and_errors_count():
    grid = sf.Grid.covering("3 km x 2 km around 48.85,2.35", cell="1 km")
    rows = np.random.default_rng(7).dirichlet(np.ones(6), 6)
    found = sf.audit(
        sf.Mechanism(rows, grid), prior=sf.Prior.uniform(grid), metric=grid.metric("euclidean", unit="km")
    )
    assert (
        " m, counted between centres of cells, if they guess a centre (about" in found.find("distortion").sentence
    )
    assert "finds your cell at most" in found.find("bayes-vulnerability").sentence
    (note,) = (note for note in found.notes if note.startswith("The secrets are cells."))
    assert "two people a metre apart, on two sides of a border" in note


def test_labels_are_called_secrets():
    found = sf.audit(
        [[0.75, 0.25], [0.25, 0.75]],
        prior=sf.Prior(sf.Space(range(2)), [0.5, 0.5]),
        metric=Metric([[0, 1], [1, 0]]),
    )
    assert "finds the secret at most" in found.find("bayes-vulnerability").sentence
    assert not any("The secrets are" in note for note in found.notes)


@pytest.mark.parametrize("kind", ["square", "triangular"])
def test_the_kind_is_guessed_as_often_as_by_brute_force_over_the_points(kind):
    """With visits as the map: the best guess of a visit's kind from its report, vertices drawn at random."""
    lattice = Lattice.covering("2 km x 2 km around 48.85,2.35", "1 km", kind=kind)
    rng = np.random.default_rng(4)
    rows = rng.dirichlet(np.full(5, 0.4), len(lattice))
    mechanism = sf.Mechanism(rows, lattice)
    lat, lon = lattice.projection.inverse(rng.uniform(-900, 900, (80, 2))).T
    visits, labels = sf.Visits(lat, lon), rng.choice(["bar", "home", "office"], 80, p=[0.2, 0.5, 0.3])
    kinds, prior = lattice.kinds(visits, labels), sf.Prior.from_visits(lattice, visits)
    assert np.array(list(kinds.values())).sum(axis=0) == pytest.approx(np.ones(len(lattice)))
    rounding = lattice.rounding(lat, lon)
    reports = (rounding.shares[:, :, None] * mechanism.matrix[rounding.positions]).sum(axis=1)
    hits = (
        np.array([reports[labels == name].sum(axis=0) for name in ("bar", "home", "office")]).max(axis=0).sum()
        / 80
    )
    entry = sf.audit(mechanism, prior=prior, kinds=kinds).find("kind-vulnerability")
    assert entry.bracket.lower <= hits * (1 + 1e-12)
    assert entry.bracket.upper >= hits * (1 - 1e-12)
    assert entry.number == pytest.approx(hits, rel=1e-9)


def test_a_place_without_points_on_the_map_is_of_no_kind():
    grid = sf.Grid.covering(sf.geo.Region.parse("2 km x 1 km around 48.85,2.35"), shape=(2, 1))
    (lat, lon), far = grid.latlon[0], (10.0, 10.0)
    points = sf.Visits([lat, lat + 1e-4, far[0]], [lon, lon, far[1]])
    kinds = grid.kinds(points, ["bar", "home", "bar"])
    assert {name: shares.tolist() for name, shares in kinds.items()} == {
        "bar": [0.5, 0.0],
        "home": [0.5, 0.0],
        "": [0.0, 1.0],
    }
    with pytest.raises(DataError, match="no place of the map is in the region"):
        grid.kinds(points.select(np.array([2])), ["bar"])


def test_kinds_that_do_not_fit_are_refused():
    bit = sf.Space("ab")
    mechanism, prior = sf.mechanisms.randomised_response(bit, 1), sf.Prior.uniform(bit)
    shares = {"x": [1.0, 0.25], "y": [0.0, 0.75]}
    p, q = mechanism.matrix[0]
    hits = 0.5 * (max(p + 0.25 * q, 0.75 * q) + max(q + 0.25 * p, 0.75 * p))
    assert sf.audit(mechanism, prior=prior, kinds=shares).find("success").number == pytest.approx(hits)
    with pytest.raises(InputError, match="without a prior"):
        sf.audit(mechanism, kinds=shares)
    with pytest.raises(InputError, match="without a prior"):
        sf.audit(CoordinateNoise("1/km"), kinds=shares)
    with pytest.raises(InputError, match="not a distribution"):
        sf.audit(mechanism, prior=prior, kinds={"x": [1.0, 0.25], "y": [0.0, 0.5]})
    with pytest.raises(InputError, match="not a distribution"):
        sf.audit(mechanism, prior=prior, kinds={"x": [1.5, 0.25], "y": [-0.5, 0.75]})
    with pytest.raises(InputError, match="kind 'x'"):
        sf.audit(mechanism, prior=prior, kinds={"x": [1.0, 0.0, 0.0]})
    with pytest.raises(InputError, match="empty"):
        sf.audit(mechanism, prior=prior, kinds={})
    with pytest.raises(InputError, match="without a map of kinds"):
        sf.audit(mechanism, prior=prior, also=["kind-vulnerability"])


def test_an_asymmetric_error_counts_from_the_guess():
    stops, minutes = sf.Space("ab"), [[0, 1], [3, 0]]
    metric = sf.Metric(minutes, "min", symmetric=False)
    audit = sf.audit(sf.Mechanism([[1], [1]], stops, sf.Space("o")), prior=sf.Prior.uniform(stops), metric=metric)
    error = audit.find("distortion")
    assert error.value == 0.5  # always "a": 1 min to "b", half of the time
    assert " min, from the guess to the secret (about 0.5 min with no report)" in error.sentence
