"""Spanners: optimal programs with rows for few pairs, their guarantees, costs and sizes, and the claims on them.

Source: Bordenabe, Chatzikokolakis and Palamidessi, "Optimal geo-indistinguishable mechanisms for location
privacy", CCS 2014, sections 3 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sfumato.attacks import optimal
from sfumato.core import MetricPrivacy, Prior, Spanner, greedy_spanner
from sfumato.core.immutable import CompactRepr
from sfumato.optimal import Auto, Design, design
from sfumato.proofs import prove_metric_privacy
from sfumato.rounding import about, at_least, at_most, percent_at_most

from ..reproduction import PaperClaim, RunTables, Tables, abstain, follows, illustrates, judge
from ..results import distinct, markdown_table, where
from .regions import VisitedPlaces

SPANNERS: Final = "spanners"

NOMINAL: Final = "asked"
REALISED: Final = "realised"
EXACT: Final = "exact"

_EPSILON: Final = 1.0  # per km
_GAP: Final = 1e-4
_SOURCE: Final = "Bordenabe et al. (2014)"
_ABSTRACT: Final = f"{_SOURCE}, abstract"
_ROUNDED: Final = 1e-12  # of an error that is summed in floats
_UNKNOWN: Final = f"{_SOURCE}, section not known"


@dataclass(frozen=True, slots=True, repr=False)
class SpannerRow(CompactRepr):
    """An optimal mechanism; lengths in km, epsilons per km."""

    ground: str  # where the places are
    places: int
    kind: str  # epsilon is divided by the dilation asked (as published) or realised; exact: no spanner
    dilation_asked: float
    dilation: float  # realised
    edges: int  # of the spanner, each with a row for both orders and each report
    rows: int  # of metric privacy in the program
    epsilon: float
    epsilon_proved: float  # least epsilon proved for all pairs
    kept: bool  # whether epsilon is proved for all pairs
    loss: float  # proved expected distance
    least: float  # proved lower bound for all mechanisms with this epsilon and these reports
    error_best: float  # of the best attacker


def compare_spanners(ground: VisitedPlaces, dilations: tuple[float, ...]) -> Tables:
    """Design with spanners and without one."""
    prior, metric, n = ground.prior, ground.distances_km, len(ground.prior)
    guarantee = MetricPrivacy(_EPSILON, metric)
    exact = _optimal_design(prior, guarantee, None)

    def row(kind: str, dilation: float, spanner: Spanner | None, design: Design) -> SpannerRow:
        proof = prove_metric_privacy(design.mechanism, guarantee)
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
            loss=design.certificate.loss,
            least=exact.certificate.lower_bound,
            error_best=optimal(design.mechanism, prior, metric).error,
        )

    rows = [row(EXACT, 1.0, None, exact)]
    for dilation in dilations:
        spanner = greedy_spanner(metric, dilation)
        less = MetricPrivacy(_EPSILON * spanner.dilation / dilation, metric)
        for kind, privacy in ((REALISED, guarantee), (NOMINAL, less)):
            rows.append(row(kind, dilation, spanner, _optimal_design(prior, privacy, dilation)))
    return {SPANNERS: rows}


def _optimal_design(prior: Prior, privacy: MetricPrivacy, dilation: float | None) -> Design:
    """Return the design with all pairs, or with those of a spanner; ties are not broken."""
    return design(
        prior,
        loss=privacy.metric,
        guarantees=privacy,
        solver=Auto(1),
        pairs="generated" if dilation is None else "spanner",
        dilation=dilation or 1.1,
        gap=_GAP,
        tie_break=False,
        method="table",
    )


def spanner_claims(tables: RunTables) -> list[PaperClaim]:
    """Return the claims on spanners, judged."""
    rows = tables.rows(SPANNERS, SpannerRow)
    realised, nominal, exact = (where(rows, kind=kind) for kind in (REALISED, NOMINAL, EXACT))
    most = max(realised, key=lambda row: (row.places, -row.dilation_asked))
    low, high = (pick(_powers(realised)) for pick in (min, max))
    every = [row for row in rows if row.kind != EXACT]
    loose = min(nominal, key=lambda row: row.epsilon_proved)
    # Shortest paths are floats.
    beyond = [row for row in realised if row.dilation > row.dilation_asked * (1 + 1e-9)]
    least = max(realised, key=lambda row: row.dilation_asked / row.dilation)
    same = {(row.ground, row.places, row.dilation_asked): row.loss for row in realised}
    gains = [(1 - same[row.ground, row.places, row.dilation_asked] / row.loss, row) for row in nominal]
    saved, saving = max(gains, key=lambda gain: gain[0])
    parts = []
    for dilation in sorted(distinct(realised, "dilation_asked")):
        worst = max(where(realised, dilation_asked=dilation), key=lambda row: row.loss / row.least)
        more = percent_at_most(worst.loss / worst.least - 1)
        parts.append(f"{more} with {dilation:g} ({worst.places} places, {worst.ground})")
    below = [row for row in exact if row.error_best < row.least * (1 - _ROUNDED)]
    apart = min(exact, key=lambda row: row.error_best / row.loss)
    return [
        follows(
            _ABSTRACT,
            "The number of constraints falls from cubic to quadratic.",
            all(row.rows == 2 * row.edges * row.places for row in realised),
            "Rows are twice the edges times the places, and a greedy spanner in the plane has edges in proportion "
            f"to its places. On {most.places} places ({most.ground}) with dilation {most.dilation_asked:g} the "
            f"program has {most.rows:,} rows instead of {most.places**2 * (most.places - 1):,}. From {high[1]} to "
            f"{high[2]} places rows grow with the power {at_most(high[0], 3)} of their number at most "
            f"({high[3][0]}, at {high[3][1]:g}), and {about(low[0], 3)} at least ({low[3][0]}, at "
            f"{low[3][1]:g}).",
            quote="reduce the number of constraints of the linear program from cubic to quadratic (with respect "
            "to the number of locations)",
        ),
        illustrates(  # proofs over integers: one that fails contradicts no theorem
            _ABSTRACT,
            "Metric privacy holds for all pairs.",
            all(row.kept for row in every),
            f"Epsilon {loose.epsilon:g}/km is proved for all pairs in {sum(row.kept for row in every)} of "
            f"{len(every)} designs with spanners. Where it is divided by the dilation asked for, as published, "
            f"the mechanism may use as little as {at_most(loose.epsilon_proved, 4)}/km ({_place(loose)}).",
            quote="maintaining the privacy guarantees",
        ),
        follows(
            _UNKNOWN,
            "The greedy spanner has at most the dilation asked for.",
            not beyond,
            f"It holds for {len(realised) - len(beyond)} of {len(realised)} spanners. The realised dilation is "
            f"often smaller: {about(least.dilation, 4)} for {_place(least)}. To divide epsilon by the realised "
            f"one saves up to {about(100 * saved, 2)} % of the loss ({_place(saving)}).",
        ),
        abstain(
            _ABSTRACT,
            "The loss does not grow significantly.",
            "The abstract gives no number and no dilation. Here the loss is above the least one by at most "
            f"{', '.join(parts)}. Without a spanner it is within "
            f"{percent_at_most(max(row.loss / row.least for row in exact) - 1)} of the least one.",
            quote="without affecting significantly the utility of the generated mechanism",
        ),
        judge(  # by the proved bracket of the optimum: its error is the least loss itself
            _ABSTRACT,
            "Where loss and error are one distance, the optimal mechanism forces an error of its loss, the "
            "maximum.",
            not below,
            f"In {len(exact) - len(below)} of {len(exact)} designs the error of the best attacker is between the "
            f"proved bounds of the least loss. Most apart are a loss of {at_most(apart.loss, 5)} km and an error "
            f"of {at_least(apart.error_best, 5)} km ({apart.places} places, {apart.ground}); the least loss is at "
            f"least {at_least(apart.least, 5)} km.",
            quote="the mechanism so constructed is optimal also in the sense of Shokri et al.",
        ),
        abstain(
            _ABSTRACT,
            "A spanner lowers the time of the program considerably.",
            "Times depend on the machine and the solver, and the published table of times is not available.",
            quote="This lowers considerably the time required to solve the linear program",
        ),
    ]


def _place(row: SpannerRow) -> str:
    return f"{row.places} places, {row.ground}, at {row.dilation_asked:g}"


def _powers(rows: Sequence[SpannerRow]) -> list[tuple[float, int, int, tuple[str, float]]]:
    """Return the powers of the number of places with which rows grow, from and to how many, and of which case."""
    powers = []
    for key in dict.fromkeys((row.ground, row.dilation_asked) for row in rows):
        sizes = sorted((row.places, row.rows) for row in where(rows, ground=key[0], dilation_asked=key[1]))
        (few, less), (many, more) = sizes[0], sizes[-1]
        if many > few:
            powers.append((math.log(more / less) / math.log(many / few), few, many, key))
    return powers


def spanner_table(rows: Sequence[SpannerRow]) -> str:
    """Return losses and rows of spanners on most places in Markdown, a column for each ground."""
    most = max(row.places for row in rows)
    subset = [row for row in where(rows, places=most) if row.kind != NOMINAL]
    grounds = distinct(subset, "ground")
    by = {(row.ground, None if row.kind == EXACT else row.dilation_asked): row for row in subset}

    def cell(row: SpannerRow) -> str:
        return f"{percent_at_most(row.loss / row.least - 1)}; {row.rows:,}"

    return markdown_table(
        f"| dilation asked | {' | '.join(grounds)} |",
        f"|---|{'--:|' * len(grounds)}",
        (
            ["none" if dilation is None else f"{dilation:g}", *(cell(by[ground, dilation]) for ground in grounds)]
            for dilation in dict.fromkeys(dilation for _, dilation in by)
        ),
    )
