"""Transformers for scikit-learn pipelines (extra ``pipelines``)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._system import pa
from ..core import CoordinatePrivacy, Loss, Mechanism, MetricPrivacy, Prior, Randomizer, Space, hamming
from ..core.arrays import Floats
from ..errors import InputError, MissingExtraError, argument
from ..geo import PlaceColumns, Visits
from ..optimal import Design, design, place_problem
from ..sampling import sampler
from .engine import PreparedFrame, prepare_frame
from .options import Outside
from .reporters import reporter

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.cluster import KMeans
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtraError("A transformer of scikit-learn", "pipelines") from None

__all__ = ["LocalRandomizer", "PlaceRandomizer"]

_NAMES = ("latitude", "longitude")


class _Randomizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


class LocalRandomizer(_Randomizer):
    """Replaces every row by one of a few values, under local differential privacy.

    The secret is a whole row. `fit` chooses the values, estimates how often each is the nearest one of a row, and
    designs the private mechanism with the least loss; `transform` takes each row for its nearest value and draws a
    fresh report. Both use Euclidean distances: scale columns of different units first.

    The guarantee is local differential privacy: for any two rows, and any set of reports, the probabilities differ
    at most by the factor exp(epsilon). It is for each transformed row and each time: k reports of one person spend
    k times epsilon. **It does not cover the rows that `fit` sees**: values are their means, and the mechanism
    depends on them. Fit on public or older rows, not on those to be protected.

    Draws use the operating system's cryptographic randomness, so there is no ``random_state`` for them, and
    `transform` gives other reports each time. ``epsilon`` is positive, and ``n_values`` the largest number of
    values; more are finer, and take longer. `fit` sets ``values_``, array (k, columns), ``mechanism_``, which
    replaces one value by another, and ``design_``, its design with the certificate (None for a single value).

    Source:
        Kairouz, Oh & Viswanath, "Extremal mechanisms for local differential privacy" (2016).
    """

    def __init__(self, epsilon: float = 1.0, n_values: int = 8) -> None:
        self.epsilon = epsilon
        self.n_values = n_values

    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        """Choose the values from rows ``X`` that need no protection, array (n, columns), and design the mechanism.

        Raises `InputError` if a parameter cannot be used, or the rows have no distances. Raises `ValueError` if
        the rows are not finite numbers.
        """
        epsilon: Any = self.epsilon  # scikit-learn takes any value
        n_values: Any = self.n_values
        if isinstance(epsilon, bool) or not isinstance(epsilon, Real):
            raise InputError(
                f"epsilon is {epsilon!r}, which is not a number.",
                f"use one without a unit, such as {argument('epsilon', 1)}: rows have no distance that it is per.",
            )
        if not 0 < self.epsilon < np.inf:
            raise InputError(
                f"an epsilon of {self.epsilon} gives no guarantee.",
                f"use a positive one, such as {argument('epsilon', 1)}.",
            )
        if isinstance(n_values, bool) or not isinstance(n_values, Integral):
            raise InputError(
                f"n_values is {n_values!r}, which is not a whole number.",
                f"use one such as {argument('n_values', 8)}.",
            )
        if self.n_values < 1:
            raise InputError(f"{self.n_values} values were asked for.", "use at least one.")
        rows: Floats = validate_data(self, X, dtype=np.float64)
        self.values_ = _values(rows, int(self.n_values))
        nearest, size = _nearest(rows, self.values_), len(self.values_)
        space = Space(range(size))
        self.design_: Design | None = None
        if size == 1:
            self.mechanism_ = Mechanism(np.ones((1, 1)), space)
        else:
            counts = np.bincount(nearest, minlength=size)
            loss = _loss(rows, nearest, self.values_)
            scale = float(loss.max())
            if not 0 < scale < np.inf:
                raise InputError(
                    "the rows are so near to each other, or so far apart, that no distances can be computed.",
                    "scale the columns first.",
                )
            promise = MetricPrivacy(float(self.epsilon), hamming(space))
            self.design_ = design(Prior(space, counts / counts.sum()), loss=Loss(loss / scale), guarantees=promise)
            self.mechanism_ = self.design_.mechanism
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return a fresh report for each row, array (n, columns)."""
        check_is_fitted(self)
        rows: Floats = validate_data(self, X, dtype=np.float64, reset=False)
        reports = sampler(self.mechanism_).draw(_nearest(rows, self.values_))
        return np.asarray(self.values_[reports])


def _values(rows: Floats, most: int) -> Floats:
    """Return the distinct rows where they are few, and the centres of clusters otherwise, array (k, columns)."""
    distinct = np.unique(rows, axis=0)
    if len(distinct) <= most:
        return distinct
    centres: Floats = np.unique(KMeans(most, n_init=1, random_state=0).fit(rows).cluster_centers_, axis=0)
    return centres


def _nearest(rows: Floats, values: Floats) -> NDArray[np.intp]:
    """Return the position of the value nearest to each row, array (n,)."""
    nearest: NDArray[np.intp] = np.argmin([np.square(rows - value).sum(axis=1) for value in values], axis=0)
    return nearest


def _loss(rows: Floats, nearest: NDArray[np.intp], values: Floats) -> Floats:
    """Return how far each value is on average from the rows that are taken for another, array (k, k)."""
    away = np.stack([np.linalg.norm(rows - value, axis=1) for value in values], axis=1)
    counts = np.bincount(nearest, minlength=len(values))
    total = np.stack([np.bincount(nearest, distances, len(values)) for distances in away.T], axis=1)
    between: Floats = np.linalg.norm(values[:, None] - values[None], axis=2)
    return np.where(counts[:, None] > 0, total / np.maximum(counts, 1)[:, None], between)


