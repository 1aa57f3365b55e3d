"""``sfumato design`` without cells: the lattice that it chooses, what it promises of points, what it refuses."""

import os
import re
import signal
import sys

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import SolverError
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.optimal import choose_lattice
from sfumato.proofs import prove_guarantees

FAST = ("--spacing", "1.5 km", "--method", "table", "--no-picture", "--verbose")


@pytest.mark.slow
def test_places_are_points_by_default_and_the_spacing_is_chosen_and_said(run, tmp_path):
    done = run("design", "--epsilon", "0.4/km", "--verbose")
    assert done.code == 0, done.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["city.md", "city.png", "city.sfm"]
    held = sf.read_mechanism_file("city.sfm")
    lattice, visits = held.mechanism.secrets, sf.synthetic_city()
    assert isinstance(lattice, sf.Lattice)
    chosen = choose_lattice(visits, sf.CoordinatePrivacy("0.4/km"))
    assert lattice == chosen.lattice
    assert chosen.sentence in done.text
    assert held.prior is not None
    ((proof,), _) = prove_guarantees(held.report_channel, held.prior, held.guarantees)
    assert proof.holds
    assert proof.upper <= 0.4
    assert "for any two points that the lattice serves" in done.text
    # The stated loss, by another route: simulated reports of the visits themselves.
    stated = re.search(r"true point to report: at most ([\d.]+) km, over the visits", done.text)
    assert stated is not None
    reports = sf.simulator(held.mechanism, 7).blur(np.tile(visits.lat, 8), np.tile(visits.lon, 8))
    plane = lattice.projection
    true, shown = plane.forward(np.tile(visits.lat, 8), np.tile(visits.lon, 8)), plane.forward(*reports.T)
    away = np.hypot(*(true - shown).T) / 1000
    error = 4 * away.std() / np.sqrt(len(away))
    assert away.mean() == pytest.approx(float(stated[1]), abs=error + 0.01)
    report = (tmp_path / "city.md").read_text(encoding="utf-8")
    assert report.startswith(f"# A mechanism for {len(lattice)} lattice points")


def test_the_reason_for_a_spacing_is_the_true_one():
    area = sf.Region.parse("7.05 km x 4 km around 48.85,2.35")
    assert "a tenth of the longer side" in choose_lattice(area, sf.CoordinatePrivacy("1/km")).sentence
    assert "three quarters of 1/epsilon" in choose_lattice(area, sf.CoordinatePrivacy("1.5/km")).sentence
    assert "the finest with at most 250 vertices" in choose_lattice(area, sf.CoordinatePrivacy("2/km")).sentence


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ((), "square"),
        (("--lattice", "triangular"), "triangular"),
        (("--near", "10 m"), "square"),
    ],
)
def test_a_lattice_of_a_given_spacing(run, options, kind):
    done = run("design", *FAST, *options)
    assert done.code == 0, done.err
    lattice = sf.read_mechanism_file("city.sfm").mechanism.secrets
    assert isinstance(lattice, sf.Lattice)
    assert (lattice.kind, lattice.spacing_m) == (kind, 1500)
    assert "The spacing of" not in done.text
    whole = sf.Lattice.covering(sf.synthetic_city(), "1.5 km")
    assert len(lattice) <= len(whole) or kind == "triangular"


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--distortion", "1200 m"), "average error at least 1.2 km from the true point"),
        pytest.param(
            ("--max-loss", "1500 m", "--epsilon", "2/km"),
            "gives the best attacker an average error above",
            marks=pytest.mark.slow,
        ),
        pytest.param(("--loss", "manhattan"), "manhattan", marks=pytest.mark.slow),
        (("--epsilon", "1/mi"), "e^(0.62137"),
        pytest.param(("--pairs", "spanner"), "epsilon is at most", marks=pytest.mark.slow),
    ],
)
def test_requests_on_a_lattice(run, options, sentence):
    done = run("design", *FAST, *options)
    assert done.code == 0, done.err
    assert sentence in done.text


@pytest.mark.slow
def test_one_users_visits_count_for_prior_and_loss(run, visits_file):
    visits = sf.read_visits(visits_file)
    user = next(iter(visits.users()))
    done = run("design", visits_file, *FAST, "--user", user)
    assert done.code == 0, done.err
    held = sf.read_mechanism_file("visits.sfm")
    lattice = held.mechanism.secrets
    assert isinstance(lattice, sf.Lattice)
    assert held.prior is not None
    assert held.loss is not None
    np.testing.assert_allclose(
        held.prior.probabilities, sf.Prior.from_visits(lattice, visits, user=user).probabilities
    )
    np.testing.assert_allclose(
        held.loss.array, lattice.loss(visits, user=user, observables=held.mechanism.observables).array
    )
    assert f"{len(visits.of_user(user)):,} visits of user {user}" in done.text


