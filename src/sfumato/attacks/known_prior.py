"""Attackers who know the mechanism and the prior: optimal for each goal, Bayesian, blind, and over reports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import AnyLoss, Mechanism, Prior, Randomizer, Space, hamming, matrix_of
from ..core.arguments import checked
from ..core.arrays import Floats, floats, readonly
from ..errors import InputError
from .attack import ROW_TOLERANCE, Attack, evaluate, fitting

_BLOCK: Final = 2**23  # errors held at once: 64 MiB


@checked
def optimal(mechanism: Randomizer, prior: Prior, distance: AnyLoss) -> Attack:
    """Return the attack of least average error: no strategy does better.

    error = sum over o of min over g of sum over s of prior(s) p(o|s) d(g, s)

    Each report has one guess. Guesses whose errors differ by less than rounding are
    tied, and the first in order is taken; for a report that is impossible under the prior
    it is the best guess without any report. With the Hamming distance this is the
    guess of maximum a posteriori probability, and its error the Bayes error.

    Args:
        mechanism: The mechanism that is attacked.
        prior: What the adversary believes, and what is true.
        distance: d(guess, s), array (guesses, secrets), a `Loss` or a `Metric`; the
            guesses need not be the secrets.

    Returns:
        The attack; its error is the mechanism's distortion privacy.

    Raises:
        InputError: If the prior or the distance does not fit the mechanism.

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


@checked
def optimal_strategy(mechanism: Mechanism, belief: Prior, distance: AnyLoss) -> Floats:
    """Return the strategy of least error under a belief, array (observables, guesses) of zeros and ones."""
    d = fitting(mechanism, belief, distance).array
    joint = mechanism.joint(belief)
    guesses = best_guesses(d, joint)
    guesses[~joint.any(axis=0)] = best_guesses(d, belief.probabilities[:, None])[0]
    strategy = np.zeros((len(guesses), len(d)))
    strategy[np.arange(len(guesses)), guesses] = 1.0
    return strategy


def best_guesses(distance: Floats, joint: Floats) -> NDArray[np.intp]:
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


@checked
def bayes(mechanism: Randomizer, prior: Prior, distance: AnyLoss) -> Attack:
    """Return the attack that guesses each secret with its posterior probability.

    q(s|o) = prior(s) p(o|s) / p(o)

    Its error is never below that of the optimal attack. For a report that is impossible
    under the prior, the guess is drawn from the prior.

    Args:
        mechanism: The mechanism that is attacked.
        prior: What the adversary believes, and what is true.
        distance: d(guess, s), array (secrets, secrets), a `Loss` or a `Metric`: the
            guesses are the secrets, in the same order.

    Raises:
        InputError: If the prior or the distance does not fit the mechanism, or the
            guesses are not the secrets.

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
    seen = posterior.sum(axis=1, keepdims=True) > 0
    p = prior.probabilities
    strategy = np.where(seen, posterior, p / p.sum())
    return evaluate(mechanism, prior, d, strategy, name="Bayesian")


def blind(prior: Prior, distance: AnyLoss) -> Attack:
    """Return the best guess without any report: the baseline of every attack.

    error = min over g of sum over s of prior(s) d(g, s)

    Its error is the largest distortion privacy that any mechanism can give.

    Args:
        prior: What the adversary believes, and what is true.
        distance: d(guess, s), array (guesses, secrets), a `Loss` or a `Metric`.

    Returns:
        The attack on a mechanism with one observable, which reveals nothing.

    Raises:
        InputError: If the distance does not fit the prior.
    """
    return replace(optimal(silence(prior), prior, distance), name="blind")


def silence(prior: Prior) -> Mechanism:
    """Return the mechanism on the prior's secrets that always reports the same."""
    return Mechanism(np.ones((len(prior), 1)), prior.space, Space(["nothing"]))


