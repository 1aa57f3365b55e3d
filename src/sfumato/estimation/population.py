"""Distributions of a population, of columns and of districts, from private reports by any method."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial import cKDTree

from .._system import single_blas_thread
from ..core import JointSpace, Mechanism, MechanismWithPrior, Prior, Randomizer
from ..core.arrays import Floats, readonly
from ..core.immutable import CompactRepr
from ..errors import InputError, argument
from ..geo import Places
from ..leakage import maximise
from ..mechanisms.planar import Coarsening
from ..rounding import about
from ..statistics.binomial import check_failure
from .estimators import bayesian_updates, least_squares, maximum_likelihood, unbiased_estimate, updates
from .goodness_of_fit import distance_within
from .identifiability import Identifiability, identifiability
from .intervals import LikelihoodSet, Resampled, bootstrap_intervals, profile_intervals
from .reading import ReadResult, Table, read_released
from .reports import AnyReports, ConfidenceIntervals, Districts, Estimate, ReportPool, Reports, pool_reports

_FITTING: Final[dict[str, tuple[str, ...]]] = {
    "maximum-likelihood": ("profile", "bootstrap"),
    "early-stopped": (),
    "least-squares": ("bootstrap",),
    "inversion": ("normal",),
}
_GROWTH: Final = 1.15  # from one number of updates that is tried to the next
Method = Literal["maximum-likelihood", "early-stopped", "least-squares", "inversion"]
Kind = Literal["profile", "bootstrap", "normal"]
MOST_PLACES: Final = 2_000  # for which districts are sought: so many take half a minute
_SIDES: Final = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # in distances of neighbouring places
_LEAST_PLACED: Final = 0.5  # the part of the population that the lower ends of the intervals must place
_GROUPS: Final = 48  # of similar reports: more are not worth their part of the failure
_FINE: Final = 0.02  # of an interval's half: by how much it may be too wide


def cross_validated_updates(
    reports: AnyReports, *, folds: int = 10, most: int = 10_000, patience: float = 4.0, seed: int
) -> int:
    """Return the number of Bayesian updates that maximises the likelihood of held-out reports.

    Where the mechanism blurs much, the maximum-likelihood estimate fits the noise of the reports. It is spiky, and
    can be further from the truth than the result of fewer updates. Here the reports are dealt into folds. Updates
    run on all but one fold, from the uniform prior, and the log-likelihoods of the folds left out are summed. At
    least 2 folds are used, and at most ``most`` updates are tried; updating stops after ``patience`` times the
    best number so far. The seed of the dealing is a non-negative integer. Raises `InputError` if there are fewer
    reports than folds, or an option is out of range.

    Source:
        Stone, "Cross-validatory choice and assessment of statistical predictions", 1974.
    """
    pool = pool_reports(reports)
    if not 2 <= folds <= pool.total or most < 1 or not patience > 1 or seed < 0:
        raise InputError(
            f"{folds} folds of {pool.total} reports and {most} updates choose nothing.",
            "use at least 2 folds, at most as many as reports, patience above 1, and a non-negative seed.",
        )
    held_out = _deal(pool, folds, np.random.default_rng(seed))
    support = pool.counts > 0
    rest = (pool.counts - held_out)[:, support].astype(np.float64)
    rest /= rest.sum(axis=1, keepdims=True)
    matrix = pool.matrix[:, support]
    p = np.full((folds, len(matrix)), 1.0 / len(matrix))
    best, best_value, steps, goal = 1, -np.inf, 0, 1
    while True:
        p = updates(matrix, rest, p, goal - steps).probabilities
        steps = goal
        value = float((held_out[:, support] * np.log(p @ matrix)).sum())
        if value > best_value:
            best, best_value = steps, value
        if steps >= most or steps > patience * best + 10:
            return best
        goal = min(most, max(steps + 1, int(steps * _GROWTH)))


def _deal(pool: ReportPool, folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the counts of each fold, array (folds, columns); folds differ by at most one report."""
    columns = np.repeat(np.arange(len(pool.counts)), pool.integers("held-out reports"))
    rng.shuffle(columns)
    counts = [np.bincount(columns[fold::folds], minlength=len(pool.counts)) for fold in range(folds)]
    return np.array(counts, dtype=np.int64)


