"""Implications of trade-off curves and of Gaussian privacy."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ....intervals import Interval, above, exact, least, normal
from ....rounding.errors import mass_error
from ...curves.gaussian import GaussianTradeOff
from ...curves.laplace import LaplaceTradeOff
from ...curves.trade_off import TradeOff
from ..claims import Claim
from ..edge import Basis, Goal, Refusal, Tightness, edge, pure, same_pairs, symmetric

_TIE: Final = 2.0**-44
"""More than what `TradeOff` takes for one ratio, as a difference of logarithms, relative to the largest one."""


@edge(
    "dp-to-curve",
    start="differential-privacy",
    end="trade-off",
    rule="the curve max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a))",
    needs="the relation is symmetric",
    tightness=Tightness.TIGHT,
    witness="randomised response that tells the truth outright with probability delta",
    source="Wasserman and Zhou 2010, Theorem 2.4; Dong, Roth and Su 2022, Proposition 2.5",
    basis=Basis.PUBLISHED,
)
@symmetric
def _to_curve(claim: Claim, _goal: Goal) -> Claim:
    # A slightly larger epsilon makes up for the rounding of the curve, and is not taken for 0.
    epsilon = claim["epsilon"] and claim["epsilon"] * (1 + _TIE) + _TIE
    return Claim("trade-off", curve=TradeOff.of_epsilon(epsilon, claim["delta"]), **same_pairs(claim))


def _merged(curve: TradeOff) -> float:
    """Return by how much the logarithms of ratios that the curve merged may differ."""
    kept = (curve.null > 0) & (curve.alternative > 0)
    logs = np.abs(np.log(curve.null[kept]) - np.log(curve.alternative[kept]))
    return _TIE * max(1.0, float(logs.max(initial=0.0)))


def _of_laplace(shift: float, epsilon: float | None, delta: float) -> dict[str, float]:
    """Return the epsilon and the delta of Laplace noise, one of which is given."""
    x = exact(shift)
    if epsilon is None:
        value = above(lambda: x + 2 * (1 - exact(min(delta, 1.0))).log()) if 0 < delta < 1 else shift * (delta < 1)
        return {"epsilon": max(0.0, value), "delta": min(delta, 1.0)}
    spent = 0.0 if epsilon >= shift else above(lambda: 1 - ((exact(epsilon) - x) / 2).exp())
    return {"epsilon": epsilon, "delta": min(max(spent, 0.0), 1.0)}


@edge(
    "curve-to-dp",
    start="trade-off",
    end="differential-privacy",
    rule=(
        "delta(epsilon) = max over a of 1 - f(a) - e^epsilon a, at epsilon 0 unless given, as floating point "
        "computes it with its rounding added; for Laplace noise shifted by x it is 1 - e^((epsilon - x) / 2), "
        "and 0 from x on"
    ),
    needs="the curve is that of a pair or of Laplace noise",
    tightness=Tightness.TIGHT,
    witness="the pair whose curve it is",
    source="Dong, Roth and Su 2022, Proposition 2.12",
    basis=Basis.PUBLISHED,
)
def _curve_to_dp(claim: Claim, goal: Goal) -> Claim | Refusal:
    curve, epsilon, delta = claim.context["curve"], goal.number("epsilon"), goal.number("delta")
    if epsilon is None and delta is None:
        epsilon = 0.0
    if isinstance(curve, LaplaceTradeOff) and math.isfinite(curve.epsilon):
        return Claim(
            "differential-privacy", **_of_laplace(curve.epsilon, epsilon, delta or 0.0), **same_pairs(claim)
        )
    if not isinstance(curve, TradeOff):
        return Refusal("a TradeOff is needed: TradeOff.below of points of it; a normal curve is Gaussian privacy")
    # In both orders, since a relation may count a pair in one.
    profiles = (curve.profile, curve.inverse.profile)
    slack = _merged(curve)
    if epsilon is None:
        wanted = max(0.0, float(delta or 0.0))
        found = max(0.0, *(float(profile.epsilon(max(0.0, wanted * (1 - 2.0**-40)))) for profile in profiles))
        if math.isinf(found):
            return Refusal(f"the curve gives no epsilon at delta {wanted:g}: pass a larger delta or an epsilon")
        return Claim(
            "differential-privacy", epsilon=found * (1 + 2.0**-40) + slack, delta=wanted, **same_pairs(claim)
        )
    spent = max(float(profile.delta(max(0.0, epsilon - slack))) for profile in profiles)
    spent += (mass_error(spent, len(curve.null)) if spent else 0.0) + (2 * slack if epsilon < slack else 0.0)
    return Claim("differential-privacy", epsilon=epsilon, delta=min(spent, 1.0), **same_pairs(claim))


@edge(
    "curve-to-gaussian",
    start="trade-off",
    end="gaussian",
    rule="a normal curve is Gaussian privacy",
    needs="the curve is normal",
    tightness=Tightness.TIGHT,
    witness="normal noise",
    source="Dong, Roth and Su 2022, Definition 2.6",
    basis=Basis.DEFINITION,
)
def _curve_to_gaussian(claim: Claim, _goal: Goal) -> Claim | Refusal:
    curve = claim.context["curve"]
    if not isinstance(curve, GaussianTradeOff):
        return Refusal("a GaussianTradeOff is needed; for other curves convert to differential privacy first")
    return Claim("gaussian", mu=curve.mu, **same_pairs(claim))


@edge(
    "gaussian-to-curve",
    start="gaussian",
    end="trade-off",
    rule="the curve Phi(Phi^-1(1 - a) - mu)",
    tightness=Tightness.TIGHT,
    witness="normal noise",
    source="Dong, Roth and Su 2022, Definition 2.6",
    basis=Basis.DEFINITION,
)
def _gaussian_to_curve(claim: Claim, _goal: Goal) -> Claim:
    return Claim("trade-off", curve=GaussianTradeOff(claim["mu"]), **same_pairs(claim))


@edge(
    "dp-to-gaussian",
    start="differential-privacy",
    end="gaussian",
    rule="mu = 2 Phi^-1(e^epsilon / (1 + e^epsilon))",
    needs="delta = 0 and the relation is symmetric",
    tightness=Tightness.TIGHT,
    witness="randomised response",
    source="after Dong, Roth and Su 2022, Proposition 2.5",
    basis=Basis.PROVED,
)
@symmetric
@pure
def _dp_to_gaussian(claim: Claim, _goal: Goal) -> Claim | Refusal:
    epsilon = claim["epsilon"]
    if epsilon == 0:
        return Claim("gaussian", mu=0.0, **same_pairs(claim))
    guess = GaussianTradeOff.of_epsilon(epsilon).mu
    # Phi(-mu / 2) is the least error of both kinds, 1 / (1 + e^epsilon) for randomised response.
    mu = least(guess, lambda mu: normal(-mu / 2) <= 1 / (1 + exact(epsilon).exp()))
    if math.isinf(mu):
        return Refusal(f"no mu could be proved for epsilon {epsilon:g}; it is too large")
    return Claim("gaussian", mu=mu, **same_pairs(claim))


def _delta(epsilon: Interval, mu: Interval) -> Interval:
    return normal(mu / 2 - epsilon / mu) - epsilon.exp() * normal(-mu / 2 - epsilon / mu)


@edge(
    "gaussian-to-dp",
    start="gaussian",
    end="differential-privacy",
    rule=(
        "delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), at epsilon 0 unless given"
    ),
    tightness=Tightness.TIGHT,
    witness="normal noise",
    source="Balle and Wang 2018, Theorem 8; Dong, Roth and Su 2022, Corollary 2.13",
    basis=Basis.PUBLISHED,
)
def _gaussian_to_dp(claim: Claim, goal: Goal) -> Claim | Refusal:
    mu, epsilon, delta = claim["mu"], goal.number("epsilon"), goal.number("delta")
    if mu == 0:
        return Claim("differential-privacy", epsilon=0.0, **same_pairs(claim))
    if epsilon is None and delta is None:
        epsilon = 0.0
    if epsilon is not None:
        found = above(lambda: _delta(exact(epsilon), exact(mu)))
        return Claim("differential-privacy", epsilon=epsilon, delta=min(max(found, 0.0), 1.0), **same_pairs(claim))
    if delta is None or delta == 0:
        return Refusal("an epsilon or a delta above 0 must be given: epsilon= or delta=")
    guess = GaussianTradeOff(mu).epsilon(min(delta, 1.0))
    value = guess if guess == 0 else least(guess, lambda e: _delta(e, exact(mu)) <= exact(delta))
    if guess == 0 and not above(lambda: _delta(exact(0.0), exact(mu))) <= delta:
        value = least(2.0**-40, lambda e: _delta(e, exact(mu)) <= exact(delta))
    if math.isinf(value):
        return Refusal(f"no epsilon could be proved at delta {delta:g}")
    return Claim("differential-privacy", epsilon=value, delta=delta, **same_pairs(claim))


@edge(
    "gaussian-to-zcdp",
    start="gaussian",
    end="concentrated-privacy",
    rule="rho = mu^2 / 2",
    tightness=Tightness.TIGHT,
    witness="normal noise",
    source="Bun and Steinke 2016; Dong, Roth and Su 2022, Corollary B.6",
    basis=Basis.PUBLISHED,
)
def _gaussian_to_concentrated(claim: Claim, _goal: Goal) -> Claim:
    return Claim("concentrated-privacy", rho=above(lambda: exact(claim["mu"]) ** 2 / 2), **same_pairs(claim))
