"""``sfumato design`` with cells: what it writes, what it says, and how it refuses."""

import math
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import sfumato as sf

FAST = ("--cells", "4x3", "--verbose")
WAITING = """
import sys
from sfumato.cli import main, messages

line_of = messages.line_of

def wait_at_third_step(line, unit):
    if line.step == 3:
        print("At step 3", flush=True)
        sys.stdin.readline()
    return line_of(line, unit)

messages.line_of = wait_at_third_step
main()
"""
"""The command line, whose solve stands still at its third step until a line is read."""


def test_without_input_on_the_synthetic_city(run, tmp_path):
    done = run("design", *FAST)
    assert done.code == 0, done.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["city.md", "city.png", "city.sfm"]
    assert "synthetic city" in done.text
    held = sf.read_mechanism_file("city.sfm")
    assert held.prior is not None
    ((proof,), _) = sf.proofs.prove_guarantees(held.report_channel, held.prior, held.guarantees)
    assert proof.holds
    assert proof.upper <= 1.0
    assert "epsilon is at most 1/km" in done.text
    grid = held.mechanism.secrets
    assert isinstance(grid, sf.Grid)
    true = grid.loss(sf.synthetic_city())
    away = sf.rounding.amount_at_most(sf.proofs.expected_loss_above(held.report_channel, held.prior, true), "km")
    assert f"Average distance from true point to report: at most {away}, over the visits" in done.text
    assert "on two sides of a border, count as far apart as the centres of their cells" in " ".join(
        done.text.split()
    )
    assert (tmp_path / "city.md").read_text().startswith("# A mechanism for 12 cells")


@pytest.mark.slow
def test_same_input_same_bytes(run, tmp_path):
    assert run("design", *FAST, "--output", "a.sfm", "--no-picture").code == 0
    assert run("design", *FAST, "--output", "b.sfm", "--no-picture").code == 0
    assert (tmp_path / "a.sfm").read_bytes() == (tmp_path / "b.sfm").read_bytes()


def test_the_attack_sentence_is_true(run):
    done = run("design", *FAST, "--epsilon", "0.6/km", "--loss", "hamming", "--no-picture")
    assert done.code == 0, done.err
    held = sf.read_mechanism_file("city.sfm")
    assert held.prior is not None
    hits = sf.leakage.bayes_vulnerability(held.report_channel, held.prior)
    before = sf.leakage.prior_vulnerability(held.prior)
    most = math.ceil(100 * hits)
    assert f"at most {most} % of the time (about {100 * before:.0f} % without the report" in done.text


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--distortion", "1200 m"), "average error at least 1.2 km from the true point"),
        (("--epsilon", "1", "--protect-within", "2.5 km"), "Of two near cells (hops of at most 2.5 km)"),
        (("--max-loss", "1200 m"), "gives the best attacker an average error above"),
        (("--epsilon", "1/km", "--objective", "worst-case"), "a worst-case loss below"),
        (("--epsilon", "1/km", "--pairs", "spanner"), "optimal for the rows of a spanner only"),
        (
            (
                "--epsilon",
                "0.5/mi",
            ),
            "e^(0.310686 x distance in km)",
        ),
        (("--epsilon", "1/km", "--metric", "manhattan"), "(manhattan distance)"),
    ],
    ids=["distortion", "within", "dual", "worst-case", "spanner", "miles", "manhattan"],
)
def test_every_kind_of_request(run, options, sentence):
    done = run("design", *FAST, "--no-picture", *options)
    assert done.code == 0, done.err
    assert sentence in done.text


def test_a_limit_of_the_loss_alone_with_another_metric(run):
    done = run("design", "--cells", "3x3", "--metric", "manhattan", "--max-loss", "1 km", "--no-picture")
    assert done.code == 0, done.err


def test_own_visits_one_user_and_a_region(run, visits_file, tmp_path):
    user = next(iter(sf.read_visits(visits_file).users()))
    region = "6 km x 5 km around 40,-30"
    done = run(
        "design", visits_file, "--user", user, "--region", region, "--cell", "2 km", "--no-picture", "--verbose"
    )
    assert done.code == 0, done.err
    held = sf.read_mechanism_file(tmp_path / "visits.sfm")
    assert held.report_channel.shape == (9, 9)
    assert held.prior is not None
    grid = held.report_channel.secrets
    np.testing.assert_allclose(
        held.prior.probabilities, sf.Prior.from_visits(grid, sf.read_visits(visits_file), user=user).probabilities
    )
    assert f"user {user}" in done.text


