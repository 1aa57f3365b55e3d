"""Examples that an adversary learns from: secrets, and what was reported for them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core import Mechanism, Prior, Space
from ...core.arrays import Floats, floats, numbers, readonly
from ...errors import InputError


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Examples:
    """Pairs of a secret and a report, the report as numbers.

    Args:
        secrets: Array (k,) of positions in the space.
        points: Array (k, features), or (k,), the reports.
        space: The secrets.

    Attributes:
        secrets: The positions.
        points: The reports, array (k, features).
        space: The secrets.

    Raises:
        InputError: If sizes differ, or a position is outside the space.
    """

    secrets: NDArray[np.intp]
    points: Floats
    space: Space

    def __init__(self, secrets: ArrayLike, points: ArrayLike, space: Space) -> None:
        found = floats(secrets, "the secrets", shape=(None,))
        if (found != np.rint(found)).any() or (found < 0).any() or (found >= len(space)).any():
            raise InputError(
                f"a secret is not a position from 0 to {len(space) - 1}.", "for labels, use Examples.of."
            )
        given = numbers(points, "the reports")
        array = floats(given[:, None] if given.ndim == 1 else given, "the reports", shape=(len(found), None))
        if len(found) < 2 or array.shape[1] == 0:
            raise InputError(
                f"there are {len(found)} examples of {array.shape[1]} numbers each.", "collect at least two."
            )
        object.__setattr__(self, "secrets", readonly(found.astype(np.intp)))
        object.__setattr__(self, "points", array)
        object.__setattr__(self, "space", space)

    @classmethod
    def of(cls, secrets: Iterable[Hashable], outputs: Any, space: Space | None = None) -> Examples:
        """Return the examples of labels: the i-th output was seen for the i-th secret.

        Args:
            secrets: The secret of each example.
            outputs: Array (k,) or (k, features) of numbers.
            space: All secrets; by default those that occur.
        """
        labels = list(secrets)
        found = space if space is not None else Space(dict.fromkeys(labels))
        return cls(found.positions(labels), outputs, found)

    @classmethod
    def of_mechanism(cls, mechanism: Mechanism, prior: Prior, size: int, *, seed: int | None = None) -> Examples:
        """Return simulated examples of a mechanism: secrets drawn from the prior, and their reports.

        A report becomes the coordinates of its observable, where there are coordinates;
        else a unit vector, so that different observables are equally far apart.

        Args:
            mechanism: The mechanism.
            prior: The prior on its secrets.
            size: How many examples.
            seed: For studies: makes the draws the same each time.

        Raises:
            InputError: If the prior does not fit.
        """
        joint = mechanism.joint(prior)
        rng = np.random.default_rng(seed)
        cells = rng.choice(joint.size, size=_positive(size), p=joint.ravel() / joint.sum())
        secrets, reports = np.unravel_index(cells, joint.shape)
        places = mechanism.observables.coordinates
        return cls(
            secrets, np.eye(joint.shape[1])[reports] if places is None else places[reports], mechanism.secrets
        )

    @classmethod
    def of_black_box(
        cls, ask: Callable[[Hashable], Any], prior: Prior, size: int, *, seed: int | None = None
    ) -> Examples:
        """Return what a function answers for secrets drawn from the prior.

        Args:
            ask: From a label to a number or a row of numbers; called ``size`` times.
            prior: The prior on the secrets.
            size: How many examples.
            seed: Of the choice of the secrets; the function has its own randomness.
        """
        rng = np.random.default_rng(seed)
        p = prior.probabilities / prior.probabilities.sum()
        chosen = rng.choice(len(prior), size=_positive(size), p=p)
        answers = [np.atleast_1d(numbers(ask(prior.space.labels[s]), "the answer")) for s in chosen]
        if len({answer.shape for answer in answers}) > 1:
            raise InputError("the answers differ in shape.", "return as many numbers for every secret.")
        return cls(chosen, np.stack(answers), prior.space)

    def __len__(self) -> int:
        return len(self.secrets)

    def __repr__(self) -> str:
        k = self.points.shape[1]
        return f"Examples: {len(self)} reports of {k} number{'s' if k > 1 else ''}, {len(self.space)} secrets"

    @property
    def shares(self) -> Floats:
        """Frequency of each secret, as a share, array (secrets,)."""
        shares: Floats = np.bincount(self.secrets, minlength=len(self.space)) / len(self)
        return shares

    def split(self, share: float, *, seed: int | None = None) -> tuple[Examples, Examples]:
        """Return a random part and the rest.

        Args:
            share: The share of the first part, between 0 and 1.
            seed: For studies.

        Raises:
            InputError: If a part would have fewer than two examples.
        """
        first = round(share * len(self)) if 0 < share < 1 else 0
        if not 2 <= first <= len(self) - 2:
            raise InputError(
                f"a share of {share} of {len(self)} examples leaves a part without two of them.",
                "use a share between 0 and 1, such as 0.5, or more examples.",
            )
        order = np.random.default_rng(seed).permutation(len(self))
        one, two = (
            Examples(self.secrets[part], self.points[part], self.space) for part in (order[:first], order[first:])
        )
        return one, two


def _positive(size: int) -> int:
    if size < 2:
        raise InputError(f"{size} examples were asked for.", "ask for at least two.")
    return size
