"""sfumato: local obfuscation mechanisms, designed, proved, attacked and applied."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import (
        attacks,
        audits,
        core,
        divergences,
        errors,
        evidence,
        files,
        geo,
        leakage,
        learn,
        mechanisms,
        optimal,
        privacy,
        releases,
        report,
        sampling,
        studies,
        transport,
    )
    from .audits import audit
    from .core import (
        CoordinatePrivacy,
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
    from .evidence.observed import Sample
    from .files import MechanismFile, export_table, load, read_matrix, read_mechanism_file, save
    from .geo import Grid, Hexagons, Lattice, Region, Visits, read_visits, synthetic_city
    from .mechanisms import made_private
    from .optimal import Design, design, design_private, sweep
    from .releases import release
    from .releases.budget import Ledger, MeteredSampler
    from .releases.estimate import estimate_population
    from .sampling import sampler, simulator
    from .studies import compare

# Where each public name lives. It is imported when first used, so that `import sfumato`
# and `sfumato --help` stay fast.
_HOMES = {
    "CoordinatePrivacy": "core",
    "Design": "optimal",
    "DistortionPrivacy": "core",
    "Grid": "geo",
    "Hexagons": "geo",
    "Lattice": "geo",
    "Ledger": "releases.budget",
    "Loss": "core",
    "Mechanism": "core",
    "MechanismFile": "files",
    "MeteredSampler": "releases.budget",
    "Metric": "core",
    "MetricPrivacy": "core",
    "Prior": "core",
    "Region": "geo",
    "Sample": "evidence.observed",
    "Space": "core",
    "ThresholdPrivacy": "core",
    "Visits": "geo",
    "audit": "audits",
    "compare": "studies",
    "design": "optimal",
    "design_private": "optimal",
    "estimate_population": "releases.estimate",
    "export_table": "files",
    "hamming": "core",
    "load": "files",
    "loss": "core",
    "read_mechanism_file": "files",
    "read_matrix": "files",
    "read_visits": "geo",
    "release": "releases",
    "made_private": "mechanisms",
    "sampler": "sampling",
    "save": "files",
    "simulator": "sampling",
    "sweep": "optimal",
    "synthetic_city": "geo",
}
_FOLDERS = frozenset(
    (
        "attacks",
        "audits",
        "core",
        "divergences",
        "errors",
        "evidence",
        "files",
        "geo",
        "leakage",
        "learn",
        "mechanisms",
        "optimal",
        "privacy",
        "releases",
        "report",
        "sampling",
        "studies",
        "transport",
    )
)

__all__ = [
    "CoordinatePrivacy",
    "Design",
    "DistortionPrivacy",
    "Grid",
    "Hexagons",
    "Lattice",
    "Ledger",
    "Loss",
    "Mechanism",
    "MechanismFile",
    "MeteredSampler",
    "Metric",
    "MetricPrivacy",
    "Prior",
    "Region",
    "Sample",
    "Space",
    "ThresholdPrivacy",
    "Visits",
    "__version__",
    "attacks",
    "audit",
    "audits",
    "compare",
    "core",
    "design",
    "design_private",
    "divergences",
    "errors",
    "estimate_population",
    "evidence",
    "export_table",
    "files",
    "geo",
    "hamming",
    "leakage",
    "learn",
    "load",
    "loss",
    "made_private",
    "mechanisms",
    "optimal",
    "privacy",
    "read_matrix",
    "read_mechanism_file",
    "read_visits",
    "release",
    "releases",
    "report",
    "sampler",
    "sampling",
    "save",
    "simulator",
    "studies",
    "sweep",
    "synthetic_city",
    "transport",
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
    return sorted({*globals(), *__all__})
