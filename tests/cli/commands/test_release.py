"""``sfumato release`` with a file that ``sfumato design`` wrote."""

import functools
import hashlib
import json
import os

import pandas as pd
import pyarrow.csv
import pytest

import sfumato as sf
from sfumato.geo import Projection
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.releases import PreparedRelease


def test_release_draws_a_report_for_every_row(run, designed, visits_file, tmp_path):
    done = run(
        "release",
        "m.sfm",
        visits_file,
        "out.csv",
        "--outside",
        "nearest",
        "--allow",
        "0.2",
        "--move-within",
        "9 km",
    )
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


def test_pipes_are_refused_in_words(run, designed, visits_file, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for source in ("-", "pipe"):
        assert "read only once" in run("release", "m.sfm", source, "out.csv").err
    for target in ("-", "/dev/stdout"):
        assert "not written to a pipe" in run("release", "m.sfm", visits_file, target).err


def test_an_interrupted_release_says_how_to_go_on(run, designed, visits_file, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    asked = ("release", "m.sfm", visits_file, "out.csv", "--outside", "nearest")
    for where, said in (("run", "Nothing was begun."), ("_run", "--resume goes on")):
        with monkeypatch.context() as patch:
            patch.setattr(PreparedRelease, where, stop)
            done = run(*asked)
        assert done.code == 130
        assert said in done.err
    assert run(*asked, "--resume").code == 0


@pytest.fixture(scope="module")
def on_a_lattice():
    lattice = sf.Lattice.covering("4 km x 4 km around 48.85,2.35", "1 km")
    loss = lattice.metric("euclidean", unit="km")
    made = sf.design(
        sf.Prior.uniform(lattice), loss=loss, guarantees=sf.CoordinatePrivacy("1/km"), tie_break=False
    )
    return made.mechanism


@pytest.fixture
def lattice_file(tmp_path, on_a_lattice):
    sf.save(on_a_lattice, tmp_path / "points.sfm")
    (tmp_path / "seen.csv").write_text(
        "lat,lon,who,venue\n"
        + "".join(f"48.85{k % 3},2.35,u{k % 2},v{k % 2}\n" for k in range(8))
        + "48.99,2.35,u0,\n"
    )
    return "points.sfm"


def test_both_ends_of_trips_are_released_in_one_run(run, lattice_file, tmp_path):
    rows = "".join(f"48.85{k % 3},2.35,48.84,2.36{k % 5},u{k % 2},v\n" for k in range(20))
    (tmp_path / "trips.csv").write_text("start_lat,start_lng,end_lat,end_lng,user,venue\n" + rows)
    done = run("release", lattice_file, "trips.csv", "out.csv", "--also", "end_lat,end_lng")
    assert done.code == 0, done.err
    assert "20 reports of one person: 20 times epsilon, 20/km" in done.out
    assert "40 reports released in 20 rows" in done.out
    table = pyarrow.csv.read_csv(tmp_path / "out.csv")
    assert table.column_names == ["latitude", "longitude", "label", "end_lat", "end_lng", "end_lat_label"]
    single = run("release", lattice_file, "trips.csv", "x.csv", "--also", "end_lat")
    assert "--also names 'end_lat', which is no pair" in single.err
    kept = run("release", lattice_file, "trips.csv", "x.csv", "--keep", "end_lat", "--keep", "end_lng", "--again")
    assert "--also end_lat,end_lng" in kept.err
    assert "lat=" not in kept.err
    limited = run(
        *("release", lattice_file, "trips.csv", "x.csv", "--also", "end_lat,end_lng"),
        *("--max-reports-per-person", "19", "--again"),
    )
    assert "2 of 2 people would exceed" in limited.err
    placed = run(
        "release", lattice_file, "trips.csv", "x.csv", "--also", "end_lat,end_lng", "--place-column", "venue"
    )
    assert "--place-column" in placed.err
    assert "--also" in placed.err
    assert not (tmp_path / "x.csv").exists()


MOVED = ["--outside", "nearest", "--move-within", "20 km", "--allow", "0.2"]


def test_points_outside_a_lattice_are_moved_if_asked(run, lattice_file):
    refused = run("release", lattice_file, "seen.csv", "out.csv")
    assert refused.code == 1
    assert "--outside nearest" in refused.err
    done = run("release", lattice_file, "seen.csv", "out.csv", *MOVED)
    assert done.code == 0, done.err
    said = " ".join(done.out.split())
    assert "9 reports released" in said
    assert "1 row outside was moved to the nearest place first, by 13.1 km at most" in said
    assert said.index("Proved from the integers: No report is more than e^(1 x distance in km)") == 0
    assert "Left out: lat, lon, who, venue." in said
    again = run("release", lattice_file, "seen.csv", "again.csv", *MOVED)
    assert again.code == 1
    assert "released before, to 'out.csv'" in again.err
    assert "--again" in again.err
    done = run("release", lattice_file, "seen.csv", "again.csv", *MOVED, "--again")
    assert "2 releases add up" in " ".join(done.out.split())


def test_places_are_remembered_in_a_ledger(run, lattice_file, tmp_path):
    names = ["--user-column", "who", "--place-column", "venue"]
    budget = ["--ledger", "b.db"]
    assert run("ledger", "create", "b.db", "--budget", "3/km").code == 0
    reports = []
    for name in ("one.csv", "two.csv"):
        done = run("release", lattice_file, "seen.csv", name, *names, *budget, *MOVED)
        assert done.code == 0, done.err
        assert "8 rows name 2 places, each reported once" in done.out
        assert "releases add up" not in done.out  # the reports of both places are the same again
        table = pyarrow.csv.read_csv(tmp_path / name)
        reports.append(table["label"].to_pylist()[:8])
        assert len(set(reports[-1][::2])) == len(set(reports[-1][1::2])) == 1
    assert reports[0] == reports[1]
    assert "1 time before: places in the ledger repeat their reports" in done.text
    spent = run("release", lattice_file, "seen.csv", "three.csv", *names, *budget, *MOVED)
    assert spent.code == 1
    assert "a user has spent 3/km of 3/km" in spent.err
    assert not (tmp_path / "three.csv").exists()


@pytest.fixture
def noise_file(lattice_file, tmp_path):  # beside the lattice and its visits
    noise = CoordinateNoise("1/km", "2 m", Projection(48.85, 2.35), "30 km")
    sf.save(noise, tmp_path / "noise.sfm")
    return "noise.sfm"


def test_noise_is_charged_with_its_slack_and_remembers_places(run, noise_file, tmp_path):
    names = ["--user-column", "who", "--place-column", "venue"]
    budget = ["--ledger", "b.db"]
    assert run("ledger", "create", "b.db", "--budget", "3/km").code == 0
    reports = []
    for name in ("one.csv", "two.csv"):
        done = run("release", noise_file, "seen.csv", name, *names, *budget)
        assert done.code == 0, done.err
        said = " ".join(done.out.split())
        assert "Each report that is drawn is charged 1/km, and its slack of 2.83 m counts each time" in said
        assert "costs epsilon x (the distance of two possible anchors + 2.83 m of slack)" in said
        assert "it is epsilon x (distance + 2 x r + 2.83 m of slack)" in said
        table = pyarrow.csv.read_csv(tmp_path / name)
        reports.append(list(zip(table["latitude"].to_pylist(), table["longitude"].to_pylist(), strict=True)))
        assert len(set(reports[-1][:8])) <= 2  # two reports are one with a probability of less than 1e-6
        assert 1 < len(set(reports[-1])) <= 3
    assert reports[0][:8] == reports[1][:8]
    assert reports[0][8] != reports[1][8]
    spent = run("release", noise_file, "seen.csv", "three.csv", *names, *budget)
    assert spent.code == 1
    assert "a user has spent 3/km of 3/km" in spent.err
    assert not (tmp_path / "three.csv").exists()
    assert run("ledger", "create", "c.db", "--budget", "9/km per day", "--key-file", "c.key").code == 0
    opened = ["--ledger", "sqlite:///c.db", "--key-file", "c.key"]
    afresh = run("release", noise_file, "seen.csv", "four.csv", "--user-column", "who", *opened)
    assert afresh.code == 0, afresh.err
    assert "slack of 2.83 m" in " ".join(afresh.out.split())
    assert "rows name" not in afresh.out


def test_refusals_of_places_and_budgets(run, lattice_file, noise_file):
    assert run("ledger", "create", "hops.db", "--budget", "3/hop").code == 0
    for options, problem in (
        (["--ledger", "none.db"], "there is no ledger 'none.db'"),
        (["--ledger", "hops.db"], "counts amounts per hop"),
        (["--budget", "3/km"], "--budget is an option of: sfumato ledger create"),
        (["--place-column", "shop", "--user-column", "who"], "no column of places is called 'shop'"),
        (["--place-column", "venue"], "--user-column"),
        (["--ledger", "seen.csv"], "not a database"),
        (["--ledger", "out.csv"], "would replace a file that is read"),
    ):
        for file in (lattice_file, noise_file):
            done = run("release", file, "seen.csv", "out.csv", *options)
            assert done.code != 0, options
            assert problem in done.err, options
            assert "Traceback" not in done.err


def test_a_folder_of_places_needs_the_column_that_names_them(run, noise_file, lattice_file, tmp_path):
    people = tmp_path / "people"
    people.mkdir()
    for kind, user in ((noise_file, "u0"), (lattice_file, "u1")):
        (people / f"{user}.sfm").write_bytes((tmp_path / kind).read_bytes())
        done = run("release", "people", "seen.csv", "out.csv")
        assert done.code == 1
        said = " ".join(done.err.split())
        assert "the folder 'people' holds mechanisms for places, such as 'u0'" in said
        assert "name the column of users: --by user" in said
        done = run("release", "people", "seen.csv", "out.csv", "--column", user)
        assert done.code == 1
        assert f"the mechanism for '{user}' is for places" in " ".join(done.err.split())
    assert not (tmp_path / "out.csv").exists()
    with pytest.raises(sf.errors.InputError, match="the mechanism for 'u0' is for places"):
        sf.release({"u0": sf.read_mechanism_file("people/u1.sfm").mechanism}, "seen.csv", "out.csv", column=["u0"])


def test_options_that_would_do_nothing_are_refused(run, lattice_file):
    for options, words in (
        (["--move-within", "2 km"], "--move-within '2 km' does nothing here"),
        (["--allow", "0.2", "--outside", "error"], "--allow 0.2 does nothing here"),
        (["--move-within", "2 km", "--outside", "drop"], "rows outside are left out"),
    ):
        said = run("release", lattice_file, "seen.csv", "out.csv", *options)
        assert said.code == 1
        assert words in said.err
        assert "--outside nearest" in said.err


def test_the_nearest_columns_are_named(run, lattice_file):
    wrong = run("release", lattice_file, "seen.csv", "out.csv", "--user-column", "woh").err
    assert "has no column 'woh'" in wrong
    assert "name the column with --user-column who" in wrong


def test_limits_per_person_refuse_before_anything_is_written(run, tmp_path):
    noise = CoordinateNoise("1/km", "2 m", Projection(48.85, 2.35), "30 km")
    sf.save(noise, tmp_path / "n.sfm")
    rows = [f"48.85,2.35,{user}" for user in ("olga", "olga", "olga", "bob")]
    (tmp_path / "v.csv").write_text("\n".join(["lat,lon,user", *rows]))
    before = sorted(tmp_path.iterdir())
    for option, limit, total in (
        ("reports", "2", "number is 3"),
        ("epsilon", "2/km", "epsilon is 3/km, of 3 reports"),
    ):
        done = run("release", "n.sfm", "v.csv", "out.csv", f"--max-{option}-per-person", limit)
        assert done.code == 1
        assert f"1 of 2 people would exceed --max-{option}-per-person {limit}" in done.err
        assert total in done.err
        assert "olga" not in done.out + done.err
        assert "--place-column" in done.err
        assert sorted(tmp_path.iterdir()) == before
    passed = ("--max-reports-per-person", "3", "--max-epsilon-per-person", "0.003/m")
    assert run("release", "n.sfm", "v.csv", "out.csv", *passed).code == 0


def test_receipts_as_json_and_as_a_page_to_sign(run, tmp_path):
    noise = CoordinateNoise("1/km", "2 m", Projection(48.85, 2.35), "30 km")
    sf.save(noise, tmp_path / "n.sfm")
    rows = [f"48.85,2.35,{user},x" for user in ("adaline", "adaline", "bob")]
    (tmp_path / "v.csv").write_text("\n".join(["lat,lon,user,<b>note</b>", *rows]))
    asked = ("release", "n.sfm", "v.csv", "out.csv", "--receipt", "r.json")
    assert "--receipt" not in run(*asked, "--receipt", "r.txt").out
    assert not (tmp_path / "out.csv").exists()
    done = run(*asked, "--receipt", "r.html")
    assert done.code == 0, done.err
    assert "Written: r.json" in done.out
    facts, page = json.loads((tmp_path / "r.json").read_text()), (tmp_path / "r.html").read_text()
    (file,) = facts["mechanism_files"]
    assert file["sha256"] == hashlib.sha256((tmp_path / "n.sfm").read_bytes()).hexdigest()
    for text in (file["sha256"], facts["source"]["sha256"], facts["target"]["sha256"], facts["mechanisms"][0]):
        assert text in page
    assert "All reports of one person in this release: epsilon 2/km at most" in page
    assert "&lt;b&gt;note&lt;/b&gt;" in page
    assert "<b>" not in page
    assert "adaline" not in page + json.dumps(facts)
    assert (tmp_path / "r.html").stat().st_mode & 0o777 == 0o600


@functools.cache
def noise_for(path):
    return CoordinateNoise.for_visits(sf.read_visits(path), "10/km")


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("people", "said"),
    [
        ((), "120 reports of one person: 120 times epsilon, 1200/km"),
        pytest.param(
            ("--people", "one"), "120 reports of one person: 120 times epsilon, 1200/km", marks=pytest.mark.slow
        ),
        (("--people", "folder"), "120 reports of one person: 120 times epsilon, 1200/km"),
        (("--people", "file"), "60 reports of one person: 60 times epsilon, 600/km"),
    ],
)
def test_rides_are_of_the_people_that_are_stated(run, shared_data, people, said):
    rides = shared_data.parent / "cases" / "readers" / "rides"
    sf.save(noise_for(rides), "n.sfm")
    done = run("release", "n.sfm", rides, "out.csv", *people)
    assert done.code == 0, done.err
    assert said in done.out
    assert ("It is not stated whose the rows are" in done.out) == (not people)
    assert ("--people file says that each file is a person" in done.out) == (not people)


def test_damaged_rides_are_left_out_by_an_option(run, tmp_path):
    (tmp_path / "rides").mkdir()
    points = "".join(f'<trkpt lat="{48.84 + i / 1000}" lon="2.35"/>' for i in range(4))
    (tmp_path / "rides" / "a.gpx").write_text(f"<gpx>{points}</gpx>")
    (tmp_path / "rides" / "b.gpx").write_text(f"<gpx>{points}")
    sf.save(CoordinateNoise("10/km", "2 m", Projection(48.85, 2.35), "3 km"), "n.sfm")
    refused = run("release", "n.sfm", "rides", "out.csv")
    assert refused.code == 1
    assert "--skip-damaged" in refused.err
    said = "1 of 2 files in 'rides' was damaged and left out: b.gpx"
    assert said in run("release", "n.sfm", "rides", "out.csv", "--skip-damaged").out
    for design in (("design", "rides"), ("sweep", "rides", "--epsilons", "1/km,2/km")):
        assert "--skip-damaged" in run(*design).err
        assert said in run(*design, "--skip-damaged", "--cells", "2x2", "--time-limit", "10", "--no-picture").err
    assert "--skip-damaged" in run("design", "--skip-damaged").err


def test_a_ledger_needs_to_know_whose_files_are(run, shared_data):
    rides = shared_data.parent / "cases" / "readers" / "rides"
    sf.save(noise_for(rides), "n.sfm")
    sf.Ledger.create("l.db", "700/km")
    refused = run("release", "n.sfm", rides, "out.csv", "--ledger", "l.db")
    assert refused.code == 1
    assert "--people file" in refused.err
    over = run("release", "n.sfm", rides, "out.csv", "--ledger", "l.db", "--people", "folder")
    assert over.code == 1
    assert "'rides'" not in over.err
    shown = run("release", "n.sfm", rides, "out.csv", "--ledger", "l.db", "--people", "folder", "--show-values")
    assert "'rides'" in shown.err


def test_a_statement_about_people_that_does_not_fit_is_refused(run, designed, visits_file):
    for people, said in (("file", "is one table"), ("me", "use one of one, file, folder, column")):
        done = run("release", "m.sfm", visits_file, "out.csv", "--people", people)
        assert done.code == 1
        assert said in done.err
        assert "--people" in done.err
        done = run("design", visits_file, "--people", people)
        assert done.code == 1
        assert said in done.err


def test_error_radii_and_darwin_core(run, designed, visits_file, tmp_path):
    """The prior is uniform, that of the file, or a table; the radius is that of the library."""
    radius = sf.proofs.error_radius(designed.mechanism)
    (tmp_path / "prior.csv").write_text(f"secret,probability\n{designed.mechanism.secrets.labels[0]},1\n")
    for name, option in {"uniform": "uniform", "that of m.sfm": "file", "prior.csv": "prior.csv"}.items():
        done = run(
            "release",
            "m.sfm",
            visits_file,
            "out.csv",
            "--outside",
            "drop",
            "--allow",
            "1",
            "--again",
            "--darwin-core",
            "--prior",
            option,
        )
        assert done.code == 0, done.err
        assert "of reports from any point served" in done.out
        assert repr(name) in done.out
        table = pyarrow.csv.read_csv(tmp_path / "out.csv")
        assert table["coordinateUncertaintyInMeters"][0].as_py() == pytest.approx(radius, abs=1)
    done = run("release", "m.sfm", visits_file, "out.csv", "--prior", "uniform")
    assert "--uncertainty" in done.err


def test_the_prior_of_noise_is_a_table_of_points(run, noise_file, tmp_path):
    (tmp_path / "finds.csv").write_text("lat,lon\n48.85,2.35\n48.90,2.40\n")
    (tmp_path / "far.csv").write_text("lat,lon\n48.85,2.35\n40,2.35\n")
    asked = ("release", noise_file, "seen.csv", "out.csv", "--user-column", "who", "--again", "--uncertainty")
    done = run(*asked, "--prior", "finds.csv")
    assert done.code == 0, done.err
    assert "under the prior 'finds.csv'" in done.out
    private = pd.read_csv(tmp_path / "out.csv")
    reports = private[["latitude", "longitude"]].to_numpy()
    finds = sf.Visits([48.85, 48.90], [2.35, 2.40])
    noise = CoordinateNoise("1/km", "2 m", Projection(48.85, 2.35), "30 km")
    radii = sf.proofs.posterior_radii(noise, finds, reports=reports)
    assert (private["posterior_uncertainty_m"] - radii).between(0, 1).all()
    (tmp_path / "some.csv").write_text("lat,lon\n48.85,2.35\n,2.36\n48.90,2.40\n")
    told = run(*asked, "--prior", "some.csv").err
    assert "Note: some.csv: " in told, told
    for wrong, said in (("uniform", "no table of points"), ("far.csv", "1 of the prior's 2 points")):
        refused = run(*asked, "--prior", wrong)
        assert refused.code == 1
        assert said in refused.err
