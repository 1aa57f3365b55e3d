"""Spanners: optimal programs with the rows of few pairs, what they keep, cost, and how many rows they need.

Source: Bordenabe, Chatzikokolakis and Palamidessi, "Optimal geo-indistinguishable mechanisms for location
privacy", CCS 2014, sections 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sfumato.attacks import optimal
from sfumato.core import MetricPrivacy, Prior, Spanner, greedy_spanner
from sfumato.core.immutable import CompactRepr
from sfumato.optimal import Auto, Design, Highs, Solver, design
from sfumato.proofs import prove_metric_privacy

from ..reproduction import SECONDS, Made
from ..results import columns_of
from .grounds import VisitedPlaces

SPANNERS: Final = "spanners"
SPANNER_TIMES: Final = f"{SPANNERS}{SECONDS}"

ASKED: Final = "asked"
REALISED: Final = "realised"
EXACT: Final = "exact"

STRUCTURED: Final = "structured method"
GENERAL: Final = "HiGHS"

_EPSILON: Final = 1.0  # per km
_GAP: Final = 1e-4


@dataclass(frozen=True, slots=True, repr=False)
class SpannerRow(CompactRepr):
    """An optimal mechanism; lengths in km, epsilons per km.

    Attributes:
        ground: Where the places are.
        places: How many.
        kind: *asked*: epsilon on the edges is divided by the dilation asked for, as published; *realised*: by the
            realised one; *exact*: no spanner.
        dilation_asked: The dilation asked for.
        dilation: The realised one.
        edges: The edges of the spanner, each with a row for both orders and each report.
        rows: The rows of metric privacy that the program has; of *exact*, that all pairs make.
        epsilon: The guaranteed epsilon.
        epsilon_proved: The least epsilon that is proved for all pairs.
        kept: Whether epsilon is proved.
        loss: The proved expected distance.
        least: A proved lower bound of the loss of every mechanism with this epsilon and these reports.
        error_best: The error of the best attacker.
    """

    ground: str
    places: int
    kind: str
    dilation_asked: float
    dilation: float
    edges: int
    rows: int
    epsilon: float
    epsilon_proved: float
    kept: bool
    loss: float
    least: float
    error_best: float


@dataclass(frozen=True, slots=True)
class SpannerTime:
    """The time that a program took; without a dilation it has all pairs."""

    ground: str
    places: int
    method: str
    dilation_asked: float | None
    seconds: float


def spanned(ground: VisitedPlaces, dilations: tuple[float, ...], general: tuple[float | None, ...]) -> Made:
    """Design with spanners and without one.

    Args:
        ground: The places.
        dilations: The dilations to ask for.
        general: The dilations for which a general back-end is timed, too; None for all pairs.
    """
    prior = ground.prior
    metric = prior.space.metric("euclidean", unit="km")
    n = len(prior)
    asked = MetricPrivacy(_EPSILON, metric)
    exact = _designed(prior, asked, None, Auto(1))
    least = exact.certificate.lower_bound
    times = [SpannerTime(ground.name, n, STRUCTURED, None, exact.seconds)]

    def row(kind: str, dilation: float, spanner: Spanner | None, found: Design) -> SpannerRow:
        proof = prove_metric_privacy(found.mechanism, asked)
        edges = n * (n - 1) // 2 if spanner is None else len(spanner)
        return SpannerRow(
            ground=ground.name,
            places=n,
            kind=kind,
            dilation_asked=dilation,
            dilation=1.0 if spanner is None else spanner.dilation,
            edges=edges,
            rows=2 * edges * n,
            epsilon=_EPSILON,
            epsilon_proved=proof.upper,
            kept=proof.holds,
            loss=found.certificate.loss,
            least=least,
            error_best=optimal(found.mechanism, prior, metric).error,
        )

    rows = [row(EXACT, 1.0, None, exact)]
    for dilation in dilations:
        spanner = greedy_spanner(metric, dilation)
        realised = _designed(prior, asked, dilation, Auto(1))
        times.append(SpannerTime(ground.name, n, STRUCTURED, dilation, realised.seconds))
        rows.append(row(REALISED, dilation, spanner, realised))
        less = MetricPrivacy(_EPSILON * spanner.dilation / dilation, metric)
        rows.append(row(ASKED, dilation, spanner, _designed(prior, less, dilation, Auto(1))))
    for each in general:
        found = _designed(prior, asked, each, Highs())
        times.append(SpannerTime(ground.name, n, GENERAL, each, found.seconds))
    return {
        SPANNERS: [columns_of(each) for each in rows],
        SPANNER_TIMES: [columns_of(each) for each in times],
    }


def _designed(prior: Prior, asked: MetricPrivacy, dilation: float | None, solver: Solver) -> Design:
    """Return the design with all pairs, or with those of a spanner; ties are not broken."""
    everything = "all" if isinstance(solver, Highs) else "generated"
    return design(
        prior,
        loss=asked.metric,
        guarantees=asked,
        solver=solver,
        pairs=everything if dilation is None else "spanner",
        dilation=dilation or 1.1,
        gap=_GAP,
        tie_break=False,
        method="table",
    )
