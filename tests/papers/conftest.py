"""The mark of all tests of the papers, which change rarely, and the quick runs that several of them read."""

import functools
from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato_papers.invented_city import invented_city
from sfumato_papers.reproduction import Reproduction, Setting, paper_of, run


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder as slow: the continuous integration runs them."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("slow")


def quick_setting(name: str) -> Setting:
    """Return the quick size of a paper, on the built-in city where it reads visits."""
    return Setting(True, {"synthetic city": invented_city()} if paper_of(name).visits else {}, has_files=False)


@pytest.fixture(scope="session")
def quick_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Reproduction]:
    """A function from the name of a paper to its quick run, which is made once."""

    @functools.cache
    def made(name: str) -> Reproduction:
        return run(paper_of(name), quick_setting(name), tmp_path_factory.mktemp(name), command="sfumato reproduce")

    return made
