"""Attacks with their errors, and those that know the prior: optimal, Bayesian, blind, informed, over reports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..core import AnyLoss, Bracket, Loss, Mechanism, Prior, Randomizer, Space, as_distance, hamming, matrix_of
from ..core.arguments import check_arguments
from ..core.arrays import Bools, Floats, Positions, any_array, floats, readonly
from ..errors import InputError
from ..rounding import amount, percent

ROW_TOLERANCE: Final = 1e-9

_DESCRIPTIONS: Final = {
    "optimal": "least average error",
    "most probable": "finds the secret most often",
    "Bayesian": "draws from the posterior",
    "unweighted": "knows no prior",
    "prior-free": "expects the worst prior",
    "prior-free per guess": "expects the worst prior for each guess",
    "informed": "has side information",
    "misinformed": "believes another prior",
    "blind": "guess of least error",
    "blind, most probable": "most probable guess",
}
_BLOCK: Final = 2**23  # errors held at once: 64 MiB


@dataclass(frozen=True, slots=True, eq=False)
class Minimax:
    """The value of a game that an attack plays without a prior, bounded from both sides.

    Attributes:
        value: The game's value, in the distance's unit. The upper bound is the guarantee of the attack's strategy,
            recomputed from the strategy. The lower bound holds for every strategy, recomputed from the solver's
            dual weights.
        least_favourable: The prior under which no strategy has a lower average error than the lower bound; None
            where the game bounds each guess separately.
    """

    value: Bracket
    least_favourable: Prior | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attack:
    """An adversary's strategy against a mechanism, and its errors.

    Attributes:
        name: The name of the attack in texts.
        error: The expected error under the true prior, in ``unit``: the distortion privacy against this adversary
            (Privacy Games, equation 7).
        per_secret: Array (secrets,), the expected error for each secret (equation 6).
        strategy: Array (observables, guesses), q(guess|o); rows sum to one.
        unit: The unit of the distance; empty for a pure number.
        hit_rate: The probability that the guess is the secret; None where the guesses are not the secrets. They
            are taken to be the secrets, in the same order, where the distance is square with a zero diagonal.
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
    def estimates(self) -> Positions:
        """The estimate map, array (observables,): positions of the most probable guess, the first among ties."""
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
            f"average error about {amount(self.error, self.unit)}{hits}"
        )


def evaluate(
    mechanism: Randomizer, prior: Prior, distance: AnyLoss, strategy: ArrayLike, *, name: str = "given strategy"
) -> Attack:
    """Return the errors of a given strategy.

    error = sum over s, o, g of prior(s) p(o|s) q(g|o) d(g, s)

    The strategy is q(guess|o), array (observables, guesses), and the prior is the true one, by which the error is
    averaged. Other arguments are those of `optimal`. Raises `InputError` if shapes do not fit, or a row of the
    strategy is not a distribution.

    Source:
        Shokri, "Privacy Games", equations 5 to 7.
    """
    mechanism = matrix_of(mechanism)
    d = fitting(mechanism, prior, distance)
    q = _distributions(strategy, "the strategy", "observable", (mechanism.shape[1], len(d.array)))
    per_secret = (mechanism.matrix * (q @ d.array).T).sum(axis=1)
    joint = mechanism.joint(prior)
    guesses, secrets = d.array.shape
    has_hits = guesses == secrets and not np.diagonal(d.array).any()
    return Attack(
        name=name,
        error=float(prior.probabilities @ per_secret),
        per_secret=readonly(per_secret),
        strategy=q,
        unit=d.unit,
        hit_rate=float((joint * q.T).sum()) if has_hits else None,
    )


