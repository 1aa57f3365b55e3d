"""Search for new failures: fuzzed readers, kills at random moments, and all properties in random orders.

``uv run python -m tests.search --minutes 10`` draws a new seed each time, and ends with 1 where something fails.
The tests themselves run on the same examples each time: add what is found to them as a fixed example.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.fuzz.readers import READERS

ROOT = Path(__file__).parents[1]
GRACE = 900.0
"""Seconds that a step may take beyond its share: a step notices that its time is up between two inputs."""


def main() -> int:
    """Search until the time is up; return the exit code, 1 where something was found."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.search", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to search (10)")
    parser.add_argument("--seed", type=int, help="repeat the search with this seed")
    options = parser.parse_args()
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)  # noqa: T201
    found = [*fuzz(options.minutes * 20, seed), *test(options.minutes * 40, seed)]
    print("\nFound:" if found else "\nNothing found.", *found, sep="\n  ")  # noqa: T201
    return 1 if found else 0


def fuzz(seconds: float, seed: int) -> list[str]:
    """Fuzz each reader for its share of some seconds; return the commands that found something."""
    share = f"{seconds / (len(READERS) + 1):.0f}"
    commands = [["tests.fuzz.campaign", name, share, str(seed)] for name in READERS]
    if importlib.util.find_spec("atheris"):
        corpus = str(ROOT / "build" / "corpus")
        commands.append(["tests.fuzz.atheris_loader", f"-max_total_time={share}", corpus, str(seed)])
    return [" ".join(each) for each in commands if run(["-m", *each], float(share) + GRACE)]


def test(seconds: float, seed: int) -> list[str]:
    """Run the random kills, then all tests in a random order on random examples; stop at the first failure."""
    until = time.monotonic() + seconds
    order = ["-m", "pytest", "-x", "-q", "-p", "randomly", f"--randomly-seed={seed}", f"--hypothesis-seed={seed}"]
    steps = ([*order, "-m", "slow or not slow", "-k", "at_random_moments"], order)
    environment = {**os.environ, "SFUMATO_SEARCH": str(seed)}
    return [
        f"SFUMATO_SEARCH={seed} {' '.join(step[1:])}"
        for step in steps
        if run(step, max(0.0, until - time.monotonic()), environment)
    ]


def run(command: list[str], seconds: float, environment: dict[str, str] | None = None) -> bool:
    """Run a command of Python, interrupt it when its time is up; return whether it failed before."""
    print("\n$ python", *command, flush=True)  # noqa: T201
    process = subprocess.Popen([sys.executable, *command], cwd=ROOT, env=environment)
    try:
        return process.wait(seconds) != 0
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        return process.wait() == 1  # pytest's exit code for failed tests; an interrupt has another one


if __name__ == "__main__":
    sys.exit(main())
