"""``sfumato sweep``: its table, its figure, and how it refuses."""

import csv
from pathlib import Path

import pytest

FAST = ("--cells", "4x3")


def test_sweep_writes_the_frontier(run, tmp_path):
    done = run("sweep", *FAST, "--epsilons", "0.5..2/km:3", "--distortions", "1 km", "--loss", "hamming")
    assert done.code == 0, done.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["city-sweep.csv", "city-sweep.png"]
    with open(tmp_path / "city-sweep.csv", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert [float(row["epsilon"]) for row in table] == [0.5, 1.25, 2.0] * 2
    alone, joint = table[:3], table[3:]
    losses = [float(row["loss"]) for row in alone]
    assert losses == sorted(losses, reverse=True)  # more privacy costs more
    for row in table:
        assert float(row["epsilon_upper"]) <= float(row["epsilon"])
    for one, both in zip(alone, joint, strict=True):
        assert float(both["loss"]) >= float(one["loss_lower_bound"])
        assert float(both["distortion"]) >= 1.0


def test_sweep_does_not_take_the_name_of_the_visits(run, visits_file, tmp_path):
    """The table of visits.csv has a name of its own, so that the command runs beside them."""
    here = tmp_path / "visits.csv"
    here.write_bytes(Path(visits_file).read_bytes())
    done = run("sweep", str(here), "--cells", "4x3", "--epsilons", "1/km", "--no-picture")
    assert done.code == 0, done.err
    assert (tmp_path / "visits-sweep.csv").exists()


def test_sweep_over_users_goes_on_where_one_fails(run, visits_file, tmp_path):
    options = ("--cells", "4x3", "--distortions", "1 m, 90 km", "--users", "2", "--no-picture")
    done = run("sweep", visits_file, *options)
    assert done.code == 3
    with open(tmp_path / "visits-sweep.csv", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert len(table) == 4
    assert sum("sees no report" in row["status"] for row in table) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "there is nothing to sweep over"),
        (("--epsilons", "0.5/km", "-o", "out.sfm"), "does not end in .csv"),
        (("--epsilons", "0.5/km, -1/km"), "every value must be above 0"),
        (("--epsilons", "2..1/km:3"), "is empty"),
        (("--epsilons", "0.5/year"), "does not fit"),
        (("--epsilons", "0.5/km", "--users", "0"), "finds no user"),
        (("--epsilons", "0.5/km", "--users", "2", "--user", "u001"), "both --user and --users"),
    ],
)
def test_sweep_refusals(run, tmp_path, options, message):
    done = run("sweep", *FAST, *options)
    assert done.code == 1
    assert message in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_that_ends_with_3_says_why(run):
    done = run("sweep", *FAST, "--epsilons", "0.5/km, 1/km", "--time-limit", "0.001", "--no-picture")
    assert done.code == 3
    assert "NOT FINISHED: 2 of 2 designs (stopped at the time limit: " in done.text


def test_every_epsilon_that_hides_nothing_is_warned_of(run):
    done = run("sweep", "--cells", "2x2", "--epsilons", "1/km, 5/km", "--no-picture")
    assert done.code == 0, done.err
    assert "Warning: epsilon 5/km hides almost nothing" in done.err
    assert done.err.count("Warning") == 1
