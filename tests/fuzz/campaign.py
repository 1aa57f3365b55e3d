"""Fuzzing of one reader: rounds of inputs that Hypothesis draws, each read under guard.

``python -m tests.fuzz.campaign READER SECONDS [FIRST]`` runs rounds in this process until the time is up, with
bounded memory. The rounds are numbered from FIRST (0), and a number gives the same inputs. An input that ends the
process stays in the folder that is printed at the start; the folder is removed where nothing is found.
"""

from __future__ import annotations

import itertools
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


def run_round(
    reader: Reader, folder: Path, number: int, *, inputs: int = ROUND, log: TextIO | None = None
) -> Counter[str]:
    """Read the inputs of one round; return how many there were, and how many were refused.

    Args:
        reader: The reader.
        folder: Where each input lies while it is read.
        number: The number of the round, which chooses the inputs.
        inputs: How many inputs.
        log: Where the stacks of a hanging process go.
    """
    counts: Counter[str] = Counter()

    @seed(number)
    @settings(
        max_examples=inputs,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(0, 2**64))
    def attempt(drawn: int) -> None:
        case = reader.case(Random(drawn))
        lay(folder, case)
        counts["inputs"] += 1
        with guarded(log) as refusals:
            reader.read(folder)
        counts["refused"] += len(refusals)

    attempt()
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
    sys.stdout.write(f"Inputs lie in {folder}.\n")
    sys.stdout.flush()
    honest, at_hand = folder / "honest", folder / "input"
    honest.mkdir()
    at_hand.mkdir()
    reader = READERS[name](honest)
    limit_memory()
    counts: Counter[str] = Counter()
    begun = time.monotonic()
    for number in itertools.count(first):
        counts += run_round(reader, at_hand, number, log=sys.stderr)
        if time.monotonic() >= begun + seconds:
            break
    sys.stdout.write(
        f"{name}: {counts['inputs']:,} inputs in {time.monotonic() - begun:.0f} s, {counts['refused']:,} refused, "
        "nothing found.\n"
    )
    shutil.rmtree(folder)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), *(int(number) for number in sys.argv[3:]))
