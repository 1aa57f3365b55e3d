"""Values of a column: categories, or whole numbers such as ages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.core import (
    Asked,
    Bracket,
    DistortionPrivacy,
    Mechanism,
    Metric,
    MetricPrivacy,
    NumberBins,
    Prior,
    Space,
    hamming,
)
from sfumato.core.arrays import Floats
from sfumato.leakage import bayes_vulnerability
from sfumato.optimal import Design, DesignGoal
from sfumato.privacy.atlas import Claim
from sfumato.proofs import distortion_below
from sfumato.reports import summarise
from sfumato.rounding import counted, exactly

from ..refusals import RefusedError
from ..script import script_text
from .ground import Measures, StudioGround, Where


class ValuesGround(StudioGround):
    """Values of a column.

    Args:
        column: Its name.
        counts: How often each value occurs, in the order of the values.
        first: The smallest number, where values are whole numbers in a row; None for categories.
        per_unit: Whether epsilon counts per unit.
        source: Where they come from, in words.
        period: The length of the circle that the numbers are on; None for a line.
    """

    kind = "values"

    def __init__(
        self,
        column: str,
        counts: Mapping[str, float],
        first: int | None,
        *,
        per_unit: bool,
        source: str,
        period: int | None = None,
    ) -> None:
        self.column, self.source, self.first, self.per_unit = column, source, first, per_unit
        self.period = period
        self.labels, self.counts = list(counts), list(counts.values())
        space: Space = Space(self.labels) if first is None else NumberBins(first, 1, len(counts), period=period)
        self.prior = Prior.from_counts(space, np.array(self.counts, dtype=float))
        self.metric: Metric = hamming(space) if first is None else space.metric("absolute")
        self.loss = self.metric
        self.loss_unit = ""
        self.apart: Metric = self.metric if per_unit else hamming(space)
        self.epsilon_unit = ""
        farthest = float(self.apart.array.max())
        self.ends = (float(f"{0.25 / farthest:.2g}"), 6.0 if not per_unit else 2.0)

    @property
    def ordered(self) -> bool:
        """Whether the values are numbers."""
        return self.first is not None

    def promise(self, epsilon: float) -> Asked:
        """Return the promise for any two values."""
        return MetricPrivacy(epsilon, self.apart)

    def errs(self, least: float) -> Asked:
        """Return the guarantee of the attacker's error."""
        return DistortionPrivacy(least, self.metric)

    def exponent(self, epsilon: float) -> float:
        """Return epsilon itself."""
        return epsilon

    def claim(self, epsilon: float) -> Claim:
        """Return the promise itself."""
        return Claim.of(MetricPrivacy(epsilon, self.apart))

    def measures(self, mechanism: Mechanism) -> Measures:
        """Return the best attacker's average error for numbers, and how often a guess is right."""
        hits = bayes_vulnerability(mechanism, self.prior)
        most = min(1.0, -distortion_below(mechanism, self.prior, -np.eye(len(self.prior))))
        found = Bracket(-math.inf, min(hits, most), most)
        if not self.ordered:
            return Measures(None, found)
        error = distortion_below(mechanism, self.prior, self.metric)
        return Measures(Bracket(error, error, math.inf), found)

    def spread(self, where: Where) -> Floats:
        """Return the value that is named."""
        at = where[0]
        if at is None:
            raise RefusedError(422, "A value is needed, not a point on the map.", "name its index in at.", "at")
        found = np.zeros(len(self.prior))
        found[self.checked_index(at)] = 1.0
        return found

    def away(self, where: Where) -> Floats:
        """Return how far all values are from one."""
        found: Floats = self.metric.array[int(np.argmax(self.spread(where)))]
        return found

    def goal_for_found(self, share: float) -> DesignGoal | None:  # noqa: ARG002
        """Return no goal: searches for an attacker's chance are for places."""
        return None

    @property
    def counted_by(self) -> dict[str, Any]:
        """See `StudioGround.counted_by`."""
        return {"metric": self.apart}

    def described(self, design: Design) -> list[tuple[str, list[str]]]:
        """Return the report of a design."""
        found = summarise(design, self.metric if self.ordered else None, source=self.source)
        return [(section.title, list(section.sentences)) for section in found.sections]

    def answer(self) -> dict[str, Any]:
        """Return the values for the page."""
        how = "the numbers that are asked" if self.ordered else "the answers"
        return {
            "kind": "values",
            "n": len(self.labels),
            "column": self.column,
            "labels": self.labels,
            "ordered": self.ordered,
            "circular": self.period,
            "epsilon_per_unit": self.per_unit,
            "epsilon_unit": self.epsilon_unit,
            "loss_unit": self.loss_unit,
            "epsilons": {"least": self.ends[0], "most": self.ends[1]},
            "sentences": [
                f"There are {counted(len(self.labels), 'value')}; one of them is reported.",
                f"The values and how often each occurs are those of {how}: anyone with the mechanism's file sees "
                "them.",
                *self._circle(),
            ],
        }

    def _circle(self) -> list[str]:
        """Return which numbers are neighbours around the circle, in a sentence, if they are on one."""
        if self.period is None:
            return []
        first, last = int(self.labels[0]), int(self.labels[-1])
        again = f", and {last} stands for {last - self.period}, too" if last >= self.period else ""
        apart = exactly(float(self.metric.array[0, -1]))
        return [f"The numbers are {self.space.circle}: {last} and {first} are {apart} apart{again}."]

    def script(self, name: str, epsilon: float, gap: float, distortion: float | None) -> str:  # noqa: ARG002
        """Return a Python script that makes a design again; see `StudioGround.script`."""
        around = "" if self.period is None else f", period={self.period}"
        space = (
            f"sf.NumberBins({self.first}, 1, {len(self.labels)}{around})"
            if self.ordered
            else f"sf.Space({self.labels!r})"
        )
        loss = 'space.metric("absolute")' if self.ordered else "sf.hamming(space)"
        errs = "" if distortion is None else f", sf.DistortionPrivacy({distortion!r}, loss)"
        apart = "loss" if self.per_unit or not self.ordered else "sf.hamming(space)"
        lines = f"""space = {space}
prior = sf.Prior.from_counts(space, {self.counts!r})
loss = {loss}"""
        call = f"""    prior,
    loss=loss,
    guarantees=[sf.MetricPrivacy({epsilon!r}, {apart}){errs}],
    gap={gap!r},
    tie_break=False,"""
        return script_text(lines, call, source=self.source, visits=None)
