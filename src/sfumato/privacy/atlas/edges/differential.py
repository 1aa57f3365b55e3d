"""Implications between differential privacy, its probabilistic form and metric privacy."""

from __future__ import annotations

import numpy as np

from ....core import Metric
from ....core.arrays import Floats
from ....intervals import above, exact
from ...relation import Relation, largest_over, largest_ratio, reach
from ..claims import Claim
from ..contexts import covers
from ..edge import Basis, Goal, Refusal, Tightness, edge, pure, renamed, symmetric


@edge(
    "dp-groups",
    start="differential-privacy",
    end="differential-privacy",
    rule=(
        "epsilon becomes k epsilon, delta becomes delta (1 + e^epsilon + ... + e^((k-1) epsilon)), for pairs "
        "that k steps join"
    ),
    needs="steps join all pairs that are to be protected",
    tightness=Tightness.TIGHT,
    witness="the tight mechanism of a line attains k epsilon",
    source="Dwork and Roth, Theorem 2.2",
    basis=Basis.PUBLISHED,
)
def _groups(claim: Claim, goal: Goal) -> Claim | Refusal:
    relation, wanted = claim.context["relation"], goal.context("relation")
    if covers("relation", relation, wanted):
        return Refusal("the relation is covered already")
    if not isinstance(relation, Relation) or (goal.speaks_of("relation") and wanted is None):
        return Refusal("a relation is needed that the claim's does not cover: pass relation=")
    steps = largest_over(relation.hops, wanted if isinstance(wanted, Relation) else None)
    if steps == float("inf"):
        return Refusal(f"no steps between {relation.name} lead to every pair that is to be protected")
    epsilon, delta, k = claim["epsilon"], claim["delta"], int(steps)

    def total() -> object:
        return sum((exact(delta) * (i * exact(epsilon)).exp() for i in range(k)), exact(0.0))

    spent = above(total) if delta > 0 else 0.0
    if spent >= 1:
        return Refusal(f"delta would grow to {spent:g} over {k} steps, which promises nothing")
    return Claim("differential-privacy", epsilon=above(lambda: k * exact(epsilon)), delta=spent, relation=wanted)


@edge(
    "dp-weaker",
    start="differential-privacy",
    end="differential-privacy",
    rule=(
        "a smaller epsilon' costs delta' = 1 - (1 - delta) (1 + e^epsilon') / (1 + e^epsilon); tanh(epsilon / 2) "
        "at 0"
    ),
    needs="the relation is symmetric",
    tightness=Tightness.TIGHT,
    witness="randomised response that tells the truth outright with probability delta",
    source="Kairouz, Oh and Viswanath 2015",
    basis=Basis.PUBLISHED,
)
@symmetric
def _weaker(claim: Claim, goal: Goal) -> Claim | Refusal:
    epsilon, delta = exact(claim["epsilon"]), exact(claim["delta"])
    wanted, spent = goal.number("epsilon"), goal.number("delta")
    about = {"relation": claim.context["relation"]}
    if wanted is not None and wanted < claim["epsilon"]:
        lower = exact(wanted)
        found = above(lambda: 1 - (1 - delta) * (1 + lower.exp()) / (1 + epsilon.exp()))
        return Claim("differential-privacy", epsilon=wanted, delta=min(max(found, 0.0), 1.0), **about)
    if wanted is None and spent is not None and spent > claim["delta"]:
        factor = above(lambda: (1 + epsilon.exp()) * (1 - exact(spent)) / (1 - delta) - 1)
        value = above(exact(factor).log) if factor > 1 else 0.0
        return Claim("differential-privacy", epsilon=value, delta=spent, **about)
    return Refusal("a smaller epsilon or a larger delta must be given: epsilon= or delta=")


@edge(
    "pdp-to-dp",
    start="probabilistic-differential-privacy",
    end="differential-privacy",
    rule="epsilon and delta stay",
    tightness=Tightness.TIGHT,
    witness="the truth with probability delta, and else randomised response",
    source="Kawamoto and Murakami, section II",
    basis=Basis.PUBLISHED,
)
def _pdp_to_dp(claim: Claim, _goal: Goal) -> Claim:
    return renamed(claim, "differential-privacy", keep=("relation",))


def to_probabilistic(claim: Claim, goal: Goal) -> Claim | Refusal:
    """Return what (epsilon, delta) says of single reports, for secrets or distributions."""
    epsilon, delta = claim["epsilon"], claim["delta"]
    about = {"relation": claim.context["relation"]}
    end = claim.notion.replace("d", "probabilistic-d", 1)
    if "family" in claim.context:
        about["family"] = claim.context["family"]
    if delta == 0:
        return Claim(end, epsilon=epsilon, delta=0.0, **about)
    wanted, spent = goal.number("epsilon"), goal.number("delta")
    if wanted is None and spent is not None:
        if spent <= delta:
            return Refusal(f"a delta above {delta:g} is needed")
        first, last = exact(delta), exact(spent)
        value = above(lambda: ((first + last * exact(epsilon).exp()) / (last - first)).log())
        return Claim(end, epsilon=value, delta=spent, **about)
    wider = above(lambda: 2 * exact(epsilon)) if wanted is None else wanted
    if not wider > epsilon:
        return Refusal(f"an epsilon above {epsilon:g} is needed")
    found = above(lambda: exact(delta) * (1 + (-exact(wider)).exp()) / (1 - (exact(epsilon) - exact(wider)).exp()))
    return Claim(end, epsilon=wider, delta=min(found, 1.0), **about)