def fitting(mechanism: Mechanism, prior: Prior, distance: AnyLoss) -> Loss:
    """Return the distance, array (guesses, secrets), as a `Loss`, if it and the prior fit the mechanism.

    Raises `InputError` if the prior has another length, or the distance is not finite, has no guess, or is for
    other secrets.
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


def _distributions(rows: ArrayLike, noun: str, kind: str, shape: tuple[int, int | None]) -> Floats:
    array = floats(rows, noun, shape=shape)
    if (array < 0).any():
        i, j = np.argwhere(array < 0)[0]
        raise InputError(f"{noun} is negative at {kind} {i}, column {j}: {array[i, j]:g}.", "pass probabilities.")
    sums = array.sum(axis=1)
    worst = int(np.argmax(np.abs(sums - 1.0)))
    if abs(sums[worst] - 1.0) > ROW_TOLERANCE:
        raise InputError(f"{noun} sums to {sums[worst]:.12g} at {kind} {worst}.", "every row must sum to 1.")
    return array


def optimal(mechanism: Randomizer, prior: Prior, distance: AnyLoss) -> Attack:
    """Return the attack of least average error: no strategy does better.

    error = sum over o of min over g of sum over s of prior(s) p(o|s) d(g, s)

    Each report has one guess. Guesses whose errors differ by less than rounding are tied, and the first in order
    is taken. For a report that is impossible under the prior it is the best guess without any report. With the
    Hamming distance it is the guess of maximum a posteriori probability, and its error the Bayes error. The error
    is the mechanism's distortion privacy.

    Args:
        mechanism: The mechanism that is attacked.
        prior: The adversary's belief, which is also the truth.
        distance: d(guess, s), array (guesses, secrets), a `Loss` or a `Metric`; guesses need not be secrets.

    Source:
        Shokri, "Privacy Games", equations 19 and 33 to 35.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.attacks import optimal
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> attack = optimal(coin, sf.Prior(coin.secrets, [0.5, 0.5]), sf.hamming(coin.secrets))
        >>> attack.error, attack.estimates.tolist()
        (0.25, [0, 1])
    """
    mechanism = matrix_of(mechanism)
    strategy = optimal_strategy(mechanism, prior, distance)
    return evaluate(mechanism, prior, distance, strategy, name="optimal")


@check_arguments
def optimal_strategy(mechanism: Mechanism, belief: Prior, distance: AnyLoss) -> Floats:
    """Return the strategy of least error under a belief, array (observables, guesses) of zeros and ones."""
    d = fitting(mechanism, belief, distance).array
    joint = mechanism.joint(belief)
    guesses = best_guesses(d, joint)
    guesses[~joint.any(axis=0)] = best_guesses(d, belief.probabilities[:, None])[0]
    strategy = np.zeros((len(guesses), len(d)))
    strategy[np.arange(len(guesses)), guesses] = 1.0
    return strategy


def best_guesses(distance: Floats, joint: Floats) -> Positions:
    """Return the guess of least error in each column of a joint distribution, the first among ties.

    ``distance`` is an array (guesses, secrets), ``joint`` one of (secrets, observables).
    """
    # No more than the rounding of a sum of n products, so no error is given away.
    rounding = np.finfo(float).eps * joint.shape[0] * np.abs(distance).max()
    width = max(1, _BLOCK // len(distance))
    guesses = np.empty(joint.shape[1], dtype=np.intp)
    for start in range(0, joint.shape[1], width):
        block = joint[:, start : start + width]
        errors = distance @ block
        best = errors.min(axis=0) + rounding * block.sum(axis=0)
        guesses[start : start + width] = np.argmax(errors <= best, axis=0)
    return guesses


def bayes(mechanism: Randomizer, prior: Prior, distance: AnyLoss) -> Attack:
    """Return the attack that guesses each secret with its posterior probability.

    q(s|o) = prior(s) p(o|s) / p(o)

    Its error is never below that of the optimal attack. For a report that is impossible under the prior, the guess
    is drawn from the prior. Arguments are those of `optimal`, with the secrets, in the same order, as guesses.
    Raises `InputError` if the prior or the distance does not fit the mechanism, or the guesses are not the
    secrets.

    Source:
        Shokri, "Privacy Games", equation 25.
    """
    mechanism = matrix_of(mechanism)
    d = fitting(mechanism, prior, distance)
    guesses, secrets = d.array.shape
    if guesses != secrets:
        raise InputError(
            f"the Bayesian attack guesses secrets, but the {d.name} is for {guesses} guesses "
            f"and {secrets} secrets.",
            "pass a square distance, or use attacks.optimal.",
        )
    posterior = mechanism.posterior(prior)
    possible = posterior.sum(axis=1, keepdims=True) > 0
    p = prior.probabilities
    strategy = np.where(possible, posterior, p / p.sum())
    return evaluate(mechanism, prior, d, strategy, name="Bayesian")


def blind(prior: Prior, distance: AnyLoss) -> Attack:
    """Return the best guess without any report, as an attack on a mechanism with one observable.

    error = min over g of sum over s of prior(s) d(g, s)

    It is the baseline of every attack: the largest distortion privacy that any mechanism can give. Arguments are
    those of `optimal`.
    """
    return replace(optimal(silence(prior), prior, distance), name="blind")


def silence(prior: Prior) -> Mechanism:
    """Return the mechanism on the prior's secrets that always reports the same."""
    return Mechanism(np.ones((len(prior), 1)), prior.space, Space(["nothing"]))


