"""Implications between secrets and distributions of secrets: couplings and point masses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from ....core import Metric
from ....divergences import NAMED, Divergence
from ....intervals import above, exact
from ...distributions.family import Family
from ...distributions.implied import jointly_convex, quasi_convex
from ...relation import Relation, largest_over, reach
from ..claims import Claim
from ..contexts import covers, divergence_name
from ..edge import Basis, Goal, Refusal, Rule, Tightness, edge, renamed
from .differential import to_probabilistic

_CONVEX: Final = frozenset(
    {
        "KL divergence",
        "reverse KL divergence",
        "total variation",
        "chi-square divergence",
        "squared Hellinger distance",
    }
)

_SUMS: Final = ("hockey-stick divergence",)  # names that begin so, with an order or an epsilon
_QUASI: Final = (*_SUMS, "Rényi divergence", "max divergence")

_POINT_MASSES: Final = "the point masses of two secrets are distributions, and one coupling joins them"


@edge(
    "dp-to-distp",
    start="differential-privacy",
    end="distribution-privacy",
    rule="epsilon and delta stay, for all distributions that a coupling within the relation joins",
    tightness=Tightness.TIGHT,
    witness="point masses (the published factor |Phi| on delta is unnecessary)",
    source="sharpens Kawamoto and Murakami, section V",
    basis=Basis.PROVED,
)
def _to_lifting(claim: Claim, goal: Goal) -> Claim | Refusal:
    relation, family = claim.context["relation"], goal.context("family")
    numbers = {"epsilon": claim["epsilon"], "delta": claim["delta"]}
    if not isinstance(family, Family):
        return Claim("distribution-privacy", **numbers, relation=relation)
    if covers("relation", relation, None):
        return Claim("distribution-privacy", **numbers, family=family)
    if family.lifted_from is None or not covers("relation", relation, family.lifted_from):
        return Refusal("a family is needed whose pairs couplings within the relation join: Family.lifted")
    outside = float(family.outside.max(initial=0.0))
    delta = above(lambda: exact(claim["delta"]) + exact(outside)) if outside else claim["delta"]
    return Claim("distribution-privacy", epsilon=claim["epsilon"], delta=min(delta, 1.0), family=family)


def _known(divergence: object, check: Callable[[Divergence], bool]) -> bool:
    """Return whether a divergence, given by name or as an object, is known to pass a check of convexity."""
    if isinstance(divergence, Divergence):
        return check(divergence)
    name = divergence_name(divergence)
    return name in _CONVEX or name in NAMED or name.startswith(_QUASI if check is quasi_convex else _SUMS)


def _lifted(rule: Rule) -> Rule:
    """Return a rule that refuses claims about a family instead of a lifted relation."""

    def apply(claim: Claim, goal: Goal) -> Claim | Refusal:
        if claim.context.get("family") is not None:
            return Refusal("a promise about all distributions that couplings join is needed, not about one family")
        return rule(claim, goal)

    return apply


@edge(
    "distp-to-dp",
    start="distribution-privacy",
    end="differential-privacy",
    rule="epsilon and delta stay",
    needs="the promise is about all distributions that couplings join",
    tightness=Tightness.TIGHT,
    witness=_POINT_MASSES,
    source="Kawamoto and Murakami, section V",
    basis=Basis.PROVED,
)
@_lifted
def _distp_to_dp(claim: Claim, _goal: Goal) -> Claim:
    return renamed(claim, "differential-privacy", keep=("relation",))


@edge(
    "metric-to-xdistp",
    start="metric-privacy",
    end="metric-distribution-privacy",
    rule="epsilon and delta stay, for the Wasserstein distance of order inf",
    needs="the promise is about all pairs",
    tightness=Tightness.TIGHT,
    witness="point masses",
    source="sharpens Kawamoto and Murakami, section V, in delta",
    basis=Basis.PROVED,
)
def _to_transport(claim: Claim, _goal: Goal) -> Claim | Refusal:
    if not covers("relation", claim.context["relation"], None):
        return Refusal("a promise about all pairs is needed: convert it to metric privacy of all pairs first")
    return Claim(
        "metric-distribution-privacy",
        epsilon=claim["epsilon"],
        order=math.inf,
        delta=claim["delta"],
        metric=claim.context["metric"],
    )


@edge(
    "xdistp-to-metric",
    start="metric-distribution-privacy",
    end="metric-privacy",
    rule="epsilon and delta stay, since point masses are as far apart as their secrets",
    tightness=Tightness.TIGHT,
    witness=_POINT_MASSES,
    source="by the definitions",
    basis=Basis.PROVED,
)
def _xdistp_to_metric(claim: Claim, _goal: Goal) -> Claim:
    return renamed(claim, "metric-privacy", numbers={"epsilon": "epsilon", "delta": "delta"}, keep=("metric",))


def _orders(claim: Claim, goal: Goal) -> Claim | Refusal:
    order = goal.number("order")
    if order is None or order <= claim["order"]:
        return Refusal("a larger order must be given: order=")
    return claim.with_values(order=order)


@edge(
    "xdistp-orders",
    start="metric-distribution-privacy",
    end="metric-distribution-privacy",
    rule="epsilon stays for larger orders, whose distances are larger",
    tightness=Tightness.TIGHT,
    witness="point masses",
    source="by Jensen's inequality",
    basis=Basis.PROVED,
)
def _xdistp_orders(claim: Claim, goal: Goal) -> Claim | Refusal:
    return _orders(claim, goal)


@edge(
    "xdistp-to-distp",
    start="metric-distribution-privacy",
    end="distribution-privacy",
    rule="epsilon is multiplied by the largest distance of related secrets",
    needs="the related secrets are at finite distances",
    tightness=Tightness.TIGHT,
    witness="point masses",
    source="by the definitions",
    basis=Basis.PROVED,
)
def _transport_to_pairs(claim: Claim, goal: Goal) -> Claim | Refusal:
    metric, wanted = claim.context["metric"], goal.context("relation")
    if not isinstance(metric, Metric):
        return Refusal("a metric is needed")
    if isinstance(wanted, Relation) and wanted.size != len(metric):
        return Refusal(f"the relation must be on the metric's {len(metric)} secrets")
    among = wanted if isinstance(wanted, Relation) else None
    longest = largest_over(reach(metric, None) if claim["delta"] == 0 else metric.array, among)
    if math.isinf(longest):
        return Refusal("some pair is at infinite distance and has no protection: pass relation= with finite ones")
    epsilon = above(lambda: exact(claim["epsilon"]) * exact(longest))
    return Claim("distribution-privacy", epsilon=epsilon, delta=claim["delta"], relation=wanted)


@edge(
    "pdistp-to-distp",
    start="probabilistic-distribution-privacy",
    end="distribution-privacy",
    rule="epsilon and delta stay",
    tightness=Tightness.TIGHT,
    witness="point masses",
    source="Kawamoto and Murakami, section III",
    basis=Basis.PUBLISHED,
)
def _pdistp_to_distp(claim: Claim, _goal: Goal) -> Claim:
    return renamed(claim, "distribution-privacy", keep=("relation", "family"))


@edge(
    "distp-to-pdistp",
    start="distribution-privacy",
    end="probabilistic-distribution-privacy",
    rule=(
        "for any epsilon' > epsilon, delta' = delta (1 + e^-epsilon') / (1 - e^(epsilon - epsilon')); epsilon' "
        "is 2 epsilon unless given"
    ),
    needs="every pair counts in both orders",
    tightness=Tightness.TIGHT,
    witness="point masses, as for dp-to-pdp",
    source="after Kasiviswanathan and Smith, Lemma 3.3",
    basis=Basis.PROVED,
)
def _both_orders(claim: Claim, goal: Goal) -> Claim | Refusal:
    relation, family = claim.context["relation"], claim.context["family"]
    if isinstance(family, Family):
        pairs = {(int(i), int(j)) for i, j in family.pairs}
        both = all((j, i) in pairs for i, j in pairs)
    else:
        both = not isinstance(relation, Relation) or relation.symmetric
    if not both:
        return Refusal("pairs in both orders are needed")
    return to_probabilistic(claim, goal)


@edge(
    "divergence-to-divdistp",
    start="divergence-privacy",
    end="divergence-distribution-privacy",
    rule="epsilon stays",
    needs="the divergence is jointly quasi-convex: an f-divergence, one of Renyi or the largest loss",
    tightness=Tightness.TIGHT,
    witness="point masses",
    source="Kawamoto and Murakami, section V",
    basis=Basis.PUBLISHED,
)
def _divergence_to_lifting(claim: Claim, _goal: Goal) -> Claim | Refusal:
    if not _known(claim.context["divergence"], quasi_convex):
        return Refusal("a divergence that is known to be jointly quasi-convex is needed, such as KL")
    kept = {name: claim.context[name] for name in ("divergence", "relation")}
    return Claim("divergence-distribution-privacy", epsilon=claim["epsilon"], **kept)


@edge(
    "divdistp-to-divergence",
    start="divergence-distribution-privacy",
    end="divergence-privacy",
    rule="epsilon stays",
    needs="the promise is about all distributions that couplings join",
    tightness=Tightness.TIGHT,
    witness=_POINT_MASSES,
    source="by the definitions",
    basis=Basis.PROVED,
)
@_lifted
def _divdistp_to_divergence(claim: Claim, _goal: Goal) -> Claim:
    return renamed(claim, "divergence-privacy", keep=("divergence", "relation"))


@edge(
    "xdiv-to-xdivdistp",
    start="divergence-metric-privacy",
    end="divergence-metric-distribution-privacy",
    rule="epsilon stays, for the Wasserstein distance of order 1",
    needs="the divergence is an f-divergence",
    tightness=Tightness.TIGHT,
    witness="point masses",
    source="Kawamoto and Murakami, section V",
    basis=Basis.PUBLISHED,
)
def _convex(claim: Claim, _goal: Goal) -> Claim | Refusal:
    if not _known(claim.context["divergence"], jointly_convex):
        return Refusal("a divergence that is known to be jointly convex is needed, such as KL")
    return Claim(
        "divergence-metric-distribution-privacy",
        epsilon=claim["epsilon"],
        order=1.0,
        divergence=claim.context["divergence"],
        metric=claim.context["metric"],
    )


@edge(
    "xdivdistp-to-xdiv",
    start="divergence-metric-distribution-privacy",
    end="divergence-metric-privacy",
    rule="epsilon stays",
    tightness=Tightness.TIGHT,
    witness=_POINT_MASSES,
    source="by the definitions",
    basis=Basis.PROVED,
)
def _xdivdistp_to_xdiv(claim: Claim, _goal: Goal) -> Claim:
    return renamed(
        claim, "divergence-metric-privacy", numbers={"epsilon": "epsilon"}, keep=("divergence", "metric")
    )


@edge(
    "xdivdistp-orders",
    start="divergence-metric-distribution-privacy",
    end="divergence-metric-distribution-privacy",
    rule="epsilon stays for larger orders, whose distances are larger",
    tightness=Tightness.TIGHT,
    witness="point masses",
    source="by Jensen's inequality",
    basis=Basis.PROVED,
)
def _xdivdistp_orders(claim: Claim, goal: Goal) -> Claim | Refusal:
    return _orders(claim, goal)
