"""Values of a column: categories, or whole numbers such as ages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

import numpy as np

from sfumato.core import Mechanism, NumberBins, Prior, Space, hamming
from sfumato.core.arrays import Floats
from sfumato.estimation import Reports, identifiability, unbiased_estimate
from sfumato.mechanisms import exponential, geometric, randomised_response, remap_mechanism
from sfumato.reports.sentences import protected_words, secrecy_words
from sfumato.rounding import exactly

from .domain import Domain, design_lines, script_text

_REPORTS: Final = 1e9  # of the population from which a standard error is computed


class ValuesDomain(Domain):
    """Values of a column.

    Args:
        column: Its name.
        counts: How often each value occurs, in the order of the values.
        first: The smallest number, where values are whole numbers in a row; None for categories.
        per_unit: Whether epsilon counts per unit.
        source: Where they come from, in words.
        period: The length of the circle that the numbers are on; None for a line.
        goal: ``shares`` or ``answers``; by default the shares of categories.
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
        goal: str | None = None,
    ) -> None:
        self.ordered = first is not None
        self.goal = goal or ("answers" if self.ordered else "shares")
        self.optimizable = self.goal == "answers"
        self.column, self.source, self.first = column, source, first
        self.per_unit, self.period = per_unit and self.ordered, period
        self.labels, self._counts = list(counts), list(counts.values())
        space: Space = Space(self.labels) if first is None else NumberBins(first, 1, len(counts), period=period)
        self.prior = Prior.from_counts(space, self.counts)
        self.metric = hamming(space) if first is None else space.metric("absolute")
        self.loss = self.metric
        self.loss_unit = ""
        self.apart = self.metric if per_unit else hamming(space)
        self.epsilon_unit = ""
        farthest = float(self.apart.array.max())
        self.ends = (float(f"{0.25 / farthest:.2g}"), 6.0 if not per_unit else 2.0)

    @cached_property
    def counts(self) -> Floats:
        """The number of rows with each value."""
        return np.array(self._counts, dtype=float)

    def closed_form(self, epsilon: float) -> tuple[Mechanism, str]:
        """Return the best of randomised response and, for numbers, geometric or exponential noise."""
        mechanism, name, _ = self._best_form(epsilon)
        return mechanism, name

    def _best_form(self, epsilon: float) -> tuple[Mechanism, str, str]:
        """Return the closed form, its name, and the Python that makes it."""
        flip = epsilon * float(self.apart.array[self.apart.array > 0].min())
        rate = epsilon if self.per_unit else epsilon / float(self.metric.array.max())
        forms = [
            (randomised_response(self.space, flip), "randomised response", f"randomised_response(space, {flip!r})")
        ]
        if self.ordered and self.period is None:
            forms.append((geometric(self.space, rate), "geometric noise", f"geometric(space, {rate!r})"))
        elif self.ordered:
            noise = exponential(self.space, self.metric, rate)
            forms.append((noise, "exponential noise", f"exponential(space, loss, {rate!r})"))
        if self.goal == "shares":
            return min(forms, key=lambda form: share_deviation(form[0], self.prior) or math.inf)
        best = [(remap_mechanism(form, self.prior, self.loss), name, code) for form, name, code in forms]
        return min(best, key=lambda form: form[0].expected_loss(self.prior, self.loss))

    def answer(self) -> dict[str, Any]:
        """Return the values for the page."""
        return {
            "column": self.column,
            "labels": self.labels,
            "ordered": self.ordered,
            "circular": self.period,
            "epsilon_per_unit": self.per_unit,
            "sentences": [
                protected_words(self.subject)[0],
                secrecy_words(self.subject).capitalize(),
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

    def script(self, name: str, epsilon: float, gap: float | None, distortion: float | None) -> str:  # noqa: ARG002
        """Return a Python script that makes a mechanism again; see `Domain.script`."""
        around = "" if self.period is None else f", period={self.period}"
        space = (
            f"sf.NumberBins({self.first}, 1, {len(self.labels)}{around})"
            if self.ordered
            else f"sf.Space({self.labels!r})"
        )
        loss = 'space.metric("absolute")' if self.ordered else "sf.hamming(space)"
        error = "" if distortion is None else f", sf.DistortionPrivacy({distortion!r}, loss)"
        apart = "loss" if self.per_unit or not self.ordered else "sf.hamming(space)"
        lines = f"""space = {space}
prior = sf.Prior.from_counts(space, {self._counts!r})
loss = {loss}
guarantee = sf.MetricPrivacy({epsilon!r}, {apart})"""
        code = self._closed_lines(epsilon) if gap is None else design_lines(f"guarantee{error}", gap)
        return script_text(lines, code, optimized=gap is not None, source=self.source, visits=None)

    def _closed_lines(self, epsilon: float) -> str:
        """Return the lines that make the closed form."""
        remap = (
            "" if self.goal == "shares" else "\nmechanism = sf.mechanisms.remap_mechanism(mechanism, prior, loss)"
        )
        return f"mechanism = sf.mechanisms.{self._best_form(epsilon)[2]}{remap}"


def is_whole(label: str) -> bool:
    """Return whether a label is a whole number of at most ten signs."""
    return label.removeprefix("-").isdecimal() and label.isascii() and len(label) <= 10


def share_deviation(mechanism: Mechanism, prior: Prior) -> float | None:
    """Return the largest standard error of a share, times the root of the reports; None if one is not identified.

    The population is the prior, and the estimate is unbiased (`sfumato.estimation.unbiased_estimate`).
    """
    if not identifiability(mechanism).complete:
        return None
    counts = np.rint(_REPORTS * (prior.probabilities @ mechanism.matrix))
    estimate = unbiased_estimate(Reports(mechanism, counts.astype(np.int64)))
    return math.sqrt(max(0.0, float(np.diagonal(estimate.covariance).max()) * float(counts.sum())))
