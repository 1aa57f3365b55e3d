"""The figures of an audit: curves end where they say, and near pairs have curves of their own."""

import re

import numpy as np
import pytest

import sfumato as sf
from sfumato.privacy import DifferentialPrivacy, PrivacyProfile, Relation
from sfumato.reports import DARK, audit_figures, profile_figure, trade_off_figure
from sfumato.reports.audit_figures import two_secrets_bands

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
    pairs = Relation.of_radius(METRIC, 2.0)
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
    paths = audit_figures(blurred(), prior=sf.Prior.uniform(LINE), metric=METRIC).save(tmp_path)
    assert [path.stem for path in paths] == ["profile", "trade-off", "prior-to-posterior", "epsilon-by-distance"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)


def test_a_far_end_leaves_room_for_near_pairs():
    rows = np.exp(-0.05 * np.abs(np.subtract.outer(np.arange(120.0), np.arange(120.0))))
    space = sf.Space(range(120), np.arange(120.0)[:, None], "km")
    figure = profile_figure(sf.Mechanism(rows / rows.sum(axis=1, keepdims=True), space), None, space.metric())
    (ax,) = figure.axes
    *near, everything = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "(outside)" in everything
    assert not any("(outside)" in text for text in near)
    ends = [float(text.split("epsilon ")[1].split()[0]) for text in (*near, everything)]
    assert max(ends[:-1]) < ax.get_xlim()[1] < ends[-1]


def test_few_pairs_are_dots_and_none_is_lost():
    space = sf.Space(range(3), [[0.0], [1.0], [3.0]], "km")
    rows = np.exp(-space.metric().array)
    figure = sf.reports.epsilon_by_distance_figure(
        sf.Mechanism(rows / rows.sum(axis=1, keepdims=True), space), space.metric()
    )
    (ax,) = figure.axes
    dots = next(line for line in ax.lines if line.get_marker() == "o")
    across, up = np.asarray(dots.get_data(), dtype=float)
    assert sorted(across) == [1, 1, 2, 2, 3, 3]
    assert ax.get_xlim()[0] <= across.min()
    assert across.max() <= ax.get_xlim()[1]
    assert up.max() <= ax.get_ylim()[1]


def test_a_metric_of_another_size_is_refused():
    with pytest.raises(sf.errors.InputError, match="on 12 values"):
        trade_off_figure(sf.Mechanism(np.eye(3)), None, METRIC)


def said(figure):
    return " ".join(text.get_text().replace("\n", " ") for ax in figure.axes for text in ax.texts)


def test_what_has_no_curve_is_said_in_words(tmp_path):
    space = sf.Space(range(4), [[float(k)] for k in range(4)], "km")
    metric, prior = space.metric(), sf.Prior.uniform(space)
    for matrix, words in (
        (np.full((4, 4), 0.25), ("reveals nothing", "no test is better than guessing", "changes nothing")),
        (np.eye(4), ("", "two secrets for certain", "lead to any belief")),
    ):
        mechanism = sf.Mechanism(matrix, space)
        bands = [sf.privacy.attained_band(mechanism, sf.privacy.Priors.all())]
        drawn = (
            sf.reports.profile_figure(mechanism, None, metric),
            sf.reports.trade_off_figure(mechanism, None, metric),
            sf.reports.bands_figure(bands),
        )
        for figure, sentence in zip(drawn, words, strict=True):
            assert sentence in said(figure)
            assert bool(sentence) == bool(said(figure))
    found = audit_figures(sf.Mechanism(np.eye(4), space), prior=prior, metric=metric)
    assert list(found.figures) == ["profile", "trade-off", "prior-to-posterior"]


def test_a_figure_that_is_left_out_says_why():
    space = sf.Space(range(3))
    apart = np.full((3, 3), np.inf)
    np.fill_diagonal(apart, 0.0)
    blur, truth = np.full((3, 3), 1 / 3), np.eye(3)
    near = 1.0 - np.eye(3)
    for matrix, distances, why in (
        (blur, None, "no distance of two secrets"),
        (blur, np.zeros((3, 3)), "no two secrets are at a finite distance above 0"),
        (blur, apart, "no two secrets are at a finite distance above 0"),
        (truth, near, "can come from the one and never from the other"),
    ):
        metric = None if distances is None else sf.Metric(distances)
        found = audit_figures(sf.Mechanism(matrix, space), metric=metric)
        assert list(found.left_out) == ["epsilon-by-distance"]
        assert why in found.left_out["epsilon-by-distance"]
    assert not audit_figures(sf.Mechanism(blur, space), metric=sf.Metric(near)).left_out


@pytest.mark.slow
def test_audit_figures_are_written_in_other_formats(tmp_path):
    for path in audit_figures(blurred()).save(tmp_path / "here", ending=".svg", theme=DARK):
        assert path.suffix == ".svg"
        assert path.read_bytes().startswith(b"<?xml")


def test_audit_figures_of_no_format_are_refused_before_a_folder_is_made(tmp_path):
    with pytest.raises(sf.errors.InputError, match=r"\.png, \.svg or \.pdf"):
        audit_figures(blurred()).save(tmp_path / "here", ending=".gif")
    assert not (tmp_path / "here").exists()


def test_curves_that_show_something_need_no_words():
    space = sf.Space(range(4), [[float(k)] for k in range(4)], "km")
    rows = np.exp(-space.metric().array)
    mechanism = sf.Mechanism(rows / rows.sum(axis=1, keepdims=True), space)
    bands = [sf.privacy.attained_band(mechanism, sf.privacy.Priors.all())]
    for figure in (
        sf.reports.profile_figure(mechanism, None, space.metric()),
        sf.reports.trade_off_figure(mechanism, None, space.metric()),
        sf.reports.bands_figure(bands),
        sf.reports.epsilon_by_distance_figure(mechanism, space.metric()),
    ):
        assert said(figure) == ""


@pytest.mark.thinned(3)
@pytest.mark.parametrize("unit", [5e-324, 1e-300, 1e-12, 1.0, 1e12, 1e300])
def test_distances_of_any_size_are_drawn_or_said(unit):
    space = sf.Space(range(4))
    metric = sf.Metric(unit * np.abs(np.subtract.outer(range(4), range(4))).astype(float))
    rows = np.exp(-np.abs(np.subtract.outer(range(4), range(4))).astype(float))
    mechanism = sf.Mechanism(rows / rows.sum(axis=1, keepdims=True), space)
    figure = sf.reports.epsilon_by_distance_figure(mechanism, metric)
    figure.draw_without_rendering()
    assert ("too small or too large" in said(figure)) == (not 1e-100 < unit < 1e100)