def estimate_population(
    reports: AnyReports,
    method: Method = "maximum-likelihood",
    *,
    intervals: Kind | None = None,
    failure: float = 0.05,
    seed: int | None = None,
) -> Estimate:
    """Estimate the distribution of secrets in a population from its private reports.

    Where reports by maximum likelihood settle no shares of single places, the estimate has the smallest
    ``districts`` whose shares they settle. Raises `InputError` if an option is unknown, the intervals do not fit
    the method, or the mechanism cannot be inverted.

    Args:
        reports: Reports through one mechanism, or batches through several.
        method: ``"maximum-likelihood"``; ``"early-stopped"`` Bayesian updates, as many as held-out reports favour:
            nearer to the truth where the mechanism blurs much; ``"least-squares"``; or ``"inversion"``, unbiased
            but possibly negative.
        intervals: For each probability: ``"profile"`` or ``"bootstrap"`` with maximum likelihood, ``"bootstrap"``
            with least squares, ``"normal"`` with inversion. Early stopping has none, because its bias is unknown.
        failure: The probability that an interval misses; of districts, that any does.
        seed: For the bootstrap, and for dealing out held-out reports.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.estimation import Reports, estimate_population
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> found = estimate_population(Reports(coin, [600, 400]), intervals="profile")
        >>> found
        Estimate of 2 values from 1,000 reports by maximum likelihood, with 2 profile-likelihood intervals of ...
    """
    if method not in get_args(Method):
        raise InputError(
            f"{argument('method', method)} is unknown.", f"use one of {', '.join(map(str, get_args(Method)))}."
        )
    if intervals is not None and intervals not in _FITTING[method]:
        raise InputError(
            f"{intervals!r} intervals do not go with {method}.",
            f"use {' or '.join(map(repr, _FITTING[method])) or 'none'}.",
        )
    if method == "inversion":
        inverse = unbiased_estimate(reports)
        if intervals is None:
            return inverse.estimate
        return inverse.estimate.with_intervals(inverse.intervals(failure=failure))
    if seed is None and (method == "early-stopped" or intervals == "bootstrap"):
        raise InputError(
            "holding out reports and the bootstrap need a seed.",
            f"pass {argument('seed', 7)}, say, so that they can be repeated.",
        )
    if method == "early-stopped":
        return bayesian_updates(reports, cross_validated_updates(reports, seed=seed or 0))
    estimate = maximum_likelihood(reports) if method == "maximum-likelihood" else least_squares(reports)
    if intervals == "profile":
        return estimate.with_intervals(profile_intervals(reports, failure=failure))
    if intervals == "bootstrap":
        return estimate.with_intervals(
            bootstrap_intervals(reports, method=method, failure=failure, seed=seed or 0)
        )
    places = isinstance(estimate.space, Places) and len(estimate.space) <= MOST_PLACES
    if method == "maximum-likelihood" and places and identifiability(reports).unsettled_shares(estimate):
        return replace(estimate, districts=settled_districts(reports, failure=failure))
    return estimate


def estimate_margins(
    estimate: Estimate,
    reports: AnyReports,
    *,
    intervals: Kind | None = None,
    failure: float = 0.05,
    seed: int | None = None,
) -> dict[str, Estimate]:
    """Return the estimate for each column of a `JointSpace` by name: sums of the shares of combinations.

    Intervals, from the reports of the estimate, are those of the sums themselves; see `estimate_population`. On
    another space there are no margins.
    """
    space = estimate.space
    if not isinstance(space, JointSpace):
        return {}
    rows = {name: space.margin(name) for name in space.names}
    every, start = None, 0
    if intervals is not None:
        every = _intervals(estimate, reports, np.vstack(list(rows.values())), intervals, failure, seed)
    margins = {}
    for name, part in zip(space.names, space.parts, strict=True):
        at, ends = slice(start, start + len(part)), None
        if every is not None:
            lower, upper = (readonly(bound[at].copy()) for bound in (every.lower, every.upper))
            ends = replace(every, lower=lower, upper=upper, names=part.labels)
        shares = readonly(rows[name] @ estimate.probabilities)
        margins[name] = replace(estimate, space=part, probabilities=shares, intervals=ends)
        start = at.stop
    return margins


def _intervals(
    estimate: Estimate, reports: AnyReports, rows: Floats, kind: Kind, failure: float, seed: int | None
) -> ConfidenceIntervals:
    if kind == "normal":
        return unbiased_estimate(reports).intervals(rows, failure)
    if kind == "profile":
        return profile_intervals(reports, rows, failure=failure)
    method: Resampled = "least-squares" if estimate.method == "least squares" else "maximum-likelihood"
    return bootstrap_intervals(reports, rows, method=method, failure=failure, seed=seed or 0)


