"""Schemes of repetition: fresh noise each time, one report that is kept, or fresh noise on a kept report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..core import Mechanism, Metric, Prior
from ..core.arguments import checked
from ..core.arrays import Floats, numbers
from ..errors import InputError
from .composition import composed

_BLOCK: Final = 1 << 23  # numbers held at once: 64 MiB


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scheme:
    """A scheme by which reports about one secret repeat, as an observer of all of them sees it.

    The permanent mechanism is drawn from once and its value kept as a memo; every report
    passes the memo through the instantaneous mechanism, with fresh noise.

    p(o_1, ..., o_t|s) = sum over memos m of P(m|s) I(o_1|m) ... I(o_t|m)

    Args:
        permanent: P, from secrets to memos.
        instantaneous: I, from memos to observables.

    Raises:
        InputError: If the second mechanism does not take what the first one gives.

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
        object.__setattr__(self, "permanent", permanent)
        object.__setattr__(self, "instantaneous", instantaneous)

    @classmethod
    @checked
    def fresh(cls, mechanism: Mechanism) -> Scheme:
        """Return independent noise for every report: the memo is the secret itself."""
        return cls(Mechanism(np.eye(mechanism.shape[0]), mechanism.secrets, mechanism.secrets), mechanism)

    @classmethod
    @checked
    def memo(cls, mechanism: Mechanism) -> Scheme:
        """Return one report that is kept: every later one repeats it."""
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
        """Return ln p(o_1, ..., o_t|s) for how often each observable was reported.

        The order of the reports does not matter.

        Args:
            counts: Array (observables,), or (k, observables) for k observers at once.

        Returns:
            Array (secrets,) or (k, secrets); ``-inf`` where it is impossible.

        Raises:
            InputError: If the counts do not fit, or are not whole numbers of at least 0.
        """
        given = numbers(counts, "the counts")
        rows = np.atleast_2d(given)
        if rows.shape[1:] != (self.instantaneous.shape[1],) or not (rows >= 0).all() or (rows % 1).any():
            raise InputError(
                f"counts of shape {given.shape} are not of {self.instantaneous.shape[1]} observables.",
                "pass how often each observable was reported.",
            )
        memos = _powers(self.instantaneous.matrix, rows)
        found = self._mixed(memos)
        return found if given.ndim == 2 else found[0]

    def _mixed(self, memos: Floats) -> Floats:
        """Return ln sum over m of P(m|s) exp(memos), array (k, secrets)."""
        if self.keeps_secret:
            return np.asarray(memos[:, np.argmax(self.permanent.matrix, axis=1)])
        with np.errstate(divide="ignore"):
            weights = np.log(self.permanent.matrix)
        found = np.empty((len(memos), len(weights)))
        width = max(1, _BLOCK // weights.size)
        for start in range(0, len(memos), width):
            terms = memos[start : start + width, None, :] + weights
            top = terms.max(axis=2, keepdims=True)
            top = np.where(np.isfinite(top), top, 0.0)
            with np.errstate(divide="ignore"):
                found[start : start + width] = np.log(np.exp(terms - top).sum(axis=2)) + top[:, :, 0]
        return found

    @checked
    def posterior(self, prior: Prior, counts: ArrayLike) -> Prior:
        """Return what an observer of all reports believes of the secret.

        Args:
            prior: What they believed before.
            counts: Array (observables,): how often each observable was reported.

        Raises:
            InputError: If the prior calls the reports impossible, or sizes do not fit.
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

        Fresh noise adds up: it is exact. Otherwise reports depend on the secret through the
        memo alone, so the permanent mechanism's epsilon holds for any number of reports: it
        is exact for a memo, and what noise on a memo reaches in the limit.

        Args:
            metric: On the secrets.
            reports: How many.

        Raises:
            InputError: If there is no report, or the metric does not fit.
        """
        if reports < 1:
            raise InputError(f"{reports} reports were given.", "ask for at least one.")
        if not self.keeps_secret:
            return composed([self.permanent], metric).epsilon_upper
        memo = np.argmax(self.permanent.matrix, axis=1)
        rows = self.instantaneous.weights[memo]  # the very integers: a product of floats would round
        report = Mechanism.from_weights(rows, self.instantaneous.bits, self.permanent.secrets)
        return composed([report] * reports, metric).epsilon_upper


def _powers(matrix: Floats, counts: Floats) -> Floats:
    """Return sum over o of counts ln matrix, array (k, memos), with 0 ln 0 = 0."""
    zero = matrix == 0
    logs = np.log(np.where(zero, 1.0, matrix))
    powers: Floats = counts @ logs.T
    powers[(counts > 0).astype(np.float64) @ zero.T.astype(np.float64) > 0] = -np.inf
    return powers
