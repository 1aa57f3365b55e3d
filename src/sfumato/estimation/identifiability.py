"""Identifiability of a population's probabilities from its reports."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..core import JointSpace, Randomizer, Space, matrix_of
from ..core.arrays import Floats, floats, readonly
from ..errors import InputError
from ..geo import Places
from ..rounding import about, plural
from .reports import Estimate, Reports

_EXACT: Final = ("maximum likelihood", "least squares")  # invent what the reports do not settle
_RARE: Final = 1e-9  # no secret makes such a report even once in a billion times


def right_inverse(matrix: Floats, rounding: float) -> Floats:
    """Return R with C R = I and R 1 = 1, of least squares: f R is nearest to f among the p C with sum one.

    The channel C, array (secrets, columns), has full rank; singular values below ``rounding`` of the first are 0.
    """
    free: Floats = np.linalg.pinv(matrix, rcond=rounding).astype(np.float64, copy=False)
    weights = (free.T @ free).sum(axis=1)  # (C C')^-1 1, along which the sum is corrected
    return free + np.outer(1.0 - free.sum(axis=1), weights / weights.sum())


def least_reports(matrix: Floats, right: Floats, weights: Floats) -> Floats:
    """Return from how many reports on inversion beats a guess for every population, array (k,).

    With n reports the variance of (f R) . a is at most 1/n of the mean of (R a - c)^2 over the reports of the
    secret for which it is largest, for every c. The guess c, midway between the least and the largest value of p .
    a, is off by at most half their distance. So n is the quotient of the two squares: 1 without noise, and 0 where
    all weights in a row of ``weights``, array (k, secrets), are equal.
    """
    low, high = weights.min(axis=1), weights.max(axis=1)
    squares = matrix @ (right @ weights.T - (low + high) / 2) ** 2
    guess = ((high - low) / 2) ** 2
    return np.asarray(np.divide(squares.max(axis=0), guess, out=np.zeros(len(weights)), where=guess > 0))


Channels = Randomizer | Reports | Sequence[Reports]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Identifiability:
    """The combinations of the population's probabilities that the reports identify.

    Two distributions give the same reports exactly when their difference v satisfies v C = 0, where C holds the
    reports that occur in practice. Ranks are computed in doubles. A full rank does not yet mean that shares can be
    estimated: see `least_reports`.

    Attributes:
        rank: The number of independent combinations that are identified.
        condition: The largest singular value over the smallest; ``inf`` if some are zero. The larger it is, the
            more the noise of frequencies is magnified.
        least_reports: About the number of reports (in equal batches) from which inversion estimates each
            probability with a standard error of 1/2 or less, for every population. A guess of 1/2 is never off by
            more. It is 1 without noise, 0 for a single secret, and ``inf`` if the rank is not full.
        null_space: Array (secrets - rank, secrets): orthonormal changes of the distribution that no report shows;
            each sums to zero.
        twins: Groups of secrets whose rows are the same integers: only their sum is identified.
        rounding: The share of the largest singular value below which one counts as zero.
        reports: The number of different reports.
        frequent_reports: Number of them that some secret makes at least once in a billion times; only these count.
    """

    secrets: Space
    rank: int
    condition: float
    least_reports: float
    null_space: Floats
    twins: tuple[tuple[Hashable, ...], ...]
    rounding: float
    reports: int
    frequent_reports: int

    @property
    def complete(self) -> bool:
        """Whether every probability is identified."""
        return self.rank == len(self.secrets)

    def identifies(self, functional: ArrayLike) -> bool:
        """Return whether a . p is identified, array a (secrets,): no hidden change alters it (up to rounding)."""
        weights = floats(functional, "the functional", shape=(len(self.secrets),))
        size = float(np.linalg.norm(weights))
        return bool((np.abs(self.null_space @ weights) <= 1e-8 * size).all())

    @property
    def unidentified_secrets(self) -> tuple[Hashable, ...]:
        """The secrets whose own probability is not identified."""
        changes = np.abs(self.null_space).max(axis=0, initial=0.0)
        return tuple(label for label, size in zip(self.secrets.labels, changes, strict=True) if size > 1e-8)

    def unsettled_shares(self, estimate: Estimate) -> frozenset[int]:
        """Return the positions of the estimated shares that the reports do not settle.

        There are none with intervals, which show the error, with early stopping, which smooths, or with inversion,
        which refuses unidentified shares. Of places, all are unsettled where single ones are mostly noise; see
        `doubt`.
        """
        if estimate.intervals is not None or estimate.method not in _EXACT:
            return frozenset()
        if isinstance(self.secrets, Places) and self.doubt_of(estimate):
            return frozenset(range(len(self.secrets)))
        return frozenset(self.secrets.positions(self.unidentified_secrets).tolist())

    def unsettled_margins(self, estimate: Estimate) -> dict[str, frozenset[int]]:
        """Return for each column of a `JointSpace` the positions of its shares that the reports do not settle."""
        space = self.secrets
        if not isinstance(space, JointSpace):
            return {}
        certain = estimate.intervals is not None or estimate.method not in _EXACT
        return {
            name: frozenset(i for i, row in enumerate(space.margin(name)) if not (certain or self.identifies(row)))
            for name in space.names
        }

    def doubt_of(self, estimate: Estimate) -> str:
        """Return the `doubt` in an estimate; weighted reports count as those of equal weight that vary as much."""
        return self.doubt(estimate.reports if estimate.effective is None else int(estimate.effective))

    def doubt(self, reports: int) -> str:
        """Return why so many reports do not determine some single probabilities, or an empty text."""
        if not self.complete or reports >= self.least_reports:
            return ""
        return (
            f"some estimates of single shares from {plural(reports, 'report')} are mostly noise. It takes about "
            f"{_roughly(self.least_reports)} until each is known better than by a guess of 50 %."
        )

    def __str__(self) -> str:
        n = len(self.secrets)
        are = "is" if self.frequent_reports == 1 else "are"
        used = (
            f"Only {self.frequent_reports} of {self.reports} different reports {are} made in practice (each of "
            "the others less than once in a billion). "
        )
        used = used if self.reports > self.frequent_reports else ""
        if self.complete:
            return (
                f"{used}All {n} shares follow from the reports, if there are enough: by inversion the standard "
                f"error of each, at most, is 50 points for about {_roughly(self.least_reports)}, and half of that "
                f"for four times as many (condition number {about(self.condition, 3)})."
            )
        text = (
            f"{used}However many reports there are, they do not settle {len(self.unidentified_secrets)} of the "
            f"{n} shares (such as that of {self.unidentified_secrets[0]!r}): other shares lead to the same "
            "reports."
        )
        if self.twins:
            group = ", ".join(map(repr, self.twins[0][:3])) + (", ..." if len(self.twins[0]) > 3 else "")
            text += (
                f" The same reports equally often come from all secrets of {plural(len(self.twins), 'group')} "
                f"(such as {group})."
            )
        return text


def identifiability(channels: Channels) -> Identifiability:
    """Return what reports through a mechanism, or batches through several, can identify.

    Raises `InputError` if there is none, or the secrets differ.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.estimation import identifiability
        >>> half = sf.Mechanism([[0.9, 0.1], [0.1, 0.9], [0.1, 0.9]])
        >>> found = identifiability(half)
        >>> found.rank, found.unidentified_secrets, found.twins, found.identifies([0, 1, 1])
        (2, (1, 2), ((1, 2),), True)
    """
    parts = list(channels) if isinstance(channels, Sequence) else [channels]
    mechanisms = [part.mechanism if isinstance(part, Reports) else matrix_of(part) for part in parts]
    if not mechanisms or len({mechanism.secrets.labels for mechanism in mechanisms}) > 1:
        raise InputError("the mechanisms have different secrets, or there is none.", "pass those on the same.")
    matrix = np.hstack([mechanism.matrix for mechanism in mechanisms])
    n = len(matrix)
    frequent = matrix.max(axis=0) >= _RARE
    matrix = np.where(frequent, matrix, 0.0) / len(mechanisms)
    left, values, _ = np.linalg.svd(matrix, full_matrices=matrix.shape[1] < n)
    rounding = max(matrix.shape) * float(np.finfo(float).eps)
    rank = int((values > rounding * values[0]).sum())
    least = condition = math.inf
    if rank == n:
        least = float(least_reports(matrix, right_inverse(matrix, rounding), np.eye(n)).max())
        condition = float(values[0] / values[-1])
    groups: dict[tuple[tuple[int, ...], ...], list[Hashable]] = {}
    for s, label in enumerate(mechanisms[0].secrets.labels):
        row = tuple(tuple(mechanism.weights[s].tolist()) for mechanism in mechanisms)
        groups.setdefault(row, []).append(label)
    return Identifiability(
        secrets=mechanisms[0].secrets,
        rank=rank,
        condition=condition,
        least_reports=least,
        null_space=readonly(left[:, rank:].T.copy()),
        twins=tuple(tuple(group) for group in groups.values() if len(group) > 1),
        rounding=rounding,
        reports=len(frequent),
        frequent_reports=int(np.count_nonzero(frequent)),
    )


def _roughly(reports: float) -> str:
    rough = float(f"{max(reports, 1.0):.1e}")
    return plural(round(rough), "report") if rough < 1e9 else f"{about(rough, 2)} reports"
