"""Fixtures that several folders of tests share."""

import importlib.util
import os
import sys
from pathlib import Path

import hypothesis
import pytest

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
EXAMPLES = Path(__file__).parents[1] / "examples"

hypothesis.settings.register_profile("default", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real check-ins, which only the project's own machines have."""
    if not DATA.is_dir():
        if os.environ.get("CI"):
            pytest.fail(f"{DATA} is missing: the continuous integration must have the real check-ins")
        pytest.skip("the folder of real check-ins is not here")
    return DATA


@pytest.fixture(scope="session")
def load_example():
    """Return a function from the name of an example to its module."""
    loaded = []

    def load(name):
        spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses look their module up
        loaded.append(spec.name)
        spec.loader.exec_module(module)
        return module

    yield load
    for name in loaded:
        sys.modules.pop(name, None)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """In the continuous integration, which installs everything, a skipped test is a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not os.environ.get("CI"):
        return
    skipped = reporter.stats.get("skipped", [])
    if skipped and exitstatus == pytest.ExitCode.OK:
        reporter.write_line(f"{len(skipped)} tests were skipped, and in the continuous integration none may be.")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
