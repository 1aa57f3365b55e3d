"""Maps of implications about pairs of secrets: steps, metrics, couplings, divergences and trade-off curves."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Final

import numpy as np
from scipy.optimize import minimize_scalar

from ...core import Metric
from ...core.arrays import Floats
from ...divergences import F_DIVERGENCES, Divergence
from ...intervals import Interval, exact, least_float, normal, upper_end
from ...rounding import mass_error
from ..curves.curve import GaussianTradeOff, LaplaceTradeOff
from ..curves.trade_off import TradeOff
from ..distributions.distribution_divergence import jointly_convex, quasi_convex
from ..distributions.family import Family
from ..relation import Relation, largest_over, largest_ratio, reach
from ..vocabulary import VOCABULARY
from .claims import Changes, Check, Claim, Goal, Map, Refusal, covers, divergence_name, needing, symmetric

_CONVEX: Final = frozenset({*F_DIVERGENCES, *(divergence.name for divergence in F_DIVERGENCES.values())})
_SUMS: Final = ("hockey-stick divergence",)  # beginnings of names with an order or an epsilon
_QUASI: Final = (*_SUMS, "Rényi divergence", "max divergence")
_NAMES = "KL, reverse KL, total variation, chi-square or squared Hellinger is needed"
_TIE: Final = 2.0**-44
"""More than the relative difference of logarithms at which `TradeOff` merges ratios."""


def _some_pairs(relation: object) -> Relation | None:
    """Return a relation of a context; None for all pairs."""
    return relation if isinstance(relation, Relation) else None


def groups(claim: Claim, goal: Goal) -> Changes:
    """Return epsilon and delta over as many steps as the goal's pairs are apart."""
    relation, target = claim.context["relation"], goal.context("relation")
    if covers("relation", relation, target):
        return Refusal("the relation is covered already")
    if not isinstance(relation, Relation) or ("relation" in VOCABULARY[goal.notion].context and target is None):
        return Refusal("a relation is needed that the claim's does not cover: pass relation=")
    steps = largest_over(relation.hops, _some_pairs(target))
    if steps == float("inf"):
        return Refusal(f"no steps between {relation.name} lead to every pair that is to be protected")
    epsilon, delta, k = claim["epsilon"], claim["delta"], int(steps)

    def total() -> object:
        return sum((exact(delta) * (i * exact(epsilon)).exp() for i in range(k)), exact(0.0))

    upper = upper_end(total) if delta > 0 else 0.0
    if upper >= 1:
        return Refusal(f"delta would grow to {upper:g} over {k} steps, which guarantees nothing")
    return {"epsilon": upper_end(lambda: k * exact(epsilon)), "delta": upper, "relation": target}


def weaker(claim: Claim, goal: Goal) -> Changes:
    """Return the least delta at a smaller epsilon, or the least epsilon at a larger delta."""
    epsilon, delta = exact(claim["epsilon"]), exact(claim["delta"])
    goal_epsilon, goal_delta = goal.number("epsilon"), goal.number("delta")
    if goal_epsilon is not None and goal_epsilon < claim["epsilon"]:
        lower = exact(goal_epsilon)
        rest = upper_end(lambda: 1 - (1 - delta) * (1 + lower.exp()) / (1 + epsilon.exp()))
        return {"epsilon": goal_epsilon, "delta": min(max(rest, 0.0), 1.0)}
    if goal_epsilon is None and goal_delta is not None and goal_delta > claim["delta"]:
        factor = upper_end(lambda: (1 + epsilon.exp()) * (1 - exact(goal_delta)) / (1 - delta) - 1)
        return {"epsilon": upper_end(exact(factor).log) if factor > 1 else 0.0, "delta": goal_delta}
    return Refusal("a smaller epsilon or a larger delta must be given: epsilon= or delta=")


