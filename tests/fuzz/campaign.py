"""A campaign: inputs for one reader until the time is up, each drawn by Hypothesis and read under guard.

``python -m tests.fuzz.campaign READER SECONDS [FIRST]`` runs one in this process, with bounded memory, and prints
how many inputs there were; the rounds of inputs are numbered from FIRST (0), and a number gives the same inputs.
An input that ends the process lies in the folder that is named at the beginning; where nothing is found, it is
removed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import TextIO

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz.guard import guarded, limit_memory
from tests.fuzz.reader import Case, Reader
from tests.fuzz.readers import READERS

ROUND = 50
"""Inputs of one round."""


def run(
    reader: Reader,
    folder: Path,
    seconds: float,
    *,
    inputs: int | None = None,
    first: int = 0,
    log: TextIO | None = None,
) -> Counter[str]:
    """Return how many inputs there were, and how many were refused.

    Args:
        reader: The reader.
        folder: Where the input at hand lies.
        seconds: When to stop.
        inputs: How many inputs at most; None for as many as the time allows.
        first: The number of the first round.
        log: Where the stacks of a hanging process go.
    """
    counts: Counter[str] = Counter()
    stop = time.monotonic() + seconds
    size = ROUND if inputs is None else inputs

    @settings(
        max_examples=size,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(0, 2**64))
    def attempt(number: int) -> None:
        case = reader.case(Random(number))
        lay(folder, case)
        counts["inputs"] += 1
        with guarded(log) as refusals:
            reader.read(folder)
        counts["refused"] += len(refusals)

    number = first
    while time.monotonic() < stop:
        seed(number)(attempt)()
        number += 1
        if inputs is not None:
            break
    return counts


def lay(folder: Path, case: Case) -> None:
    """Let a folder hold an input, and nothing else."""
    for path in folder.iterdir():
        if path.is_file():
            path.unlink()
    for name, content in case.items():
        (folder / name).write_bytes(content)


def main(name: str, seconds: float, first: int = 0) -> None:
    """Run one campaign in this process."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix=f"fuzz-{name}-", dir=memory if memory.is_dir() else None))
    sys.stdout.write(f"The input at hand lies in {folder}.\n")
    sys.stdout.flush()
    honest, at_hand = folder / "honest", folder / "input"
    honest.mkdir()
    at_hand.mkdir()
    reader = READERS[name](honest)
    limit_memory()
    begun = time.monotonic()
    counts = run(reader, at_hand, seconds, first=first, log=sys.stderr)
    sys.stdout.write(
        f"{name}: {counts['inputs']:,} inputs in {time.monotonic() - begun:.0f} s, {counts['refused']:,} refused, "
        "nothing found.\n"
    )
    shutil.rmtree(folder)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), *(int(number) for number in sys.argv[3:]))
