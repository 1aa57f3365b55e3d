"""A plugin of pytest that hides torch, to run tests as on a machine without it."""

import sys
from importlib.machinery import PathFinder


class WithoutTorch(PathFinder):
    """Finds what the usual finder finds, but never torch."""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        """Return where a module lies, or nothing for torch."""
        return None if fullname.partition(".")[0] == "torch" else super().find_spec(fullname, path, target)


def pytest_configure() -> None:
    """Hide it: only where this file is asked for as a plugin, not where it is searched for examples."""
    sys.meta_path[sys.meta_path.index(PathFinder)] = WithoutTorch
