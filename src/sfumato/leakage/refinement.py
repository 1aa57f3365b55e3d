"""Refinement: whether one mechanism is another one whose reports are processed further."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ..core import Mechanism
from ..core.arguments import checked
from ..core.arrays import Floats, readonly
from ..core.frozen import Short
from ..errors import InputError, SolverError, python
from ..rounding import float_below
from .factorisation import factorise
from .separation import SCALE, check_same_secrets, separation, whole

_MOST: Final = 4_000_000  # entries of the program that are quickly looked at
_CLOSE: Final = 1e-9  # an error of a processing that floats do not tell from none


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Refinement(Short):
    """Whether a mechanism refines another one, with the witness.

    Attributes:
        holds: Whether it does: True with a processing whose error is below 1e-9, which is numerical; False with a
            gain that separates them, which is proved; None where neither was found.
        processing: Array (observables of the other, observables of the mechanism), rows that sum to one: the one
            that comes nearest.
        error: The largest difference between what the processing makes of the other and the mechanism.
        gain: Array (guesses, secrets), entries in [-1, 1], under which the mechanism leaks more with an even
            prior; None where it refines.
        advantage: How much more it is worth under that gain, computed exactly and rounded down; 0 where there is
            none.
    """

    holds: bool | None
    processing: Floats
    error: float
    gain: Floats | None
    advantage: float

    def __bool__(self) -> bool:
        if self.holds is None:
            raise SolverError(
                "whether it refines the other one is not known: neither a processing nor a gain was found.",
                python("look at .holds, which is None, and at .error."),
            )
        return self.holds


@checked
def refines(mechanism: Mechanism, other: Mechanism) -> Refinement:
    """Return whether a mechanism refines another one: it equals the other one, processed further.

    mechanism = other R for some R whose rows are distributions

    Then it leaks no more under any prior and any gain. Otherwise there is a gain under which it leaks more, with
    an even prior (the coriaceous theorem): the largest violation

        max over |G| <= 1 of  <G, mechanism> - sum over y of max over z of sum over s of other(y|s) G(s, z)

    is the dual of the least error of a processing, so one linear program gives both. The gain is then
    checked over the integers of both mechanisms, so that a False is proved.

    Args:
        mechanism: The mechanism, on n secrets.
        other: Another mechanism on as many secrets.

    Raises:
        InputError: If the secrets differ in number or order, or the program is too large.
        SolverError: If the program was not solved.

    Source:
        McIver, Morgan, Smith, Espinoza and Meinicke, "Abstract channels and their robust information-leakage
        ordering", POST 2014; Alvim et al., "The Science of Quantitative Information Flow" (2020), chapter 9.
    """
    check_same_secrets(mechanism, other)
    a, b = mechanism.matrix, other.matrix
    (n, wanted), given = a.shape, b.shape[1]
    if n * wanted * given > _MOST:
        raise InputError(
            f"refinement for {n:,} secrets and {given:,} by {wanted:,} observables is a program of "
            f"{n * wanted * given:,} entries; {_MOST:,} are possible.",
            "merge secrets or observables first.",
        )
    # Variables R(y, z) and the error t: (b R - a)(s, z) <= t and >= -t.
    made = sparse.kron(sparse.csr_array(b), sparse.eye_array(wanted), format="csr")
    slack = sparse.csr_array(np.full((n * wanted, 1), -1.0))
    below = sparse.block_array([[made, slack], [-made, slack]], format="csr")
    ones = sparse.kron(sparse.eye_array(given), sparse.csr_array(np.ones((1, wanted))), format="csr")
    equal = sparse.hstack([ones, sparse.csr_array((given, 1))], format="csr")
    cost = np.append(np.zeros(given * wanted), 1.0)
    found = linprog(
        cost,
        A_ub=below,
        b_ub=np.concatenate([a.ravel(), -a.ravel()]),
        A_eq=equal,
        b_eq=np.ones(given),
        method="highs",
    )
    if found.x is None:
        raise SolverError(f"the program of refinement was not solved: {found.message}.", "try smaller mechanisms.")
    processing = np.maximum(found.x[:-1].reshape(given, wanted), 0.0)
    processing /= processing.sum(axis=1, keepdims=True)
    error = float(np.abs(b @ processing - a).max())
    prices = found.ineqlin.marginals
    gain = (prices[: n * wanted] - prices[n * wanted :]).reshape(n, wanted).T
    found_gain = _separating(mechanism, other, gain)
    if found_gain is None and error <= _CLOSE:
        return Refinement(True, readonly(processing), error, None, 0.0)
    if found_gain is None:
        # So little is left that the first program does not tell it from nothing: this one looks closer.
        nearest = factorise(mechanism, other)
        found_gain = _separating(mechanism, other, nearest.gain * nearest.prior.probabilities)
    if found_gain is None:
        return Refinement(None, readonly(processing), error, None, 0.0)
    return Refinement(False, readonly(processing), error, *found_gain)


def _separating(mechanism: Mechanism, other: Mechanism, gain: Floats) -> tuple[Floats, float] | None:
    """Return a gain scaled to [-1, 1], and how much more the mechanism is worth under it with an even prior.

    None where that is not more than nothing.
    """
    largest = float(np.abs(gain).max())
    if not largest > 0:
        return None
    gain = np.rint(gain / largest * SCALE) / SCALE
    advantage = float_below(separation(mechanism, other, whole(gain)) / (len(mechanism.secrets) * SCALE))
    return (readonly(gain), advantage) if advantage > 0 else None
