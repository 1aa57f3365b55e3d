"""The page about ledgers: its examples run as they stand."""

import asyncio
import importlib.util
import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf

from .clock import avoid_midnight
from .tasks import run_tasks

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "ledger.md"


def blocks() -> list[str]:
    """The page's blocks of Python."""
    return re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


class RefusedError(Exception):
    """The answer of a server that is none of the endpoint's own."""

    def __init__(self, status_code: int, detail: str) -> None:
        super().__init__(status_code, detail)
        self.status_code = status_code
        self.detail = detail


class Server:
    """As much of FastAPI as the page uses."""

    def post(self, path: str) -> Any:
        """Return the function as it is."""
        assert path == "/reports"
        return lambda function: function


@pytest.fixture
def fastapi(monkeypatch):
    """FastAPI, or a stand-in where it is not installed."""
    if importlib.util.find_spec("fastapi") is None:
        module: Any = types.ModuleType("fastapi")
        module.FastAPI, module.HTTPException, module.Header = Server, RefusedError, str
        module.Body = lambda default=None: default
        monkeypatch.setitem(sys.modules, "fastapi", module)


def test_the_example_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(blocks()[0], str(PAGE), "exec"), names)
    assert names["ledger"].balance("ada").spent == 2
    assert names["ledger"].limits == ("5/km per day", "100/km")
    assert abs(names["lat"] - 48.86) < 1


def test_the_endpoint_answers(tmp_path, monkeypatch, fastapi):
    monkeypatch.chdir(tmp_path)
    avoid_midnight(60)
    sf.Ledger.create("app.db", "4.9/km per day")
    names: dict[str, Any] = {}
    (_, endpoint) = blocks()
    exec(compile(endpoint, str(PAGE), "exec"), names)
    report, errors = names["report"], names["HTTPException"]
    assert "query" not in str(
        getattr(names["server"], "openapi", dict)()
    )  # addresses are logged: no place in them

    async def ask(lat=48.86, place=None, user="ada"):
        return await report(lat, 2.35, place, user)

    async def morning():
        home = await asyncio.gather(*(ask(place="home") for _ in range(30)))
        assert all(each == home[0] for each in home)
        await asyncio.gather(*(ask() for _ in range(48)))
        assert names["app"].ledger.balance("ada").left == 0
        assert await ask(place="home") == home[0]
        for refused, status in (({}, 429), ({"user": "bob", "lat": 91.0}, 422), ({"user": "", "lat": 48.86}, 422)):
            with pytest.raises(errors) as caught:
                await ask(**refused)
            assert caught.value.status_code == status
            assert "91" not in caught.value.detail
        (tmp_path / "app.db").rename(tmp_path / "away.db")
        with pytest.raises(errors) as caught:
            await ask(user="bob")
        assert caught.value.status_code == 503

    run_tasks(morning)
