"""Privacy and loss of mechanisms with and without dummies, each proved for two groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.core import Bracket, Mechanism, Prior
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError
from sfumato.mechanisms import (
    FamilyAccountant,
    Tupling,
    attack_success,
    mixture_dummies,
    optimised_dummies,
    quality_loss,
    quality_loss_of_secrets,
    uniform_dummies,
)

from .groups import Groups
from .lines import Line

DELTA: Final = 1e-3
DUMMIES: Final = (0, 5, 10, 20, 50, 100)
NONE: Final = "none"
_NEAR: Final = 1e-4  # nats between the accountant's bounds


@dataclass(frozen=True, slots=True, repr=False)
class DistributionRow(CompactRepr):
    """One mechanism, with a number of dummies.

    Attributes:
        groups: Who is compared.
        mechanism: The name of the line.
        parameter: The inner mechanism's parameter.
        dummies: k.
        source: Where dummies are drawn from: ``none``, ``uniform``, ``mixture`` or ``optimised``.
        epsilon: The least epsilon that is enough at the study's delta, with proved bounds; ``inf`` if none is.
        loss_km: The expected distance from a user to the best of the k + 1 answers.
        least_gain: By what part the loss is below that without dummies, for the place where
            this part is smallest among those with visits.
        attack_success: How often the best attacker names the right one of two groups of
            equal size, from above.
    """

    groups: str
    mechanism: str
    parameter: float
    dummies: int
    source: str
    epsilon: Bracket
    loss_km: float
    least_gain: float
    attack_success: float


def sweep(
    groups: Groups,
    lines: Iterable[Line],
    dummies: Sequence[int] = DUMMIES,
    *,
    sources: Sequence[str] = ("uniform", "mixture"),
    delta: float = DELTA,
    progress: Callable[[str], None] | None = None,
) -> Iterator[DistributionRow]:
    """Measure every line at all its parameters, with every number and source of dummies.

    Args:
        groups: The two groups.
        lines: The inner mechanisms.
        dummies: The numbers k of dummies; 0 is the inner mechanism by itself.
        sources: ``uniform``, ``mixture`` (dummies look like the groups' reports) or
            ``optimised`` (searched for, which takes seconds for each row).
        delta: At which epsilon is proved.
        progress: Called with the name of each line before it is measured.

    Yields:
        Rows, by line, parameter, number and source.

    Raises:
        InputError: If a source is unknown, or another argument out of range.

    Source:
        Kawamoto and Murakami, "Local obfuscation mechanisms for hiding probability
        distributions", ESORICS 2019, section 6; epsilon by the exact accountant.
    """
    unknown = set(sources) - {"uniform", "mixture", "optimised"}
    if unknown:
        raise InputError(
            f"dummies from {', '.join(sorted(unknown))} are unknown.", "use uniform, mixture, optimised."
        )
    for line in lines:
        if progress is not None:
            progress(line.name)
        for parameter in line.parameters:
            inner = line.build(parameter)
            for k in dummies:
                for source in sources if k else (NONE,):
                    tupling = Tupling(inner, k, _distribution(groups, inner, k, source, delta))
                    yield measured(groups, tupling, line.name, parameter, source, delta)


def measured(
    groups: Groups, tupling: Tupling, name: str, parameter: float, source: str, delta: float = DELTA
) -> DistributionRow:
    """Return what a mechanism with dummies hides and costs."""
    family = groups.distributions
    epsilon = FamilyAccountant(tupling, family).epsilon(delta, _NEAR).bounds
    visited = groups.everyone.support
    alone = tupling.inner.loss_of_secrets(groups.metric)[visited]
    best = quality_loss_of_secrets(tupling, groups.metric)[visited]
    gains = 1 - np.divide(best, alone, out=np.ones_like(best), where=alone > 0)
    return DistributionRow(
        groups.title,
        name,
        parameter,
        tupling.dummies,
        source,
        epsilon,
        quality_loss(tupling, groups.everyone, groups.metric),
        float(gains.min()) if tupling.dummies else 0.0,
        attack_success(tupling, family[0], family[1]).upper,
    )


def best_within(
    rows: Iterable[DistributionRow], mechanism: str, dummies: int, source: str, loss_km: float
) -> DistributionRow | None:
    """Return the measured row of a line with the least epsilon within a loss, if there is one.

    No value is read between the points: what is returned was measured and proved.

    Args:
        rows: Rows of a sweep.
        mechanism: The name of the line.
        dummies: k.
        source: Where dummies are drawn from.
        loss_km: The largest loss allowed.
    """
    fitting = [
        row
        for row in rows
        if (row.mechanism, row.dummies, row.source) == (mechanism, dummies, source) and row.loss_km <= loss_km
    ]
    return min(fitting, key=lambda row: row.epsilon.upper, default=None)


def of_neighbours(groups: Groups, line: Line, parameter: float, dummies: int) -> float:
    """Return the proved epsilon, at the study's delta, for two neighbouring cells with visits.

    It says how well the person is hidden, not the group.
    """
    inner = line.build(parameter)
    d, visited = groups.metric.array, groups.everyone.support
    between = d[np.ix_(visited, visited)]
    pairs = visited[np.argwhere((between > 0) & (between < 1.01 * d[d > 0].min()))]
    tupling = Tupling(inner, dummies, mixture_dummies(inner, groups.distributions))
    return FamilyAccountant.of_points(tupling, pairs).epsilon(DELTA, 1e-3).bounds.upper


def _distribution(groups: Groups, inner: Mechanism, dummies: int, source: str, delta: float) -> Prior:
    mixture = mixture_dummies(inner, groups.distributions)
    if source == "mixture":
        return mixture
    if source == "optimised":
        family = FamilyAccountant(Tupling(inner, dummies, mixture), groups.distributions)
        return optimised_dummies(family, delta=delta).distribution
    return uniform_dummies(inner)
