"""A studio that runs on a free port of this machine and a client of it, and jobs whose processes are scripts."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from sfumato.studio.app import make_app
from sfumato.studio.guard import Key
from sfumato.studio.jobs import Jobs
from sfumato.studio.serving import server_of
from sfumato.studio.state import Studio
from sfumato.studio.store import Store
from sfumato.studio.work.designing import make_frontier
from sfumato.studio.work.orders import Work

TOKEN = "a-token-of-the-tests"
DESIGNS = 4
"""Designs of the frontiers of tests: the first of a dozen."""


class Running:
    """A studio that runs, with a client who knows its token."""

    def __init__(self, folder: Path, token: str = TOKEN) -> None:
        self.folder = folder
        self._listener = socket.socket(proto=socket.IPPROTO_TCP)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(64)
        self.port = self._listener.getsockname()[1]
        self.key = Key(token, self.port)
        self.app = make_app(folder, self.key)
        self._server = server_of(self.app)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listener]}, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = httpx.Client(base_url=self.url, headers={"X-Sfumato-Token": token}, timeout=60)
        while not self._server.started:
            time.sleep(0.01)

    def bare(self, **headers: str) -> httpx.Client:
        """Return a client without the token."""
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)

    def close(self) -> None:
        """Stop the studio, as Ctrl-C does."""
        self.client.close()
        self._server.should_exit = True
        self._thread.join(20)
        self._listener.close()
        assert not self._thread.is_alive()


class Visitor:
    """A visitor of a studio, with a workspace of their own."""

    def __init__(self, studio: Running) -> None:
        self.studio = studio
        self.id = studio.client.post("/api/workspaces").json()["id"]
        self.base = f"/api/workspaces/{self.id}"

    def get(self, path: str = "", status: int = 200, **query: Any) -> Any:
        """Return what a path answers."""
        return self._read(self.studio.client.get(self.base + path, params=query), status)

    def post(self, path: str, body: Any = None, status: int = 200) -> Any:
        """Return what a path answers to a body."""
        return self._read(self.studio.client.post(self.base + path, json=body), status)

    def put(self, path: str, body: Any, status: int = 200) -> Any:
        """Return what a path answers to a body."""
        return self._read(self.studio.client.put(self.base + path, json=body), status)

    def upload(self, name: str, content: bytes, status: int = 200, **query: str) -> Any:
        """Return what is answered to a file."""
        return self._read(
            self.studio.client.put(f"{self.base}/file", params={"name": name, **query}, content=content), status
        )

    def told(self, job: str) -> list[dict[str, Any]]:
        """Return all that is told of a job, until it ends."""
        found = []
        with self.studio.client.stream("GET", f"{self.base}/jobs/{job}/events") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            for line in stream.iter_lines():
                if line.startswith("data: "):
                    found.append(json.loads(line.removeprefix("data: ")))
        return found

    def ended(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return a job once it has ended."""
        return self.told(job["id"])[-1]

    def _read(self, answer: httpx.Response, status: int) -> Any:
        assert answer.status_code == status, answer.text
        if status >= 400:
            error = answer.json()["error"]
            assert set(error) == {"message", "hint", "field"}
            assert error["message"].endswith((".", "!", "?")), error
            for path in (str(self.studio.folder), "/tmp", "Traceback", "site-packages"):
                assert path not in answer.text
            return error
        return answer.json() if answer.content else None


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Running]:
    running = Running(tmp_path / "studio")
    with contextlib.closing(running):
        yield running


@pytest.fixture
def visitor(studio: Running) -> Visitor:
    return Visitor(studio)


@pytest.fixture(scope="session")
def cities(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Visitor]]:
    """A studio for all tests that share one; each call is another visitor."""
    running = Running(tmp_path_factory.mktemp("studio"))
    with contextlib.closing(running):
        yield lambda: Visitor(running)


def designed(visitor: Visitor, most: int) -> Visitor:
    """Design the first of a frontier in this process, which has imported all that it takes."""
    studio: Studio = visitor.studio.app.state.studio
    workspace = studio.store.workspace(visitor.id)
    made: list[str] = []

    def tell(news: Mapping[str, Any]) -> None:
        if news["event"] == "design":
            studio.store.add_design(visitor.id, "0" * 16, news["id"], frontier=True, facts=news["facts"])
            made.append(news["id"])

    orders = {
        "folder": str(studio.store.files(visitor.id)),
        "data": workspace["data"],
        "site": workspace["site"],
        "request": {},
        "done": [],
    }
    make_frontier(Work(orders, tell, lambda: len(made) >= most))
    assert len(made) >= most
    return visitor


@pytest.fixture(scope="session")
def city(cities: Callable[[], Visitor]) -> Visitor:
    """A visitor whose city has a part of a frontier, which tests leave as it is."""
    found = cities()
    found.post("/example", {"example": "city"})
    found.put("/site", {"kind": "places", "detail": 30})
    return designed(found, DESIGNS)


@pytest.fixture(scope="module")
def ages(cities: Callable[[], Visitor]) -> Visitor:
    """A visitor whose ages have half a frontier, by a job that was cancelled then."""
    found = cities()
    found.post("/example", {"example": "ages"})
    found.put("/site", {"kind": "values", "first": 18, "last": 29})
    return designed(found, DESIGNS)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with contextlib.closing(Store(tmp_path / "studio")) as found:
        yield found


@pytest.fixture
def jobs(store: Store) -> Iterator[Jobs]:
    with contextlib.closing(Jobs(store)) as found:
        yield found


@pytest.fixture
def workspace(store: Store) -> dict[str, Any]:
    return store.make_workspace()


@pytest.fixture
def acts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Return a function that lets a script play the part of all processes."""

    def play(text: str) -> None:
        script = tmp_path / "actor"
        script.write_text(f"#!/bin/sh\n{text}\n")
        script.chmod(0o700)
        monkeypatch.setattr(sys, "executable", str(script))

    return play


def waited(
    jobs: Jobs, workspace: Mapping[str, Any], row: Mapping[str, Any], until: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """Return a job once it has changed as expected."""
    late = time.monotonic() + 20
    while not until(found := jobs.now(workspace["id"], row["id"])):
        assert time.monotonic() < late, found
        time.sleep(0.01)
    return found
