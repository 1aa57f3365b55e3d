"""The fewest dummies for a wanted privacy, their user's loss and an attacker's success."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ...core import AnyLoss, Bracket, Prior, as_loss
from ...core.arrays import Floats
from ...core.bracket import bisect
from ...errors import InfeasibleError, InputError, python, typed
from ...rounding import at_most, counted
from .accountant import PairAccountant
from .dummies import optimised_dummies
from .family import FamilyAccountant, Worst
from .mechanism import FARTHEST, Tupling, check_delta, check_epsilon

_LOOK: Final = (
    python("let plan_dummies look for the dummies' distribution, with optimise=True."),
    typed("let it look for the dummies' distribution, with --dummies-from optimised."),
)
_SEARCHES: Final = 8  # for a distribution of dummies, each at the number that the last one reached


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
            f"{counted(self.dummies, 'dummy', 'dummies')} ({counted(self.tupling.queries, 'query', 'queries')}) "
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

    One more dummy never raises delta(epsilon), as it can be added afterwards. So the search doubles the number and
    then halves the interval, on proved upper bounds throughout. Raises `InputError` if a parameter is out of
    range, or only one of prior and loss is given. Raises `InfeasibleError` if no number of dummies is enough
    (delta 0 below the pure epsilon, which dummies never lower), or none up to ``most``.

    Args:
        family: The pairs, and the mechanism; its own number of dummies does not matter.
        epsilon: From 0 to 700.
        delta: From 0 to 1.
        most: The largest number of dummies.
        prior: With ``loss``: the distribution of secrets.
        loss: l(s, o), for the quality loss.
        optimise: Whether to search, with `optimised_dummies`, for a distribution of which fewer dummies are
            enough; otherwise, and where none is better, it is that of the family's mechanism.

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
    chosen = search(family, epsilon, delta, most)
    k = chosen.tupling.dummies
    return DummyPlan(
        tupling=chosen.tupling,
        epsilon=epsilon,
        delta=delta,
        found_delta=chosen.delta(epsilon),
        found_epsilon=chosen.epsilon(delta),
        fewest=k == 0 or chosen.with_dummies(k - 1).delta(epsilon).bounds.lower > delta,
        loss=None if prior is None or loss is None else quality_loss(chosen.tupling, prior, loss),
    )


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
            reached = family.with_dummies(most).epsilon(delta).bounds.upper
            raise InfeasibleError(
                f"{most:,} dummies are not enough for epsilon {epsilon:g} at delta {delta:g}: "
                f"they give epsilon {reached:.4g}.",
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
    others = tupling.distribution[order]
    survivals = _beyond(report) * _beyond(others) ** tupling.dummies
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
        return Bracket.between(1 - prior, 1.0)
    bounds = accountant.delta(epsilon, tolerance)
    # The logarithm's rounding moves delta by as much, and the last sums round once each.
    rounding = (8 + 4 * epsilon) * 2.0**-52
    lower, upper = (1 - prior) + prior * bounds.lower - rounding, (1 - prior) + prior * bounds.upper + rounding
    return Bracket.between(max(1 - prior, lower), min(1.0, upper))


def _beyond(masses: Floats) -> Floats:
    """Return the mass right of each position but the last, array (n, m - 1), summed from the far end."""
    return np.asarray(np.cumsum(masses[:, :0:-1], axis=1)[:, ::-1])
