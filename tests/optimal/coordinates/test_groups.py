"""Places that others stand for: what the promise itself says of their losses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.optimal.coordinates.costs import KINDS, Mesh, PlaceGroups


def go_on():
    return False


def costs_of(groups, mesh, kind, epsilon, thresholds):
    found = groups.costs(mesh, kind, epsilon, thresholds, go_on)
    assert found is not None
    return found


def mechanism(rng, places, reports, epsilon):
    """A mechanism that keeps the promise between all places: exponential, with random weights of the reports."""
    apart = np.linalg.norm(places[:, None] - reports, axis=2)
    rows = np.exp(-epsilon / 2 * apart) * rng.dirichlet(np.full(len(reports), 0.3))
    return rows / rows.sum(axis=1, keepdims=True)


@given(st.integers(0, 2**32), st.sampled_from(KINDS), st.sampled_from([0.05, 1.0, 5.0, 60.0]), st.integers(1, 12))
@settings(max_examples=20)
def test_no_mechanism_with_the_promise_loses_less_than_the_costs_say(seed, kind, epsilon, heads):
    rng = np.random.default_rng(seed)
    places, weights = rng.random((12, 2)), rng.dirichlet(np.full(12, 0.5))
    weights[rng.random(12) < 0.2] = 0.0
    weights /= weights.sum()
    reports = rng.dirichlet(np.ones(12), size=40) @ places
    rows = mechanism(rng, places, reports, epsilon)
    far = np.linalg.norm(places[:, None] - reports, axis=2) ** (1 if kind == "euclidean" else 2)
    loss = float(weights @ (rows * far).sum(axis=1))
    groups = PlaceGroups.of(places, weights, heads)
    mesh = Mesh.covering(places, 30)
    corners = mesh.corners[mesh.triangles]
    # Each report is rounded to the corners of a triangle that holds it.
    rounded = np.zeros((40, len(mesh)))
    for k, y in enumerate(reports):
        system = np.concatenate([corners.transpose(0, 2, 1), np.ones((len(corners), 1, 3))], axis=1)
        shares = np.linalg.solve(system, np.array([*y, 1.0])[None, :, None])[..., 0]
        t = int(np.argmax(shares.min(axis=1)))
        assert shares[t].min() > -1e-9
        rounded[k, mesh.triangles[t]] = shares[t]
    for thresholds in (
        np.zeros(12),
        rng.random(12),
        groups.thresholds(rows[groups.heads] @ rounded, mesh, kind, epsilon, go_on),
    ):
        costs, constant = costs_of(groups, mesh, kind, epsilon, thresholds)
        least = constant + float(groups.shares @ (costs * (rows[groups.heads] @ rounded)).sum(axis=1))
        assert least <= loss * (1 + 1e-9) + 1e-12


@pytest.mark.slow
def test_good_thresholds_lose_about_half_of_what_the_factor_does():
    rng = np.random.default_rng(4)
    places, weights = rng.random((200, 2)) * 3, np.full(200, 1 / 200)
    groups, mesh = PlaceGroups.of(places, weights, 40), Mesh.covering(places, 400)
    everyone = PlaceGroups.of(places, weights, 200)
    rows = mechanism(rng, places, mesh.corners, 1.0)
    rows = np.exp(-np.linalg.norm(places[:, None] - mesh.corners, axis=2))
    rows /= rows.sum(axis=1, keepdims=True)

    def told(which, thresholds):
        costs, constant = costs_of(which, mesh, "euclidean", 1.0, thresholds)
        return constant + float(which.shares @ (costs * rows[which.heads]).sum(axis=1))

    whole = told(everyone, np.zeros(200))
    factor = told(groups, np.zeros(200))
    better = told(groups, groups.thresholds(rows[groups.heads], mesh, "euclidean", 1.0, go_on))
    assert factor < better < whole
    assert whole - better < 0.6 * (whole - factor)
    # One factor for all, with the largest radius, is less than either.
    assert factor > whole * np.exp(-groups.away.max())


def test_groups_are_near_and_stand_for_all():
    rng = np.random.default_rng(6)
    places, weights = rng.random((500, 2)), rng.dirichlet(np.ones(500))
    groups = PlaceGroups.of(places, weights, 50)
    assert len(groups.heads) <= 50
    assert groups.shares.sum() == pytest.approx(1)
    assert (groups.member[groups.heads] == np.arange(len(groups.heads))).all()
    apart = np.linalg.norm(places - groups.points[groups.member], axis=1)
    assert (apart <= groups.away).all()
    assert float(weights @ groups.away) < 0.06  # a lattice of 50 points of the square has 0.054
    alone = PlaceGroups.of(places, weights, 500)
    assert not alone.away.any()
    assert (alone.heads == np.arange(500)).all()


def test_what_is_stopped_gives_no_costs_and_thresholds_that_are_right():
    places = np.random.default_rng(2).random((30, 2))
    groups, mesh = PlaceGroups.of(places, np.full(30, 1 / 30), 5), Mesh.covering(places, 20)
    assert groups.costs(mesh, "euclidean", 1.0, np.zeros(30), lambda: True) is None
    rows = np.full((len(groups.heads), len(mesh)), 1 / len(mesh))
    assert not groups.thresholds(rows, mesh, "euclidean", 1.0, lambda: True).any()


def test_of_very_many_places_some_are_looked_at_for_heads():
    rng = np.random.default_rng(4)
    places = np.concatenate([rng.normal(at, 0.01, size=(4000, 2)) for at in ((0, 0), (1, 0), (0, 1))])
    groups = PlaceGroups.of(places, np.full(len(places), 1 / len(places)), 3)
    assert len(groups.heads) == 3
    assert groups.away.max() < 0.1
    assert np.allclose(groups.shares, 1 / 3)
