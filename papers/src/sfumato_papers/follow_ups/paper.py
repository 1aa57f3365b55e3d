"""Four follow-ups as one study to reproduce: spanners, the drawing board, PRIVIC and AIPO."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from sfumato.geo import Visits

from ..reproduction import Paper, PaperClaim, RunTables, Setting, StudyPart, equations
from .aipo import ANCHORS, anchor_claims, design_noise, measure_mechanisms
from .drawing_board import BOARD, LIMITED, TOWN, board_claims, cap_loss, describe_city, finer, measure_level, town
from .figures import CAPTIONS, figures
from .privic import ESTIMATES, FIRST, PLACES, ROUNDS, SLOPES, compare_noise, rounds_claims, run_rounds, solve_slope
from .regions import TRIM, VisitedPlaces, around, box_name, grid_ground, spots
from .spanners import SPANNERS, compare_spanners, spanner_claims

_SEED: Final = 1  # of the visits to grids
_CELL_KM: Final = 1.0
_BOX_KM: Final = (27.7, 12.0)  # the size of the box of San Francisco


def _parts(setting: Setting) -> Sequence[StudyPart]:
    """Return all parts; lengths in km, epsilons per km, slopes per cell."""
    pick = setting.size
    grounds = [grid_ground(side, _CELL_KM, _SEED) for side in pick((3, 4), (5, 7, 10))]
    for city, visits in setting.data.items():
        region = visits.region(trim=TRIM)
        grounds += [VisitedPlaces(city, spots(visits, region, count)) for count in pick((16, 25), (25, 50, 100))]
    dilations = pick((1.05, 1.5), (1.05, 1.1, 1.2, 1.5, 2.0))
    parts = []
    for ground in grounds:
        name = f"spanners, {ground.name}, {len(ground.prior)} places"
        parts.append(StudyPart(name, compare_spanners, (ground, dilations)))
    parts.append(StudyPart("drawing board, town", town, (pick(3, 20),)))
    for city, visits in setting.data.items():
        for rest in (_board, _privic, _anchors):
            parts += rest(city, visits, setting)
    return parts


def _board(city: str, visits: Visits, setting: Setting) -> Iterator[StudyPart]:
    pick, box, name = setting.size, around(visits, *_BOX_KM), f"drawing board, {city}"
    ground, fewer = (VisitedPlaces(city, spots(visits, box, pick(60, count))) for count in (400, 300))
    levels = pick((0.1, 0.5, 1.0, 2.0), (0.05, 0.1, 0.3, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0))
    between = [round(math.sqrt(low * high), 4) for low, high in pairwise(levels)]
    yield StudyPart(name, describe_city, (ground, box_name(visits)))
    yield StudyPart(f"{name}, ExPost", finer, (ground, (*between, 2 * levels[-1])))
    for level in levels:
        yield StudyPart(f"{name}, {level} km", measure_level, (ground, level, pick(3, 5), pick(60, 400)))
    for level in pick((1.0,), (0.5, 1.0, 2.0, 5.0)):
        yield StudyPart(f"{name}, limited, {level} km", cap_loss, (fewer, level))


def _privic(city: str, visits: Visits, setting: Setting) -> Iterator[StudyPart]:
    pick = setting.size
    seeds = pick(3, 5)
    for slope in pick((0.2,), (0.2, 0.4, 1.0, 2.0, 3.0, 5.0)):
        yield StudyPart(f"PRIVIC, {city}, slope {slope}", solve_slope, (city, visits, slope, pick((8,), (8, 10))))
    for steps, repeats in ((8, seeds), (None, pick(0, 3))):
        for seed in range(1, repeats + 1):
            name = f"PRIVIC, {city}, rounds, {steps or 'converged'}, seed {seed}"
            yield StudyPart(name, run_rounds, (city, visits, FIRST / 2, steps, pick(3, 15), seed))
    for slope in pick((0.2,), (0.2, 0.4, 1.0, 2.0)):
        name = f"PRIVIC, {city}, compared with noise, slope {slope}"
        yield StudyPart(name, compare_noise, (city, visits, slope, seeds))


def _anchors(city: str, visits: Visits, setting: Setting) -> Iterator[StudyPart]:
    pick = setting.size
    for epsilon in pick((0.4,), (0.4, 0.8, 1.6)):
        case = (
            city,
            visits,
            epsilon,
            pick(200, 3_000),
            pick(3, 10),
        )  # points, and parts of epsilon that are tried
        for seed in range(1, pick(2, 3) + 1):
            yield StudyPart(f"AIPO, {city}, epsilon {epsilon}, seed {seed}", measure_mechanisms, (*case, seed))
        yield StudyPart(f"certified, {city}, epsilon {epsilon}", design_noise, (*case, pick(25, 120), pick(8, 60)))


def _claims(tables: RunTables) -> Sequence[PaperClaim]:
    return [*spanner_claims(tables), *board_claims(tables), *rounds_claims(tables), *anchor_claims(tables)]


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
    equations=equations(
        ("Bordenabe, OptQL", "the program of all pairs", "sf.optimal.design", SPANNERS),
        ("Bordenabe, spanners", "the greedy spanner", "sf.core.greedy_spanner", SPANNERS),
        ("Bordenabe, spanners", "its program: pairs=", "sf.optimal.design", SPANNERS),
        ("Oya, average error", "the best attacker", "sf.attacks.optimal", BOARD),
        ("Oya, conditional entropy", "bits that are left", "sf.leakage.conditional_entropy_bits", BOARD),
        ("Oya, optimal remap", "in the plane", "sf.mechanisms.remap_in_plane", BOARD),
        ("Oya, ExPost", "least information", "sf.mechanisms.rate_distortion", BOARD),
        ("Oya, ExPost", "worst loss: largest_loss=", "sf.mechanisms.rate_distortion", LIMITED),
        ("Oya, coin", "the coin", "sf.mechanisms.coin_of_distortion", BOARD),
        ("Oya, 5 x 5 cells", "optima of one program", "sf.optimal.maximise_distortion", TOWN),
        ("PRIVIC, Blahut-Arimoto", "least information", "sf.mechanisms.rate_distortion", SLOPES),
        ("PRIVIC, rounds", "rounds", "sfumato.estimation.incremental", ROUNDS),
        ("PRIVIC, IBU", "updates", "sfumato.estimation.bayesian_updates", ESTIMATES),
        ("PRIVIC, distance", "earth mover's distance", "sf.transport.wasserstein", ROUNDS),
        ("PRIVIC, elastic", "noise by place", "sf.mechanisms.rate_distortion", PLACES),
        (
            "AIPO, steps 1 to 3",
            "anchors and interpolated logarithms",
            "sfumato_papers.follow_ups.anchor_noise",
            ANCHORS,
        ),
        ("AIPO, lower bound", "of all mechanisms", "sf.optimal.coordinate_bound", ANCHORS),
        ("Compared with AIPO", "a certified guarantee between points", "sf.optimal.design", ANCHORS),
    ),
    minutes=25,
)
