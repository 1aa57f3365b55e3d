"""Gains of better guesses within one cell: the bound against every report's own geometric median."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.geo.true_points import medians
from sfumato.mechanisms import geometric_median
from sfumato.mechanisms.planar.quadrature import Block, Cell, gains


def gained(block, width, step, epsilon):
    """The mean over the cell's lattice points of F(y) - min F, each report's weights its own."""
    line = (np.arange(width) - (width - 1) / 2) * step
    offsets = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    found = []
    for offset in offsets:
        weights = block.weights * np.exp(-epsilon * np.hypot(*(block.spots - block.centres[0] - offset).T))
        told = weights @ np.hypot(*(block.points - block.targets[0]).T)
        found.append(told - geometric_median(block.points, weights, 1e-6).total.value)
    return float(np.mean(found))


def one_cell(seed, n, width, growth, spread, at):
    """A cell of some width in units of 1 / epsilon, places around it, and one that is good, given or neither."""
    rng = np.random.default_rng(seed)
    epsilon, step = 0.01, growth * 100 / width
    points = rng.normal(size=(n, 2)) * spread * 100 + rng.normal(size=2) * 50
    weights = rng.random(n) ** rng.choice([1, 4])
    cell = Cell.of(width, step, epsilon)
    centre = np.zeros((1, 2))
    posterior = weights * np.exp(-epsilon * np.hypot(*points.T))
    target = medians(points, posterior[None], centre, 1e-3)
    if at == "given":
        target = points[np.argmax(posterior)][None]
    if at == "off":
        target = target + rng.normal(size=(1, 2)) * 10
    return Block.of(cell, points, points, weights / weights.sum(), centre, target), step, epsilon


@settings(max_examples=20)
@given(
    st.integers(0, 2**32),
    st.integers(2, 12),
    st.integers(2, 5),
    st.sampled_from([0.05, 0.2, 0.6]),
    st.sampled_from([0.1, 1.0, 10.0]),
    st.sampled_from(["median", "given", "off"]),
)
def test_no_report_is_guessed_better_than_bounded(seed, n, width, growth, spread, at):
    block, step, epsilon = one_cell(seed, n, width, growth, spread, at)
    bound = float(gains(block)[0])
    assert gained(block, width, step, epsilon) <= bound * (1 + 1e-6) + 1e-5 * float(
        (block.kernel * block.weights).sum()
    )


def test_the_bound_is_of_second_order():
    """Half as wide a cell gains at most about a quarter."""
    bounds = [gains(one_cell(3, 200, 4, growth, 1.0, "median")[0])[0] for growth in (0.1, 0.05, 0.025)]
    assert bounds[0] > 3 * bounds[1]
    assert bounds[1] > 3 * bounds[2] > 0


def test_a_home_that_outweighs_all_else_is_always_guessed():
    block, _, _ = one_cell(1, 5, 3, 0.2, 1.0, "given")
    heavy = np.where(block.misses[0] == 0, 100.0, block.weights)
    home = Block.of(block.cell, block.points, block.spots, heavy, block.centres, block.targets)
    assert gains(home)[0] == 0
