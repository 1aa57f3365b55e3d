"""``--skip-damaged`` in every command that reads folders of visits."""

from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.files import MechanismFile
from sfumato.geo import Projection
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.reports.document import report_file
from sfumato_papers import reproduction

DAMAGE = "1 of 3 files in 'rides' was damaged and left out: b.gpx"


@pytest.fixture
def folders(tmp_path):
    """A folder of rides of which one is damaged, one without it, and files of mechanisms for them."""
    for number, lon in (("a", 2.35), ("c", 2.36)):
        points = "".join(f'<trkpt lat="{48.84 + k / 1000}" lon="{lon + k / 2000}"/>' for k in range(30))
        for folder in ("damaged", "sound"):
            (tmp_path / folder / "rides").mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / "rides" / f"{number}.gpx").write_text(f"<gpx>{points}</gpx>")
    (tmp_path / "damaged" / "rides" / "b.gpx").write_text(f"<gpx>{points}")
    visits = sf.read_visits(tmp_path / "sound" / "rides")
    cells = sf.Grid.covering(visits, shape=(2, 2))
    prior = sf.Prior.from_visits(cells, visits)
    sf.save(sf.MechanismFile(sf.Mechanism(np.eye(4) * 0.6 + 0.1, cells, cells), prior), tmp_path / "m.sfm")
    noise = CoordinateNoise("10/km", "20 m", Projection(48.85, 2.35), "9 km")
    sf.save(MechanismFile(noise, prior, source="rides"), tmp_path / "n.sfm")


@pytest.mark.thinned(4)
@pytest.mark.usefixtures("folders")
@pytest.mark.parametrize(
    "command",
    [
        ("attack", "m.sfm", "--visits", "rides"),
        ("compare", "rides", "--cells", "2x2", "--epsilons", "1/km", "--time-limit", "60"),
        ("report", "m.sfm", "--visits", "rides", "--frontier-time", "0", "-o", "r.json"),
        ("estimate", "n.sfm", "rides", "--unmarked", "--no-check-fit"),
    ],
)
def test_every_command_leaves_damaged_files_out(run, command):
    """As if they were not there."""

    def call(folder, *options):
        return run(*(f"{folder}/rides" if word == "rides" else word for word in command), *options)

    refused = call("damaged")
    assert refused.code == 1
    assert "--skip-damaged" in refused.err
    assert "'b.gpx' is not valid XML" in refused.err
    skipped, sound = call("damaged", "--skip-damaged"), call("sound")
    assert DAMAGE in skipped.err
    assert DAMAGE not in sound.err
    assert (skipped.code, skipped.out) == (sound.code, sound.out)
    assert skipped.code in (0, 3)


@pytest.mark.usefixtures("folders")
def test_learning_and_studies_leave_damaged_files_out(run, monkeypatch):
    learning = ("learn", "damaged/rides", "--people", "file", "--max-loss", "500 m", "--rounds", "1")
    assert "--skip-damaged" in run(*learning).err
    assert DAMAGE in run(*learning, "--skip-damaged").err  # also without the packages for the training
    settings = []

    def stop(_, setting, *__, command, **___):
        settings.append((setting, command))
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduction, "run", stop)
    study = next(name for name in reproduction.NAMES if reproduction.paper_of(name).visits)
    Path("w.csv").write_text("lat,lon\n48.85,2.35\n", encoding="utf-8")
    done = run("reproduce", study, "damaged/rides", "w.csv", "--skip-damaged", "-o", "out")
    assert DAMAGE in done.err
    ((setting, command),) = settings
    assert {name: len(visits) for name, visits in setting.data.items()} == {"rides": 60, "w": 1}
    assert command == f"sfumato reproduce {study} rides w.csv --skip-damaged --output out"


@pytest.mark.slow
@pytest.mark.usefixtures("folders")
def test_a_report_made_again_leaves_damaged_files_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = report_file("m.sfm", visits="damaged/rides", frontier_time=0, skip_damaged=True)
    assert "--skip-damaged" in found.facts.file.command
    assert "skip_damaged=True," in found.facts.file.script
    with pytest.raises(DataError, match=r"'b\.gpx' is not valid XML"):
        report_file("m.sfm", visits="damaged/rides", frontier_time=0)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("attack", "m.sfm"), "--skip-damaged was given without --visits"),
        (("report", "m.sfm"), "--skip-damaged was given without --visits"),
        (("compare",), "--skip-damaged was given without a file of visits"),
        (("report", "m.sfm", "--visits", "city"), "--skip-damaged was given, but 'city' names the built-in city"),
        (("reproduce", "introductory"), "--skip-damaged was given without a folder of visits"),
        (("estimate", "m.sfm", "sound/rides", "--unmarked"), "'rides' is no such folder"),
        (("attack", "m.sfm", "--visits", "sound/rides/a.gpx"), "'a.gpx' is no such folder"),
        (("design", "--region", "8 km x 6 km around 48.85,2.35", "--epsilon", "1/km"), "is about visits"),
        (("design", "--population", "p.csv", "--epsilon", "1/km"), "is about visits"),
    ],
)
@pytest.mark.usefixtures("folders")
def test_leaving_out_where_no_folder_is_read(run, command, message):
    done = run(*command, "--skip-damaged")
    assert done.code == 1
    assert message in " ".join(done.err.split())
