"""The interpreters that are at hand, and which wheels of torch."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from .running import ReleaseError, run

LEAST = 11
_MOST = 30
_ASK = """import json, platform, sys
v = sys.version_info
print(json.dumps([v[0], v[1], v[2], v.releaselevel, platform.python_implementation(), sys.abiflags]))"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that can make environments.

    Attributes:
        path: Where it is.
        minor: 12 for Python 3.12.
        version: Such as 3.12.1.
    """

    path: Path
    minor: int
    version: str


def found(only: str | None = None) -> list[Interpreter]:
    """Return one interpreter for each Python from 3.11, the newest release of each, as ``.ci/run`` looks for them.

    Args:
        only: Such as ``3.12``: no others; ``running``: the Python that runs this.

    Raises:
        ReleaseError: There is none.
    """
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    paths = [Path(getattr(sys, "_base_executable", sys.executable)), *sorted(root.glob("3.*/bin/python"))]
    for minor in range(LEAST, _MOST):
        named = [Path(f"/usr/bin/python3.{minor}"), shutil.which(f"python3.{minor}")]
        paths += [Path(path) for path in named if path is not None]
    wanted = f"3.{sys.version_info.minor}" if only == "running" else only
    newest: dict[int, Interpreter] = {}
    for path in paths:
        each = _asked(path)
        if each is None or (wanted is not None and wanted != f"3.{each.minor}"):
            continue
        if each.minor not in newest or _patch(newest[each.minor]) < _patch(each):
            newest[each.minor] = each
    if not newest:
        raise ReleaseError(
            f"there is no Python {wanted or f'3.{LEAST} or later'} in {root}, in /usr/bin or on the path."
        )
    return [newest[minor] for minor in sorted(newest)]


def torch_wheel(minor: int) -> Path | None:
    """Return the wheel of torch for processors that fits a Python, from the folder in ``PIP_FIND_LINKS``."""
    folder = os.environ.get("PIP_FIND_LINKS", "")
    wheels = sorted(Path(folder).glob(f"torch-*+cpu-cp3{minor}-cp3{minor}-*.whl")) if folder else []
    return wheels[-1] if wheels else None


def _asked(path: Path) -> Interpreter | None:
    """Return what a program says of itself; None unless it is a finished CPython that can be used."""
    if not os.access(path, os.X_OK):
        return None
    try:
        major, minor, patch, level, kind, flags = json.loads(run([path, "-c", _ASK], Path.cwd()))
    except (ReleaseError, ValueError):
        return None
    usable = (major, level, kind) == (3, "final", "CPython") and minor >= LEAST and "t" not in flags
    return Interpreter(path, minor, f"3.{minor}.{patch}") if usable else None


def _patch(interpreter: Interpreter) -> int:
    return int(interpreter.version.rpartition(".")[2])
