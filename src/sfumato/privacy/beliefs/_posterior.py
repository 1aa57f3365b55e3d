"""From prior to posterior: what a likelihood ratio makes of a belief, and the fact it changes most."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core import Prior, Space
from ...core.arrays import Floats, readonly
from ...rounding.errors import log_errors
from .._channel import AnyMechanism, channel
from ..finding import Finding, Witness
from ..notion import Notion
from ._odds import Chance, Odds, odds
from .events import Events, events_on
from .priors import Priors

_LARGEST_EXPONENT = 700.0


class Rated(NamedTuple):
    """A quantity of each fact; arrays (k,).

    Attributes:
        value: As computed.
        upper: Not less than the truth.
        p: The prior probability of the fact at which the value is attained or approached.
        output: The report.
        raised: Whether the report makes the fact more probable (else less).
    """

    value: Floats
    upper: Floats
    p: Floats
    output: NDArray[np.intp]
    raised: NDArray[np.bool_]

    @property
    def opposite(self) -> Rated:
        """The same, said of the facts "not T"."""
        return self._replace(p=1 - self.p, raised=~self.raised)


def gain(chance: Chance, log_ratio: Floats) -> Floats:
    """Return ln(posterior / prior) = -ln(p + q / rho) for ln rho >= 0."""
    with np.errstate(divide="ignore"):
        far = -np.log(chance.p + chance.q * np.exp(-log_ratio))
    near = -np.log1p(chance.q * np.expm1(-np.minimum(log_ratio, 1.0)))
    return np.where(log_ratio < 1, near, far) + 0.0


def lost_doubt(chance: Chance, log_ratio: Floats) -> Floats:
    """Return ln(q / (1 - posterior)) = ln(q + p rho) for ln rho >= 0."""
    near = np.log1p(chance.p * np.expm1(np.minimum(log_ratio, _LARGEST_EXPONENT)))
    return np.where(np.isinf(log_ratio), np.where(chance.p > 0, np.inf, 0.0), near)


def posterior(chance: Chance, log_ratio: Floats) -> Floats:
    """Return p / (p + q / rho); for an infinite ratio the limit 1."""
    with np.errstate(invalid="ignore"):
        finite = chance.p / (chance.p + chance.q * np.exp(-log_ratio))
    return np.where(np.isposinf(log_ratio), 1.0, finite)


def upward(found: Odds) -> Rated:
    """Return max over priors of max(ln(posterior / p), ln((1 - p) / (1 - posterior))).

    The first falls with p, the second grows: the ends of the interval attain them.
    """
    first, second = gain(found.least, found.high), lost_doubt(found.most, found.high)
    value = np.maximum(first, second)
    upper = value + log_errors(found.high, found.terms) + log_errors(value, found.terms)
    p = np.where(first >= second, found.least.p, found.most.p)
    return Rated(value, upper, p, found.high_at, np.ones(len(value), dtype=np.bool_))


def downward(found: Odds) -> Rated:
    """Return the same of the opposite facts: by how much a report makes each less probable."""
    return upward(found.opposite).opposite


def both(found: Odds) -> Rated:
    """Return the larger of both directions."""
    up, down = upward(found), downward(found)
    larger = up.value >= down.value
    chosen = Rated(*(np.where(larger, a, b) for a, b in zip(up, down, strict=True)))
    return chosen._replace(upper=np.maximum(up.upper, down.upper))


def worst(
    notion: Notion,
    mechanism: AnyMechanism,
    priors: Priors,
    events: Events | None,
    rate: Callable[[Odds], Rated],
) -> Finding:
    """Return the largest rate over all priors and facts, at least 0, with who attains it."""
    matrix, secrets, _ = channel(mechanism)
    masks = events_on(events, len(matrix)).masks
    value, upper = 0.0, 0.0
    witness = Witness()
    for found in odds(matrix, priors, masks):
        rated = rate(found)
        upper = float(np.maximum(upper, rated.upper.max()))  # a NaN is not lost
        j = int(rated.value.argmax())
        if rated.value[j] > value:
            value = float(rated.value[j])
            witness = _attained(matrix, secrets, found.prior, masks[j], rated, j)
    return Finding(notion, value, upper - value if value < np.inf else 0.0, witness)


def _attained(
    matrix: Floats, secrets: Space, prior: Prior | None, mask: NDArray[np.bool_], rated: Rated, j: int
) -> Witness:
    p, output = float(rated.p[j]), int(rated.output[j])
    belief = np.zeros(len(mask))
    for part, share, high in ((mask, p, bool(rated.raised[j])), (~mask, 1 - p, not rated.raised[j])):
        members = np.flatnonzero(part)
        if prior is None:
            column = matrix[members, output]
            belief[members[column.argmax() if high else column.argmin()]] = share
        else:
            weights = prior.probabilities[members]
            total = weights.sum()
            belief[members] = share * weights / total if total > 0 else share / len(members)
    return Witness(
        outputs=readonly(np.array([output])),
        prior=Prior(secrets, belief).probabilities,
        event=readonly(np.flatnonzero(mask)),
        note=f"approached as the prior probability of the event tends to {p:g}" if p in (0.0, 1.0) else "",
    )
