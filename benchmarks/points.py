"""Microseconds to report a point: ``python -m benchmarks.points``.

Each way of reporting gets one point as two floats, again and again, and many points as arrays. qif's planar
Laplace, a draw of noise in floating point, without a projection, runs in a process of its own where it is
installed. The results go to ``benchmarks/results``, the page is ``benchmarks/points.md``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

import sfumato as sf
from sfumato.geo import Projection
from sfumato.mechanisms.planar import CoordinateNoise

from .results import FOLDER, Invocation

TARGET: Final = Path(__file__).resolve().parents[1] / "benchmarks" / "points.md"
REGION: Final = "8 km x 6 km around 48.85,2.35"
MANY: Final = 100_000
_ROUNDS: Final = 30
_QIF: Final = "qif's planar Laplace (floats, no projection)"

_PAGE: Final = """# Microseconds per point

The time to report a point with `sf.sampler(mechanism).blur(lat, lon)`: the projection, the random rounding to a
vertex, the exact draw and the place of the report. One point is given as two floats; many are {many:,} points in
two arrays, and their time is per point. It is CPU time of one thread on a shared machine, the least of {rounds}
rounds.

The randomness of every call comes from the operating system, and nothing of it is kept between calls: processes
that fork share none. qif's planar Laplace is shown too where it is installed: a draw of noise in floating point,
which needs no projection and promises nothing for its last bits.

Measure again, and rewrite this page, with

    uv run --group bench --group peers python -m benchmarks.points

"""


def contenders() -> dict[str, Callable[[], Any]]:
    """Return what makes each sampler, by its name in the table."""

    def on(places: sf.geo.Places) -> sf.Mechanism:
        rows = np.random.Generator(np.random.PCG64(1)).dirichlet(np.ones(len(places)), len(places))
        return sf.Mechanism(rows, places)

    plane = Projection(48.85, 2.35)
    return {
        "square lattice, 1 km": lambda: on(sf.Lattice.covering(REGION, "1 km")),
        "square lattice, 300 m": lambda: on(sf.Lattice.covering(REGION, "300 m")),
        "triangular lattice, 300 m": lambda: on(sf.Lattice.covering(REGION, "300 m", kind="triangular")),
        "grid, 500 m": lambda: on(sf.Grid.covering(REGION, cell="500 m")),
        "coordinate noise, 1/km": lambda: CoordinateNoise("1/km", "2 m", plane),
    }


def measured(name: str) -> dict[str, Any]:
    """Return the microseconds of one sampler, per call and per point of arrays."""
    sampler = sf.sampler(contenders()[name]())
    rng = np.random.Generator(np.random.PCG64(2))
    lat, lon = rng.uniform(48.83, 48.87, MANY), rng.uniform(2.31, 2.39, MANY)
    points = list(zip(lat[:200].tolist(), lon[:200].tolist(), strict=True))

    def singly() -> None:
        for point in points:
            sampler.blur(*point)

    singly()
    return {
        "name": name,
        "one_us": _least_us(singly) / len(points),
        "many_us": _least_us(lambda: sampler.blur(lat, lon), rounds=3) / MANY,
    }


def measured_qif() -> dict[str, Any]:
    """Return the microseconds of qif's planar Laplace; it draws one at a time."""
    draw = import_module("qif").mechanism.geo_ind.planar_laplace_sample

    def singly() -> None:
        for _ in range(1000):
            draw(1.0)

    return {"name": _QIF, "one_us": _least_us(singly) / 1000, "many_us": None, "version": version("qif")}


def _least_us(work: Callable[[], object], rounds: int = _ROUNDS) -> float:
    found = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found) * 1e6


def write(invocation: Invocation) -> Path:
    """Write the page of an invocation and return its path."""
    machine = invocation.machine
    shown = ", ".join(f"{key} {machine['versions'][key]}" for key in ("sfumato", "numpy"))
    qif = "".join(f", qif {run['version']}" for run in invocation.runs if "version" in run)
    lines = [
        f"{invocation.started[:10]}, {machine['processor']}, {machine['cores']} cores, {machine['system']}, "
        f"Python {machine['python']}; {shown}{qif}.",
        "",
        "| | one point, µs | of many, µs each |",
        "| :-- | --: | --: |",
    ]
    for run in invocation.runs:
        many = "" if run["many_us"] is None else f"{run['many_us']:.2f}"
        lines.append(f"| {run['name']} | {run['one_us']:.{1 if run['one_us'] < 100 else 0}f} | {many} |")
    TARGET.write_text(_PAGE.format(many=MANY, rounds=_ROUNDS) + "\n".join(lines) + "\n", encoding="utf-8")
    return TARGET


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all, keep the results and write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.points", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--render", action="store_true", help="only write the page of the newest results")
    parser.add_argument("--qif", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.qif:
        sys.stdout.write(json.dumps(measured_qif()))
        return
    if given.render:
        newest = max(FOLDER.glob("*-points.json"))
        invocation = Invocation(**json.loads(newest.read_text(encoding="utf-8")))
    else:
        invocation = Invocation.new("points")
        invocation.runs.extend(measured(name) for name in contenders())
        if importlib.util.find_spec("qif") is not None:
            command = [sys.executable, "-m", "benchmarks.points", "--qif"]
            done = subprocess.run(  # noqa: S603 (this module)
                command, cwd=TARGET.parents[1], capture_output=True, check=True
            )
            invocation.runs.append(json.loads(done.stdout))
        invocation.write()
    sys.stdout.write(f"wrote {write(invocation)}\n")


if __name__ == "__main__":
    main()
