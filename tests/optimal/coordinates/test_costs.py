"""The costs at corners: no report in between is cheaper, and they are near the true ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.optimal.coordinates.costs import KINDS, Mesh, lower_costs, true_costs


@given(st.integers(0, 2**32), st.sampled_from(KINDS), st.integers(6, 120), st.sampled_from([1e-3, 1.0, 1e4]))
@settings(max_examples=20)
def test_no_report_is_cheaper_than_its_corners_on_average(seed, kind, corners, scale):
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(8, 2)) * [5, 2] * scale
    mesh = Mesh.covering(places, corners).quarter(rng.random(1) < 0.5)
    mesh = mesh.quarter(rng.random(len(mesh.triangles)) < 0.3)
    places = np.concatenate([places, mesh.corners[:3]])  # some places are corners
    costs = lower_costs(places, mesh, kind)
    shares = rng.dirichlet(np.full(3, 0.5), size=(5, len(mesh.triangles)))
    shares[0] = 1 / 3
    reports = np.einsum("rtk,tkd->rtd", shares, mesh.corners[mesh.triangles])
    told = np.einsum("rtk,ntk->nrt", shares, costs[:, mesh.triangles])
    true = np.linalg.norm(reports[None] - places[:, None, None], axis=3) ** (1 if kind == "euclidean" else 2)
    assert (told <= true + 1e-12 * true.max()).all()
    assert (costs <= true_costs(places, mesh.corners, kind)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_left_out_is_of_the_second_order(kind):
    rng = np.random.default_rng(2)
    places = rng.random((40, 2)) * 1000
    left_out, sides = [], []
    for corners in (100, 1600):
        mesh = Mesh.covering(places, corners)
        true = np.linalg.norm(places[:, None] - mesh.corners, axis=2)
        lost = (true if kind == "euclidean" else true**2) - lower_costs(places, mesh, kind)
        side = np.ptp(mesh.corners[mesh.triangles[0]][:, 0])
        far = true > 3 * side
        # Half of radius squared over distance, radius squared a third of the side's square, and some room.
        most = side**2 / (6 * true) if kind == "euclidean" else side**2 / 3
        assert (lost[far] <= 1.15 * np.broadcast_to(most, lost.shape)[far]).all()
        left_out.append(lost.mean())
        sides.append(side)
    assert left_out[1] / left_out[0] == pytest.approx((sides[1] / sides[0]) ** 2, rel=0.25)


def test_against_the_best_plane_of_a_triangle():
    """No plane under the distance is much better at the worst corner: a search over all slopes."""
    rng = np.random.default_rng(5)
    angles, radii = np.linspace(0, 2 * np.pi, 721)[:-1], np.linspace(0, 1, 21)
    slopes = np.concatenate([r * np.column_stack([np.cos(angles), np.sin(angles)]) for r in radii])
    from sfumato.optimal.coordinates.costs import _planes

    for _ in range(20):
        mesh = Mesh.covering(rng.random((3, 2)), 4)
        x = rng.random((1, 2)) * 3
        corners = mesh.corners[mesh.triangles]
        ours = _planes(x, mesh, "euclidean")[0]
        far = np.linalg.norm(corners - x, axis=2)
        best = (far[None] - np.einsum("sd,tkd->stk", slopes, corners - x)).max(axis=2).min(axis=0)
        assert ((far - ours).max(axis=1) <= 1.35 * best + 1e-3 * far.max()).all()
