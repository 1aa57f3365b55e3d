"""Designs a minute for many users, with a kill in the middle: ``python -m benchmarks.many VISITS --users 200``.

The users with the most visits in the region are designed for by ``sfumato design-users``. When half of the
designs are there, the command is killed with SIGKILL; the same command then makes the rest. Lines of JSON are
printed: seconds, designs, and the CPU seconds of the second run, since a killed process cannot report its own.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import sfumato as sf


def chosen(source: Path, region: str, users: int, target: Path) -> int:
    """Write the visits in a region of the users with the most there, as a table, and return how many these are.

    Args:
        source: All visits.
        region: The region, as text.
        users: How many users.
        target: The table (.csv).
    """
    visits = sf.read_visits(source).inside(sf.Region.parse(region))
    names = set(list(visits.users())[:users])
    rows = [k for k, user in enumerate([] if visits.user is None else visits.user.tolist()) if user in names]
    lines = [f"u{visits.user[k]},{visits.lat[k]},{visits.lon[k]}" for k in rows if visits.user is not None]
    target.write_text("user,lat,lon\n" + "\n".join(lines) + "\n")
    return len(rows)


def main() -> None:
    """Design, kill, go on, and print what it took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many", description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--region", default="8 km x 6 km around 40.75,-73.98")
    parser.add_argument("--spacing", default="1.5 km")
    parser.add_argument("--epsilon", default="1/km")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = chosen(asked.source, asked.region, asked.users, folder / "visits.csv")
        _say(users=asked.users, visits=rows)
        command = [sys.executable, "-m", "sfumato", "design-users", str(folder / "visits.csv")]
        command += ["--region", asked.region, "--spacing", asked.spacing, "--epsilon", asked.epsilon]
        command += ["--processes", str(asked.processes), "--least-visits", "1", "--output", str(folder / "out")]
        _first(command, folder / "out", asked.users // 2)
        _second(command, folder / "out")


def _first(command: list[str], out: Path, enough: int) -> None:
    begun = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603  our own command
    while process.poll() is None and len(_rows(out)) < enough:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    seconds = time.monotonic() - begun
    _say(run="killed", designs=len(_rows(out)), seconds=round(seconds, 1))


def _second(command: list[str], out: Path) -> None:
    before, begun = len(_rows(out)), time.monotonic()
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603  our own command
    seconds, used = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    rows = _rows(out)
    made = len(rows) - before
    _say(
        run="restarted",
        code=done.returncode,
        designs=made,
        seconds=round(seconds, 1),
        cpu_seconds=round(used.ru_utime + used.ru_stime, 1),
        designs_a_minute=round(60 * made / seconds, 1),
        load=os.getloadavg()[0],
    )
    sizes = [path.stat().st_size for path in out.glob("*.sfm")]
    kinds = collections.Counter(row["kind"] for row in rows)
    _say(files=len(sizes), mebibytes=round(sum(sizes) / 2**20, 1), **kinds)
    sys.stdout.write(done.stdout)


def _rows(out: Path) -> list[Any]:
    index = out / "index.jsonl"
    return [json.loads(line) for line in index.read_bytes().split(b"\n")[:-1]] if index.exists() else []


def _say(**facts: Any) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
