"""Followers: beliefs about where a person is, from their reports so far and a movement model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core import Randomizer
from ..core.arguments import check_arguments
from ..core.arrays import Floats, readonly
from ..errors import InputError, argument
from ..geo import median_from
from .beliefs import update
from .likelihoods import ReportLikelihoods
from .movement import MovementModel, PrivateMovementModel

_MEDIAN = 1e-6  # relative, of the mean distance: how good a median is
_NEGLIGIBLE = 1e-9  # of the belief: places that medians leave out


@dataclass(frozen=True, slots=True)
class PositionEstimate:
    """An estimate of a position from reports, in degrees.

    Attributes:
        lat: Latitude of the posterior median, the point of least expected distance.
        lon: Its longitude.
        error_m: The expected distance under the belief, metres.
        radius_m: A radius around the point that holds the requested share of the belief, metres.
        as_of: The minute of the tick of the last report, in the model's day; None before the first one.
    """

    lat: float
    lon: float
    error_m: float
    radius_m: float
    as_of: int | None


class _Follower:
    """A forward filter over the ticks of one day."""

    __slots__ = ("_as_of", "_belief", "_distances", "_likelihoods", "_slot", "model")

    def __init__(self, model: MovementModel | PrivateMovementModel, mechanism: Randomizer) -> None:
        self.model, self._likelihoods = model, ReportLikelihoods(mechanism, model.places)
        xy = self._likelihoods.xy
        self._distances = np.hypot(*(xy[:, None] - xy).T)
        self.restart()

    def restart(self) -> None:
        """Forget all reports, for a new day."""
        self._belief, self._slot = self.model.marginals[0], 0
        self._as_of: int | None = None

    @check_arguments
    def update(self, minute: float, lat: float, lon: float) -> Floats:
        """Return the belief about the places after a report, array (n,).

        Skip ticks without a report: moves from the last report on are taken into account. The report is a latitude
        and a longitude in degrees, as the mechanism made it. Raises `InputError` if the minute is no slot of the
        model, not after the last report, or the report is impossible.
        """
        slots = self.model.slots
        slot = int(np.searchsorted(slots, minute))
        if slot == len(slots) or slots[slot] != minute:
            raise InputError(
                f"the minute {minute:g} is no tick of the model.",
                f"use one of {', '.join(map(str, slots.tolist()))}.",
            )
        if self._as_of is not None and minute <= self._as_of:
            raise InputError(
                f"the minute {minute:g} is not after the last report, at minute {self._as_of}.",
                "pass reports in the order of time, one for each tick; a new day begins with restart().",
            )
        likelihood = self._likelihoods.row(lat, lon)
        belief = self._belief
        for step in range(self._slot, slot):
            belief = belief @ self.model.kernels[step, -1]
        self._belief = update(belief, likelihood, slot + 1)
        self._slot, self._as_of = slot, int(slots[slot])
        return readonly(self._belief)

    @check_arguments
    def belief(self, minute: float) -> Floats:
        """Return the belief about the places at a minute, array (n,), from all reports so far.

        Raises `InputError` if the minute is before the last report, or after the first slot of the next day.
        """
        return self.model.move(self._belief, self._slot, minute)

    @check_arguments
    def estimate(self, minute: float, share: float = 0.95) -> PositionEstimate:
        """Return the posterior median at a minute, and the radius that holds a share of the belief.

        The median is exact where it is one of the places. Otherwise its expected distance is within about 1e-6 of
        the least one. It is as of the last tick: show that time, and never the age of a position. Raises
        `InputError` if the share is not between 0 and 1, or for a minute that `belief` refuses.

        Source:
            Weiszfeld, 1937; Vardi and Zhang, "The multivariate L1-median and associated data depth", 2000.
        """
        if not 0 < share <= 1:
            raise InputError(
                f"{argument('share', share)} is not a share above 0.", f"use {argument('share', 0.95)}."
            )
        belief, xy = self.belief(minute), self._likelihoods.xy
        best = int(np.argmin(belief @ self._distances))
        point, away = xy[best], self._distances[best]
        if not _is_median(xy - point, away, belief):
            rows = belief > _NEGLIGIBLE * belief.max()
            point = median_from(xy[rows], belief[rows], point, _MEDIAN).point
            away = np.hypot(*(xy - point).T)
        order = np.argsort(away)
        within = int(np.searchsorted(belief[order].cumsum(), share * belief.sum() * (1 - _NEGLIGIBLE)))
        lat, lon = self._likelihoods.projection.inverse_one(float(point[0]), float(point[1]))
        return PositionEstimate(lat, lon, float(belief @ away), float(away[order[within]]), self._as_of)

    def __repr__(self) -> str:
        return f"{type(self).__name__} with a {self.model!r}"


class Follower(_Follower):
    """An estimator of where a person is, from reports through a public model: post-processing of the reports.

    A promise of the reports holds unchanged for everything that it shows. It accepts a `MovementModel` only. For a
    `PrivateMovementModel` there is a `PrivateFollower`, which is an unrelated type: code that publishes estimates
    accepts a `Follower`. A receiver of the reports may use either, with a model that the receiver has.

    Args:
        model: The public model; its first marginal is the belief before the first report.
        mechanism: What makes each report: `CoordinateNoise` with a projection and without a remap, or a mechanism
            on places.

    Raises:
        InputError: If the model is private, or the mechanism does not fit (see `MovementModel.of_reports`).

    Example:
        >>> import sfumato as sf
        >>> from sfumato.sequences import Follower, MovementModel
        >>> visits = sf.synthetic_city(users=20)
        >>> grid = sf.Grid.covering(visits, "2 km")
        >>> model = MovementModel.of_visits(visits, grid.latlon, [540, 720, 1080], "Europe/Paris")
        >>> noise = sf.mechanisms.planar.CoordinateNoise("2/km", projection=grid.projection)
        >>> follower = Follower(model, noise)
        >>> lat, lon = sf.simulator(noise, seed=1).blur(*grid.latlon[9])
        >>> belief = follower.update(540, lat, lon)
        >>> follower.estimate(600).as_of
        540
    """

    __slots__ = ()

    @check_arguments
    def __init__(self, model: MovementModel, mechanism: Randomizer) -> None:
        super().__init__(model, mechanism)


class PrivateFollower(_Follower):
    """An estimator with a model of the person's own true days, for their device or a receiver trusted with it.

    Its estimates can show the person's own places, as no promise of the reports covers the model. They must not be
    published. Methods and errors are those of `Follower`, which is an unrelated type.
    """

    __slots__ = ()

    @check_arguments
    def __init__(self, model: PrivateMovementModel, mechanism: Randomizer) -> None:
        super().__init__(model, mechanism)


def _is_median(offsets: Floats, away: Floats, weights: Floats) -> bool:
    """Return whether a point is the median: no pull of the places elsewhere exceeds the weight at the point."""
    elsewhere = away > 0
    pulls = np.divide(weights, away, out=np.zeros_like(away), where=elsewhere)
    return bool(np.hypot(*(pulls @ offsets)) <= weights[~elsewhere].sum())
