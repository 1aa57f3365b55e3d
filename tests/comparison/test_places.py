"""Comparisons for places: the numbers by other routes, the order that must hold, and what cells promise."""

import csv
import math
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation

import sfumato as sf
from sfumato.comparison import ANY, CELLS, PlaceRow
from sfumato.errors import DataError, InfeasibleError, InputError, UnitError
from sfumato_papers.invented_city import invented_city

CITY = invented_city(users=20, days=7)
VISITS = CITY.inside(CITY.region(trim=0.03))


@pytest.fixture(scope="module")
def at_epsilon():
    return sf.compare_places(VISITS, epsilon=["0.7/km", "1.5/km"], spacing="1 km", bound_time=1)


@pytest.fixture(scope="module")
def at_loss():
    return sf.compare_places(VISITS, max_loss="900 m", spacing="1 km", bound_time=1)


@pytest.mark.slow
def test_nobody_with_the_promise_is_below_the_bound(at_epsilon):
    assert at_epsilon.values == (0.7, 1.5)
    for value in at_epsilon.values:
        bound = at_epsilon.row(ANY, value)
        assert 0 < bound.loss.lower < at_epsilon.blind_error.upper
        for row in (row for row in at_epsilon.rows if row.epsilon == value and row.name not in (ANY, CELLS)):
            assert not row.problem
            assert row.epsilon_upper <= value
            assert row.loss.lower <= row.loss.value <= row.loss.upper
            assert row.loss.upper >= bound.loss.lower
            assert at_epsilon.excess(row) == pytest.approx(row.loss.upper / bound.loss.lower - 1, rel=1e-9)
            assert row.attacker_error.lower <= min(row.loss.upper, at_epsilon.blind_error.upper) + 1e-9
            assert 1 < row.metre_factor.upper < math.exp(value * 0.01)
        assert at_epsilon.excess(bound) == 0


def test_the_order_of_what_was_published_holds(at_epsilon):
    """Planar Laplace noise loses 2 / epsilon; its remap and the spline lose less, the hat more than the spline."""
    for value in at_epsilon.values:
        raw, remapped, spline, hat = (
            at_epsilon.row(name, value).loss.value
            for name in ("planar Laplace", "planar Laplace + remap", "program, spline", "program, hat")
        )
        assert raw == pytest.approx(2 / value, rel=0.01)
        assert remapped < raw
        assert spline < hat
    names = dict.fromkeys(row.name for row in at_epsilon.rows)
    for name in names:
        assert at_epsilon.row(name, 1.5).loss.lower < at_epsilon.row(name, 0.7).loss.upper


def test_the_programs_loss_is_the_mean_distance_of_every_visit(at_epsilon):
    lattice = sf.Lattice.covering(VISITS, "1 km")
    prior = sf.Prior.from_visits(lattice, VISITS)
    promise = sf.CoordinatePrivacy("0.7/km")
    made = sf.design(
        prior, loss=lattice.loss(VISITS), guarantees=promise, gap=1e-3, method="table", medians=VISITS
    )
    places = lattice.projection.forward(*np.asarray(made.mechanism.observables.coordinates).T)
    assert len(places) != len(lattice)  # reports are at medians, as design puts them
    rounding, xy = lattice.rounding(VISITS.lat, VISITS.lon), lattice.projection.forward(VISITS.lat, VISITS.lon)
    total = 0.0
    for positions, shares, point in zip(rounding.positions, rounding.shares, xy, strict=True):
        reports = shares @ made.mechanism.matrix[positions]
        total += reports @ np.hypot(*(places - point).T) / 1000
    row = at_epsilon.row("program, spline", 0.7)
    assert row.loss.value == pytest.approx(total / len(VISITS), rel=3e-3)


def test_cells_promise_nothing_between_two_points(at_epsilon):
    cells = at_epsilon.row(CELLS, 0.7)
    assert math.isinf(cells.epsilon_upper)
    assert math.isinf(at_epsilon.excess(cells))
    # Middles of cells 1 km apart may be told apart by e^0.7, and neighbours at corners by more.
    assert 1.3 < cells.metre_factor.lower <= math.exp(0.7 * math.sqrt(2)) * (1 + 1e-9)


def test_noise_is_what_design_releases(at_epsilon):
    lattice = sf.Lattice.covering(VISITS, "1 km")
    prior, promise = sf.Prior.from_visits(lattice, VISITS), sf.CoordinatePrivacy("1.5/km")
    made = sf.design(prior, loss=lattice.loss(VISITS), guarantees=promise, method="noise")
    assert not made.has_program
    assert made.choice is not None
    row = at_epsilon.row("planar Laplace + remap", 1.5)
    assert row.loss.upper == pytest.approx(made.certificate.loss.upper / 1000, rel=1e-9)
    assert row.attacker_error.lower == pytest.approx(made.certificate.attacker.lower / 1000, rel=1e-9)
    assert row.slack_m == made.certificate.privacy.slack_m


