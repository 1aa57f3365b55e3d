"""Obfuscation in the wild as a study to reproduce."""

from __future__ import annotations

from typing import Final

from ..reproduction import Equation, Paper
from .claims import claims
from .figures import CAPTIONS, figures, narrow_figures
from .parts import parts_of

_ROOM: Final = "sfumato_papers.wild"

PAPER: Final = Paper(
    name="wild",
    title="In the wild: what deployed obfuscation hides, and what it does not",
    source="the documents, papers and open sources that facts.csv lists, one for each fact",
    version="Quoted from the abstracts of Cassa et al. (2008), Brownstein et al. (2006), Hassan et al. (2018), "
    "Mink et al. (2022) and Dhondt et al. (2024), from T. Schneider's gist (2015), and "
    "from AOSP's code (commit 0928cdfeced0); the other statements are known to us by summaries.",
    about=(
        "Each scheme is a channel as its makers document it: facts.csv gives the source of each fact, "
        "schemes.csv the model, and not-known.csv what is not known. Nothing here was tried on anyone's product.",
        "Attackers know the documented law. To one, who has the reports alone, every place is as likely as "
        "another; their guess is the likeliest place, or the one with the least expected error, but for the "
        "drifting offset, where it is the mean of the reports. Another knows where people of a city go, from "
        "the visits of four fifths of its users, and attacks visits of the others. Errors are distances in "
        "metres from the true point.",
        "Beside each scheme that reports a point is planar noise of sfumato with the same average distance, "
        "over even true points, whose epsilon per km is proved: drawn once for each place that is remembered, "
        "or afresh for each report, where epsilon adds up. Beside zones and exact distances it has rules of "
        "its own, which zones.csv and distances.csv are made by: as far from home as visible ends are, and "
        "distances that are as wrong as rounded ones.",
        "Numbers are means over runs; intervals are of 95 %.",
    ),
    parts=parts_of,
    claims=claims,
    figures=figures,
    captions=CAPTIONS,
    equations=(
        Equation(
            "Channel",
            "fixed cells: browsers, records, radios, tables of trips",
            f"{_ROOM}.FixedCells",
            "found.csv",
        ),
        Equation("Channel", "a drifting offset under a grid", f"{_ROOM}.DriftingOffset", "found.csv"),
        Equation(
            "Channel",
            "points moved at random: surveys, masks, planar Laplace noise",
            f"{_ROOM}.RadialNoise",
            "found.csv",
        ),
        Equation("Channel", "a privacy zone", f"{_ROOM}.PrivacyZone", "zones.csv"),
        Equation("Channel", "a rounded distance", f"{_ROOM}.RoundedDistance", "distances.csv"),
        Equation(
            "Beside them", "certified noise of the same average distance", f"{_ROOM}.CertifiedNoise", "found.csv"
        ),
        Equation(
            "Attack",
            "Bayes on a lattice, with the documented law and a city's people",
            f"{_ROOM}.believed",
            "found.csv",
        ),
        Equation(
            "Attack", "the documented law alone, on finer and finer lattices", f"{_ROOM}.least_error", "found.csv"
        ),
        Equation(
            "Attack", "the likeliest place under planar Laplace noise", f"{_ROOM}.geometric_medians", "found.csv"
        ),
        Equation("Attack", "averaging", f"{_ROOM}.copies_averaged", "averages.csv"),
        Equation("Attack", "border crossing", f"{_ROOM}.crossings", "walks.csv"),
        Equation("Attack", "the circle through the ends of tracks", f"{_ROOM}.circle_through", "zones.csv"),
        Equation("Attack", "the law of the shift and uneven ends", f"{_ROOM}.homes_by_law", "zones.csv"),
        Equation("Attack", "trilateration from rounded distances", f"{_ROOM}.trilaterated", "distances.csv"),
        Equation("Promise", "two people a metre apart, audited", f"{_ROOM}.at_border", "borders.csv"),
        Equation(
            "Facts", "all schemes with facts, sources and what is not known", f"{_ROOM}.SCHEMES", "facts.csv"
        ),
    ),
    minutes=6,
    called="the sources",
    quick_says="This is the small case, made to be quick: few runs and few people. Its numbers are rough.",
    narrow=narrow_figures,
)
