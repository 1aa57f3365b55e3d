"""The panels of a sweep: none that must show y = x, and the numbers of its points."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.optimal import sweep
from sfumato.reports import frontier
from sfumato_papers.invented_city import invented_city

SPACE = sf.Space(range(5), [[float(k)] for k in range(5)], "km")
METRIC = SPACE.metric()
PRIOR = sf.Prior(SPACE, [0.4, 0.3, 0.1, 0.1, 0.1])


def drawn(loss, epsilons=(0.5, 1.0, 1.5)):
    points = sweep({"everyone": PRIOR}, loss=loss, metric=METRIC, epsilons=epsilons)
    return points, frontier(points, "km")


def test_the_attackers_error_is_left_out_where_it_is_the_loss():
    points, figure = drawn(METRIC)
    cost, hits = figure.axes
    assert "finds the secret (%)" in hits.get_ylabel()
    line = hits.lines[0].get_xydata()
    assert line[:, 1].tolist() == [100 * point.hit_rate for point in points]
    assert hits.lines[-1].get_ydata()[0] == 100 * 0.4  # without a report
    assert cost.get_xlabel() == "epsilon (per km)"
    least = min(point.distortion / point.loss for point in points)
    assert least > 0.9
    assert f"average error: at least {sf.rounding.percent_at_least(least)} of the loss." in figure.get_suptitle()
    for point in points:
        assert point.design.has_program
        assert point.hit_rate == sf.leakage.bayes_vulnerability(point.design.mechanism, PRIOR)


def test_hits_are_left_out_where_the_secret_is_found_just_where_it_is_reported():
    points, figure = drawn(sf.hamming(SPACE), (1.5, 2.0))
    _, error = figure.axes
    assert error.get_ylabel() == "error of the best attacker (km)"
    assert error.lines[0].get_ydata().tolist() == [point.distortion for point in points]


@pytest.mark.slow
def test_planar_noise_is_hollow_and_has_no_panel_of_its_own():
    visits = invented_city(users=10, days=3)
    lattice = sf.Lattice.covering(visits, "2 km")
    prior, loss = sf.Prior.from_visits(lattice, visits), lattice.loss(visits)
    points = sweep({"everyone": prior}, loss=loss, visits=visits, medians=True, epsilons=[0.2, 4.0])
    assert [point.design is not None and point.design.has_program for point in points] == [True, False]
    cost, error = frontier(points, "km").axes
    assert np.asarray(error.lines[0].get_ydata()).tolist() == [point.distortion for point in points]
    whole, hollow = cost.lines
    assert np.asarray(whole.get_ydata()).tolist() == [point.loss for point in points]
    assert np.asarray(hollow.get_xydata()).tolist() == [[4.0, points[1].loss]]
    assert hollow.get_markerfacecolor() == "white"
    assert "hollow: planar noise" in cost.get_title()
    (alone,) = (figure.axes[0] for figure in [frontier(points[1:], "km")])
    assert alone.get_ylabel() == "mean distance from the true point (km)"


def test_epsilons_far_apart_have_a_logarithmic_axis():
    for epsilons, scale in (((0.1, 2.0), "linear"), ((0.01, 2.0), "log")):
        cost, *_ = drawn(METRIC, epsilons)[1].axes
        assert cost.get_xscale() == scale
        low, high = cost.get_xlim()
        assert low <= min(epsilons) <= max(epsilons) <= high


def test_many_people_with_long_names_leave_the_figure_readable():
    names = [f"{k} {'x' * 300}" for k in range(6)]
    for many, dotted in ((names[:2], 2), (names, 0)):
        points = sweep(dict.fromkeys(many, PRIOR), loss=METRIC, metric=METRIC, epsilons=[0.5])
        figure = frontier(points, "km")
        _, hits = figure.axes
        told = [text.get_text() for text in figure.legends[0].get_texts()]
        assert [len(text) <= 40 for text in told] == [True] * len(many)
        assert ("dotted" in hits.get_title()) == bool(dotted)
        assert len(hits.lines) == len(many) + dotted
