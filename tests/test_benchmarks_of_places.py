"""The tables and sentences of benchmarks/places.md on real places agree with the kept numbers."""

import math
from pathlib import Path

import pytest
from benchmarks import places, released
from benchmarks.pages import PAGE, table_in

import sfumato as sf
from sfumato.comparison import ANY, CELLS

from .sampling.mechanisms import fix_seeds

TEXT = PAGE.read_text(encoding="utf-8")
WORDS = " ".join(TEXT.split())
GUIDE = " ".join((PAGE.parents[1] / "docs/explanation/coordinates.md").read_text(encoding="utf-8").split())
PEOPLE = [name for name in places.NAMES if name.startswith("user-")]


def by_mechanism():
    """The rows by instance and epsilon, each by mechanism."""
    found: dict[tuple[str, str], dict[str, places.Row]] = {}
    for row in places.numbers():
        found.setdefault((row["instance"], f"{row['epsilon']}/km"), {})[row["mechanism"]] = row
    return found


OF = by_mechanism()


def loss(name, epsilon, mechanism):
    return float(OF[name, epsilon][mechanism]["loss"])


def test_the_tables_are_those_of_the_numbers():
    assert table_in(TEXT, "places") == places.table(places.numbers())
    assert table_in(TEXT, "released files") == released.table(released.numbers())


def test_every_place_is_there():
    assert list(OF) == [(name, epsilon) for name in places.NAMES for epsilon in places.EPSILONS]
    shown = {places.MOVED, places.SPLINE, places.HAT, places.NOISE, CELLS, ANY, places.RAW}
    assert all(set(rows) == shown for rows in OF.values())
    files = [(row["instance"], row["kind"], row["epsilon"]) for row in released.numbers()]
    kinds = ("points", "cells")
    assert files == [(name, kind, e) for name in places.NAMES for kind in kinds for e in places.EPSILONS]


def test_what_keeps_the_promise_is_above_the_bound():
    for rows in OF.values():
        bound = float(rows[ANY]["loss_lower"])
        for name in (places.MOVED, places.SPLINE, places.HAT, places.NOISE, places.RAW):
            ends = [float(rows[name][key]) for key in ("loss_lower", "loss", "loss_upper")]
            assert ends == sorted(ends)
            assert ends[2] >= bound


def test_the_sentences_about_where_the_program_pays():
    more = {key: places.excess(rows) for key, rows in OF.items()}
    for epsilon in ("0.5/km", "1/km"):
        most = max(PEOPLE, key=lambda name: more[name, epsilon])
        assert min(more[name, epsilon] for name in PEOPLE) > -0.05
        assert f"up to {more[most, epsilon]:.1f} % more" in WORDS
    assert f"(person {most.removeprefix('user-')})" in WORDS
    less = [-more[name, "2/km"] for name in PEOPLE]
    assert f"At 2/km it loses {min(less):.1f} to {max(less):.1f} % less." in WORDS
    assert max(abs(more["paris", epsilon]) for epsilon in places.EPSILONS) < 1
    strong, middle, weak = (f"{more['new-york', epsilon]:.1f} %" for epsilon in places.EPSILONS)
    assert f"the noise loses {strong} more at 0.5/km, {middle} at 1/km and {weak} at 2/km." in WORDS


def test_the_other_sentences_about_the_table():
    for name in ("user-2", "user-3"):
        home = [loss(name, "0.5/km", each) for each in (places.MOVED, places.SPLINE, places.NOISE)]
        assert max(home) < 1.005 * min(home)
        assert 2 < loss(name, "0.5/km", CELLS) / min(home) < 10
    saved, better = [], []
    for name, epsilon in OF:
        spline, moved = (loss(name, epsilon, each) for each in (places.SPLINE, places.MOVED))
        keep = [loss(name, epsilon, each) for each in (places.MOVED, places.NOISE)]
        saved.append(100 * (1 - moved / spline))
        better.append(100 * (1 - loss(name, epsilon, CELLS) / min(keep)))
        assert loss(name, epsilon, places.HAT) >= spline
    assert min(saved) > -0.1
    assert f"saves up to {max(saved):.0f} %" in WORDS
    assert f"lose up to {max(better):.0f} % less than the best of the others" in WORDS
    near = [
        100 * (1 - float(OF[name, "0.5/km"][ANY]["loss_lower"]) / loss(name, "0.5/km", places.MOVED))
        for name in places.CENTRES
    ]
    assert all(1 < each < 3 for each in near)
    assert "(1 to 3 % below the program for the cities at 0.5/km)" in WORDS


