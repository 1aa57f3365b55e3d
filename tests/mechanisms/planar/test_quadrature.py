"""Loss and attacker's error between bounds: against plain sums over the lattice, simulation, and limits."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.geo.true_points import medians
from sfumato.mechanisms import geometric_median
from sfumato.mechanisms.planar import CoordinateNoise, LatticeNoise, PlaneRemap
from sfumato.mechanisms.planar.lattice_noise import snap
from sfumato.mechanisms.planar.quadrature import Block, Cell, plane_error, raw_error
from sfumato.sampling import SeededWords


def town(seed, n, spread):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) * spread, rng.random(n) ** 2


def channel(x, rate, step, reach):
    """All lattice points around and p(o|x) for each place, by plain enumeration."""
    spots = snap(x, step)
    line = np.arange(-reach, reach + 1)
    points = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    total = np.exp(-float(rate) * np.hypot(*points.T)).sum()
    rows = [np.exp(-float(rate) * np.hypot(*(points - spot).T)) / total for spot in spots]
    return points, np.array(rows)


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("seed", "n", "fineness"),
    [
        (1, 6, 0.1),
        (3, 3, 1.0),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in [(2, 1, 0.1), (3, 3, 0.1), (4, 15, 0.3)]),
    ],
)
def test_brackets_hold_the_sums_over_the_lattice(seed, n, fineness):
    rate, step = Fraction(1, 8), Fraction(4)
    x, w = town(seed, n, 60.0)
    if n == 3:
        w = np.array([1.0, 8.0, 1.5])  # a home that is often the best guess
    w /= w.sum()
    points, rows = channel(x, rate, step, 200)
    table = PlaneRemap.of(x, w, float(rate / step), step, fineness)
    found = plane_error(x, w, rate, step, table)

    reports = table.places(points)
    misses = np.hypot(x[:, :1] - reports[:, 0], x[:, 1:] - reports[:, 1])
    loss = float(np.einsum("i,ij,ij->", w, rows, misses))
    assert found.loss.lower <= loss <= found.loss.upper
    assert found.loss.width <= (0.02 if fineness < 1 else 0.35) * loss + 1e-3

    joint = (rows * w[:, None]).T
    often = joint.sum(axis=1) > 1e-7
    guesses = medians(x, joint[often], joint[often] @ x / joint[often].sum(axis=1, keepdims=True), 1e-4)
    best = float((joint[often] * np.hypot(x[:, 0] - guesses[:, :1], x[:, 1] - guesses[:, 1:])).sum())
    best += float((joint[~often] * misses.T[~often]).sum())  # rare reports: the table's place is good enough
    assert found.attacker.lower <= best
    assert best <= found.attacker.upper * (1 + 1e-9)
    if fineness == 0.1:
        assert found.attacker.lower >= 0.9 * best


def test_the_mean_over_a_cell_is_within_its_error():
    """At, near and far from the peak of the kernel, for cells of odd and even width."""
    epsilon, step = 0.02, 2.0
    for width in (1, 2, 5, 8):
        cell = Cell.of(width, step, epsilon)
        line = np.arange(width) * step
        middle = (width - 1) / 2 * step
        rng = np.random.default_rng(width)
        far = np.concatenate([rng.uniform(0, 3 * width * step, 60), rng.uniform(0, 600, 60), [0.0]])
        angle = rng.uniform(0, 2 * math.pi, len(far))
        spots = middle + np.column_stack([far * np.cos(angle), far * np.sin(angle)])
        block = Block.of(
            cell, spots, spots, np.ones(len(spots)), np.array([[middle, middle]]), np.array([[0.0, 0.0]])
        )
        mean, error = block.mean_kernel()
        away = np.hypot(
            spots[:, 0, None, None] - line[None, :, None], spots[:, 1, None, None] - line[None, None, :]
        )
        exact = np.exp(-epsilon * away).mean(axis=(1, 2))
        assert (np.abs(mean[0] - exact) <= error[0] * (1 + 1e-12) + 1e-15).all()
        if width > 1:
            assert np.median(error[0][far > 100] / exact[far > 100]) < 1e-4


@pytest.mark.slow
def test_brackets_hold_simulation():
    x, w = town(8, 60, 900.0)
    noise = CoordinateNoise("1/km", "2 m").for_places(x, w, fineness=0.2)
    found = noise.error(x, w)
    rng = np.random.default_rng(1)
    chosen = rng.choice(len(x), 60_000, p=w / w.sum())
    away = np.hypot(*(x[chosen] - noise.simulate(x[chosen], seed=3)).T)
    allowed = 5 * away.std() / len(away) ** 0.5
    assert found.loss.lower - allowed < away.mean() < found.loss.upper + allowed
    assert found.attacker.lower > 0.98 * found.loss.lower
    raw = CoordinateNoise("1/km", "2 m")
    away = np.hypot(*(x[chosen] - raw.simulate(x[chosen], seed=4)).T)
    bounds = raw.error(x, w, fineness=0.2)
    assert bounds.loss.lower - allowed * 2 < away.mean() < bounds.loss.upper + allowed * 2
    assert bounds.attacker == found.attacker


@pytest.mark.parametrize("epsilon", [0.0003, 0.001, 0.004])
def test_the_remap_never_loses_more(epsilon):
    x, w = town(9, 30, 700.0)
    rate = Fraction(epsilon) * 2
    table = PlaneRemap.of(x, w, epsilon, Fraction(2), 0.3)
    assert plane_error(x, w, rate, Fraction(2), table).loss.upper < raw_error(x, w, rate, Fraction(2)).lower


def test_little_epsilon_leaves_the_blind_guess():
    x, w = town(5, 25, 100.0)
    blind = geometric_median(x, w / w.sum()).total.value
    rate = Fraction(1, 10**6)
    table = PlaneRemap.of(x, w, float(rate / 2), Fraction(2), 0.3)
    found = plane_error(x, w, rate, Fraction(2), table)
    assert found.loss.lower < blind * (1 + 1e-4) < found.loss.upper * (1 + 2e-4)
    assert found.loss.value == pytest.approx(blind, rel=2e-3)
    assert found.attacker.lower == pytest.approx(blind, rel=3e-2)


def test_much_epsilon_leaves_the_snapping():
    x = np.array([[0.0, 0.0], [40.0, 0.0], [100.0, 60.0]])
    table = PlaneRemap.of(x, np.ones(3), 5.0, Fraction(2), 0.3)
    found = plane_error(x, np.ones(3), Fraction(10), Fraction(2), table)
    assert found.loss.upper < 0.01
    assert raw_error(x, np.ones(3), Fraction(10), Fraction(2)).upper < 0.01
    moved = x + np.array([0.9, 0.0])
    raw = raw_error(moved, np.ones(3), Fraction(40), Fraction(2))
    assert raw.lower < 0.9 <= raw.upper < 0.901


def test_the_raw_loss_is_that_of_the_noise():
    """E|x - o| of places between lattice points, by enumeration."""
    rate, step = Fraction(1, 4), Fraction(2)
    x, w = town(6, 8, 50.0)
    points, rows = channel(x, rate, step, 250)
    away = np.hypot(*(x[:, None] - 2.0 * points[None]).transpose(2, 0, 1))
    found = raw_error(x, w, rate, step)
    assert found.lower <= np.einsum("i,ij,ij->", w / w.sum(), rows, away) <= found.upper


@pytest.mark.slow
def test_other_places_than_the_tables_are_told_soundly():
    """A table of one town used by another: the loss is right, the attacker's bounds hold."""
    x, w = town(1, 10, 60.0)
    y, u = town(2, 10, 60.0)
    rate, step = Fraction(1, 20), Fraction(2)
    table = PlaneRemap.of(x, w, float(rate / step), step)
    found = plane_error(y, u, rate, step, table)
    own = plane_error(y, u, rate, step, PlaneRemap.of(y, u, float(rate / step), step))
    assert found.loss.lower > own.loss.upper
    assert found.attacker.lower <= own.attacker.upper
    drawn = snap(y, step)[np.arange(20_000) % 10] + LatticeNoise(rate).noise(20_000, SeededWords(1))
    away = np.hypot(*(y[np.arange(20_000) % 10] - table.places(drawn)).T)
    mean = float((away.reshape(-1, 10).mean(axis=0) * u).sum() / u.sum())
    assert found.loss.lower - 2 < mean < found.loss.upper + 2


@pytest.mark.parametrize("width", [1, 2, 3, 10, 77])
def test_the_moments_of_a_cell_are_those_of_its_lattice_points(width):
    line = [Fraction(2 * k + 1 - width, 2) * 3 for k in range(width)]
    cell = Cell.of(width, 3.0, 1e-3)
    assert cell.variance == pytest.approx(float(sum(x**2 for x in line) / width))
    both = sum((x**2 + y**2) ** 2 for x in line for y in line) / width**2
    assert cell.fourth == pytest.approx(float(both))
