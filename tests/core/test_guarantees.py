import numpy as np
import pytest

from sfumato.core import DistortionPrivacy, Loss, Metric, MetricPrivacy, ThresholdPrivacy
from sfumato.errors import InputError, UnitError

from ..catalogue import line
from .arrays import refused

KM = Metric(line(4), "km", name="walk")
PURE = Metric(line(4))


@pytest.mark.parametrize(
    ("given", "metric", "epsilon"),
    [
        (0.6, KM, 0.6),
        ("0.6/km", KM, 0.6),
        ("0.6 per km", KM, 0.6),
        ("0.0006/m", KM, 0.6),
        (np.float64(0.6), KM, 0.6),
        ("0.6/km", KM.to("m"), 0.0006),
        (1, PURE, 1.0),
        ("2/hops", Metric(line(4), "hops"), 2.0),
    ],
)
def test_epsilon_is_per_unit_of_the_metric(given, metric, epsilon):
    assert MetricPrivacy(given, metric).epsilon == pytest.approx(epsilon, rel=1e-14)


@pytest.mark.parametrize(
    ("make", "says", "error"),
    [
        (lambda: MetricPrivacy(0, KM), "epsilon must be a positive number, but 0", InputError),
        (lambda: MetricPrivacy(-1, KM), "-1 was given", InputError),
        (lambda: MetricPrivacy("-0.5/km", KM), "-0.5 was given", InputError),
        (lambda: MetricPrivacy(np.nan, KM), "finite", UnitError),
        (lambda: MetricPrivacy(np.inf, KM), "finite", UnitError),
        (lambda: MetricPrivacy("0.6/h", KM), "'h' does not fit 'km'", UnitError),
        (lambda: MetricPrivacy("0.6/km", PURE), "'km' does not fit 'none'", UnitError),
        (lambda: MetricPrivacy("0.6 km", KM), "per unit", UnitError),
        (lambda: MetricPrivacy("lots", KM), "not a number", UnitError),
        (lambda: MetricPrivacy(None, KM), "epsilon= is of type NoneType", InputError),  # type: ignore[arg-type]
        (lambda: ThresholdPrivacy("1/km", KM, "1 km"), "amount, not a rate", UnitError),
        (lambda: ThresholdPrivacy(0, KM, "1 km"), "positive", InputError),
        (lambda: ThresholdPrivacy(1, KM, "1 h"), "'h' does not fit 'km'", UnitError),
        (lambda: ThresholdPrivacy(1, KM, "1 m"), "no two distinct values", InputError),
        (lambda: DistortionPrivacy(-1, KM), "negative", InputError),
        (lambda: DistortionPrivacy("-1 m", KM), "negative", InputError),
        (lambda: DistortionPrivacy("1 h", KM), "'h' does not fit 'km'", UnitError),
        (lambda: DistortionPrivacy("1/km", KM), "not a rate", UnitError),
        (lambda: DistortionPrivacy(np.nan, KM), "finite", UnitError),
        (lambda: DistortionPrivacy(1, [[0.0, np.nan]]), "nan", InputError),
        (lambda: DistortionPrivacy(1, [0.0, 1.0]), "shape 2", InputError),
    ],
)
def test_what_guarantees_nothing_is_refused(make, says, error):
    refused(make, says, error)


def test_threshold_privacy_is_metric_privacy_in_hops():
    near = ThresholdPrivacy("1.5", KM, "2000 m")
    np.testing.assert_array_equal(near.metric.array[0], [0, 1, 1, 2])
    assert near.epsilon == 1.5
    assert isinstance(near, MetricPrivacy)
    assert str(near) == "epsilon 1.5, hops of at most 2 km"
    bare = ThresholdPrivacy(1, KM, 2)
    np.testing.assert_array_equal(bare.metric.array, near.metric.array)
    assert str(bare) == "epsilon 1, hops of at most 2 km"


def test_distortion_reads_units():
    assert DistortionPrivacy("800 m", KM).minimum == pytest.approx(0.8)
    assert DistortionPrivacy(0.8, KM).minimum == 0.8
    assert DistortionPrivacy(0, [[0.0, 1.0]]).minimum == 0
    loss = Loss([[0.0, 1.0], [2.0, 0.0]], "m")
    assert DistortionPrivacy("1 km", loss).minimum == 1000
    assert DistortionPrivacy(1, loss).distance is loss


def test_texts():
    assert str(MetricPrivacy("0.6/km", KM)) == "epsilon 0.6/km, called 'walk'"
    assert repr(MetricPrivacy(1, PURE)) == "MetricPrivacy(epsilon 1, metric)"
    assert str(DistortionPrivacy("800 m", KM)) == "distortion of at least 800 m"
    assert repr(DistortionPrivacy(2, PURE)) == "DistortionPrivacy(distortion of at least 2)"
