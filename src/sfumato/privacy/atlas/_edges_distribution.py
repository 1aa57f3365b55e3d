"""Implications between secrets and distributions of secrets: couplings and point masses."""

from __future__ import annotations

import math
from typing import Final

from ...core import Metric
from ...intervals import above, exact
from .._hops import largest_over, reach
from ..distributions.family import Family
from ..relation import Relation
from ._edge import Edge, Goal, Refusal, Rule, Status, Tightness, renamed
from ._edges_point import to_probabilistic
from .claims import Claim, covers, divergence_name

_CONVEX: Final = frozenset(
    {
        "KL divergence",
        "reverse KL divergence",
        "total variation",
        "chi-square divergence",
        "squared Hellinger distance",
    }
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


def _lifted(rule: Rule) -> Rule:
    """Return a rule that refuses claims about a family instead of a lifted relation."""

    def apply(claim: Claim, goal: Goal) -> Claim | Refusal:
        if claim.context.get("family") is not None:
            return Refusal("a promise about all distributions that couplings join is needed, not about one family")
        return rule(claim, goal)

    return apply


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


def _orders(claim: Claim, goal: Goal) -> Claim | Refusal:
    order = goal.number("order")
    if order is None or order <= claim["order"]:
        return Refusal("a larger order must be given: order=")
    return claim.with_values(order=order)


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


def _convex(claim: Claim, _goal: Goal) -> Claim | Refusal:
    if divergence_name(claim.context["divergence"]) not in _CONVEX:
        return Refusal("a divergence that is known to be jointly convex is needed, such as KL")
    return Claim(
        "divergence-metric-distribution-privacy",
        epsilon=claim["epsilon"],
        order=1.0,
        divergence=claim.context["divergence"],
        metric=claim.context["metric"],
    )


def _divergence_to_lifting(claim: Claim, _goal: Goal) -> Claim:
    kept = {name: claim.context[name] for name in ("divergence", "relation")}
    return Claim("divergence-distribution-privacy", epsilon=claim["epsilon"], **kept)


_POINT_MASSES: Final = "the point masses of two secrets are distributions, and one coupling joins them"

EDGES: Final = (
    Edge(
        "dp-to-distp",
        "differential-privacy",
        "distribution-privacy",
        "epsilon and delta stay, for all distributions that a coupling within the relation joins",
        "",
        Tightness.TIGHT,
        "point masses (the published factor |Phi| on delta is unnecessary)",
        "sharpens Kawamoto and Murakami, section V",
        Status.PROVED,
        _to_lifting,
    ),
    Edge(
        "distp-to-dp",
        "distribution-privacy",
        "differential-privacy",
        "epsilon and delta stay",
        "the promise is about all distributions that couplings join",
        Tightness.TIGHT,
        _POINT_MASSES,
        "Kawamoto and Murakami, section V",
        Status.PROVED,
        _lifted(renamed("differential-privacy", keep=("relation",))),
    ),
    Edge(
        "metric-to-xdistp",
        "metric-privacy",
        "metric-distribution-privacy",
        "epsilon and delta stay, for the Wasserstein distance of order inf",
        "the promise is about all pairs",
        Tightness.TIGHT,
        "point masses",
        "sharpens Kawamoto and Murakami, section V, in delta",
        Status.PROVED,
        _to_transport,
    ),
    Edge(
        "xdistp-to-metric",
        "metric-distribution-privacy",
        "metric-privacy",
        "epsilon and delta stay, since point masses are as far apart as their secrets",
        "",
        Tightness.TIGHT,
        _POINT_MASSES,
        "by the definitions",
        Status.PROVED,
        renamed("metric-privacy", numbers={"epsilon": "epsilon", "delta": "delta"}, keep=("metric",)),
    ),
    Edge(
        "xdistp-orders",
        "metric-distribution-privacy",
        "metric-distribution-privacy",
        "epsilon stays for larger orders, whose distances are larger",
        "",
        Tightness.TIGHT,
        "point masses",
        "by Jensen's inequality",
        Status.PROVED,
        _orders,
    ),
    Edge(
        "xdistp-to-distp",
        "metric-distribution-privacy",
        "distribution-privacy",
        "epsilon is multiplied by the largest distance of related secrets",
        "the related secrets are at finite distances",
        Tightness.TIGHT,
        "point masses",
        "by the definitions",
        Status.PROVED,
        _transport_to_pairs,
    ),
    Edge(
        "pdistp-to-distp",
        "probabilistic-distribution-privacy",
        "distribution-privacy",
        "epsilon and delta stay",
        "",
        Tightness.TIGHT,
        "point masses",
        "Kawamoto and Murakami, section III",
        Status.PUBLISHED,
        renamed("distribution-privacy", keep=("relation", "family")),
    ),
    Edge(
        "distp-to-pdistp",
        "distribution-privacy",
        "probabilistic-distribution-privacy",
        "for any epsilon' > epsilon, delta' = delta (1 + e^-epsilon') / (1 - e^(epsilon - epsilon')); epsilon' is "
        "2 epsilon unless given",
        "every pair counts in both orders",
        Tightness.TIGHT,
        "point masses, as for dp-to-pdp",
        "after Kasiviswanathan and Smith, Lemma 3.3",
        Status.PROVED,
        _both_orders,
    ),
    Edge(
        "divergence-to-divdistp",
        "divergence-privacy",
        "divergence-distribution-privacy",
        "epsilon stays",
        "",
        Tightness.TIGHT,
        "point masses",
        "Kawamoto and Murakami, section V",
        Status.PUBLISHED,
        _divergence_to_lifting,
    ),
    Edge(
        "divdistp-to-divergence",
        "divergence-distribution-privacy",
        "divergence-privacy",
        "epsilon stays",
        "the promise is about all distributions that couplings join",
        Tightness.TIGHT,
        _POINT_MASSES,
        "by the definitions",
        Status.PROVED,
        _lifted(renamed("divergence-privacy", keep=("divergence", "relation"))),
    ),
    Edge(
        "xdiv-to-xdivdistp",
        "divergence-metric-privacy",
        "divergence-metric-distribution-privacy",
        "epsilon stays, for the Wasserstein distance of order 1",
        "the divergence is an f-divergence",
        Tightness.TIGHT,
        "point masses",
        "Kawamoto and Murakami, section V",
        Status.PUBLISHED,
        _convex,
    ),
    Edge(
        "xdivdistp-to-xdiv",
        "divergence-metric-distribution-privacy",
        "divergence-metric-privacy",
        "epsilon stays",
        "",
        Tightness.TIGHT,
        _POINT_MASSES,
        "by the definitions",
        Status.PROVED,
        renamed("divergence-metric-privacy", numbers={"epsilon": "epsilon"}, keep=("divergence", "metric")),
    ),
    Edge(
        "xdivdistp-orders",
        "divergence-metric-distribution-privacy",
        "divergence-metric-distribution-privacy",
        "epsilon stays for larger orders, whose distances are larger",
        "",
        Tightness.TIGHT,
        "point masses",
        "by Jensen's inequality",
        Status.PROVED,
        _orders,
    ),
)
