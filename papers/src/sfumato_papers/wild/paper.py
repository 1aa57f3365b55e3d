"""Obfuscation in the wild as a study to reproduce: its parts and its page."""

from __future__ import annotations

from typing import Final

from sfumato.geo import Visits

from ..invented_city import invented_city
from ..reproduction import Paper, Setting, StudyPart, Tables, equations
from ..results import columns_of
from .attack_errors import scheme_errors, town_of
from .channels import FixedCells, WildChannel
from .claims import claims
from .figures import CAPTIONS, border_walk, figures, week, zone_pictures
from .published_attacks import (
    MILE_M,
    PrivacyZone,
    RoundedDistance,
    at_border,
    copies_averaged,
    distance_errors,
    drift_averaged,
    walk_errors,
    zone_errors,
)
from .schemes import GRID_CELLS, LATITUDE, OFFSET, SCHEMES

_APPS: Final = {
    "whole miles": RoundedDistance(),
    "whole miles to a cell of 0.001 degrees": RoundedDistance(cells=FixedCells.of_degrees(0.001, LATITUDE)),
    "whole miles to a cell of a mile": RoundedDistance(cells=FixedCells(MILE_M, MILE_M)),
}
_PICTURED: Final = ("fixed-grid", "location-guard")
_WEEK_M: Final = 500.0
_WALK_M: Final = 4_000.0  # 50 minutes on foot: the offset stays within the hour


def _parts(setting: Setting) -> list[StudyPart]:
    pick = setting.size
    seeds = range(1, pick(3, 10) + 1)
    parts = [
        StudyPart("facts", facts),
        StudyPart("pictures", pictures),
        StudyPart("two people at a border", borders),
    ]
    places, homes, people = pick(200, 1_000), pick(60, 200), pick(25, 100)
    for make, count in ((averages, places), (walks, places), (zones, homes), (distances, people)):
        parts += [StudyPart(f"{make.__name__}, seed {seed}", make, (seed, count)) for seed in seeds]
    cities = {"synthetic city": invented_city(), **setting.data} if setting.has_files else setting.data
    for number, (city, visits) in enumerate(cities.items()):
        town_of(city, visits)  # fails now, not after an hour
        truths = (0 if number else pick(150, 400), pick(20, 80))  # of attackers alone, and of those who know more
        parts += [
            StudyPart(f"{city}, {scheme.key}, seed {seed}", attacks, (scheme.key, city, visits, seed, *truths))
            for scheme in SCHEMES
            if scheme.channel is not None
            for seed in seeds
        ]
    return parts


def facts() -> Tables:
    """Return the schemes, their facts, and what is not known of them."""
    columns = ("key", "title", "who", "model", "promise", "linked")
    return {
        "schemes": [{name: getattr(scheme, name) for name in columns} for scheme in SCHEMES],
        "facts": [{"scheme": scheme.key, **columns_of(fact)} for scheme in SCHEMES for fact in scheme.facts],
        "not-known": [{"scheme": scheme.key, "says": says} for scheme in SCHEMES for says in scheme.unknown],
    }


def pictures() -> Tables:
    """Return the points of the pictures."""
    schemes = [scheme for scheme in SCHEMES if scheme.key in _PICTURED]
    return {
        "week": week(schemes, _WEEK_M, seed=4),
        "walk": border_walk(GRID_CELLS, OFFSET, seed=3),
        "zone": zone_pictures(seed=5),
    }


def borders() -> Tables:
    """Return the audited epsilons of schemes of cells for two people a metre apart."""
    cells = [(scheme.key, scheme.channel) for scheme in SCHEMES if isinstance(scheme.channel, FixedCells)]
    return {"borders": [at_border(key, channel) for key, channel in cells]}


def averages(seed: int, places: int) -> Tables:
    """Return averages of copies, and of hourly offsets up to a year."""
    rows = [copies_averaged(count, seed, places) for count in (1, 10, 50)]
    for count in (1, 10, 100, 1000, 8760):
        rows += drift_averaged(OFFSET, count, seed, places)
    return {"averages": rows}


def walks(seed: int, places: int) -> Tables:
    """Return the errors on walks with reports every 100 m, and every ten minutes on foot."""
    grid, drift = ("fixed-grid", GRID_CELLS), ("drifting-offset", OFFSET)
    cases: list[tuple[tuple[str, WildChannel], float]] = [(grid, 100.0), (grid, 800.0), (drift, 800.0)]
    return {"walks": [walk_errors(*case, step, seed, places, _WALK_M) for case, step in cases]}


