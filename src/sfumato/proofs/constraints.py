"""Linear constraints on a mechanism, their proof over integers, and the mechanisms that a bound covers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..core import AnyLoss, Loss, Mechanism, Metric, Prior, Space, as_loss, units
from ..core.arguments import checked
from ..core.arrays import Floats, floats, readonly
from ..core.immutable import CompactRepr, Immutable
from ..core.naming import check_unit
from ..errors import InputError, python
from ..escaping import plain, shorten
from ..geo import Lattice
from ..rounding import amount_at_most
from .expectations import weighted_sum_above


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LinearConstraint(Immutable):
    """A linear constraint on a mechanism: sum over s, o of A[s, o] p(o|s) <= b.

    Args:
        coefficients: A, array (n, m) of secrets and observables.
        at_most: b, in ``unit``; a number, or text such as ``"500 m"``.
        unit: The unit of the sum, one short word; empty for a pure number.
        name: What the sum is called in texts.

    Raises:
        InputError: If a coefficient is not finite, or b is not; or the unit is no short word.
        UnitError: If the unit of b does not fit.

    Example:
        The second of two secrets may report itself at most every other time.

        >>> from sfumato.optimal import LinearConstraint
        >>> LinearConstraint([[0, 0], [0, 1]], 0.5, name="truth of the second")
        LinearConstraint(truth of the second at most 0.5)
    """

    coefficients: Floats
    at_most: float
    unit: str
    name: str

    @checked
    def __init__(
        self, coefficients: ArrayLike, at_most: float | str, *, unit: str = "", name: str = "linear constraint"
    ) -> None:
        array = floats(coefficients, "the array of coefficients", shape=(None, None))
        known = units.canonical(unit)
        check_unit(known)
        most = units.parse(at_most, unit=known, what=f"the limit of the {_named(name)}")
        if not math.isfinite(most):
            raise InputError(f"the limit {at_most} of a linear constraint is not finite.", "leave it out.")
        object.__setattr__(self, "coefficients", array)
        object.__setattr__(self, "at_most", most)
        object.__setattr__(self, "unit", known)
        object.__setattr__(self, "name", name)

    @classmethod
    @checked
    def expected_loss(cls, prior: Prior, loss: AnyLoss, at_most: float | str) -> LinearConstraint:
        """Return the limit of an expected loss: sum over s, o of prior(s) l(s, o) p(o|s) <= b.

        It limits a second loss, or the loss for a second prior, beside the one that is to be least. The products
        of prior and loss are rounded up, so the limit holds for the exact ones.

        Args:
            prior: The prior on the n secrets.
            loss: The loss, array (n, m), a `Loss` or a `Metric`.
            at_most: The largest expected loss, in the loss's unit or as text (``"500 m"``).

        Raises:
            InputError: If sizes do not fit.
            UnitError: If the unit of the limit does not fit.
        """
        shape = np.shape(loss.array if isinstance(loss, Loss | Metric) else loss)
        found = as_loss(loss, len(prior), shape[-1] if shape else 0)
        mass = prior.probabilities[:, None]
        none = (mass == 0) | (found.array == 0)
        above = np.where(none, 0.0, np.nextafter(mass * found.array, np.inf))
        return cls(readonly(above), at_most, unit=found.unit, name=f"expected {found.name}")

    def check_shape(self, secrets: int, observables: int) -> None:
        """Refuse a mechanism of another size.

        Raises:
            InputError: If the coefficients are for other numbers of secrets or observables.
        """
        if self.coefficients.shape != (secrets, observables):
            n, m = self.coefficients.shape
            raise InputError(
                f"the coefficients of the constraint ({self}) are for {n} secrets and {m} observables, but there "
                f"are {secrets} and {observables}.",
                "pass an array of secrets x observables.",
            )

    def __repr__(self) -> str:
        return f"LinearConstraint({self})"

    def __str__(self) -> str:
        return f"{_named(self.name)} at most {amount_at_most(self.at_most, self.unit)}"


@dataclass(frozen=True, slots=True, repr=False)
class ConstraintProof(CompactRepr):
    """A proof of a linear constraint.

    Attributes:
        claimed: The limit that was asked for.
        upper: A proved upper bound of the sum.
        holds: Whether the claim is proved.
        unit: The unit of both.
        constraint: The constraint in words.
    """

    claimed: float
    upper: float
    holds: bool
    unit: str
    constraint: str


def prove_constraint(mechanism: Mechanism, constraint: LinearConstraint) -> ConstraintProof:
    """Prove a linear constraint over the integers of a mechanism.

    Args:
        mechanism: A mechanism of n secrets and m observables.
        constraint: The claim, for as many.

    Raises:
        InputError: If it is for other numbers of secrets or observables.
    """
    constraint.check_shape(*mechanism.shape)
    upper = weighted_sum_above(mechanism, constraint.coefficients)
    holds = upper <= constraint.at_most
    return ConstraintProof(constraint.at_most, upper, holds, constraint.unit, str(constraint))


def _named(name: str) -> str:
    """Return what a sum is called, on one line of sixty characters."""
    return shorten(plain(name).strip() or "linear constraint")


def as_constraints(given: object) -> tuple[LinearConstraint, ...]:
    """Return one linear constraint or several as a tuple.

    Raises:
        InputError: If something given is not a linear constraint.
    """
    every = (given,) if isinstance(given, LinearConstraint) else given
    if not isinstance(every, Iterable):
        raise InputError(f"{given!r} is not a linear constraint.", python("pass LinearConstraint."))
    found = []
    for each in every:
        if not isinstance(each, LinearConstraint):
            raise InputError(f"{each!r} is not a linear constraint.", python("pass LinearConstraint."))
        found.append(each)
    return tuple(found)


def covered(
    secrets: Space,
    guarantees: Sequence[object] = (),
    constraints: Sequence[LinearConstraint] = (),
    *,
    loss: str = "",
) -> str:
    """Return which mechanisms a bound covers, in words that follow "no mechanism".

    The bound of a program is about mechanisms that make the program's reports from its secrets. Others may do
    better: with other reports or, on a lattice, by taking points for something else than its vertices.

    Args:
        secrets: The secrets.
        guarantees: The promises that are kept.
        constraints: The linear constraints that are kept.
        loss: The limit of the loss in words, such as ``"this loss"``; "" for none.
    """
    promises = "these promises" if len(guarantees) > 1 else "this promise"
    limits = (
        ["these linear constraints" if len(constraints) > 1 else "this linear constraint"] if constraints else []
    )
    limits += [loss] if loss else []
    if isinstance(secrets, Lattice):
        proof = ["the rows that prove the promise"] if guarantees else []
        return f"on these vertices, with {_listed(['these reports', *limits, *proof])},"
    return f"with {_listed([*([promises] if guarantees else []), *limits, 'these reports'])}"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
