"""A studio that runs on a free port of this machine and a client of it, and jobs whose processes are scripts."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from sfumato_studio.app import make_app
from sfumato_studio.guard import Key
from sfumato_studio.jobs import FINAL, Jobs
from sfumato_studio.serving import server_of
from sfumato_studio.state import Studio
from sfumato_studio.store import Store
from sfumato_studio.work import Work
from sfumato_studio.work.design_job import make_levels

TOKEN = "a-token-of-the-tests"
DESIGNS = 4
"""Optimized levels of tests, of a dozen: those around the first one that is shown."""
PATIENCE_S = 300.0
"""Seconds that a busy machine may take for anything."""
GATEKEEPER = """
import sys

if sys.orig_argv[-1] == "sfumato_studio.work":
    import json, time
    from contextlib import suppress
    from pathlib import Path
    from sfumato_studio.work import Work

    begin = Work.__init__

    def begin_at_gates(work, orders, send, stop):
        gates, sent = [], []
        for path in Path(__file__).parent.glob("*.json"):
            with suppress(FileNotFoundError):  # it opens at this moment
                event, after, workspace = json.loads(path.read_text())
                if workspace in orders["folder"]:
                    gates.append((path, event, after))
        if any(event == "progress" for _, event, _ in gates):
            from sfumato.optimal.interior import checkpoints

            checkpoints.EVERY_S, checkpoints.SHARE = 0.0, float("inf")
        if orders["kind"] == "compare":
            from sfumato_studio.work import comparison_job

            comparison_job._BOUND_S, comparison_job._COMPARE_S = 1.0, 900.0

        def wait():
            for path, event, after in gates:
                while sent.count(event) >= after and path.exists():
                    time.sleep(0.02)

        def send_at_gates(news):
            send(news)
            sent.append(news["event"])
            wait()

        wait()
        begin(work, orders, send_at_gates, stop)

    Work.__init__ = begin_at_gates
"""
"""Python imports it at its start, as ``sitecustomize``."""

Found = TypeVar("Found")


class Gate:
    """A gate at which the processes of jobs wait: they are busy for as long as a test needs that.

    A comparison has time for all mechanisms on a busy machine, and takes little for their common bound.

    Args:
        folder: To be the first of ``PYTHONPATH`` where these processes start.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        (folder / "sitecustomize.py").write_text(GATEKEEPER)
        self._folder = folder

    @property
    def path(self) -> str:
        """``PYTHONPATH`` with this gate."""
        return os.pathsep.join(filter(None, (str(self._folder), os.environ.get("PYTHONPATH"))))

    @contextlib.contextmanager
    def closed(self, event: str = "", after: int = 0, *, workspace: str = "") -> Iterator[None]:
        """Let jobs that start in this block wait for its end.

        Args:
            event: What they send before they wait; those that wait after ``progress`` write a state at each line.
            after: How often they send it; 0: they wait before they begin.
            workspace: Of which workspace; that of every one by default.
        """
        closed = self._folder / f"{secrets.token_hex(4)}.json"
        part = closed.with_suffix(".part")
        part.write_text(json.dumps([event, after, workspace]))
        part.rename(closed)  # a job that starts at this moment reads all of it or nothing
        try:
            yield
        finally:
            closed.unlink()


