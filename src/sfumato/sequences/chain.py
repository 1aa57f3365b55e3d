"""Secrets that move: the attacker's belief after each report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core import Mechanism, Prior, Space
from ..core.arguments import check_arguments
from ..core.arrays import Floats, Positions, floats, integer
from ..core.immutable import assign
from ..errors import InputError, argument
from .beliefs import backward_smoother, forward_filter, most_likely_path

Released = Sequence[tuple[Mechanism, int]]
"""Each report: the mechanism that made it, and the position of the observable."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MarkovChain:
    """A Markov chain of secrets.

    ``initial`` is the prior of the first secret, and ``transition`` a mechanism on its space, from each secret to
    the next one. An attacker who sees reports updates their prior, so the next mechanism should be designed for
    `next_prior` and not for the first prior (Privacy Games, section 2, assumes this). Raises `InputError` if the
    transition is on another space.
    """

    initial: Prior
    transition: Mechanism

    def __init__(self, initial: Prior, transition: Mechanism) -> None:
        labels = initial.space.labels
        if transition.secrets.labels != labels or transition.observables.labels != labels:
            raise InputError(
                "the transition does not lead from the prior's space to itself.",
                "pass a mechanism whose secrets and observables are the prior's space.",
            )
        assign(self, initial=initial, transition=transition)

    @classmethod
    def constant(cls, prior: Prior) -> MarkovChain:
        """Return the chain of one secret that never changes: every report adds to the others."""
        return cls(prior, Mechanism(np.eye(len(prior)), prior.space, prior.space))

    @classmethod
    def independent(cls, prior: Prior) -> MarkovChain:
        """Return the chain of independent secrets: no report reveals anything about another secret."""
        return cls(prior, Mechanism(np.tile(prior.probabilities, (len(prior), 1)), prior.space, prior.space))

    @classmethod
    def of_traces(cls, space: Space, traces: Iterable[ArrayLike], *, smoothing: float = 1.0) -> MarkovChain:
        """Return the chain with the frequencies of steps and visits in traces, arrays of positions.

        There is one trace for each user or day. ``smoothing`` is added to every count, so that no step is
        impossible. Raises `InputError` if a trace holds no positions of the space, or a secret has no step and the
        smoothing is 0.
        """
        steps = np.full((len(space), len(space)), float(smoothing))
        visits = np.full(len(space), float(smoothing))
        for trace in traces:
            places = floats(trace, "the trace", shape=(None,))
            if (places % 1).any() or (places < 0).any() or (places >= len(space)).any():
                raise InputError("a trace holds no positions of the space.", "use Space.positions(labels).")
            at = places.astype(np.intp)
            np.add.at(steps, (at[:-1], at[1:]), 1)
            np.add.at(visits, at, 1)
        if not smoothing >= 0 or not steps.sum(axis=1).all():
            raise InputError(
                "a secret has no step in the traces, and the smoothing adds none.",
                f"use {argument('smoothing', 1)}, or a smaller space.",
            )
        matrix = steps / steps.sum(axis=1, keepdims=True)
        return cls(Prior.from_counts(space, visits), Mechanism(matrix, space, space))

    @check_arguments
    def filter(self, released: Released) -> Floats:
        """Return the belief about each secret after its own and all earlier reports, array (reports, secrets).

        Raises `InputError` if a report is impossible under the belief at its time.
        """
        return forward_filter(*self._arrays(released))

    @check_arguments
    def next_prior(self, released: Released) -> Prior:
        """Return the prior of the next secret, after the reports so far."""
        if not released:
            return self.initial
        coming = self.filter(released)[-1] @ self.transition.matrix
        return Prior.from_counts(self.initial.space, coming)

    @check_arguments
    def smooth(self, released: Released) -> Floats:
        """Return the belief about each secret after all reports, later ones too, array (reports, secrets).

        Raises `InputError` if a report is impossible under the belief at its time.

        Source:
            Rabiner, Proceedings of the IEEE 77, 1989 (forward and backward passes).
        """
        return backward_smoother(*self._arrays(released))

    @check_arguments
    def most_likely_path(self, released: Released) -> Positions:
        """Return the positions (reports,) of the most likely secrets, as a path, after all reports.

        Of equally likely paths it is the lexicographically smallest one. Raises `InputError` if a report is
        impossible under the belief at its time.

        Source:
            Viterbi, IEEE Transactions on Information Theory 13, 1967.
        """
        return most_likely_path(*self._arrays(released))

    def _arrays(self, released: Released) -> tuple[Floats, list[Floats], Floats]:
        """Return the first prior, the transition for each step, and the likelihoods (reports, secrets)."""
        pairs: Sequence[Any] = released
        for number, report in enumerate(pairs, 1):
            is_pair = isinstance(report, tuple) and len(report) == 2
            if not is_pair or not isinstance(report[0], Mechanism) or integer(report[1]) is None:
                raise InputError(
                    f"report {number} is {report!r}.",
                    "pass (mechanism, position of the observable) for each report.",
                )
        columns = [self._column(mechanism, observable) for mechanism, observable in released]
        likelihoods = np.array(columns).reshape(-1, len(self.initial))
        return self.initial.probabilities, [self.transition.matrix] * len(columns), likelihoods

    def _column(self, mechanism: Mechanism, observable: int) -> Floats:
        n, m = mechanism.shape
        if n != len(self.initial) or not 0 <= observable < m:
            raise InputError(
                f"observable {observable} of a mechanism of {n} secrets does not fit {len(self.initial)} secrets.",
                "pass (mechanism, position of the observable) for each report.",
            )
        return np.asarray(mechanism.matrix[:, observable])

    def __repr__(self) -> str:
        return f"MarkovChain of {len(self.initial)} secrets"
