"""Expected losses and linear constraints of a mechanism over its integers, and words on what a bound covers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import AnyLoss, Loss, Mechanism, Metric, Prior, as_distance, as_loss, units
from ..core.arrays import Floats, floats, readonly
from ..core.immutable import CompactRepr, Immutable, assign
from ..core.naming import check_unit
from ..errors import InputError, python
from ..escaping import plain, shorten
from ..rounding import UNIT, amount_at_most, float_above, float_below, lower_end, sum_error, underflow, upper_end

_EXACT: Final = 1 << 17  # products of integers that are quick to add up
Integers = NDArray[Any]  # of Python's own, which do not overflow


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class LinearConstraint(Immutable):
    """A linear constraint on a mechanism: sum over s, o of A[s, o] p(o|s) <= b.

    A are ``coefficients``, array (n, m) of secrets and observables, and b is ``at_most``, a number in ``unit``
    (one short word; empty for a pure number), or text such as ``"500 m"``. ``name`` is that of the sum in texts.
    Raises `InputError` if a coefficient or b is not finite, or the unit is no short word. Raises `UnitError` if
    the unit of b does not fit.

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

    def __init__(
        self, coefficients: ArrayLike, at_most: float | str, *, unit: str = "", name: str = "linear constraint"
    ) -> None:
        array = floats(coefficients, "the array of coefficients", shape=(None, None))
        known = units.canonical(unit)
        check_unit(known)
        most = units.parse(at_most, unit=known, subject=f"the limit of the {_title(name)}")
        if not math.isfinite(most):
            raise InputError(f"the limit {at_most} of a linear constraint is not finite.", "leave it out.")
        assign(self, coefficients=array, at_most=most, unit=known, name=name)

    @classmethod
    def expected_loss(cls, prior: Prior, loss: AnyLoss, at_most: float | str) -> LinearConstraint:
        """Return the limit of an expected loss: sum over s, o of prior(s) l(s, o) p(o|s) <= b.

        It limits a second loss, or the loss for a second prior, in addition to the objective. The products of
        prior and loss, array (n, m), are rounded up, so the limit holds for the exact ones. ``at_most`` is in the
        loss's unit, or text (``"500 m"``). Raises `InputError` if sizes do not fit. Raises `UnitError` if the unit
        of the limit does not fit.
        """
        shape = np.shape(loss.array if isinstance(loss, Loss | Metric) else loss)
        losses = as_loss(loss, len(prior), shape[-1] if shape else 0)
        mass = prior.probabilities[:, None]
        none = (mass == 0) | (losses.array == 0)
        above = np.where(none, 0.0, np.nextafter(mass * losses.array, np.inf))
        return cls(readonly(above), at_most, unit=losses.unit, name=f"expected {losses.name}")

    def check_shape(self, secrets: int, observables: int) -> None:
        """Refuse other numbers of secrets or observables than those of the coefficients (`InputError`)."""
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
        return f"{_title(self.name)} at most {amount_at_most(self.at_most, self.unit)}"


@dataclass(frozen=True, slots=True, repr=False)
class ConstraintProof(CompactRepr):
    """A proof of a linear constraint: its limit ``claimed``, and a proved upper bound on the sum, in ``unit``."""

    claimed: float
    upper: float
    holds: bool
    unit: str
    constraint: str


def prove_constraint(mechanism: Mechanism, constraint: LinearConstraint) -> ConstraintProof:
    """Prove a linear constraint over the integers of a mechanism; `InputError` if it is for another size."""
    constraint.check_shape(*mechanism.shape)
    upper = weighted_sum_above(mechanism, constraint.coefficients)
    holds = upper <= constraint.at_most
    return ConstraintProof(constraint.at_most, upper, holds, constraint.unit, str(constraint))


def _title(name: str) -> str:
    """Return the name of a sum, on one line of sixty characters."""
    return shorten(plain(name).strip() or "linear constraint")


def as_constraints(value: object) -> tuple[LinearConstraint, ...]:
    """Return one linear constraint or several as a tuple; `InputError` for anything else."""
    every = (value,) if isinstance(value, LinearConstraint) else value
    if not isinstance(every, Iterable):
        raise InputError(f"{value!r} is not a linear constraint.", python("pass LinearConstraint."))
    limits = []
    for limit in every:
        if not isinstance(limit, LinearConstraint):
            raise InputError(f"{limit!r} is not a linear constraint.", python("pass LinearConstraint."))
        limits.append(limit)
    return tuple(limits)


