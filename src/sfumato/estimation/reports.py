"""Counts of reports, estimates from them, and confidence intervals."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Capability, Mechanism, Metric, Prior, Randomizer, Space, check_known, matrix_of
from ..core.arrays import Floats, any_array, floats, numbers, readonly
from ..core.immutable import assign
from ..core.units import show
from ..errors import InputError, argument
from ..geo import Places
from ..rounding import amount, percent_at_least, percent_of_confidence, plural
from ..transport import Wasserstein, wasserstein

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reports:
    """Counts of the observables received from users who all ran one mechanism.

    Each report is taken to be of another user, whose secret is drawn independently from the population's
    distribution: the stated errors of estimates depend on that. Counts are whole numbers, array (observables,);
    ``sums`` are those of the reports' weights and ``squares`` those of their squares, the counts where all weights
    are equal. Raises `InputError` if a count is negative or not a whole number, there is no report, or an
    observable was received that no secret produces.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.estimation import Reports
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> Reports.of(coin, [0, 0, 1, 0])
        4 reports of 2 observables, 2 of them received
    """

    mechanism: Mechanism
    counts: Counts
    sums: Floats
    squares: Floats

    def __init__(self, mechanism: Randomizer, counts: ArrayLike) -> None:
        mechanism = _matrix_of(mechanism)
        array = numbers(counts, "the counts")
        if array.shape != (mechanism.shape[1],):
            raise InputError(
                f"the counts have shape {array.shape}, but the mechanism has {mechanism.shape[1]} observables.",
                "pass how often each observable was received; for a list of labels use Reports.of.",
            )
        if not (np.isfinite(array).all() and (array >= 0).all() and (array == np.rint(array)).all()):
            raise InputError("a count is NaN, negative or no whole number.", "pass how often each was received.")
        if not array.any():
            raise InputError("there is no report.", "an estimate needs at least one.")
        impossible = (array > 0) & ~np.asarray(mechanism.weights != 0, dtype=bool).any(axis=0)
        if impossible.any():
            o = int(np.flatnonzero(impossible)[0])
            raise InputError(
                f"{int(array[impossible].sum())} reports cannot come from this mechanism: no secret produces "
                f"{mechanism.observables.labels[o]!r}.",
                "check that the reports and the mechanism belong together.",
            )
        sums = readonly(array.astype(np.float64))
        assign(self, mechanism=mechanism, counts=readonly(array.astype(np.int64)), sums=sums, squares=sums)

    @classmethod
    def of(cls, mechanism: Randomizer, labels: Iterable[Hashable]) -> Reports:
        """Return the reports in a list of observables' labels; refuse other labels."""
        matrix = _matrix_of(mechanism)
        return cls.at(matrix, matrix.observables.positions(labels))

    @classmethod
    def at(cls, mechanism: Randomizer, positions: NDArray[np.intp], weights: ArrayLike | None = None) -> Reports:
        """Return the reports in an array of observables' positions (reports,), as samplers draw them.

        ``weights`` are survey weights (reports,): the number of people of the population that each person stands
        for. Only their ratios matter. Raises `InputError` if a position is out of range, or a weight is negative
        or not finite, or all are zero.
        """
        mechanism = _matrix_of(mechanism)
        at = any_array(positions, "positions=").reshape(-1)
        if at.size and (at.dtype.kind not in "iu" or at.min() < 0 or at.max() >= mechanism.shape[1]):
            raise InputError(
                "the positions are not those of observables.", f"use integers from 0 to {mechanism.shape[1] - 1}."
            )
        at = at.astype(np.intp)
        reports = cls(mechanism, np.bincount(at, minlength=mechanism.shape[1]))
        scaled = None if weights is None else _scaled_weights(weights, len(at))
        if scaled is not None and (scaled != scaled[0]).any():
            size = mechanism.shape[1]
            sums, squares = (readonly(np.bincount(at, terms, size)) for terms in (scaled, scaled**2))
            assign(reports, sums=sums, squares=squares)
        return reports

    @property
    def effective(self) -> float:
        """The number of reports of equal weight that vary as much, (sum of weights)^2 / sum of squares (Kish)."""
        return float(self.sums.sum() ** 2 / self.squares.sum())

    def __len__(self) -> int:
        return int(self.counts.sum())

    def __repr__(self) -> str:
        support = int(np.count_nonzero(self.counts))
        return f"{len(self):,} reports of {len(self.counts):,} observables, {support:,} of them received"


def _scaled_weights(weights: ArrayLike, size: int) -> Floats:
    array = np.asarray(numbers(weights, "the weights"), dtype=np.float64)
    if array.shape != (size,):
        raise InputError(f"there are {array.size:,} weights for {size:,} reports.", "pass one for each report.")
    wrong = ~(np.isfinite(array) & (array >= 0))
    if wrong.any():
        i = int(wrong.argmax())
        raise InputError(
            f"{plural(int(wrong.sum()), 'weight')} of {size:,} cannot be used: that of report {i + 1} is "
            f"{array[i]:g}.",
            "use finite weights of at least 0.",
        )
    most = float(array.max(initial=0.0))
    if not most > 0:
        raise InputError("all weights are zero.", "use positive weights for the reports that count.")
    return array / most