@edge(
    "dp-to-pdp",
    start="differential-privacy",
    end="probabilistic-differential-privacy",
    rule=(
        "for any epsilon' > epsilon, delta' = delta (1 + e^-epsilon') / (1 - e^(epsilon - epsilon')); epsilon' "
        "is 2 epsilon unless given"
    ),
    needs="the relation is symmetric",
    tightness=Tightness.TIGHT,
    witness=(
        "approached by a pair of reports with ratios just above e^epsilon' (the published 2 delta / (1 - "
        "e^-epsilon) is larger)"
    ),
    source="after Kasiviswanathan and Smith, Lemma 3.3",
    basis=Basis.PROVED,
)
@symmetric
def _dp_to_pdp(claim: Claim, goal: Goal) -> Claim | Refusal:
    return to_probabilistic(claim, goal)


def _per_unit(claim: Claim, lengths: Floats, metric: Metric) -> Claim | Refusal:
    if lengths.shape != metric.array.shape:
        return Refusal("the metric must be on the same secrets")
    ratio = largest_ratio(lengths, metric.array)
    if ratio == float("inf"):
        return Refusal("some pair at a finite distance must be protected, but no steps of the claim lead there")
    epsilon = above(lambda: exact(claim["epsilon"]) * exact(ratio))
    return Claim("metric-privacy", epsilon=epsilon, delta=claim["delta"], metric=metric)


@edge(
    "dp-to-metric",
    start="differential-privacy",
    end="metric-privacy",
    rule="epsilon becomes epsilon times the most steps per unit of distance",
    needs="delta = 0, and steps join all secrets at a finite distance",
    tightness=Tightness.TIGHT,
    witness="the tight mechanism of a line, for the metric of hops",
    source="Chatzikokolakis, Andrés, Bordenabe and Palamidessi 2013; Shokri, equation 9",
    basis=Basis.PUBLISHED,
)
@pure
def _hops_to_metric(claim: Claim, goal: Goal) -> Claim | Refusal:
    relation, metric = claim.context["relation"], goal.context("metric")
    if not isinstance(metric, Metric):
        return Refusal("the metric must be given: metric=")
    lengths = relation.hops if isinstance(relation, Relation) else np.ones_like(metric.array)
    return _per_unit(claim, lengths, metric)


@edge(
    "metric-to-metric",
    start="metric-privacy",
    end="metric-privacy",
    rule=(
        "epsilon is multiplied by the largest length of a shortest way per unit of the other metric; for "
        "promises about some pairs this is the dilation"
    ),
    needs="delta = 0, or the promise is about all pairs",
    tightness=Tightness.TIGHT,
    witness="the tight mechanism of a line, for a scaled metric and for a spanner",
    source="Bordenabe, Chatzikokolakis and Palamidessi 2014; corrects Shokri, appendix C",
    basis=Basis.PUBLISHED,
)
def _metric_to_metric(claim: Claim, goal: Goal) -> Claim | Refusal:
    metric, held, relation = goal.context("metric"), claim.context["metric"], claim.context["relation"]
    if not isinstance(metric, Metric) or not isinstance(held, Metric):
        return Refusal("another metric must be given: metric=")
    among = relation if isinstance(relation, Relation) else None
    if among is None and covers("metric", held, metric):
        return Refusal("another metric must be given: metric=")
    if claim["delta"] > 0 and among is not None:
        return Refusal("delta = 0 is needed where the promise is about some pairs only")
    return _per_unit(claim, reach(held, among) if claim["delta"] == 0 else held.array, metric)


@edge(
    "metric-to-dp",
    start="metric-privacy",
    end="differential-privacy",
    rule="epsilon is multiplied by the largest distance of related secrets, the diameter for all",
    needs="the related secrets are at finite distances",
    tightness=Tightness.TIGHT,
    witness="any mechanism whose epsilon is attained at the farthest related pair",
    source="by the definitions",
    basis=Basis.DEFINITION,
)
def _metric_to_pairs(claim: Claim, goal: Goal) -> Claim | Refusal:
    held, relation, wanted = claim.context["metric"], claim.context["relation"], goal.context("relation")
    if not isinstance(held, Metric):
        return Refusal("a metric is needed")
    among = relation if isinstance(relation, Relation) else None
    if claim["delta"] > 0 and not covers("relation", relation, wanted):
        return Refusal("delta = 0 is needed where the promise is about some pairs only")
    if isinstance(wanted, Relation) and wanted.size != len(held):
        return Refusal(f"the relation must be on the metric's {len(held)} secrets")
    lengths = reach(held, among) if claim["delta"] == 0 else held.array
    longest = largest_over(lengths, wanted if isinstance(wanted, Relation) else None)
    if longest == float("inf"):
        return Refusal("some pair is at infinite distance and has no protection: pass relation= with finite ones")
    epsilon = above(lambda: exact(claim["epsilon"]) * exact(longest))
    return Claim("differential-privacy", epsilon=epsilon, delta=claim["delta"], relation=wanted)
