"""Released files keep what was stated: the mean distance from the true points, and a simulated attack's error."""

import numpy as np
import pytest
from benchmarks.places import EPSILONS, instance
from benchmarks.released import measured

import sfumato as sf
from sfumato_papers.invented_city import invented_city
from tests.sampling.mechanisms import fix_seeds

CITY = invented_city(users=20, days=7)
CITY = CITY.inside(CITY.region(trim=0.03))
FAR = 5.0  # standard errors


@pytest.fixture(autouse=True)
def _seeds(monkeypatch):
    fix_seeds(monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["points", "cells"])
def test_a_file_of_the_synthetic_city(kind):
    found = measured("city", CITY, CITY.region(), "1/km", kind, rows=3000)
    assert found.rows >= 3000
    assert abs(found.loss_z) < FAR
    assert abs(found.error_z) < FAR
    assert found.stated_error <= found.stated_loss


@pytest.mark.slow
def test_a_wrong_statement_would_be_noticed(monkeypatch):
    """Were the loss of a mechanism on cells stated between centres, a released file would show it."""

    def between_centres(places, visits):
        return places.metric("euclidean", unit="km")

    monkeypatch.setattr(sf.Grid, "loss", between_centres)
    assert abs(measured("city", CITY, CITY.region(), "6/km", "cells", rows=3000).loss_z) > FAR


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["points", "cells"])
@pytest.mark.parametrize("name", ["new-york", "paris", "user-1", "user-5"])
def test_files_of_real_places(name, kind, shared_data):
    visits, region = instance(name, shared_data)
    found = [measured(name, visits, region, epsilon, kind) for epsilon in EPSILONS]
    for each in found:
        assert abs(each.loss_z) < FAR, each
        assert abs(each.error_z) < FAR, each
    assert np.mean([each.loss_z for each in found]) ** 2 * len(found) < FAR**2
