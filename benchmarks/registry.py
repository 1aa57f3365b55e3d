"""The cases to measure: families x sizes x solvers, and the suites that are chosen from them.

This file imports neither numpy nor sfumato: the process that starts the runs must stay
small, because a child's peak memory is counted from its parent's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
CHECK_INS = {
    "foursquare": "foursquare_nyc.parquet",
    "gowalla": "gowalla_nyc.parquet",
    "paris": "gowalla_paris.parquet",
}

MIDDLES = {"foursquare": "40.742,-73.988", "gowalla": "40.742,-73.988", "paris": "48.8566,2.3522"}

ALL, SPANNER = "all", "spanner"
DILATION = 1.1

PRIORS = ("uniform", "dirichlet", "skewed", "foursquare 1", "foursquare 2", "gowalla 1", "gowalla 2")
LOSSES = ("euclidean", "hamming", "great-circle")
SIZES = ((5, 5), (7, 7), (10, 10), (14, 14), (20, 15), (20, 20), (32, 32))

LIMIT_S = 600.0
_EPSILON_PER_KM = 0.45  # on the maps of real users, the middle of Privacy Games' range
_LARGE = 1000  # cells, from which a gap of 1e-4 is asked
_LARGE_GAP = 1e-4


@dataclass(frozen=True, slots=True)
class Instance:
    """One design problem.

    Attributes:
        prior: Of `PRIORS`; ``foursquare 2`` is the user of second most check-ins, and ``foursquare town 5`` is all
            visits in a box of 5 km.
        loss: Of `LOSSES`.
        columns: Of the grid.
        rows: Of the grid.
        pairs: ``all`` or ``spanner`` (dilation at most 1.1).
        epsilon: Per cell side, or per km on the maps of real users.
        gap: The relative gap to reach.
    """

    prior: str
    loss: str
    columns: int
    rows: int
    pairs: str = ALL
    epsilon: float = 0.7
    gap: float = 1e-6

    @property
    def cells(self) -> int:
        """The number of secrets."""
        return self.columns * self.rows

    @property
    def name(self) -> str:
        """The name in tables."""
        return f"{self.columns}x{self.rows} {self.prior} {self.loss} {self.pairs} {self.epsilon:g}"

    @property
    def available(self) -> bool:
        """Whether its data is here: real check-ins are not part of the repository."""
        source = self.prior.split()[0]
        return source not in CHECK_INS or (DATA / CHECK_INS[source]).is_file()


@dataclass(frozen=True, slots=True)
class Contender:
    """One way of solving.

    Attributes:
        name: In tables.
        module: Where its ``solve`` is: ``ours`` goes through `sfumato.design`, the others
            get the plain program with every row.
        options: Its arguments.
        most_cells: The largest instance that the full suite gives it.
        spanner: Whether it can work on the pairs of a spanner.
    """

    name: str
    module: str
    options: Mapping[str, Any]
    most_cells: int
    spanner: bool = True


CONTENDERS = {
    found.name: found
    for found in (
        Contender("structured", "ours", {"solver": "structured", "symmetry": False}, 400, spanner=False),
        Contender("structured, symmetry", "ours", {"solver": "structured", "symmetry": True}, 1024, spanner=False),
        Contender("observables generated", "ours", {"solver": "generating"}, 400, spanner=False),
        Contender("HiGHS ipm, rows generated", "ours", {"solver": "highs", "method": "ipm"}, 196),
        Contender("HiGHS simplex, rows generated", "ours", {"solver": "highs", "method": "simplex"}, 49),
        Contender("Clarabel, rows generated", "ours", {"solver": "clarabel"}, 196),
        Contender("HiGHS ipm, plain", "raw_highs", {"method": "ipm"}, 100),
        Contender("HiGHS simplex, plain", "raw_highs", {"method": "simplex"}, 49),
        Contender("Clarabel, plain", "raw_clarabel", {}, 100),
        Contender("OR-tools PDLP, plain", "raw_pdlp", {}, 100),
        Contender("qif with GLOP, plain", "raw_qif", {"solver": "GLOP"}, 100, spanner=False),
    )
}
OURS = ("structured", "structured, symmetry", "observables generated")
# One of each kind: interior points with generated rows and plain, first order, simplex.
FEW = (*OURS[:2], "Clarabel, plain")
OTHERS = (
    "Clarabel, rows generated",
    "Clarabel, plain",
    "HiGHS ipm, plain",
    "OR-tools PDLP, plain",
    "qif with GLOP, plain",
)


@dataclass(frozen=True, slots=True)
class Case:
    """One run: an instance, who solves it, and for how many seconds of wall time at most."""

    instance: Instance
    contender: Contender
    limit_s: float = LIMIT_S

    @property
    def name(self) -> str:
        """The name in progress lines, which ``--only`` searches."""
        return f"{self.instance.name}: {self.contender.name}"


def suite(name: str) -> list[Case]:
    """Return the runs of a suite whose data is here."""
    return [case for case in SUITES[name]() if case.instance.available]


def _quick() -> list[Case]:
    """Two small sizes, all solvers: some minutes."""
    instances = [
        *(Instance(prior, "euclidean", *size) for prior in ("uniform", "skewed") for size in SIZES[:2]),
        Instance("dirichlet", "hamming", 7, 7),
        Instance("uniform", "great-circle", 7, 7),
        Instance("uniform", "euclidean", 7, 7, pairs=SPANNER),
        Instance("foursquare 1", "hamming", 7, 7, epsilon=_EPSILON_PER_KM),
    ]
    return _crossed(instances, 60.0)


def _headline() -> list[Case]:
    """10 x 10 cells, all pairs, everyone: about twenty minutes."""
    limits = {
        "structured": 120.0,
        "structured, symmetry": 120.0,
        "Clarabel, plain": LIMIT_S,
        "qif with GLOP, plain": 400.0,
        "OR-tools PDLP, plain": 120.0,
        "HiGHS ipm, plain": 300.0,
    }
    instance = Instance("uniform", "euclidean", 10, 10)
    return [Case(instance, CONTENDERS[name], limit) for name, limit in limits.items()]


def _growth() -> list[Case]:
    """Ours from 100 to 1,024 cells, the largest last."""
    plain, symmetric, _ = (CONTENDERS[name] for name in OURS)
    cases = []
    for size in ((10, 10), (14, 14), (20, 20)):
        instance = Instance("uniform", "euclidean", *size)
        cases += [Case(instance, symmetric), Case(instance, plain)]
    largest = Instance("uniform", "euclidean", 32, 32, gap=_LARGE_GAP)
    return [*cases, Case(largest, symmetric, 900.0), Case(largest, plain, 900.0)]


def _families() -> list[Case]:
    """Every family: 25 cells by one of each kind of solver, 49 by ours and Clarabel, more by ours alone."""
    small = [
        *(Instance(prior, loss, *size) for prior, loss, size in product(PRIORS, LOSSES, SIZES[:2])),
        *(Instance(prior, "euclidean", *size, pairs=SPANNER) for prior in PRIORS for size in SIZES[:2]),
    ]
    large = [Instance(prior, loss, *size) for prior, loss, size in product(PRIORS, LOSSES, SIZES[2:5])]
    fewest = SIZES[0][0] * SIZES[0][1]
    cases = _crossed([_fitted(instance) for instance in small], 20.0)
    return [
        *(
            case
            for case in cases
            if case.contender.name in (FEW if case.instance.cells > fewest else (*OURS[:2], *OTHERS))
        ),
        *(Case(_fitted(instance), CONTENDERS[OURS[1]], 120.0) for instance in large),
    ]


def _towns() -> list[Case]:
    """400 cells of real towns, whose visits are at few of them: some ten minutes."""
    ways = [CONTENDERS[name] for name in (OURS[0], OURS[2])]
    towns = [(town, 5, epsilon) for town in CHECK_INS for epsilon in (0.5, 1.0, 2.0)]
    towns += [(town, 15, 1.0) for town in CHECK_INS]
    return [
        Case(Instance(f"{town} town {km}", "euclidean", 20, 20, epsilon=epsilon), way)
        for town, km, epsilon in towns
        for way in ways
    ]


def _full() -> list[Case]:
    """Every family at every size that a solver is given: many hours."""
    families = [
        *(Instance(prior, loss, *size) for prior, loss, size in product(PRIORS, LOSSES, SIZES)),
        *(Instance(prior, "euclidean", *size, pairs=SPANNER) for prior in PRIORS for size in SIZES[:4]),
    ]
    return _crossed([_fitted(instance) for instance in families], LIMIT_S)


def _fitted(instance: Instance) -> Instance:
    """Return the instance with the epsilon of its map and the gap of its size."""
    if instance.prior.split()[0] in CHECK_INS:
        instance = replace(instance, epsilon=_EPSILON_PER_KM)
    return replace(instance, gap=_LARGE_GAP) if instance.cells >= _LARGE else instance


def _crossed(instances: Iterable[Instance], limit_s: float) -> list[Case]:
    return [
        Case(instance, contender, limit_s)
        for instance in instances
        for contender in CONTENDERS.values()
        if instance.cells <= contender.most_cells and (contender.spanner or instance.pairs == ALL)
    ]


SUITES = {
    "quick": _quick,
    "headline": _headline,
    "growth": _growth,
    "towns": _towns,
    "families": _families,
    "full": _full,
}
