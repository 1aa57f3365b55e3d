"""Implications between differential, Rényi, zero-concentrated and range-bounded privacy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from scipy.optimize import minimize_scalar

from ...intervals import Interval, above, exact
from ._edge import Edge, Goal, Refusal, Status, Tightness, pure, renamed, symmetric
from ._edges_divergence import _about, _chord
from .claims import Claim


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
        found = above(lambda: _chord(epsilon, "KL divergence"))
    else:
        found = above(value)
    return Claim("renyi-privacy", epsilon=found, order=order, **_about(claim))


def _orders(claim: Claim, goal: Goal) -> Claim | Refusal:
    order = goal.number("order")
    if order is None or order >= claim["order"]:
        return Refusal("a smaller order must be given: order=")
    return Claim("renyi-privacy", epsilon=claim["epsilon"], order=order, **_about(claim))


def _from_top_order(claim: Claim, _goal: Goal) -> Claim | Refusal:
    if not math.isinf(claim["order"]):
        return Refusal("the order inf is needed")
    return Claim("differential-privacy", epsilon=claim["epsilon"], **_about(claim))


def _renyi_to_kl(claim: Claim, _goal: Goal) -> Claim:
    return Claim("kl-privacy", epsilon=claim["epsilon"], **_about(claim))


def _tail(a: Interval, loss: Interval, delta: Interval) -> Interval:
    """Return the epsilon of (epsilon, delta) that a Rényi divergence ``loss`` of order ``a`` gives."""
    return loss + ((a - 1) / a).log() - (delta.log() + a.log()) / (a - 1)


def _spent(a: Interval, loss: Interval, epsilon: Interval) -> Interval:
    """Return the delta at epsilon that a Rényi divergence ``loss`` of order ``a`` gives."""
    return ((a - 1) * (loss - epsilon) - (a - 1).log() + a * (1 - 1 / a).log()).exp()


def _renyi_to_dp(claim: Claim, goal: Goal) -> Claim | Refusal:
    order = claim["order"]
    if order == 1 or math.isinf(order):
        return Refusal("an order above 1 and below inf is needed")
    return _from_orders(claim, goal, lambda _a: exact(claim["epsilon"]), order)


def _concentrated_to_dp(claim: Claim, goal: Goal) -> Claim | Refusal:
    rho = claim["rho"]
    if rho == 0:
        return Claim("differential-privacy", epsilon=0.0, **_about(claim))
    delta, epsilon = goal.number("delta"), goal.number("epsilon")

    def badness(log_excess: float) -> float:
        a = 1 + math.exp(log_excess)
        if epsilon is not None:
            return (a - 1) * (a * rho - epsilon) - math.log(a - 1) + a * math.log1p(-1 / a)
        spent = math.log(delta) if delta else 0.0
        return a * rho + math.log1p(-1 / a) - (spent + math.log(a)) / (a - 1)

    best = minimize_scalar(badness, bounds=(-12.0, 25.0), method="bounded")
    order = 1 + math.exp(float(best.x))
    return _from_orders(claim, goal, lambda a: a * exact(rho), order)


def _from_orders(claim: Claim, goal: Goal, loss: Callable[[Interval], Interval], order: float) -> Claim | Refusal:
    delta, epsilon = goal.number("delta"), goal.number("epsilon")
    a = exact(order)
    if epsilon is not None:
        found = above(lambda: _spent(a, loss(a), exact(epsilon)))
        return Claim("differential-privacy", epsilon=epsilon, delta=min(found, 1.0), **_about(claim))
    if delta is None or delta == 0:
        return Refusal("a delta above 0 or an epsilon must be given: delta= or epsilon=")
    found = above(lambda: _tail(a, loss(a), exact(delta)))
    return Claim("differential-privacy", epsilon=max(found, 0.0), delta=delta, **_about(claim))


def _concentrated_to_renyi(claim: Claim, goal: Goal) -> Claim | Refusal:
    order = goal.number("order")
    if order is None or math.isinf(order):
        return Refusal("a finite order must be given: order=")
    value = above(lambda: exact(claim["rho"]) * exact(order))
    return Claim("renyi-privacy", epsilon=value, order=order, **_about(claim))


def _dp_to_concentrated(claim: Claim, _goal: Goal) -> Claim:
    rho = above(lambda: _chord(exact(claim["epsilon"]), "KL divergence"))
    return Claim("concentrated-privacy", rho=rho, **_about(claim))


def _range_to_concentrated(claim: Claim, _goal: Goal) -> Claim:
    return Claim("concentrated-privacy", rho=above(lambda: exact(claim["eta"]) ** 2 / 8), **_about(claim))


def _dp_to_range(claim: Claim, _goal: Goal) -> Claim:
    return Claim("bounded-range", eta=above(lambda: 2 * exact(claim["epsilon"])), **_about(claim))


EDGES: Final = (
    Edge(
        "dp-to-renyi",
        "differential-privacy",
        "renyi-privacy",
        "ln((e^(a epsilon) + e^((1 - a) epsilon)) / (1 + e^epsilon)) / (a - 1) for the order a",
        "delta = 0 and the relation is symmetric",
        Tightness.TIGHT,
        "randomised response",
        "Mironov 2017 (randomised response)",
        Status.PUBLISHED,
        symmetric(pure(_to_renyi)),
    ),
    Edge(
        "renyi-orders",
        "renyi-privacy",
        "renyi-privacy",
        "epsilon stays for smaller orders",
        "",
        Tightness.TIGHT,
        "a report that either secret produces alone with the same probability",
        "van Erven and Harremoës 2014, Theorem 3",
        Status.PUBLISHED,
        _orders,
    ),
    Edge(
        "renyi-inf-to-dp",
        "renyi-privacy",
        "differential-privacy",
        "the divergence of order inf is the epsilon",
        "the order is inf",
        Tightness.TIGHT,
        "every mechanism",
        "by the definitions",
        Status.DEFINITION,
        _from_top_order,
    ),
    Edge(
        "renyi-to-kl",
        "renyi-privacy",
        "kl-privacy",
        "epsilon stays, since the KL divergence is that of order 1",
        "",
        Tightness.TIGHT,
        "every mechanism at order 1",
        "van Erven and Harremoës 2014, Theorems 3 and 5",
        Status.PUBLISHED,
        _renyi_to_kl,
    ),
    Edge(
        "renyi-to-dp",
        "renyi-privacy",
        "differential-privacy",
        "epsilon + ln(1 - 1/a) - (ln delta + ln a) / (a - 1) for the order a, at any delta above 0",
        "",
        Tightness.OPEN,
        "within ln 2 / (a - 1) or so of numerical optima",
        "Canonne, Kamath and Steinke 2020, Proposition 12",
        Status.PUBLISHED,
        _renyi_to_dp,
    ),
    Edge(
        "dp-to-zcdp",
        "differential-privacy",
        "concentrated-privacy",
        "rho = epsilon tanh(epsilon / 2) <= epsilon^2 / 2",
        "delta = 0 and the relation is symmetric",
        Tightness.TIGHT,
        "randomised response, as the order falls to 1",
        "sharpens Bun and Steinke 2016, Proposition 1.4",
        Status.PROVED,
        symmetric(pure(_dp_to_concentrated)),
    ),
    Edge(
        "zcdp-to-renyi",
        "concentrated-privacy",
        "renyi-privacy",
        "epsilon = a rho for the order a",
        "",
        Tightness.TIGHT,
        "normal noise",
        "by the definitions",
        Status.DEFINITION,
        _concentrated_to_renyi,
    ),
    Edge(
        "zcdp-to-kl",
        "concentrated-privacy",
        "kl-privacy",
        "epsilon = rho, as the order falls to 1",
        "",
        Tightness.TIGHT,
        "normal noise",
        "Bun and Steinke 2016",
        Status.PUBLISHED,
        renamed("kl-privacy", numbers={"rho": "epsilon"}, keep=("relation",)),
    ),
    Edge(
        "zcdp-to-dp",
        "concentrated-privacy",
        "differential-privacy",
        "the least over orders of what Rényi privacy gives, at most rho + 2 sqrt(rho ln(1 / delta))",
        "",
        Tightness.OPEN,
        "for normal noise the curve of Gaussian privacy is smaller",
        "Bun and Steinke 2016, Proposition 1.3; Canonne, Kamath and Steinke 2020",
        Status.PUBLISHED,
        _concentrated_to_dp,
    ),
    Edge(
        "range-to-dp",
        "bounded-range",
        "differential-privacy",
        "epsilon = eta",
        "",
        Tightness.TIGHT,
        "approached by two reports with ratios near e^eta and near 1",
        "Durfee and Rogers 2019",
        Status.PUBLISHED,
        renamed("differential-privacy", numbers={"eta": "epsilon"}, keep=("relation",)),
    ),
    Edge(
        "dp-to-range",
        "differential-privacy",
        "bounded-range",
        "eta = 2 epsilon",
        "delta = 0 and the relation is symmetric",
        Tightness.TIGHT,
        "randomised response",
        "Durfee and Rogers 2019",
        Status.PUBLISHED,
        symmetric(pure(_dp_to_range)),
    ),
    Edge(
        "range-to-zcdp",
        "bounded-range",
        "concentrated-privacy",
        "rho = eta^2 / 8",
        "",
        Tightness.OPEN,
        "the factor 1/8 is right for small eta",
        "Cesar and Rogers 2021",
        Status.PUBLISHED,
        _range_to_concentrated,
    ),
)