def to_probabilistic(claim: Claim, goal: Goal) -> Changes:
    """Return what (epsilon, delta) implies for single reports, of secrets or distributions."""
    epsilon, delta = claim["epsilon"], claim["delta"]
    if delta == 0:
        return {}
    goal_epsilon, goal_delta = goal.number("epsilon"), goal.number("delta")
    if goal_epsilon is None and goal_delta is not None:
        if goal_delta <= delta:
            return Refusal(f"a delta above {delta:g} is needed")
        first, last = exact(delta), exact(goal_delta)
        value = upper_end(lambda: ((first + last * exact(epsilon).exp()) / (last - first)).log())
        return {"epsilon": value, "delta": goal_delta}
    wider = upper_end(lambda: 2 * exact(epsilon)) if goal_epsilon is None else goal_epsilon
    if not wider > epsilon:
        return Refusal(f"an epsilon above {epsilon:g} is needed")
    rest = upper_end(
        lambda: exact(delta) * (1 + (-exact(wider)).exp()) / (1 - (exact(epsilon) - exact(wider)).exp())
    )
    return {"epsilon": wider, "delta": min(rest, 1.0)}


def _per_unit(claim: Claim, lengths: Floats, metric: Metric) -> Changes:
    if lengths.shape != metric.array.shape:
        return Refusal("the metric must be on the same secrets")
    ratio = largest_ratio(lengths, metric.array)
    if ratio == float("inf"):
        return Refusal("some pair at a finite distance must be protected, but no steps of the claim lead there")
    return {
        "epsilon": upper_end(lambda: exact(claim["epsilon"]) * exact(ratio)),
        "metric": metric,
        "relation": None,
    }


def hops_to_metric(claim: Claim, goal: Goal) -> Changes:
    """Return epsilon times the most steps per unit of the goal's metric."""
    relation, metric = claim.context["relation"], goal.context("metric")
    if not isinstance(metric, Metric):
        return Refusal("the metric must be given: metric=")
    lengths = relation.hops if isinstance(relation, Relation) else np.ones_like(metric.array)
    return _per_unit(claim, lengths, metric)


def other_metric(claim: Claim, goal: Goal) -> Changes:
    """Return epsilon times the largest length of a shortest way per unit of the goal's metric."""
    metric, claim_metric, relation = goal.context("metric"), claim.context["metric"], claim.context["relation"]
    if not isinstance(metric, Metric) or not isinstance(claim_metric, Metric):
        return Refusal("another metric must be given: metric=")
    among = _some_pairs(relation)
    if among is None and covers("metric", claim_metric, metric):
        return Refusal("another metric must be given: metric=")
    if claim["delta"] > 0 and among is not None:
        return Refusal("delta = 0 is needed where the claim is about some pairs only")
    return _per_unit(claim, reach(claim_metric, among) if claim["delta"] == 0 else claim_metric.array, metric)


def metric_to_pairs(claim: Claim, goal: Goal) -> Changes:
    """Return epsilon times the largest distance of the goal's pairs."""
    metric, relation, target = claim.context["metric"], claim.context.get("relation"), goal.context("relation")
    if not isinstance(metric, Metric):
        return Refusal("a metric is needed")
    among = _some_pairs(relation)
    if claim["delta"] > 0 and not covers("relation", relation, target):
        return Refusal("delta = 0 is needed where the claim is about some pairs only")
    if isinstance(target, Relation) and target.size != len(metric):
        return Refusal(f"the relation must be on the metric's {len(metric)} secrets")
    lengths = reach(metric, among) if claim["delta"] == 0 else metric.array
    longest = largest_over(lengths, _some_pairs(target))
    if math.isinf(longest):
        return Refusal("some pair is at infinite distance and has no protection: pass relation= with finite ones")
    return {"epsilon": upper_end(lambda: exact(claim["epsilon"]) * exact(longest)), "relation": target}


def to_lifting(claim: Claim, goal: Goal) -> Changes:
    """Return the claim about the lifted relation, or about the goal's family where couplings join its pairs."""
    relation, family = claim.context["relation"], goal.context("family")
    if not isinstance(family, Family):
        return {}
    about = {"family": family, "relation": None}
    if covers("relation", relation, None):
        return about
    if family.lifted_from is None or not covers("relation", relation, family.lifted_from):
        return Refusal("a family is needed whose pairs couplings within the relation join: Family.lift")
    outside = float(family.outside.max(initial=0.0))
    delta = upper_end(lambda: exact(claim["delta"]) + exact(outside)) if outside else claim["delta"]
    return {"delta": min(delta, 1.0), **about}


def _other_order(direction: str, moves: Callable[[float, float], bool]) -> Map:
    """Return the map to the goal's order, where it is smaller or larger."""

    def apply(claim: Claim, goal: Goal) -> Changes:
        order = goal.number("order")
        if order is None or not moves(order, claim["order"]):
            return Refusal(f"a {direction} order must be given: order=")
        return {"order": order}

    return apply


