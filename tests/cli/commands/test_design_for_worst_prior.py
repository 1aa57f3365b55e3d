"""``--priors``: designs for the worst of several priors, against a linear program and the visits of each group."""

import csv
import stat
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from tests.optimal.test_robust import by_highs

TABLE = {"north": {"flu": 0.6, "cold": 0.3, "none": 0.1}, "south": {"flu": 0.05, "cold": 0.05, "none": 0.9}}


@pytest.fixture
def shifts(tmp_path):
    """Visits by day and by night, and their rows."""
    random = np.random.default_rng(5)
    rows = [("day", *random.normal((48.85, 2.33), (0.004, 0.006))) for _ in range(150)]
    rows += [("night", *random.normal((48.87, 2.37), (0.004, 0.006))) for _ in range(50)]
    with (tmp_path / "visits.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("shift", "lat", "lon"), *rows])
    return rows


@pytest.fixture
def answers(tmp_path):
    """A table of priors, and a table of people with the same shares in two regions."""
    with (tmp_path / "priors.csv").open("w", newline="", encoding="utf-8") as file:
        rows = [(name, secret, share) for name, prior in TABLE.items() for secret, share in prior.items()]
        csv.writer(file).writerows([("distribution", "secret", "probability"), *rows])
    with (tmp_path / "people.csv").open("w", newline="", encoding="utf-8") as file:
        people = [(name, secret) for name, secret, share in rows for _ in range(round(20 * share))]
        csv.writer(file).writerows([("region", "diagnosis"), *people])


def column(run, *options):
    labels = ("--column", "diagnosis", "--labels", "flu,cold,none", "--epsilon", 1)
    return run("design-column", *labels, "-o", "d.sfm", "--no-picture", *options)


def test_the_largest_loss_of_the_groups_is_that_of_a_linear_program(run, shifts):
    done = run(
        "design",
        "visits.csv",
        "--cells",
        "3x2",
        "--epsilon",
        "1/km",
        "--priors",
        "shift",
        "--no-picture",
        "-o",
        "m.sfm",
    )
    assert done.code == 0, done.err
    file = sf.read_mechanism_file("m.sfm")
    matrix, grid, prior = file.report_channel.matrix, file.report_channel.secrets, file.prior
    assert isinstance(grid, sf.Grid)
    assert prior is not None
    centres = np.asarray(grid.coordinates)
    masses, losses = np.zeros((2, 6)), np.zeros((2, 6, 6))
    for name, lat, lon in shifts:
        group, cell = ["day", "night"].index(name), int(grid.locate([lat], [lon])[0])
        distances = np.hypot(*(centres - grid.projection.forward([lat], [lon])).T) / 1000
        masses[group, cell] += 1
        losses[group, cell] += distances
    losses /= np.maximum(masses, 1)[:, :, None]
    masses /= masses.sum(axis=1, keepdims=True)
    distances = np.linalg.norm(centres[:, None] - centres, axis=2) / 1000
    means = [float(mass @ (matrix * loss).sum(axis=1)) for mass, loss in zip(masses, losses, strict=True)]
    assert max(means) == pytest.approx(by_highs(masses, losses, distances), rel=2e-4)
    for name, mean in zip(("day", "night"), means, strict=True):
        assert f"'{name}' {sf.rounding.amount_at_most(mean * (1 + 1e-12), 'km')}" in done.text
    assert "for each of 2 priors, and for any mixture of them" in done.text
    # The file holds the least favourable mixture, and its prices prove the bound for this mixture.
    share = np.linalg.lstsq(masses.T, prior.probabilities, rcond=None)[0]
    assert share @ masses == pytest.approx(prior.probabilities)
    audit = run("audit", "m.sfm", "--promises")
    assert audit.code == 0
    assert "by the dual prices in the file" in audit.text


def test_a_table_and_groups_of_rows_with_its_shares_give_one_mechanism(run, answers):
    matrices = []
    for options in (("--priors", "priors.csv"), ("people.csv", "--priors", "region")):
        done = column(run, *options, "--report", "d.json", "--frontier-time", 0)
        assert done.code == 0, done.err
        assert "for each of 2 priors, and for any mixture of them" in Path("d.json").read_text(encoding="utf-8")
        assert "Prior: the least favourable mixture of 2" in done.text
        assert "'north' 43 %, 'south' 43 %" in done.text or "'south' 43 %, 'north' 43 %" in done.text
        assert ("holds shares of the data" in done.err) == (options[0] == "people.csv")
        matrices.append(sf.read_mechanism_file("d.sfm").report_channel.matrix)
    assert matrices[0] == pytest.approx(matrices[1], abs=1e-4)
    # With two priors so far apart nothing is better than randomised response.
    assert matrices[0] == pytest.approx(sf.mechanisms.randomised_response(sf.Space("abc"), 1).matrix, abs=1e-4)


def test_a_gap_that_is_not_reached_is_printed_and_exits_with_3(run, answers):
    done = column(run, "--priors", "priors.csv", "--gap", "1e-15")
    assert done.code == 3
    assert "NOT FINISHED" in done.text
    assert run("audit", "d.sfm", "--promises").code == 0


def test_a_file_that_may_hold_the_prior_of_one_group_is_readable_by_its_owner_only(run, shifts, tmp_path):
    options = ("--cells", "2x1", "--priors", "shift", "--smoothing", "1", "-o", "m.sfm", "--no-picture")
    done = run("design", "visits.csv", *options)
    assert done.code == 0, done.err
    assert stat.S_IMODE((tmp_path / "m.sfm").stat().st_mode) == 0o600


def test_smoothing_is_said_for_every_loss_and_for_groups(run, shifts):
    """The loss under the smoothed prior is stated besides that of the visits, and groups are smoothed too."""
    cells = ("--cells", "2x1", "--smoothing", "3", "-o", "m.sfm", "--no-picture")
    for loss in ("euclidean", "great-circle"):
        done = run("design", "visits.csv", *cells, "--epsilon", "2/km", "--loss", loss)
        assert done.code == 0, done.err
        file = sf.read_mechanism_file("m.sfm")
        assert file.prior is not None
        assert file.loss is not None
        under = sf.rounding.amount_at_most(file.report_channel.expected_loss(file.prior, file.loss), "km")
        assert f"Under it the average loss is at most {under}." in done.text
        assert "a cell without visits counts as if people were at its centre" in done.text
    done = run("design", "visits.csv", *cells, "--priors", "shift", "--epsilon", "2/km")
    assert "with --smoothing each prior of --priors counts 3 more visits at every place" in done.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--priors nope", "--priors: there is no column 'nope'"),
        ("--priors shift --user ada", "--user was given with --priors"),
        ("--priors shift --max-loss", "--max-loss was given with --priors"),
        ("--priors shift --loss", "--loss was given with --priors, which needs an epsilon"),
        ("--priors shift --method noise", "--method noise was given with --priors"),
        ("--priors shift --checkpoints state", "--checkpoints was given with --priors"),
        ("--priors one", "holds one value, and so one group"),
        ("--priors shift --region 48.85,2.32,48.855,2.335", "--priors: one group of 'shift' has visits in the"),
        ("--priors gaps", "1 row of 3 have no 'gaps'"),
    ],
)
def test_wrong_options_for_places_are_refused(run, tmp_path, options, words):
    rows = ["shift,one,gaps,lat,lon", "day,x,a,48.85,2.33", "night,x,,48.86,2.34", "day,x,b,48.87,2.36"]
    (tmp_path / "visits.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    length = ["500 m"] if options.endswith("loss") else []
    done = run("design", "visits.csv", *options.split(), *length, "-o", "m.sfm")
    assert done.code == 1
    assert words in done.err
    assert not (tmp_path / "m.sfm").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--priors region", "is not a table (.csv, .parquet), and no table with such a column"),
        ("people.csv --priors diagnosis", "'diagnosis' is a column to make private"),
        ("people.csv --priors nope", "has no column 'nope'"),
        ("people.csv --priors regoin", "name the column with --priors region"),
        ("--priors priors.csv --prior data", "--prior was given with --priors"),
        ("--priors priors.csv --column age --numbers age=18..97:40", "--priors was given with 2 columns"),
        ("--priors none.csv", "there is no file"),
        ("--priors people.csv", "it needs the columns distribution, secret, probability"),
        ("--priors single.csv", "single.csv holds one prior"),
        ("--priors twice.csv", "for the prior 'a'"),
        ("--priors half.csv", "prior 'a': the prior sums to 0.5, not to 1"),
    ],
)
def test_wrong_options_for_columns_are_refused(run, answers, tmp_path, options, words):
    tables = {"single": ["a,flu,1"], "twice": ["a,flu,1", "a,flu,1"], "half": ["a,flu,0.5", "b,flu,1"]}
    for name, rows in tables.items():
        text = "\n".join(["distribution,secret,probability", *rows, ""])
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    done = column(run, *options.split())
    assert done.code == 1
    assert words in done.err
