"""Seconds to release a table on Spark in local mode: ``python -m benchmarks.spark --rows 10000000``.

The check-ins of `benchmarks.release` are written once, in Parquet. Spark reads them and writes them again, then
releases them from the same lattice, and then from coordinate noise, which draws row by row (100,000 rows at
most); each in turn in the same session, the fastest of the rounds counts. The reports are then read back beside
the true rows, and tested against the mechanism's integers. Lines of JSON are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from pyarrow import parquet
from scipy.stats import chi2

import sfumato as sf
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.releases.spark import release_on_spark

from .release import REGION, generate, mechanism

ROWS: Final = 10_000_000
_NOISY: Final = 100_000
_BINS: Final = 1000
_CHUNK: Final = 1 << 18


def measured(spark: Any, folder: Path, rows: int, rounds: int) -> dict[str, dict[str, float]]:
    """Return the seconds of each run, the least of so many rounds, and those of processors, by name.

    Args:
        spark: The session.
        folder: Where tables are written.
        rows: Rows of the table.
        rounds: How often each runs.
    """
    source, few = folder / "in.parquet", folder / "few.parquet"
    generate(source, rows)
    generate(few, min(rows, _NOISY))
    lattice = mechanism()
    noise = CoordinateNoise("1/km", "5 m", sf.Lattice.covering(REGION, "1 km").projection)
    options: Any = {"outside": "drop", "allow": 1.0, "spark": spark, "tell": None}
    runs: dict[str, Callable[[Path], object]] = {
        "copy": lambda target: spark.read.parquet(str(source)).write.parquet(str(target)),
        "release": lambda target: release_on_spark(lattice, source, target, keep=["time"], **options),
        "noise": lambda target: release_on_spark(noise, few, target, **options),
    }
    found: dict[str, dict[str, float]] = {}
    for number in range(rounds):
        for name, run in runs.items():
            begun, busy = time.monotonic(), processor_seconds()
            run(folder / f"{name}{number}")
            seconds = {"seconds": time.monotonic() - begun, "processor seconds": processor_seconds() - busy}
            found[name] = min(found.get(name, seconds), seconds, key=lambda each: each["seconds"])
    found["release"]["partitions"] = spark.read.parquet(str(source)).rdd.getNumPartitions()
    found["release"] |= tested(lattice, source, folder / "release0")
    return found


def tested(lattice: sf.Mechanism, source: Path, released: Path) -> dict[str, float]:
    """Return Pearson's statistic of all reports, each given its own row, and its p-value.

    The time of a check-in is another in every row, and was kept, so each report finds its true point. The point
    is rounded to a vertex at random, and the report drawn from the vertex's row: so the distribution function of
    its report, at the report, and blurred over the report's own step, is uniform, for every row independently.

    Args:
        lattice: The mechanism.
        source: The true rows.
        released: The private ones.
    """
    places = lattice.secrets
    if not isinstance(places, sf.Lattice):
        raise TypeError("the mechanism is not one of a lattice")
    reached = np.hstack([np.zeros((len(places), 1)), np.cumsum(lattice.matrix, axis=1)])
    true = parquet.read_table(source, columns=["lat", "lon", "time"])
    private = parquet.read_table(released, columns=["label", "time"])
    seen, known = (table["time"].cast("timestamp[us]").to_numpy() for table in (private, true))
    rows = np.searchsorted(known, seen)  # they rise by a second from row to row
    lat, lon = (true[name].to_numpy()[rows] for name in ("lat", "lon"))
    label = private["label"].combine_chunks().dictionary_encode()
    reports = lattice.observables.positions(label.dictionary.to_pylist())[label.indices.to_numpy()]
    rng, counts = np.random.default_rng(), np.zeros(_BINS, dtype=np.int64)
    for at in range(0, len(rows), _CHUNK):
        here = slice(at, at + _CHUNK)
        rounding = places.rounding(lat[here], lon[here])
        below, above = (
            (rounding.shares * reached[rounding.positions, reports[here, None] + step]).sum(axis=1)
            for step in (0, 1)
        )
        uniform = below + rng.uniform(size=len(below)) * (above - below)
        counts += np.bincount(np.minimum((uniform * _BINS).astype(int), _BINS - 1), minlength=_BINS)
    expected = len(rows) / _BINS
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return {
        "reports": len(rows),
        "rows drawn twice": int(len(rows) - len(np.unique(rows))),
        "chi-square": round(statistic, 1),
        "degrees of freedom": _BINS - 1,
        "p-value": round(float(chi2.sf(statistic, _BINS - 1)), 3),
    }


def processor_seconds() -> float:
    """Return the processor time of this process and of all that it started, Java and its workers among them."""
    parents, used = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        number = int(path.parent.name)
        parents[number], used[number] = int(fields[1]), sum(map(int, fields[11:15]))
    mine, total = {os.getpid()}, 0
    while mine:
        total += sum(used[number] for number in mine)
        mine = {number for number, parent in parents.items() if parent in mine}
    return total / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure, and print a line for each run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--master", default="local[2]")
    asked = parser.parse_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master(asked.master).config("spark.ui.enabled", "false").getOrCreate()
    with tempfile.TemporaryDirectory() as folder:
        for name, found in measured(spark, Path(folder), asked.rows, asked.rounds).items():
            rows = min(asked.rows, _NOISY) if name == "noise" else asked.rows
            rate = {"rows a second": round(rows / found["seconds"])}
            told = {key: round(value, 3) for key, value in found.items()}
            sys.stdout.write(json.dumps({"run": name, "rows": rows, **told, **rate}) + "\n")
    spark.stop()


if __name__ == "__main__":
    main()
