"""Distributions of dummies: uniform, a mixture, or optimised."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft
from scipy.optimize import minimize

from ...core import Bracket, Mechanism, Prior
from ...core.arrays import Floats
from ...core.immutable import CompactRepr
from ...errors import InputError
from ...rounding import power
from .accountant import first_spacing
from .family import FamilyAccountant
from .law import Atoms, Law, atoms, positive_part, split, window
from .mechanism import check_epsilon

FLOOR: Final = 1e-3
_POWER: Final = 16.0  # of the mean over pairs that stands for their maximum
_PAIRS: Final = 32
_STEPS: Final = 60
_POINTS: Final = 2**11  # of the lattice on which derivatives are computed


def uniform_dummies(inner: Mechanism) -> Prior:
    """Return the uniform distribution on the inner mechanism's observables, as in the published mechanism."""
    return Prior.uniform(inner.observables)


def mixture_dummies(inner: Mechanism, distributions: ArrayLike | None = None, floor: float = FLOOR) -> Prior:
    """Return the mean distribution of the family's reports, with a share ``floor`` of the uniform one.

    nu = (1 - floor) mean over lam of A#lam + floor / observables

    Dummies then look like true reports. The floor, above 0 and at most 1, makes every observable possible. The
    family is an array (r, secrets); by default every single secret. Raises `InputError` if a row is not a
    distribution of secrets, or the floor is not a share.
    """
    _check_floor(floor)
    lifted = inner.matrix if distributions is None else inner.lift(np.atleast_2d(distributions))
    return _floored(inner, lifted.mean(axis=0), floor)


@dataclass(frozen=True, slots=True, repr=False)
class DummyChoice(CompactRepr):
    """An optimised distribution of dummies, with proved values.

    Attributes:
        distribution: The best distribution of the search.
        value: Proved bounds of the least delta (where epsilon was given) or the least epsilon (where delta was
            given).
        mixture: The same with `mixture_dummies`, from which the search started.
        uniform: The same with `uniform_dummies`.
    """

    distribution: Prior
    value: Bracket
    mixture: Bracket
    uniform: Bracket

    @property
    def improvement(self) -> float:
        """The share by which the value is proved to be below the mixture's; 0 if it may not be."""
        if not 0 < self.mixture.lower < math.inf:
            return 0.0
        return max(0.0, 1 - self.value.upper / self.mixture.lower)


def optimised_dummies(
    family: FamilyAccountant, *, epsilon: float | None = None, delta: float | None = None, floor: float = FLOOR
) -> DummyChoice:
    """Return a distribution of dummies with a small delta at an epsilon, or a small epsilon at a delta.

    A local search (L-BFGS on the logarithms of nu, with exact derivatives of a smooth maximum over pairs) starts
    from the mixture. The values are the accountant's, for all pairs. Another distribution may be better. Epsilon,
    from 0 to 700, is where delta is minimised, or else delta, between 0 and 1, where epsilon is minimised. The
    family's own nu does not matter. ``floor`` is the least share of the uniform distribution, above 0, at most 1.
    Raises `InputError` if not exactly one of epsilon and delta is given, or a value is out of range.

    Example:
        >>> from sfumato.mechanisms.tupling import Tupling
        >>> inner = Mechanism([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
        >>> family = FamilyAccountant.of_points(Tupling(inner, 20, [0.25] * 4))
        >>> choice = optimised_dummies(family, delta=1e-3)
        >>> round(choice.mixture.upper, 3), round(choice.value.upper, 3)
        (0.443, 0.403)
    """
    if (epsilon is None) == (delta is None):
        raise InputError("one of epsilon and delta is needed.", "pass epsilon=0.5, or delta=1e-3.")
    if delta is not None and not 0 < delta < 1:
        raise InputError(f"delta is {delta}.", "use a probability between 0 and 1; at 0 dummies change nothing.")
    if epsilon is not None:
        check_epsilon(epsilon)
    _check_floor(floor)
    inner, k = family.tupling.inner, family.tupling.dummies

    def value(nu: Prior) -> Bracket:
        account = family.with_dummies(k, nu)
        if epsilon is not None:
            return account.delta(epsilon).bounds
        return account.epsilon(delta if delta is not None else 0.0).bounds

    used = np.unique(family.pairs)
    mixture = _floored(inner, family.lifted[used].mean(axis=0), floor)
    start = value(mixture)
    best, least = mixture, start
    for _ in range(1 if epsilon is not None else 3):
        at = epsilon if epsilon is not None else least.value
        if k == 0 or not 0 < least.upper < math.inf:
            break
        candidate = _searched(family.with_dummies(k, best), at, floor)
        reached = value(candidate)
        if reached.upper >= least.upper:
            break
        best, least = candidate, reached
    return DummyChoice(best, least, start, value(uniform_dummies(inner)))


