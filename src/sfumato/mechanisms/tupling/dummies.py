"""Dummies: their distribution, the fewest for a wanted privacy, the user's loss and an attacker's success."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft
from scipy.optimize import minimize

from ...core import AnyLoss, Bracket, Mechanism, Prior, as_loss
from ...core.arrays import Floats
from ...core.bracket import bisect
from ...core.immutable import CompactRepr
from ...errors import InfeasibleError, InputError, python, shell
from ...rounding import at_most, plural, power
from .accountant import FamilyAccountant, PairAccountant, Worst, first_spacing
from .law import Atoms, Law, atoms, positive_part, split, window
from .mechanism import FARTHEST, Tupling, check_delta, check_epsilon

FLOOR: Final = 1e-3
_POWER: Final = 16.0  # of the mean over pairs that stands for their maximum
_PAIRS: Final = 32
_STEPS: Final = 60
_POINTS: Final = 2**11  # of the lattice on which derivatives are computed
_LOOK: Final = (
    python("let plan_dummies look for the dummies' distribution, with optimise=True."),
    shell("let it look for the dummies' distribution, with --dummies-from optimised."),
)
_SEARCHES: Final = 8  # for a distribution of dummies, each at the number that the last one reached


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
    images = inner.matrix if distributions is None else inner.lift(np.atleast_2d(distributions))
    return _floor_prior(inner, images.mean(axis=0), floor)


@dataclass(frozen=True, slots=True, repr=False)
class DummyChoice(CompactRepr):
    """An optimised distribution of dummies, with proved bounds of the least delta or the least epsilon.

    They are of the best distribution of the search, of `mixture_dummies`, from which it started, and of
    `uniform_dummies`.
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
        return (account.epsilon(delta or 0.0) if epsilon is None else account.delta(epsilon)).bounds

    used = np.unique(family.pairs)
    mixture = _floor_prior(inner, family.images[used].mean(axis=0), floor)
    start = value(mixture)
    best, least = mixture, start
    for _ in range(1 if epsilon is not None else 3):
        at = epsilon if epsilon is not None else least.value
        if k == 0 or not 0 < least.upper < math.inf:
            break
        candidate = _search_prior(family.with_dummies(k, best), at, floor)
        score = value(candidate)
        if score.upper >= least.upper:
            break
        best, least = candidate, score
    return DummyChoice(best, least, start, value(uniform_dummies(inner)))


