"""The table of benchmarks/places.md: loss of mechanisms for points on real check-ins.

    python -m benchmarks.places ../shared/data                                  # all instances: half an hour
    python -m benchmarks.places ../shared/data --instance paris --instance user-3
    python -m benchmarks.places --render                                        # only write the table again

Instances are ``paris``, ``new-york`` and ``user-1`` to ``user-10`` (people with the most visits of the
Foursquare file and of the Gowalla file, five of each, within 12 km x 12 km of where they usually are). The numbers
go to ``docs/data/places.csv``, where those of other instances stay, and from there into the page.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

import numpy as np

import sfumato as sf
from sfumato.comparison import ANY, CELLS
from sfumato.core import Bracket
from sfumato.mechanisms.planar import CoordinateNoise

from .pages import replace_table

NUMBERS: Final = Path(__file__).resolve().parents[1] / "docs" / "data" / "places.csv"
EPSILONS: Final = ("0.5/km", "1/km", "2/km")
CENTRES: Final = {"paris": (48.8566, 2.3522), "new-york": (40.7420, -73.9880)}
FILES: Final = {"paris": "gowalla_paris.parquet", "new-york": "gowalla_nyc.parquet"}
TOWN_M, REACH_M = 3000, 12_000
USERS_OF_EACH: Final = 5
NAMES: Final = (*CENTRES, *(f"user-{k}" for k in range(1, 2 * USERS_OF_EACH + 1)))

SPLINE, HAT, NOISE, RAW = "program, spline", "program, hat", "planar Laplace + remap", "planar Laplace"
MOVED: Final = "program, spline, reports moved"
_MOST_VISITS: Final = 2000
_VERTICES: Final = 250
_GAP: Final = 1e-3
_FINENESS, _FEW = 0.2, 500  # of the table of the noise: of few visits finer, which takes as long
_HEADS: Final = (None, 45)  # places in a bound: many are better, but leave less time for a finer mesh
_SHOWN: Final = {
    MOVED: "spline, reports moved",
    SPLINE: "spline",
    HAT: "hat",
    NOISE: "planar Laplace + remap",
    CELLS: "cells (no such promise)",
    ANY: "proved: no mechanism loses less than",
}
_KEEP: Final = (MOVED, SPLINE, HAT, NOISE)  # the promise

Row = dict[str, str]
Found = tuple[Bracket, str]  # a loss, and how the mechanism was made


def instance(name: str, data: Path) -> tuple[sf.Visits, sf.Region]:
    """Return the visits and the region of an instance."""
    if name in CENTRES:
        region = sf.Region.around(*CENTRES[name], TOWN_M, TOWN_M)
        return sf.read_visits(data / FILES[name]).inside(region), region
    file, rank = divmod(int(name.removeprefix("user-")) - 1, USERS_OF_EACH)
    visits = sf.read_visits(data / ("foursquare_nyc.parquet", "gowalla_nyc.parquet")[file])
    counts = visits.users()
    user = sorted(counts, key=lambda each: (-counts[each], str(each)))[rank]
    theirs = visits.of_user(user)
    region = sf.Region.around(float(np.median(theirs.lat)), float(np.median(theirs.lon)), REACH_M, REACH_M)
    return theirs.inside(region), region


def title(name: str) -> str:
    """Return an instance in words."""
    if name in CENTRES:
        return {"paris": "Paris, 3 x 3 km", "new-york": "New York, 3 x 3 km"}[name]
    rank = int(name.removeprefix("user-"))
    return f"person {rank} ({'Foursquare' if rank <= USERS_OF_EACH else 'Gowalla'})"


def drawn(visits: sf.Visits) -> sf.Visits:
    """Return the visits that everything is made for and measured on: always the same ones."""
    if len(visits) <= _MOST_VISITS:
        return visits
    chosen = np.random.default_rng(0).choice(len(visits), size=_MOST_VISITS, replace=False)
    return visits.select(np.sort(chosen))


def measured(
    name: str, visits: sf.Visits, region: sf.Region, epsilons: Sequence[str], bound_time: float
) -> Iterator[Row]:
    """Compare on one instance; each row is a line of the table of numbers, in km.

    Args:
        name: Of the instance.
        visits: Where people are, 2,000 at most.
        region: What is served.
        epsilons: Per kilometre.
        bound_time: Seconds for each of two bounds, of which the better counts; 0 leaves them out.
    """
    for epsilon in epsilons:
        promise = sf.CoordinatePrivacy(epsilon)
        found = {
            SPLINE: _program(_lattice(visits, region, promise, "square"), visits, promise),
            HAT: _program(_lattice(visits, region, promise, "triangular"), visits, promise),
            **_noise(visits, epsilon),
            CELLS: _cells(visits, region, promise),
            MOVED: _program(_lattice(visits, region, promise, "square"), visits, promise, moved=True),
        }
        if bound_time:
            found[ANY] = _bound(visits, epsilon, bound_time)
        for mechanism, (loss, how) in found.items():
            yield _row(name, promise.epsilon, mechanism, (loss.lower, loss.value, loss.upper), how)


def _lattice(
    visits: sf.Visits, region: sf.Region, promise: sf.CoordinatePrivacy, kind: Literal["square", "triangular"]
) -> sf.Lattice:
    return sf.optimal.choose_lattice(visits, promise, most=_VERTICES, kind=kind, region=region).lattice


def _program(
    places: sf.Lattice | sf.Grid,
    visits: sf.Visits,
    promise: sf.CoordinatePrivacy | sf.MetricPrivacy,
    moved: bool = False,
) -> Found:
    """Return what the program loses, with its reports moved to the best places where that is asked for."""
    made = sf.design(
        sf.Prior.from_visits(places, visits),
        loss=places.loss(visits),
        guarantees=promise,
        medians=visits if moved else None,
        method="table",
        gap=_GAP,
        tie_break=False,
    )
    return Bracket.exact(made.certificate.loss), repr(places)


def _cells(visits: sf.Visits, region: sf.Region, promise: sf.CoordinatePrivacy) -> Found:
    """Return what cells as wide as the squares of the lattice lose."""
    side = _lattice(visits, region, promise, "square").spacing_m
    grid = sf.Grid.covering(visits, side, region=region)
    return _program(grid, visits, sf.MetricPrivacy(promise.epsilon, grid.metric("euclidean", unit="km")))


def _noise(visits: sf.Visits, epsilon: str) -> dict[str, Found]:
    """Return what planar noise loses, with its reports moved to the best places and without."""
    noise = CoordinateNoise.for_visits(visits, epsilon, fineness=1.0)
    if noise.projection is None:
        raise TypeError("noise for visits has a plane")
    points, weights = noise.projection.forward(visits.lat, visits.lon), np.ones(len(visits))
    fineness = _FINENESS if len(visits) > _FEW else _FINENESS / 2
    raw = CoordinateNoise(epsilon, noise.step_m, noise.projection, noise.reach_m)
    how = f"a lattice of {float(noise.step_m):g} m"
    return {
        NOISE: (_in_km(noise.for_places(points, weights, fineness).error(points, weights).loss), how),
        RAW: (_in_km(raw.error(points, weights, 1.0).loss), how),
    }


def _in_km(metres: Bracket) -> Bracket:
    return Bracket(metres.lower / 1000, metres.value / 1000, metres.upper / 1000)


def _bound(visits: sf.Visits, epsilon: str, seconds: float) -> Found:
    """Return the better of two lower bounds of every mechanism's loss."""
    tried = (sf.coordinate_bound(visits, epsilon, unit="km", points=most, time_limit=seconds) for most in _HEADS)
    bound = max(tried, key=lambda each: each.least.lower)
    least = Bracket(bound.least.lower, bound.least.lower, math.inf)
    return least, f"proved with {bound.heads} places as secrets"