def _searched(family: FamilyAccountant, epsilon: float, floor: float) -> Prior:
    """Return the distribution at which a local search for the least delta(epsilon) ends."""
    tupling = family.tupling
    m = tupling.inner.shape[1]
    worst = family.pairs[np.argsort(-family.cheap_delta(epsilon), kind="stable")[:_PAIRS]]
    start = (tupling.distribution - floor / m) / (1 - floor) if floor < 1 else tupling.distribution

    def mixed(logits: Floats) -> tuple[Floats, Floats]:
        weights = np.exp(logits - logits.max())
        share = weights / weights.sum()
        return share, (1 - floor) * share + floor / m

    def objective(logits: Floats) -> tuple[float, Floats]:
        share, nu = mixed(logits)
        profiles = [
            delta_and_gradient(family.lifted[a], family.lifted[b], nu, tupling.dummies, epsilon) for a, b in worst
        ]
        deltas = np.array([max(delta, 1e-290) for delta, _ in profiles])
        top = float(deltas.max())
        powers = (deltas / top) ** _POWER
        mean = float(powers.mean())
        slopes = (powers / (mean * len(worst)) / deltas) @ np.array([gradient for _, gradient in profiles])
        slopes *= (1 - floor) * share
        return math.log(top) + math.log(mean) / _POWER, slopes - share * slopes.sum()

    logits = np.log(np.maximum(start, 1e-12))
    answer = minimize(objective, logits, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
    return Prior(tupling.inner.observables, mixed(answer.x)[1])


def delta_and_gradient(
    first: Floats, second: Floats, nu: Floats, dummies: int, epsilon: float
) -> tuple[float, Floats]:
    """Return delta(epsilon) and its derivatives by the entries of nu, array (m,), up to the lattice's fineness.

    Only the search uses it, no proof. With S = sum of g over k draws and X one of its terms,

        d delta / d nu(y) = k E[X; g(y) + S > 0]

    because the best test may be held fixed (docs/proofs/tupling.md).
    """
    values = (first - math.exp(epsilon) * second) / nu
    terms = atoms(values, nu, dummies + 1)
    if terms is None:
        return 0.0, np.zeros_like(nu)
    law = split(terms, first_spacing(terms, dummies + 1, _POINTS))
    part = positive_part(law, dummies + 1)
    if part is None:  # values too far apart for any lattice: as bad as no privacy; nothing shows a better one
        return 1.0, np.zeros_like(nu)
    return max(0.0, part.value - part.moved / 2), dummies * _pivots(law, terms, values, dummies)


def _pivots(law: Law, draw: Atoms, values: Floats, copies: int) -> Floats:
    """Return E[X_1; value + X_1 + ... + X_copies > 0] for each value, array (m,)."""
    h = law.spacing
    low, high = window(law.values, law.masses, copies)
    first = math.floor(min(low, -float(draw.values.max())) / h) - 1
    last = max(1, math.ceil(high / h))
    length = 2 ** math.ceil(math.log2(last - first + 1))
    places = law.points % length
    one = fft.rfft(np.bincount(places, law.masses, length))
    weighted = fft.rfft(np.bincount(places, law.values * law.masses, length))
    w = np.arange(first, last + 1)
    sums = fft.irfft(power(one, copies - 1) * weighted, length)[w % length]
    terms = sums * np.exp(copies * law.log_scale - law.tilt * h * w)
    above = np.append(np.cumsum(terms[::-1])[::-1], 0.0)
    at = np.floor(-values / h) + 1 - first
    return np.asarray(above[np.clip(at, 0, len(terms)).astype(np.intp)])


def _floored(inner: Mechanism, weights: Floats, floor: float) -> Prior:
    return Prior(inner.observables, (1 - floor) * weights + floor / inner.shape[1])


def _check_floor(floor: float) -> None:
    if not 0 < floor <= 1:
        raise InputError(f"the floor is {floor}.", "use a share above 0, at most 1, such as 1e-3.")