def test_the_sentence_about_the_released_files():
    rows = released.numbers()
    farthest = [max(abs(float(row[key])) for row in rows) for key in ("loss_z", "error_z")]
    assert len(rows) == 72
    losses, errors = (f"{each:.1f}" for each in farthest)
    said = (
        f"the farthest is {losses} standard errors from its statement, and of the 72 attackers' errors {errors}."
    )
    assert said in WORDS
    for row in rows:
        assert int(row["rows"]) >= released.ROWS
        assert float(row["stated_error"]) <= float(row["stated_loss"]) * (1 + 1e-5)


def test_a_page_without_the_comments_is_refused():
    with pytest.raises(ValueError, match="each once"):
        table_in("no table", "places")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "epsilon"), [("paris", "1/km"), ("user-10", "0.5/km")])
def test_a_part_of_the_table_is_found_again(name, epsilon, shared_data):
    visits, region = places.instance(name, shared_data)
    again = list(places.measured(name, places.drawn(visits), region, [epsilon], bound_time=1))
    assert len(again) == len(OF[name, epsilon])
    for row in again:
        kept = OF[name, epsilon][row["mechanism"]]
        if row["mechanism"] == ANY:  # time decides how good a bound is, and both are right
            assert float(row["loss_lower"]) <= loss(name, epsilon, places.MOVED)
            continue
        assert float(row["loss"]) == pytest.approx(float(kept["loss"]), rel=3e-3)
        assert math.isclose(float(row["epsilon"]), float(kept["epsilon"]))
        assert row["how"] == kept["how"]


@pytest.mark.slow
def test_what_is_stated_of_a_released_file_is_found_again(shared_data, monkeypatch):
    fix_seeds(monkeypatch)
    visits, region = places.instance("user-10", shared_data)
    for kept in (row for row in released.numbers() if row["instance"] == "user-10" and row["epsilon"] == "1/km"):
        found = released.measured("user-10", visits, region, "1/km", kept["kind"])
        assert found.rows == int(kept["rows"])
        assert found.stated_loss == pytest.approx(float(kept["stated_loss"]), rel=3e-3)
        assert found.stated_error == pytest.approx(float(kept["stated_error"]), rel=6e-3)
        # Two files: each is within five standard errors of what is stated.
        assert max(abs(found.loss_z), abs(found.error_z), abs(float(kept["loss_z"]))) < 5


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "said"), [("square", "0.832 km"), ("triangular", "0.855 km")])
def test_squares_and_triangles_of_600_m(kind, said, shared_data):
    assert said in GUIDE
    visits, region = places.instance("paris", shared_data)
    assert programs_loss(visits, region, "600 m", kind) == pytest.approx(float(said.split()[0]), abs=1.5e-3)


@pytest.mark.slow
def test_the_cost_of_a_coarser_lattice(shared_data):
    assert "A spacing of half of 1/epsilon loses 1 to 2 % more than the finest." in GUIDE
    visits, region = places.instance("paris", shared_data)
    coarse, fine = (programs_loss(visits, region, spacing, "square") for spacing in ("500 m", "250 m"))
    assert 1.01 < coarse / fine < 1.02


def programs_loss(visits, region, spacing, kind):
    lattice = sf.Lattice.covering(visits, spacing, kind=kind, region=region)
    made = sf.design(
        sf.Prior.from_visits(lattice, visits),
        loss=lattice.loss(visits),
        guarantees=sf.CoordinatePrivacy("1/km"),
        method="table",
        gap=1e-3,
        tie_break=False,
    )
    return made.certificate.loss


def test_the_page_names_the_benchmarks():
    for name in ("places", "released"):
        assert f"`python -m benchmarks.{name} ../shared/data`" in WORDS
        assert (Path(places.__file__).parent / f"{name}.py").exists()
        assert (PAGE.parents[1] / "docs" / "data" / f"{name}.csv").exists()
