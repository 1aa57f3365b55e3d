"""Options of ``sfumato audit`` beside its subject: distances, a prior, numbers, and tables of what to hide."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from ...errors import DataError, InputError

if TYPE_CHECKING:
    from ...core import Metric, Prior, Space


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The options as the user wrote them, each under its own name; None or empty where it was not given."""

    metric: str | None
    distances: Path | None
    unit: str | None
    prior: str | None
    delta: tuple[float, ...]
    delta_at: tuple[float, ...]
    order: tuple[float, ...]
    relation: Path | None
    events: Path | None
    rivals: Path | None
    family: Path | None
    interventions: Path | None
    curve: str | None

    def numbers(self) -> dict[str, Any]:
        """Return the numbers at which to measure, by the names of the audit's arguments."""
        found = {"deltas": self.delta, "delta_at": self.delta_at, "orders": self.order}
        return {name: values for name, values in found.items() if values}

    def metric_on(self, space: Space) -> Metric | None:
        """Return the metric that the options ask for; for places Euclidean in kilometres, else none."""
        from ...core import Metric, Space
        from ...geo import Places

        if self.distances is not None:
            if self.metric is not None:
                raise InputError("both --metric and --distances were given.", "choose one.")
            found = Metric(_array(self.distances), self.unit or "", name=self.distances.stem)
            if len(found) != len(space):
                raise InputError(
                    f"{self.distances.name} holds distances of {len(found)} values, but there are {len(space)} "
                    "secrets.",
                    "give a row and a column per secret, in their order.",
                )
            return found
        if self.metric is None:
            return space.metric("euclidean", unit=self.unit or "km") if isinstance(space, Places) else None
        numbers = [float(label) for label in space.labels if type(label) in (int, float)]  # type: ignore[arg-type]
        if space.coordinates is None and len(numbers) == len(space):
            space = Space.numbers(numbers, unit=self.unit or "")
        return space.metric(self.metric, unit=self.unit)

    def prior_on(self, space: Space, held: Prior | None = None) -> Prior | None:
        """Return the prior that ``--prior`` names; without that option the one that a file holds."""
        from .knowledge import prior_from

        return held if self.prior is None else prior_from(space, self.prior)

    def tables(self, space: Space) -> dict[str, Any]:
        """Return what the tables say, by the names of the audit's arguments."""
        from .knowledge import curve_from, facts_from, family_from, interventions_from, relation_from, rivals_from

        facts = None if self.events is None else facts_from(space, self.events)
        found: dict[str, Any] = {"events": None if facts is None else facts.events}
        if self.relation is not None:
            found["relation"] = relation_from(space, self.relation)
        if self.rivals is not None:
            found["rivals"] = rivals_from(facts, self.rivals)
        if self.family is not None:
            found["family"] = family_from(space, self.family)
        if self.interventions is not None:
            found["interventions"] = interventions_from(space, self.interventions)
        if self.curve is not None:
            found["curve"] = curve_from(self.curve)
        return found


def _array(path: Path) -> Any:
    import numpy as np

    from ...files import read_npy
    from ...tables import cause

    if path.suffix.lower() == ".npy":
        return read_npy(path)
    try:
        return np.loadtxt(path, delimiter=",", ndmin=2)
    except (OSError, ValueError) as error:
        raise DataError(
            f"{str(path)!r} cannot be read as distances ({cause(error)}).",
            "give an array in .npy, or numbers between commas without names.",
        ) from None
