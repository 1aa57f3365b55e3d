"""The parts of the study, each a function that depends on its arguments alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..reproduction import Setting, StudyPart
from .attributes import Split, splits
from .confidence import IMAGINED, USERS, VISITS, confident, covered
from .counterexamples import counterexamples
from .couplings import coupled
from .generators import generators
from .lines import LAPLACE, RADII_KM, SLOPES, TUPLED, line_names
from .real import among_many, described, neighbours, swept, tried_on
from .success import attacked
from .theorems import tried_at_random
from .tupled import EVERYWHERE, accounted, bounds, fewest, tupled


@dataclass(frozen=True, slots=True)
class _Size:
    """The size of a run.

    Lengths are in km, slopes per km.
    """

    cell: str
    coarse: str
    attributes: int
    seeds: int
    instances: int
    pairs: int
    dummies: tuple[int, ...]
    many: tuple[int, ...]
    slopes: tuple[float, ...]
    radii: tuple[float, ...]
    widths: tuple[float, ...]
    optimised: tuple[int, ...]
    tuples: tuple[int, ...]
    exact: tuple[int, ...]
    noises: tuple[float, ...]
    asked: tuple[float, ...]
    halves: int
    attacked: tuple[int, ...]
    samples: tuple[int, ...]
    draws: int
    checked: int
    observables: int
    counted: tuple[int, ...]
    around: tuple[int, ...]
    statements: int


_FULL: Final = _Size(
    cell="400 m",
    coarse="1 km",
    attributes=3,
    seeds=9,
    instances=150,
    pairs=5000,
    dummies=(0, 5, 10, 20, 50, 100),
    many=(3000,),
    slopes=SLOPES,
    radii=RADII_KM,
    widths=(0.6, 1.0, 2.0, 4.0, 8.0, EVERYWHERE),
    optimised=(10,),
    tuples=(0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000),
    exact=(1, 2, 5, 10, 20, 40, 100, 200, 500, 1000),
    noises=(0.5, 1.0, 2.0, 4.0, 8.0, 16.0),
    asked=(2.0, 1.0, 0.5, 0.2, 0.1, 0.05),
    halves=6,
    attacked=(0, 10, 100),
    samples=(300, 1000, 3000, 10_000),
    draws=1000,
    checked=50,
    observables=400,
    counted=(10, 100, 1000),
    around=(0, 10, 100),
    statements=2,
)
_QUICK: Final = _Size(
    cell="1 km",
    coarse="2 km",
    attributes=2,
    seeds=2,
    instances=4,
    pairs=100,
    dummies=(0, 10),
    many=(3000,),
    slopes=(1.0, 4.0),
    radii=(2.0,),
    widths=(2.0, EVERYWHERE),
    optimised=(),
    tuples=(0, 10),
    exact=(10,),
    noises=(1.0, 4.0),
    asked=(2.0, 1.0),
    halves=2,
    attacked=(0, 10),
    samples=(300,),
    draws=100,
    checked=5,
    observables=40,
    counted=(10,),
    around=(0, 10),
    statements=1,
)
_MORE: Final = (10_000, 100_000, 1_000_000)  # dummies, for the paper's bound alone
_CONFIDENT: Final = (0.25, 1.0)
_IMAGINED: Final = tuple(10**power for power in range(3, 9))


def parts_of(setting: Setting) -> Sequence[StudyPart]:
    """Return the parts for a setting."""
    size = _QUICK if setting.quick else _FULL
    found = splits(setting.data, size.cell, size.attributes)
    coarse = splits(setting.data, size.coarse, size.attributes)
    parts = [
        StudyPart("groups", described, (found,)),
        StudyPart("generators", generators, (1, size.pairs)),
        StudyPart("counterexamples", counterexamples),
        StudyPart("accountant", accounted, (size.observables, size.counted)),
    ]
    parts += [
        StudyPart(f"theorems, seed {seed}", tried_at_random, (seed, size.instances))
        for seed in range(1, size.seeds + 1)
    ]
    # A source of its own says more than another attribute of the same one.
    chosen = sorted(range(len(coarse)), key=lambda k: sum(each.source == coarse[k].source for each in coarse[:k]))
    parts += [
        StudyPart(f"{coarse[k].title}, theorems", tried_on, (coarse[k].title, (coarse[k].groups,), coarse[k].city))
        for k in chosen[: size.statements]
    ]
    for split, wide in zip(found, coarse, strict=True):
        parts += _of_split(split, wide, size, first=split is found[0])
    return parts


def _of_split(split: Split, coarse: Split, size: _Size, *, first: bool) -> list[StudyPart]:
    """Return the parts of two groups; what one example is enough for is done on the first."""
    groups, city, who = split.groups, split.city, split.title
    parts = [
        StudyPart(f"{who}, coupling", coupled, (groups, city)),
        StudyPart(f"{who}, confidence", confident, (split.by_user(), city, _sizes(split), _CONFIDENT)),
    ]
    parts += [
        StudyPart(f"{who}, halves {seed}", attacked, (split.halves(seed), city, seed, size.attacked, size.noises))
        for seed in range(1, size.halves + 1)
    ]
    parts += [
        StudyPart(f"{who}, {name}", swept, (groups, city, name, size.slopes, size.radii, size.dummies, more))
        for name in line_names(size.radii)
        if first or name in (LAPLACE, TUPLED)
        for more in (size.optimised if first and name == TUPLED else (),)
    ]
    parts.append(StudyPart(f"{who}, many dummies", among_many, (groups, city, size.slopes, size.radii, size.many)))
    if first:
        parts += [
            StudyPart(f"{who}, tupling", tupled, (groups, city, size.tuples, size.widths, size.noises)),
            StudyPart(f"{who}, bounds", bounds, (groups, city, size.exact, _MORE)),
            StudyPart(f"{who}, fewest", fewest, (groups, city, size.noises, size.asked)),
            StudyPart(f"{who}, neighbours", neighbours, (groups, city, size.noises, size.around)),
        ]
        parts += [
            StudyPart(
                f"coverage, {n} samples", covered, (coarse.groups, coarse.city, n, 1, size.draws, size.checked)
            )
            for n in size.samples
        ]
    return parts


def _sizes(split: Split) -> list[tuple[str, tuple[int, int]]]:
    """Return what counts as a sample, and how many each group has."""
    found = [(VISITS, split.counts)]
    if min(split.users) > 0:
        found.append((USERS, split.users))
    return [*found, *((IMAGINED, (n, n)) for n in _IMAGINED)]