@dataclass(frozen=True, slots=True, eq=False)
class Goals:
    """The best attacks for the two goals; errors and hits of all four are counted in the same way.

    An attacker who wants to be near and one who wants to be exactly right guess differently. All statements about
    "the best attacker", in sentences, tables and figures, are read from here.

    Attributes:
        near: The attack of least expected error.
        hit: The attack that finds the secret most often.
        near_blind: The guess of least expected error without a report.
        hit_blind: The most probable secret, guessed without a report.
        hit_rate: The success rate of ``hit``: the Bayes vulnerability.
        blind_hit_rate: The success rate of ``hit_blind``.
    """

    near: Attack
    hit: Attack
    near_blind: Attack
    hit_blind: Attack
    hit_rate: float
    blind_hit_rate: float


def goals(mechanism: Randomizer, prior: Prior, distance: AnyLoss) -> Goals:
    """Return the best attacks for both goals, with and without the report; arguments are those of `optimal`.

    Source:
        Shokri, "Privacy Games", equation 19, with the distance and with the Hamming distance.
    """
    mechanism = matrix_of(mechanism)
    exact = hamming(prior.space)

    def attack(channel: Mechanism, aim: AnyLoss, name: str) -> Attack:
        return evaluate(channel, prior, distance, optimal_strategy(channel, prior, aim), name=name)

    def hit_rate(channel: Mechanism, strategy: Floats) -> float:
        return float((channel.joint(prior) * strategy.T).sum())

    silent = silence(prior)
    hit = attack(mechanism, exact, "most probable")
    hit_blind = attack(silent, exact, "blind, most probable")
    return Goals(
        attack(mechanism, distance, "optimal"),
        hit,
        attack(silent, distance, "blind"),
        hit_blind,
        hit_rate(mechanism, hit.strategy),
        hit_rate(silent, hit_blind.strategy),
    )


def informed_attack(mechanism: Randomizer, prior: Prior, distance: AnyLoss, information: ArrayLike) -> Attack:
    """Return the best attack with side information, averaged over the information.

    error = sum over y, o of min over g of sum over s of prior(s) r(y|s) p(o|s) d(g, s)

    The last argument is r(y|s), the side information: an array (secrets, pieces of information) whose rows sum to
    one. Columns of zeros and ones narrow the secret down to a set; `main_place_information` makes one. The others
    are those of `optimal`; the prior is the belief before the information. Row ``y * observables + o`` of the
    strategy is for information y and observable o.

    The information is true and, given the secret, independent of the report. So the error is never above that of
    `optimal`. (An attacker who *believes* more than is true is `misinformed_attack`; their error is never below
    the best.)

    Where the person's habits are sharper than the prior of the design, and the attacker knows them, use them as
    the truth: ``optimal(mechanism, habits, distance)``, and ``misinformed_attack(mechanism, habits, distance,
    prior)`` for the attacker whom the design expected (Privacy Games, section 9.2). Raises `InputError` if the
    prior or the distance does not fit the mechanism, or a row of r is not a distribution.
    """
    mechanism = matrix_of(mechanism)
    channel = _distributions(information, "the side information", "secret", (len(prior), None))
    p = prior.probabilities
    shares = p @ channel
    parts = []
    for y, share in enumerate(shares):
        # What never happens changes no average; some belief keeps its rows defined.
        belief = p * channel[:, y] if share > 0 else p
        parts.append(optimal(mechanism, Prior(prior.space, belief / belief.sum()), distance))
    hits = [part.hit_rate for part in parts if part.hit_rate is not None]
    return replace(
        parts[0],
        name="informed",
        error=float(sum(w * part.error for w, part in zip(shares, parts, strict=True))),
        per_secret=readonly(np.einsum("sy,ys->s", channel, np.stack([part.per_secret for part in parts]))),
        strategy=readonly(np.concatenate([part.strategy for part in parts])),
        hit_rate=float(shares @ np.array(hits)) if hits else None,
    )


