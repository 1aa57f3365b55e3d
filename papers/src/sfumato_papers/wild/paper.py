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
    title="In the wild: what deployed location obfuscation hides",
    source="the documents, papers and open sources that facts.csv lists, one for each fact",
    version="Quoted from the abstracts of Cassa et al. (2008), Brownstein et al. (2006), Hassan et al. (2018), "
    "Mink et al. (2022) and Dhondt et al. (2024), from T. Schneider's gist (2015), and "
    "from AOSP's code (commit 0928cdfeced0); the other statements are known to us by summaries.",
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
            "Comparison", "certified noise of the same average distance", f"{_ROOM}.CertifiedNoise", "found.csv"
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
            "Attack",
            "the most probable place under planar Laplace noise",
            f"{_ROOM}.geometric_medians",
            "found.csv",
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
