"""A mechanism on labels and tables to release on Spark."""

import os
import signal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy.stats import chi2

import sfumato as sf

JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # short queries, two cores
SPACE = sf.Space([f"s{number}" for number in range(8)])
BLUR = sf.Mechanism(np.random.default_rng(5).dirichlet(np.ones(8), 8), SPACE)
CITY = sf.Lattice.covering("6 km x 6 km around 48.85,2.35", "1 km")
TOWN = sf.Mechanism(np.random.default_rng(6).dirichlet(np.ones(len(CITY)), len(CITY)), CITY)
ignored = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet", "ignore::ResourceWarning", "ignore:It is preferred"
)


def answers(rows, value=None):
    labels = [f"s{row % 8}" if value is None else value for row in range(rows)]
    return pa.table({"id": np.arange(rows), "answer": labels, "who": [f"u{row % 7}" for row in range(rows)]})


def places(rows, spread=0.005):
    rng = np.random.default_rng(rows)
    return pa.table(
        {"id": np.arange(rows), "lat": rng.normal(48.85, spread, rows), "lon": rng.normal(2.35, spread, rows)}
    )


def written(folder: Path, table: pa.Table, files: int = 3) -> str:
    folder.mkdir()
    step = -(-table.num_rows // files)
    for number in range(files):
        parquet.write_table(table.slice(number * step, step), folder / f"part{number}.parquet")
    return str(folder)


def stopped_once(seen: Path, way: str):
    """Return a function that notes the reports it sees, and whose tasks are stopped at their first try."""

    def watching(batches):
        from pyspark import TaskContext

        task = TaskContext.get()
        for number, batch in enumerate(batches):
            name = f"{task.partitionId()}.{number}.{task.attemptNumber()}.parquet"
            parquet.write_table(pa.Table.from_batches([batch]), seen / name)
            if task.attemptNumber() == 0 and way == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if task.attemptNumber() == 0:
                raise RuntimeError("stopped on purpose")
            yield batch

    return watching


def failing_at_first(batches):
    """Give all rows, and fail after them at the first try: whatever counted them has counted them in vain."""
    from pyspark import TaskContext

    yield from batches
    if TaskContext.get().attemptNumber() == 0:
        raise RuntimeError("stopped on purpose")


def p_value_of_places(lat, lon, labels, bins=50):
    """Of Pearson's test of the reports of points, each given its own point.

    A point is rounded to a vertex at random, and the report drawn from the vertex's row. So the distribution
    function of its report, at the report, blurred over the report's own step, is uniform: for every row, and
    independently.
    """
    rounding = CITY.rounding(lat, lon)
    upper = np.hstack([np.zeros((len(CITY), 1)), np.cumsum(TOWN.matrix, axis=1)])
    reports = CITY.positions(labels)[:, None]
    below, above = ((rounding.shares * upper[rounding.positions, reports + step]).sum(axis=1) for step in (0, 1))
    at = below + np.random.default_rng(7).uniform(size=len(reports)) * (above - below)
    counts = np.bincount(np.minimum((at * bins).astype(int), bins - 1), minlength=bins)
    return float(chi2.sf(((counts - len(at) / bins) ** 2 / (len(at) / bins)).sum(), bins - 1))


def draws(seen: Path) -> dict[int, set[str]]:
    """Return the different reports that were seen for each row, and check that some rows were drawn twice."""
    found: dict[int, set[str]] = {}
    tries = {path.name.split(".")[2] for path in seen.glob("*.parquet")}
    assert len(tries) > 1, "no task was tried again"
    for path in sorted(seen.glob("*.parquet")):
        for row in parquet.read_table(path).to_pylist():
            found.setdefault(row["id"], set()).add(row["label"])
    return found