def _search_prior(family: FamilyAccountant, epsilon: float, floor: float) -> Prior:
    """Return the distribution at which a local search for the least delta(epsilon) ends."""
    tupling = family.tupling
    m = tupling.inner.shape[1]
    worst = family.pairs[np.argsort(-family.cheap_delta(epsilon), kind="stable")[:_PAIRS]]
    start = (tupling.distribution - floor / m) / (1 - floor) if floor < 1 else tupling.distribution

    def mixture(logits: Floats) -> tuple[Floats, Floats]:
        weights = np.exp(logits - logits.max())
        share = weights / weights.sum()
        return share, (1 - floor) * share + floor / m

    def objective(logits: Floats) -> tuple[float, Floats]:
        share, nu = mixture(logits)
        profiles = [
            delta_and_gradient(family.images[a], family.images[b], nu, tupling.dummies, epsilon) for a, b in worst
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
    return Prior(tupling.inner.observables, mixture(answer.x)[1])


def delta_and_gradient(
    first: Floats, second: Floats, nu: Floats, dummies: int, epsilon: float
) -> tuple[float, Floats]:
    """Return delta(epsilon) and its derivatives by the entries of nu, array (m,), for the search alone."""
    values = (first - math.exp(epsilon) * second) / nu
    terms = atoms(values, nu, dummies + 1)
    if terms is None:
        return 0.0, np.zeros_like(nu)
    law = split(terms, first_spacing(terms, dummies + 1, _POINTS))
    part = positive_part(law, dummies + 1)
    if part is None:  # values too far apart for any lattice: as bad as no privacy; nothing shows a better one
        return 1.0, np.zeros_like(nu)
    return max(0.0, part.value - part.shift / 2), dummies * _pivots(law, terms, values, dummies)


def _pivots(law: Law, draw: Atoms, values: Floats, copies: int) -> Floats:
    """Return E[X_1; value + X_1 + ... + X_copies > 0] for each value, array (m,)."""
    h = law.spacing
    low, high = window(law.values, law.masses, copies)
    first = math.floor(min(low, -float(draw.values.max())) / h) - 1
    last = max(1, math.ceil(high / h))
    length = 2 ** math.ceil(math.log2(last - first + 1))
    places = law.points % length
    spectrum = fft.rfft(np.bincount(places, law.masses, length))
    weighted = fft.rfft(np.bincount(places, law.values * law.masses, length))
    w = np.arange(first, last + 1)
    sums = fft.irfft(power(spectrum, copies - 1) * weighted, length)[w % length]
    terms = sums * np.exp(copies * law.log_scale - law.tilt * h * w)
    above = np.append(np.cumsum(terms[::-1])[::-1], 0.0)
    at = np.floor(-values / h) + 1 - first
    return np.asarray(above[np.clip(at, 0, len(terms)).astype(np.intp)])


def _floor_prior(inner: Mechanism, weights: Floats, floor: float) -> Prior:
    return Prior(inner.observables, (1 - floor) * weights + floor / inner.shape[1])


def _check_floor(floor: float) -> None:
    if not 0 < floor <= 1:
        raise InputError(f"the floor is {floor}.", "use a share above 0, at most 1, such as 1e-3.")


@dataclass(frozen=True, slots=True, repr=False)
class DummyPlan:
    """A number of dummies, with the proof that it is enough.

    Attributes:
        found_delta: Proved bounds of the least delta at that epsilon; the upper one is at most ``delta``.
        found_epsilon: Proved bounds of the least epsilon at that delta.
        fewest: Whether one dummy less from the same distribution is proved not to be enough. It is always true
            unless the two deltas differ by less than the accountant's rounding.
        loss: The expected loss of a user who uses the best answer; None without a prior and a loss.
    """

    tupling: Tupling
    epsilon: float
    delta: float
    found_delta: Worst
    found_epsilon: Worst
    fewest: bool
    loss: float | None

    def __repr__(self) -> str:
        return f"DummyPlan({self.sentence})"

    @property
    def dummies(self) -> int:
        """The number k of dummies."""
        return self.tupling.dummies

    @property
    def sentence(self) -> str:
        """The plan as a sentence."""
        worth = "" if self.loss is None else f" The expected loss is then at most {at_most(self.loss, 6)}."
        return (
            f"{plural(self.dummies, 'dummy', 'dummies')} ({plural(self.tupling.queries, 'query', 'queries')}) "
            f"{'gives' if self.dummies == 1 else 'give'} epsilon {at_most(self.epsilon, 6)} "
            f"with delta {at_most(self.found_delta.bounds.upper)}, at most {at_most(self.delta, 6)}.{worth}"
        )


def plan_dummies(
    family: FamilyAccountant,
    epsilon: float,
    delta: float,
    *,
    most: int = 100_000,
    prior: Prior | None = None,
    loss: AnyLoss | None = None,
    optimise: bool = False,
) -> DummyPlan:
    """Return the fewest dummies for which all pairs of a family are (epsilon, delta)-indistinguishable.

    One more dummy never raises delta(epsilon), as it can be added afterwards. So the search doubles the number, up
    to ``most``, and then halves the interval, on proved upper bounds throughout; the family's own number does not
    matter. Epsilon is from 0 to 700, and delta from 0 to 1. With a prior and a loss l(s, o) the plan has the
    quality loss. ``optimise`` searches, with `optimised_dummies`, for a distribution of which fewer dummies are
    enough; otherwise, and where none is better, it is that of the family's mechanism. Raises `InputError` if a
    parameter is out of range, or only one of prior and loss is given. Raises `InfeasibleError` if no number of
    dummies is enough (delta 0 below the pure epsilon, which dummies never lower), or none up to ``most``.

    Example:
        >>> from sfumato.core import Mechanism
        >>> inner = Mechanism([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
        >>> pairs = FamilyAccountant.of_points(Tupling(inner, 0, [0.25] * 4))
        >>> plan_dummies(pairs, 0.5, 1e-3).sentence
        '17 dummies (18 queries) give epsilon 0.5 with delta 0.0008238, at most 0.001.'

    Source:
        docs/proofs/tupling.md (more dummies never hurt; the pure epsilon stays).
    """
    check_epsilon(epsilon)
    check_delta(delta)
    if (prior is None) != (loss is None):
        raise InputError("only one of prior and loss was given.", "pass both to get the quality loss, or neither.")
    search = _fewest_optimised if optimise else _fewest
    accountant = search(family, epsilon, delta, most)
    k = accountant.tupling.dummies
    fewest = k == 0 or accountant.with_dummies(k - 1).delta(epsilon).bounds.lower > delta
    cost = None if prior is None or loss is None else quality_loss(accountant.tupling, prior, loss)
    least = accountant.delta(epsilon), accountant.epsilon(delta)
    return DummyPlan(accountant.tupling, epsilon, delta, *least, fewest, cost)


def _fewest_optimised(family: FamilyAccountant, epsilon: float, delta: float, most: int) -> FamilyAccountant:
    """Return the accountant of the fewest dummies, alternating with searches for their distribution."""
    try:
        best = _fewest(family, epsilon, delta, most)
    except InfeasibleError:
        if delta == 0:
            raise
        best = _fewest(_with_optimised(family.with_dummies(most), epsilon), epsilon, delta, most, looked=True)
    for _ in range(_SEARCHES):
        candidate = _with_optimised(best, epsilon)
        if not best.tupling.dummies or candidate.exceeds(epsilon, delta):
            break
        candidate = _fewest(candidate, epsilon, delta, most)
        if candidate.tupling.dummies >= best.tupling.dummies:
            break
        best = candidate
    return best


def _with_optimised(family: FamilyAccountant, epsilon: float) -> FamilyAccountant:
    return family.with_dummies(family.tupling.dummies, optimised_dummies(family, epsilon=epsilon).distribution)


def _fewest(
    family: FamilyAccountant, epsilon: float, delta: float, most: int, *, looked: bool = False
) -> FamilyAccountant:
    """Return the accountant of the fewest dummies from the family's distribution, ``looked`` for or not."""
    pure = family.pure_epsilon
    if pure <= epsilon or not family.with_dummies(0).exceeds(epsilon, delta):
        return family.with_dummies(0)
    if delta == 0:
        least = "infinite" if math.isinf(pure) else f"{pure:.6g}"
        raise InfeasibleError(
            f"epsilon {epsilon:g} was requested with delta 0, but a single report's pure epsilon is {least}.",
            "dummies never lower a pure epsilon: allow a delta such as 1e-3, or strengthen the inner mechanism.",
        )
    short, enough = 0, 1
    while enough <= most and family.with_dummies(enough).exceeds(epsilon, delta):
        short, enough = enough, 2 * enough
    if enough > most:
        if short < most and not family.with_dummies(most).exceeds(epsilon, delta):
            enough = most
        else:
            epsilon_upper = family.with_dummies(most).epsilon(delta).bounds.upper
            raise InfeasibleError(
                f"{most:,} dummies are not enough for epsilon {epsilon:g} at delta {delta:g}: "
                f"they give epsilon {epsilon_upper:.4g}.",
                "allow more dummies or a larger delta, or strengthen the inner mechanism" + "." * looked,
                *(() if looked else _LOOK),
            )
    k = bisect(
        lambda dummies: not family.with_dummies(dummies).exceeds(epsilon, delta), fails=short, holds=enough
    ).holds
    return family.with_dummies(k)


def quality_loss_of_secrets(tupling: Tupling, loss: AnyLoss) -> Floats:
    """Return the expected loss of each secret with the best of the k + 1 answers, array (secrets,).

    E[min_i l(s, y_i)] = v_1 + sum over j of (v_{j+1} - v_j) P(l(s, A(s)) > v_j) P(l(s, R) > v_j)**k

    over the sorted losses v_1 < v_2 < ... of s, for a dummy R. Computed in floating point, in the loss's unit.
    Raises `InputError` if the loss does not fit the mechanism.

    Source:
        Kawamoto and Murakami, expected service quality loss; derived in docs/proofs/tupling.md.
    """
    array = as_loss(loss, *tupling.inner.shape).array
    order = np.argsort(array, axis=1, kind="stable")
    values = np.take_along_axis(array, order, axis=1)
    report = np.take_along_axis(tupling.inner.matrix, order, axis=1)
    dummies = tupling.distribution[order]
    survivals = _right_masses(report) * _right_masses(dummies) ** tupling.dummies
    return np.asarray(values[:, 0] + (np.diff(values, axis=1) * survivals).sum(axis=1))


def quality_loss(tupling: Tupling, prior: Prior, loss: AnyLoss) -> float:
    """Return the expected loss of a user of the best of the k + 1 answers, in the loss's unit.

    It falls with k, at the price of `Tupling.queries` requests.

    Raises `InputError` if the prior or the loss does not fit the mechanism.

    Example:
        >>> from sfumato.core import Mechanism, Prior
        >>> coin = Mechanism([[0.5, 0.5], [0.5, 0.5]])
        >>> tupled = Tupling(coin, 2, [0.5, 0.5])
        >>> quality_loss(tupled, Prior.uniform(coin.secrets), [[0, 1], [1, 0]])
        0.125
    """
    if len(prior) != tupling.inner.shape[0]:
        raise InputError(
            f"the prior has {len(prior)} values, but the mechanism has {tupling.inner.shape[0]} secrets.",
            "use a prior on the mechanism's secrets.",
        )
    tupling.inner.secrets.check_order(prior.space, "the prior")
    return float(prior.probabilities @ quality_loss_of_secrets(tupling, loss))


def attack_success(
    tupling: Tupling, first: ArrayLike, second: ArrayLike, prior: float = 0.5, tolerance: float = 1e-4
) -> Bracket:
    """Return bounds of the best attacker's success in naming the right one of two groups from a tuple.

    For prior a <= 1/2 of the first group it is 1 - a + a delta(ln((1 - a) / a)), with the accountant's delta of
    the first against the second distribution, arrays (secrets,); for a > 1/2 both change places. At a = 1/2 it is
    (1 + total variation) / 2. The tolerance is that of `PairAccountant.delta`.

    Raises `InputError` if the prior is not a probability, or a distribution is not valid.

    Example:
        >>> from sfumato.core import Mechanism
        >>> coin = Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> alone, hidden = Tupling(coin, 0, [0.5, 0.5]), Tupling(coin, 99, [0.5, 0.5])
        >>> [round(attack_success(m, [1, 0], [0, 1]).upper, 3) for m in (alone, hidden)]
        [0.75, 0.52]
    """
    if not 0 <= prior <= 1:
        raise InputError(f"the prior {prior} is not a share.", "use a number from 0 to 1.")
    if prior > 0.5:
        return attack_success(tupling, second, first, 1 - prior, tolerance)
    accountant = PairAccountant.of(tupling, first, second)
    epsilon = math.log((1 - prior) / prior) if prior > 0 else math.inf
    if epsilon > FARTHEST:
        return Bracket.of_bounds(1 - prior, 1.0)
    bounds = accountant.delta(epsilon, tolerance)
    # The logarithm's rounding moves delta by as much, and the last sums round once each.
    rounding = (8 + 4 * epsilon) * 2.0**-52
    lower, upper = (1 - prior) + prior * bounds.lower - rounding, (1 - prior) + prior * bounds.upper + rounding
    return Bracket.of_bounds(max(1 - prior, lower), min(1.0, upper))


def _right_masses(masses: Floats) -> Floats:
    """Return the mass right of each position but the last, array (n, m - 1), summed from the far end."""
    return np.asarray(np.cumsum(masses[:, :0:-1], axis=1)[:, ::-1])
