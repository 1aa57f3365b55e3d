"""``sfumato attack`` and ``sfumato release`` on a file that ``sfumato design`` wrote."""

import re

import pyarrow.csv
import pytest

import sfumato as sf


@pytest.fixture
def designed(run, visits_file):
    assert run("design", visits_file, "--cells", "4x3", "-o", "m.sfm", "--no-picture").code == 0
    return sf.read("m.sfm")


def test_attack_prints_the_errors(run, designed):
    done = run("attack", "m.sfm")
    assert done.code == 0, done.err
    d = designed.mechanism.secrets.metric("euclidean", unit="km")
    found = sf.attacks.optimal(designed.mechanism, designed.prior, d)
    assert sf.rounding.amount_at_least(found.error, "km") in done.text
    bits = sf.leakage.mutual_information_bits(designed.mechanism, designed.prior)
    assert f"{sf.rounding.at_most(bits)} bits" in done.text


def test_what_is_known_without_a_report_is_told_alike_everywhere(run, designed):
    attacked, audited = run("attack", "m.sfm").text, run("audit", "m.sfm", "--promises").text
    (row,) = re.findall(r"no report, guesses the likeliest.*?km.*?km ([\d.]+ %)", attacked)
    (told,) = re.findall(r"without the report +([\d.]+ %)", attacked)
    assert row == told
    assert f"about {told} without seeing a report" in " ".join(audited.split())


def test_attack_under_another_prior(run, designed, visits_file):
    user = next(iter(sf.read_visits(visits_file).users()))
    done = run("attack", "m.sfm", "--visits", visits_file, "--user", user, "--distance", "hamming")
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("attack", "missing.sfm"), "No such file"),
        (("attack", "m.sfm", "--user", "x"), "--user was given without --visits"),
        (("attack", "m.sfm", "--sharper", "3"), "--sharper 3 is not between 0 and 1"),
        (("attack", "m.sfm", "--informed", "-1"), "--informed -1 is not between 0 and 1"),
        (("attack", "m.sfm", "--misinformed", "nan"), "--misinformed nan is not between 0 and 1"),
        (("release", "m.sfm", "missing.csv", "out.csv"), "missing.csv"),
        (("release", "m.sfm", "m.sfm", "out.csv"), "m.sfm"),
    ],
)
def test_refusals(run, designed, arguments, message):
    done = run(*arguments)
    assert done.code == 1
    assert message in done.err
    assert "Traceback" not in done.err


def test_attack_needs_a_prior(run, designed):
    sf.save(designed.mechanism, "bare.sfm")
    done = run("attack", "bare.sfm")
    assert done.code == 1
    assert "holds no prior" in done.err


def test_release_draws_a_report_for_every_row(run, designed, visits_file, tmp_path):
    done = run("release", "m.sfm", visits_file, "out.csv", "--outside", "nearest")
    assert done.code == 0, done.err
    table = pyarrow.csv.read_csv(tmp_path / "out.csv")
    assert table.num_rows == len(sf.read_visits(visits_file))
    labels = set(table.column(0).to_pylist()) | set(table.column(table.num_columns - 1).to_pylist())
    assert labels & set(designed.mechanism.observables.labels)
    assert "user" not in table.column_names


def test_version(run):
    done = run("--version")
    assert done.code == 0
    assert done.out.strip() == f"sfumato {sf.__version__}"