def settled_districts(reports: AnyReports, *, failure: float = 0.05) -> Districts | None:
    """Return the smallest districts whose shares reports settle.

    The intervals are { a . p : reports x D(frequencies || p C) <= t }. The true distribution is in this set with
    probability 1 - failure, for every number of reports (see `reports_fit`), so no correction is needed for the
    number of districts or the choice of their size. C has similar reports merged, as the mechanism alone
    determines. Districts count as settled where the lower ends sum to at least 1/2. Sides from 2 to 64 distances
    of neighbouring places are tried. None is returned where the reports settle not even two, the secrets are not
    places or more than 2,000, or the reports are weighted.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.estimation import Reports, settled_districts
        >>> lattice = sf.Lattice.covering("4 km x 4 km around 48.85,2.35", "1 km")
        >>> mechanism = sf.mechanisms.exponential(lattice, lattice.metric("euclidean", "km"), "1.5/km")
        >>> settled_districts(Reports(mechanism, [10_000] * len(lattice)))
        9 districts of about 2 km
    """
    risk = check_failure(failure)
    pool = pool_reports(reports)
    space = pool.secrets
    if not isinstance(space, Places) or not 1 < len(space) <= MOST_PLACES or pool.is_weighted:
        return None
    with single_blas_thread():
        return _smallest_districts(pool, space, risk)


def expected_districts(mechanism: Mechanism, prior: Prior, reports: int) -> Districts | None:
    """Return the districts that so many reports of a population like the prior are expected to settle."""
    expected = np.rint(reports * (prior.probabilities @ mechanism.matrix))
    return settled_districts(Reports(mechanism, expected)) if expected.any() else None


def _smallest_districts(pool: ReportPool, space: Places, failure: float) -> Districts | None:
    likelihood_set, coordinates = _likelihood_set(pool, failure), space.coordinates
    if likelihood_set is None or coordinates is None:
        return None
    likely, best = likelihood_set
    spacing = float(np.median(cKDTree(coordinates).query(coordinates, k=2)[0][:, 1]))
    for side in _SIDES:
        middles, parts = _soft_blocks(coordinates, side * spacing)
        if len(parts) < 2:
            return None
        lower = _lower_ends(likely, parts, parts @ best)
        if lower is None:
            continue
        upper = readonly(np.array([likely.highest(row) for row in parts]))
        names = tuple(f"d{i}" for i in range(1, len(parts) + 1))
        ends = ConfidenceIntervals(readonly(lower), upper, failure, "relative-entropy", True, names, together=True)
        latlon, shares = readonly(space.projection.inverse(middles)), readonly(parts @ best)
        return Districts(space, side * spacing, latlon, readonly(parts), shares, ends, pool.total)
    return None


def _likelihood_set(pool: ReportPool, failure: float) -> tuple[LikelihoodSet, Floats] | None:
    """Return the distributions near enough to the reports, and that of largest likelihood; None without any."""
    possible = pool.matrix.any(axis=0)
    matrix, frequencies = pool.matrix[:, possible], pool.frequencies[possible]
    if matrix.shape[1] > _GROUPS and not pool.batch.any():
        groups = fcluster(linkage(np.sqrt(matrix / matrix.sum(axis=0)).T, "ward"), _GROUPS, "maxclust")
        members = (groups[:, None] == np.unique(groups)).astype(np.float64)
        matrix, frequencies = matrix @ members, frequencies @ members
    distance = distance_within(failure, matrix.shape[1] - 1) / pool.total
    support = frequencies > 0
    matrix, frequencies = matrix[:, support], frequencies[support]
    n = len(matrix)
    best = maximise(matrix, frequencies, np.zeros(n), np.full(n, 1.0 / n), 1e-4 * distance).probabilities
    nats = float(frequencies @ np.log(frequencies / (best @ matrix)))
    return (LikelihoodSet(matrix, frequencies, best, distance - nats, _FINE), best) if nats < distance else None


def _soft_blocks(coordinates: Floats, side: float) -> tuple[Floats, Floats]:
    """Return the middles of districts, array (m, 2), and the part of each place, array (m, places)."""
    low, high = coordinates.min(axis=0), coordinates.max(axis=0)
    count = np.maximum(1.0, np.rint((high - low) / side))
    first = (low + high) / 2 - side * (count - 1) / 2
    within = np.clip(np.round((coordinates - first) / side, 9), 0.0, count - 1)  # in sides; none is met by 1e-16
    base = np.minimum(np.floor(within), np.maximum(count - 2, 0.0))
    part = within - base
    steps = np.array(list(product((0, 1), repeat=2)))  # to the four middles around a place
    shares = np.where(steps[:, None], part, 1 - part).prod(axis=2)
    around, district = np.unique((base + steps[:, None])[..., ::-1].reshape(-1, 2), axis=0, return_inverse=True)
    weights = np.zeros((len(around), len(coordinates)))
    np.add.at(weights, (district.ravel(), np.tile(np.arange(len(coordinates)), len(steps))), shares.ravel())
    used = weights.any(axis=1)
    return first + side * around[used][:, ::-1], weights[used]