AnyReports = Reports | Sequence[Reports]


@dataclass(frozen=True, slots=True, eq=False)
class ReportPool:
    """Reports through one or several mechanisms as those of a single one.

    A report of the pool comes through mechanism r with the share of r among all reports, so the pool's channel is
    [share_r p_r(o|s)] with one column for each r and o. Weighted counts are sums of weights, scaled to sum to the
    number of reports; the squares are in the same scale, and without weights the counts.
    """

    secrets: Space
    matrix: Floats  # (secrets, columns); rows sum to one
    counts: Counts | Floats
    squares: Counts | Floats
    batch: NDArray[np.intp]  # the number of each column's batch
    shares: Floats  # of each column's batch in all reports

    @property
    def total(self) -> int:
        """The number of reports."""
        return round(float(self.counts.sum()))

    @property
    def effective(self) -> float:
        """The number of reports of equal weight that vary as much as these (Kish)."""
        return float(self.counts.sum() ** 2 / self.squares.sum())

    @property
    def is_weighted(self) -> bool:
        """Whether the reports have weights."""
        return self.counts.dtype.kind == "f"

    def integers(self, subject: str) -> Counts:
        """Return the counts of reports; refuse weighted reports, for which ``subject`` does not hold."""
        if self.is_weighted:
            raise InputError(
                f"{subject} do not hold for weighted reports.",
                f"use {argument('method', 'inversion')} with {argument('intervals', 'normal')}, or no intervals.",
            )
        return self.counts.astype(np.int64)

    @property
    def frequencies(self) -> Floats:
        """Array (columns,), the shares of the reports; they sum to one."""
        return np.asarray(self.counts / self.counts.sum())

    def log_likelihood(self, probabilities: Floats) -> float:
        """Return the sum of ln p(report) in nats; ``-inf`` where a received report is impossible."""
        support = self.counts > 0
        likelihoods = probabilities @ self.matrix[:, support] / self.shares[support]
        if (likelihoods <= 0).any():
            return float("-inf")
        return float(self.counts[support] @ np.log(likelihoods))

    def estimate(
        self, probabilities: Floats, method: str, gap: float, *, iterations: int = 0, converged: bool = True
    ) -> Estimate:
        """Return the estimate of these reports by a method."""
        effective, likelihood = self.effective if self.is_weighted else None, self.log_likelihood(probabilities)
        of = (self.secrets, readonly(probabilities), method, self.total, likelihood, gap, iterations, converged)
        return Estimate(*of, effective=effective)


def pool_reports(reports: AnyReports) -> ReportPool:
    """Return reports through one or several mechanisms as one pool; refuse mechanisms with different secrets."""
    parts = [reports] if isinstance(reports, Reports) else list(reports)
    if not parts:
        raise InputError("there are no reports.", "pass at least one batch.")
    secrets = parts[0].mechanism.secrets
    for part in parts:
        if part.mechanism.secrets.labels != secrets.labels:
            raise InputError(
                f"the batches are about different secrets: {secrets!r} and {part.mechanism.secrets!r}.",
                "the mechanisms must have the same secrets, in the same order.",
            )
    weighted = any(part.sums is not part.squares for part in parts)
    sizes = np.array([part.sums.sum() if weighted else len(part) for part in parts])
    batch = np.repeat(np.arange(len(parts)), [len(part.counts) for part in parts])
    shares = (sizes / sizes.sum())[batch]
    matrix = np.hstack([part.mechanism.matrix for part in parts]) * shares
    counts: Counts | Floats = np.concatenate([part.counts for part in parts])
    squares = counts
    if weighted:
        scale = float(counts.sum() / sizes.sum())
        counts = np.concatenate([part.sums for part in parts]) * scale
        squares = np.concatenate([part.squares for part in parts]) * scale**2
    return ReportPool(
        secrets, readonly(matrix), readonly(counts), readonly(squares), readonly(batch), readonly(shares)
    )


