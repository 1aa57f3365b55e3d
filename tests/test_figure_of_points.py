"""The figure of losses in docs/explanation/coordinates.md: its numbers are in order and agree with the text."""

import csv
import math
import re
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.comparison import ANY, CELLS
from sfumato_papers.invented_city import invented_city

DOCS = Path(__file__).resolve().parents[1] / "docs"
WORDS = " ".join((DOCS / "explanation" / "coordinates.md").read_text(encoding="utf-8").split())
SQUARES, TRIANGLES = "program, spline", "program, hat"
REMAPPED, RAW = "planar Laplace + remap", "planar Laplace"
BLIND = 2.444  # km: the loss of always the same report, checked below


def _rows():
    with (DOCS / "data" / "points-loss.csv").open(newline="", encoding="utf-8") as file:
        return {(row["name"], float(row["epsilon"])): row for row in csv.DictReader(file)}


ROWS = _rows()
EPSILONS = sorted({epsilon for _, epsilon in ROWS})


def loss(name, epsilon, end="loss"):
    return float(ROWS[name, epsilon][end])


def test_everything_was_reached():
    assert EPSILONS == [0.5, 0.7, 1, 1.4, 2, 2.8]
    assert set(ROWS) == {(n, e) for n in (SQUARES, TRIANGLES, REMAPPED, RAW, CELLS, ANY) for e in EPSILONS}
    assert not any(row["problem"] or row["stopped"] for row in ROWS.values())


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_order_of_the_lines(epsilon):
    bound = loss(ANY, epsilon, "loss_lower")
    for name in (SQUARES, TRIANGLES, REMAPPED, RAW):
        assert float(ROWS[name, epsilon]["epsilon_upper"]) <= epsilon
        assert bound <= loss(name, epsilon, "loss_upper")
    assert math.isinf(float(ROWS[CELLS, epsilon]["epsilon_upper"]))
    assert loss(CELLS, epsilon) < loss(SQUARES, epsilon) < loss(TRIANGLES, epsilon)
    better, worse = (SQUARES, REMAPPED) if epsilon < 2.8 else (REMAPPED, SQUARES)
    assert loss(better, epsilon, "loss_upper") < loss(worse, epsilon, "loss_lower")
    assert loss(REMAPPED, epsilon, "loss_upper") < loss(RAW, epsilon)
    assert loss(RAW, epsilon) == pytest.approx(2 / epsilon, rel=1e-3)


def test_the_story_of_the_figure():
    assert f"Always reporting the same place loses {BLIND:.1f} km here" in WORDS
    assert loss(RAW, 0.7) > BLIND > loss(RAW, 1.0)
    assert max(loss(name, 0.5) for name in (SQUARES, TRIANGLES, REMAPPED)) < BLIND
    less = [100 * (1 - loss(SQUARES, each) / loss(REMAPPED, each)) for each in EPSILONS]
    assert f"{less[2]:.0f} % less at 1/km, but {-less[-1]:.0f} % more at 2.8/km" in WORDS
    assert less[-1] < 0 < 1 < min(less[:-1])
    more = 100 * (loss(TRIANGLES, 1.0) / loss(SQUARES, 1.0) - 1)
    assert f"Triangles (dark red) lose {more:.0f} % more than squares at 1/km, and more than plain noise" in WORDS
    assert [each for each in EPSILONS if loss(TRIANGLES, each) > loss(RAW, each)] == [2.8]


def test_how_near_the_program_is_to_the_best_conceivable():
    near = {e: 100 * (loss(SQUARES, e, "loss_upper") / loss(ANY, e, "loss_lower") - 1) for e in EPSILONS}
    strong, middle, weak = (math.ceil(near[each]) for each in (0.5, 1.0, 2.8))
    said = f"within {middle} % of it at 1/km, within {strong} % at 0.5/km and within {weak} % at 2.8/km."
    assert said in WORDS


@pytest.mark.slow
def test_a_part_of_the_figure_is_found_again():
    visits = sf.synthetic_city()
    found = sf.compare_places(visits, epsilon="1/km", region=visits.region(trim=0.02), bound_time=5)
    assert f"on these {found.visits:,} visits" in WORDS
    assert found.blind_error.value == pytest.approx(BLIND, abs=1e-3)
    for row in found.rows:
        if row.name == ANY:  # time decides how good a bound is, and both are right
            assert row.loss.lower <= loss(SQUARES, 1.0, "loss_upper")
            continue
        assert row.loss.value == pytest.approx(loss(row.name, 1.0), rel=3e-3)
        assert row.detail == ROWS[row.name, 1.0]["detail"]


@pytest.mark.slow
@pytest.mark.parametrize(("spacing", "said"), [("700 m", 1), ("1.4 km", 8)])
def test_what_medians_save(spacing, said):
    assert re.search(rf"by {said} % for (?:a spacing of )?{spacing}", WORDS)
    visits = invented_city()
    lattice = sf.Lattice.covering(visits, spacing, region=visits.region(trim=0.02))
    prior, promise = sf.Prior.from_visits(lattice, visits), sf.CoordinatePrivacy("1/km")
    made = sf.design(prior, loss=lattice.loss(visits), guarantees=promise, method="table")
    moved = sf.optimal.at_medians(made, visits)
    saved = 100 * (1 - moved.certificate.loss / made.certificate.loss)
    assert round(saved) == said
