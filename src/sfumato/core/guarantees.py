"""Guarantees of mechanisms: statements to be proved elsewhere."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..errors import InputError, UnitError, argument, python
from ..escaping import plain
from ..rounding import amount_at_least, amount_at_most, at_most, exactly, factor_at_most, up
from . import units
from .arrays import Floats
from .immutable import Immutable, NotebookRepr, assign
from .loss import AnyLoss, KindErrors, Loss, follows, to_loss
from .metric import Metric
from .naming import name_phrase
from .space import Space


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class MetricPrivacy(Immutable):
    """Metric privacy: p(o|s) <= exp(epsilon d(s, s')) p(o|s') for all s, s' and o.

    With a distance on the ground it is geo-indistinguishability; with the discrete metric it is local differential
    privacy. Of a metric that is not symmetric, d(s, s') is the distance from s to s'. Epsilon is per unit of the
    metric d on the secrets; a number, or text such as ``"0.6/km"``. Raises `InputError` if epsilon is not a
    positive number. Raises `UnitError` if its unit does not fit the metric.

    Source:
        Shokri, "Privacy Games", equation 10; Chatzikokolakis et al., PETS 2013.
    """

    epsilon: float
    metric: Metric

    def __init__(self, epsilon: float | str, metric: Metric) -> None:
        value = units.parse(epsilon, per=True, unit=metric.unit, subject="epsilon")
        _check_positive(value)
        assign(self, epsilon=value, metric=metric)

    def check_secrets(self, secrets: Space) -> None:
        """Refuse secrets of another number than the metric's values (`InputError`)."""
        if len(self.metric) != len(secrets):
            raise InputError(
                f"the guarantee ({self}) is for {len(self.metric)} secrets, but there are {len(secrets)}.",
                "use a metric on the secrets.",
            )

    @property
    def distances(self) -> Metric:
        """The measured distances between secrets."""
        return self.metric

    @property
    def for_any_two(self) -> bool:
        """Whether epsilon bounds any two secrets: distances are pure numbers of at most 1."""
        return not self.metric.unit and bool((self.metric.array <= 1).all())

    def confirmed_by(self, secrets: Space) -> bool:
        """Return whether the secrets confirm the distances: by coordinates, numbers or labels."""
        return follows(self.distances, secrets, secrets, secrets)

    def caveat(self, secrets: Space) -> str:
        """Return an addition to a sentence about the guarantee where the secrets do not confirm its distances.

        For numbers it names the unit, which decides what a unit of distance is in the table.
        """
        if self.confirmed_by(secrets):
            numbers = bool(self.distances.unit) and secrets.crs is None
            around = "" if secrets.period is None else f" around a circle of {secrets.period:g}"
            if not numbers:
                return f", for numbers{around}" if around and not self.for_any_two else ""
            return f", for numbers in {plain(secrets.unit)}{around}"
        return "" if self.for_any_two else ", by distances that are stated and nothing confirms"

    def check_distances(self) -> None:
        """Refuse a guarantee whose distances a file states and nothing confirms (`InputError`)."""
        if self.distances.is_stated and not self.for_any_two:
            raise InputError(
                f"the guarantee ({self}) uses distances that the mechanism file states and nothing confirms.",
                f"'sfumato audit' measures what holds. If you know that the distances are right, pass "
                f"{argument('trust_distances', True)}.",
            )

    def __repr__(self) -> str:
        return f"MetricPrivacy({self})"

    def __str__(self) -> str:
        per = f"/{plain(self.metric.unit)}" if self.metric.unit else ""
        way = "" if self.metric.symmetric else ", asymmetric"
        return f"epsilon {exactly(self.epsilon)}{per}, {name_phrase(self.metric.name)}{way}"


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class ThresholdPrivacy(MetricPrivacy):
    """Indistinguishability of near secrets: p(o|s) <= exp(epsilon) p(o|s') if d(s, s') <= within.

    It is stored as metric privacy for the number of hops of at most ``within``, such as ``"500 m"``: epsilon is a
    pure number, and the metric in whole numbers. Secrets that no hops connect are not protected from each other.

    Source:
        Shokri, "Privacy Games", equation 9.
    """

    distance: Metric
    within: float

    def __init__(self, epsilon: float | str, distance: Metric, within: float | str) -> None:
        hops = distance.threshold(within)
        try:
            value = units.parse(epsilon, per=False, unit="", subject="epsilon")
        except UnitError as error:
            raise UnitError(error.problem, "near secrets are protected by a pure number, such as 1.0.") from None
        MetricPrivacy.__init__(self, value, hops)
        assign(self, distance=distance, within=units.parse(within, unit=distance.unit, subject="the limit"))

    @property
    def distances(self) -> Metric:
        """The distances that say which secrets are near."""
        return self.distance

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (self.epsilon, self.distance, self.within)


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class CoordinatePrivacy(Immutable):
    """Metric privacy of points: p(o|x) <= exp(epsilon (|x - x'| + slack)) p(o|x') for all points x, x'.

    The distance is on the ground, between any two points served: geo-indistinguishability of true places. A
    mechanism on cells cannot satisfy it, because at a border two points a metre apart belong to two cells. A
    mechanism on the vertices of a `Lattice` can, without a slack; so can noise on a fine lattice
    (`sfumato.mechanisms.planar.CoordinateNoise`), with a stated slack in metres. Epsilon is per unit of length; a
    number, or text such as ``"0.6/km"``. Raises `InputError` if epsilon is not a positive number, or the slack is
    not a length. Raises `UnitError` if a unit is not one of length.

    Source:
        Andres et al., "Geo-Indistinguishability", CCS 2013, definition 3.3.
    """

    epsilon: float
    unit: str = "km"
    slack_m: float = 0.0

    def __init__(self, epsilon: float | str, unit: str = "km", slack_m: float | str = 0.0) -> None:
        units.factor("m", unit)
        value = units.parse(epsilon, per=True, unit=unit, subject="epsilon")
        _check_positive(value)
        slack = units.length_m(slack_m, "the slack")
        if not 0 <= slack < math.inf:
            raise InputError(f"a slack of {slack:g} m is not a length.", "use a number of at least 0.")
        assign(self, epsilon=value, unit=units.canonical(unit), slack_m=slack)

    def sentence(self, points: str) -> str:
        """Return the guarantee, without a full stop, about points such as ``"that are served"``."""
        unit, epsilon, exponent = plain(self.unit), at_most(self.epsilon, 6), self.epsilon
        power = f"{epsilon} x distance in {unit}"
        if self.slack_m:
            slack = self.slack_m * units.factor("m", self.unit)
            exponent = up(up(exponent * up(1.0 + up(slack))))
            power = f"{epsilon}/{unit} x (distance + {amount_at_most(self.slack_m, 'm')})"
        return (
            f"No report is more than e^({power}) times as likely from one point as from another, for any two "
            f"points {points}: {factor_at_most(exponent)} times for points 1 {unit} apart"
        )

    def lattice_sentence(self, added_m: float) -> str:
        """Return the guarantee about points of a lattice, where snapping adds a length to distances."""
        slack = amount_at_most(1000 * added_m, "mm")
        snapped = f"Positions are snapped first, which adds at most {slack} to a distance."
        return f"{self.sentence('that the lattice serves')}. {snapped}"

    def noise_sentence(self, reach_m: float) -> str:
        """Return the guarantee of noise for points up to a distance from its centre; infinite for a plane."""
        reach = f"of the region (within {amount_at_least(reach_m, 'm', 6)} of its centre)"
        return f"{self.sentence('of the plane' if math.isinf(reach_m) else reach)}."

    def __repr__(self) -> str:
        return f"CoordinatePrivacy({self})"

    def __str__(self) -> str:
        slack = f", with {amount_at_most(self.slack_m, 'm')} of slack" if self.slack_m else ""
        return f"epsilon {exactly(self.epsilon)}/{plain(self.unit)} between any two points{slack}"


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class DistortionPrivacy(Immutable):
    """Distortion privacy: the optimal attack's average error is at least ``minimum``.

    The minimum is in the distance's unit; a number or text such as ``"800 m"``. ``distance`` is d(guess, s): array
    (guesses, secrets), a `Loss` or a `Metric`. Raises `InputError` if the minimum or a distance is negative.
    Raises `UnitError` if its unit does not fit the distance.

    Source:
        Shokri, "Privacy Games", equations 7 and 21.
    """

    minimum: float
    distance: Loss

    def __init__(self, minimum: float | str, distance: AnyLoss) -> None:
        array = as_errors(distance)
        value = units.parse(minimum, unit=array.unit, subject="the distortion")
        if not (math.isfinite(value) and value >= 0):
            raise InputError(f"the distortion {minimum} is negative.", "use a length of at least 0.")
        assign(self, minimum=value, distance=array)

    def check_secrets(self, secrets: Space) -> None:
        """Refuse secrets of another number than the distance's columns (`InputError`)."""
        if self.distance.array.shape[1] != len(secrets):
            raise InputError(
                f"the guarantee ({self}) is for {self.distance.array.shape[1]} secrets, but there are "
                f"{len(secrets)}.",
                "use a distance with a column for each secret.",
            )

    def __repr__(self) -> str:
        return f"DistortionPrivacy({self})"

    def __str__(self) -> str:
        of = " (chance of a wrong guess of the kind)" if KindErrors.matches(self.distance) else ""
        return f"distortion of at least {amount_at_least(self.minimum, self.distance.unit)}{of}"


@dataclass(frozen=True, slots=True)
class LocalPrivacy:
    """Local differential privacy by one number, for secrets too many for a matrix of distances.

    Epsilon is the largest logarithm of a likelihood ratio, ``inf`` where none is stated, and ``within`` the
    largest distance of two whole numbers, None for any two secrets.
    """

    epsilon: float
    within: int | None = None

    def __str__(self) -> str:
        return f"epsilon {exactly(self.epsilon)}"


class DistributionGuarantee(NotebookRepr, ABC):
    """Guarantee about the reports of distributions of the secret; `sfumato.proofs.FamilyPrivacy` is its class."""

    __slots__ = ()

    @abstractmethod
    def check_secrets(self, secrets: Space) -> None:
        """Refuse secrets of another number or order than those of the distributions (`InputError`)."""


StatedGuarantee = MetricPrivacy | DistributionGuarantee
"""A guarantee of a mechanism alone, without a prior."""

Guarantee = StatedGuarantee | DistortionPrivacy
DesignGuarantee = Guarantee | CoordinatePrivacy
AnyGuarantee = DesignGuarantee | LocalPrivacy
Guarantees = DesignGuarantee | Iterable[DesignGuarantee]
"""One guarantee, or several."""


def as_guarantees(value: object) -> tuple[DesignGuarantee, ...]:
    """Return one guarantee or several as a tuple; `InputError` for anything else."""
    is_single = isinstance(value, str | Mapping) or not isinstance(value, Iterable)
    guarantees: tuple[Any, ...] = (value,) if is_single else tuple(cast("Iterable[Any]", value))
    for guarantee in guarantees:
        if not isinstance(guarantee, DesignGuarantee):
            subject = f"the class {guarantee.__name__}" if isinstance(guarantee, type) else repr(guarantee)
            raise InputError(
                f"{subject} is not a guarantee.",
                python(
                    "pass MetricPrivacy, ThresholdPrivacy, CoordinatePrivacy, DistortionPrivacy or FamilyPrivacy."
                ),
            )
    return guarantees


def as_distance(distance: AnyLoss) -> Loss:
    """Return an adversary's distance, array (guesses, secrets), as a `Loss`."""
    return to_loss(distance, "distance")


def as_errors(errors: AnyLoss) -> Loss:
    """Return the distances of guesses from secrets, array (guesses, secrets), as a `Loss`.

    Without a guess, or with a negative distance, no least error could be guaranteed (`InputError`).
    """
    distance = as_distance(errors)
    if not len(distance.array):
        raise InputError(
            f"the adversary's distance ({distance.name}) has no row, so there is nothing to guess.",
            "give a row for each guess.",
        )
    if (distance.array < 0).any():
        guess, secret = np.argwhere(distance.array < 0)[0]
        raise InputError(
            f"the adversary's distance ({distance.name}) is negative: {distance.array[guess, secret]:g} from "
            f"guess {guess} to secret {secret}.",
            "use distances of at least 0.",
        )
    return distance


def blind_error(prior: Floats, distance: Floats) -> float:
    """Return the expected error of the best guess without a report, for a prior (n,) and distances (guesses, n).

    No mechanism can force a larger one: it is the maximum of distortion privacy.
    """
    with np.errstate(over="ignore"):
        return float(np.min(distance @ prior))


def _check_positive(epsilon: float) -> None:
    if not 0 < epsilon < math.inf:
        raise InputError(
            f"epsilon must be a positive number, but {epsilon:g} was given.",
            "a smaller epsilon hides more, but it must stay above 0.",
        )
