"""Frequency oracles and noise on whole numbers, made ready for batches."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ...core import JointSpace, Randomizer, Recipe, Words
from ..columns import listed
from .labels import positions_in, whole_numbers
from .reporter import Given, Reporter, Secrets


class FamilyReporter(Reporter):
    """A family with a recipe of its own: a frequency oracle, or noise on whole numbers."""

    def __init__(self, drawable: Randomizer, recipe: Recipe) -> None:
        self._drawable = drawable
        self._recipe = recipe
        self._space = drawable.secrets
        self.takes = len(self._space.parts) if isinstance(self._space, JointSpace) else 1
        self.given: Given = "numbers" if self._space is None else "labels"
        self.rowwise = recipe.rowwise

    @property
    def where(self) -> str:
        """The secrets in words."""
        return "whole numbers below 2**62" if self._space is None else f"among the {len(self._space):,} categories"

    def of(self, *columns: Any) -> Secrets:
        """Return the secrets of labels, or whole numbers; see `Reporter.of`."""
        if self._space is not None:
            positions = positions_in(self._space, *columns)
            return Secrets(positions, positions >= 0)
        return Secrets(*whole_numbers(columns[0]))

    def draw(self, secrets: NDArray[Any], words: Words) -> NDArray[Any]:
        """Return reports as the family's sampler draws them, array (n, ...)."""
        return self._recipe.draw(secrets, words)

    def columns(self, reports: NDArray[Any], *, lists: bool, dictionaries: bool) -> dict[str, Any]:  # noqa: ARG002
        """Return the column ``report``, or for each number of a report one: ``report_1``, ..."""
        import pyarrow as pa

        return listed({"report": lambda values: pa.array(values)}, reports, lists=lists)

    def __repr__(self) -> str:
        return repr(self._drawable)
