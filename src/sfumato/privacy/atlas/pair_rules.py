"""Numbers of implications about pairs of secrets: steps, metrics, and couplings of distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from ...core import Metric
from ...core.arrays import Floats
from ...divergences import NAMED, Divergence
from ...intervals import above, exact
from ..distributions.distribution_divergence import jointly_convex, quasi_convex
from ..distributions.family import Family
from ..relation import Relation, largest_over, largest_ratio, reach
from .claims import Claim, covers, divergence_name
from .edge import Changes, Goal, Refusal


def groups(claim: Claim, goal: Goal) -> Changes:
    """Return epsilon and delta over as many steps as the goal's pairs are apart."""
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
    return {"epsilon": above(lambda: k * exact(epsilon)), "delta": spent, "relation": wanted}


def weaker(claim: Claim, goal: Goal) -> Changes:
    """Return the least delta at a smaller epsilon, or the least epsilon at a larger delta."""
    epsilon, delta = exact(claim["epsilon"]), exact(claim["delta"])
    wanted, spent = goal.number("epsilon"), goal.number("delta")
    if wanted is not None and wanted < claim["epsilon"]:
        lower = exact(wanted)
        found = above(lambda: 1 - (1 - delta) * (1 + lower.exp()) / (1 + epsilon.exp()))
        return {"epsilon": wanted, "delta": min(max(found, 0.0), 1.0)}
    if wanted is None and spent is not None and spent > claim["delta"]:
        factor = above(lambda: (1 + epsilon.exp()) * (1 - exact(spent)) / (1 - delta) - 1)
        return {"epsilon": above(exact(factor).log) if factor > 1 else 0.0, "delta": spent}
    return Refusal("a smaller epsilon or a larger delta must be given: epsilon= or delta=")


def to_probabilistic(claim: Claim, goal: Goal) -> Changes:
    """Return what (epsilon, delta) says of single reports, for secrets or distributions."""
    epsilon, delta = claim["epsilon"], claim["delta"]
    if delta == 0:
        return {}
    wanted, spent = goal.number("epsilon"), goal.number("delta")
    if wanted is None and spent is not None:
        if spent <= delta:
            return Refusal(f"a delta above {delta:g} is needed")
        first, last = exact(delta), exact(spent)
        value = above(lambda: ((first + last * exact(epsilon).exp()) / (last - first)).log())
        return {"epsilon": value, "delta": spent}
    wider = above(lambda: 2 * exact(epsilon)) if wanted is None else wanted
    if not wider > epsilon:
        return Refusal(f"an epsilon above {epsilon:g} is needed")
    found = above(lambda: exact(delta) * (1 + (-exact(wider)).exp()) / (1 - (exact(epsilon) - exact(wider)).exp()))
    return {"epsilon": wider, "delta": min(found, 1.0)}


def _per_unit(claim: Claim, lengths: Floats, metric: Metric) -> Changes:
    if lengths.shape != metric.array.shape:
        return Refusal("the metric must be on the same secrets")
    ratio = largest_ratio(lengths, metric.array)
    if ratio == float("inf"):
        return Refusal("some pair at a finite distance must be protected, but no steps of the claim lead there")
    return {"epsilon": above(lambda: exact(claim["epsilon"]) * exact(ratio)), "metric": metric, "relation": None}


def hops_to_metric(claim: Claim, goal: Goal) -> Changes:
    """Return epsilon times the most steps per unit of the goal's metric."""
    relation, metric = claim.context["relation"], goal.context("metric")
    if not isinstance(metric, Metric):
        return Refusal("the metric must be given: metric=")
    lengths = relation.hops if isinstance(relation, Relation) else np.ones_like(metric.array)
    return _per_unit(claim, lengths, metric)


def other_metric(claim: Claim, goal: Goal) -> Changes:
    """Return epsilon times the largest length of a shortest way per unit of the goal's metric."""
    metric, held, relation = goal.context("metric"), claim.context["metric"], claim.context["relation"]
    if not isinstance(metric, Metric) or not isinstance(held, Metric):
        return Refusal("another metric must be given: metric=")
    among = relation if isinstance(relation, Relation) else None
    if among is None and covers("metric", held, metric):
        return Refusal("another metric must be given: metric=")
    if claim["delta"] > 0 and among is not None:
        return Refusal("delta = 0 is needed where the promise is about some pairs only")
    return _per_unit(claim, reach(held, among) if claim["delta"] == 0 else held.array, metric)


