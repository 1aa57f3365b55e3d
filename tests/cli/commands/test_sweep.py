"""``sfumato sweep``: its table, its figure, and how it refuses."""

import csv
from pathlib import Path

import pytest

import sfumato as sf

FAST = ("--cells", "4x3")


@pytest.mark.slow
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
    assert "Distances are between the centres of cells" in done.text


@pytest.mark.slow
def test_by_default_a_sweep_is_for_points(run, visits_file, tmp_path):
    options = ("--spacing", "2 km", "--epsilons", "0.4/km, 0.8/km")
    done = run("sweep", visits_file, *options)
    assert done.code == 0, done.err
    assert "Epsilon is between any two points." in done.text
    assert "was chosen" not in done.text
    visits = sf.read_visits(visits_file)
    lattice = sf.Lattice.covering(visits, "2 km")
    prior, loss = sf.Prior.from_visits(lattice, visits), lattice.loss(visits)
    with open(tmp_path / "visits-sweep.csv", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert len(table) == 2
    for row in table:
        promise = sf.CoordinatePrivacy(float(row["epsilon"]))
        alone = sf.design(prior, loss=loss, guarantees=promise, method="best", gap=1e-4, medians=visits)
        assert float(row["loss"]) == pytest.approx(lost(alone), rel=3e-4)
        assert float(row["epsilon_upper"]) <= float(row["epsilon"])
        attack = sf.attacks.true_place(alone.mechanism, visits)
        assert float(row["distortion"]) <= attack.error.upper
        assert float(row["distortion"]) == pytest.approx(attack.error.lower, rel=3e-2)
        kind = "table" if alone.has_program else "planar noise"
        assert row["mechanism"] == kind
        assert (row["slack_m"] != "") == (kind == "planar noise")
        assert f"everyone, epsilon {float(row['epsilon']):g}: {kind}, loses at most" in done.err


def lost(made):
    """Return what a design loses, whichever it is."""
    return made.certificate.loss if made.has_program else made.choice.noise.upper


@pytest.mark.slow
def test_each_design_is_the_better_of_program_and_noise(run, visits_file, tmp_path):
    options = ("--spacing", "2 km", "--epsilons", "0.2/km, 4/km", "-o", "better.csv")
    done = run("sweep", visits_file, *options)
    assert done.code == 0, done.err
    with open(tmp_path / "better.csv", encoding="utf-8") as file:
        program, noise = csv.DictReader(file)
    assert (program["mechanism"], noise["mechanism"]) == ("table", "planar noise")
    assert noise["hit_rate"] == noise["gap"] == ""
    assert float(noise["loss"]) < 2 / 4  # of the noise without a remap
    assert "Planar noise with a remap was taken in 1 of 2 designs" in done.text
    assert "Its guarantee has a slack" in done.text
    assert "was not considered" not in done.text
    assert (tmp_path / "better.png").exists()


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--epsilons", "1/km", "--smoothing", "1"), "the prior is not that of the visits"),
        (("--epsilons", "1/km", "--loss", "manhattan"), "the loss is not the Euclidean distance"),
        (("--distortions", "500 m"), "it gives a guarantee per metre, and no other"),
        (("--epsilons", "1/km", "--time-limit", "4.5"), "there is no time for it"),
    ],
)
def test_where_noise_is_not_looked_at_is_said(run, visits_file, options, reason):
    done = run("sweep", visits_file, "--spacing", "3 km", "--no-picture", *options)
    assert f"In 1 of 1 designs planar noise was not considered: {reason}" in done.text


@pytest.mark.slow
def test_one_spacing_is_chosen_for_the_largest_epsilon(run, visits_file):
    done = run("sweep", visits_file, "--epsilons", "0.2..0.6/km:2", "--no-picture")
    assert done.code == 0, done.err
    visits = sf.read_visits(visits_file)
    said = sf.optimal.choose_lattice(visits, sf.CoordinatePrivacy(0.6), most=200).sentence
    assert f"All designs are on one lattice, for the largest epsilon, 0.6/km. {said}" in done.text
    assert "finds the vertex" in done.text


@pytest.mark.slow
def test_each_user_has_their_own_loss_and_attacker(run, visits_file, tmp_path):
    done = run("sweep", visits_file, "--spacing", "2 km", "--epsilons", "1/km", "--users", "2", "--no-picture")
    assert done.code == 0, done.err
    visits = sf.read_visits(visits_file)
    lattice = sf.Lattice.covering(visits, "2 km")
    with open(tmp_path / "visits-sweep.csv", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    for row, user in zip(
        table, list(visits.select(lattice.inside(visits.lat, visits.lon)).users())[:2], strict=True
    ):
        assert row["prior"] == f"user {user}"
        prior = sf.Prior.from_visits(lattice, visits, user=user)
        loss, promise = lattice.loss(visits, user=user), sf.CoordinatePrivacy("1/km")
        mine = visits.of_user(user)
        made = sf.design(prior, loss=loss, guarantees=promise, method="best", gap=1e-4, medians=mine)
        assert float(row["loss"]) == pytest.approx(lost(made), rel=3e-4)


def test_losses_of_cells_are_from_the_true_point(run, visits_file, tmp_path):
    done = run("sweep", visits_file, *FAST, "--epsilons", "1/km", "--no-picture")
    assert "Loss is the distance from the true point." in done.text
    visits = sf.read_visits(visits_file)
    grid = sf.Grid.covering(visits, shape=(4, 3))
    prior, km = sf.Prior.from_visits(grid, visits), grid.metric("euclidean", unit="km")
    made = sf.design(prior, loss=grid.loss(visits), guarantees=sf.MetricPrivacy("1/km", km))
    with open(tmp_path / "visits-sweep.csv", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert float(row["loss"]) == pytest.approx(made.certificate.loss, rel=1e-4)
    error = sf.attacks.true_place(made.mechanism, visits).error
    assert float(row["distortion"]) == pytest.approx(error.value, rel=1e-2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--metric", "manhattan"), "--metric is for cells"),
        (("--objective", "worst-case"), "--objective is for cells"),
        (("--spacing", "1 km", "--cells", "4x3"), "--spacing is for points"),
        (("--loss", "hamming"), "--loss hamming is unknown for points"),
        (("--spacing", "1 m"), "--spacing"),
        (("--user", "nobody"), "nobody"),
    ],
)
def test_options_of_points_and_of_cells_are_kept_apart(run, tmp_path, options, message):
    done = run("sweep", "--epsilons", "1/km", *options)
    assert done.code == 1
    assert message in done.err
    assert list(tmp_path.iterdir()) == []


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


@pytest.mark.thinned(3)
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