larger_order: Final = _other_order("larger", operator.gt)
smaller_order: Final = _other_order("smaller", operator.lt)


def family_to_probabilistic(claim: Claim, goal: Goal) -> Changes:
    """Return what `to_probabilistic` gives where every pair counts in both orders."""
    family = claim.context["family"]
    if isinstance(family, Family):
        pairs = set(map(tuple, family.pairs.tolist()))
        missing = not all((j, i) in pairs for i, j in pairs)
    else:
        missing = bool(symmetric(claim))
    return Refusal("pairs in both orders are needed") if missing else to_probabilistic(claim, goal)


def _divergence_needed(convexity: str, check: Callable[[Divergence], bool], names: tuple[str, ...]) -> Check:
    """Return the check of the convexity of a divergence, which is given by name or as an object."""

    def holds(claim: Claim) -> bool:
        divergence = claim.context["divergence"]
        if isinstance(divergence, Divergence):
            return check(divergence)
        name = divergence_name(divergence)
        return name in _CONVEX or name.startswith(names)

    return needing(f"a divergence that is known to be {convexity} is needed, such as KL", holds)


quasi_convex_needed: Final = _divergence_needed("jointly quasi-convex", quasi_convex, _QUASI)
convex_needed: Final = _divergence_needed("jointly convex", jointly_convex, _SUMS)


def _chord(epsilon: Interval, f: str) -> Interval:
    """Return the largest divergence of two distributions whose ratios lie within e^(+-epsilon).

    It is the mean of the generator at the two ends, (f(e^epsilon) + e^epsilon f(e^-epsilon)) / (1 + e^epsilon).
    """
    half = epsilon / 2
    forms = {
        "KL divergence": lambda: epsilon * half.tanh(),
        "reverse KL divergence": lambda: epsilon * half.tanh(),
        "total variation": lambda: half.tanh(),
        "chi-square divergence": lambda: 4 * half.sinh() ** 2,
        "squared Hellinger distance": lambda: 1 - 1 / half.cosh(),
    }
    return forms[f]()


def largest_kl(claim: Claim) -> float:
    """Return epsilon tanh(epsilon / 2), which KL privacy and zero-concentrated privacy share."""
    return upper_end(lambda: _chord(exact(claim["epsilon"]), "KL divergence"))


def to_divergence(claim: Claim, goal: Goal) -> Changes:
    """Return the largest value of the goal's divergence."""
    divergence = goal.context("divergence")
    if divergence is None:
        return Refusal("the divergence must be given: divergence=")
    try:
        value = upper_end(lambda: _chord(exact(claim["epsilon"]), divergence_name(divergence)))
    except KeyError:
        return Refusal(_NAMES)
    return {"epsilon": value, "divergence": divergence}


def to_variation(claim: Claim, _goal: Goal) -> Changes:
    """Return the delta at epsilon 0, a bound of the total variation."""
    value, delta = claim["epsilon"], 1.0
    x = exact(value)
    match divergence_name(claim.context.get("divergence", "KL divergence")):
        case "KL divergence" | "reverse KL divergence":
            delta = min(upper_end(lambda: (x / 2).sqrt()), upper_end(lambda: (1 - (-x).exp()).sqrt()))
        case "total variation":
            delta = value
        case "chi-square divergence":
            delta = upper_end(lambda: x.sqrt() / 2 if x <= 1 else x / (1 + x))
        case "squared Hellinger distance":
            delta = upper_end(lambda: (x * (2 - x)).sqrt()) if value <= 1 else 1.0
        case _:
            return Refusal(_NAMES)
    return {"epsilon": 0.0, "delta": min(delta, 1.0)}


def as_divergence(name: str, value: str) -> Map:
    """Return the map from a number of a claim to a divergence, if the goal is about it."""

    def apply(claim: Claim, goal: Goal) -> Changes:
        divergence = goal.context("divergence")
        if divergence is None or divergence_name(divergence) != name:
            return Refusal(f"the {name} is needed: divergence={name!r}")
        return {"epsilon": claim[value], "divergence": divergence}

    return apply