@dataclass(frozen=True, slots=True, eq=False)
class Goals:
    """The best attacks for the two goals; errors and hits of all four count alike.

    An attacker who wants to be near and one who wants to be exactly right guess differently.
    All statements about "the best attacker", in sentences, tables and figures, are read from here.

    Attributes:
        near: The attack of least expected error.
        hit: The attack that finds the secret most often.
        near_blind: The guess of least expected error without a report.
        hit_blind: The likeliest secret, guessed without a report.
        hit_rate: How often ``hit`` finds the secret: the Bayes vulnerability.
        blind_hit_rate: How often ``hit_blind`` does.
    """

    near: Attack
    hit: Attack
    near_blind: Attack
    hit_blind: Attack
    hit_rate: float
    blind_hit_rate: float


@checked
def goals(mechanism: Randomizer, prior: Prior, distance: AnyLoss) -> Goals:
    """Return the best attacks for both goals, and what they achieve without the report.

    Args:
        mechanism: The mechanism that is attacked.
        prior: What the attacker believes, and what is true.
        distance: d(guess, s), array (secrets, secrets), a `Loss` or a `Metric`.

    Raises:
        InputError: If the prior or the distance does not fit the mechanism.

    Source:
        Shokri, "Privacy Games", equation 19, with the distance and with the Hamming distance.
    """
    mechanism = matrix_of(mechanism)
    exact = hamming(prior.space)

    def attack(seen: Mechanism, aim: AnyLoss, name: str) -> Attack:
        return evaluate(seen, prior, distance, optimal_strategy(seen, prior, aim), name=name)

    def hit_rate(seen: Mechanism, strategy: Floats) -> float:
        return float((seen.joint(prior) * strategy.T).sum())

    silent = silence(prior)
    hit, hit_blind = attack(mechanism, exact, "likeliest"), attack(silent, exact, "blind likeliest")
    return Goals(
        attack(mechanism, distance, "optimal"),
        hit,
        attack(silent, distance, "blind"),
        hit_blind,
        hit_rate(mechanism, hit.strategy),
        hit_rate(silent, hit_blind.strategy),
    )


@checked
def informed(mechanism: Randomizer, prior: Prior, distance: AnyLoss, told: ArrayLike) -> Attack:
    """Return the best attack with side information, averaged over what the attacker may be told.

    error = sum over y, o of min over g of sum over s of prior(s) told(y|s) p(o|s) d(g, s)

    What is told is true and independent of the report, given the secret. It never raises
    the error above that of `optimal`, whose attacker is told nothing. (An attacker who
    *believes* more than is true is `misinformed`; their error is never below the best.)

    Where the person's own habits are sharper than the prior of the design, and the
    attacker knows them, attack with them as the truth: ``optimal(mechanism, habits,
    distance)``, and ``misinformed(mechanism, habits, distance, prior)`` for the
    attacker whom the design expected (Privacy Games, section 9.2).

    Args:
        mechanism: The mechanism that is attacked.
        prior: What the attacker believes before they are told anything, and what is true.
        distance: d(guess, s), array (guesses, secrets), a `Loss` or a `Metric`.
        told: told(y|s), array (secrets, pieces of information); rows sum to one. Columns
            of zeros and ones narrow the secret down to a set;
            `main_place_information` makes one.

    Returns:
        The attack. Its strategy has a row for each pair of a piece of information and an
        observable: number ``y * observables + o``.

    Raises:
        InputError: If the prior or the distance does not fit the mechanism, or a row of
            ``told`` is not a distribution.
    """
    mechanism = matrix_of(mechanism)
    channel = _distributions(told, len(prior))
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


@checked
def misinformed(mechanism: Randomizer, prior: Prior, distance: AnyLoss, belief: Prior) -> Attack:
    """Return the attack that is optimal for a belief, with its error under the true prior.

    The belief may know less than the truth (a population's prior against one user) or
    claim more than is true (`Prior.sharpened`: overconfident of home and work); a false
    one never lowers the error below that of the optimal attack. For a report that is
    impossible under the belief, the guess is the belief's best one without any report.

    An attacker who truly knows more is `informed`.

    Args:
        mechanism: The mechanism that is attacked.
        prior: The true prior, by which the error is averaged.
        distance: d(guess, s), array (guesses, secrets), a `Loss` or a `Metric`.
        belief: What the adversary believes.

    Raises:
        InputError: If a prior or the distance does not fit the mechanism.

    Source:
        Shokri, "Privacy Games", section 9.2, with the true prior as the sharper one and the
        design's as the belief: the attacker whom the design expected.
    """
    mechanism = matrix_of(mechanism)
    strategy = optimal_strategy(mechanism, belief, distance)
    return evaluate(mechanism, prior, distance, strategy, name="misinformed")


