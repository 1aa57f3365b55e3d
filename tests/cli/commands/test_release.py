"""``sfumato release`` with a file that ``sfumato design`` wrote."""

import pyarrow.csv
import pytest

import sfumato as sf


@pytest.fixture
def designed(run, visits_file):
    assert run("design", visits_file, "--cells", "4x3", "-o", "m.sfm", "--no-picture").code == 0
    return sf.read_mechanism_file("m.sfm")


def test_release_draws_a_report_for_every_row(run, designed, visits_file, tmp_path):
    done = run("release", "m.sfm", visits_file, "out.csv", "--outside", "nearest")
    assert done.code == 0, done.err
    table = pyarrow.csv.read_csv(tmp_path / "out.csv")
    assert table.num_rows == len(sf.read_visits(visits_file))
    labels = set(table.column(0).to_pylist()) | set(table.column(table.num_columns - 1).to_pylist())
    assert labels & set(designed.mechanism.observables.labels)
    assert "user" not in table.column_names


@pytest.mark.parametrize("source", ["missing.csv", "m.sfm"])
def test_refusals(run, designed, source):
    done = run("release", "m.sfm", source, "out.csv")
    assert done.code == 1
    assert source in done.err
    assert "Traceback" not in done.err