def metric_to_pairs(claim: Claim, goal: Goal) -> Changes:
    """Return epsilon times the largest distance of the goal's pairs."""
    held, relation, wanted = claim.context["metric"], claim.context.get("relation"), goal.context("relation")
    if not isinstance(held, Metric):
        return Refusal("a metric is needed")
    among = relation if isinstance(relation, Relation) else None
    if claim["delta"] > 0 and not covers("relation", relation, wanted):
        return Refusal("delta = 0 is needed where the promise is about some pairs only")
    if isinstance(wanted, Relation) and wanted.size != len(held):
        return Refusal(f"the relation must be on the metric's {len(held)} secrets")
    lengths = reach(held, among) if claim["delta"] == 0 else held.array
    longest = largest_over(lengths, wanted if isinstance(wanted, Relation) else None)
    if math.isinf(longest):
        return Refusal("some pair is at infinite distance and has no protection: pass relation= with finite ones")
    return {"epsilon": above(lambda: exact(claim["epsilon"]) * exact(longest)), "relation": wanted}


def to_lifting(claim: Claim, goal: Goal) -> Changes:
    """Return the claim about the lifted relation, or about the goal's family where couplings join its pairs."""
    relation, family = claim.context["relation"], goal.context("family")
    if not isinstance(family, Family):
        return {}
    about = {"family": family, "relation": None}
    if covers("relation", relation, None):
        return about
    if family.lifted_from is None or not covers("relation", relation, family.lifted_from):
        return Refusal("a family is needed whose pairs couplings within the relation join: Family.lifted")
    outside = float(family.outside.max(initial=0.0))
    delta = above(lambda: exact(claim["delta"]) + exact(outside)) if outside else claim["delta"]
    return {"delta": min(delta, 1.0), **about}


def to_transport(claim: Claim, _goal: Goal) -> Changes:
    """Return the same numbers, for the Wasserstein distance of order inf."""
    if not covers("relation", claim.context["relation"], None):
        return Refusal("a promise about all pairs is needed: convert it to metric privacy of all pairs first")
    return {"order": math.inf}


def larger_order(claim: Claim, goal: Goal) -> Changes:
    """Return the goal's order of the Wasserstein distance, where it is larger."""
    order = goal.number("order")
    if order is None or order <= claim["order"]:
        return Refusal("a larger order must be given: order=")
    return {"order": order}


def family_to_probabilistic(claim: Claim, goal: Goal) -> Changes:
    """Return what `to_probabilistic` gives where every pair counts in both orders."""
    relation, family = claim.context["relation"], claim.context["family"]
    if isinstance(family, Family):
        pairs = {(int(i), int(j)) for i, j in family.pairs}
        both = all((j, i) in pairs for i, j in pairs)
    else:
        both = not isinstance(relation, Relation) or relation.symmetric
    return to_probabilistic(claim, goal) if both else Refusal("pairs in both orders are needed")


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


def _known(divergence: object, check: Callable[[Divergence], bool]) -> bool:
    """Return whether a divergence, given by name or as an object, is known to pass a check of convexity."""
    if isinstance(divergence, Divergence):
        return check(divergence)
    name = divergence_name(divergence)
    return name in _CONVEX or name in NAMED or name.startswith(_QUASI if check is quasi_convex else _SUMS)


def lift_divergence(claim: Claim, _goal: Goal) -> Changes:
    """Return no changes for a jointly quasi-convex divergence."""
    if not _known(claim.context["divergence"], quasi_convex):
        return Refusal("a divergence that is known to be jointly quasi-convex is needed, such as KL")
    return {}


def lift_convex_divergence(claim: Claim, _goal: Goal) -> Changes:
    """Return the order 1 of the Wasserstein distance for a jointly convex divergence."""
    if not _known(claim.context["divergence"], jointly_convex):
        return Refusal("a divergence that is known to be jointly convex is needed, such as KL")
    return {"order": 1.0}
