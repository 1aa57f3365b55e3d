"""The live line of a design: what is known so far, and nothing that is not."""

import importlib
import io
import math
import os
import shutil
import signal
import threading
import time

import pytest

import sfumato as sf
import sfumato.cli.screen
from sfumato.cli.messages import StopOnInterrupt, line_of, working
from sfumato.cli.screen import Screen
from sfumato.optimal import Progress


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (Progress(7, 90, 1.25, 1.0, 0.2, 3.04), "Step 7: value 1.25 km, bound 1 km, gap 20 %"),
        (Progress(7, 90, 1.25, -math.inf, math.inf, 3.04), "Step 7: value 1.25 km, no bound yet"),
        (Progress(2, 90, -math.inf, math.inf, math.inf, 0.5), "Step 2: no value and no bound yet"),
        (
            Progress(5, 90, math.inf, -math.inf, math.inf, 61.0, 1_270),
            "Simpler problem of 1,270 places, to see where to begin: step 5",
        ),
        (
            Progress(5, 90, 1.25, 1.0, 0.2, 61.0, 1_270),
            "Simpler problem of 1,270 places, to see where to begin: step 5. "
            "So far: value 1.25 km, bound 1 km, gap 20 %",
        ),
    ],
    ids=["both", "no bound", "neither", "coarser", "coarser with baseline"],
)
def test_a_line_says_what_is_known(line, words):
    assert line_of(line, "km") == words


def test_work_without_a_terminal_says_that_it_goes_on(monkeypatch):
    lines, printed = [], threading.Event()

    def say(line, *, err):
        assert err
        lines.append(line)
        printed.set()

    monkeypatch.setattr(sfumato.cli.screen, "_EVERY_S", 0.01)
    monkeypatch.setattr(sfumato.cli.screen._Line, "due", 0.0)
    monkeypatch.setattr("typer.echo", say)
    with working("Reading \x1b[31m the visits"):
        assert printed.wait(60)
    assert lines[0].startswith("Reading ")
    assert lines[0].endswith(" s)")
    assert "\x1b" not in lines[0]


def test_lines_that_follow_each_other_print_when_one_is_due(monkeypatch):
    """Steps shorter than the interval print nothing each: together they would stand still."""
    lines, printed = [], threading.Event()

    def say(line, *, err):
        lines.append(line)
        printed.set()

    monkeypatch.setattr(sfumato.cli.screen, "_EVERY_S", 1e6)
    monkeypatch.setattr("typer.echo", say)
    monkeypatch.setattr(sfumato.cli.screen._Line, "due", time.monotonic() - 1)
    with working("Counting"):
        assert printed.wait(60)
    assert sfumato.cli.screen._Line.due > time.monotonic() + 9e5
    with working("Drawing"):
        pass
    assert len(lines) == 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A mechanism on nine places that tells little, and reports of it."""
    made = tmp_path_factory.mktemp("lines")
    places = sf.Grid.covering("4 km x 4 km around 48.85,2.35", shape=(3, 3))
    noise = sf.mechanisms.exponential(places, places.metric("euclidean", "km"), "0.01/km")
    sf.save(noise, made / "m.sfm")
    (made / "r.csv").write_text("label\n" + "\n".join(map(str, places.labels)) + "\n", encoding="utf-8")
    (made / "v.csv").write_text("lat,lon\n48.85,2.35\n48.86,2.34\n48.84,2.36\n", encoding="utf-8")
    return made


@pytest.mark.parametrize(
    ("arguments", "calls"),
    [
        (
            ("estimate", "m.sfm", "r.csv", "--unmarked", "--no-check-fit"),
            [
                "sfumato.estimation.read_released",
                "sfumato.estimation.population.settled_districts",
                "sfumato.estimation.population.identifiability",
            ],
        ),
        (
            ("design", "v.csv", "--cells", "3x3", "--epsilon", "0.01/km", "--no-picture", "-o", "d.sfm"),
            [
                "sfumato.geo.read_visits",
                "sfumato.estimation.identifiability",
                "sfumato.estimation.expected_districts",
            ],
        ),
        (("release", "m.sfm", "v.csv", "out.csv"), ["sfumato.releases.prepare"]),
        (("reproduce", "introductory", "--quick"), ["sfumato_papers.reproduction.run"]),
    ],
    ids=["estimate", "design", "release", "reproduce"],
)
def test_a_line_is_shown_during_long_work(run, folder, monkeypatch, tmp_path, arguments, calls):
    shown, alone, made = [], [], []

    class Line:
        def __init__(self, text):
            self.text = text

        def __enter__(self):
            shown.append(self.text)
            return self

        def __exit__(self, *_):
            shown.pop()

        def update(self, text):
            pass

    for path in calls:
        room, _, name = path.rpartition(".")
        whole = getattr(importlib.import_module(room), name)

        def call(*words, path=path, whole=whole, **more):
            made.append(path)
            if not shown:
                alone.append(path)
            if arguments[0] == "reproduce":
                raise KeyboardInterrupt  # the study itself is run elsewhere
            return whole(*words, **more)

        monkeypatch.setattr(path, call)
    monkeypatch.setattr(Screen, "status", lambda self, text, **_: Line(text))
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    run(*arguments)
    assert set(made) == set(calls)
    assert not alone


def test_the_seconds_of_a_terminal_s_line_go_on(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    screen = Screen(stderr=True)
    screen.file = io.StringIO()
    line = screen.status("Step 1")
    screen.print(line.renderable.text)
    line.update("Step 2")
    now[0] = 143.4
    screen.print(line.renderable.text)
    assert screen.file.getvalue().split("\n")[:2] == ["Step 1 (0 s)", "Step 2 (43 s)"]


def test_ctrl_c_is_answered_at_once(capfd):
    with StopOnInterrupt() as stop:
        os.kill(os.getpid(), signal.SIGINT)
        assert stop()
        assert "A second Ctrl-C ends at once." in capfd.readouterr().err
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
