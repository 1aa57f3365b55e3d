"""Attack: a strategy of guesses, and the errors that it makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import AnyLoss, Bracket, Loss, Mechanism, Prior, Randomizer, as_distance, matrix_of
from ..core.arguments import checked
from ..core.arrays import Floats, floats, readonly
from ..errors import InputError
from ..rounding import amount, percent

ROW_TOLERANCE: Final = 1e-9

_DESCRIPTIONS: Final = {
    "optimal": "errs least",
    "likeliest": "finds the secret most often",
    "Bayesian": "draws from the posterior",
    "unweighted": "knows no prior",
    "prior-free": "expects the worst prior",
    "prior-free per guess": "expects the worst prior for each guess",
    "informed": "is told more than the report",
    "misinformed": "believes another prior",
    "blind": "guesses to err least",
    "blind likeliest": "guesses the likeliest",
}


@dataclass(frozen=True, slots=True, eq=False)
class Minimax:
    """The value of a game that an attack plays without a prior, bracketed from both sides.

    Attributes:
        value: The game's value, in the distance's unit. The upper bound is what the attack's
            strategy guarantees, recomputed from the strategy; the lower one is what no strategy
            can go below, recomputed from the solver's dual weights.
        least_favourable: The prior under which no strategy has a lower average
            error than the lower bound; None where the game bounds each guess apart.
    """

    value: Bracket
    least_favourable: Prior | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attack:
    """An adversary's strategy against a mechanism, and how far it is off.

    Attributes:
        name: What the attack is called in texts.
        error: The expected error under the true prior, in ``unit``: the distortion
            privacy against this adversary (Privacy Games, equation 7).
        per_secret: Array (secrets,), the expected error where that is the secret
            (equation 6).
        strategy: Array (observables, guesses), q(guess|o); rows sum to one.
        unit: The unit of the distance; empty for a pure number.
        hit_rate: The probability that the guess is the secret; None where the guesses
            are not the secrets. They are taken to be the secrets, in the same order,
            where the distance is square with a zero diagonal.
        minimax: The value of the game, for an attack that plays one; else None.
    """

    name: str
    error: float
    per_secret: Floats
    strategy: Floats
    unit: str
    hit_rate: float | None
    minimax: Minimax | None = None

    @property
    def description(self) -> str:
        """The attacker's strategy, in a few words; empty for a strategy that was given."""
        return _DESCRIPTIONS.get(self.name, "")

    @property
    def estimates(self) -> NDArray[np.intp]:
        """The estimate map, array (observables,): positions of the most probable guess.

        Among equally probable guesses it is the first.
        """
        return readonly(np.argmax(self.strategy, axis=1))

    @property
    def worst_case_error(self) -> float:
        """The largest expected error over all secrets, also those of prior zero."""
        return float(self.per_secret.max())

    def __repr__(self) -> str:
        observables, guesses = self.strategy.shape
        hits = "" if self.hit_rate is None else f", finds the secret {percent(self.hit_rate)} of the time"
        return (
            f"Attack {self.name!r} with {guesses} guesses from {observables} observables: "
            f"errs by about {amount(self.error, self.unit)} on average{hits}"
        )


@checked
def evaluate(
    mechanism: Randomizer, prior: Prior, distance: AnyLoss, strategy: ArrayLike, *, name: str = "given strategy"
) -> Attack:
    """Return the errors of a given strategy.

    error = sum over s, o, g of prior(s) p(o|s) q(g|o) d(g, s)

    Args:
        mechanism: The mechanism that is attacked.
        prior: The true prior, by which the error is averaged.
        distance: d(guess, s), array (guesses, secrets), a `Loss` or a `Metric`.
        strategy: q(guess|o), array (observables, guesses); rows sum to one.
        name: What the attack is called in texts.

    Raises:
        InputError: If shapes do not fit, or a row of the strategy is not a distribution.

    Source:
        Shokri, "Privacy Games", equations 5 to 7.
    """
    mechanism = matrix_of(mechanism)
    d = fitting(mechanism, prior, distance)
    q = _distributions(strategy, mechanism.shape[1], len(d.array))
    per_secret = (mechanism.matrix * (q @ d.array).T).sum(axis=1)
    joint = mechanism.joint(prior)
    return Attack(
        name=name,
        error=float(prior.probabilities @ per_secret),
        per_secret=readonly(per_secret),
        strategy=q,
        unit=d.unit,
        hit_rate=float((joint * q.T).sum()) if _guesses_are_secrets(d.array) else None,
    )


@checked
def fitting(mechanism: Mechanism, prior: Prior, distance: AnyLoss) -> Loss:
    """Return the distance, array (guesses, secrets), as a `Loss`, if it and the prior fit the mechanism.

    Raises:
        InputError: If the prior has another length, or the distance is not finite, has
            no guess, or is for other secrets.
    """
    loss = as_distance(distance)
    guesses, columns = loss.array.shape
    secrets = mechanism.shape[0]
    if columns != secrets or guesses == 0:
        raise InputError(
            f"the {loss.name} is for {guesses} guesses and {columns} secrets, but there are {secrets} secrets.",
            "pass rows for the guesses and columns for the secrets: d(guess, s).",
        )
    mechanism.joint(prior)  # refuses a prior of another length
    return loss


def _guesses_are_secrets(distance: Floats) -> bool:
    return distance.shape[0] == distance.shape[1] and not np.diagonal(distance).any()


def _distributions(strategy: ArrayLike, observables: int, guesses: int) -> Floats:
    q = floats(strategy, "the strategy", shape=(observables, guesses))
    if (q < 0).any():
        o, g = np.argwhere(q < 0)[0]
        raise InputError(
            f"the strategy is negative at observable {o}, guess {g}: {q[o, g]:g}.", "pass probabilities."
        )
    off = np.abs(q.sum(axis=1) - 1.0)
    if (off > ROW_TOLERANCE).any():
        o = int(np.argmax(off))
        raise InputError(
            f"the strategy's row for observable {o} sums to {q[o].sum():.12g}, not to 1.",
            "every row is a distribution over guesses.",
        )
    return q
