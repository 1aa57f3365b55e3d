"""Promises that hide nothing or reveal nothing, and those that do neither."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.report import extremes

GROUND = sf.Metric(np.array([[0, 0.5, 4], [0.5, 0, 4], [4, 4, 0]]), "km")


@pytest.mark.parametrize(
    ("epsilon", "said"),
    [
        ("1/m", "epsilon 1000/km hides almost nothing: even of the nearest values, 500 m apart"),
        ("20.1/km", "by a factor of 23,156"),
        ("0.002/km", "leaves nothing to learn: even for values 4 km apart"),
    ],
)
def test_extremes_are_named(epsilon, said):
    (remark,) = extremes(sf.MetricPrivacy(epsilon, GROUND))
    assert said in remark


@pytest.mark.parametrize("epsilon", ["0.003/km", "1/km", "19.9/km"])
def test_what_is_moderate_needs_no_words(epsilon):
    assert extremes(sf.MetricPrivacy(epsilon, GROUND)) == []


def test_only_finite_positive_distances_count():
    apart = sf.Metric(np.array([[0, np.inf], [np.inf, 0]]), "km")
    assert extremes(sf.MetricPrivacy("1/m", apart)) == []
    assert extremes(sf.DistortionPrivacy("1 km", GROUND)) == []
