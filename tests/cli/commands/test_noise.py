"""Every command with a file of noise for coordinates: what it does, or what it says to do instead."""

import csv

import pytest

import sfumato as sf
from sfumato.files import MechanismFile
from sfumato.mechanisms.planar import CoordinateNoise


@pytest.fixture(scope="module")
def noise(visits_file):
    return CoordinateNoise.for_visits(sf.read_visits(visits_file), "1/km", fineness=0.5)


@pytest.fixture
def noisy(tmp_path, visits_file, noise):
    visits = sf.read_visits(visits_file)
    cells = sf.Grid.covering(visits, shape=(4, 3))
    sf.save(
        MechanismFile(noise, sf.Prior.from_visits(cells, visits), source="20 invented people"), tmp_path / "n.sfm"
    )
    sf.save(CoordinateNoise("1/km", "2 m", noise.projection), tmp_path / "raw.sfm")


@pytest.mark.usefixtures("noisy")
class TestCommands:
    def test_audit(self, run):
        done = run("audit", "n.sfm", "--require", "epsilon <= 1/km", "-o", "found.json")
        assert done.code == 0, done.err
        assert "e^(1/km x (distance + 2.83 m))" in done.text
        assert "made of '20 invented people'; anyone who sees reports or the file can see" in done.text
        assert (
            "The requirement 'epsilon <= 1/km' HOLDS: epsilon is at most 1/km, with 2.83 m of slack." in done.out
        )
        assert "These numbers are of a coarsening" in done.text
        assert run("audit", "n.sfm", "--require", "epsilon <= 0.1/km").code == 1
        assert run("audit", "n.sfm", "--require", "epsilon <= 100").code == 3

    def test_audit_of_promises_alone(self, run):
        done = run("audit", "raw.sfm", "--promises")
        assert done.code == 0
        assert "Proved from the recipe" in done.text
        done = run("audit", "n.sfm", "--metric", "euclidean")
        assert done.code == 1
        assert "noise for coordinates is audited by its guarantee" in done.err

    @pytest.mark.slow
    def test_attack(self, run, visits_file):
        done = run("attack", "n.sfm", "--visits", visits_file)
        assert done.code == 0, done.err
        assert "Best attacker, knowing where the visits were: average error between" in done.text
        assert "These numbers are of a coarsening" in done.text
        assert run("attack", "n.sfm").code == 0
        done = run("attack", "raw.sfm")
        assert done.code == 1
        assert "says nothing about where people are" in done.err
        assert run("attack", "raw.sfm", "--visits", visits_file).code == 0

    @pytest.mark.slow
    def test_release_and_estimate(self, run, visits_file, tmp_path):
        done = run("release", "n.sfm", visits_file, "out.csv")
        assert done.code == 0, done.err
        with (tmp_path / "out.csv").open() as stream:
            assert next(csv.reader(stream)) == ["latitude", "longitude"]
        for kind in ("arrow", "parquet"):
            done = run("release", "n.sfm", visits_file, f"out.{kind}", "--again")
            assert done.code == 0, done.err
            done = run("estimate", "n.sfm", f"out.{kind}")
            assert done.code in (0, 3), done.err
        assert run("estimate", "n.sfm", "out.csv", "-o", "shares.html").code == 3
        page = (tmp_path / "shares.html").read_text()
        assert "<svg" not in page  # all shares are withheld
        assert "people are taken to be spread over their cell (one of 12)" in page
        done = run("estimate", "n.sfm", "out.csv", "-o", "shares.csv")
        assert done.code == 3
        assert done.text.startswith("NOT SETTLED, and withheld: 12 of the 12 shares.")
        done = run("estimate", "n.sfm", "out.csv", "-o", "shares.csv", "--method", "early-stopped")
        assert done.code == 0, done.err
        assert "people are taken to be spread over their cell (one of 12)" in done.text
        with (tmp_path / "shares.csv").open() as stream:
            assert sum(float(row[1]) for row in list(csv.reader(stream))[1:]) == pytest.approx(1.0)
        (tmp_path / "out.csv.sfumato.json").unlink()
        done = run("estimate", "n.sfm", "out.csv")
        assert done.code == 1
        assert "'out.csv' has no mark of the mechanism" in done.err
        done = run("estimate", "n.sfm", "out.csv", "--unmarked")
        assert done.code == 3, done.err
        assert "Every report is one of the places in the noise's table" in done.text
        done = run("estimate", "n.sfm", visits_file, "--unmarked")
        assert done.code == 1
        assert "the reports do not fit the noise" in done.err
        assert "--no-check-fit" in done.err
        assert run("estimate", "n.sfm", "out.csv", "--column", "place").code == 1
        done = run("estimate", "raw.sfm", "out.csv")
        assert "says nothing about where people are" in done.err
        assert run("ledger", "create", "l.db", "--budget", "5/km").code == 0
        done = run("release", "n.sfm", visits_file, "b.csv", "--ledger", "l.db")
        assert done.code == 1
        assert "has spent 0/km of 5/km" in done.err

    def test_what_needs_a_matrix_says_what_to_do(self, run):
        done = run("tuple", "n.sfm", "--dummies", "3", "-o", "t.sfm")
        assert done.code == 1
        assert "which has no matrix" in done.err
        assert "use the file of a design on cells or on a lattice" in done.err