class PlaceRandomizer(_Randomizer):
    """Replaces every row of a latitude and a longitude, in degrees, by those of a private report.

    `fit` designs the mechanism that loses least on its rows, on a lattice that covers them, or takes planar noise
    where that loses less. `transform` draws a fresh report for each row, as `sfumato.release` does, from proved
    integers and the operating system's randomness. With a ready ``mechanism``, such as one that `sfumato.load`
    reads, `fit` designs nothing.

    The guarantee is `CoordinatePrivacy`: for any two points that are served, the probabilities of a report differ
    at most by the factor exp(epsilon x distance). It is for each transformed row and each time: k reports of one
    person spend k times epsilon. **It does not cover the rows that `fit` sees**: the mechanism depends on them.
    Fit on public or older rows, not on those to be protected.

    Columns of a data frame are recognised by name, such as ``lat`` and ``lon``, in either order; in an array the
    latitude comes first. `fit` sets ``mechanism_``, ``design_`` with its loss (None where the mechanism was
    given), and ``promises_``, sentences on the guarantee of one report. ``epsilon`` is per distance, as text such
    as ``"1/km"``, and ``n_vertices`` the largest number of vertices of the lattice; more are finer, and take
    longer. Rows that are not served are refused (``error``), or moved to the nearest point (``nearest``), at most
    by ``within``, and at most the share ``allow``. After ``time_limit`` seconds the best proved design is taken.
    """

    def __init__(
        self,
        epsilon: str = "1/km",
        n_vertices: int = 100,
        *,
        mechanism: Randomizer | None = None,
        outside: Outside = "error",
        within: float | str = "1 km",
        allow: float = 0.01,
        time_limit: float = 60.0,
    ) -> None:
        self.epsilon = epsilon
        self.n_vertices = n_vertices
        self.mechanism = mechanism
        self.outside = outside
        self.within = within
        self.allow = allow
        self.time_limit = time_limit

    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        """Design the mechanism for places ``X`` that need no protection, or take the ready one.

        They are degrees, array (n, 2), or a data frame with two columns. Raises `InputError` if the rows are not
        places, or a parameter cannot be used. Raises `ValueError` if they are not finite numbers.
        """
        lat, lon = self._degrees(X, reset=True)
        if self.outside not in ("error", "nearest"):
            raise InputError(
                f"{argument('outside', self.outside)} does not fit a transformer, which returns every row.",
                f"use {argument('outside', 'error')} or {argument('outside', 'nearest')}.",
            )
        self.design_: Design | None = None
        self.mechanism_ = self.mechanism
        if self.mechanism is None:
            visits = Visits(lat, lon)
            promise = CoordinatePrivacy(self.epsilon)
            problem = place_problem(visits, promise, most=self.n_vertices)
            self.design_ = design(
                problem.prior,
                loss=problem.loss,
                guarantees=promise,
                medians=problem.visits,
                method="best",
                time_limit=self.time_limit,
            )
            self.mechanism_ = self.design_.mechanism
        if reporter(self.mechanism_).input_kind != "places":
            raise InputError(
                f"the secrets of {self.mechanism_!r} are not places on the ground.",
                "pass a mechanism on places, or noise for coordinates.",
            )
        job = self._prepare(np.zeros(0), np.zeros(0))
        reports = job.run().frame
        kinds = [str(reports.schema.field(name).type) for name in _NAMES if name in reports.schema.names]
        if kinds != ["double", "double"]:
            raise InputError(
                f"the reports of {self.mechanism_!r} are not one place each.",
                "pass a mechanism whose reports are places.",
            )
        self.promises_ = job.promises[:2]
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return a fresh report for each row, array (n, 2) in degrees, in the order of ``X``; see ``outside``."""
        check_is_fitted(self)
        lat, lon = self._degrees(X, reset=False)
        reports = self._prepare(lat, lon).run().frame
        latlon = np.column_stack([reports[name].to_numpy() for name in _NAMES])
        return latlon[:, ::-1] if self._longitude_first() else latlon

    def _prepare(self, lat: Floats, lon: Floats) -> PreparedFrame:
        table = pa.table(dict(zip(_NAMES, (lat, lon), strict=True)))
        mechanism: Any = self.mechanism_
        job = prepare_frame(mechanism, table, outside=self.outside, within=self.within, allow=self.allow)
        job._plan.kernel.drop_hint = "leave these rows out of X"  # a transformer drops no row
        return job

    def _degrees(self, X: ArrayLike, *, reset: bool) -> tuple[Floats, Floats]:
        rows: Floats = validate_data(self, X, dtype=np.float64, reset=reset)
        if rows.shape[1] != 2:
            raise InputError(
                f"X has {rows.shape[1]} columns, but places have two: a latitude and a longitude.",
                "choose them with a ColumnTransformer, or X[['lat', 'lon']].",
            )
        lat, lon = rows.T[::-1] if self._longitude_first() else rows.T
        if not ((np.abs(lat) <= 90).all() and (np.abs(lon) <= 360).all()):
            raise InputError(
                "a row of X is not on the Earth.", "pass degrees, in an array the latitude before the longitude."
            )
        return lat, lon

    def _longitude_first(self) -> bool:
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return False
        schema = pa.schema([(name, pa.float64()) for name in names])
        return bool(PlaceColumns.of(schema, "X", {}).roles.lon == names[0])
