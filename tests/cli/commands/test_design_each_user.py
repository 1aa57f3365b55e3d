"""``sfumato design-users``: for each user what ``design`` makes of their visits, in a folder."""

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.files.many.folder import rows_of
from sfumato.ledgers.fingerprints import fingerprint

from ..conftest import runner

USERS = ("ada", "b/b", "17")
OPTIONS = ("--spacing", "2 km", "--processes", 1, "--output", "out")


def table(path, users=USERS, visits=25, seed=3):
    random = np.random.default_rng(seed)
    rows = []
    for user in users:
        homes = random.normal([48.85, 2.35], [0.015, 0.02], (4, 2))
        at = homes[random.choice(4, visits, p=[0.5, 0.3, 0.1, 0.1])] + random.normal(0, 2e-4, (visits, 2))
        rows += [f"{user},{lat:.6f},{lon:.6f}" for lat, lon in at]
    path.write_text("user,lat,lon\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder of designs, and what was printed."""
    folder = tmp_path_factory.mktemp("made")
    source = table(folder / "visits.csv")
    with pytest.MonkeyPatch.context() as patch:
        done = runner(patch, folder)("design-users", source, *OPTIONS)
    assert done.code == 0, done.err
    return folder, done.out


@pytest.mark.slow
def test_it_is_what_design_makes_of_each(made, run):
    folder, out = made
    rows = rows_of(folder / "out")
    assert set(rows) == set(USERS)
    text = (folder / "visits.csv").read_text().splitlines()
    for name in ("ada", "b/b"):
        own = folder / f"{USERS.index(name)}.csv"
        own.write_text("\n".join([text[0], *(line for line in text if line.startswith(f"{name},"))]) + "\n")
        assert run("design", own, "--spacing", "2 km", "--output", "own.sfm", "--no-picture").code == 0
        one: Any = sf.read_mechanism_file("own.sfm")
        many: Any = sf.read_mechanism_file(folder / "out" / rows[name].file)
        assert type(one.mechanism) is type(many.mechanism)
        assert rows[name].kind == ("table" if many.has_matrix else "noise")
        assert np.array_equal(one.prior.probabilities, many.prior.probabilities)
        if not one.has_matrix:
            assert fingerprint(one.mechanism) == fingerprint(many.mechanism)
        else:
            assert many.mechanism.expected_loss(many.prior, many.loss) == pytest.approx(
                one.mechanism.expected_loss(one.prior, one.loss), rel=1e-3
            )
    assert "3 designs. Each guarantees: No report is more than e^(1/km x (distance + " in out
    assert "made of its user's own visits" in out
    assert "Written: out (3 new, 0 that were there)" in out


@pytest.mark.skipif(os.name != "posix", reason="needs rights of POSIX")
def test_only_the_owner_can_read_it(made):
    folder, _ = made
    assert stat.S_IMODE((folder / "out").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder / "out").iterdir()} == {0o600}


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs rights of POSIX")
@pytest.mark.parametrize("people", [USERS, USERS[:1]])
def test_only_the_owner_can_read_the_design_of_one_user(run, tmp_path, people):
    source, user = table(tmp_path / "visits.csv", people), [] if len(people) == 1 else ["--user", "ada"]
    assert run("design", source, *user, "--spacing", "2 km", "--output", tmp_path / "ada.sfm").code == 0
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("ada.*")}
    assert modes == dict.fromkeys(["ada.sfm", "ada.md", "ada.png"], 0o600)
    assert run("report", tmp_path / "ada.sfm", "--output", tmp_path / "ada.json").code in (0, 3)
    assert stat.S_IMODE((tmp_path / "ada.json").stat().st_mode) == 0o600


def test_the_same_command_goes_on_and_another_is_refused(made, run, monkeypatch):
    folder, _ = made
    monkeypatch.chdir(folder)
    (folder / "out" / "ada.sfm").unlink()
    again = run("design-users", "visits.csv", *OPTIONS)
    assert again.code == 0, again.err
    assert "(1 new, 2 that were there)" in again.out
    for change in (["--epsilon", "2/km"], ["--gap", "1e-3"], ["--time-limit", 9], ["--spacing", "2.1 km"]):
        refused = run("design-users", "visits.csv", *OPTIONS, *change)
        assert refused.code == 1
        assert "from other data or options" in refused.err
    assert run("design-users", "visits.csv", *OPTIONS, "--least-visits", 2).code == 0  # the same people


def test_a_release_takes_the_folder(made, run, monkeypatch):
    folder, _ = made
    monkeypatch.chdir(folder)
    for name in ("reports.csv", "reports.parquet"):
        found = run("release", "out", "visits.csv", folder / name, "--by", "user", "--again")
        assert found.code == 0, found.err
        assert found.out.count("Proved from the exact recipe of") == 3
        assert "75 reports released" in found.out
    one = run("release", "out", table(folder / "other.csv", ["eve"]), "x.csv", "--by", "user")
    assert one.code == 1
    assert "names a mechanism which is not among those given" in one.err
    mechanisms = sf.read_designs("out")
    visits = sf.read_visits("visits.csv")
    assert sf.release(mechanisms, visits, "again.parquet", by="user").rows == 75


