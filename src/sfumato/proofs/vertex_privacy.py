"""Guarantee of a lattice's vertices that implies coordinate privacy of the points it serves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .. import intervals
from ..core import CoordinatePrivacy, DesignGuarantee, Guarantee, MetricPrivacy, Space, units
from ..core.immutable import assign
from ..errors import InputError, python
from ..geo import Lattice
from ..rounding import down


@dataclass(frozen=True, eq=False, repr=False, init=False)
class VertexPrivacy(MetricPrivacy):
    """Metric privacy of the vertices of a lattice that implies coordinate privacy of the points it serves.

    On a triangular lattice of spacing h the rows are K(v, o) <= (1 + epsilon h sqrt(3) / 2)**hops K(w, o); on a
    square one K(v, o) <= exp(L octile(v, w)) K(w, o), where L is what `octile_exponent` proves for epsilon h. The
    stretch of the plane is divided out. The theorems are in docs/proofs/coordinates.md. ``promise`` is the
    guarantee for points, ``epsilon`` the exponent of the rows per step of the lattice, and ``metric`` the steps
    between vertices.
    """

    __slots__ = ("lattice", "promise")  # those of the decorator would take the place of the property epsilon
    promise: CoordinatePrivacy
    lattice: Lattice

    def __init__(self, promise: CoordinatePrivacy, lattice: Lattice) -> None:
        from .slope import FLATTEST

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
            exponent = intervals.lower_end(
                lambda: (1 + intervals.exact(slope) * intervals.exact(3).sqrt() / 2).log()
            )
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


def bound_to(space: Space, guarantees: Iterable[DesignGuarantee]) -> tuple[Guarantee, ...]:
    """Return guarantees, those for points replaced by rows for vertices; `InputError` if there are no vertices."""
    demands: list[Guarantee] = []
    for guarantee in guarantees:
        if not isinstance(guarantee, CoordinatePrivacy):
            demands.append(guarantee)
        elif isinstance(space, Lattice):
            demands.append(VertexPrivacy(guarantee, space))
        else:
            raise InputError(
                f"{guarantee} was asked for, but the secrets are not the vertices of a lattice ({space!r}).",
                python("build them with sf.Lattice.covering(), or ask for MetricPrivacy of the cells' centres."),
            )
    return tuple(demands)