def to_renyi(claim: Claim, goal: Goal) -> Changes:
    """Return the largest Rényi divergence of the goal's order."""
    order = goal.number("order")
    if order is None:
        return Refusal("the order must be given: order=")
    epsilon = exact(claim["epsilon"])

    def value() -> Interval:
        a = exact(order)
        ends = (a * epsilon).exp() + ((1 - a) * epsilon).exp()
        return (ends / (1 + epsilon.exp())).log() / (a - 1)

    if math.isinf(order):
        return {"order": order}
    return {"epsilon": largest_kl(claim) if order == 1 else upper_end(value), "order": order}


def _from_orders(goal: Goal, loss: Callable[[Interval], Interval], order: float) -> Changes:
    """Return the epsilon and delta that a Rényi divergence ``loss`` of an order gives, of which one is wanted."""
    delta, epsilon = goal.number("delta"), goal.number("epsilon")
    a = exact(order)
    if epsilon is not None:
        upper = upper_end(
            lambda: ((a - 1) * (loss(a) - exact(epsilon)) - (a - 1).log() + a * (1 - 1 / a).log()).exp()
        )
        return {"epsilon": epsilon, "delta": min(upper, 1.0)}
    if delta is None or delta == 0:
        return Refusal("a delta above 0 or an epsilon must be given: delta= or epsilon=")
    tail = upper_end(lambda: loss(a) + ((a - 1) / a).log() - (exact(delta).log() + a.log()) / (a - 1))
    return {"epsilon": max(tail, 0.0), "delta": delta}


def renyi_to_dp(claim: Claim, goal: Goal) -> Changes:
    """Return epsilon at the goal's delta, or delta at its epsilon."""
    order = claim["order"]
    if order == 1 or math.isinf(order):
        return Refusal("an order above 1 and below inf is needed")
    return _from_orders(goal, lambda _a: exact(claim["epsilon"]), order)


def concentrated_to_renyi(claim: Claim, goal: Goal) -> Changes:
    """Return rho times the goal's order."""
    order = goal.number("order")
    if order is None or math.isinf(order):
        return Refusal("a finite order must be given: order=")
    return {"epsilon": upper_end(lambda: exact(claim["rho"]) * exact(order)), "order": order}


def concentrated_to_dp(claim: Claim, goal: Goal) -> Changes:
    """Return the least epsilon at the goal's delta, or delta at its epsilon, over the orders."""
    rho = claim["rho"]
    if rho == 0:
        return {"epsilon": 0.0}
    delta, epsilon = goal.number("delta"), goal.number("epsilon")
    unit = math.ldexp(1.0, max(0, math.frexp(rho)[1] - 1))  # a power of two: exact, and nothing overflows
    scaled = rho / unit

    def badness(log_excess: float) -> float:
        a = 1 + math.exp(log_excess)
        if epsilon is not None:
            return (a - 1) * (a * scaled - epsilon / unit) + (a * math.log1p(-1 / a) - math.log(a - 1)) / unit
        log_delta = math.log(delta) if delta else 0.0
        return a * scaled + (math.log1p(-1 / a) - (log_delta + math.log(a)) / (a - 1)) / unit

    best = minimize_scalar(badness, bounds=(-12.0, 25.0), method="bounded")
    order = 1 + math.exp(float(best.x))
    return _from_orders(goal, lambda a: a * exact(rho), order)


def to_curve(claim: Claim, _goal: Goal) -> Changes:
    """Return the curve of (epsilon, delta)."""
    # A slightly larger epsilon covers the rounding of the curve, and is not merged with 0.
    epsilon = claim["epsilon"] and claim["epsilon"] * (1 + _TIE) + _TIE
    return {"curve": TradeOff.of_epsilon(epsilon, claim["delta"])}


def _of_laplace(shift: float, epsilon: float | None, delta: float) -> Changes:
    """Return the epsilon and the delta of Laplace noise, one of which is given."""
    x = exact(shift)
    if epsilon is None:
        value = (
            upper_end(lambda: x + 2 * (1 - exact(min(delta, 1.0))).log()) if 0 < delta < 1 else shift * (delta < 1)
        )
        return {"epsilon": max(0.0, value), "delta": min(delta, 1.0)}
    upper = 0.0 if epsilon >= shift else upper_end(lambda: 1 - ((exact(epsilon) - x) / 2).exp())
    return {"epsilon": epsilon, "delta": min(max(upper, 0.0), 1.0)}


