"""Implications between differential, Rényi, zero-concentrated and range-bounded privacy."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import minimize_scalar

from ....intervals import Interval, above, exact
from ..claims import Claim
from ..edge import Basis, Goal, Refusal, Tightness, edge, pure, renamed, same_pairs, symmetric
from .divergences import chord


@edge(
    "dp-to-renyi",
    start="differential-privacy",
    end="renyi-privacy",
    rule="ln((e^(a epsilon) + e^((1 - a) epsilon)) / (1 + e^epsilon)) / (a - 1) for the order a",
    needs="delta = 0 and the relation is symmetric",
    tightness=Tightness.TIGHT,
    witness="randomised response",
    source="Mironov 2017 (randomised response)",
    basis=Basis.PUBLISHED,
)
@symmetric
@pure
def _to_renyi(claim: Claim, goal: Goal) -> Claim | Refusal:
    order = goal.number("order")
    if order is None:
        return Refusal("the order must be given: order=")
    epsilon = exact(claim["epsilon"])

    def value() -> Interval:
        a = exact(order)
        ends = (a * epsilon).exp() + ((1 - a) * epsilon).exp()
        return (ends / (1 + epsilon.exp())).log() / (a - 1)

    if math.isinf(order):
        found = claim["epsilon"]
    elif order == 1:
        found = above(lambda: chord(epsilon, "KL divergence"))
    else:
        found = above(value)
    return Claim("renyi-privacy", epsilon=found, order=order, **same_pairs(claim))


@edge(
    "renyi-orders",
    start="renyi-privacy",
    end="renyi-privacy",
    rule="epsilon stays for smaller orders",
    tightness=Tightness.TIGHT,
    witness="a report that either secret produces alone with the same probability",
    source="van Erven and Harremoës 2014, Theorem 3",
    basis=Basis.PUBLISHED,
)
def _orders(claim: Claim, goal: Goal) -> Claim | Refusal:
    order = goal.number("order")
    if order is None or order >= claim["order"]:
        return Refusal("a smaller order must be given: order=")
    return Claim("renyi-privacy", epsilon=claim["epsilon"], order=order, **same_pairs(claim))


@edge(
    "renyi-inf-to-dp",
    start="renyi-privacy",
    end="differential-privacy",
    rule="the divergence of order inf is the epsilon",
    needs="the order is inf",
    tightness=Tightness.TIGHT,
    witness="every mechanism",
    source="by the definitions",
    basis=Basis.DEFINITION,
)
def _from_top_order(claim: Claim, _goal: Goal) -> Claim | Refusal:
    if not math.isinf(claim["order"]):
        return Refusal("the order inf is needed")
    return Claim("differential-privacy", epsilon=claim["epsilon"], **same_pairs(claim))


@edge(
    "renyi-to-kl",
    start="renyi-privacy",
    end="kl-privacy",
    rule="epsilon stays, since the KL divergence is that of order 1",
    tightness=Tightness.TIGHT,
    witness="every mechanism at order 1",
    source="van Erven and Harremoës 2014, Theorems 3 and 5",
    basis=Basis.PUBLISHED,
)
def _renyi_to_kl(claim: Claim, _goal: Goal) -> Claim:
    return Claim("kl-privacy", epsilon=claim["epsilon"], **same_pairs(claim))


def _tail(a: Interval, loss: Interval, delta: Interval) -> Interval:
    """Return the epsilon of (epsilon, delta) that a Rényi divergence ``loss`` of order ``a`` gives."""
    return loss + ((a - 1) / a).log() - (delta.log() + a.log()) / (a - 1)


def _spent(a: Interval, loss: Interval, epsilon: Interval) -> Interval:
    """Return the delta at epsilon that a Rényi divergence ``loss`` of order ``a`` gives."""
    return ((a - 1) * (loss - epsilon) - (a - 1).log() + a * (1 - 1 / a).log()).exp()


def _from_orders(claim: Claim, goal: Goal, loss: Callable[[Interval], Interval], order: float) -> Claim | Refusal:
    delta, epsilon = goal.number("delta"), goal.number("epsilon")
    a = exact(order)
    if epsilon is not None:
        found = above(lambda: _spent(a, loss(a), exact(epsilon)))
        return Claim("differential-privacy", epsilon=epsilon, delta=min(found, 1.0), **same_pairs(claim))
    if delta is None or delta == 0:
        return Refusal("a delta above 0 or an epsilon must be given: delta= or epsilon=")
    found = above(lambda: _tail(a, loss(a), exact(delta)))
    return Claim("differential-privacy", epsilon=max(found, 0.0), delta=delta, **same_pairs(claim))


@edge(
    "renyi-to-dp",
    start="renyi-privacy",
    end="differential-privacy",
    rule="epsilon + ln(1 - 1/a) - (ln delta + ln a) / (a - 1) for the order a, at any delta above 0",
    tightness=Tightness.OPEN,
    witness="within ln 2 / (a - 1) or so of numerical optima",
    source="Canonne, Kamath and Steinke 2020, Proposition 12",
    basis=Basis.PUBLISHED,
)
def _renyi_to_dp(claim: Claim, goal: Goal) -> Claim | Refusal:
    order = claim["order"]
    if order == 1 or math.isinf(order):
        return Refusal("an order above 1 and below inf is needed")
    return _from_orders(claim, goal, lambda _a: exact(claim["epsilon"]), order)


@edge(
    "dp-to-zcdp",
    start="differential-privacy",
    end="concentrated-privacy",
    rule="rho = epsilon tanh(epsilon / 2) <= epsilon^2 / 2",
    needs="delta = 0 and the relation is symmetric",
    tightness=Tightness.TIGHT,
    witness="randomised response, as the order falls to 1",
    source="sharpens Bun and Steinke 2016, Proposition 1.4",
    basis=Basis.PROVED,
)
@symmetric
@pure
def _dp_to_concentrated(claim: Claim, _goal: Goal) -> Claim:
    rho = above(lambda: chord(exact(claim["epsilon"]), "KL divergence"))
    return Claim("concentrated-privacy", rho=rho, **same_pairs(claim))


@edge(
    "zcdp-to-renyi",
    start="concentrated-privacy",
    end="renyi-privacy",
    rule="epsilon = a rho for the order a",
    tightness=Tightness.TIGHT,
    witness="normal noise",
    source="by the definitions",
    basis=Basis.DEFINITION,
)
def _concentrated_to_renyi(claim: Claim, goal: Goal) -> Claim | Refusal:
    order = goal.number("order")
    if order is None or math.isinf(order):
        return Refusal("a finite order must be given: order=")
    value = above(lambda: exact(claim["rho"]) * exact(order))
    return Claim("renyi-privacy", epsilon=value, order=order, **same_pairs(claim))


@edge(
    "zcdp-to-kl",
    start="concentrated-privacy",
    end="kl-privacy",
    rule="epsilon = rho, as the order falls to 1",
    tightness=Tightness.TIGHT,
    witness="normal noise",
    source="Bun and Steinke 2016",
    basis=Basis.PUBLISHED,
)
def _zcdp_to_kl(claim: Claim, _goal: Goal) -> Claim:
    return renamed(claim, "kl-privacy", numbers={"rho": "epsilon"}, keep=("relation",))


@edge(
    "zcdp-to-dp",
    start="concentrated-privacy",
    end="differential-privacy",
    rule=("the least over orders of what Rényi privacy gives, at most rho + 2 sqrt(rho ln(1 / delta))"),
    tightness=Tightness.OPEN,
    witness="for normal noise the curve of Gaussian privacy is smaller",
    source="Bun and Steinke 2016, Proposition 1.3; Canonne, Kamath and Steinke 2020",
    basis=Basis.PUBLISHED,
)
def _concentrated_to_dp(claim: Claim, goal: Goal) -> Claim | Refusal:
    rho = claim["rho"]
    if rho == 0:
        return Claim("differential-privacy", epsilon=0.0, **same_pairs(claim))
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
    return _from_orders(claim, goal, lambda a: a * exact(rho), order)


@edge(
    "range-to-dp",
    start="bounded-range",
    end="differential-privacy",
    rule="epsilon = eta",
    tightness=Tightness.TIGHT,
    witness="approached by two reports with ratios near e^eta and near 1",
    source="Durfee and Rogers 2019",
    basis=Basis.PUBLISHED,
)
def _range_to_dp(claim: Claim, _goal: Goal) -> Claim:
    return renamed(claim, "differential-privacy", numbers={"eta": "epsilon"}, keep=("relation",))


@edge(
    "dp-to-range",
    start="differential-privacy",
    end="bounded-range",
    rule="eta = 2 epsilon",
    needs="delta = 0 and the relation is symmetric",
    tightness=Tightness.TIGHT,
    witness="randomised response",
    source="Durfee and Rogers 2019",
    basis=Basis.PUBLISHED,
)
@symmetric
@pure
def _dp_to_range(claim: Claim, _goal: Goal) -> Claim:
    return Claim("bounded-range", eta=above(lambda: 2 * exact(claim["epsilon"])), **same_pairs(claim))


@edge(
    "range-to-zcdp",
    start="bounded-range",
    end="concentrated-privacy",
    rule="rho = eta^2 / 8",
    tightness=Tightness.OPEN,
    witness="the factor 1/8 is right for small eta",
    source="Cesar and Rogers 2021",
    basis=Basis.PUBLISHED,
)
def _range_to_concentrated(claim: Claim, _goal: Goal) -> Claim:
    return Claim("concentrated-privacy", rho=above(lambda: exact(claim["eta"]) ** 2 / 8), **same_pairs(claim))
