"""Fixtures that several folders of tests share."""

import importlib
import importlib.util
import os
import sys
import time
from pathlib import Path

import hypothesis
import pytest

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
EXAMPLES = Path(__file__).parents[1] / "examples"

# The same examples in every run. `python -m tests.search` looks for others, from the seed in SFUMATO_SEARCH.
hypothesis.settings.register_profile(
    "untimed",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.function_scoped_fixture],
)
hypothesis.settings.register_profile(
    "fixed", hypothesis.settings.get_profile("untimed"), derandomize=True, max_examples=25
)
hypothesis.settings.register_profile(
    "search", hypothesis.settings.get_profile("untimed"), max_examples=500, print_blob=True
)
hypothesis.settings.load_profile("search" if "SFUMATO_SEARCH" in os.environ else "fixed")


@pytest.fixture(scope="session", autouse=True)
def no_lines_of_progress():
    """Lines of progress off: they come by the clock, which runs on from command to command of one process."""
    screen = importlib.import_module("sfumato.cli.screen")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screen, "_EVERY_S", 1e6)
        patch.setattr(screen._Line, "due", time.monotonic() + 1e6)
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real check-ins, which only the project's own machines have."""
    if not DATA.is_dir():
        pytest.skip("real check-ins are not here")
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


@pytest.fixture(scope="session")
def torch():
    """The library, on one thread: small batches gain nothing from more."""
    found = pytest.importorskip("torch", reason="torch is not installed (extra learn)")
    before = found.get_num_threads()
    found.set_num_threads(1)
    yield found
    found.set_num_threads(before)


@pytest.fixture(scope="session")
def atheris():
    """The fuzzer that coverage guides, for tests that run it in a process of its own."""
    if importlib.util.find_spec("atheris") is None:
        pytest.skip("atheris is not installed")


@pytest.fixture(scope="session")
def qif():
    """Libqif, which tests run in processes of their own: it brings its own solvers."""
    if importlib.util.find_spec("qif") is None:
        pytest.skip("libqif is not installed")
