"""``sfumato estimate``: the population back from released reports."""

import csv

import numpy as np
import pytest

import sfumato as sf


@pytest.fixture
def released(run, tmp_path):
    space = sf.Space(["red", "green", "blue"])
    mechanism = sf.mechanisms.randomised_response(space, 2.0)
    sf.save(mechanism, "m.sfm")
    rng = np.random.default_rng(2)
    truth = rng.choice(3, size=4000, p=[0.6, 0.3, 0.1])
    drawn = sf.simulator(mechanism, seed=4).draw(truth)
    (tmp_path / "r.csv").write_text("label\n" + "\n".join(str(space.labels[o]) for o in drawn) + "\n")
    return truth


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--intervals", "profile"),
        ("--method", "inversion", "--intervals", "normal"),
        ("--method", "least-squares"),
        ("--method", "early-stopped"),
    ],
)
def test_the_truth_is_found_again(run, released, options):
    done = run("estimate", "m.sfm", "r.csv", "-o", "e.csv", *options)
    assert done.code == 0, done.err
    with open("e.csv", newline="", encoding="utf-8") as file:
        rows = {row["secret"]: row for row in csv.DictReader(file)}
    shares = np.bincount(released, minlength=3) / len(released)
    for share, label in zip(shares, ("red", "green", "blue"), strict=True):
        assert float(rows[label]["probability"]) == pytest.approx(share, abs=0.06)
        if "lower" in rows[label]:
            assert float(rows[label]["lower"]) < share < float(rows[label]["upper"])
    assert done.text.index("red") < done.text.index("green") < done.text.index("blue")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("m.sfm", "r.csv", "--column", "place"), "no column 'place'"),
        (("m.sfm", "r.csv", "-o", "e.txt"), "does not end in .csv"),
        (("m.sfm", "nowhere.csv"), "there is no file"),
        (("m.sfm", "r.csv", "--intervals", "normal"), "Hint:"),
        (("nowhere.sfm", "r.csv"), "No such file"),
    ],
)
def test_refusals(run, released, arguments, message):
    done = run("estimate", *arguments)
    assert done.code == 1
    assert message in done.err


def test_shares_of_vertices_are_called_so(run):
    lattice = sf.Lattice.covering("2 km x 2 km around 48.85,2.35", "1 km")
    assert lattice.kind == "square"
    sf.save(sf.mechanisms.exponential(lattice, lattice.metric("euclidean", "km"), "1/km"), "v.sfm")
    lat, lon = np.full(300, 48.851), np.full(300, 2.352)
    vertices = lattice.projection.forward(*lattice.latlon.T)
    farthest = np.hypot(*(vertices - lattice.projection.forward([48.851], [2.352])).T)
    rounding = lattice.rounding(lat[:1], lon[:1])
    assert farthest[rounding.positions[rounding.shares > 0]].max() <= 2.2 * lattice.spacing_m
    sf.release(sf.load("v.sfm"), sf.Visits(lat, lon), "v.csv")
    done = run("estimate", "v.sfm", "v.csv")
    assert done.code in (0, 3), done.err
    assert "those of the vertices that people are rounded to" in done.text
