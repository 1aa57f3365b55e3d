"""Figures and errata of the thesis: published values, the same computed here, and the figures drawn again.

Published values are vertices of the curves, read from the coordinates of the thesis's own drawings. Figure 2.2
shows the bands of differential privacy at epsilon from 0.5 to 7, half an epsilon apart. Figure 2.8 shows the
posteriors to which a prior probability of a fact can lead at epsilon = ln 3, under four notions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from sfumato.core import Prior, Space
from sfumato.core.immutable import CompactRepr
from sfumato.divergences import Renyi
from sfumato.privacy import (
    Band,
    CausalPrivacy,
    DifferentialPrivacy,
    Priors,
    ProbabilisticDifferentialPrivacy,
    TestingRegion,
    band,
)
from sfumato.reports.theme import LIGHT, blank

from ..results import where
from .channels import COIN, case_of, coin

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Number = TypeVar("Number", float, Fraction)

EPSILON: Final = math.log(3)
_RARE: Final = case_of([[0.98, 0.02, 0.0], [0.98, 0.0, 0.02]])
"""A channel that almost always says nothing, and otherwise everything: small total error, and no epsilon."""

# The published curves are drawn through 100 points, equally far apart from 0 to 0.9999; these are five of them.
PRIORS: Final = tuple(0.9999 * k / 99 for k in (10, 25, 50, 74, 89))
NOWHERE: Final = (0.0,) * 5  # no lower bound
READ: Final = 1e-4  # the precision of the drawings' coordinates

EDGE_PRIOR: Final = 0.9999 * 38 / 99  # where the edges of Figure 2.2 were read
_LOWER_EDGES: Final = (
    *(0.27419, 0.18641, 0.12201, 0.07774, 0.04863, 0.03008, 0.01846),
    *(0.01126, 0.00687, 0.00418, 0.00254, 0.00153, 0.00092, 0.00055),
)
_UPPER_EDGES: Final = (
    *(0.50662, 0.62865, 0.73622, 0.82149, 0.88354, 0.92598, 0.95374),
    *(0.97143, 0.98246, 0.98930, 0.99348, 0.99602, 0.99759, 0.99853),
)


@dataclass(frozen=True, slots=True, repr=False)
class BandValue(CompactRepr):
    """One value of a figure, computed and published."""

    panel: str
    bound: str
    prior: float
    computed: float
    published: float


@dataclass(frozen=True, slots=True, repr=False)
class Panel(CompactRepr):
    """The band of a notion, and its published curves at some prior probabilities."""

    name: str
    band: Band  # computed here
    lower: tuple[float, ...]
    upper: tuple[float, ...]


PANELS: Final = (
    Panel(
        "Differential privacy (DP)",
        band("differential-privacy", EPSILON),
        (0.0361, 0.1012, 0.2538, 0.4965, 0.7477),
        (0.2521, 0.5033, 0.7537, 0.8988, 0.9639),
    ),
    Panel(
        "Positive membership privacy (PMPr)",
        band("positive-membership", EPSILON),
        NOWHERE,
        (0.3030, 0.7508, 0.8350, 0.9158, 0.9663),
    ),
    Panel(
        "Adversarial privacy (AdvPr)",
        band("adversarial", EPSILON, delta=0.05),
        NOWHERE,
        (0.3530, 0.8075, 1.0000, 1.0000, 1.0000),
    ),
    Panel(
        "A posteriori noiseless privacy (ANPr)",
        band("aposteriori-noiseless", EPSILON),
        (0.0337, 0.0842, 0.1683, 0.2492, 0.6967),
        (0.3030, 0.7508, 0.8350, 0.9158, 0.9663),
    ),
)


def band_values() -> list[BandValue]:
    """Return the 40 values of Figure 2.8 at five prior probabilities, computed and published."""
    return _values(PANELS, PRIORS)


def edge_values() -> list[BandValue]:
    """Return the 28 edges of Figure 2.2 at one prior probability, computed and published."""
    edges = enumerate(zip(_LOWER_EDGES, _UPPER_EDGES, strict=True), start=1)
    panels = [
        Panel(f"epsilon {k / 2:g}", band("differential-privacy", k / 2), (lower,), (upper,))
        for k, (lower, upper) in edges
    ]
    return _values(panels, (EDGE_PRIOR,))


def _values(panels: Iterable[Panel], priors: Sequence[float]) -> list[BandValue]:
    return [
        BandValue(panel.name, bound, *row)
        for panel in panels
        for bound in ("lower", "upper")
        for row in zip(priors, getattr(panel.band, bound)(priors).tolist(), getattr(panel, bound), strict=True)
    ]


# That of Figure 2.1, and those of Figure 2.2.
BAND_EPSILONS: Final = (math.log(3), *(k / 2 for k in range(1, 15)))
_POINTS: Final = 201


@dataclass(frozen=True, slots=True, repr=False)
class PosteriorRow(CompactRepr):
    """The posteriors that differential privacy allows at a prior probability of a fact."""

    epsilon: float
    prior: float
    lower: float  # by the formula of proposition 1
    upper: float
    band_lower: float  # by `sfumato.privacy.band`
    band_upper: float
    answered_no: float  # after randomised response says that the fact is false, by Bayes' rule
    answered_yes: float

    @property
    def gap(self) -> float:
        """The largest difference of the three ways to compute an edge."""
        lower, upper = (
            (self.lower, self.band_lower, self.answered_no),
            (self.upper, self.band_upper, self.answered_yes),
        )
        return max(max(lower) - min(lower), max(upper) - min(upper))


def band_edges(factor: Number, p: Number) -> tuple[Number, Number]:
    """Return the least and the largest posterior of a prior probability p, at factor = e^epsilon.

    Source:
        Desfontaines, proposition 1.
    """
    return p / (factor + (1 - factor) * p), factor * p / (1 + (factor - 1) * p)


def posterior_rows() -> list[PosteriorRow]:
    """Return the bands of Figures 2.1 and 2.2, point by point."""
    priors = np.linspace(0, 1, _POINTS)
    rows = []
    for epsilon in BAND_EPSILONS:
        limits, answers = band("differential-privacy", epsilon), coin(epsilon).rows
        bands = limits.lower(priors).tolist(), limits.upper(priors).tolist()
        for p, low, high in zip(priors.tolist(), *bands, strict=True):
            joint = np.array([[p], [1 - p]]) * answers
            yes, no = (joint[0] / joint.sum(axis=0)).tolist()
            rows.append(PosteriorRow(epsilon, p, *band_edges(math.exp(epsilon), p), low, high, no, yes))
    return rows


REGION_EPSILON: Final = 1.0
_REGION_DELTA: Final = 0.1
ANSWER, ALLOWED, RARE_REPORTS = "randomised response", "all that (1, .1)-DP allows", "rare reports, no epsilon"


@dataclass(frozen=True, slots=True, repr=False)
class CornerRow(CompactRepr):
    """A corner of a region of test errors between two secrets."""

    region: str
    false_alarm: float  # probability to take the first secret for the second
    missed: float  # probability to take the second for the first


def corner_rows() -> list[CornerRow]:
    """Return the corners of three regions."""
    regions = {
        ALLOWED: TestingRegion.of_epsilon(REGION_EPSILON, _REGION_DELTA),
        ANSWER: TestingRegion.of(COIN.rows),
        RARE_REPORTS: TestingRegion.of(_RARE.rows),
    }
    return [CornerRow(name, float(a), float(b)) for name, region in regions.items() for a, b in region.vertices]


@dataclass(frozen=True, slots=True, repr=False)
class ErratumRow(CompactRepr):
    """A statement that is wrong as printed, and a channel that shows it."""

    where: str
    printed: str  # the statement, in a sentence of ours
    quote: str
    right: str
    instance: str
    what: str  # the number's name
    by_print: float
    found: float


def errata() -> list[ErratumRow]:
    """Return the errata, with their numbers computed."""
    delta = 0.1
    tests = TestingRegion.of(_RARE.rows).lower.least_total_error
    parts = [coin(epsilon).rows for epsilon in (0.5, 1.0)]
    together = [np.kron(parts[0][s], parts[1][s]) for s in (0, 1)]
    suppressed, ones = np.array([[1.0, 0.0], [1 - delta, delta]]), np.array([[0.0, 1.0], [0.0, 1.0]])
    mixture = (1 - 2 * delta) * suppressed + 2 * delta * ones
    return [
        ErratumRow(
            "2.2.6, hypothesis testing",
            "The probability of a missed detection has the name of that of a false alarm, P_FA.",
            "The probability of missed detection (type II error), when the null hypothesis is false but retained, "
            "is P_FA = P[M(D2) ∈ O∕S]",
            "It is P_MD, as the next sentence calls it.",
            "randomised response at epsilon 1, and the test that never rejects",
            "P_FA",
            float(COIN.rows[1].sum()),
            float(COIN.rows[0][:0].sum()),
        ),
        ErratumRow(
            "2.2.6, hypothesis testing",
            "A total error P_FA + P_MD of at least 2 / (1 + e^epsilon) for every test is equivalent to "
            "epsilon-DP.",
            "a mechanism is ε-DP iff for all S ⊆ O, P_FA + e^ε P_MD ≥ 1 and e^ε P_FA + P_MD ≥ 1; or equivalently, "
            "iff P_FA + P_MD ≥ 2 / (1 + e^ε)",
            "The total error follows from epsilon-DP, and does not give it back.",
            f"two rows that share .98, with a least total error of {tests:.2f}",
            "the least epsilon",
            2 * math.atanh(1 - tests),
            DifferentialPrivacy().measure(_RARE.rows).value,
        ),
        ErratumRow(
            "2.2.6, hypothesis testing",
            "(epsilon, delta)-DP makes the errors of all tests the set of (a, b) with 1 - a <= e^epsilon b + "
            "delta.",
            "a mechanism is (ε, δ)-DP iff (P_FA, P_MD) = {(α, β) ∈ [0, 1] × [0, 1] | (1 − α ≤ e^ε β + δ)}",
            "They are a part of it, of the same set with a and b exchanged, and of those of 1 - a and 1 - b.",
            "randomised response at epsilon 1, which is (1, .1)-DP",
            "the area of the possible errors",
            1 - (1 - _REGION_DELTA) ** 2 / (2 * math.exp(REGION_EPSILON)),
            TestingRegion.of(COIN.rows).area,
        ),
        ErratumRow(
            "2.2.9, proposition 18, item 8",
            "Two mechanisms of (xi1, rho1) and (xi2, rho2) compose to (xi1 + xi2, xi1 + xi2).",
            "(ξ1, ρ1)-zCoDP and (ξ2, ρ2)-zCoDP, then M1+2 is (ξ1 + ξ2, ξ1 + ξ2)-zCoDP",
            "They compose to (xi1 + xi2, rho1 + rho2); items 9 and 10 repeat the slip.",
            "two answers by randomised response, at epsilon .5 and 1, both with xi = 0",
            "the Renyi divergence of order 2, at most xi + 2 rho,",
            0.0,
            float(Renyi(2.0)(*together)),
        ),
        ErratumRow(
            "2.2.9, proof of proposition 13",
            "A mixture of two mechanisms has a least epsilon of probabilistic DP above 1 / (1 - delta).",
            "M is a convex combination of M1 and M2, but the reader can verify that it is not (1/(1−δ), δ)-ProDP",
            "Its least epsilon is smaller, but above ln(1 / (1 - delta)), which the two mechanisms satisfy: with "
            "this logarithm the proof is right.",
            "reports suppressed with probability .1, mixed with 20 % of the report 1",
            "the least epsilon at delta .1",
            1 / (1 - delta),
            ProbabilisticDifferentialPrivacy(delta=delta).measure(mixture).value,
        ),
        ErratumRow(
            "3.1.2, proposition 21",
            "Inference-based causal DP (IBCDP) of epsilon implies causal DP of 2 epsilon.",
            "(Θ, ε)-CausDP implies (Θ, 2ε)-IBCDP, and (Θ, ε)-IBCDP implies (Θ, 2ε)-CausDP",
            "Definition 52 leaves out reports that only one of M(D) and M(D_{i→t'}) can make. The second half "
            "holds if such reports count as infinite, and the prior holds t' possible.",
            "two bits that agree, each pair as likely, and a report with probability 1/2 for 11, else 0",
            "the least epsilon of causal DP",
            2 * _inference_by_print(),
            CausalPrivacy.of_records(_TWO_BITS, Priors.of(Prior(_TWO_BITS, [0, 0, 0, 1]))).measure(_BOTH).value,
        ),
    ]


_TWO_BITS: Final = Space([(0, 0), (0, 1), (1, 0), (1, 1)])
_BOTH: Final = np.array([[0, 1], [0, 1], [0, 1], [0.5, 0.5]])


def _inference_by_print() -> float:
    """Return the epsilon of definition 52 on the report that every data set can make, for bits that agree."""
    values, equal = np.array([0, 0, 1, 1]), np.array([0.5, 0, 0, 0.5])
    settings = CausalPrivacy.of_records(_TWO_BITS, Priors.all()).interventions[0]
    beliefs = [
        np.bincount(values, weights=joint) / joint.sum()
        for joint in (equal * rows[:, 1] for rows in (_BOTH, *_BOTH[settings]))
    ]
    return float(np.abs(np.log(beliefs[1:]) - np.log(beliefs[0])).max())


_NEAR: Final = 0.12


def published_figure(values: Sequence[BandValue]) -> Figure:
    """Return Figure 2.8: a panel for each notion, the band as lines and the published values as points."""
    figure = blank(9, 9.4)
    p = np.linspace(0, 1, 2001)
    for ax, panel in zip(figure.subplots(2, 2, sharex=True, sharey=True).flat, PANELS, strict=True):
        low, high = panel.band.lower(p), panel.band.upper(p)
        ax.fill_between(p, low, high, color=LIGHT.series[0], alpha=0.18, linewidth=0)
        ax.plot(p, high, color=LIGHT.series[0], linewidth=1.8, label="computed here")
        ax.plot(p, low, color=LIGHT.series[0], linewidth=1.8)
        ax.plot([0, 1], [0, 1], color=LIGHT.muted, linestyle=":", linewidth=1, label="nothing learned")
        points = np.array([(value.prior, value.published) for value in where(values, panel=panel.name)]).T
        look = {"color": LIGHT.series[1], "markersize": 5.5, "label": "published curves"}
        ax.plot(*points, "o", **look, clip_on=False, zorder=3)
        epsilon = "epsilon ln 3" + (f", delta {panel.band.delta:g}" if panel.band.delta else "")
        ax.set_title(f"{panel.name}\n{epsilon}", fontsize=10.5)
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.grid(alpha=0.3)
    figure.supxlabel("probability of the fact before the report", fontsize=11)
    figure.supylabel("probability after the report", fontsize=11)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, fontsize=10, frameon=False)
    return figure


def bands_figure(rows: Sequence[PosteriorRow]) -> Figure:
    """Return Figures 2.1 and 2.2 side by side, by the formula of proposition 1."""
    figure = blank(10, 5.2)
    single, several = figure.subplots(1, 2, sharey=True)
    for k, epsilon in enumerate(BAND_EPSILONS):
        band_rows = where(rows, epsilon=epsilon)
        p, low, high = np.array([(row.prior, row.lower, row.upper) for row in band_rows]).T
        middle, ax = len(p) // 2, several if k else single
        for edge in (low, high):
            ax.plot(
                p, edge, color=LIGHT.series[0], linewidth=1.2 if k else 1.8, alpha=1.05 - 0.055 * k if k else 1
            )
        if k % 2:
            continue
        if k:
            at = middle if k < 8 else 40 // (k - 4)
            box = {"boxstyle": "square,pad=0.1", "facecolor": LIGHT.paper, "edgecolor": "none", "alpha": 0.8}
            look = {"textcoords": "offset points", "fontsize": 8.5, "color": LIGHT.ink, "bbox": box}
            several.annotate(f"{epsilon:g}", (p[at], high[at]), xytext=(3, 3), **look)
            continue
        single.fill_between(p, low, high, color=LIGHT.series[0], alpha=0.18, linewidth=0)
        for edge in (low, high):
            point, text = (p[middle], edge[middle]), f"{100 * edge[middle]:.0f} %"
            single.plot(*point, "o", color=LIGHT.series[1])
            single.annotate(text, point, xytext=(10, -4), textcoords="offset points", color=LIGHT.ink)
    single.set_title("epsilon ln 3: from 50 % to 25 ... 75 %", fontsize=10.5)
    several.set_title("epsilon 0.5 (inside), 1, 1.5, ... to 7 (outside)", fontsize=10.5)
    for ax in (single, several):
        ax.plot([0, 1], [0, 1], color=LIGHT.muted, linestyle=":", linewidth=1)
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="probability of the fact before the report")
        ax.grid(alpha=0.3)
    single.set_ylabel("probability after the report")
    return figure


def regions_figure(rows: Sequence[CornerRow]) -> Figure:
    """Return the regions with these corners, and a corner of them enlarged."""
    figure = blank(10, 5.6)
    axes = figure.subplots(1, 2)
    total = 2 / (1 + math.exp(REGION_EPSILON))  # left to every test by epsilon-DP
    looks = {ALLOWED: (4, 0.25), ANSWER: (0, 0.3), RARE_REPORTS: (1, 0.35)}
    for ax in axes:
        for name, (number, alpha) in looks.items():
            colour = LIGHT.series[number]
            corners = [(row.false_alarm, row.missed) for row in where(rows, region=name)]
            ax.fill(*np.transpose(corners), facecolor=colour, alpha=alpha, linewidth=0)
            ax.plot(*np.transpose([*corners, corners[0]]), color=colour, linewidth=1.5, label=name)
        ax.plot([0, total], [total, 0], color=LIGHT.ink, linestyle=":", label="total error 2 / (1 + e)")
        ax.set_xlabel("probability of a false alarm")
        ax.set_aspect("equal")
        ax.grid(alpha=0.3)
    axes[0].set(xlim=(0, 1), ylim=(0, 1), ylabel="probability of a missed detection", title="all errors")
    axes[1].set(xlim=(0, _NEAR), ylim=(1 - _NEAR, 1), title="tests that rarely reject, enlarged")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, fontsize=9.5, frameon=False)
    return figure
