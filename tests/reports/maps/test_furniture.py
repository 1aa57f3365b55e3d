"""Scale bars are as long as they say, by geodesics of another library; names do not overlap."""

from itertools import combinations

import numpy as np
import pytest
from pyproj import Geod

import sfumato as sf
from sfumato.geo import Projection
from sfumato.reports.maps import Name, bar_length, draw_names, most_visited, north_arrow, scale_bar
from sfumato.reports.theme import blank


def a_map(width, height, lat=48.85):
    figure = blank(4, 4)
    ax = figure.subplots()
    ax.set_aspect("equal")
    ax.set_xlim(-width / 2, width / 2)
    ax.set_ylim(-height / 2, height / 2)
    return figure, ax, Projection(lat, 2.35)


@pytest.mark.parametrize("lat", [-60.0, 0.0, 48.85, 70.0])
@pytest.mark.parametrize("width", [0.02, 0.7, 8.0, 33.0, 400.0])
def test_a_bar_is_as_long_on_earth_as_it_says(lat, width):
    _, ax, projection = a_map(width, width, lat)
    scale_bar(ax)
    ends = np.asarray(ax.lines[0].get_xdata()) * 1000
    where = projection.inverse(np.column_stack([ends, np.zeros(2)]))
    _, _, metres = Geod(ellps="WGS84").inv(where[0, 1], where[0, 0], where[1, 1], where[1, 0])
    number, unit = ax.texts[0].get_text().split()
    said = float(number) * {"km": 1000, "m": 1}[unit]
    assert metres == pytest.approx(said, rel=1e-3)
    assert said == bar_length(1000 * width)[0]
    assert 0.1 * width <= said / 1000 <= width / 3


@pytest.mark.parametrize("width_m", np.geomspace(1, 1e6, 60))
def test_lengths_are_round(width_m):
    length, text = bar_length(width_m)
    assert f"{length:e}"[0] in "125"
    assert float(f"{length:e}".split("e")[0]) in (1, 2, 5)
    assert text.endswith(("m", "km"))


def test_up_is_north():
    _, ax, projection = a_map(8, 8)
    north_arrow(ax)
    assert [text.get_text() for text in ax.texts] == ["N"]
    low, high = projection.inverse(np.array([[0.0, -3000.0], [0.0, 3000.0]]))
    azimuth = Geod(ellps="WGS84").inv(low[1], low[0], high[1], high[0])[0]
    assert azimuth == pytest.approx(0, abs=1e-6)


def test_names_do_not_overlap_and_stay_inside():
    random = np.random.default_rng(5)
    figure, ax, projection = a_map(8, 8)
    places = projection.inverse(random.uniform(-4000, 4000, (60, 2)))
    names = [Name("W" * int(random.integers(3, 20)), lat, lon, 9) for lat, lon in places.tolist()]
    draw_names(ax, names, projection, 3.0)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert 3 <= len(boxes) <= 8
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    for box in boxes:
        assert ax.bbox.x0 <= box.x0
        assert box.x1 <= ax.bbox.x1
    assert ax.texts[0].get_text() in {name.text for name in names}


def test_names_are_those_of_the_most_visited_places():
    lat = [48.85] * 6 + [48.86] * 3 + [48.84, 48.87] * 4 + [48.8]
    venue = ["Café $5"] * 6 + ["Gare"] * 3 + ["Chain"] * 8 + ["Once"]
    visits = sf.Visits(lat, [2.35] * len(lat), attributes={"venue": np.array(venue, dtype=object)})
    found = most_visited(visits)
    assert [(name.text, name.visits) for name in found] == [("Café $5", 6), ("Gare", 3)]
    assert (found[0].lat, found[0].lon) == (48.85, 2.35)
    assert most_visited(sf.Visits([48.85], [2.35])) == []
    assert most_visited(sf.Visits([48.85], [2.35], attributes={"name": [7]})) == []
