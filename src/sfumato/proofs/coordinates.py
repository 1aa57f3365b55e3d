"""Coordinate privacy: the rows it requires of the vertices of a lattice, and its proof over their integers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from .. import intervals
from ..core import Asked, CoordinatePrivacy, Guarantee, Mechanism, MetricPrivacy, Space, units
from ..core.immutable import assign
from ..errors import InputError, python
from ..geo import Lattice, implying_pairs
from ..rounding import down, up
from .metric_privacy import FLATTEST, EpsilonProof, prove_metric_privacy, prove_pairs, ratios_of


@dataclass(frozen=True, eq=False, repr=False)
class VertexPrivacy(MetricPrivacy):
    """Metric privacy of the vertices of a lattice that implies coordinate privacy of the points it serves.

    On a triangular lattice of spacing h the rows are K(v, o) <= (1 + epsilon h sqrt(3) / 2)**hops K(w, o); on a
    square one K(v, o) <= exp(L octile(v, w)) K(w, o), where L is what `octile_exponent` proves for epsilon h. The
    stretch of the plane is divided out. The theorems are in docs/proofs/coordinates.md.

    Args:
        promise: The guarantee for points.
        lattice: The vertices.

    Attributes:
        epsilon: The exponent of the rows, per step of the lattice.
        metric: The steps between vertices.
    """

    __slots__ = ("lattice", "promise")  # those of the decorator would take the place of the property epsilon
    promise: CoordinatePrivacy
    lattice: Lattice

    def __init__(self, promise: CoordinatePrivacy, lattice: Lattice) -> None:
        if promise.slack_m:
            raise InputError(f"{promise} was required of a lattice, which has no slack.", "leave the slack out.")
        assign(self, metric=lattice.steps(), promise=promise, lattice=lattice)
        if self._slope < FLATTEST:  # steeper ones have such rows
            _ = self.epsilon

    @property
    def _slope(self) -> float:
        """The slope of the logarithms that the guarantee allows, per step of the lattice."""
        promise, lattice = self.promise, self.lattice
        slope = down(promise.epsilon * units.factor("m", promise.unit) * lattice.spacing_m / lattice.stretch)
        return slope * (1 - 1e-14)  # three operations

    @property  # type: ignore[misc] # from the promise each time, so that the two cannot differ
    def epsilon(self) -> float:
        """The exponent of the rows, per step of the lattice."""
        from .slope import octile_exponent

        slope = self._slope
        if self.lattice.kind == "square":
            exponent = octile_exponent(slope)
        else:
            exponent = intervals.below(lambda: (1 + intervals.exact(slope) * intervals.exact(3).sqrt() / 2).log())
        if not exponent > 0:
            raise InputError(
                f"{self.promise} is too strict for a spacing of {self.lattice.spacing_m:g} m: no row is proved to "
                "imply it.",
                "use a larger epsilon or spacing.",
            )
        return exponent

    def check_secrets(self, secrets: Space) -> None:
        """Refuse secrets that are not the vertices of the lattice; `InputError` if they are others."""
        if secrets != self.lattice:
            raise InputError(
                f"the guarantee ({self}) is for the vertices of a lattice ({self.lattice!r}), but the secrets are "
                f"others ({secrets!r}).",
                python("pass sfumato.proofs.VertexPrivacy(promise, secrets), where the secrets are a lattice."),
            )

    def confirmed_by(self, secrets: Space) -> bool:
        """Return whether the secrets are the lattice's vertices, from which its steps follow."""
        return secrets == self.lattice

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (self.promise, self.lattice)

    def __str__(self) -> str:
        return str(self.promise)


@dataclass(frozen=True, slots=True)
class CoordinateProof(EpsilonProof):
    """A proof of p(o|x) <= exp(epsilon (|x - x'| + slack)) p(o|x') for all points that a lattice serves.

    ``slack_m`` is the distance that snapping of positions to a fine lattice adds, metres.
    """

    slack_m: float


def bound_to(space: Space, guarantees: Iterable[Asked]) -> tuple[Guarantee, ...]:
    """Return guarantees, with those for points replaced by rows for the vertices of a lattice.

    Raises `InputError` if coordinate privacy is required of values that are not vertices of a lattice.
    """
    found: list[Guarantee] = []
    for each in guarantees:
        if not isinstance(each, CoordinatePrivacy):
            found.append(each)
        elif isinstance(space, Lattice):
            found.append(VertexPrivacy(each, space))
        else:
            raise InputError(
                f"{each} was asked for, but the secrets are not the vertices of a lattice ({space!r}).",
                python("build them with sf.Lattice.covering(), or ask for MetricPrivacy of the cells' centres."),
            )
    return tuple(found)


def prove_steps(mechanism: Mechanism, lattice: Lattice, epsilon: float) -> EpsilonProof:
    """Prove a bound on the epsilon per step of a lattice, for all pairs of its vertices.

    Few pairs are compared: neighbours, and pairs whose shortest way in the whole lattice leaves this one.
    Distances along a way of neighbours add up, so their rows imply those of all other pairs. On a square lattice
    distances are rounded, and a way may be longer than the distance of its ends by a share of 2**-50; claims that
    this leaves open are decided by all pairs.
    """
    steps = lattice.steps()
    s, t = implying_pairs(lattice.kind, lattice.vertices)
    found = prove_pairs(mechanism, ratios_of(mechanism, s, t, steps.at(s, t)), epsilon, "", "")
    if lattice.kind == "triangular":
        return found
    upper = up(found.upper * (1 + 2.0**-49))
    if found.holds and upper > epsilon:
        return prove_metric_privacy(mechanism, MetricPrivacy(epsilon, steps))
    return replace(found, upper=upper)


def prove_coordinate_privacy(mechanism: Mechanism, guarantee: VertexPrivacy) -> CoordinateProof:
    """Prove a bound on the epsilon per unit of length of a mechanism on vertices, for all points that they serve.

    Raises `InputError` if the mechanism's secrets are not the vertices of the guarantee.
    """
    promise, lattice = guarantee.promise, guarantee.lattice
    guarantee.check_secrets(mechanism.secrets)
    rows = prove_steps(mechanism, lattice, guarantee.epsilon)
    claimed = promise.epsilon if rows.holds else math.inf
    upper = min(claimed, per_unit_above(lattice, rows.upper, promise.unit))
    pair, report, unit = rows.worst_pair, rows.worst_observable, promise.unit
    claim, slack_m = str(promise), lattice.slack_m
    return CoordinateProof(promise.epsilon, upper, rows.holds, pair, report, unit, claim, slack_m)


def per_unit_above(lattice: Lattice, exponent: float, unit: str) -> float:
    """Return a proved bound on the epsilon per unit on the ground, for rows of an exponent."""
    if not math.isfinite(exponent):
        return math.inf
    slope = _slope_above(lattice, exponent)
    return up(slope / lattice.spacing_m * lattice.stretch / units.factor("m", unit) * (1 + 1e-14))


def _slope_above(lattice: Lattice, exponent: float) -> float:
    """Return a proved bound on |grad log f| per step, for rows of an exponent."""
    if lattice.kind == "square":
        from .slope import octile_slope

        return octile_slope(exponent) if exponent > 0 else 0.0
    return intervals.above(lambda: (intervals.exact(exponent).exp() - 1) * 2 / intervals.exact(3).sqrt())
