"""Fixtures that several folders of tests share."""

import os
from pathlib import Path

import hypothesis
import pytest

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

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