def scope_text(
    guarantees: int, constraints: int = 0, loss: str = "", *, lattice: bool, reports: str = "these reports"
) -> str:
    """Return the mechanisms that a bound covers, in words that follow "no mechanism".

    The bound of a program is about mechanisms with its secrets and reports. With other reports, or on a lattice
    with other rows that prove the guarantee, a mechanism may be better. ``loss`` is the limit of the loss in
    words, such as ``"this loss"``; "" for none. ``reports`` are those that the bound is for.
    """
    limits = ["these linear constraints" if constraints > 1 else "this linear constraint"] if constraints else []
    limits += [loss] if loss else []
    if lattice:
        proof = ["the rows that prove the guarantee"] if guarantees else []
        return f"on these lattice points, with {_join_phrases([reports, *limits, *proof])},"
    terms = ["these guarantees" if guarantees > 1 else "this guarantee"] if guarantees else []
    return f"with {_join_phrases([*terms, *limits, reports])}"


def _join_phrases(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def expected_loss_above(mechanism: Mechanism, prior: Prior, loss: AnyLoss) -> float:
    """Return a proved upper bound on the expected loss, tight to rounding; 0 where nothing is lost."""
    mechanism.secrets.check_order(prior.space, "the prior")
    return weighted_sum_above(mechanism, as_loss(loss, *mechanism.shape).array, prior.probabilities)


def worst_loss_above(mechanism: Mechanism, loss: AnyLoss) -> float:
    """Return a proved upper bound on the worst-case loss, tight to rounding; 0 where nothing is lost."""
    costs = as_loss(loss, *mechanism.shape).array
    if not costs[mechanism.matrix > 0].any():
        return 0.0
    if costs.size <= _EXACT:
        prices, shift = _integers(costs)
        return float_above(_dyadic_number((_exact(mechanism) * prices).sum(axis=1).max(), shift - mechanism.bits))
    with np.errstate(over="ignore", invalid="ignore"):
        terms = mechanism.matrix * costs
        sums, sizes = terms.sum(axis=1).tolist(), np.abs(terms).sum(axis=1).tolist()
    return max(upper_end(total, sum_error(terms.shape[1], size)) for total, size in zip(sums, sizes, strict=True))


def weighted_sum_above(mechanism: Mechanism, coefficients: Floats, prior: Floats | None = None) -> float:
    """Return a proved upper bound on the sum over s, o of prior(s) A[s, o] p(o|s), tight to rounding.

    Small ones are computed in integers and rounded once: a loss of exactly 1 is then stated as 1. Without a prior
    (n,) every secret has weight 1.
    """
    weights = np.ones(len(coefficients)) if prior is None else prior
    if not coefficients[(weights[:, None] > 0) & (mechanism.matrix > 0)].any():
        return 0.0
    if coefficients.size <= _EXACT:
        (masses, a), (prices, b) = _integers(weights), _integers(coefficients)
        sums = (_exact(mechanism) * prices).sum(axis=1)
        return float_above(_dyadic_number((masses * sums).sum(), a + b - mechanism.bits))
    with np.errstate(over="ignore", invalid="ignore"):
        terms = weights[:, None] * mechanism.matrix * coefficients
        error = sum_error(terms.size, float(np.abs(terms).sum()))
        return upper_end(float(terms.sum()), error + underflow(terms.size, float(np.abs(coefficients).max())))


def distortion_below(mechanism: Mechanism, prior: Prior, distance: AnyLoss) -> float:
    """Return a proved lower bound on the optimal attack's expected error; at least 0 if no distance is negative.

    Source:
        Shokri, "Privacy Games", equations 33 to 35:
        sum over o of min over guesses g of sum over s of prior(s) p(o|s) d(g, s).
    """
    d, joint = as_distance(distance).array, mechanism.joint(prior)
    n, m = mechanism.shape
    if len(d) * n * m <= _EXACT:
        (weights, a), (errors, b) = _integers(prior.probabilities), _integers(d)
        least = (errors @ (weights[:, None] * _exact(mechanism))).min(axis=0).sum()
        return float_below(_dyadic_number(least, a + b - mechanism.bits))
    slack = underflow(2 * n * m, float(np.abs(d).max(initial=0.0)))
    with np.errstate(over="ignore", invalid="ignore"):
        error = float((d @ joint).min(axis=0).sum())
        if (d < 0).any():
            return lower_end(error, sum_error(n + m, float((np.abs(d) @ joint).max(axis=0).sum())) + slack)
    # Without negative terms errors are relative, and small distortions are proved as sharply as large ones.
    return max(0.0, lower_end(error * (1 - 2 * (n + m + 8) * UNIT), slack))


def _exact(mechanism: Mechanism) -> Integers:
    return mechanism.weights.astype(object)


def _integers(array: Floats) -> tuple[Integers, int]:
    """Return integers of the same shape, and the power of two that turns them into the floats."""
    fractions, powers = np.frexp(array)
    integers = (fractions * 2.0**53).astype(np.int64).astype(object)
    lowest = int(powers[array != 0].min(initial=2000))
    return integers << np.where(array != 0, powers - lowest, 0).astype(object), lowest - 53


def _dyadic_number(value: int, power: int) -> Fraction:
    return Fraction(value << power) if power >= 0 else Fraction(value, 1 << -power)
