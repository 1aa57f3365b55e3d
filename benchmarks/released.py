"""Released files against what was stated: the mean distance to the true points, and a simulated attack's error.

    python -m benchmarks.released ../shared/data             # a quarter of an hour
    python -m benchmarks.released --render                   # only write the table again

For Paris, New York and ten people (five of the Foursquare and five of the Gowalla file), at three epsilons, a
mechanism for points and one on cells are designed, files are released, and what is in them is measured: 72 files.
The numbers go to ``docs/data/released.csv`` and from there into benchmarks/places.md. Each run draws
new releases.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np

import sfumato as sf

from .pages import replace_table
from .places import EPSILONS, NAMES, instance, title

NUMBERS: Final = Path(__file__).resolve().parents[1] / "docs" / "data" / "released.csv"
ROWS: Final = 4000
_CSV_KM: Final = 1e-6  # to which places in a released file are written
_SHOWN: Final = "1/km"  # in the table of the page


@dataclass(frozen=True)
class Measured:
    """Findings in a released file, next to what was stated; lengths in km.

    Attributes:
        instance: The visits.
        kind: ``points`` or ``cells``.
        epsilon: As asked for.
        rows: Of the released file.
        stated_loss: By the certificate.
        loss: The mean distance from true to released point.
        loss_z: Their difference in standard errors.
        stated_error: Of the best attacker: no attacker has a smaller error.
        error: The mean distance from true point to the attacker's guess for the released report.
        error_z: Their difference in standard errors.
    """

    instance: str
    kind: str
    epsilon: str
    rows: int
    stated_loss: float
    loss: float
    loss_z: float
    stated_error: float
    error: float
    error_z: float


def measured(
    name: str, visits: sf.Visits, region: sf.Region, epsilon: str, kind: str, rows: int = ROWS
) -> Measured:
    """Design, release, and measure what was released.

    Args:
        name: Of the instance.
        visits: Where people are; each as often as needed for the rows.
        region: What is served.
        epsilon: Per kilometre.
        kind: ``points`` or ``cells``.
        rows: Of the file, at least.
    """
    promise: sf.CoordinatePrivacy | sf.MetricPrivacy = sf.CoordinatePrivacy(epsilon)
    lattice = sf.optimal.choose_lattice(visits, sf.CoordinatePrivacy(epsilon), most=140, region=region).lattice
    places: sf.Lattice | sf.Grid = lattice
    if kind == "cells":
        places = sf.Grid.covering(visits, lattice.spacing_m, region=region)
        promise = sf.MetricPrivacy(epsilon, places.metric("euclidean", unit="km"))
    made = sf.design(
        sf.Prior.from_visits(places, visits),
        loss=places.loss(visits),
        guarantees=promise,
        gap=1e-3,
        tie_break=False,
        method="table",
    )
    many = visits.select(np.tile(np.arange(len(visits)), -(-rows // len(visits))))
    labels, reports = _released(made.mechanism, many)
    plane = places.projection
    true = plane.forward(many.lat, many.lon)
    lost = np.hypot(*(plane.forward(*reports.T) - true).T) / 1000
    attack = sf.attacks.true_place(made.mechanism, visits)
    position = {label: k for k, label in enumerate(made.mechanism.observables.labels)}
    erred_to = plane.forward(*attack.guesses.T)
    erred = np.hypot(*(erred_to[[position[label] for label in labels]] - true).T) / 1000
    to = made.mechanism.observables.coordinates
    loss, error = made.certificate.loss, attack.error.value
    return Measured(
        name,
        kind,
        epsilon,
        len(many),
        loss,
        float(lost.mean()),
        _z(lost, loss, _variance(made.mechanism, visits, to)),
        attack.error.lower,
        float(erred.mean()),
        _z(erred, error, _variance(made.mechanism, visits, erred_to)),
    )


def _released(mechanism: sf.Mechanism, visits: sf.Visits) -> tuple[list[str], np.ndarray]:
    """Return the labels and the coordinates, array (n, 2), of a released file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "released.csv"
        sf.release(mechanism, visits, path)
        with open(path, newline="", encoding="utf-8") as file:
            table = list(csv.DictReader(file))
    degrees = np.array([(float(row["latitude"]), float(row["longitude"])) for row in table])
    return [row["label"] for row in table], degrees


def _variance(mechanism: sf.Mechanism, visits: sf.Visits, to: np.ndarray | None) -> float:
    """Return the mean over visits of the variance of the distance to a report's point, array (reports, 2)."""
    places = mechanism.secrets
    if not isinstance(places, sf.geo.Places) or to is None:
        raise TypeError("places are needed")
    rounding, true = places.rounding(visits.lat, visits.lon), places.projection.forward(visits.lat, visits.lon)
    total = 0.0
    for k in range(0, len(visits), 1000):
        shares, positions = rounding.shares[k : k + 1000], rounding.positions[k : k + 1000]
        likely = np.einsum("nk,nko->no", shares, mechanism.matrix[positions])
        far = np.hypot(*(to[None] - true[k : k + 1000, None]).transpose(2, 0, 1)) / 1000
        mean = (likely * far).sum(axis=1, keepdims=True)
        total += float((likely * (far - mean) ** 2).sum())
    return total / len(visits)


def _z(values: np.ndarray, stated: float, variance: float) -> float:
    """Return how many standard errors the mean of drawn values is from what was stated."""
    return float((values.mean() - stated) / np.sqrt(variance / len(values) + _CSV_KM**2))


def every(data: Path) -> Iterator[Measured]:
    """Measure all instances, kinds and epsilons."""
    for name in NAMES:
        visits, region = instance(name, data)
        for kind in ("points", "cells"):
            for epsilon in EPSILONS:
                yield measured(name, visits, region, epsilon, kind)


def numbers() -> list[dict[str, str]]:
    """Return what was measured."""
    with open(NUMBERS, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(rows: Sequence[dict[str, str]]) -> str:
    """Return the table of the page: the files of one epsilon; lengths in km."""
    lines = [
        f"| {_SHOWN} | rows | stated loss | in the file | standard errors apart | attacker's error, at least "
        "| simulated |",
        "| :-- | --: | --: | --: | --: | --: | --: |",
    ]
    for row in (row for row in rows if row["epsilon"] == _SHOWN):
        lengths = {key: f"{float(row[key]):.3f}" for key in ("stated_loss", "loss", "error")}
        stated = f"{math.floor(1000 * float(row['stated_error'])) / 1000:.3f}"
        apart = f"{float(row['loss_z']) + 0.0:.1f}".replace("-0.0", "0.0")
        cells = (f"{int(row['rows']):,}", lengths["stated_loss"], lengths["loss"], apart, stated, lengths["error"])
        lines.append(f"| {title(row['instance'])}, {row['kind']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure everything, keep the numbers and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="the folder of check-ins")
    parser.add_argument("--render", action="store_true", help="only write the table of what was measured")
    given = parser.parse_args()
    if given.data is None and not given.render:
        parser.error("give the folder of check-ins, or --render.")
    if not given.render:
        found = []
        for each in every(given.data):
            found.append(each)
            sys.stdout.write(f"{each}\n")
        save(found)
    replace_table("released files", table(numbers()))


def save(found: Sequence[Measured]) -> None:
    """Write what was measured, with six digits."""
    with open(NUMBERS, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(Measured.__dataclass_fields__), lineterminator="\n")
        writer.writeheader()
        for each in found:
            row = asdict(each)
            writer.writerow({key: f"{row[key]:.6g}" if isinstance(row[key], float) else row[key] for key in row})


if __name__ == "__main__":
    main()
