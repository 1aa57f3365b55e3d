"""Modules of pyarrow, each imported at its first use, because that takes half a second."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class _LazyModule:
    """A module that is imported when one of its names is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)

    def __reduce__(self) -> tuple[type, tuple[str]]:  # tasks of Spark carry the globals of their functions
        return _LazyModule, (self._name,)


pa: Any = _LazyModule("pyarrow")
pc: Any = _LazyModule("pyarrow.compute")
arrow_csv: Any = _LazyModule("pyarrow.csv")
dataset: Any = _LazyModule("pyarrow.dataset")
parquet: Any = _LazyModule("pyarrow.parquet")