def misinformed_attack(mechanism: Randomizer, prior: Prior, distance: AnyLoss, belief: Prior) -> Attack:
    """Return the attack that is optimal for a belief, with its error under the true prior.

    The belief may know less than the truth (a population's prior against one user) or claim more than is true
    (`Prior.sharpen`: overconfident of home and work). A false belief never lowers the error below that of the
    optimal attack. For a report that is impossible under the belief, the guess is the belief's best one without
    any report. An attacker who knows more is `informed_attack`. The other arguments are those of `optimal`.

    Source:
        Shokri, "Privacy Games", section 9.2, with the true prior as the sharper one and the design's as the
        belief.
    """
    mechanism = matrix_of(mechanism)
    strategy = optimal_strategy(mechanism, belief, distance)
    return evaluate(mechanism, prior, distance, strategy, name="misinformed")


def main_place_information(prior: Prior, share: float, *, places: int = 2) -> Floats:
    """Return the side information of an attacker who may see whether someone is at a main place.

    With probability ``share`` it is whether the secret is among the ``places`` most probable ones (home and work,
    say), but not which; otherwise it is nothing. The array (secrets, 3) has columns for "nothing", "a main place"
    and "another place". Raises `InputError` if the share is not a probability, or there are fewer secrets than
    that.
    """
    if not 0 <= share <= 1:
        raise InputError(f"the share {share} is not between 0 and 1.", "use 0.5 for half of the time.")
    if not 1 <= places <= len(prior):
        raise InputError(f"{places} main places were requested, of {len(prior)}.", "use from one to all.")
    main = np.zeros(len(prior), dtype=np.bool_)
    main[np.argsort(-prior.probabilities, kind="stable")[:places]] = True
    return readonly(np.stack([np.full(len(prior), 1 - share), share * main, share * ~main], axis=1))


def track_beliefs(channel: ArrayLike, prior: Prior, reports: Iterable[int], near: Bools | None = None) -> Floats:
    """Return the attacker's belief before the first report, and after each one, array (reports + 1, secrets).

    b_0 = prior;  b_t(s) is proportional to p(o_t|s) times the sum over r of b_(t-1)(r) k(s|r)

    Without ``near`` the secret is always the same (k(s|r) = 1 where s = r), and k reports multiply their
    likelihoods. With it the person moves between reports: from r to s with a probability proportional to prior(s),
    among those that are near r. This is the attacker's model of movement. Raises `InputError` if sizes do not fit,
    or a report is impossible for all secrets of positive belief.

    Args:
        channel: p(o|s), array (secrets, observables).
        prior: The belief before the first report.
        reports: Positions of the reported observables, in order.
        near: Array (secrets, secrets): whether s can follow r, at ``near[r, s]``. Staying is always possible.

    Source:
        Bayes' rule; with moves the forward filter of a hidden Markov model (Shokri et al., S&P 2011).

    Example:
        >>> import sfumato as sf
        >>> from sfumato.attacks import track_beliefs
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> track_beliefs(coin.matrix, sf.Prior.uniform(coin.secrets), [0, 0])[:, 0].tolist()
        [0.5, 0.75, 0.9]
    """
    likelihoods = floats(channel, "the channel", shape=(len(prior), None))
    beliefs = [np.array(prior.probabilities)]
    moves = None if near is None else _moves(near, prior)
    for number, report in enumerate(reports, 1):
        if not 0 <= report < likelihoods.shape[1]:
            raise InputError(
                f"report {number} is {report}, which is no observable.",
                f"use positions 0 to {likelihoods.shape[1] - 1}.",
            )
        before = beliefs[-1] if moves is None else beliefs[-1] @ moves
        after = before * likelihoods[:, report]
        total = float(after.sum())
        if not total > 0:
            raise InputError(
                f"report {number} is impossible for all secrets that the attacker holds possible.",
                "use a prior that gives the true secret a positive probability, and moves that can be made.",
            )
        beliefs.append(after / total)
    return readonly(np.stack(beliefs))


def _moves(near: Bools, prior: Prior) -> Floats:
    """Return the probabilities k(s|r) of moves, array (secrets, secrets)."""
    n = len(prior)
    shape = any_array(near, "near=").shape
    if shape != (n, n):
        raise InputError(f"near has the shape {shape}.", f"pass {n} x {n} truth values.")
    allowed = np.asarray(near, dtype=bool) | np.eye(n, dtype=bool)
    weights = allowed * prior.probabilities
    totals = weights.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(weights, totals, out=np.eye(n), where=totals > 0))