def test_without_time_nothing_is_reached_and_everything_is_named():
    seen: list[PlaceRow] = []
    found = sf.compare_places(VISITS, epsilon=["0.7/km", "1.5/km"], time_limit=1e-9, emit=seen.append)
    assert [row.problem for row in found.rows] == ["not reached in the time"] * 12
    assert [row.name for row in found.rows[:6]] == [row.name for row in found.rows[6:]]
    assert sorted(map(id, seen)) == sorted(map(id, found.rows))
    assert not found.complete
    with pytest.raises(InputError, match="none of the mechanisms"):
        found.figure()
    found = sf.compare_places(VISITS, max_loss="900 m", time_limit=1e-9)
    assert {row.problem for row in found.rows} == {"not reached in the time"}


def test_all_is_reached_and_told_where_there_is_time(at_epsilon):
    assert at_epsilon.complete
    assert not any(row.problem or row.stopped for row in at_epsilon.rows)


@pytest.mark.slow
def test_a_loss_below_the_bound_by_its_slack_is_within_nothing_of_it(at_epsilon):
    row = at_epsilon.row("planar Laplace + remap", 0.7)
    low = at_epsilon.row(ANY, 0.7).loss.lower * 0.999
    assert at_epsilon.excess(replace(row, loss=sf.core.Bracket(low, low, low))) == 0.0
    with pytest.raises(InputError, match="no mechanism with this promise"):
        at_epsilon.excess(replace(row, loss=sf.core.Bracket(low, low, low), slack_m=0.0))


@pytest.mark.slow
def test_at_equal_loss_everybody_loses_just_that(at_loss):
    assert at_loss.equal == "loss"
    least = math.inf
    for row in at_loss.rows:
        if row.name == ANY:
            continue
        assert not row.problem, row.problem
        assert 0.989 * 0.9 < row.loss.upper <= 0.9
        least = min(least, row.epsilon)
    assert at_loss.row("planar Laplace").epsilon == pytest.approx(2 / 0.9, rel=0.02)
    for row in at_loss.rows:
        if row.name == ANY:
            assert row.epsilon < least
            assert row.loss.lower > 0.9


@pytest.mark.slow
def test_the_figure_of_an_equal_loss(at_loss):
    (ax,) = at_loss.figure().axes
    assert "proved: too small for any mechanism" in [text.get_text() for text in ax.texts]
    *others, longest = sorted(row.epsilon for row in at_loss.rows if row.name != ANY)
    widths = sorted(bar.get_width() for bar in ax.patches[:5] if isinstance(bar, Rectangle))
    assert widths == [*others, min(longest, 2.5 * others[-1])]


