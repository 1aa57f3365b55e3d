"""Install each artefact in an empty environment, and try it there."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from . import FOLDER, ROOT
from .building import sha256
from .running import ReleaseError, environment, run
from .trials import BARE, PARTS, TOOLS, Trial

PASSED, FAILED, LEFT_OUT = "passed", "FAILED", "left out"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a trial.

    Attributes:
        name: The trial's name.
        sum: The SHA-256 sums of the files that are installed.
        status: `PASSED`, `FAILED` or `LEFT_OUT`.
        words: What the tests said, or why not.
        seconds: The time it took.
    """

    name: str
    sum: str
    status: str
    words: str
    seconds: float = 0.0


def try_all(
    given: Sequence[Trial], kept: Path, tell: Callable[[str], object], again: bool = False
) -> list[Outcome]:
    """Try what was not tried yet, and return all outcomes in the order of the trials.

    Args:
        given: What to try.
        kept: The file of earlier outcomes. What passed with the same bytes is not tried again.
        tell: Called with a line when a trial ends.
        again: Whether to try all.
    """
    earlier = {} if again else {(each.name, each.sum): each for each in _read(kept)}
    outcomes = []
    for number, trial in enumerate(given, 1):
        total = "-".join(map(sha256, trial.files))
        known = earlier.get((trial.name, total))
        if known is None or known.status != PASSED:
            known = _tried(trial, total)
            earlier[trial.name, total] = known
            _write(kept, earlier.values())
        tell(f"[{number}/{len(given)}] {trial.name}: {known.status}, {known.words} ({known.seconds:.0f} s)")
        outcomes.append(known)
    return outcomes


def table(given: Sequence[Trial], outcomes: Sequence[Outcome]) -> str:
    """Return the outcomes as a table of aligned columns."""
    rows = [("artefact", "Python", "extra", "outcome", "seconds", "")]
    for trial, each in zip(given, outcomes, strict=True):
        words = each.words.splitlines()[0] if each.words else ""
        rows.append(
            (trial.kind, trial.interpreter.version, trial.extra, each.status, f"{each.seconds:.0f}", words)
        )
    widths = [max(len(row[k]) for row in rows) for k in range(5)]
    lines = (
        "  ".join([*(cell.ljust(width) for cell, width in zip(row[:5], widths, strict=True)), row[5]])
        for row in rows
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _tried(trial: Trial, total: str) -> Outcome:
    if (reason := trial.left_out()) is not None:
        return Outcome(trial.name, total, LEFT_OUT, reason)
    log = FOLDER / "logs" / f"{trial.name}.txt"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    start = time.monotonic()
    try:
        status, words = PASSED, _try(trial, log)
    except ReleaseError as failure:
        status, words = FAILED, f"see {log.relative_to(ROOT)}\n{failure}"
    return Outcome(trial.name, total, status, words, round(time.monotonic() - start, 1))


def _try(trial: Trial, log: Path) -> str:
    """Install, run the program of the extra and, from an sdist, its part of the tests; return what they said."""
    with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
        place, home = Path(folder), Path(folder) / "environment"
        python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
        run(["uv", "venv", "--quiet", "--seed", "--python", trial.interpreter.path, home], place, log=log)
        env = environment(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MPLBACKEND="agg")
        with_uv: list[str | Path] = ["uv", "pip", "install", "--quiet", "--python", python]
        # pip keeps the wheel of a source by the name of its file, so a cache may hold one of another day.
        with_pip: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--no-cache-dir"]
        run([*(with_pip if trial.extra == BARE else with_uv), *trial.wanted], place, env, log)
        (work := place / "work").mkdir()
        program = ROOT / "release" / "smoke" / f"{trial.extra if trial.extra != BARE else 'bare'}.py"
        run([python, "-P", program], work, env, log)  # its folder has files named like the libraries it needs
        if trial.kind == "wheel":
            return "its command works"
        part = PARTS[trial.extra]
        run([*with_uv, *TOOLS, *part.tools], place, env, log)
        with tarfile.open(trial.artefact) as source:
            source.extractall(place, filter="data")
        unpacked = place / trial.artefact.name.removesuffix(".tar.gz")
        for sources in ("src", "papers/src", "studio/src"):
            shutil.rmtree(unpacked / sources)  # the tests must take what was installed
        said = run([python, "-m", "pytest", "-n0", "-q", "-m", "", *part.tests], unpacked, env, log)
        return said.strip().splitlines()[-1]


def _read(path: Path) -> list[Outcome]:
    return [Outcome(**each) for each in json.loads(path.read_text(encoding="utf-8"))] if path.exists() else []


def _write(path: Path, outcomes: Iterable[Outcome]) -> None:
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps([asdict(each) for each in outcomes], indent=1) + "\n", encoding="utf-8")
    fresh.replace(path)
