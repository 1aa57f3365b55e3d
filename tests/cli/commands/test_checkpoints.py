"""``sfumato design --checkpoints``: a long design that goes on where it was stopped."""

from pathlib import Path

OPTIONS = ("--spacing", "1 km", "--keep", "program", "--no-picture")


def test_a_design_goes_on_from_its_folder(run, visits_file):
    limited = run("design", visits_file, *OPTIONS, "--checkpoints", "kept", "--time-limit", "0.3", "-o", "a.sfm")
    assert limited.code in (0, 3), limited.err
    assert any(Path("kept").iterdir())
    whole = run("design", visits_file, *OPTIONS, "--checkpoints", "kept", "-o", "b.sfm")
    assert whole.code == 0, whole.err
    assert "possible (proved by duality)" in whole.text


def test_what_keeps_no_state_is_refused(run, visits_file):
    found = run("design", visits_file, *OPTIONS, "--solver", "highs", "--checkpoints", "kept")
    assert found.code == 1
    assert "--solver highs keeps no state" in found.err


def test_a_search_over_epsilon_has_no_checkpoints(run, visits_file):
    found = run("design", visits_file, "--loss", "300 m", "--checkpoints", "kept")
    assert found.code == 1
    assert "--checkpoints was given with --loss" in found.err


def test_one_folder_is_for_one_design(run, visits_file):
    found = run("design", visits_file, "--each-user", "--checkpoints", "kept")
    assert found.code == 1
    assert "--checkpoints" in found.err
