"""Seconds to release a table, and of a plain copy of it: ``python -m benchmarks.release --rows 100000000``.

Generated check-ins are written once, in Parquet. Then the same file is copied by pyarrow, released from a
lattice, and handed row by row to a planar Laplace sampler in floating point, as packages of the field have it;
each in a process of its own, in turns, so that other work on the machine slows all alike. Results go to
``benchmarks/results``, the page is ``benchmarks/release.md``.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import sfumato as sf
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.releases import Schedule

from .results import FOLDER, Invocation

TARGET: Final = Path(__file__).resolve().parents[1] / "benchmarks" / "release.md"
REGION: Final = "16 km x 14 km around 48.85,2.35"
ROWS: Final = 2_000_000
_CHUNK: Final = 1 << 20
_APPLIED: Final = 20_000  # rows that are drawn one by one
_NOISY: Final = 1_000_000  # rows of the run with coordinate noise at most
_USERS: Final = 1_000_000  # of a day
_ROUNDS: Final = 2

_PAGE: Final = """# A table released, and copied

Generated check-ins (latitude, longitude, user, time), Parquet in and out: rows in a second, and the largest
memory of the process. The plain copy reads the same file with pyarrow in batches and writes it again. A
release reads the users first, to say how many reports one person makes, proves the promise, draws every row
from the integers of a mechanism on a lattice ({vertices} vertices, 1 km apart, 1/km), keeps each batch on the
disk before it counts as drawn, and writes latitude, longitude and label, and the user where that is said.
{turns} With a ledger or with coordinate noise the first
million rows are released (of a hundred million rows, 199,000 users are charged for them). The last line is
planar Laplace noise in floating point, drawn for one row after the other with `pandas.DataFrame.apply`
({applied:,} rows), which promises nothing for its last bits.

Measure again, and rewrite this page, with

    uv run --group bench python -m benchmarks.release --rows 100000000

"""


def generate(path: Path, rows: int) -> None:
    """Write check-ins: people go about some centres of a city, a row in each second."""
    rng = np.random.Generator(np.random.PCG64(5))
    people = max(1, rows // 500)
    schema = pa.schema(
        [("lat", pa.float64()), ("lon", pa.float64()), ("user", pa.int64()), ("time", pa.timestamp("us"))]
    )
    centres = np.column_stack([rng.uniform(48.82, 48.88, 40), rng.uniform(2.29, 2.41, 40)])
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, _CHUNK):
            n = min(_CHUNK, rows - start)
            at = centres[rng.integers(0, 40, n)] + rng.normal(size=(n, 2)) * (0.003, 0.005)
            seconds = np.arange(start, start + n) + 1_700_000_000
            columns = [at[:, 0], at[:, 1], rng.integers(0, people, n), seconds.astype("datetime64[s]")]
            writer.write_batch(
                pa.record_batch([*columns[:3], pa.array(columns[3], pa.timestamp("us"))], schema=schema)
            )


def mechanism() -> sf.Mechanism:
    """Return a mechanism with a proved promise, in closed form: nothing here depends on how good it is."""
    lattice = sf.Lattice.covering(REGION, "1 km")
    prior, loss = sf.Prior.uniform(lattice), lattice.metric("euclidean", unit="km")
    made = sf.design(
        prior, loss=loss, guarantees=sf.CoordinatePrivacy("1/km"), method="table", tie_break=False, time_limit=60.0
    )
    found: sf.Mechanism = made.mechanism
    return found


def copy(folder: Path) -> int:
    """Copy the table with pyarrow, batch by batch."""
    with parquet.ParquetFile(folder / "in.parquet") as file:
        with parquet.ParquetWriter(folder / "copy.parquet", file.schema_arrow) as writer:
            for batch in file.iter_batches(_CHUNK):
                writer.write_batch(batch)
        return int(file.metadata.num_rows)


def release(folder: Path, keep: Sequence[str] = ()) -> int:
    """Release the table."""
    drawn = sf.load(folder / "m.sfm")
    return sf.release(
        drawn, folder / "in.parquet", folder / "out.parquet", outside="drop", again=True, keep=keep
    ).rows


def charge(folder: Path) -> int:
    """Release the first rows of the table, and charge every user for every batch in a new ledger."""
    first = next(parquet.ParquetFile(folder / "in.parquet").iter_batches(_NOISY))
    address = folder / f"{time.time_ns()}.db"
    blur = sf.Blur(
        sf.load(folder / "m.sfm"), sf.Ledger.create(address, "1000000/km"), sf.CoordinatePrivacy("1/km")
    )
    table = pa.Table.from_batches([first])
    return sf.release(blur, table, folder / "charged.parquet", outside="drop").rows


def noise(folder: Path) -> int:
    """Release the first rows of the table with noise for coordinates."""
    first = parquet.ParquetFile(folder / "in.parquet").iter_batches(_NOISY)
    table = pa.Table.from_batches([next(first)])
    drawn = CoordinateNoise("1/km", "2 m", sf.geo.Projection(48.85, 2.35))
    return sf.release(drawn, table, folder / "noise.parquet").rows


def day(folder: Path) -> int:
    """Release a day of many users at six ticks, from three fixes of each on average."""
    rng, size = np.random.Generator(np.random.PCG64(6)), 3 * _USERS
    seconds = rng.integers(0, 86_400, size).astype("timedelta64[s]")
    lat, lon = 48.85 + rng.normal(0, 0.02, size), 2.35 + rng.normal(0, 0.03, size)
    users, time_of = rng.integers(0, _USERS, size), np.datetime64("2026-01-01", "s") + seconds
    parquet.write_table(pa.table({"user": users, "time": time_of, "lat": lat, "lon": lon}), folder / "day.parquet")
    schedule = Schedule(sf.Day("6/km", every="4 h"), "2026-01-01", (48.85, 2.35), [*map(str, range(_USERS))])
    drawn, target = sf.load(folder / "m.sfm"), folder / "day-out.parquet"
    return sf.release(drawn, folder / "day.parquet", target, schedule=schedule, again=True).rows


def apply(folder: Path) -> int:
    """Draw planar Laplace noise in floats for one row after the other, as a data frame's apply does."""
    from scipy.special import lambertw

    rng = np.random.default_rng()
    frame = pa.Table.from_batches(
        [next(parquet.ParquetFile(folder / "in.parquet").iter_batches(_APPLIED))]
    ).to_pandas()

    def blurred(row: Any) -> tuple[float, float]:
        angle, share = rng.uniform(0, 2 * math.pi), rng.uniform()
        radius_m = -1000 * (lambertw((share - 1) / math.e, -1).real + 1)
        north = row["lat"] + math.degrees(radius_m * math.sin(angle) / 6_371_000)
        east = row["lon"] + math.degrees(
            radius_m * math.cos(angle) / 6_371_000 / math.cos(math.radians(row["lat"]))
        )
        return north, east

    return len(frame.apply(blurred, axis=1))


