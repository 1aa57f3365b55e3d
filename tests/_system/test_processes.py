"""Worker processes: they import nothing from the folder that the program happens to run in."""

from __future__ import annotations

import os
import sys

import pytest

from sfumato._system import worker_pool

STANDARD = ("json", "pickle", "selectors", "signal", "socket", "struct", "subprocess", "tempfile", "threading")
OTHERS = ("numpy", "threadpoolctl", "pyarrow")


@pytest.fixture
def hostile_folder(tmp_path, monkeypatch):
    """The current folder, in which modules of well-known names leave a mark when they are imported."""
    for name in (*STANDARD, *OTHERS):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'a').write({name + ' '!r})\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_workers_import_nothing_from_the_current_folder(hostile_folder):
    assert str(hostile_folder) not in sys.path
    before = os.environ.get("PYTHONSAFEPATH")
    with worker_pool(2) as pool:
        assert list(pool.map(abs, [-1, -2, -3])) == [1, 2, 3]
    assert not (hostile_folder / "imported").exists()
    assert os.environ.get("PYTHONSAFEPATH") == before
