"""Tables of places: medians against the single solver, windows in each other, arrays and back."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import InputError
from sfumato.geo.true_points import medians
from sfumato.mechanisms import geometric_median
from sfumato.mechanisms.planar import PlaneRemap, RemapWindow
from sfumato.mechanisms.planar.plane_remap import place_shares

STEP = Fraction(2)
EPSILON = 0.002


def town(seed, n=40, spread=400.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) * spread, rng.random(n) ** 3 * (rng.random(n) > 0.2)


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.integers(1, 12), st.sampled_from(["spread", "line", "heavy", "repeated"]))
def test_medians_are_those_of_the_single_solver(seed, n, kind):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    if kind == "line":
        x[:, 1] = 2 * x[:, 0]
    if kind == "repeated":
        x = x[rng.integers(0, n, n)]
    weights = rng.random((7, n)) + (3.0 * (np.arange(n) == 0) if kind == "heavy" else 0)
    found = medians(x, weights, rng.normal(size=(7, 2)), 1e-4)
    for y, w in zip(found, weights, strict=True):
        best = geometric_median(x, w)
        assert (
            w @ np.hypot(*(x - y).T) <= best.total.value + 1e-3 * w.sum()
        )  # the tolerance is aimed at, not proved


def test_targets_are_medians_of_posteriors():
    x, w = town(1)
    table = PlaneRemap.of(x, w, EPSILON, STEP)
    share = w / w.sum()
    rng = np.random.default_rng(2)
    for level, window in enumerate(table.windows):
        centres, targets = window.centres.reshape(-1, 2), window.targets.reshape(-1, 2)
        free = np.flatnonzero(
            ~table.windows[level - 1].holds(np.floor(centres).astype(int))
            if level
            else np.ones(len(centres), bool)
        )
        for cell in rng.choice(free, 12):
            posterior = share * np.exp(-EPSILON * np.hypot(*(x - centres[cell] * 2.0).T))
            best = geometric_median(x, posterior)
            reached = posterior @ np.hypot(*(x - targets[cell]).T)
            assert reached <= best.total.value * (1 + 2e-3) + 1e-3 / EPSILON * posterior.sum()


def test_reports_take_the_finest_window():
    x, w = town(3)
    table = PlaneRemap.of(x, w, EPSILON, STEP)
    inner, middle, outer = table.windows
    assert inner.width * 4 == middle.width * 2 == outer.width == 4 * int(0.1 / EPSILON / 2)
    rng = np.random.default_rng(5)
    reports = rng.integers(-9000, 9000, (3000, 2))
    found = table.places(reports)
    for report, place in zip(reports, found, strict=True):
        window = next((one for one in table.windows if one.holds(report[None])[0]), outer)
        cell = [
            min(max((r - c) // window.width, 0), size - 1)
            for r, c, size in zip(report.tolist(), window.corner.tolist(), window.targets.shape, strict=False)
        ]
        np.testing.assert_array_equal(place, window.targets[tuple(cell)])
    assert {bool(one.holds(reports).any()) for one in table.windows} == {True}
    assert not outer.holds(reports).all()


def test_cells_have_their_middles():
    window = RemapWindow(np.array([-6, 4]), 3, np.zeros((2, 1, 2)))
    np.testing.assert_array_equal(window.centres, [[[-5.0, 5.0]], [[-2.0, 5.0]]])
    assert window.holds(np.array([[-6, 4], [-1, 6], [0, 4], [-6, 7], [-7, 4]])).tolist() == [
        True,
        True,
        *[False] * 3,
    ]


def test_one_place_is_always_told():
    table = PlaneRemap.of([[123.4, -5.6]], [2.0], EPSILON, STEP)
    reports = np.array([[0, 0], [10**6, 4], [-300, 77]])
    np.testing.assert_array_equal(table.places(reports), [[123.4, -5.6]] * 3)


def test_far_reports_stay_among_the_places():
    x, w = town(7)
    table = PlaneRemap.of(x, w, EPSILON, STEP)
    far = table.places(np.array([[10**9, 0], [0, -(10**9)], [-(10**12), 10**12]]))
    low, high = x[w > 0].min(axis=0), x[w > 0].max(axis=0)
    assert ((far >= low - 1e-9) & (far <= high + 1e-9)).all()
    assert far[0, 0] > far[2, 0]


def test_arrays_make_the_table_again():
    x, w = town(11, n=5)
    table = PlaneRemap.of(x, w, EPSILON, STEP)
    again = PlaneRemap.from_arrays(*table.arrays())
    reports = np.random.default_rng(1).integers(-5000, 5000, (500, 2))
    np.testing.assert_array_equal(table.places(reports), again.places(reports))
    assert len(again) == len(table)
    same = PlaneRemap.of(x, w, EPSILON, STEP)
    for other in (again, same, pickle.loads(pickle.dumps(table))):
        for array, expected in zip(other.arrays(), table.arrays(), strict=True):
            np.testing.assert_array_equal(array, expected)
    assert not pickle.loads(pickle.dumps(table)).windows[0].targets.flags.writeable


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f, t: (f.astype(float), t), "a few rows of five integers"),
        (lambda f, t: (f[:, :3], t), "a few rows of five integers"),
        (lambda f, t: (f[:0], t[:0]), "a few rows of five integers"),
        (lambda f, t: (np.tile(f, (9, 1)), t), "a few rows of five integers"),
        (lambda f, t: (f, t.reshape(-1)), "a few rows of five integers"),
        (lambda f, t: (f + np.array([1, 0, 0, 0, 0]) * np.array([[1], [0], [0]]), t), "cuts cells"),
        (lambda f, t: (f * np.array([1, 1, 0, 1, 1]), t), "too large, or has no cell"),
        (lambda f, t: (f + np.array([0, 2**41, 0, 0, 0]), t), "too large, or has no cell"),
        (lambda f, t: (f * np.array([1, 1, 1, -1, -1]), t), "too large, or has no cell"),
        (lambda f, t: (np.array([[0, 0, 1, 2**39, 2**39]]), t), "places for"),
        (lambda f, t: (f, t[:-1]), "places for"),
        (lambda f, t: (np.array([[0, 0, 1, 2**9, 2**9]]), np.zeros((2**18, 2))), "of at most 65,536"),
        (lambda f, t: (f, t * math.nan), "holds nan"),
    ],
)
def test_forged_arrays_are_refused(change, message):
    x, w = town(11, n=5)
    frames, targets = PlaneRemap.of(x, w, EPSILON, STEP, fineness=0.5).arrays()
    with pytest.raises(InputError, match=message):
        PlaneRemap.from_arrays(*change(frames, targets))


def test_bad_places_are_refused():
    for points, weights, message in (
        ([[0.0, math.nan]], [1.0], "holds nan"),
        ([[0.0, math.inf]], [1.0], "holds inf"),
        ([[0.0, 1.0]], [-1.0], "negative or all are zero"),
        ([[0.0, 1.0]], [0.0], "negative or all are zero"),
        ([[0.0, 1.0]], [1.0, 2.0], "has shape"),
    ):
        with pytest.raises(InputError, match=message):
            place_shares(points, weights)
    with pytest.raises(InputError, match="the fineness"):
        PlaneRemap.of([[0.0, 0.0]], [1.0], 0.001, STEP, fineness=0.0)
    with pytest.raises(InputError, match=r"cells as wide as 1 / epsilon has [\d,]+, more than 65,536"):
        PlaneRemap.of([[0.0, 0.0], [1e6, 1e6]], [1.0, 1.0], 0.01, STEP)


def test_far_places_get_wider_cells():
    x = np.array([[0.0, 0.0], [60_000.0, 0.0], [0.0, 30_000.0]])
    table = PlaneRemap.of(x, np.ones(3), EPSILON, STEP)
    assert 30_000 < len(table) <= 65_536
    assert table.windows[0].width * 2 > 0.1 / EPSILON
    np.testing.assert_array_equal(table.places(np.array([[0, 0], [30_000, 0], [0, 15_000]])), x)


def test_repeated_places_are_one():
    x, w = place_shares([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [9.0, 9.0]], [1, 2, 3, 0])
    np.testing.assert_array_equal(x, [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(w, [2 / 3, 1 / 3])
