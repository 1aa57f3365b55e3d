"""A browser, a studio that it visits, and a visitor who notes every problem."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from ..conftest import Gate
from .visitor import Studio, Visitor

SOFTWARE_WEBGL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium: the one that Playwright would fetch is not needed."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("Chromium is not installed")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=[*SOFTWARE_WEBGL, "--no-sandbox"])
        yield opened
        opened.close()


@contextlib.contextmanager
def started(folder: Path, *options: str) -> Iterator[Studio]:
    """The command itself, in a process of its own, until the block ends."""
    command = [sys.executable, "-m", "sfumato", "studio", "--no-open", "--folder", str(folder), *options]
    gate = Gate(folder.with_name(f"{folder.name}-gate"))
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": gate.path}
    ) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", said)
            assert found is not None, said
            yield Studio(found[0], gate)
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def studio(tmp_path_factory) -> Iterator[Studio]:
    """A studio for all tests."""
    with started(tmp_path_factory.mktemp("studio")) as running:
        yield running


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a separate studio, each time on the same folder."""
    return lambda *options: started(tmp_path / "own", *options)


@pytest.fixture
def visit(browser: Browser, studio: Studio):
    """Return a function that opens the studio; what went wrong on the way fails the test at its end.

    Then the workspaces that the test made are deleted, and the jobs that run there end.
    """
    visitors = []

    def opened(
        *, dark: bool = False, phone: bool = False, workspace: str = "", view: str = "", at: Studio = studio
    ) -> Visitor:
        context = browser.new_context(
            viewport={"width": 390, "height": 844} if phone else {"width": 1280, "height": 800},
            color_scheme="dark" if dark else "light",
            accept_downloads=True,
        )
        visitor = Visitor(context.new_page(), at)
        visitors.append(visitor)
        visitor.enter(workspace, view)
        return visitor

    yield opened
    problems = [problem for visitor in visitors for problem in visitor.problems]
    for visitor in visitors:
        visitor.page.goto("about:blank")  # what it wants to be remembered is sent now
        visitor.page.context.close()
    for workspace in studio.ask("GET", "/workspaces")["workspaces"]:
        if workspace["id"] not in studio.shared:
            studio.ask("DELETE", f"/workspaces/{workspace['id']}")
    assert problems == []


@pytest.fixture(scope="session")
def shared_city(studio: Studio) -> str:
    return studio.prepared("city", {"kind": "places", "detail": 30}, shared=True)


@pytest.fixture(scope="session")
def shared_ages(studio: Studio) -> str:
    return studio.prepared("ages", {"kind": "values", "first": 18, "last": 29}, shared=True)


@pytest.fixture
def city(studio: Studio, shared_city: str) -> str:
    """A workspace with the built-in city and its levels, and nothing that another test left there."""
    studio.restore(shared_city)
    return shared_city


@pytest.fixture
def ages(studio: Studio, shared_ages: str) -> str:
    """A workspace with the ages and their levels, and nothing that another test left there."""
    studio.restore(shared_ages)
    return shared_ages
