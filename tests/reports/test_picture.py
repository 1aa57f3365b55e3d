"""The picture shows what it says, and needs places."""

import json
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.path import Path

import sfumato as sf
from sfumato_papers.invented_city import invented_city


@pytest.fixture(scope="module")
def city():
    visits = invented_city(users=20, days=7)
    grid = sf.Grid.covering(visits, shape=(4, 3))
    return sf.Prior.from_visits(grid, visits), grid.metric("euclidean", unit="km")


def blurred(prior, ground):
    rows = np.exp(-0.5 * ground.array)
    return sf.Mechanism(rows / rows.sum(axis=1, keepdims=True), prior.space)


def _inside(ax, points):
    """Return whether points are inside the line of 50 %."""
    rings = [ring for ring in ax.collections[1].get_paths()[0].to_polygons() if len(ring) > 3]
    return sum(Path(ring).contains_points(points, radius=0.05).astype(int) for ring in rings) % 2 == 1


def test_panels_hold_prior_row_and_posterior(city, tmp_path):
    prior, ground = city
    mechanism = blurred(prior, ground)
    figure = sf.reports.picture(mechanism, prior, ground)
    marks = [{line.get_label(): np.asarray(line.get_xydata())[0] for line in ax.lines} for ax in figure.axes[:3]]
    centres = prior.space.coordinates / 1000
    true, report, guess = (
        int(np.argmin(np.linalg.norm(centres - marks[2][name], axis=1)))
        for name in ("true place", "report", "best guess")
    )
    assert len({true, report, guess}) > 1
    assert true not in (report, guess)
    assert guess == sf.attacks.optimal(mechanism, prior, ground).estimates[report]
    assert mechanism.matrix[true, report] >= 0.02
    np.testing.assert_allclose(np.asarray(figure.axes[0].collections[0].get_array()), 100 * prior.probabilities)
    for at, weights in ((1, mechanism.matrix[true]), (2, mechanism.posterior(prior)[report])):
        assert weights[_inside(figure.axes[at], centres)].sum() >= 0.5
        assert "50 % are inside" in figure.axes[at].get_legend_handles_labels()[1]
    for ax in figure.axes[:3]:
        assert {text.get_text() for text in ax.texts} >= {"N", "2 km"}
    for ax in figure.axes[3:6]:
        assert "(%)" in ax.get_xlabel()
    sf.reports.save_picture(figure, tmp_path / "p.png")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_values_that_are_no_places_are_refused():
    space = sf.Space.numbers(range(3))
    with pytest.raises(sf.errors.InputError, match="only a mechanism from places"):
        sf.reports.picture(sf.Mechanism(np.eye(3), space), sf.Prior.uniform(space), space.metric("absolute"))


def test_the_case_shown_adds_most_to_the_attackers_error(city):
    prior, ground = city
    mechanism = sf.design(prior, loss=ground, guarantees=[sf.MetricPrivacy("1/km", ground)]).mechanism
    figure = sf.reports.picture(mechanism, prior, ground)
    marks = {line.get_label(): np.asarray(line.get_xydata())[0] for line in figure.axes[2].lines}
    estimates = sf.attacks.optimal(mechanism, prior, ground).estimates
    joint = mechanism.joint(prior)
    places = [
        int(np.argmin(np.linalg.norm(prior.space.coordinates / 1000 - marks[name], axis=1)))
        for name in ("true place", "report")
    ]
    added = [
        joint[s, o] * ground.array[estimates[o], s]
        for s in range(len(prior))
        for o in range(len(prior))
        if s != o and mechanism.matrix[s, o] >= 0.02
    ]
    shown = joint[places[0], places[1]] * ground.array[estimates[places[1]], places[0]]
    assert shown > 0
    assert shown <= max(added) + 1e-15


def test_a_named_place_is_shown_and_a_mechanism_that_tells_all_still_has_a_picture(city):
    prior, ground = city
    label = prior.space.labels[int(np.argmin(prior.probabilities))]
    figure = sf.reports.picture(blurred(prior, ground), prior, ground, place=label)
    marks = {line.get_label(): np.asarray(line.get_xydata())[0] for line in figure.axes[1].lines}
    centre = np.asarray(prior.space.coordinates)[prior.space.position(label)] / 1000
    np.testing.assert_allclose(marks["true place"], centre)
    exact = sf.Mechanism(np.eye(len(prior)), prior.space)
    assert sf.reports.picture(exact, prior, ground).axes


@pytest.mark.thinned(2)
@pytest.mark.parametrize("area", ["2 km x 9 km", "12 km x 2 km"])
def test_titles_are_inside_of_the_picture(area):
    grid = sf.Grid.covering(f"{area} around 48.85,2.35", cell="1 km")
    prior = sf.Prior.uniform(grid)
    ground = grid.metric("euclidean", unit="km")
    figure = sf.reports.picture(blurred(prior, ground), prior, ground)
    figure.draw_without_rendering()
    for ax in figure.axes[:3]:
        box = ax.title.get_window_extent()
        assert figure.bbox.y0 <= box.y0
        assert box.y1 <= figure.bbox.y1


