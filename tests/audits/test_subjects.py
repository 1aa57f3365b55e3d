"""Audits of places say whom they are about: of any two points, of cells, and in lengths that people know."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.core import Metric
from sfumato.geo import Lattice

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