@pytest.mark.slow
def test_a_promise_that_the_file_breaks_is_refused(made, run, monkeypatch):
    """The file's own words are not believed, whatever the index says."""
    folder, _ = made
    monkeypatch.chdir(folder)
    lattice = sf.Lattice.covering("6 km x 6 km around 48.85,2.35", "2 km")
    open_ = sf.Mechanism(np.eye(len(lattice)), lattice)
    promise = sf.CoordinatePrivacy("1/km")
    (folder / "forged").mkdir()
    sf.save(sf.MechanismFile(open_, guarantees=[promise]), "forged/ada.sfm")
    found = run("release", "forged", table(folder / "ada.csv", ["ada"]), "x.csv", "--by", "user")
    assert found.code == 1
    assert "nothing was drawn" in found.err


@pytest.mark.slow
def test_what_fails_is_named_and_the_others_go_on(run, tmp_path):
    source = table(tmp_path / "visits.csv", ["ada"])
    with source.open("a") as file:
        file.write("".join("still,48.85,2.35\n" for _ in range(30)) + "rare,48.85,2.36\n")
    found = run("design-users", source, "--processes", 1, "--epsilon", "0.5/km", "--output", "out")
    assert found.code == 1
    assert "still: no design: all visits are at one place" in found.err
    assert "NO DESIGN for 1 user: still." in found.out
    assert "1 user with fewer than 20 visits (--least-visits): no design." in found.out
    assert set(rows_of(tmp_path / "out")) == {"ada"}


def test_designs_that_miss_the_gap_are_named(run, tmp_path):
    found = run(
        "design-users", table(tmp_path / "visits.csv", ["ada"]), *OPTIONS, "--gap", "1e-15", "--smoothing", 1
    )
    assert found.code == 3
    assert "NOT FINISHED: 1 design did not reach the gap: ada." in found.out
    assert json.loads((tmp_path / "out" / "index.jsonl").read_text())["finished"] is False


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--processes", 0], "--processes 0 does no work"),
        (["--output", "x.sfm"], "name a folder"),
        (["--spacing", "abc"], "abc"),
        (["--spacing", "-1 km"], "--spacing '-1 km' is not positive"),
        (["--near", "0 m"], "--near '0 m' is not positive"),
        (["--region", "abc"], "--region: "),
        (["--lattice", "round"], "--lattice round is unknown"),
        (["--loss", "hamming"], "--loss hamming"),
        (["--epsilon", "1"], "--epsilon: "),
        (["--smoothing", -1], "is negative or not finite"),
        (["--least-visits", 99], "has 99 visits"),
        (["--user-column", "lat2"], "lat2"),
    ],
)
def test_options_that_do_not_fit(run, visits_file, options, said):
    found = run("design-users", visits_file, *options)
    assert found.code == 1
    assert said in " ".join(found.err.split())


def test_options_of_other_designs(run, visits_file):
    for name in ("--processes", "--least-visits"):
        found = run("design", visits_file, name, 3)
        assert found.code == 2
        assert f"{name} is an option of: sfumato " in found.err
    for name in ("--user", "--distortion", "--cells", "--column"):
        found = run("design-users", visits_file, name, 3)
        assert found.code == 2
        assert f"No such option: {name}" in found.err


def test_visits_without_users(run, tmp_path):
    (tmp_path / "visits.csv").write_text("lat,lon\n48.85,2.35\n48.86,2.36\n")
    found = run("design-users", "visits.csv")
    assert found.code == 1
    assert "no user column" in found.err


def begun(pid):
    """Return how many processes of a process leave Ctrl-C to it, as workers do once they have begun."""
    count = 0
    for path in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):  # it has ended
            found = dict(line.split(":", 1) for line in path.read_text().splitlines())
            count += int(found["PPid"]) == pid and bool(int(found["SigIgn"], 16) >> (signal.SIGINT - 1) & 1)
    return count


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs to see which signals a process ignores")
def test_ctrl_c_ends_after_the_running_designs(tmp_path):
    source = table(tmp_path / "visits.csv", [f"u{k}" for k in range(100)])
    command = [sys.executable, "-m", "sfumato", "design-users", str(source), "--spacing", "2 km"]
    command += ["--processes", "2", "--output", str(tmp_path / "out")]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    late = time.monotonic() + 300
    while not list((tmp_path / "out").glob("*.sfm")) or begun(process.pid) < 3:  # one looks after their resources
        assert process.poll() is None
        assert time.monotonic() < late
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal sends it, to the workers as well
    out, err = process.communicate(timeout=300)
    assert process.returncode == 3, err
    assert "STOPPED" in out
    assert "Traceback" not in err
    assert 0 < len(rows_of(tmp_path / "out")) < 100


def test_files_are_designed_for_only_where_they_are_stated_to_be_people(run, tmp_path):
    folder = tmp_path / "rides"
    folder.mkdir()
    for name in ("monday", "tuesday"):
        points = "".join(f'<trkpt lat="{48.84 + i / 1000}" lon="2.35"/>' for i in range(3))
        (folder / f"{name}.gpx").write_text(f"<gpx><trk><trkseg>{points}</trkseg></trk></gpx>")
    refused = run("design-users", folder, *OPTIONS)
    assert refused.code == 1
    assert "--user-column" in refused.err
    assert "--people file" in refused.err
    for people, said in (
        ("file", "of 2 users none has 20 visits"),
        ("one", "of 1 user none has 20 visits"),
    ):
        done = run("design-users", folder, *OPTIONS, "--people", people)
        assert said in done.out + done.err
