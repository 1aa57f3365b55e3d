"""Bars of values: their numbers, their colours, and what is refused."""

from itertools import pairwise

import numpy as np
import pytest

import sfumato as sf
from sfumato.reports import values_picture

SPACE = sf.Space(["none", "flu", "cold", "$x^2$ \x1b[31m <b>"])
PRIOR = sf.Prior(SPACE, [0.55, 0.3, 0.15, 0.0])
MECHANISM = sf.Mechanism(np.full((4, 4), 0.2) + 0.2 * np.eye(4), SPACE)


def widths(ax):
    return [patch.get_width() for patch in ax.patches]


def test_bars_are_prior_row_and_posterior():
    figure = values_picture(MECHANISM, PRIOR)
    before, reported, believed = figure.axes
    np.testing.assert_allclose(widths(before), 100 * PRIOR.probabilities)
    true = next(k for k, label in enumerate(SPACE.labels) if reported.get_title().endswith(f"from {label}"))
    report = next(k for k, label in enumerate(SPACE.labels) if believed.get_title().endswith(f"after {label}"))
    assert true != report
    np.testing.assert_allclose(widths(reported), 100 * MECHANISM.matrix[true])
    joint = PRIOR.probabilities * MECHANISM.matrix[:, report]
    np.testing.assert_allclose(widths(believed), 100 * joint / joint.sum())
    off = MECHANISM.joint(PRIOR) * (1 - np.eye(4))
    assert MECHANISM.joint(PRIOR)[true, report] == off.max()
    for ax in figure.axes:
        assert "(%)" in ax.get_xlabel()


def test_filled_bars_hold_half_and_with_paler_ones_nine_tenths():
    bars = values_picture(MECHANISM, PRIOR).axes[0].patches
    assert [float(np.asarray(patch.get_facecolor())[3]) for patch in bars] == [1.0, 0.4, 0.4, 0.0]


def test_equally_probable_values_have_equal_bars():
    space = sf.Space(range(71))
    before, *_ = values_picture(sf.Mechanism(np.eye(71), space), sf.Prior.uniform(space)).axes
    assert len({patch.get_facecolor() for patch in before.patches}) == 1


def test_a_value_can_be_chosen_and_hostile_names_are_drawn():
    figure = values_picture(MECHANISM, PRIOR, value=SPACE.labels[3])
    np.testing.assert_allclose(widths(figure.axes[1]), 100 * MECHANISM.matrix[3])
    figure.draw_without_rendering()
    assert "\x1b" not in figure.axes[1].get_title()


def test_an_example_is_one_that_happens():
    space = sf.Space(range(5))
    rows = np.full((5, 5), 1e-9) + np.diag(np.full(5, 1 - 5e-9))
    _, reported, believed = values_picture(sf.Mechanism(rows, space), sf.Prior.uniform(space)).axes
    assert reported.get_title().split()[-1] == believed.get_title().split()[-1]


def test_a_mechanism_that_tells_all_and_one_with_other_reports_are_drawn():
    values_picture(sf.Mechanism(np.eye(4), SPACE), PRIOR).draw_without_rendering()
    two = sf.Mechanism([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], SPACE, sf.Space(["yes", "no"]))
    figure = values_picture(two, PRIOR)
    figure.draw_without_rendering()
    assert [text.get_text() for text in figure.axes[1].get_yticklabels()] == ["yes", "no"]


def test_more_values_than_can_be_drawn_are_refused():
    space = sf.Space(range(121))
    with pytest.raises(sf.errors.InputError, match="121 values"):
        values_picture(sf.Mechanism(np.eye(121), space), sf.Prior.uniform(space))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("count", [2, 16, 120])
def test_names_do_not_overlap(count):
    space = sf.Space([f"{k} {'W' * 30}" for k in range(count)])
    figure = values_picture(sf.Mechanism(np.full((count, count), 1 / count), space), sf.Prior.uniform(space))
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in figure.axes[0].get_yticklabels()]
    boxes.sort(key=lambda box: box.y0)
    assert all(low.y1 <= high.y0 + 1 for low, high in pairwise(boxes))
    titles = [ax.title.get_window_extent() for ax in figure.axes]
    assert all(left.x1 < right.x0 for left, right in pairwise(titles))
