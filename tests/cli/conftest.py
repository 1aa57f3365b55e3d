"""A small file of visits, and the command line run in a process of its own or in this one."""

import contextlib
import functools
import io
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import typer

import sfumato as sf
from sfumato.cli import main
from sfumato_papers.invented_city import invented_city
from tests.sampling.mechanisms import fix_seeds

COMMANDS = functools.cache(typer.main.get_command)
"""The parsed commands of the application: to build them takes longer than most of the commands that tests run."""


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """The standard output with its line breaks undone."""
        return " ".join(self.out.split())


def runner(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Callable[..., Outcome]:
    """Return a function that runs the command line in a folder, and always draws the same."""
    fix_seeds(monkeypatch)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("typer.main.get_command", COMMANDS)

    def call(*arguments: object) -> Outcome:
        out, err = io.StringIO(), io.StringIO()
        monkeypatch.setattr("sys.argv", ["sfumato", *map(str, arguments)])
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
                code = 0
            except SystemExit as stop:
                code = int(stop.code or 0)
        return Outcome(code, out.getvalue(), err.getvalue())

    return call


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run the command line in an empty folder."""
    return runner(monkeypatch, tmp_path)


@pytest.fixture(scope="session")
def city_folder(visits_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what ``design`` makes of the visits on twelve cells, and a release by it."""
    folder = tmp_path_factory.mktemp("city")
    with pytest.MonkeyPatch.context() as patch:
        run = runner(patch, folder)
        assert run("design", visits_file, "--cells", "4x3", "-o", "m.sfm", "--no-picture").code == 0
        released = run("release", "m.sfm", visits_file, "out.csv", "--outside", "nearest")
        assert released.code == 0, released.err
    return folder


@pytest.fixture
def designed(run: Callable[..., Outcome], city_folder: Path) -> sf.MechanismFile:
    """The file that ``design`` made of the visits, with its report beside it in the folder of the test."""
    for name in ("m.sfm", "m.md"):
        shutil.copy(city_folder / name, name)
    return sf.read_mechanism_file("m.sfm")


@pytest.fixture(scope="session")
def visits_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CSV of a few synthetic visits, with users."""
    city = invented_city(users=20, days=7)
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    assert city.user is not None
    lines = ["user,lat,lon"]
    lines += [f"{u},{a:.6f},{b:.6f}" for u, a, b in zip(city.user, city.lat, city.lon, strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
