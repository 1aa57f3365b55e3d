"""What the tests of learning share: torch on one thread, or a stated reason to skip."""

import pytest


@pytest.fixture
def torch():
    """The library, on one thread: small batches gain nothing from more."""
    found = pytest.importorskip("torch", reason="torch is not installed (extra learn)")
    before = found.get_num_threads()
    found.set_num_threads(1)
    yield found
    found.set_num_threads(before)