def _matrix_of(mechanism: Randomizer) -> Mechanism:
    """Return the matrix of a mechanism; refuse one whose reports are not a single observable."""
    check_known(mechanism)
    if mechanism.supports(Capability.TUPLES) or not mechanism.supports(Capability.MATRIX):
        raise InputError(
            f"the reports of {mechanism!r} are not one of finitely many observables.",
            "use a mechanism with a matrix.",
        )
    return matrix_of(mechanism)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConfidenceIntervals:
    """Confidence intervals for several numbers.

    Each misses its own number with the probability ``failure``: of 20 intervals of 95 % one misses on average.
    With ``together`` it is the probability that any of them misses.

    Attributes:
        method: The method in words, such as ``"profile-likelihood"``.
        exact: Whether the probability is proved for every number of reports. Otherwise it is reached as the
            reports become many, and an interval may miss more often where the true probability is zero or barely
            identified.
        names: The secrets, or one text for each functional.
    """

    lower: Floats
    upper: Floats
    failure: float
    method: str
    exact: bool
    names: tuple[Hashable, ...]
    together: bool = False

    @property
    def confidence(self) -> float:
        """The probability that one interval covers its number, or all do theirs, 1 - ``failure``."""
        return 1 - self.failure

    def __len__(self) -> int:
        return len(self.lower)

    def __repr__(self) -> str:
        return (
            f"{len(self)} {self.method} intervals of {percent_of_confidence(self.confidence)}, "
            f"median width {100 * float(np.median(self.upper - self.lower)):.3g} points"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Districts:
    """Districts with soft borders, whose shares the reports settle where shares of single places are not settled.

    The middles of districts are one side apart, on a square lattice. A place at a middle counts fully for its
    district. Towards the next middle its part falls linearly along each axis, so a place on a border counts half
    for each side. The ``parts`` of a place, a column of an array (districts, places), sum to one. ``latlon`` are
    the middles, array (districts, 2), degrees. The intervals of the shares hold all together, for every number of
    reports and every choice of districts: all come from one set of distributions.
    """

    places: Places
    side_m: float
    latlon: Floats
    parts: Floats
    shares: Floats
    intervals: ConfidenceIntervals
    reports: int

    def __len__(self) -> int:
        return len(self.shares)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the districts, row by row from the south-west: ``d1``, ``d2``, ..."""
        return tuple(map(str, self.intervals.names))

    @property
    def membership(self) -> NDArray[np.intp]:
        """The position of the district for which each place counts most, array (places,)."""
        return np.asarray(self.parts.argmax(axis=0), dtype=np.intp)

    @property
    def sizes(self) -> NDArray[np.intp]:
        """The number of places that count most for each district, array (districts,)."""
        return np.asarray(np.bincount(self.membership, minlength=len(self)), dtype=np.intp)

    def __repr__(self) -> str:
        return f"{plural(len(self), 'district')} of about {amount(self.side_m, 'm', 2)}"

    def __str__(self) -> str:
        sure = self.intervals
        return (
            f"The middles of districts are {show(self.side_m, 'm')} apart, and their borders are soft: a place "
            "at a middle counts fully for its district, and one halfway to the next half for each. The intervals "
            f"hold all together with a probability of at least {percent_of_confidence(sure.confidence)}, for any "
            "number of reports, if each report is of another person. Their lower ends place at least "
            f"{percent_at_least(float(sure.lower.sum()))} of the people."
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Estimate:
    """The population's distribution over secrets, estimated from its reports.

    Attributes:
        probabilities: Array (secrets,); they sum to one. Only the unbiased method may give negative ones.
        method: The method in words, such as ``"maximum likelihood"``.
        log_likelihood: The sum of ln p(report) in nats; ``-inf`` where the estimate makes a received report
            impossible, NaN where only counts are known.
        gap: An upper bound of the distance of the method's objective from its optimum: for maximum likelihood in
            nats, for least squares in squared frequency. It holds for every estimate, up to the rounding of
            doubles.
        converged: Whether the gap is within the tolerance.
        districts: Districts whose shares the reports settle, where shares of single places are not settled.
        effective: Of weighted reports, the number of equal weight that vary as much (Kish); None without weights.
    """

    space: Space
    probabilities: Floats
    method: str
    reports: int
    log_likelihood: float
    gap: float
    iterations: int = 0
    converged: bool = True
    intervals: ConfidenceIntervals | None = None
    districts: Districts | None = None
    effective: float | None = None

    @property
    def prior(self) -> Prior:
        """The estimate as a prior; `InputError` if a probability is negative, as the unbiased method allows."""
        if (self.probabilities < 0).any():
            raise InputError(
                f"{int((self.probabilities < 0).sum())} probabilities are negative: the estimate is not a prior.",
                "estimate by maximum likelihood or least squares instead.",
            )
        return Prior(self.space, self.probabilities)

    def __repr__(self) -> str:
        state = "" if self.converged else ", NOT converged"
        sure = "" if self.intervals is None else f", with {self.intervals!r}"
        sure += "" if self.districts is None else f", with {self.districts!r}"
        return f"Estimate of {len(self.space)} values from {self.reports:,} reports by {self.method}{state}{sure}"

    def with_intervals(self, intervals: ConfidenceIntervals) -> Estimate:
        """Return the estimate with intervals for its probabilities; refuse intervals for anything else."""
        if intervals.names != self.space.labels:
            raise InputError("the intervals are not for these probabilities.", "find them for the same secrets.")
        return replace(self, intervals=intervals)

    def distance_to(self, truth: Prior, metric: Metric) -> Wasserstein:
        """Return the earth mover's distance to a known distribution, in the metric's unit; for studies."""
        return wasserstein(self.prior, truth, metric)


def rows_of(functionals: ArrayLike | None, space: Space) -> tuple[Floats, tuple[Hashable, ...]]:
    """Return the weights, array (k, secrets), and their names; by default the unit vectors."""
    n = len(space)
    if functionals is None:
        return np.eye(n), space.labels
    weights = floats(np.atleast_2d(any_array(functionals, "functionals=")), "the functionals", shape=(None, n))
    return weights, tuple(f"functional {row}" for row in range(len(weights)))