RUNS: Final[dict[str, tuple[str, Callable[[Path], int]]]] = {
    "copy": ("plain copy with pyarrow", copy),
    "release": ("release", release),
    "keep": ("release, the user kept", lambda folder: release(folder, ["user"])),
    "charge": ("release with a ledger, one charge for each user and batch", charge),
    "day": ("release of a day: a million users at six ticks", day),
    "noise": ("release with coordinate noise", noise),
    "apply": ("planar Laplace in floats, pandas apply", apply),
}


def measured(run: str, folder: Path) -> dict[str, Any]:
    """Return how long one run took, and the largest memory of this process."""
    start, cpu = time.perf_counter(), time.process_time()
    rows = RUNS[run][1](folder)
    seconds, used = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"run": run, "name": RUNS[run][0], "rows": rows, "seconds": seconds, "cpu_s": used, "peak_bytes": peak}


def write(invocation: Invocation) -> Path:
    """Write the page of an invocation and return its path."""
    machine = invocation.machine
    facts, runs = invocation.runs[0], invocation.runs[1:]
    best = {run: min((each for each in runs if each["run"] == run), key=_per_row, default=None) for run in RUNS}
    base = best["copy"]
    lines = [
        f"{invocation.started[:10]}, {machine['processor']}, {machine['cores']} cores, {machine['system']}, "
        f"Python {machine['python']}; sfumato {machine['versions']['sfumato']}, pyarrow {facts['pyarrow']}; "
        f"{facts['rows']:,} rows, {facts['bytes'] / 1e9:.2f} GB. Load of the machine when it began: "
        f"{facts['load']:.1f}.",
        "",
        "| | rows | seconds | rows a second | time of a row / that of the copy | CPU seconds | peak memory |",
        "| :-- | --: | --: | --: | --: | --: | --: |",
    ]
    for each in best.values():
        if each is not None and base is not None:
            ratio = _per_row(each) / _per_row(base)
            lines.append(
                f"| {each['name']} | {each['rows']:,} | {each['seconds']:.1f} | "
                f"{each['rows'] / each['seconds']:,.0f} | "
                f"{ratio:,.2f} | {each['cpu_s']:.1f} | {each['peak_bytes'] / 2**30:.2f} GiB |"
            )
    rounds = facts["rounds"]
    turns = "Each was run once." if rounds == 1 else f"Runs take turns ({rounds} each), and the fastest counts."
    page = _PAGE.format(vertices=facts["vertices"], turns=turns, applied=_APPLIED)
    TARGET.write_text(page + "\n".join(lines) + "\n", encoding="utf-8")
    return TARGET


def _per_row(run: dict[str, Any]) -> float:
    return float(run["seconds"] / run["rows"])


def run_all(rows: int, folder: Path, rounds: int = _ROUNDS) -> Invocation:
    """Return the measurements of all runs, each in a process of its own."""
    generate(folder / "in.parquet", rows)
    made = mechanism()
    sf.save(made, folder / "m.sfm")
    invocation = Invocation.new("release")
    facts = {
        "rows": rows,
        "bytes": (folder / "in.parquet").stat().st_size,
        "vertices": made.shape[0],
        "rounds": rounds,
        "pyarrow": pa.__version__,
        "load": os.getloadavg()[0],
    }
    invocation.runs.append(facts)
    for _ in range(rounds):
        for run in RUNS:
            command = [sys.executable, "-m", "benchmarks.release", "--one", run, str(folder)]
            done = subprocess.run(  # noqa: S603 (this module)
                command, cwd=TARGET.parents[1], capture_output=True, check=True
            )
            invocation.runs.append(json.loads(done.stdout))
    return invocation


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all, keep the results and write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.release", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--rows", type=int, default=ROWS, help="rows to generate")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help="how often each is run")
    parser.add_argument("--folder", type=Path, help="where the tables are written; by default a temporary folder")
    parser.add_argument("--render", action="store_true", help="only write the page of the newest results")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one is not None:
        sys.stdout.write(json.dumps(measured(given.one[0], Path(given.one[1]))))
        return
    if given.render:
        newest = max(FOLDER.glob("*-release.json"))
        invocation = Invocation(**json.loads(newest.read_text(encoding="utf-8")))
    else:
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            invocation = run_all(given.rows, Path(folder), given.rounds)
        invocation.write()
    sys.stdout.write(f"wrote {write(invocation)}\n")


if __name__ == "__main__":
    main()