def _lower_ends(likely: LikelihoodSet, parts: Floats, shares: Floats) -> Floats | None:
    """Return the lower ends of all shares; None as soon as they cannot place enough of the population."""
    lower, open_share = np.zeros(len(parts)), float(shares.sum())
    for i in np.argsort(-shares, kind="stable"):
        lower[i] = max(0.0, likely.lowest(parts[i]))
        open_share -= float(shares[i] - lower[i])
        if open_share < _LEAST_PLACED:
            return None
    return lower


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PopulationEstimate(CompactRepr):
    """Shares of a population from its private reports, also of districts where those of places are not settled.

    ``margins`` are the shares of each column of a `JointSpace`, and ``notes`` sentences on what they are about.
    """

    estimate: Estimate
    identifiability: Identifiability
    margins: dict[str, Estimate]
    notes: tuple[str, ...]

    @property
    def open_shares(self) -> frozenset[int]:
        """The positions of shares that the reports do not settle."""
        return self.identifiability.unsettled_shares(self.estimate)

    @property
    def open_margins(self) -> dict[str, frozenset[int]]:
        """The positions of shares in each column that the reports do not settle."""
        return self.identifiability.unsettled_margins(self.estimate)

    @property
    def is_settled(self) -> bool:
        """Whether the reports settle any share."""
        estimate, of_columns = self.estimate, self.open_margins
        return (
            len(self.open_shares) < len(estimate.space)
            or estimate.districts is not None
            or any(len(of_columns[name]) < len(margin.space) for name, margin in self.margins.items())
        )

    def __repr__(self) -> str:
        return f"{self.estimate!r}, {len(self.open_shares):,} of them withheld"


def estimate_received(
    collection: ReadResult, method: Method, intervals: Kind | None, failure: float, seed: int
) -> PopulationEstimate:
    """Return the estimate from reports that were read; see `estimate`."""
    reports, notes = collection.reports, [collection.note]
    shares = estimate_population(reports, method, intervals=intervals, failure=failure, seed=seed)
    margins = estimate_margins(shares, reports, intervals=intervals, failure=failure, seed=seed)
    if collection.spread and (shares.intervals or shares.districts):
        notes.append("The intervals hold for people who are spread so.")
    if collection.weighted:
        equal = about(reports.effective, 3)
        notes.append(f"The {len(reports):,} weighted reports vary as about {equal} of equal weight do.")
    known = identifiability(reports.mechanism)
    return PopulationEstimate(shares, known, dict(margins), tuple(filter(None, notes)))


def estimate(
    mechanism: Randomizer | MechanismWithPrior | Coarsening | Mapping[str, Mechanism],
    reports: Table | Sequence[Hashable] | NDArray[Any],
    *,
    column: str | Sequence[str] | None = None,
    weights: str | None = None,
    method: Method = "maximum-likelihood",
    intervals: Kind | None = None,
    failure: float = 0.05,
    seed: int = 1,
    unmarked: bool = False,
    check_fit: bool = True,
    skip_damaged: bool = False,
) -> PopulationEstimate:
    """Estimate the shares of a population from its private reports, as ``sfumato estimate`` does.

    Shares that the reports do not settle are in ``open_shares``. For places, the estimate then has the smallest
    districts whose shares are settled. ``mechanism`` is the mechanism, design or content of a mechanism file that
    drew the reports, or several by the names of their columns. ``reports`` are a list of reported labels, or a
    file, folder or table in memory, as for `read_reports`; of noise, as for `read_visits`. Reports of noise for
    coordinates are counted in cells: those of its prior, else about 100 over the places of its table; people are
    taken to be spread over them. The other arguments are those of `read_reports`, `estimate_population` and, for
    damaged files of points, `read_visits`. Raises `InputError` if an option does not fit the mechanism. Raises
    `DataError` if the reports cannot be read, or are not those of the mechanism.

    Example:
        >>> import sfumato as sf
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> [round(share, 3) for share in sf.estimate(coin, [0] * 600 + [1] * 400).estimate.probabilities.tolist()]
        [0.7, 0.3]
    """
    collection = read_released(
        mechanism,
        reports,
        column,
        weights=weights,
        unmarked=unmarked,
        check_fit=check_fit,
        skip_damaged=skip_damaged,
    )
    return estimate_received(collection, method, intervals, failure, seed)
