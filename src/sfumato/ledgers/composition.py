"""Composition of independent reports about one secret, and schemes of repeated reports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..core import Mechanism, Metric, Prior
from ..core.arguments import checked
from ..core.arrays import Floats, numbers
from ..core.immutable import assign
from ..errors import InputError
from ..escaping import plain
from ..proofs import worst_ratios
from ..rounding import at_most

# A ratio is off by less than 2**-50, and a logarithm by a few units in the last place.
_LOG: Final = 1e-14
_SUM: Final = 2.0**-52
_BLOCK: Final = 1 << 23  # numbers held at once: 64 MiB


@dataclass(frozen=True, slots=True)
class Composition:
    """The joint guarantee of independent reports about one secret, per unit of the metric.

    Attributes:
        epsilon_upper: The epsilon of all reports together, exact up to rounding and rounded up; ``inf`` if a pair
            at finite distance has an infinite likelihood ratio.
        summed: The sum of the single epsilons, rounded up, as a ledger adds them. It is larger where the
            mechanisms are weakest on different pairs.
        worst_pair: Positions of the two secrets with the largest epsilon.
    """

    epsilon_upper: float
    summed: float
    worst_pair: tuple[int, int]
    reports: int
    unit: str

    def __str__(self) -> str:
        per = f"/{plain(self.unit)}" if self.unit else ""
        return (
            f"{self.reports} reports about one secret: epsilon at most {at_most(self.epsilon_upper, 6)}{per} "
            f"together (the sum of each alone is {at_most(self.summed, 6)}{per})."
        )


@checked
def compose(mechanisms: Sequence[Mechanism], metric: Metric) -> Composition:
    """Return the metric privacy of independent reports about one secret, one mechanism for each.

    max over s, s' of sum over i of ln max over o of p_i(o|s) / p_i(o|s'), over d(s, s')

    Every combination of reports may occur, so the largest likelihood ratio of the product channel for a pair is
    the product of the single ones. The result also bounds traces: for secrets s_1, ..., s_t, each reported once
    through a mechanism of epsilon e_i, the logarithms for two traces differ by at most the sum of e_i d(s_i,
    s_i').

    Raises:
        InputError: If there is no mechanism, or the sizes differ.

    Source:
        Chatzikokolakis, Andres, Bordenabe and Palamidessi, PETS 2013 (composition).

    Example:
        >>> import sfumato as sf
        >>> from sfumato.ledgers import compose
        >>> line = sf.Space.numbers([0, 1, 2])
        >>> noise = sf.mechanisms.geometric(line, 0.5)
        >>> round(compose([noise] * 4, line.metric()).epsilon_upper, 6)
        2.0
    """
    if not mechanisms:
        raise InputError("there is no report.", "pass one mechanism for each report.")
    n = len(metric)
    for mechanism in mechanisms:
        if not isinstance(mechanism, Mechanism):
            raise InputError(
                f"{mechanism!r} is not a mechanism.", "pass a list of mechanisms, one for each report."
            )
        if mechanism.shape[0] != n:
            raise InputError(
                f"a mechanism has {mechanism.shape[0]} secrets, but the metric is on {n} values.",
                "all reports are about one secret of the metric's space.",
            )
    times: dict[Mechanism, int] = {}
    for mechanism in mechanisms:
        times[mechanism] = times.get(mechanism, 0) + 1
    total, summed = np.zeros((n, n)), 0.0
    for mechanism, count in times.items():
        logs = count * _logs_above(mechanism)
        total += logs
        summed += _tight(logs, metric.array)[0]
    rounding = 1 + len(times) * _SUM
    upper, pair = _tight(total * rounding, metric.array)
    return Composition(upper, max(summed * rounding, upper), pair, len(mechanisms), metric.unit)


def _logs_above(mechanism: Mechanism) -> Floats:
    """Return ln of the largest likelihood ratios, array (n, n), rounded up; 0 for equal rows."""
    ratios, _ = worst_ratios(mechanism)
    with np.errstate(divide="ignore"):
        logs = np.log(ratios)
    logs = logs + _LOG * (1 + np.abs(logs))
    _, group = np.unique(mechanism.weights.astype(str), axis=0, return_inverse=True)
    logs[np.equal.outer(group, group)] = 0.0
    above: Floats = np.maximum(logs, 0.0)
    return above


def _tight(logs: Floats, distances: Floats) -> tuple[float, tuple[int, int]]:
    """Return max of logs / d, rounded up, and its pair; 0 if no ratio is above 1."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = np.where((logs > 0) & np.isfinite(distances), logs / distances, 0.0)
    s, t = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
    return math.nextafter(float(ratios[s, t]), math.inf) if ratios[s, t] > 0 else 0.0, (int(s), int(t))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scheme:
    """A scheme by which reports about one secret repeat.

    The permanent mechanism is drawn from once, and its value is stored as a memo. Every report passes the memo
    through the instantaneous mechanism, with fresh noise.

    p(o_1, ..., o_t|s) = sum over memos m of P(m|s) I(o_1|m) ... I(o_t|m)

    Args:
        permanent: P, from secrets to memos.
        instantaneous: I, from memos to observables.

    Raises:
        InputError: If the secrets of the second mechanism are not the observables of the first.

    Source:
        Erlingsson, Pihur and Korolova, "RAPPOR", CCS 2014 (permanent and instantaneous
        randomised response).
    """

    permanent: Mechanism
    instantaneous: Mechanism

    @checked
    def __init__(self, permanent: Mechanism, instantaneous: Mechanism) -> None:
        if instantaneous.secrets.labels != permanent.observables.labels:
            raise InputError(
                f"the instantaneous mechanism takes {instantaneous.secrets!r}, "
                f"but the memos are {permanent.observables!r}.",
                "its secrets must be the permanent mechanism's observables, in the same order.",
            )
        assign(self, permanent=permanent, instantaneous=instantaneous)

    @classmethod
    @checked
    def fresh(cls, mechanism: Mechanism) -> Scheme:
        """Return independent noise for every report: the memo is the secret itself."""
        return cls(Mechanism(np.eye(mechanism.shape[0]), mechanism.secrets, mechanism.secrets), mechanism)

    @classmethod
    @checked
    def memo(cls, mechanism: Mechanism) -> Scheme:
        """Return one report that all later ones repeat."""
        observables = mechanism.observables
        return cls(mechanism, Mechanism(np.eye(len(observables)), observables, observables))

    @property
    def repeats(self) -> bool:
        """Whether the memo determines all reports, so that none after the first adds information."""
        return bool((np.count_nonzero(self.instantaneous.weights, axis=1) == 1).all())

    @property
    def keeps_secret(self) -> bool:
        """Whether the secret determines the memo, so that reports are independent given it."""
        return bool((np.count_nonzero(self.permanent.weights, axis=1) == 1).all())

    def __repr__(self) -> str:
        n, m = self.permanent.shape[0], self.instantaneous.shape[1]
        kind = "fresh noise" if self.keeps_secret else "a memo" if self.repeats else "noise on a memo"
        return f"Scheme of {kind}, {n} secrets and {m} observables"

    def log_likelihood(self, counts: ArrayLike) -> Floats:
        """Return ln p(o_1, ..., o_t|s) for counts of each observable, array (secrets,); ``-inf`` if it is 0.

        The counts are an array (observables,), or (k, observables) for k observers at once with a result (k,
        secrets).

        Raises:
            InputError: If the counts do not fit, or are not whole numbers of at least 0.
        """
        array = numbers(counts, "the counts")
        rows = np.atleast_2d(array)
        if rows.shape[1:] != (self.instantaneous.shape[1],) or not (rows >= 0).all() or (rows % 1).any():
            raise InputError(
                f"counts of shape {array.shape} are not of {self.instantaneous.shape[1]} observables.",
                "pass how often each observable was reported.",
            )
        memos = _powers(self.instantaneous.matrix, rows)
        logs = np.empty((len(memos), self.permanent.shape[0]))  # ln sum over m of P(m|s) exp(memos)
        if self.keeps_secret:
            logs = memos[:, np.argmax(self.permanent.matrix, axis=1)]
        else:
            with np.errstate(divide="ignore"):
                weights = np.log(self.permanent.matrix)
            width = max(1, _BLOCK // weights.size)
            for start in range(0, len(memos), width):
                terms = memos[start : start + width, None, :] + weights
                top = terms.max(axis=2, keepdims=True)
                top = np.where(np.isfinite(top), top, 0.0)
                with np.errstate(divide="ignore"):
                    logs[start : start + width] = np.log(np.exp(terms - top).sum(axis=2)) + top[:, :, 0]
        return logs if array.ndim == 2 else np.asarray(logs[0])

    @checked
    def posterior(self, prior: Prior, counts: ArrayLike) -> Prior:
        """Return the posterior of the secret from the counts of each observable, array (observables,).

        Raises:
            InputError: If the reports are impossible under the prior, or sizes do not fit.
        """
        if len(prior) != self.permanent.shape[0]:
            raise InputError(
                f"the prior has {len(prior)} values, but the scheme {self.permanent.shape[0]} secrets.",
                "use a prior on the permanent mechanism's secrets.",
            )
        self.permanent.secrets.check_order(prior.space, "the prior")
        with np.errstate(divide="ignore"):
            logs = np.log(prior.probabilities) + self.log_likelihood(counts)
        if not np.isfinite(logs).any():
            raise InputError(
                "no secret that is possible under the prior gives these reports.",
                "check that prior, scheme and reports belong together.",
            )
        weights = np.exp(logs - logs.max())
        return Prior.from_counts(prior.space, weights)

    @checked
    def epsilon_upper(self, metric: Metric, reports: int) -> float:
        """Return a proved epsilon of that many reports together, per unit of the metric, rounded up.

        With fresh noise it is exact. Otherwise reports depend on the secret through the memo alone, so the
        permanent mechanism's epsilon holds for any number of reports. It is exact for a memo without noise, and
        the limit for noise on a memo.

        Raises:
            InputError: If there is no report, or the metric does not fit.
        """
        if reports < 1:
            raise InputError(f"{reports} reports were given.", "ask for at least one.")
        if not self.keeps_secret:
            return compose([self.permanent], metric).epsilon_upper
        memo = np.argmax(self.permanent.matrix, axis=1)
        rows = self.instantaneous.weights[memo]  # the very integers: a product of floats would round
        report = Mechanism.from_weights(rows, self.instantaneous.bits, self.permanent.secrets)
        return compose([report] * reports, metric).epsilon_upper


def _powers(matrix: Floats, counts: Floats) -> Floats:
    """Return sum over o of counts ln matrix, array (k, memos), with 0 ln 0 = 0."""
    zero = matrix == 0
    logs = np.log(np.where(zero, 1.0, matrix))
    powers: Floats = counts @ logs.T
    powers[(counts > 0).astype(np.float64) @ zero.T.astype(np.float64) > 0] = -np.inf
    return powers