def _row(name: str, epsilon: float, mechanism: str, loss: tuple[float, float, float], how: str) -> Row:
    ends = dict(zip(("loss_lower", "loss", "loss_upper"), (f"{each:.6g}" for each in loss), strict=True))
    return {"instance": name, "epsilon": f"{epsilon:g}", "mechanism": mechanism, **ends, "how": how}


def numbers() -> list[Row]:
    """Return what was measured."""
    if not NUMBERS.exists():
        return []
    with open(NUMBERS, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def save(rows: Sequence[Row]) -> None:
    """Write what was measured, instances in their order."""
    with open(NUMBERS, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            sorted(rows, key=lambda row: (NAMES.index(row["instance"]), float(row["epsilon"])))  # stable
        )


def table(rows: Sequence[Row]) -> str:
    """Return the table of the page: the least loss with the promise is bold, where it is surely the least."""
    lines = ["| places | epsilon | " + " | ".join(_SHOWN.values()) + " | noise loses more by |"]
    lines.append("| :-- | :-- |" + " --: |" * (len(_SHOWN) + 1))
    before = ""
    for name, epsilon in dict.fromkeys((row["instance"], row["epsilon"]) for row in rows):
        of = {row["mechanism"]: row for row in rows if (row["instance"], row["epsilon"]) == (name, epsilon)}
        least = min(_KEEP, key=lambda each: float(of[each]["loss"]))
        others = min(float(of[each]["loss_lower"]) for each in _KEEP if each != least)
        sure = float(of[least]["loss_upper"]) < others
        shown = {each: f"{float(of[each]['loss']):.3f}" for each in _SHOWN}
        shown[ANY] = f"{math.floor(1000 * float(of[ANY]['loss_lower'])) / 1000:.3f}"
        if sure:
            shown[least] = f"**{shown[least]}**"
        more = f"{excess(of):+.1f} %".replace("-0.0", "0.0").replace("+0.0", "0.0").replace("-", "−")
        cells = [title(name) if name != before else "", f"{epsilon}/km", *shown.values(), more]
        lines.append(f"| {' | '.join(cells)} |")
        before = name
    return "\n".join(lines)


def excess(of: dict[str, Row]) -> float:
    """Return by how many percent noise with its remap loses more than the program with its reports moved."""
    return 100 * (float(of[NOISE]["loss"]) / float(of[MOVED]["loss"]) - 1)


def main() -> None:
    """Compare on the instances, keep the numbers and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="the folder of check-ins")
    parser.add_argument("--instance", action="append", choices=NAMES, help="may be given several times")
    parser.add_argument("--bound-time", type=float, default=20.0, help="seconds for each of two bounds")
    parser.add_argument("--render", action="store_true", help="only write the table of what was measured")
    given = parser.parse_args()
    if given.data is None and not given.render:
        parser.error("give the folder of check-ins, or --render.")
    for name in [] if given.render else given.instance or NAMES:
        visits, region = instance(name, given.data)
        new = list(measured(name, drawn(visits), region, EPSILONS, given.bound_time))
        save([*(row for row in numbers() if row["instance"] != name), *new])
    replace_table("places", table(numbers()))


if __name__ == "__main__":
    main()
