"""Promises that hide nothing or reveal nothing, and those that do neither."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.reports import extremes, summarise

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


def test_promises_on_a_circle_say_so():
    said = {}
    for period in (24, None):
        space = sf.NumberBins(0, 1, 24, "h", period=period)
        metric = space.metric("absolute")
        design = sf.design(
            sf.Prior.uniform(space),
            loss=metric,
            guarantees=[sf.MetricPrivacy("0.5/h", metric), sf.DistortionPrivacy("0.5 h", metric)],
            gap=0.05,
        )
        sections = {section.title: section.sentences for section in summarise(design, metric).sections}
        said[period] = " ".join([*sections["Guarantee"], *sections["Cost"]])
    assert "counted on a circle of 24 h, the shorter way around." in said[24]
    assert "average error at least 0.5 h, counted on a circle of 24 h" in said[24]
    assert "for the worst value), the shorter way around the circle." in said[24]
    assert "circle" not in said[None]