class Running:
    """A studio that runs, with a client who knows its token."""

    def __init__(self, folder: Path, token: str = TOKEN, basemap: Path | None = None) -> None:
        self.folder = folder
        self._listener = socket.socket(proto=socket.IPPROTO_TCP)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(64)
        self.port = self._listener.getsockname()[1]
        self.key = Key(token, self.port)
        self.app = make_app(folder, self.key, basemap=basemap)
        self._server = server_of(self.app)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listener]}, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = self.bare(**{"X-Sfumato-Token": token})
        soon(lambda: self._server.started or not self._thread.is_alive())
        assert self._server.started

    def bare(self, **headers: str) -> httpx.Client:
        """Return a client that sends these headers, and no token of its own.

        Each request has its own connection: the server may close an idle one while a request is on its way.
        """
        limits = httpx.Limits(max_keepalive_connections=0)
        return httpx.Client(base_url=self.url, headers=headers, timeout=PATIENCE_S, limits=limits)

    def close(self) -> None:
        """Stop the studio, as Ctrl-C does."""
        self.client.close()
        self._server.should_exit = True
        self._thread.join(PATIENCE_S)
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

    def levels(self) -> Any:
        """Return all levels, once they are made."""
        return soon(
            lambda: len((answer := self.get("/levels"))["levels"]) >= answer["total"] and answer, pause_s=0.1
        )

    def states(self, job: str) -> list[dict[str, Any]]:
        """Return the states of a job, as it is asked for them again and again until it ends."""
        rows = [self.get(f"/jobs/{job}")]
        while rows[-1]["status"] not in FINAL:
            time.sleep(0.02)
            rows.append(self.get(f"/jobs/{job}"))
        return rows

    def ended(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return a job once it has ended."""
        return self.states(job["id"])[-1]

    def download(self, name: str, **query: Any) -> httpx.Response:
        """Return a file of a level or design."""
        answer = self.studio.client.get(f"{self.base}/{name}", params=query)
        assert answer.status_code == 200, answer.text
        return answer

    def _read(self, answer: httpx.Response, status: int) -> Any:
        assert answer.status_code == status, answer.text
        if status >= 400:
            error = answer.json()["error"]
            assert set(error) == {"message", "hint", "field", "columns"}
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


def optimized(visitor: Visitor, most: int) -> Visitor:
    """Optimize the first levels in this process, which has imported all that it takes."""
    studio: Studio = visitor.studio.app.state.studio
    workspace = studio.store.workspace(visitor.id)
    made: list[str] = []

    def send(news: Mapping[str, Any]) -> None:
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
    make_levels(Work(orders, send, lambda: len(made) >= most))
    assert len(made) >= most
    visitor.levels()
    return visitor


@pytest.fixture(scope="session")
def city(cities: Callable[[], Visitor]) -> Visitor:
    """A visitor whose city has some optimized levels, which tests leave as they are."""
    found = cities()
    found.post("/example", {"example": "city"})
    found.put("/site", {"kind": "places", "detail": 30})
    return optimized(found, DESIGNS)


@pytest.fixture(scope="module")
def ages(cities: Callable[[], Visitor]) -> Visitor:
    """A visitor whose ages have some optimized levels."""
    found = cities()
    found.post("/example", {"example": "ages"})
    found.put("/site", {"kind": "values", "first": 18, "last": 29})
    return optimized(found, DESIGNS)


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
    """Return a function that lets a script act as all processes."""

    def play(text: str) -> None:
        script = tmp_path / "actor"
        script.write_text(f"#!/bin/sh\n{text}\n")
        script.chmod(0o700)
        monkeypatch.setattr(sys, "executable", str(script))

    return play


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Gate:
    """A gate for the processes of this test."""
    found = Gate(tmp_path_factory.mktemp("gate"))
    monkeypatch.setenv("PYTHONPATH", found.path)
    return found


def soon(until: Callable[[], Found], pause_s: float = 0.01) -> Found:
    """Return what is found once it is something; ``pause_s`` is longer where a question costs the studio more."""
    late = time.monotonic() + PATIENCE_S
    while not (found := until()):
        assert time.monotonic() < late, f"it is still {found!r} after {PATIENCE_S:g} s"
        time.sleep(pause_s)
    return found


def waited(
    jobs: Jobs, workspace: Mapping[str, Any], row: Mapping[str, Any], until: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """Return a job once it has changed as expected."""
    late = time.monotonic() + PATIENCE_S
    while not until(found := jobs.now(workspace["id"], row["id"])):
        assert time.monotonic() < late, found
        time.sleep(0.01)
    return found