def zones(seed: int, homes: int) -> Tables:
    """Return the errors of attacks on ends of tracks."""
    rows = [
        row
        for key, shifted in (("zone-centred", False), ("zone-shifted", True))
        for tracks in (1, 3, 10, 100)
        for row in zone_errors(key, PrivacyZone(shifted=shifted), tracks, seed, homes)
    ]
    return {"zones": rows}


def distances(seed: int, people: int) -> Tables:
    """Return the errors of attacks on rounded distances."""
    rows = [
        row
        for app, rule in _APPS.items()
        for questions in (1, 10, 100)
        for row in distance_errors(app, rule, questions, seed, people)
    ]
    return {"distances": rows}


def attacks(key: str, city: str, visits: Visits, seed: int, alone: int, knowing: int) -> Tables:
    """Return errors under a scheme, of attackers with the reports alone and of those who know the city."""
    (channel,) = (scheme.channel for scheme in SCHEMES if scheme.key == key and scheme.channel is not None)
    town = town_of(city, visits)
    return {"found": scheme_errors(key, channel, town, seed, alone=alone, knowing=knowing)}


_EQUATIONS: Final = (
    ("Channel", "fixed cells: browsers, records, radios, tables of trips", "FixedCells", "found"),
    ("Channel", "a drifting offset under a grid", "DriftingOffset", "found"),
    ("Channel", "points moved at random: surveys, masks, planar Laplace noise", "RadialNoise", "found"),
    ("Channel", "a privacy zone", "PrivacyZone", "zones"),
    ("Channel", "a rounded distance", "RoundedDistance", "distances"),
    ("Comparison", "certified noise of the same average distance", "CertifiedNoise", "found"),
    ("Attack", "Bayes on a lattice, with the documented law and a city's people", "best_guesses", "found"),
    ("Attack", "the documented law alone, on finer and finer lattices", "least_error", "found"),
    ("Attack", "the most probable place under planar Laplace noise", "geometric_medians", "found"),
    ("Attack", "averaging", "copies_averaged", "averages"),
    ("Attack", "border crossing", "crossings", "walks"),
    ("Attack", "the circle through the ends of tracks", "circle_through", "zones"),
    ("Attack", "the law of the shift and uneven ends", "homes_by_law", "zones"),
    ("Attack", "trilateration from rounded distances", "trilaterate", "distances"),
    ("Promise", "two people a metre apart, audited", "at_border", "borders"),
    ("Facts", "all schemes with facts, sources and what is not known", "SCHEMES", "facts"),
)

PAPER: Final = Paper(
    name="wild",
    title="In the wild: what deployed location obfuscation hides",
    source="the documents, papers and open sources that facts.csv lists, one for each fact",
    version="Quoted from the abstracts of Cassa et al. (2008), Brownstein et al. (2006), Hassan et al. (2018), "
    "Mink et al. (2022) and Dhondt et al. (2024), from T. Schneider's gist (2015), and from AOSP's code (commit "
    "0928cdfeced0); the other statements are known to us by summaries.",
    about=(
        "Each scheme is a channel as its makers document it: facts.csv has the source of each fact, schemes.csv "
        "the model, and not-known.csv what is not known. No product was tested.",
        "Attackers know the documented law. With the reports alone every place has the same prior probability; "
        "the guess is the most probable place or the one with the least expected error (for the drifting offset, "
        "the mean of the reports). The other attacker knows where people of a city go, from the visits of four "
        "fifths of its users, and attacks visits of the others. Errors are distances in metres from the true "
        "point.",
        "Each scheme that reports a point is compared with planar noise of sfumato of the same average distance "
        "over evenly spread points, with a proved epsilon per km: drawn once for each remembered place, or for "
        "each report, where epsilon adds up. For zones the noise matches the distance of track ends from home "
        "(zones.csv), for exact distances the error of rounding (distances.csv).",
        "Numbers are means over runs; intervals are of 95 %.",
    ),
    parts=_parts,
    claims=claims,
    figures=figures,
    captions=CAPTIONS,
    equations=equations(
        *((number, topic, f"sfumato_papers.wild.{call}", table) for number, topic, call, table in _EQUATIONS)
    ),
    minutes=6,
    called="the sources",
    quick_says="This is the small case, made to be quick: few runs and few people. Its numbers are rough.",
)
