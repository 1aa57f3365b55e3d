"""A population found again from reports of noise for coordinates."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.estimation import Reports, estimate_population
from sfumato.mechanisms.planar import CoordinateNoise, coarsen


@pytest.mark.slow
def test_a_population_is_found_again():
    """Reports of people spread over cells: the estimate is near their shares, and nearer with more reports."""
    cells = sf.Grid.covering("4 km x 3 km around 48.86,2.34", cell="1 km")
    rng = np.random.default_rng(3)
    truth = rng.dirichlet(np.full(12, 0.5))
    noise = CoordinateNoise("3/km", "5 m", cells.projection, "30 km")
    coarse = coarsen(noise, cells, spread=True)
    off = []
    for size in (2_000, 200_000):
        centres = cells.projection.forward(*cells.latlon.T)[rng.choice(12, size=size, p=truth)]
        people = cells.projection.inverse(centres + rng.uniform(-500, 500, (size, 2)))
        reports = sf.simulator(noise, 4).blur(*people.T)
        found = estimate_population(Reports.at(coarse.mechanism, coarse.positions(*reports.T)))
        off.append(np.abs(found.probabilities - truth).sum() / 2)
    assert off[1] < 0.06
    assert off[1] < off[0] < 0.3
