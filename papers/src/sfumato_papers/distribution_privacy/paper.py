"""Distribution privacy as a paper to reproduce."""

from __future__ import annotations

from typing import Final

from ..reproduction import Equation, Paper
from .claims import claims
from .confidence import CONFIDENCE, COVERAGE
from .counterexamples import COUNTEREXAMPLES
from .couplings import COUPLING, DISTANCES
from .figures import CAPTIONS, figures
from .generators import GENERATORS
from .parts import parts_of
from .real import GROUPS, NEIGHBOURS, SWEEP
from .success import SUCCESS
from .theorems import THEOREMS
from .tupled import BOUNDS, FEWEST, TUPLING

PAPER: Final = Paper(
    name="distribution-privacy",
    title="Distribution privacy: hiding the group a report comes from",
    source='Y. Kawamoto and T. Murakami, "Local Obfuscation Mechanisms for Hiding Probability Distributions", '
    "ESORICS 2019 (arXiv 1812.00939), Tables I and III, Figure 1, sections III to VI",
    version="Quoted from the abstract of arXiv 1812.00939 under its title of 2019. We know its theorems, tables "
    "and experiments by summaries and from memory: their wording and the numbers of sections, which are those "
    "of the first version, were not read.",
    about=(
        "A mechanism satisfies (epsilon, delta)-distribution privacy (DistP) for two groups if each set of "
        "reports has a probability of at most e^epsilon times its probability from the other group, plus delta. "
        "With XDistP epsilon is per unit of a Wasserstein distance. Tupling sends a noisy report among k dummies.",
        "Statements of the tables are tried on random mechanisms and distributions, and on groups of people; "
        "each number is measured on the reports themselves, with bounds of its rounding. Those that fail have a "
        "small counterexample.",
        "Groups are the two values of an attribute with most visits on a map of 8 km x 8 km around the middle "
        "of the visits (groups.csv). They are not the paper's groups, whose files are public but not part of the "
        "project; examples/home_area.py derives the attribute home_area from them.",
        "Epsilon at delta 0.001 is an upper bound that the exact accountant proves, at most 0.0001 above a "
        "proved lower bound. Loss is the expected distance to the best of the k + 1 answers, in km; the k + 1 "
        "requests are not part of it.",
        "Attackers' success on other users is an estimate: the dummies of 4,000 tuples are drawn, the rest is "
        "exact. Intervals are of 95 %, over random halves of the same users.",
    ),
    parts=parts_of,
    claims=claims,
    figures=figures,
    captions=CAPTIONS,
    equations=(
        Equation("Definition 1", "max divergence", "sf.divergences.max_divergence", f"{THEOREMS}.csv"),
        Equation("Definition 2, Table I", "f-divergences", "sf.divergences.FDivergence", f"{GENERATORS}.csv"),
        Equation("Definition 3", "DP", "sf.privacy.DifferentialPrivacy", f"{THEOREMS}.csv"),
        Equation("Definition 6", "XDP", "sf.privacy.MetricDifferentialPrivacy", f"{THEOREMS}.csv"),
        Equation("Definition 7, Figure 1", "coupling", "sf.transport.Coupling", f"{COUPLING}.csv"),
        Equation("Definition 8", "Wasserstein distances", "sf.transport.wasserstein", f"{DISTANCES}.csv"),
        Equation("Definition 9", "lifting of a relation", "sf.transport.lifting", f"{THEOREMS}.csv"),
        Equation("Definition 10", "optimal lifting", "sf.transport.optimal_lifting"),
        Equation("Definition 11", "DistP", "sf.privacy.DistributionPrivacy", f"{THEOREMS}.csv"),
        Equation("Definition 12", "XDistP", "sf.privacy.MetricDistributionPrivacy", f"{THEOREMS}.csv"),
        Equation("Definition 13", "PDistP", "sf.privacy.ProbabilisticDistributionPrivacy", f"{THEOREMS}.csv"),
        Equation("Definition 14", "DP with a divergence", "sf.privacy.DivergencePrivacy", f"{THEOREMS}.csv"),
        Equation(
            "Definition 15", "XDP with a divergence", "sf.privacy.DivergenceMetricPrivacy", f"{THEOREMS}.csv"
        ),
        Equation(
            "Definition 16",
            "DistP with a divergence",
            "sf.privacy.DivergenceDistributionPrivacy",
            f"{THEOREMS}.csv",
        ),
        Equation(
            "Definition 17",
            "XDistP with a divergence",
            "sf.privacy.DivergenceMetricDistributionPrivacy",
            f"{THEOREMS}.csv",
        ),
        Equation("Section III-E", "Bayes factors", "sf.privacy.bayes_factors"),
        Equation("Section III-F", "close beliefs", "sf.privacy.close_beliefs", f"{THEOREMS}.csv"),
        Equation(
            "Ours, on section III-F",
            "all beliefs within a total variation",
            "sf.privacy.worst_beliefs",
            f"{CONFIDENCE}.csv",
        ),
        Equation(
            "Section III-F",
            "distributions known from samples",
            "sfumato.statistics.total_variation_radius",
            f"{COVERAGE}.csv",
        ),
        Equation("Section V", "from DP to DistP", "sf.privacy.lifted_differential_privacy", f"{THEOREMS}.csv"),
        Equation("Section V", "from XDP to XDistP", "sf.privacy.lifted_metric_privacy", f"{THEOREMS}.csv"),
        Equation(
            "Section V", "the same with a divergence", "sf.privacy.lifted_divergence_privacy", f"{THEOREMS}.csv"
        ),
        Equation("Table III", "one secret, two reports", "sf.privacy.same_input", f"{THEOREMS}.csv"),
        Equation("Table III", "where that fails", "sf.privacy.product_channel", f"{COUNTEREXAMPLES}.csv"),
        Equation("Table III", "independent secrets", "sf.privacy.independent_inputs", f"{THEOREMS}.csv"),
        Equation("Table III", "post-processing", "sf.privacy.post_processed", f"{THEOREMS}.csv"),
        Equation("Table III", "pre-processing", "sf.privacy.pre_processed", f"{THEOREMS}.csv"),
        Equation("Tupling mechanism", "a report among dummies", "sf.mechanisms.Tupling", f"{TUPLING}.csv"),
        Equation("Tupling theorem", "its bound, corrected", "sf.mechanisms.PublishedBound", f"{BOUNDS}.csv"),
        Equation("Tupling", "exact epsilon", "sf.mechanisms.FamilyAccountant", f"{SWEEP}.csv"),
        Equation(
            "Restricted Laplace", "noise within a radius", "sf.mechanisms.restricted_laplace", f"{SWEEP}.csv"
        ),
        Equation(
            "Service quality loss", "distance to the best answer", "sf.mechanisms.quality_loss", f"{SWEEP}.csv"
        ),
        Equation("Attack success rate", "between two groups", "sf.mechanisms.attack_success", f"{SUCCESS}.csv"),
        Equation("Experiments", "groups", "sfumato_papers.distribution_privacy.Groups", f"{GROUPS}.csv"),
        Equation("Experiments", "the fewest dummies", "sf.mechanisms.plan_dummies", f"{FEWEST}.csv"),
        Equation("Experiments", "group and person", "sf.mechanisms.FamilyAccountant", f"{NEIGHBOURS}.csv"),
    ),
    minutes=25,
)
