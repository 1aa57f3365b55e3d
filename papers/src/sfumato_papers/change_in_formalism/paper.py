"""The thesis as a paper to reproduce: its figures, the relations between notions, their properties, the errata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ..reproduction import Paper, RunTables, Setting, StudyPart, Tables, equations
from .channels import cases
from .claims import claims
from .properties import ENTRIES, property_rows
from .relations import FORMAL_RELATIONS, known_row, relation_row
from .thesis_values import (
    BandValue,
    CornerRow,
    PosteriorRow,
    band_values,
    bands_figure,
    corner_rows,
    edge_values,
    errata,
    posterior_rows,
    published_figure,
    regions_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PAIRS: Final = 1000


def _parts(setting: Setting) -> Sequence[StudyPart]:
    seeds, channels = setting.size((3, 15), (10, 400))
    parts = [StudyPart("Figures and errata", _figures_and_errata)]
    parts += [StudyPart(f"relations, seed {seed}", _relations, (seed, channels)) for seed in range(1, seeds + 1)]
    parts.append(StudyPart("known channels", _known_channels))
    pairs = min(seeds * channels, _PAIRS)
    parts += [StudyPart(f"properties of {entry.name}", _properties, (k, pairs)) for k, entry in enumerate(ENTRIES)]
    return parts


def _figures_and_errata() -> Tables:
    return {
        "figure-2-8": band_values(),
        "figure-2-2": edge_values(),
        "figures-2-1-and-2-2": posterior_rows(),
        "regions": corner_rows(),
        "errata": errata(),
    }


def _relations(seed: int, channels: int) -> Tables:
    sample = list(cases(seed, channels))
    return {"relations": [relation_row(relation, seed, sample) for relation in FORMAL_RELATIONS]}


def _known_channels() -> Tables:
    return {"known-channels": [known_row(relation) for relation in FORMAL_RELATIONS]}


def _properties(entry: int, pairs: int) -> Tables:
    return {"properties": property_rows(ENTRIES[entry], 1, pairs)}


def _figures(tables: RunTables) -> Mapping[str, Figure]:
    return {
        "figure-2-8": published_figure(tables.rows("figure-2-8", BandValue)),
        "figures-2-1-and-2-2": bands_figure(tables.rows("figures-2-1-and-2-2", PosteriorRow)),
        "regions": regions_figure(tables.rows("regions", CornerRow)),
    }


PAPER: Final = Paper(
    name="change-in-formalism",
    title="Change in formalism: what notions of privacy let a report do to a belief, and how they relate",
    source="D. Desfontaines, Lowering the cost of anonymization, PhD thesis, ETH Zurich 2020, sections 2.1, "
    "2.2.6 and 2.2.9",
    version="Quoted from the author's HTML edition (desfontain.es/thesis, its archive in github.com/TedTed/"
    "personal-website at 2376b7d), sections 2.1, 2.2.1, 2.2.6, 2.2.9 and 3.1.2, with formulas in plain signs. "
    "What has no quotation is our summary of these sections or of the papers that they cite.",
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
        "figure-2-8": "Figure 2.8: the probability of a fact after a report, against that before it. Lines are "
        "computed here, points are read from the published drawing.",
        "figures-2-1-and-2-2": "Figures 2.1 and 2.2: what differential privacy lets a report do to a belief, at "
        "epsilon = ln 3 and at epsilon 0.5, 1, 1.5 and so on to 7. The edges are drawn by the formula of "
        "proposition 1, and attained by randomised response.",
        "regions": "The errors of all tests between two secrets. Those of randomised response at epsilon 1 are "
        "all that this epsilon allows, and a part of what (1, .1)-DP allows. Rare reports keep the total error "
        "far above the dotted line, and yet have no epsilon: at both ends their region leaves that of every "
        "epsilon.",
    },
    equations=equations(
        ("Section 2.2.6", "tests: both errors", "sf.privacy.TestingRegion", "regions"),
        ("Definition 36", "f-DP", "sf.privacy.TradeOffPrivacy", "relations"),
        ("Section 2.2.6", "Gaussian DP", "sf.privacy.GaussianPrivacy", "relations"),
        ("Proposition 1", "posteriors under DP", "sf.privacy.band", "figures-2-1-and-2-2"),
        ("Proposition 1", "IndPr", "sf.privacy.IndistinguishablePrivacy", "relations"),
        ("Definition 37", "PMPr", "sf.privacy.PositiveMembershipPrivacy", "relations"),
        ("Section 2.2.6", "NMPr", "sf.privacy.NegativeMembershipPrivacy", "relations"),
        ("Section 2.2.6", "MPr", "sf.privacy.MembershipPrivacy", "relations"),
        ("Definition 38", "AdvPr", "sf.privacy.AdversarialPrivacy", "relations"),
        ("Definition 33", "NPr", "sf.privacy.NoiselessPrivacy", "relations"),
        ("Definition 39", "ANPr", "sf.privacy.AposterioriNoiselessPrivacy", "relations"),
        ("Definition 40", "SemPr", "sf.privacy.SemanticPrivacy", "relations"),
        ("Section 2.2.6", "range-bounded privacy", "sf.privacy.BoundedRange", "relations"),
        ("Section 2.2.6", "inferential privacy", "sf.privacy.InferentialPrivacy"),
        ("Definition 41", "InfPr", "sf.privacy.InformationPrivacy", "relations"),
        ("Definition 52", "inference-based causal DP", "sf.privacy.InferenceBasedCausalPrivacy"),
        ("Definition 35", "Pufferfish privacy", "sf.privacy.Pufferfish", "relations"),
        ("Section 2.2.2", "KL privacy", "sf.privacy.KLPrivacy", "relations"),
        ("Section 2.2.9", "distribution privacy", "sf.privacy.DistributionPrivacy", "properties"),
        ("Table 2.20", "processing, mixtures, composition", "sf.privacy.answer", "properties"),
        ("Table 2.20", "relations, as chains with proofs", "sf.privacy.convert"),
        ("Figures 2.1, 2.2", "bands of DP", "sf.privacy.band", "figures-2-1-and-2-2"),
        ("Figure 2.2", "edges as published", "sf.privacy.band", "figure-2-2"),
        ("Figure 2.8", "bands of posteriors", "sf.privacy.band", "figure-2-8"),
    ),
    minutes=8,
    visits=False,
)
