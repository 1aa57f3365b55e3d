"""The gap is relative to the value, whatever the largest loss is."""

import numpy as np
import pytest

from sfumato.core import Metric, MetricPrivacy, Prior, Space
from sfumato.optimal import Highs, Status, design
from sfumato.optimal.solver import gap_of


def with_outlier():
    """Places on a line, and one so far away that all its losses are 1e10."""
    points = np.array([0.0, 1.0, 2.0, 3.0, 1e10])
    space = Space.numbers(points.tolist())
    metric = Metric(np.abs(points[:, None] - points), name="line")
    return Prior(space, [0.3, 0.2, 0.25, 0.245, 0.005]), metric


@pytest.mark.parametrize("solver", [None, Highs()], ids=str)
def test_one_far_place_does_not_end_the_search_early(solver):
    prior, metric = with_outlier()
    found = design(prior, loss=metric, guarantees=[MetricPrivacy(0.7, metric)], solver=solver)
    assert found.certificate.gap == pytest.approx(1 - found.certificate.bound / found.certificate.value, rel=1e-9)
    if found.status is Status.OPTIMAL:
        assert found.certificate.gap <= 1e-6
    assert gap_of(found.problem, 1.0, 1.0 - 0.014) == pytest.approx(0.014)


def test_a_bound_is_never_below_what_the_truth_loses():
    prior, metric = with_outlier()
    short = design(prior, loss=metric, guarantees=[MetricPrivacy(0.7, metric)], solver=Highs(), pairs="spanner")
    assert short.certificate.bound >= 0