@pytest.mark.slow
def test_hexagons(run):
    done = run("design", "--hexagons", "3 km", "--no-picture")
    assert done.code == 0, done.err
    assert isinstance(sf.read_mechanism_file("city.sfm").mechanism.secrets, sf.Hexagons)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--epsilon", "-1/km"), "epsilon must be a positive number"),
        (("--epsilon", "0/km"), "epsilon must be a positive number"),
        (("--epsilon", "0.6/year"), "does not fit"),
        (("--epsilon", "0.6 km"), "an amount per unit"),
        (("--epsilon", "much"), "is not a number with a unit"),
        (("--distortion", "900 km"), "an attacker who sees no report guesses within"),
        (("--distortion", "0 m"), "asks for nothing"),
        (("--distortion", "500 m", "--smoothing", "1"), "--smoothing was given with --distortion"),
        (("--distortion", "-5 m"), "is negative"),
        (("--distortion", "nan km"), "is not a number with a unit"),
        (("--distortion", "500 h"), "does not fit"),
        (("--max-loss", "900 m", "--epsilon", "1/km"), "the least possible with them is"),
        (("--max-loss", "10 m"), "the least possible with them is 577 m"),
        (("--objective", "median"), "is unknown"),
        (("--loss", "beauty"), "is unknown"),
        (("--region", "here"), "is not understood"),
        (("--region", "1 km x 1 km around 10,10", "--user", "ann"), "this design is for points"),
        (("--region", "1 km x 1 km around 10,10", "--lat", "y"), "without a file of visits"),
        (("--cell", "50 km"), "nothing to hide"),
        (("--cell", "1 m"), "cells"),
        (("--cell", "1 km", "--cells", "3x3"), "more than one of"),
        (("--output", "city.txt"), "does not end in .sfm"),
        (("--output", "no/such/folder/city.sfm"), "there is no folder 'no/such/folder'"),
        (("--user", "nobody"), "nobody"),
        (("--protect-within", "1 m", "--epsilon", "1"), "no two distinct values are within"),
    ],
)
def test_refusals_explain_and_write_nothing(run, tmp_path, options, message):
    grid = () if "--cell" in options else FAST
    done = run("design", *grid, *options)
    assert done.code == 1
    assert message in done.err
    assert "Hint: " in done.err
    assert "Traceback" not in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty"),
        ("name,size\na,1\n", "name, size"),
        ("lat,lon\n140.0,2.0\n", "latitude"),
        ("lat,lon\n139.7,35.7\n139.8,35.6\n", "swapped"),
        ("lat,lon\n48.85,2.35\n48.85,2.35\n", "nothing to hide"),
    ],
    ids=["empty", "columns", "latitude", "swapped", "one place"],
)
def test_bad_files(run, tmp_path, content, message):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    done = run("design", path)
    assert done.code == 1
    assert message in done.err
    assert list(tmp_path.iterdir()) == [path]


def test_a_table_without_places_is_sent_to_columns(run, tmp_path):
    (tmp_path / "ages.csv").write_text("age,answer\n31,yes\n45,no\n")
    assert run("design", "--cells", "3x2", "--no-picture", "-o", "city.sfm").code == 0
    for words in (["design", "ages.csv"], ["release", "city.sfm", "ages.csv", "out.csv"]):
        done = run(*words)
        assert done.code == 1
        said = " ".join(done.err.split())
        assert "no latitude and no longitude column" in said
        assert "or the like, design a mechanism for them: sfumato design-column --column NAME --labels" in said
        assert "sfumato.Space" not in said
    with pytest.raises(sf.errors.DataError, match=r"with sfumato.design, on a sfumato.Space") as caught:
        sf.read_visits("ages.csv")
    assert "--column" not in str(caught.value)
    (tmp_path / "half.csv").write_text("lat,answer\n31,yes\n45,no\n")
    assert "answers or the like" not in run("design", "half.csv").err


@pytest.mark.parametrize("option", ["--max-loss", "--loss", "--distortion"])
def test_a_bare_zero_is_not_completed_to_a_zero_that_is_refused(run, option):
    done = run("design", *FAST, option, "0")
    assert done.code == 1
    assert "'0 m'" not in done.err
    assert "'0.6 km'" in done.err


def test_exit_codes_tell_values_from_command_lines(run):
    for options, code in (
        (("--spacing", "abc"), 1),
        (("--time-limit", "abc"), 2),
        (("--no-such-option",), 2),
        (("--spacing",), 2),
    ):
        assert run("design", *options).code == code


