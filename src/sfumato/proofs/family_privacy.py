"""Distribution privacy as a guarantee: its rows in a program, and its proof over the integers of a mechanism."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .. import intervals
from ..core import DistributionGuarantee, Mechanism, Space, units
from ..core.arrays import Floats
from ..core.immutable import CompactRepr, assign
from ..errors import InputError, python
from ..escaping import plain, shorten
from ..rounding import UNIT, exactly

if TYPE_CHECKING:  # a first draw does not load the notions
    from ..privacy import DistributionPrivacy, FamilyDistance, MetricDistributionPrivacy, Notion


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class FamilyPrivacy(DistributionGuarantee):
    """Distribution privacy at an epsilon: A#(lam)[R] <= e**epsilon A#(mu)[R] + delta for the pairs of a family.

    A#(lam) is the distribution of the report when the secret is drawn from lam. The notion holds the family, its
    pairs and delta: `sfumato.privacy.DistributionPrivacy`, or `MetricDistributionPrivacy`, with epsilon per unit
    of distance, a number or text such as ``"0.5/km"``. What is promised is about the distributions as the floats
    that they are. At epsilon 0 without delta their reports are equal exactly: a design reaches the optimum for two
    distributions whose floats have equal sums, and may stop at a constant report for others.

    The probabilistic variant is not convex: for `ProbabilisticDistributionPrivacy` the guarantee is
    distribution privacy without delta, which implies it at the same epsilon, for every delta. Raises `InputError`
    if epsilon is below 0, the notion is another one, or the probabilistic variant has a pair in one order only.
    Raises `UnitError` if the unit of epsilon does not fit.

    Example:
        >>> import sfumato as sf
        >>> groups = sf.privacy.Family({"day": [0.5, 0.5, 0.0], "night": [0.0, 0.5, 0.5]})
        >>> sf.FamilyPrivacy(0.5, sf.privacy.DistributionPrivacy(groups))
        FamilyPrivacy(epsilon 0.5 between the distributions day and night)

    Source:
        Kawamoto and Murakami, "Local obfuscation mechanisms for hiding probability distributions", definitions 11
        and 12.
    """

    epsilon: float
    notion: DistributionPrivacy | MetricDistributionPrivacy

    def __init__(self, epsilon: float | str, notion: Notion) -> None:
        from ..privacy import DistributionPrivacy, MetricDistributionPrivacy, ProbabilisticDistributionPrivacy

        if isinstance(notion, ProbabilisticDistributionPrivacy):
            family = notion.family
            if {(i, j) for i, j in family.pairs.tolist()} != {(j, i) for i, j in family.pairs.tolist()}:
                raise InputError(
                    "probabilistic distribution privacy is about both orders of a pair, but the family has one.",
                    python("name the pairs in both orders."),
                )
            notion = DistributionPrivacy(family)
        if not isinstance(notion, DistributionPrivacy | MetricDistributionPrivacy):
            raise InputError(
                f"{notion!r} is not distribution privacy.",
                python("pass sf.privacy.DistributionPrivacy(family), or MetricDistributionPrivacy."),
            )
        unit = notion.unit if isinstance(notion, MetricDistributionPrivacy) else ""
        value = units.parse(epsilon, per=True, unit=unit, subject="epsilon")
        if value < 0:
            raise InputError(f"epsilon must be at least 0, but {value:g} was given.", "a smaller one hides more.")
        assign(self, epsilon=value, notion=notion)

    @property
    def distance(self) -> FamilyDistance | None:
        """The distance between the distributions, which epsilon is per unit of; None without."""
        return getattr(self.notion, "distance", None)

    @property
    def unit(self) -> str:
        """The unit of the distance; empty without."""
        return "" if self.distance is None else self.distance.unit

    def check_secrets(self, secrets: Space) -> None:
        """Refuse secrets of another number or order than those of the distributions (`InputError`)."""
        if self.notion.family.secrets is not None:
            secrets.check_order(self.notion.family.secrets, "a distribution")
        if self.notion.family.size != len(secrets):
            raise InputError(
                f"the guarantee ({self}) is for {self.notion.family.size} secrets, but there are {len(secrets)}.",
                "use distributions on the secrets.",
            )

    def rows(self) -> FamilyRows:
        """Return the rows of the pairs that it constrains."""
        family, pairs = self.notion.family, self.notion.family.pairs
        near = far = np.ones(len(pairs))
        if self.distance is not None:
            near, far = self.distance.lower[tuple(pairs.T)], self.distance.array[tuple(pairs.T)]
        first, second = family.distributions[pairs[:, 0]], family.distributions[pairs[:, 1]]
        counts = np.isfinite(far) & (first != second).any(axis=1) & (self.notion.delta < 1)
        with np.errstate(over="ignore"):  # an overflow constrains nothing
            above, below = np.nextafter(self.epsilon * far[counts], np.inf), self.epsilon * near[counts]
        first, second = first[counts], second[counts]
        # Equal rows have the guarantee, even where rounding made the sums of the distributions differ.
        of_equal = first.sum(axis=1) / second.sum(axis=1) * (1 + 4 * (family.size + 2) * UNIT)
        factors = np.maximum(intervals.exp_above(above), of_equal)
        delta = np.full(len(above), self.notion.delta)
        return FamilyRows(first, second, below, factors, delta)

    def __repr__(self) -> str:
        return f"FamilyPrivacy({self})"

    def __str__(self) -> str:
        per = f"/{plain(self.unit)}" if self.unit else ""
        delta = f" with delta {exactly(self.notion.delta)}" if self.notion.delta else ""
        return f"epsilon {exactly(self.epsilon)}{per}{delta} between {shorten(plain(str(self.notion.family)), 80)}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FamilyRows(CompactRepr):
    """Rows of distribution privacy: sum over o of max(0, A#(lam)[o] - e**exponent A#(mu)[o]) <= delta.

    Attributes:
        first: Array (k, n), lam of each pair.
        second: Array (k, n), mu of each pair.
        exponents: Array (k,), to design for: a mechanism with these has the guarantee.
        factors: Array (k,), at least e**exponent of every mechanism with the guarantee, for bounds.
        deltas: Array (k,).
    """

    first: Floats
    second: Floats
    exponents: Floats
    factors: Floats
    deltas: Floats

    def __len__(self) -> int:
        return len(self.deltas)


@dataclass(frozen=True, slots=True, repr=False)
class FamilyProof(CompactRepr):
    """A proof of distribution privacy; ``upper`` is a proved upper bound on epsilon, per ``unit`` of distance.

    The distributions of the names in ``worst_pair`` attain it.
    """

    claimed: float
    upper: float
    holds: bool
    worst_pair: tuple[str, ...]
    unit: str
    guarantee: str


def family_rows(guarantees: Iterable[object], secrets: int) -> FamilyRows:
    """Return the rows of all `FamilyPrivacy` among guarantees for a number of secrets."""
    parts = [guarantee.rows() for guarantee in guarantees if isinstance(guarantee, FamilyPrivacy)]
    empty = np.empty(0)
    none = FamilyRows(np.empty((0, secrets)), np.empty((0, secrets)), empty, empty, empty)
    names = ("first", "second", "exponents", "factors", "deltas")
    return FamilyRows(*(np.concatenate([getattr(part, name) for part in (none, *parts)]) for name in names))


def prove_families(mechanism: Mechanism, guarantees: Iterable[object]) -> tuple[FamilyProof, ...]:
    """Prove each `FamilyPrivacy` among guarantees over the integers of a mechanism.

    The notion is measured on the integers, with its rounding error to the safe side, and in fractions where that
    decides. Raises `InputError` if a guarantee is for other secrets.
    """
    proofs = []
    for guarantee in guarantees:
        if not isinstance(guarantee, FamilyPrivacy):
            continue
        guarantee.check_secrets(mechanism.secrets)
        finding = guarantee.notion.measure(mechanism)
        upper = math.inf if math.isnan(finding.upper) else finding.upper
        claimed, pair = guarantee.epsilon, finding.witness.names or ()
        proofs.append(FamilyProof(claimed, upper, upper <= claimed, pair, guarantee.unit, str(guarantee)))
    return tuple(proofs)
