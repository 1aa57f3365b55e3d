"""``sfumato design --checkpoints``: a long design that goes on where it was stopped."""

from pathlib import Path

import pytest

from sfumato.cli import messages

OPTIONS = ("--spacing", "1 km", "--method", "table", "--no-picture")


@pytest.mark.slow
def test_a_design_goes_on_from_its_folder(run, visits_file, monkeypatch):
    steps = []
    line_of = messages.line_of

    def counted(line, unit):
        steps.append(line.step)
        return line_of(line, unit)

    monkeypatch.setattr(messages, "line_of", counted)
    with monkeypatch.context() as patch:
        patch.setattr(messages.StopOnInterrupt, "__call__", lambda _: len(steps) >= 3)
        stopped = run("design", visits_file, *OPTIONS, "--checkpoints", "kept", "-o", "a.sfm")
    assert stopped.code == 3, stopped.err
    assert any(Path("kept").iterdir())
    assert steps == [0, 1, 2]
    whole = run("design", visits_file, *OPTIONS, "--checkpoints", "kept", "-o", "b.sfm")
    assert whole.code == 0, whole.err
    assert "of them (proved by duality)" in whole.text
    assert steps[3] == 3  # where the first one stopped


def test_what_keeps_no_state_is_refused(run, visits_file):
    found = run("design", visits_file, *OPTIONS, "--solver", "highs", "--checkpoints", "kept")
    assert found.code == 1
    assert "--solver highs stores no state" in found.err


def test_a_search_over_epsilon_has_no_checkpoints(run, visits_file):
    found = run("design", visits_file, "--loss", "300 m", "--checkpoints", "kept")
    assert found.code == 1
    assert "--checkpoints was given with --loss" in found.err


def test_one_folder_is_for_one_design(run, visits_file):
    found = run("design-users", visits_file, "--checkpoints", "kept")
    assert found.code == 2
    assert "--checkpoints" in found.err
