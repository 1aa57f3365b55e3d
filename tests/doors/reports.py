"""Reports that follow from known random bytes: of samplers, of points and of tables."""

import csv
import hashlib
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf

from .conftest import repeat_chance
from .designs import VISITS
from .proofs import FILES, read

ROWS: Final = 16_000
HOURS: Final = [3 * (row % 8) for row in range(ROWS)]
LAPLACE: Final = sf.mechanisms.DiscreteLaplace(Fraction(1, 3))
ANSWERS: Final = sf.Space(range(6))
DRAWS: Final[dict[str, tuple[Callable[[], Any], list[int]]]] = {
    "matrix": (lambda: sf.load(FILES["design hours"]), [0, 3, 7] * 8),
    "matrix of 126 bits": (lambda: sf.Mechanism([[0.5, 0.5 - 2**-70, 2**-70], [0.25, 0.75, 0.0]]), [0, 1] * 8),
    "tupling": (lambda: sf.load(FILES["design tuple"]), [0, 1]),
    "discrete Laplace": (lambda: LAPLACE, [0, 100, -5] * 8),
    "discrete Gaussian": (lambda: sf.mechanisms.DiscreteGaussian(4, 2), [0, 100, -5] * 8),
    "staircase": (lambda: sf.mechanisms.Staircase(1, 3), [0, 100, -5] * 8),
    "clamped": (lambda: LAPLACE.clamp(-3, 3), [0, 3, 6] * 8),
    "unary encoding": (lambda: sf.mechanisms.UnaryEncoding(ANSWERS, 2.0, "optimised"), [0, 5] * 3),
    "local hashing": (lambda: sf.mechanisms.LocalHashing(ANSWERS, 1.0), [0, 5] * 3),
    "subset selection": (lambda: sf.mechanisms.SubsetSelection(ANSWERS, 0.7, 2), [0, 5] * 3),
}
"""What draws, and for which secrets."""

PLACES: Final = ("grid", "design cells", "design triangular", "design visits", "noise")
"""Files of mechanisms for points."""


def drawn(name: str) -> Any:
    """Return reports of a sampler."""
    drawable, secrets = DRAWS[name]
    return sf.sampler(drawable()).draw(secrets).tolist()


def simulated(name: str) -> Any:
    """Return reports of a seed."""
    drawable, secrets = DRAWS[name]
    return sf.simulator(drawable(), 7).draw(secrets).tolist()


def blurred(name: str) -> Any:
    """Return latitudes and longitudes of reports for points."""
    return sf.sampler(sf.load(FILES[name])).blur(VISITS.lat[:6], VISITS.lon[:6], outside="nearest").tolist()


def keyed() -> Any:
    """Return reports of rows that have words of their own."""
    words = sf.sampling.KeyedWords(bytes(range(32)), [b"ada", b"bob", b"eve"])
    return sf.core.Row(read(FILES["design hours"]).mechanism).draw(np.array([0, 3, 7]), words).tolist()


def released(folder: Path, suffix: str) -> Path:
    """Release a table of hours from a file into a file; return its path."""
    table, source = pa.table({"id": range(ROWS), "hour": HOURS}), folder / f"in{suffix}"
    if suffix == ".csv":
        source.write_text(
            "id,hour\n" + "".join(f"{row},{hour}\n" for row, hour in enumerate(HOURS)), encoding="ascii"
        )
    else:
        pq.write_table(table, source)
    sf.release(sf.load(FILES["design hours"]), source, folder / f"out{suffix}", column="hour", keep=["id"])
    return folder / f"out{suffix}"


def reports(path: Path) -> list[int]:
    with path.open(encoding="utf-8", newline="") as file:
        return [int(row["label"]) for row in csv.DictReader(file)]


def golden() -> dict[str, Any]:
    """Return all reports, each with the first of the known random bytes."""
    with tempfile.TemporaryDirectory() as folder:
        return {
            "sampler": {name: _with_known_bytes(drawn, name) for name in DRAWS},
            "simulator": {name: simulated(name) for name in DRAWS},
            "points": {name: _with_known_bytes(blurred, name) for name in PLACES},
            "key": keyed(),
            "table": hashlib.sha256(_with_known_bytes(released, Path(folder), ".csv").read_bytes()).hexdigest(),
        }


def _with_known_bytes(function: Callable[..., Any], *arguments: Any) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        repeat_chance(patch)
        return function(*arguments)
