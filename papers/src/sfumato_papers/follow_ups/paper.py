"""Four follow-ups as one study to reproduce: spanners, the drawing board, PRIVIC and AIPO."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from sfumato.geo import Visits

from ..reproduction import Equation, Paper, PaperClaim, RunTables, Setting, StudyPart
from .aipo import ANCHORS, anchor_claims, certified, interpolated
from .drawing_board import BOARD, LIMITED, TOWN, board_claims, described, finer, limited, measured, town
from .figures import CAPTIONS, figures
from .privic import ESTIMATES, FIRST, PLACES, ROUNDS, SLOPES, collected, compared, rounds_claims, sloped
from .regions import VisitedPlaces, around, box_name, grid_ground, spots, spots_ground
from .spanners import SPANNERS, spanned, spanner_claims

_SEED: Final = 1  # of the visits to grids
_CELL_KM: Final = 1.0
_BOX_KM: Final = (27.7, 12.0)  # the size of the box of San Francisco


@dataclass(frozen=True, slots=True)
class _Size:
    """The amounts of a run, by default of the full size; lengths in km, epsilons per km, slopes per cell."""

    sides: tuple[int, ...] = (5, 7, 10)  # cells along the sides of grids
    places: tuple[int, ...] = (25, 50, 100)
    dilations: tuple[float, ...] = (1.05, 1.1, 1.2, 1.5, 2.0)
    spots: int = 400
    levels: tuple[float, ...] = (0.05, 0.1, 0.3, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0)
    limited: tuple[float, ...] = (0.5, 1.0, 2.0, 5.0)
    limited_spots: int = 300
    noise: tuple[int, int] = (5, 400)  # seeds, and reports of each
    town: int = 20  # losses
    slopes: tuple[float, ...] = (0.2, 0.4, 1.0, 2.0, 3.0, 5.0)
    steps: tuple[int, ...] = (8, 10)
    rounds: int = 15
    seeds: int = 5
    converged: int = 3  # seeds with converged mechanisms
    compared: tuple[float, ...] = (0.2, 0.4, 1.0, 2.0)
    epsilons: tuple[float, ...] = (0.4, 0.8, 1.6)
    points: int = 3_000
    draws: int = 3  # of the reports
    splits: int = 10  # parts of epsilon that are tried for x; as published
    vertices: int = 120
    heads: int = 60


_QUICK: Final = _Size(
    sides=(3, 4),
    places=(16, 25),
    dilations=(1.05, 1.5),
    spots=60,
    levels=(0.1, 0.5, 1.0, 2.0),
    limited=(1.0,),
    limited_spots=60,
    noise=(3, 60),
    town=3,
    slopes=(0.2,),
    steps=(8,),
    rounds=3,
    seeds=3,
    converged=0,
    compared=(0.2,),
    epsilons=(0.4,),
    points=200,
    draws=2,
    splits=3,
    vertices=25,
    heads=8,
)


def _parts(setting: Setting) -> Sequence[StudyPart]:
    size = _QUICK if setting.quick else _Size()
    grounds = [grid_ground(side, _CELL_KM, _SEED) for side in size.sides]
    for city, visits in setting.data.items():
        grounds += [spots_ground(city, visits, count) for count in size.places]
    parts = []
    for ground in grounds:
        name = f"spanners, {ground.name}, {len(ground.prior)} places"
        parts.append(StudyPart(name, spanned, (ground, size.dilations)))
    parts.append(StudyPart("drawing board, town", town, (size.town,)))
    for city, visits in setting.data.items():
        parts += [*_board(city, visits, size), *_privic(city, visits, size), *_anchors(city, visits, size)]
    return parts


def _board(city: str, visits: Visits, size: _Size) -> Iterator[StudyPart]:
    box, name = around(visits, *_BOX_KM), f"drawing board, {city}"
    ground, fewer = (VisitedPlaces(city, spots(visits, box, count)) for count in (size.spots, size.limited_spots))
    between = [round(math.sqrt(low * high), 4) for low, high in pairwise(size.levels)]
    yield StudyPart(name, described, (ground, box_name(visits)))
    yield StudyPart(f"{name}, ExPost", finer, (ground, (*between, 2 * size.levels[-1])))
    for level in size.levels:
        yield StudyPart(f"{name}, {level} km", measured, (ground, level, *size.noise))
    for level in size.limited:
        yield StudyPart(f"{name}, limited, {level} km", limited, (fewer, level))


def _privic(city: str, visits: Visits, size: _Size) -> Iterator[StudyPart]:
    for slope in size.slopes:
        yield StudyPart(f"PRIVIC, {city}, slope {slope}", sloped, (city, visits, slope, size.steps))
    for steps, seeds in ((8, size.seeds), (None, size.converged)):
        for seed in range(1, seeds + 1):
            name = f"PRIVIC, {city}, rounds, {steps or 'converged'}, seed {seed}"
            yield StudyPart(name, collected, (city, visits, FIRST / 2, steps, size.rounds, seed))
    for slope in size.compared:
        name = f"PRIVIC, {city}, compared with noise, slope {slope}"
        yield StudyPart(name, compared, (city, visits, slope, size.seeds))


def _anchors(city: str, visits: Visits, size: _Size) -> Iterator[StudyPart]:
    for epsilon in size.epsilons:
        case = (city, visits, epsilon, size.points, size.splits)
        for seed in range(1, size.draws + 1):
            yield StudyPart(f"AIPO, {city}, epsilon {epsilon}, seed {seed}", interpolated, (*case, seed))
        yield StudyPart(f"certified, {city}, epsilon {epsilon}", certified, (*case, size.vertices, size.heads))


def _claims(tables: RunTables) -> Sequence[PaperClaim]:
    return [*spanner_claims(tables), *board_claims(tables), *rounds_claims(tables), *anchor_claims(tables)]


_EQUATIONS: Final = (
    ("Bordenabe, OptQL", "the program of all pairs", "sf.optimal.design", SPANNERS),
    ("Bordenabe, spanners", "the greedy spanner", "sf.core.greedy_spanner", SPANNERS),
    ("Bordenabe, spanners", "its program: pairs=", "sf.optimal.design", SPANNERS),
    ("Oya, average error", "the best attacker", "sf.attacks.optimal", BOARD),
    ("Oya, conditional entropy", "bits that are left", "sf.leakage.conditional_entropy_bits", BOARD),
    ("Oya, optimal remap", "in the plane", "sf.mechanisms.remapped_in_plane", BOARD),
    ("Oya, ExPost", "least information", "sf.mechanisms.rate_distortion", BOARD),
    ("Oya, ExPost", "worst loss: largest_loss=", "sf.mechanisms.rate_distortion", LIMITED),
    ("Oya, coin", "the coin", "sf.mechanisms.coin_of_distortion", BOARD),
    ("Oya, 5 x 5 cells", "optima of one program", "sf.optimal.maximise_distortion", TOWN),
    ("PRIVIC, Blahut-Arimoto", "least information", "sf.mechanisms.rate_distortion", SLOPES),
    ("PRIVIC, rounds", "rounds", "sfumato.estimation.incremental", ROUNDS),
    ("PRIVIC, IBU", "updates", "sfumato.estimation.bayesian_updates", ESTIMATES),
    ("PRIVIC, distance", "earth mover's distance", "sf.transport.wasserstein", ROUNDS),
    ("PRIVIC, elastic", "noise by place", "sf.mechanisms.rate_distortion", PLACES),
    ("AIPO, steps 1 to 3", "anchors and interpolated logarithms", "sfumato_papers.follow_ups.anchored", ANCHORS),
    ("AIPO, lower bound", "of all mechanisms", "sf.optimal.coordinate_bound", ANCHORS),
    ("Compared with AIPO", "a certified guarantee between points", "sf.optimal.design", ANCHORS),
)

PAPER: Final = Paper(
    name="follow-ups",
    title="Follow-ups: spanners, the drawing board, PRIVIC and AIPO",
    source='N. Bordenabe, K. Chatzikokolakis and C. Palamidessi, "Optimal geo-indistinguishable mechanisms for '
    'location privacy", CCS 2014; S. Oya, C. Troncoso and F. Pérez-González, "Back to the drawing board", CCS '
    '2017; S. Biswas and C. Palamidessi, "PRIVIC", 2022; AIPO: "Interpolation-based optimization for enforcing '
    'lp-norm metric differential privacy", arXiv 2601.09946, with the README and code of its artifact',
    version="Quoted from the abstracts of arXiv 1402.5029 (spanners; version unknown), "
    "1705.08779v2 (drawing board), 2206.10525v4 (PRIVIC) and 2601.09946v1 (AIPO), from PRIVIC's code, and "
    "part of the README of AIPO's artifact; the other claims are known from summaries.",
    about=(
        "Spanners: programs of least expected distance with metric privacy at 1/km, on grids of 1 km that are "
        "visited at random and on the most visited spots of each city. Every epsilon is proved on the sampled "
        "integers.",
        "The drawing board: the most visited spots in a box of 27.7 km x 12 km around the middle of each city, "
        "the size of the published box. Noise in the plane is simulated with several seeds; the rest is exact.",
        "PRIVIC: the published cells of Paris (16 x 12) or San Francisco (24 x 17) where visits lie there, and 16 "
        "x 12 cells of other cities. Distances, slopes and epsilons are per cell, as in the authors' code, and "
        "earth mover's distances in km. Each round has reports of a tenth of the check-ins, drawn independently.",
        "AIPO: points in a box of 8 km x 6 km around the middle of each city, anchors 1 km apart, loss in km "
        "from the true point. The published loss is of travel distances on maps that are not available.",
    ),
    parts=_parts,
    claims=_claims,
    figures=figures,
    captions=CAPTIONS,
    equations=tuple(Equation(number, what, call, f"{table}.csv") for number, what, call, table in _EQUATIONS),
    minutes=25,
)