@pytest.mark.thinned(3)
@pytest.mark.parametrize("most", [0.02, 0.084, 1.0])
def test_numbers_of_a_bar_do_not_overlap(most):
    grid = sf.Grid.covering("9 km x 7 km around 48.85,2.35", cell="1 km")
    share = np.full(len(grid), (1 - most) / (len(grid) - 1))
    share[0] = most
    prior, ground = sf.Prior(grid, share), grid.metric("euclidean", unit="km")
    figure = sf.reports.picture(blurred(prior, ground), prior, ground)
    figure.draw_without_rendering()
    for ax in figure.axes[3:]:
        boxes = [label.get_window_extent() for label in ax.get_xticklabels() if label.get_text()]
        inside = [box for box in boxes if ax.bbox.x0 <= (box.x0 + box.x1) / 2 <= ax.bbox.x1 + 1]
        inside.sort(key=lambda box: box.x0)
        assert len(inside) >= 2
        assert all(left.x1 < right.x0 for left, right in pairwise(inside))


def test_reports_elsewhere_are_drawn_where_they_are():
    visits = invented_city(users=20, days=7)
    city = sf.Lattice.covering(visits, "2 km")
    prior = sf.Prior.from_visits(city, visits)
    first = sf.design(prior, loss=city.loss(visits), guarantees=sf.CoordinatePrivacy("2/km"), method="table")
    made = sf.optimal.at_medians(first, visits).mechanism
    figure = sf.reports.picture(made, prior, city.metric(unit="km"))
    marks = {line.get_label(): np.asarray(line.get_xydata())[0] for line in figure.axes[1].lines}
    reports = city.projection.forward(*made.observables.latlon.T) / 1000
    assert np.hypot(*(reports - marks["report"]).T).min() < 1e-6


@pytest.mark.thinned(2)
@pytest.mark.parametrize("even", [True, False])
def test_only_shares_that_differ_have_the_brightest_colour(even):
    grid = sf.Grid.covering("3 km x 2 km around 48.85,2.35", cell="1 km")
    prior = sf.Prior(grid, np.full(6, 1 / 6) if even else np.arange(1, 7) / 21)
    ground = grid.metric("euclidean", unit="km")
    cells = sf.reports.picture(blurred(prior, ground), prior, ground).axes[0].collections[0]
    brightness = cells.norm(np.asarray(cells.get_array()))
    assert (np.max(brightness) < 0.6) == even


def test_an_outline_is_drawn_and_one_of_elsewhere_is_refused(city):
    prior, ground = city
    ring = [[-30.1, 39.9], [-29.9, 39.9], [-29.9, 40.1], [-30.1, 40.1], [-30.1, 39.9]]
    polygon = {"type": "Polygon", "coordinates": [ring]}
    named = {"type": "Feature", "properties": {"name": "Old Town"}, "geometry": polygon}
    outline = sf.reports.maps.outline_of(json.dumps(named), "island")
    mechanism = blurred(prior, ground)
    figure = sf.reports.picture(mechanism, prior, ground, outline=outline)
    assert "Old Town" in {text.get_text() for text in figure.axes[0].texts}
    grid = sf.Grid.covering("4 km x 3 km around 48.85,2.35", cell="1 km")
    there, metric = sf.Prior.uniform(grid), grid.metric("euclidean", unit="km")
    with pytest.raises(sf.errors.InputError, match="lies elsewhere"):
        sf.reports.picture(blurred(there, metric), there, metric, outline=outline)
    figure = sf.reports.picture(blurred(there, metric), there, metric)
    assert any("OpenStreetMap" in text.get_text() for text in figure.axes[2].texts)
    assert any("Paris" in text.get_text() for text in figure.axes[0].texts)


@pytest.mark.slow
def test_an_outline_of_the_whole_earth_is_drawn(city):
    prior, ground = city
    ring = [[-180, -90], [180, -90], [180, 90], [-180, 90], [-180, -90]]
    point = {
        "type": "Feature",
        "properties": {"name": "Antipode"},
        "geometry": {"type": "Point", "coordinates": [150, -40]},
    }
    world = {
        "type": "FeatureCollection",
        "features": [point, {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [ring]}}],
    }
    outline = sf.reports.maps.outline_of(json.dumps(world), "world")
    figure = sf.reports.picture(blurred(prior, ground), prior, ground, outline=outline)
    figure.draw_without_rendering()
    assert "Antipode" not in {text.get_text() for text in figure.axes[0].texts}


def test_where_all_places_are_alike_the_case_is_in_the_middle():
    lattice = sf.Lattice.covering("4 km x 4 km around 47.99,0.20", "1 km")
    ground, prior = lattice.metric("euclidean", unit="km"), sf.Prior.uniform(lattice)
    figure = sf.reports.picture(blurred(prior, ground), prior, ground)
    marks = {line.get_label(): np.asarray(line.get_xydata())[0] for line in figure.axes[1].lines}
    assert lattice.coordinates is not None
    middle = lattice.coordinates.mean(axis=0) / 1000
    assert np.linalg.norm(marks["true place"] - middle) <= 0.5 * 2**0.5 + 1e-9
