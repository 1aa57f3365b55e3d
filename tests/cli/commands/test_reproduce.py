"""``sfumato reproduce``: the studies are listed, run, refused, and gone on with."""

import re
import shutil
import sys

import pytest

from sfumato_papers import reproduction

from ..conftest import runner

QUICK = ("reproduce", "introductory", "--quick")


def test_without_a_name_the_studies_are_listed(run):
    lines = run("reproduce").out.splitlines()
    assert [line.split()[0] for line in lines] == list(reproduction.NAMES)


def test_without_the_papers_one_line_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "sfumato_papers", None)
    assert re.search(r"^ +reproduce +Reproduce a published study", run("--help").out, flags=re.MULTILINE)
    assert "--quick" in run("reproduce", "--help").out
    found = run("reproduce", "introductory")
    assert found.code == 1
    assert found.out == ""
    assert "`sfumato reproduce` needs the package sfumato-papers, which is not installed." in found.err
    assert "pip install sfumato-papers" in found.err
    assert "Traceback" not in found.err


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The folder of a study, and what was printed."""
    folder = tmp_path_factory.mktemp("written")
    with pytest.MonkeyPatch.context() as patch:
        return folder, runner(patch, folder)(*QUICK, "-o", folder).out


@pytest.mark.slow
def test_a_study_is_written_with_its_claims(run, written, tmp_path):
    folder, out = written
    shutil.copytree(folder, tmp_path / "found")
    assert "Equations (4), (5): confirmed." in out
    assert re.search(r"\d+ confirmed, \d+ refuted, \d+ not confirmed, \d+ not checkable", out)
    assert (tmp_path / "found" / "index.html").is_file()
    assert "were done before" in run(*QUICK, "-o", tmp_path / "found").out


def test_wrong_requests_are_explained(run, tmp_path):
    (tmp_path / "file").write_text("a", encoding="utf-8")
    for words, said in (
        (("reproduce", "no-paper"), "there is no study 'no-paper'"),
        ((*QUICK, "visits.csv"), "needs no visits"),
        ((*QUICK, "-o", tmp_path / "file"), "a folder is needed"),
        ((*QUICK, "--processes", "0", "-o", tmp_path / "new"), "0 processes are not positive"),
    ):
        found = run(*words)
        assert found.code == 1
        assert said in found.err, found.err
        assert "Traceback" not in found.err
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
def test_the_size_of_a_kept_run_cannot_change(run, written, tmp_path):
    shutil.copytree(written[0], tmp_path, dirs_exist_ok=True)
    found = run("reproduce", "introductory", "-o", tmp_path)
    assert found.code == 1
    assert "holds another run: its size differs" in found.err


def test_an_interruption_says_how_to_go_on(run, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduction, "run", interrupted)
    found = run(*QUICK, "-o", tmp_path)
    assert found.code == 130
    assert "the same command goes on" in found.err


def test_the_command_that_is_printed_has_the_options_of_columns(run, monkeypatch, tmp_path):
    commands = []

    def stop(*_, command, **__):
        commands.append(command)
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduction, "run", stop)
    (tmp_path / "v.csv").write_text("breite,laenge,wer\n48.85,2.35,a\n48.86,2.36,b\n", encoding="utf-8")
    columns = ("--lat", "breite", "--lon", "laenge", "--people", "one")
    study = next(name for name in reproduction.NAMES if reproduction.paper_of(name).visits)
    done = run("reproduce", study, "v.csv", "--quick", "-o", "out", *columns)
    assert done.code == 130, done.err
    words = " ".join(columns)
    assert commands == [f"sfumato reproduce {study} v.csv --quick {words} --output out"]
