"""The live line of a design: what is known so far, and nothing that is not."""

import io
import math
import os
import signal
import threading

import pytest

import sfumato.cli.screen
from sfumato.cli.progress import StopOnInterrupt, line_of, working
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
    ],
    ids=["both", "no bound", "neither", "coarser"],
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
    monkeypatch.setattr(sfumato.cli.screen, "say", say)
    with working("Reading \x1b[31m the visits"):
        assert printed.wait(60)
    assert lines[0].startswith("Reading ")
    assert lines[0].endswith(" s)")
    assert "\x1b" not in lines[0]


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