def test_table_and_figure(at_epsilon, tmp_path):
    at_epsilon.save(tmp_path / "places.csv")
    with open(tmp_path / "places.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == [row.name for row in at_epsilon.rows]
    assert float(rows[0]["loss_upper"]) == at_epsilon.rows[0].loss.upper
    assert rows[-1]["attacker_error"] == ""
    (ax,) = at_epsilon.figure().axes
    assert len(ax.get_legend_handles_labels()[1]) == len({row.name for row in at_epsilon.rows})
    assert "per km" in ax.get_xlabel()
    assert "(km)" in ax.get_ylabel()


def test_a_line_that_leaves_the_figure_says_how_far_it_goes(at_epsilon):
    """Planar Laplace noise loses 2.86 km at 0.7/km, and 1.33 km at 1.5/km."""
    (ax,) = at_epsilon.figure().axes
    (said,) = (text for text in ax.texts if isinstance(text, Annotation) and "at 0.7/km" in text.get_text())
    assert said.get_text() == "up to 2.86 km at 0.7/km"
    across, up = said.xy
    (line,) = (each for each in ax.lines if str(each.get_label()).startswith("planar Laplace noise (about"))
    assert up == ax.get_ylim()[1] < 2.86
    assert np.interp(
        np.log(across), np.log(np.asarray(line.get_xdata())), np.asarray(line.get_ydata())
    ) == pytest.approx(up)
    wide = replace(at_epsilon, blind_error=sf.core.Bracket.exact(10.0))
    (ax,) = wide.figure().axes  # nothing leaves it
    assert not any("at 0.7/km" in text.get_text() for text in ax.texts)
    narrow = replace(at_epsilon, blind_error=sf.core.Bracket.exact(1.0))
    (ax,) = narrow.figure().axes  # the whole line is above
    (said,) = (text for text in ax.texts if isinstance(text, Annotation) and "at 0.7/km" in text.get_text())
    assert said.xy == (1.5, 1.25)


def test_the_figure_of_one_epsilon_has_bars(at_epsilon):
    rows = tuple(row for row in at_epsilon.rows if row.epsilon == 0.7)
    alone = replace(at_epsilon, rows=rows, values=(0.7,))
    (ax,) = alone.figure().axes
    texts = [text.get_text() for text in ax.texts]
    assert "proved: no mechanism with this guarantee loses less" in texts
    assert "always the same report" in texts
    widths = sorted(bar.get_width() for bar in ax.patches[:5] if isinstance(bar, Rectangle))
    assert widths == sorted(row.loss.upper for row in rows if row.name != ANY)  # as the table has them
    assert "at epsilon 0.7/km" in ax.get_xlabel()


@pytest.mark.parametrize("bars", [True, False])
def test_a_figure_for_a_narrow_screen_shows_the_same(at_epsilon, bars):
    rows = tuple(row for row in at_epsilon.rows if row.epsilon == 0.7 or not bars)
    found = replace(at_epsilon, rows=rows, values=(0.7,) if bars else at_epsilon.values)
    broad, narrow = found.figure(), found.figure(narrow=True)
    narrow.canvas.draw()  # warns, which is an error here, where there is no room
    assert narrow.get_figwidth() < 5 < broad.get_figwidth()
    lengths = [
        [bar.get_width() for bar in each.axes[0].patches if isinstance(bar, Rectangle)] for each in (broad, narrow)
    ]
    assert lengths[0] == lengths[1]
    said = [sorted(" ".join(text.get_text().split()) for text in each.axes[0].texts) for each in (broad, narrow)]
    assert said[0] == said[1]
    box = narrow.axes[0].get_window_extent()
    assert all(text.get_window_extent().x1 <= narrow.bbox.x1 for text in narrow.axes[0].texts)
    assert box.width > 0.6 * narrow.bbox.width


def test_a_bar_that_would_hide_the_others_is_cut_off(at_epsilon):
    rows = [row for row in at_epsilon.rows if row.epsilon == 0.7]
    raw = next(row for row in rows if row.name == "planar Laplace")
    rows[rows.index(raw)] = replace(raw, loss=sf.core.Bracket.exact(2000.0))
    (ax,) = replace(at_epsilon, rows=tuple(rows), values=(0.7,)).figure().axes
    widths = [bar.get_width() for bar in ax.patches[:5] if isinstance(bar, Rectangle)]
    most = max(at_epsilon.blind_error.value, *(row.loss.upper for row in rows if row.loss.upper < 2000))
    assert max(widths) == pytest.approx(2.5 * most)
    assert [text.get_text() for text in ax.texts if "cut off" in text.get_text()] == ["2000 km, cut off"]


@pytest.mark.slow
def test_of_many_visits_the_same_ones_are_drawn():
    region = VISITS.region()
    one, other = (
        sf.compare_places(CITY, epsilon="1/km", region=region, spacing="2 km", bound_time=0, most_visits=60)
        for _ in range(2)
    )
    assert (one.visits, one.population) == (60, len(CITY.inside(region)))
    assert one.row("planar Laplace + remap").loss == other.row("planar Laplace + remap").loss
    assert one.bounds == ()
    assert math.isinf(one.excess(one.row("program, hat")))


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({}, InputError, "give one of them"),
        ({"epsilon": 1.0, "max_loss": 1.0}, InputError, "give one of them"),
        ({"epsilon": []}, InputError, "no epsilon"),
        ({"epsilon": float("nan")}, InputError, "epsilon"),
        ({"epsilon": "-1/km"}, InputError, "epsilon"),
        ({"epsilon": "1/h"}, UnitError, "unit"),
        ({"max_loss": "0 m"}, InputError, "no noise"),
        ({"max_loss": float("nan")}, InputError, "loss"),
        ({"max_loss": "90 km"}, InfeasibleError, "always reporting the same place"),
        ({"epsilon": 1.0, "time_limit": 0.0}, InputError, "time limit"),
        ({"epsilon": 1.0, "bound_time": -1.0}, InputError, "bound_time"),
        ({"epsilon": 1.0, "bound_time": float("nan")}, InputError, "bound_time"),
        ({"epsilon": 1.0, "time_limit": float("nan")}, InputError, "time limit"),
        ({"epsilon": 1.0, "most_visits": 1}, InputError, "visits"),
        ({"epsilon": 1.0, "spacing": "-1 m"}, InputError, "spacing"),
        ({"epsilon": 1.0, "spacing": "500"}, UnitError, "unit"),
        ({"epsilon": 1.0, "region": "8 km x 6 km around 48.85,2.35"}, DataError, "none is inside"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        sf.compare_places(VISITS, **{"bound_time": 0.0, **arguments})


def test_an_unknown_row_is_refused(at_epsilon):
    with pytest.raises(InputError, match="is not in the comparison"):
        at_epsilon.row("magic")
