"""A small file of visits, and the command line run in a process of its own or in this one."""

import contextlib
import io
from pathlib import Path
from typing import NamedTuple

import pytest

import sfumato as sf
from sfumato.cli import main


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """The standard output with its line breaks undone."""
        return " ".join(self.out.split())


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run the command line in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

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


@pytest.fixture(scope="session")
def visits_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CSV of a few synthetic visits, with users."""
    city = sf.synthetic_city(users=20, days=7)
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    assert city.user is not None
    lines = ["user,lat,lon"]
    lines += [f"{u},{a:.6f},{b:.6f}" for u, a, b in zip(city.user, city.lat, city.lon, strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
