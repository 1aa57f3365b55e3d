"""Numbers of implications about trade-off curves and Gaussian privacy."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ...intervals import Interval, above, exact, least, normal
from ...rounding.errors import mass_error
from ..curves.curve import LaplaceTradeOff
from ..curves.gaussian import GaussianTradeOff
from ..curves.trade_off import TradeOff
from .claims import Claim
from .edge import Changes, Goal, Refusal

_TIE: Final = 2.0**-44
"""More than what `TradeOff` takes for one ratio, as a difference of logarithms, relative to the largest one."""


def to_curve(claim: Claim, _goal: Goal) -> Changes:
    """Return the curve of (epsilon, delta)."""
    # A slightly larger epsilon makes up for the rounding of the curve, and is not taken for 0.
    epsilon = claim["epsilon"] and claim["epsilon"] * (1 + _TIE) + _TIE
    return {"curve": TradeOff.of_epsilon(epsilon, claim["delta"])}


def _merged(curve: TradeOff) -> float:
    """Return by how much the logarithms of ratios that the curve merged may differ."""
    kept = (curve.null > 0) & (curve.alternative > 0)
    logs = np.abs(np.log(curve.null[kept]) - np.log(curve.alternative[kept]))
    return _TIE * max(1.0, float(logs.max(initial=0.0)))


def _of_laplace(shift: float, epsilon: float | None, delta: float) -> Changes:
    """Return the epsilon and the delta of Laplace noise, one of which is given."""
    x = exact(shift)
    if epsilon is None:
        value = above(lambda: x + 2 * (1 - exact(min(delta, 1.0))).log()) if 0 < delta < 1 else shift * (delta < 1)
        return {"epsilon": max(0.0, value), "delta": min(delta, 1.0)}
    spent = 0.0 if epsilon >= shift else above(lambda: 1 - ((exact(epsilon) - x) / 2).exp())
    return {"epsilon": epsilon, "delta": min(max(spent, 0.0), 1.0)}


def curve_to_dp(claim: Claim, goal: Goal) -> Changes:
    """Return delta at the goal's epsilon, or epsilon at its delta, with the rounding of the curve added."""
    curve, epsilon, delta = claim.context["curve"], goal.number("epsilon"), goal.number("delta")
    if epsilon is None and delta is None:
        epsilon = 0.0
    if isinstance(curve, LaplaceTradeOff) and math.isfinite(curve.epsilon):
        return _of_laplace(curve.epsilon, epsilon, delta or 0.0)
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
        return {"epsilon": found * (1 + 2.0**-40) + slack, "delta": wanted}
    spent = max(float(profile.delta(max(0.0, epsilon - slack))) for profile in profiles)
    spent += (mass_error(spent, len(curve.null)) if spent else 0.0) + (2 * slack if epsilon < slack else 0.0)
    return {"epsilon": epsilon, "delta": min(spent, 1.0)}


def curve_to_gaussian(claim: Claim, _goal: Goal) -> Changes:
    """Return the mu of a normal curve."""
    curve = claim.context["curve"]
    if not isinstance(curve, GaussianTradeOff):
        return Refusal("a GaussianTradeOff is needed; for other curves convert to differential privacy first")
    return {"mu": curve.mu}


def gaussian_to_curve(claim: Claim, _goal: Goal) -> Changes:
    """Return the normal curve of a mu."""
    return {"curve": GaussianTradeOff(claim["mu"])}


def dp_to_gaussian(claim: Claim, _goal: Goal) -> Changes:
    """Return the mu at which both errors are those of randomised response."""
    epsilon = claim["epsilon"]
    if epsilon == 0:
        return {"mu": 0.0}
    guess = GaussianTradeOff.of_epsilon(epsilon).mu
    # Phi(-mu / 2) is the least error of both kinds, 1 / (1 + e^epsilon) for randomised response.
    mu = least(guess, lambda mu: normal(-mu / 2) <= 1 / (1 + exact(epsilon).exp()))
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
        found = above(lambda: _delta(exact(epsilon), exact(mu)))
        return {"epsilon": epsilon, "delta": min(max(found, 0.0), 1.0)}
    if delta is None or delta == 0:
        return Refusal("an epsilon or a delta above 0 must be given: epsilon= or delta=")
    guess = GaussianTradeOff(mu).epsilon(min(delta, 1.0))
    value = guess if guess == 0 else least(guess, lambda e: _delta(e, exact(mu)) <= exact(delta))
    if guess == 0 and not above(lambda: _delta(exact(0.0), exact(mu))) <= delta:
        value = least(2.0**-40, lambda e: _delta(e, exact(mu)) <= exact(delta))
    if math.isinf(value):
        return Refusal(f"no epsilon could be proved at delta {delta:g}")
    return {"epsilon": value, "delta": delta}
