"""The thesis as a paper to reproduce: its figures, the relations between notions, their properties, the errata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ..reproduction import Made, Paper, RunTables, Setting, StudyPart, equations
from ..results import columns_of
from .channels import cases
from .claims import BANDS, EDGES, ERRATA, FIGURE, KNOWN, PROPERTIES, REGIONS, RELATIONS, claims
from .figures import bands_figure, published_figure, regions_figure
from .properties import ENTRIES, property_rows
from .published import (
    BandValue,
    CornerRow,
    PosteriorRow,
    band_values,
    corner_rows,
    edge_values,
    errata,
    posterior_rows,
)
from .relations import FORMAL_RELATIONS, known, tried

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_QUICK: Final = (3, 15)
_FULL: Final = (10, 400)
_PAIRS: Final = 1000


def _parts(setting: Setting) -> Sequence[StudyPart]:
    seeds, channels = _QUICK if setting.quick else _FULL
    parts = [StudyPart("Figures and errata", _printed)]
    parts += [StudyPart(f"relations, seed {seed}", _relations, (seed, channels)) for seed in range(1, seeds + 1)]
    parts.append(StudyPart("known channels", _known))
    parts += [
        StudyPart(f"properties of {entry.name}", _properties, (entry.name, min(seeds * channels, _PAIRS)))
        for entry in ENTRIES
    ]
    return parts


def _printed() -> Made:
    return {
        FIGURE: [columns_of(value) for value in band_values()],
        EDGES: [columns_of(value) for value in edge_values()],
        BANDS: [columns_of(row) for row in posterior_rows()],
        REGIONS: [columns_of(row) for row in corner_rows()],
        ERRATA: [columns_of(row) for row in errata()],
    }


def _relations(seed: int, channels: int) -> Made:
    some = list(cases(seed, channels))
    return {RELATIONS: [columns_of(tried(each, seed, some)) for each in FORMAL_RELATIONS]}


def _known() -> Made:
    return {KNOWN: [columns_of(known(each)) for each in FORMAL_RELATIONS]}


def _properties(name: str, pairs: int) -> Made:
    (entry,) = (each for each in ENTRIES if each.name == name)
    return {PROPERTIES: [columns_of(row) for row in property_rows(entry, 1, pairs)]}


def _figures(tables: RunTables) -> Mapping[str, Figure]:
    return {
        FIGURE: published_figure(tables.rows(FIGURE, BandValue)),
        BANDS: bands_figure(tables.rows(BANDS, PosteriorRow)),
        REGIONS: regions_figure(tables.rows(REGIONS, CornerRow)),
    }


PAPER: Final = Paper(
    name="change-in-formalism",
    title="Change in formalism: what notions of privacy let a report do to a belief, and how they relate",
    source="D. Desfontaines, Lowering the cost of anonymization, PhD thesis, ETH Zurich 2020, sections 2.1, "
    "2.2.6 and 2.2.9",
    version="Quoted from the author's HTML edition (desfontain.es/thesis, its archive in github.com/TedTed/"
    "personal-website at 2376b7d), sections 2.1, 2.2.1, 2.2.6 and 2.2.9, with formulas in plain signs. What has "
    "no quotation is our summary of these sections or of the papers that they cite.",
    about=(
        "Each notion of privacy limits how far a report may move the probability of a fact. Figures 2.1, 2.2 and "
        "2.8 show these limits, computed here and as they were published.",
        "Each relation between notions is checked on random channels of two to four secrets: a value of one "
        "notion is measured, what it allows of the other is computed, and the other is measured. A violation is "
        "a channel on which more is found than is allowed, rounding included. Shares are what was found over "
        "what is allowed, with intervals of 95 % over seeds. Known channels attain a relation, come close to it, "
        "or break it. No violation on random channels is no proof: proofs are in the documentation of the atlas.",
        "Properties are tried likewise, on pairs of channels; where a definition lacks one, a counterexample is "
        "run.",
    ),
    parts=_parts,
    claims=claims,
    figures=_figures,
    captions={
        FIGURE: "Figure 2.8: the probability of a fact after a report, against that before it. Lines are computed "
        "here, points are read from the published drawing.",
        BANDS: "Figures 2.1 and 2.2: what differential privacy lets a report do to a belief, at epsilon = ln 3 "
        "and at epsilon 1, 2 and so on to 7, every second one of Figure 2.2. The edges are attained by randomised "
        "response.",
        REGIONS: "The errors of all tests between two secrets. Those of randomised response at epsilon 1 are "
        "all that this epsilon allows, and a part of what (1, .1)-DP allows. Rare reports keep the total error "
        "far above the dotted line, and yet have no epsilon: at both ends their region leaves that of every "
        "epsilon.",
    },
    equations=equations(
        ("Section 2.2.6", "tests: both errors", "sf.privacy.TestingRegion", REGIONS),
        ("Definition 36", "f-DP", "sf.privacy.TradeOffPrivacy", RELATIONS),
        ("Section 2.2.6", "Gaussian DP", "sf.privacy.GaussianPrivacy", RELATIONS),
        ("Proposition 1", "posteriors under DP", "sf.privacy.band", BANDS),
        ("Proposition 1", "IndPr", "sf.privacy.IndistinguishablePrivacy", RELATIONS),
        ("Definition 37", "PMPr", "sf.privacy.PositiveMembershipPrivacy", RELATIONS),
        ("Section 2.2.6", "NMPr", "sf.privacy.NegativeMembershipPrivacy", RELATIONS),
        ("Section 2.2.6", "MPr", "sf.privacy.MembershipPrivacy", RELATIONS),
        ("Definition 38", "AdvPr", "sf.privacy.AdversarialPrivacy", RELATIONS),
        ("Definition 33", "NPr", "sf.privacy.NoiselessPrivacy", RELATIONS),
        ("Definition 39", "ANPr", "sf.privacy.AposterioriNoiselessPrivacy", RELATIONS),
        ("Definition 40", "SemPr", "sf.privacy.SemanticPrivacy", RELATIONS),
        ("Section 2.2.6", "range-bounded privacy", "sf.privacy.BoundedRange", RELATIONS),
        ("Section 2.2.6", "inferential privacy", "sf.privacy.InferentialPrivacy"),
        ("Definition 41", "InfPr", "sf.privacy.InformationPrivacy", RELATIONS),
        ("Definition 35", "Pufferfish privacy", "sf.privacy.Pufferfish", RELATIONS),
        ("Section 2.2.2", "KL privacy", "sf.privacy.KLPrivacy", RELATIONS),
        ("Section 2.2.9", "distribution privacy", "sf.privacy.DistributionPrivacy", PROPERTIES),
        ("Table 2.20", "processing, mixtures, composition", "sf.privacy.answer", PROPERTIES),
        ("Table 2.20", "relations, as chains with proofs", "sf.privacy.convert"),
        ("Figures 2.1, 2.2", "bands of DP", "sf.privacy.band", BANDS),
        ("Figure 2.2", "edges as published", "sf.privacy.band", EDGES),
        ("Figure 2.8", "bands of posteriors", "sf.privacy.band", FIGURE),
    ),
    minutes=8,
    visits=False,
)
