"""sfumato: local obfuscation mechanisms, designed, proved, attacked and applied."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .core import (
        DistortionPrivacy,
        Loss,
        Mechanism,
        Metric,
        MetricPrivacy,
        Prior,
        Space,
        ThresholdPrivacy,
        hamming,
        loss,
    )

# Where each public name lives. It is imported when first used, so that `import sfumato`
# and `sfumato --help` stay fast.
_HOMES = {
    "DistortionPrivacy": "core",
    "Loss": "core",
    "Mechanism": "core",
    "Metric": "core",
    "MetricPrivacy": "core",
    "Prior": "core",
    "Space": "core",
    "ThresholdPrivacy": "core",
    "hamming": "core",
    "loss": "core",
}
_FOLDERS = ("attacks", "core", "errors", "leakage")

__all__ = [
    "DistortionPrivacy",
    "Loss",
    "Mechanism",
    "Metric",
    "MetricPrivacy",
    "Prior",
    "Space",
    "ThresholdPrivacy",
    "__version__",
    "hamming",
    "loss",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    elif name in _FOLDERS:
        value = importlib.import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_FOLDERS})
