"""Numbers of implications about divergences: Rényi, zero-concentrated and range-bounded privacy among them."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import minimize_scalar

from ...intervals import Interval, above, exact
from .claims import Claim, divergence_name
from .edge import Changes, Goal, Refusal

_NAMES = "KL, reverse KL, total variation, chi-square or squared Hellinger is needed"


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
    return above(lambda: _chord(exact(claim["epsilon"]), "KL divergence"))


def to_divergence(claim: Claim, goal: Goal) -> Changes:
    """Return the largest value of the goal's divergence."""
    divergence = goal.context("divergence")
    if divergence is None:
        return Refusal("the divergence must be given: divergence=")
    try:
        value = above(lambda: _chord(exact(claim["epsilon"]), divergence_name(divergence)))
    except KeyError:
        return Refusal(_NAMES)
    return {"epsilon": value, "divergence": divergence}


def _variation_above(divergence: str, value: float) -> float | None:
    """Return an upper bound of the total variation from that of a divergence; None if none is known."""
    x = exact(value)
    match divergence:
        case "KL divergence" | "reverse KL divergence":
            return min(above(lambda: (x / 2).sqrt()), above(lambda: (1 - (-x).exp()).sqrt()))
        case "total variation":
            return value
        case "chi-square divergence":
            return above(lambda: x.sqrt() / 2 if x <= 1 else x / (1 + x))
        case "squared Hellinger distance":
            return above(lambda: (x * (2 - x)).sqrt()) if value <= 1 else 1.0
    return None


def to_variation(claim: Claim, _goal: Goal) -> Changes:
    """Return the delta at epsilon 0, a bound of the total variation."""
    name = divergence_name(claim.context.get("divergence", "KL divergence"))
    delta = _variation_above(name, claim["epsilon"])
    return Refusal(_NAMES) if delta is None else {"epsilon": 0.0, "delta": min(delta, 1.0)}


def as_variation(claim: Claim, goal: Goal) -> Changes:
    """Return the total variation, which is the delta at epsilon 0."""
    divergence = goal.context("divergence")
    if divergence is None or divergence_name(divergence) != "total variation":
        return Refusal("total variation is needed: divergence='total variation'")
    if claim["epsilon"] > 0:
        return Refusal("epsilon = 0 is needed")
    return {"epsilon": claim["delta"], "divergence": divergence}


def kl_as_divergence(_claim: Claim, goal: Goal) -> Changes:
    """Return the KL divergence where the goal is about it."""
    divergence = goal.context("divergence")
    if divergence is None or divergence_name(divergence) != "KL divergence":
        return Refusal("the KL divergence is needed: divergence='KL divergence'")
    return {"divergence": divergence}


def divergence_as_kl(claim: Claim, _goal: Goal) -> Changes:
    """Return no changes of a claim about the KL divergence."""
    return (
        {}
        if divergence_name(claim.context["divergence"]) == "KL divergence"
        else Refusal("the KL divergence is needed")
    )


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
    return {"epsilon": largest_kl(claim) if order == 1 else above(value), "order": order}


def smaller_order(claim: Claim, goal: Goal) -> Changes:
    """Return the goal's order of the Rényi divergence, where it is smaller."""
    order = goal.number("order")
    if order is None or order >= claim["order"]:
        return Refusal("a smaller order must be given: order=")
    return {"order": order}


def top_order(claim: Claim, _goal: Goal) -> Changes:
    """Return no changes of a claim about the order inf."""
    return {} if math.isinf(claim["order"]) else Refusal("the order inf is needed")


def _tail(a: Interval, loss: Interval, delta: Interval) -> Interval:
    """Return the epsilon of (epsilon, delta) that a Rényi divergence ``loss`` of order ``a`` gives."""
    return loss + ((a - 1) / a).log() - (delta.log() + a.log()) / (a - 1)


def _spent(a: Interval, loss: Interval, epsilon: Interval) -> Interval:
    """Return the delta at epsilon that a Rényi divergence ``loss`` of order ``a`` gives."""
    return ((a - 1) * (loss - epsilon) - (a - 1).log() + a * (1 - 1 / a).log()).exp()


def _from_orders(goal: Goal, loss: Callable[[Interval], Interval], order: float) -> Changes:
    delta, epsilon = goal.number("delta"), goal.number("epsilon")
    a = exact(order)
    if epsilon is not None:
        return {"epsilon": epsilon, "delta": min(above(lambda: _spent(a, loss(a), exact(epsilon))), 1.0)}
    if delta is None or delta == 0:
        return Refusal("a delta above 0 or an epsilon must be given: delta= or epsilon=")
    return {"epsilon": max(above(lambda: _tail(a, loss(a), exact(delta))), 0.0), "delta": delta}


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
    return {"epsilon": above(lambda: exact(claim["rho"]) * exact(order)), "order": order}


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
        spent = math.log(delta) if delta else 0.0
        return a * scaled + (math.log1p(-1 / a) - (spent + math.log(a)) / (a - 1)) / unit

    best = minimize_scalar(badness, bounds=(-12.0, 25.0), method="bounded")
    order = 1 + math.exp(float(best.x))
    return _from_orders(goal, lambda a: a * exact(rho), order)