@pytest.mark.parametrize(
    ("options", "problem", "hint"),
    [
        (
            ("--spacing", "1 km", "--cells", "4x3"),
            "--spacing is for points, but --cells asks for cells",
            "leave one",
        ),
        (
            ("--method", "noise", "--cell", "1 km"),
            "--method is for points, but --cell asks for cells",
            "leave one",
        ),
        (("--method", "both"), "--method both is unknown", "best, table or noise"),
        (
            ("--method", "noise", "--distortion", "1 km", "--epsilon", "1/km"),
            "planar noise cannot replace the program",
            "--method",
        ),
        (("--near", "1 km", "--cell", "1 km"), "--near is for points, but --cell asks for cells", "leave one"),
        (("--lattice", "triangular", "--hexagons", "1 km"), "--lattice is for points", "leave one"),
        (("--protect-within", "1 km", "--epsilon", "1"), "--protect-within is for cells", "--cells 20x15"),
        (("--metric", "manhattan"), "--metric is for cells", "--cells 20x15"),
        (("--objective", "worst-case"), "--objective is for cells", "--cells 20x15"),
        (("--objective", "median"), "is unknown", "expected"),
        (("--loss", "hamming"), "--loss hamming is unknown for points", "--cells 20x15"),
        (("--lattice", "round"), "--lattice round is unknown", "square or triangular"),
        (("--spacing", "500"), "--spacing: the spacing '500' has no unit", "'500 m'"),
        (("--spacing", "-1 km"), "--spacing: a spacing of -1 km is not positive", "'500 m'"),
        (("--spacing", "nan km"), "--spacing", "'"),
        (("--near", "0 m"), "--near: a distance of 0 m to visits is not positive", "'300 m'"),
        (("--near", "close"), "--near: the distance to visits 'close' is not a number with a unit", "m'"),
        (("--spacing", "10 m"), "at most 10,000", "--spacing"),
        (("--epsilon", "0.6/year"), "--epsilon", "0.6/km"),
    ],
)
def test_refusals_explain_and_write_nothing(run, tmp_path, options, problem, hint):
    done = run("design", *options)
    assert done.code == 1
    assert problem in done.err
    assert hint in " ".join(done.err.partition("Hint: ")[2].split())
    assert list(tmp_path.iterdir()) == []


