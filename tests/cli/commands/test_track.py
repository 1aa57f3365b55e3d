"""``sfumato track``: a home stated once, and tracks without its surroundings."""

import random

import pytest

import sfumato as sf
from tests.tracks.rides import LOLLIPOP, read_back, walk, write_gpx


@pytest.fixture
def ride(run, tmp_path, monkeypatch):
    source = random.Random(5)
    monkeypatch.setattr("secrets.choice", source.choice)
    monkeypatch.setattr("secrets.token_hex", lambda size=32: source.randbytes(size).hex())
    monkeypatch.setattr("typer.get_app_dir", lambda name: str(tmp_path / "settings" / name))
    return write_gpx(tmp_path / "ride.gpx", walk(LOLLIPOP))


def test_a_home_is_stated_once(run, ride, tmp_path):
    first = run("track", "ride.gpx", "-o", "a.gpx", "--home", "48.8601,2.3502", "--place", "work=48.9,2.35")
    assert first.code == 0, first.err
    ledger = tmp_path / "settings" / "sfumato" / "zones.db"
    for text in (
        f"Made: {ledger}",
        "Back it up",
        "Drawn: the zone of 'home', radius 500 m",
        "Drawn: the zone of 'work'",
    ):
        assert text in first.out
    for text in (
        "2 ways into or out of a zone",
        "visible in 1 track of this ledger",
        "a failed attack proves nothing",
        "Written: a.gpx",
    ):
        assert text in first.text
    again = run("track", "ride.gpx", "-o", "b.gpx")
    assert again.code == 0
    assert "Drawn" not in again.out
    assert (tmp_path / "a.gpx").read_bytes() == (tmp_path / "b.gpx").read_bytes()
    assert len(read_back(tmp_path / "a.gpx")) == 1
    assert ledger.stat().st_mode & 0o077 == 0
    assert sf.Ledger(ledger).check().sound


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ((), "there are no zones yet"),
        (("--home", "48.86,2.35", "--home", "48.87,2.35"), "a home was given twice"),
        (("--place", "home=48.86,2.35", "--home", "48.87,2.35"), "two places have one name"),
        (("--place", "48.86,2.35"), "a place has no name"),
        (("--home", "Paris"), "not a latitude and a longitude"),
        (("--home", "48.86,2.35", "--radius", "200 m"), "insist with --allow-small"),
        (("--home", "48.86,2.35", "--radius", "700.5 m"), "not in whole metres"),
        (("--home", "48.86,2.35", "--ledger", "none.db"), "there is no ledger 'none.db'"),
        (("--key-file", "k"), "name the ledger with --ledger"),
        (("--home", "48.86,2.35", "--times", "x"), "use one of keep, shift, drop"),
    ],
)
def test_wrong_options_are_explained(run, ride, tmp_path, options, text):
    done = run("track", "ride.gpx", "-o", "a.gpx", *options)
    assert done.code == 1
    assert text in done.err
    assert not (tmp_path / "a.gpx").exists()


def test_a_pin_far_away_needs_a_move(run, ride):
    run("track", "ride.gpx", "-o", "a.gpx", "--home", "48.8601,2.3502")
    far = run("track", "ride.gpx", "-o", "b.gpx", "--home", "48.9,2.35")
    assert far.code == 1
    assert "--moved" in far.err
    assert run("track", "ride.gpx", "-o", "b.gpx", "--home", "48.9,2.35", "--moved").code == 0


def test_a_folder_with_a_hidden_track_is_not_finished(run, ride, tmp_path):
    (tmp_path / "rides").mkdir()
    write_gpx(tmp_path / "rides" / "a.gpx", walk(LOLLIPOP))
    write_gpx(tmp_path / "rides" / "b.gpx", walk(LOLLIPOP[:2]))
    done = run("track", "rides", "-o", "safe", "--home", "48.8601,2.3502")
    assert done.code == 3
    assert "nothing is visible of rides" in done.err
    assert [path.name for path in (tmp_path / "safe").iterdir()] == ["a.gpx"]
    alone = run("track", "rides/b.gpx", "-o", "b.gpx")
    assert alone.code == 1
    assert "nothing was written" in alone.err