def main_place_information(prior: Prior, share: float, *, places: int = 2) -> Floats:
    """Return the side information of an attacker who may see whether someone is at a main place.

    With probability ``share`` they are told whether the secret is one of the likeliest
    (home and work, say), though not which; otherwise they are told nothing.

    Args:
        prior: How often each secret occurs.
        share: How often they are told.
        places: How many of the likeliest secrets are the main ones.

    Returns:
        Array (secrets, 3) with a column for being told nothing, "a main place" and "another place".

    Raises:
        InputError: If the share is not a probability, or there are fewer secrets than that.
    """
    if not 0 <= share <= 1:
        raise InputError(f"the share {share} is not between 0 and 1.", "use 0.5 to tell half of the time.")
    if not 1 <= places <= len(prior):
        raise InputError(
            f"{places} main places were asked for, of {len(prior)}.", "ask for at least one, at most all."
        )
    main = np.zeros(len(prior), dtype=np.bool_)
    main[np.argsort(-prior.probabilities, kind="stable")[:places]] = True
    return readonly(np.stack([np.full(len(prior), 1 - share), share * main, share * ~main], axis=1))


def _distributions(told: ArrayLike, secrets: int) -> Floats:
    channel = floats(told, "what is told", shape=(secrets, None))
    sums = channel.sum(axis=1)
    worst = int(np.argmax(np.abs(sums - 1)))
    if (channel < 0).any() or abs(sums[worst] - 1) > ROW_TOLERANCE:
        raise InputError(
            f"what is told of secret {worst} sums to {sums[worst]:.12g}, or is negative.",
            "pass told(y|s): every row is a distribution over pieces of information.",
        )
    return channel


@checked
def track_beliefs(
    channel: ArrayLike, prior: Prior, reports: Iterable[int], near: NDArray[np.bool_] | None = None
) -> Floats:
    """Return what an attacker believes before the first report, and after each one.

    b_0 = prior;  b_t(s) is proportional to p(o_t|s) times the sum over r of b_(t-1)(r) k(s|r)

    Without ``near`` the secret is always the same (k(s|r) = 1 where s = r), and k reports multiply their
    likelihoods. With it the person moves between reports: from r to s with a probability proportional to
    prior(s), among those that are near r. That is a model of the attacker's, who believes it.

    Args:
        channel: p(o|s), array (secrets, observables).
        prior: What they believe before the first report.
        reports: Positions of the observables that they see, in order.
        near: Array (secrets, secrets): whether s can follow r, at ``near[r, s]``. Staying is always possible.

    Returns:
        Array (reports + 1, secrets); rows sum to one.

    Raises:
        InputError: If sizes do not fit, or a report is impossible for all that they believe.

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
                f"report {number} cannot happen for anybody whom the attacker thinks possible.",
                "give a prior that holds the true secret possible, and moves that can be made.",
            )
        beliefs.append(after / total)
    return readonly(np.stack(beliefs))


def _moves(near: NDArray[np.bool_], prior: Prior) -> Floats:
    """Return the probabilities k(s|r) of moves, array (secrets, secrets)."""
    n = len(prior)
    if np.shape(near) != (n, n):
        raise InputError(f"near has the shape {np.shape(near)}.", f"pass {n} x {n} truth values.")
    allowed = np.asarray(near, dtype=bool) | np.eye(n, dtype=bool)
    weights = allowed * prior.probabilities
    totals = weights.sum(axis=1, keepdims=True)
    moves: Floats = np.divide(weights, totals, out=np.eye(n), where=totals > 0)
    return moves