def test_a_spacing_too_fine_for_the_memory_is_refused_with_one_that_fits(run, tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.optimal.effort.free_bytes", lambda: 3e8)
    done = run("design", "--spacing", "200 m")
    assert done.code == 1
    assert "of memory" in done.err
    fits = re.search(r"use --spacing '([^']+)'", done.err)
    assert fits is not None
    city = sf.Lattice.covering(sf.synthetic_city(), fits[1])
    sf.optimal.check_lattice(city, float("inf"))
    assert list(tmp_path.iterdir()) == []


def test_visits_at_one_place_have_nothing_to_hide_among(run, tmp_path):
    (tmp_path / "one.csv").write_text("lat,lon\n48.85,2.35\n48.85,2.35\n")
    done = run("design", "one.csv")
    assert done.code == 1
    assert "all visits are at one place" in done.err
    assert "--region" in done.err
    assert run("design", "one.csv", "--region", "3 km x 3 km around 48.85,2.35", *FAST).code == 0


@pytest.mark.slow
def test_an_epsilon_that_hides_nothing_or_leaves_nothing_is_warned_of(run):
    assert "Warning: epsilon 200/km hides almost nothing" in run("design", *FAST, "--epsilon", "200/km").err
    assert (
        "Warning: epsilon 0.00001/km leaves nothing to learn" in run("design", *FAST, "--epsilon", "1e-5/km").err
    )
    assert "Warning" not in run("design", *FAST).err


@pytest.mark.parametrize("method", ["table", pytest.param("best", marks=pytest.mark.slow)])
def test_ctrl_c_while_reports_are_moved_is_said_and_ends_with_3(run, tmp_path, monkeypatch, method):
    def interrupted(*_, **__):
        os.kill(os.getpid(), signal.SIGINT)
        raise SolverError("stopped.", "")

    monkeypatch.setattr(sys.modules["sfumato.optimal.design"], "at_medians", interrupted)
    done = run("design", *FAST[:2], "--method", method, "--no-picture")
    assert done.code == 3
    assert "Note: stopped by Ctrl-C. The mechanism is proved" in done.err
    assert (tmp_path / "city.sfm").exists()


@pytest.mark.slow
def test_what_follows_a_design_of_points(run, visits_file):
    assert run("design", visits_file, *FAST, "-o", "m.sfm").code == 0
    assert run("audit", "m.sfm", "--require", "epsilon <= 1/km", "-o", "a.json").code == 0
    assert run("attack", "m.sfm").code == 0
    released = run("release", "m.sfm", visits_file, "out.csv", "--outside", "drop")
    assert released.code == 0, released.err
    assert len(sf.read_visits("out.csv")) == len(sf.read_visits(visits_file))


@pytest.mark.slow
def test_the_noise_is_kept_where_it_loses_less_and_serves_what_follows(run, visits_file, tmp_path):
    done = run("design", visits_file, "--spacing", "2.5 km", "--held-out", "0.2", "-o", "m.sfm")
    assert done.code == 0, done.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.md", "m.png", "m.sfm"]
    noise = sf.load("m.sfm")
    assert isinstance(noise, CoordinateNoise)
    assert "On this lattice the loss is at least" in done.text
    assert "with the reports tried, loses at least" in (page := (tmp_path / "m.md").read_text(encoding="utf-8"))
    assert "the noise is kept" in page
    assert "visits held out, which the remap has not seen" in done.text
    alone = run("design", visits_file, "--method", "noise", "-o", "n.sfm", "--no-picture")
    assert alone.code == 0, alone.err
    assert "The spacing of" not in alone.text  # noise has no use for the spacing of a lattice
    kept = run("design", visits_file, "--spacing", "2.5 km", "--method", "table", "-o", "p.sfm", "--no-picture")
    assert kept.code == 0
    assert isinstance(sf.load("p.sfm"), sf.Mechanism)
    assert run("audit", "m.sfm", "--promises").code == 0
    released = run("release", "m.sfm", visits_file, "out.csv")
    assert released.code == 0, released.err
    assert len(sf.read_visits("out.csv")) == len(sf.read_visits(visits_file))


@pytest.mark.parametrize("where", ["visits", "output"])
def test_a_name_too_long_for_a_file_is_an_error_in_words(run, tmp_path, where):
    name = "a" * 300
    done = run("design", f"{name}.csv") if where == "visits" else run("design", "-o", f"{name}.sfm")
    assert done.code == 1
    assert "too long" in done.err
    assert "Traceback" not in done.err
    assert not list(tmp_path.iterdir())
    done = run("design", f"{name}.csv", "-o", "x.sfm")
    assert done.code == 1
    assert "cannot be read" in done.err
    assert not list(tmp_path.iterdir())


def test_an_epsilon_that_hides_everything_is_designed_for(run, tmp_path):
    rows = "".join(f"{48.85 + k / 1000},{2.35 + k % 7 / 1000}\n" for k in range(30))
    (tmp_path / "few.csv").write_text(f"lat,lon\n{rows}", encoding="utf-8")
    done = run("design", "few.csv", "--epsilon", "1e-9/km", "--spacing", "2 km", "--no-picture")
    assert done.code == 0, done.err
    assert "leaves nothing to learn" in done.err


@pytest.mark.slow
def test_a_region_alone_is_designed_for_evenly(run, tmp_path):
    done = run(
        "design", "--region", "4 km x 3 km around 52.5,13.4", "--spacing", "1 km", "--no-picture", "--verbose"
    )
    assert done.code == 0, done.err
    assert "points spread evenly over the region" in done.err
    assert "The design depends on the region alone, and so on no one's data." in done.text
    assert "at a visit" not in done.text
    assert "visits" not in done.text.partition("Guarantee")[2]
    assert {path.name for path in tmp_path.iterdir()} == {"region.sfm", "region.md"}


@pytest.mark.slow
@pytest.mark.parametrize("cells", ["4x3", "7x5"])
def test_the_prior_of_cells_of_a_region_is_even(run, cells):
    options = ("--region", "4 km x 3 km around 52.5,13.4", "--cells", cells, "-o", "m.sfm", "--no-picture")
    done = run("design", *options)
    assert done.code == 0, done.err
    prior = sf.read_mechanism_file("m.sfm").prior
    assert prior is not None
    assert prior.even
    assert "Average distance from true point to report: at most" in done.text
    assert "Reports are" not in done.text


def test_a_population_of_weighted_points(run, tmp_path):
    rows = [(52.49, 13.38, 3), (52.51, 13.42, 1), (52.5, 13.4, 0), (52.51, 13.42, 4)]
    lines = [f"{lat},{lon},{weight}" for lat, lon, weight in rows]
    (tmp_path / "blocks.csv").write_text("\n".join(["lat,lon,Population", *lines]) + "\n")
    options = (
        "--cells",
        "4x3",
        "--region",
        "8 km x 6 km around 52.5,13.4",
        "--epsilon",
        "1/km",
        "--no-picture",
        "--verbose",
    )
    done = run("design", "--population", "blocks.csv", *options)
    assert done.code == 0, done.err
    assert "The design depends on blocks.csv alone." in done.text
    prior = sf.read_mechanism_file("blocks.sfm").prior
    assert prior is not None
    assert isinstance(prior.space, sf.Grid)
    weights = np.zeros(len(prior))
    for lat, lon, weight in rows:
        weights[prior.space.locate([lat], [lon])[0]] += weight
    np.testing.assert_allclose(prior.probabilities, weights / 8, atol=1e-4)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("lat,lon\n52.5,13.4\n", "has 0 columns of weights"),
        ("lat,lon,weight,pop\n52.5,13.4,1,1\n", "has 2 columns of weights"),
        ("lat,lon,weight\n52.5,13.4,-1\n52.6,13.4,1\n", "negative"),
        ("lat,lon,weight\n52.5,13.4,\n52.6,13.4,1\n", "missing"),
        ("lat,lon,weight\n52.5,13.4,inf\n52.6,13.4,1\n", "infinite"),
        ("lat,lon,weight\n52.5,13.4,0\n52.6,13.4,0\n", "are zero"),
        ("lat,lon,weight\n52.5,13.4,many\n52.6,13.4,1\n", "holds no numbers"),
    ],
)
def test_a_population_without_usable_weights(run, tmp_path, text, says):
    (tmp_path / "blocks.csv").write_text(text)
    done = run("design", "--population", "blocks.csv", "--cells", "4x3")
    assert done.code == 1
    assert says in " ".join(done.err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["blocks.csv"]


def test_a_population_and_visits_are_two_priors(run, tmp_path, visits_file):
    (tmp_path / "blocks.csv").write_text("lat,lon,weight\n52.5,13.4,1\n52.6,13.4,1\n")
    assert "both a file of visits and --population" in run("design", visits_file, "--population", "blocks.csv").err
    refused = run("design", "--population", "blocks.csv", "--held-out", "0.2")
    assert "this design is for points" in refused.err


@pytest.mark.parametrize("options", [("--max-loss", "400 m"), ("--distortion", "400 m")])
def test_reports_are_anywhere_where_loss_and_error_are_one_distance(run, tmp_path, options):
    rows = ["37.76,-122.44", "37.771,-122.4187", "37.787,-122.44"] * 20
    (tmp_path / "three.csv").write_text("\n".join(["lat,lon", *rows]) + "\n")
    done = run("design", tmp_path / "three.csv", *options, "-o", "m.sfm", "--no-picture")
    assert done.code == 0, done.err
    assert "with reports and guesses anywhere on the plane" in done.text
    assert "several programs" not in done.err + done.text
    mechanism = sf.load("m.sfm")
    assert isinstance(mechanism, sf.Mechanism)
    error = sf.attacks.true_place(mechanism, sf.read_visits(tmp_path / "three.csv")).error
    assert error.lower == pytest.approx(0.4, rel=1e-6)
    if options[0] == "--distortion":  # the other file promises nothing
        assert run("audit", "m.sfm", "--promises").code == 0


def test_a_small_limit_gives_a_finer_lattice_near_visits(run, tmp_path):
    rows = ["37.76,-122.44", "37.7601,-122.4402", "37.9,-122.3", "37.8,-122.5", "37.7998,-122.5001"]
    (tmp_path / "far.csv").write_text("\n".join(["lat,lon", *rows]) + "\n")
    done = run("design", tmp_path / "far.csv", "--max-loss", "2 m", "-o", "m.sfm", "--no-picture")
    assert done.code == 0, done.err
    assert "with reports and guesses anywhere on the plane" in done.text
    assert "Only places within" in (tmp_path / "m.md").read_text()
