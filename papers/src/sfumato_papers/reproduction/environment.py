"""The environment of a run: what it was computed with."""

from __future__ import annotations

import os
import platform
from importlib import metadata

from sfumato._version import __version__

_LIBRARIES = ("numpy", "scipy", "highspy", "clarabel", "python-flint", "pyarrow", "pyproj", "matplotlib", "torch")


def environment() -> dict[str, object]:
    """Return versions of the package, of Python and of the libraries that are installed, and the machine."""
    versions = {}
    for name in _LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "sfumato": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "libraries": versions,
    }