def proved(path):
    held = sf.read_mechanism_file(path)
    assert held.prior is not None
    ((proof,), _) = sf.proofs.prove_guarantees(held.report_channel, held.prior, held.guarantees)
    return proof.holds


def test_too_little_time_gives_a_proved_mechanism_and_says_so(run, tmp_path):
    done = run("design", "--cells", "8x6", "--time-limit", "0.02", "--no-picture")
    assert done.code == 3
    assert "NOT FINISHED: stopped at the time limit" in done.text
    assert proved(tmp_path / "city.sfm")


@pytest.mark.slow
def test_a_wide_gap_is_reached_sooner_and_said(run):
    done = run("design", "--cells", "8x6", "--gap", "0.2", "--no-picture")
    assert done.code == 0
    assert proved("city.sfm")


@pytest.mark.slow
def test_ctrl_c_gives_a_proved_mechanism(tmp_path):
    command = [sys.executable, "-c", WAITING, "design", "--cells", "8x6", "--no-picture"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "At step 3\n"
        child.send_signal(signal.SIGINT)
        out, err = child.communicate("\n", timeout=300)
    assert child.returncode == 3, err
    assert "Traceback" not in err
    assert "NOT FINISHED: stopped on request" in " ".join(out.split())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["city.md", "city.sfm"]
    assert proved(tmp_path / "city.sfm")


def test_disk_full_leaves_nothing(run, tmp_path, monkeypatch):
    import errno

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    done = run("design", *FAST)
    assert done.code == 1
    assert "the disk is full" in done.err
    assert list(tmp_path.iterdir()) == []


def test_another_solver_can_be_asked_for(run):
    done = run("design", *FAST, "--solver", "highs", "--no-picture")
    assert done.code == 0, done.err
    assert "HiGHS ipm" in done.text
    done = run("design", *FAST, "--solver", "quick", "--no-picture")
    assert done.code == 1
    assert "--solver quick is unknown" in done.err
    assert "clarabel" in done.err


@pytest.mark.slow
def test_only_a_gap_that_matters_ends_with_3(run):
    # No float reaches 1e-14; what is near enough unasked is not what was asked.
    asked = run("design", *FAST, "--gap", "1e-14", "--solver", "structured", "--no-picture")
    assert asked.code == 3
    assert "NOT FINISHED" in asked.text
    assert "try --solver auto, or accept this with --gap" in asked.err
    highs = run("design", *FAST, "--gap", "1e-14", "--solver", "highs", "--no-picture")
    assert highs.code == 3
    assert "--solver highs" not in highs.err
    every = run("design", "--cells", "2x2", "--gap", "1e-14", "--no-picture")
    assert every.code == 3
    assert "Hint: accept this with --gap" in every.err
    plain = run("design", *FAST, "--epsilon", "10/km", "--loss", "hamming", "--no-picture")
    assert plain.code == 0, plain.err
    assert "NOT FINISHED" not in plain.text


@pytest.mark.parametrize(
    ("option", "value", "hint"),
    [("--distortion", "300 m", "leave one of them out"), ("--objective", "worst-case", "the expected loss")],
)
def test_what_a_largest_loss_cannot_be_asked_with(run, tmp_path, option, value, hint):
    done = run("design", *FAST, "--max-loss", "500 m", option, value)
    assert done.code == 1
    assert f"{option} was given with --max-loss" in done.err
    assert hint in " ".join(done.err.split())
    assert "DistortionPrivacy" not in done.err
    assert list(tmp_path.iterdir()) == []


def test_an_epsilon_that_hides_nothing_is_warned_of(run):
    done = run("design", "--cells", "2x2", "--no-picture", "--epsilon", "5/km")
    assert done.code == 0
    assert "Warning: epsilon 5/km hides almost nothing" in done.err
    assert "Warning" not in run("design", "--cells", "2x2", "--no-picture").err


def test_it_says_where_on_earth_the_visits_lie(run, tmp_path):
    (tmp_path / "paris.csv").write_text("user, lat , lon \na,48.85,2.35\nb,48.86,2.36\nc,48.87,2.34\n")
    done = run("design", "paris.csv", "--cells", "2x2", "--no-picture")
    assert done.code == 0, done.err
    assert "48.85 N to 48.87 N, 2.34 E to 2.36 E, in or near Paris" in done.err
    assert "invented people in San Francisco" in run("design", "--cells", "2x2", "--no-picture").err


@pytest.mark.parametrize("name", ["-", pytest.param("/dev/stdin", marks=pytest.mark.slow)])
def test_visits_may_be_piped_in(tmp_path, name):
    done = subprocess.run(
        [sys.executable, "-m", "sfumato", "design", name, "--cells", "2x2", "--no-picture", "--verbose"],
        cwd=tmp_path,
        input=b"lat,lon\n48.85,2.35\n48.86,2.36\n48.87,2.34\n",
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"3 visits in standard input" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mechanism.md", "mechanism.sfm"]


@pytest.mark.slow
def test_visits_held_out_are_judged_and_not_designed_for(run):
    done = run("design", *FAST, "--held-out", "0.2", "--no-picture")
    assert done.code == 0, done.err
    text = " ".join(done.text.split())
    kept, apart = sf.synthetic_city().held_out(0.2)
    held = sf.read_mechanism_file("city.sfm")
    assert isinstance(held.mechanism.secrets, sf.geo.Grid)
    assert held.prior is not None
    np.testing.assert_allclose(
        held.prior.probabilities, sf.Prior.from_visits(held.mechanism.secrets, kept).probabilities
    )
    grid = held.mechanism.secrets
    inside = int(grid.inside(apart.lat, apart.lon).sum())
    lost = held.report_channel.expected_loss(sf.Prior.from_visits(grid, apart), grid.loss(apart))
    assert f"On {inside:,} visits held out, which the design has not seen, the average distance" in text
    assert f"is about {sf.rounding.amount(lost, 'km')}. That is an estimate" in text
    assert f"({len(apart):,} visits that are held out left out)" in text
    for share in ("0", "1", "-1", "nan", "1e-9"):
        refused = run("design", *FAST, "--held-out", share)
        assert refused.code == 1
        assert "cannot be held out" in refused.err


@pytest.mark.slow
def test_distortion_is_that_of_the_true_point(run):
    """Also the most that a limit of the loss allows: what is said is proved of guesses anywhere."""
    visits = sf.synthetic_city()
    done = run("design", *FAST, "--epsilon", "3/km", "--distortion", "1200 m", "--no-picture")
    assert done.code == 0, done.err
    assert (
        "average error at least 1.2 km from the true point, for any guess (proved: at least 1.2 km)"
        in " ".join(done.text.split())
    )
    assert "eep it as secret as the visits" in done.err
    mechanism = sf.read_mechanism_file("city.sfm").report_channel
    found = sf.attacks.true_place(mechanism, visits)
    assert found.error.lower >= 1.2 * (1 - 1e-9)
    again = run("attack", "city.sfm")
    assert (
        "Of the visits that the file holds: Best attacker, knowing where the visits were: average error"
        in " ".join(again.text.split())
    )
    done = run("design", *FAST, "--max-loss", "1300 m", "--no-picture")
    assert done.code == 0, done.err
    most = re.search(
        r"an average error above ([\d.]+) km\. With this one it is at least [\d.]+ k?m: within ([\d.]+) %",
        " ".join(done.text.split()),
    )
    assert most, done.text
    private = sf.attacks.true_place(sf.read_mechanism_file("city.sfm").report_channel, visits)
    assert private.error.lower <= float(most[1])
    assert private.error.lower >= float(most[1]) * (1 - float(most[2]) / 100) - 0.01


@pytest.mark.slow
def test_the_best_conceivable_beside_a_design(run, visits_file, tmp_path):
    quick = ("--spacing", "2 km", "--bound-time", "1", "--no-picture", "-o", "b.sfm")
    for method in ("table", "noise"):
        done = run("design", visits_file, *quick, "--method", method)
        assert done.code in (0, 3), done.err
        assert "No mechanism that keeps epsilon 1/km between all points can lose less than" in done.text
        assert "of the best that any mechanism of this epsilon could do on these places." in done.text
        assert "The best conceivable" in (tmp_path / "b.md").read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--cells", "4x3", "--bound-time", "5"), "--bound-time is for points"),
        (("--distortion", "500 m", "--bound-time", "5"), "no epsilon is guaranteed"),
        (("--bound-time", "-1"), "is not a number of seconds"),
        (("--bound-time", "nan"), "is not a number of seconds"),
    ],
)
def test_a_bound_that_is_about_nothing_is_refused(run, visits_file, options, words):
    done = run("design", visits_file, *options)
    assert done.code == 1
    assert words in done.err
