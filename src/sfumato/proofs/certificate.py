"""Certificate of a mechanism, all proofs in one object, and the epsilon between points of a lattice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..core import (
    AnyLoss,
    Bracket,
    DistortionPrivacy,
    Guarantees,
    Loss,
    Mechanism,
    MetricPrivacy,
    Prior,
    as_guarantees,
    as_loss,
)
from ..core.immutable import CompactRepr
from ..errors import InputError, argument
from ..geo import Lattice
from ..rounding import amount_at_most, gap_at_most, sum_above
from .constraints import (
    ConstraintProof,
    LinearConstraint,
    distortion_below,
    expected_loss_above,
    prove_constraint,
    worst_loss_above,
)
from .coordinates import per_unit_above, prove_coordinate_privacy, prove_steps
from .family_privacy import FamilyProof, prove_families
from .metric_privacy import EpsilonProof, prove_metric_privacy
from .place_distortion import PlaceDistortion
from .slope import Steepest
from .vertex_privacy import VertexPrivacy, bound_to


def relative_gap(value: float, bound: float, least: float = 0.0, *, maximise: bool = False) -> float:
    """Return an upper bound on the distance of a value from the optimum, relative to the value.

    It is 0 where the value reaches the proved bound, an upper one with ``maximise``, and ``inf`` for a value of 0
    that could be better. A value smaller than ``least`` is replaced by it as the reference. Solvers need that,
    because a loss of zero has no relative gap; numbers shown to people do not.
    """
    distance = bound - value if maximise else value - bound
    size = max(abs(value), least)
    if not distance > 0:
        return 0.0
    return distance / size if size > 0 else math.inf


@dataclass(frozen=True, slots=True, repr=False)
class DistortionProof(CompactRepr):
    """A proof that the optimal attack's expected error is at least ``claimed``; ``lower`` is a proved bound."""

    claimed: float
    lower: float
    holds: bool
    unit: str


@dataclass(frozen=True, slots=True, repr=False)
class Certificate:
    """Proofs over the integers of a mechanism, and its gap to the optimum.

    Attributes:
        metric_privacy: One proof per metric guarantee.
        distortion: One proof per distortion guarantee.
        loss: Proved upper bound on the expected loss, in ``loss_unit``.
        worst_case_loss: Proved upper bound on the worst-case loss.
        objective: ``expected``, ``worst-case`` or ``distortion`` (the dual game).
        value: The objective, as proved of this mechanism.
        bound: Proved bound on the objective of every mechanism with the same guarantees: a lower bound on the
            loss, or an upper bound on the distortion.
        repair_weight: Share of the constant mechanism that was mixed in to repair the solver's answer.
        constraints: One proof per linear constraint.
        families: One proof per guarantee of distribution privacy.
        free_reports: Whether the bound is for mechanisms with any reports on the plane; else it is for those with
            the reports of the program.
        all_secrets: Whether it is for any secrets as well; else it is for those of the program.
    """

    metric_privacy: tuple[EpsilonProof, ...]
    distortion: tuple[DistortionProof, ...]
    loss: float
    worst_case_loss: float
    loss_unit: str
    objective: str
    value: float
    bound: float
    repair_weight: float
    constraints: tuple[ConstraintProof, ...] = ()
    families: tuple[FamilyProof, ...] = ()
    free_reports: bool = False
    all_secrets: bool = False

    def __repr__(self) -> str:
        state = "proved" if self.holds else "NOT proved"
        guarantees = len(self._proofs)
        loss, gap = amount_at_most(self.loss, self.loss_unit), gap_at_most(self.gap)
        return (
            f"Certificate({guarantees} guarantee{'' if guarantees == 1 else 's'} {state}, loss at most {loss}, "
            f"objective {self.objective}, gap at most {gap})"
        )

    @property
    def holds(self) -> bool:
        """Whether every guarantee and every constraint is proved."""
        return all(proof.holds for proof in self._proofs)

    @property
    def _proofs(self) -> tuple[EpsilonProof | DistortionProof | ConstraintProof | FamilyProof, ...]:
        return (*self.metric_privacy, *self.distortion, *self.constraints, *self.families)

    @property
    def gap(self) -> float:
        """Upper bound on the distance from the optimum, relative to the value; see `relative_gap`."""
        return relative_gap(self.value, self.bound, maximise=self.objective == "distortion")

    @property
    def absolute_gap(self) -> float:
        """Upper bound on the distance from the optimum, in the unit of the value, rounded up; at least 0."""
        low, high = (self.value, self.bound) if self.objective == "distortion" else (self.bound, self.value)
        return sum_above((high, -low)) if high > low else 0.0

    @property
    def epsilon_upper(self) -> float:
        """The proved epsilon of the first metric guarantee; ``inf`` if there is none."""
        return self.metric_privacy[0].upper if self.metric_privacy else float("inf")

    @property
    def worst_pair(self) -> tuple[int, int] | None:
        """The pair of secrets that attains it."""
        return self.metric_privacy[0].worst_pair if self.metric_privacy else None

    @property
    def lower_bound(self) -> float:
        """The proved lower bound on the loss; ``-inf`` where the objective is the distortion."""
        return self.bound if self.objective != "distortion" else float("-inf")


