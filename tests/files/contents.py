"""Files of many kinds, for the tests."""

from __future__ import annotations

import numpy as np

import sfumato as sf
from sfumato.files import MechanismFile
from tests.sampling.mechanisms import random_mechanism


def rich_file() -> MechanismFile:
    """A small file that holds everything a file can, with places that were never visited."""
    places = sf.Space(["home", "work", "shop"], [[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], unit="km")
    groups = places.group_labels([["home", "work"], ["shop"]])
    mechanism = sf.Mechanism([[0.75, 0.25], [0.5, 0.5], [0.0, 1.0]], places, groups)
    metric = places.metric("euclidean")
    return MechanismFile(
        mechanism,
        prior=sf.Prior(places, [0.25, 0.75, 0.0]),
        loss=sf.loss(places, groups, "euclidean", "m"),
        guarantees=[
            sf.MetricPrivacy(0.6, metric),
            sf.MetricPrivacy(0.1 + 0.2, metric.to("m")),
            sf.ThresholdPrivacy(1.5, metric, "4 km"),
            sf.DistortionPrivacy("800 m", metric),
            sf.DistortionPrivacy(0.25, sf.hamming(places)),
        ],
        claims={"certificate": {"epsilon_upper": 0.6, "worst": ["home", 1]}, "log": ["3 rounds", None, True]},
    )


def plain_file(*, tiny: bool = False) -> MechanismFile:
    """A file with a mechanism alone."""
    return MechanismFile(random_mechanism(5, 3, 4, tiny=tiny))


def assert_same(one: MechanismFile, other: MechanismFile) -> None:
    """Every value is the same to the last bit."""
    assert one.mechanism == other.mechanism
    assert [type(label) for label in one.report_channel.secrets.labels] == [
        type(label) for label in other.report_channel.secrets.labels
    ]
    assert (one.prior is None) == (other.prior is None)
    if one.prior is not None and other.prior is not None:
        assert one.prior.space == other.prior.space
        assert np.array_equal(one.prior.probabilities, other.prior.probabilities)
    assert (one.loss is None) == (other.loss is None)
    if one.loss is not None and other.loss is not None:
        assert_same_loss(one.loss, other.loss)
    assert len(one.guarantees) == len(other.guarantees)
    for a, b in zip(one.guarantees, other.guarantees, strict=True):
        assert type(a) is type(b)
        if isinstance(a, sf.DistortionPrivacy) and isinstance(b, sf.DistortionPrivacy):
            assert a.minimum == b.minimum
            assert_same_loss(a.distance, b.distance)
        elif isinstance(a, sf.MetricPrivacy) and isinstance(b, sf.MetricPrivacy):
            assert a.epsilon == b.epsilon
            assert (a.metric.unit, a.metric.name, a.metric.triangle) == (
                b.metric.unit,
                b.metric.name,
                b.metric.triangle,
            )
            assert np.array_equal(a.metric.array, b.metric.array)
    assert one.claims == other.claims


def assert_same_loss(one: sf.Loss, other: sf.Loss) -> None:
    assert (one.unit, one.name) == (other.unit, other.name)
    assert np.array_equal(one.array, other.array)
