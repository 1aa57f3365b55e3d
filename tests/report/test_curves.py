"""The figures of an audit: curves end where they say, and near pairs have curves of their own."""

import re

import numpy as np
import pytest

import sfumato as sf
from sfumato.privacy import DifferentialPrivacy, PrivacyProfile, Relation
from sfumato.report import profile_figure, save_audit_figures, trade_off_figure
from sfumato.report.curves import two_secrets_bands

LINE = sf.Space(range(12), [[0.7 * k] for k in range(12)], "km")
METRIC = LINE.metric()


def blurred():
    rows = np.exp(-METRIC.array)
    return sf.Mechanism(rows / rows.sum(axis=1, keepdims=True), LINE)


def curves(ax):
    return {str(line.get_label()): line for line in ax.lines if not str(line.get_label()).startswith("_")}


def test_the_profile_ends_where_it_says_that_delta_is_zero():
    figure = profile_figure(blurred(), None, METRIC)
    found = curves(figure.axes[0])
    assert len(found) == 4
    for label, line in found.items():
        said = re.search(r"delta 0 from epsilon ([\d.]+) on", label)
        assert said, label
        across = np.asarray(line.get_xdata())
        assert across[-1] == across.max() <= float(said[1])
        assert across[-1] == pytest.approx(float(said[1]), rel=1e-3)
    pairs = Relation.within(METRIC, 2.0)
    line = next(line for label, line in found.items() if "at most 2 km" in label)
    profile = PrivacyProfile(blurred(), pairs)
    np.testing.assert_allclose(line.get_ydata()[:-1], profile.delta_upper(line.get_xdata()[:-1]))
    assert float(line.get_xdata()[-1]) == DifferentialPrivacy(pairs).measure(blurred()).upper


def test_near_pairs_are_drawn_apart_from_all_pairs():
    found = curves(trade_off_figure(blurred(), None, METRIC).axes[0])
    near = next(line for label, line in found.items() if "at most 1 km" in label)
    every = next(line for label, line in found.items() if "any two" in label)
    # Missed detections at a false alarm rate of .2: of near places many, of all pairs hardly any.
    at = [np.interp(0.2, line.get_xdata(), line.get_ydata()) for line in (near, every)]
    assert at[0] > 0.3 > 0.1 > at[1]
    styles = {(line.get_color(), str(line.get_linestyle())) for line in found.values()}
    assert len(styles) == len(found)


def test_without_a_metric_there_is_one_curve_and_its_gaussian():
    found = curves(trade_off_figure(blurred()).axes[0])
    assert any("Gaussian curve, mu" in label for label in found)
    assert len(found) == 3


def test_the_bands_of_two_near_secrets_hold_every_posterior():
    mechanism = blurred()
    bands = two_secrets_bands(mechanism, METRIC)
    assert [band.title for band in bands] == [
        f"Which of two secrets, at most {reach} km apart" for reach in (1, 2, 5)
    ]
    for band, reach in zip(bands, (1, 2, 5), strict=True):
        for s, t in np.argwhere((METRIC.array <= reach) & (METRIC.array > 0)):
            for p in (0.1, 0.5, 0.9):
                joint = np.stack([p * mechanism.matrix[s], (1 - p) * mechanism.matrix[t]])
                posterior = joint[0] / joint.sum(axis=0)
                assert (posterior <= band.upper(p) + 1e-12).all()
                assert (posterior >= band.lower(p) - 1e-12).all()


def test_all_figures_are_written(tmp_path):
    paths = save_audit_figures(blurred(), tmp_path, prior=sf.Prior.uniform(LINE), metric=METRIC)
    assert [path.stem for path in paths] == ["profile", "trade-off", "prior-to-posterior", "epsilon-by-distance"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)


def test_a_metric_of_another_size_is_refused():
    with pytest.raises(sf.errors.InputError, match="on 12 values"):
        trade_off_figure(sf.Mechanism(np.eye(3)), None, METRIC)