def prove_guarantees(
    mechanism: Mechanism, prior: Prior | None, guarantees: Guarantees
) -> tuple[tuple[EpsilonProof, ...], tuple[DistortionProof, ...]]:
    """Prove metric privacy and distortion among guarantees, one or several, over the integers of the mechanism."""
    demands = bound_to(mechanism.secrets, as_guarantees(guarantees))
    epsilons = tuple(
        prove_coordinate_privacy(mechanism, demand)
        if isinstance(demand, VertexPrivacy)
        else prove_metric_privacy(mechanism, demand)
        for demand in demands
        if isinstance(demand, MetricPrivacy)
    )
    distortions = []
    for guarantee in demands:
        if isinstance(guarantee, DistortionPrivacy):
            if prior is None:
                raise InputError("the attacker's error depends on a prior.", f"pass {argument('prior')}.")
            if isinstance(guarantee, PlaceDistortion):
                lower = guarantee.lower(guarantee.attack(mechanism, prior))
            else:
                lower = distortion_below(mechanism, prior, guarantee.distance)
            distortions.append(
                DistortionProof(guarantee.minimum, lower, lower >= guarantee.minimum, guarantee.distance.unit)
            )
    return epsilons, tuple(distortions)


def certify(
    mechanism: Mechanism,
    prior: Prior,
    loss: AnyLoss,
    guarantees: Guarantees,
    *,
    objective: str,
    bound: float,
    distance: AnyLoss | None = None,
    repair_weight: float = 0.0,
    constraints: Sequence[LinearConstraint] = (),
) -> Certificate:
    """Return the certificate of a mechanism, of which only the integers count.

    The bound on the objective (``expected``, ``worst-case`` or ``distortion``, by the adversary's distance) is
    proved, by `loss_bound` or `distortion_bound`. ``repair_weight`` is the share of the constant mechanism that
    was mixed in.
    """
    table: Loss = as_loss(loss, *mechanism.shape)
    epsilons, distortions = prove_guarantees(mechanism, prior, guarantees)
    expected = expected_loss_above(mechanism, prior, table)
    worst = worst_loss_above(mechanism, table)
    if objective == "distortion" and distance is not None:
        value = distortion_below(mechanism, prior, distance)
    else:
        value = worst if objective == "worst-case" else expected
    proofs = tuple(prove_constraint(mechanism, constraint) for constraint in constraints)
    losses = expected, worst, table.unit
    families = prove_families(mechanism, as_guarantees(guarantees))
    return Certificate(epsilons, distortions, *losses, objective, value, bound, repair_weight, proofs, families)


def as_dict(certificate: Certificate) -> dict[str, Any]:
    """Return the certificate as plain values for a file or a report; None stands for infinite bounds."""
    return dict(_plain({**asdict(certificate), "gap": certificate.gap, "holds": certificate.holds}))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def epsilon_between_points(mechanism: Mechanism, steep: Steepest) -> Bracket:
    """Return bounds on the least epsilon of a mechanism between any two points that a lattice serves.

    Where the served area is convex it is the steepest slope of the log likelihoods. Elsewhere two points may be
    nearer than any served way between them: the slope is then a lower bound, and the rows of all pairs of vertices
    prove the upper one. ``steep`` is the slope by `steepest`; epsilon is per its unit.
    """
    lattice, slope = mechanism.secrets, steep.epsilon
    if not isinstance(lattice, Lattice) or lattice.convex:
        return slope
    rows = prove_steps(mechanism, lattice, 1.0)
    upper = max(slope.upper, per_unit_above(lattice, rows.upper, steep.unit))
    return Bracket(slope.lower, slope.value, upper)