def curve_to_dp(claim: Claim, goal: Goal) -> Changes:
    """Return delta at the goal's epsilon, or epsilon at its delta, with the rounding of the curve added."""
    curve, epsilon, delta = claim.context["curve"], goal.number("epsilon"), goal.number("delta")
    if epsilon is None and delta is None:
        epsilon = 0.0
    if isinstance(curve, LaplaceTradeOff) and math.isfinite(curve.epsilon):
        return _of_laplace(curve.epsilon, epsilon, delta or 0.0)
    if not isinstance(curve, TradeOff):
        return Refusal("a TradeOff is needed: TradeOff.minorant of its points; a normal curve is Gaussian privacy")
    # In both orders, since a relation may count a pair in one.
    profiles = (curve.profile, curve.inverse.profile)
    support = (curve.null > 0) & (curve.alternative > 0)
    logs = np.abs(np.log(curve.null[support]) - np.log(curve.alternative[support]))
    slack = _TIE * max(1.0, float(logs.max(initial=0.0)))  # of the logarithms of ratios that the curve merged
    if epsilon is None:
        limit = max(0.0, float(delta or 0.0))
        value = max(0.0, *(float(profile.epsilon(max(0.0, limit * (1 - 2.0**-40)))) for profile in profiles))
        if math.isinf(value):
            return Refusal(f"the curve gives no epsilon at delta {limit:g}: pass a larger delta or an epsilon")
        return {"epsilon": value * (1 + 2.0**-40) + slack, "delta": limit}
    upper = max(float(profile.delta(max(0.0, epsilon - slack))) for profile in profiles)
    upper += (mass_error(upper, len(curve.null)) if upper else 0.0) + (2 * slack if epsilon < slack else 0.0)
    return {"epsilon": epsilon, "delta": min(upper, 1.0)}


def curve_to_gaussian(claim: Claim, _goal: Goal) -> Changes:
    """Return the mu of a normal curve."""
    curve = claim.context["curve"]
    if not isinstance(curve, GaussianTradeOff):
        return Refusal("a GaussianTradeOff is needed; for other curves convert to differential privacy first")
    return {"mu": curve.mu}


def dp_to_gaussian(claim: Claim, _goal: Goal) -> Changes:
    """Return the mu at which both errors are those of randomised response."""
    epsilon = claim["epsilon"]
    if epsilon == 0:
        return {"mu": 0.0}
    guess = GaussianTradeOff.of_epsilon(epsilon).mu
    # Phi(-mu / 2) is the least error of both kinds, 1 / (1 + e^epsilon) for randomised response.
    mu = least_float(guess, lambda mu: normal(-mu / 2) <= 1 / (1 + exact(epsilon).exp()))
    if math.isinf(mu):
        return Refusal(f"no mu could be proved for epsilon {epsilon:g}; it is too large")
    return {"mu": mu}


def _delta(epsilon: Interval, mu: Interval) -> Interval:
    return normal(mu / 2 - epsilon / mu) - epsilon.exp() * normal(-mu / 2 - epsilon / mu)


def gaussian_to_dp(claim: Claim, goal: Goal) -> Changes:
    """Return delta at the goal's epsilon, or epsilon at its delta."""
    mu, epsilon, delta = claim["mu"], goal.number("epsilon"), goal.number("delta")
    if mu == 0:
        return {"epsilon": 0.0}
    if epsilon is None and delta is None:
        epsilon = 0.0
    if epsilon is not None:
        upper = upper_end(lambda: _delta(exact(epsilon), exact(mu)))
        return {"epsilon": epsilon, "delta": min(max(upper, 0.0), 1.0)}
    if delta is None or delta == 0:
        return Refusal("an epsilon or a delta above 0 must be given: epsilon= or delta=")
    guess = GaussianTradeOff(mu).epsilon(min(delta, 1.0))
    value = guess if guess == 0 else least_float(guess, lambda e: _delta(e, exact(mu)) <= exact(delta))
    if guess == 0 and not upper_end(lambda: _delta(exact(0.0), exact(mu))) <= delta:
        value = least_float(2.0**-40, lambda e: _delta(e, exact(mu)) <= exact(delta))
    if math.isinf(value):
        return Refusal(f"no epsilon could be proved at delta {delta:g}")
    return {"epsilon": value, "delta": delta}
