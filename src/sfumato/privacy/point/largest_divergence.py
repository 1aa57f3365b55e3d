"""The largest divergence between related rows, with a bound of its rounding; total variation is exact."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np

from ...core import Mechanism
from ...core.arrays import Floats
from ...divergences import (
    CHI_SQUARED,
    HELLINGER,
    KL,
    REVERSE_KL,
    TOTAL_VARIATION,
    Divergence,
    HockeyStick,
    MaxDivergence,
    Renyi,
)
from ...errors import InputError
from ...rounding import at_most
from ...rounding.errors import divergence_errors, mass_errors
from ..exact import Pair, largest_mass, rounded
from ..limits import divergence_limits
from ..notion import Finding, Notion
from ..relation import Relation, related, relation_on
from ..rows import AnyMechanism, Mask, channel, span, unequal
from ..search import Top, search
from ..witness import Witness

_BOUNDED: Final = (KL, REVERSE_KL, TOTAL_VARIATION, CHI_SQUARED, HELLINGER)


def check_divergence(divergence: Divergence, precision: float) -> None:
    """Refuse a divergence that has notions of its own, and a precision that is none.

    Raises:
        InputError: If either was given.
    """
    if isinstance(divergence, MaxDivergence) or (isinstance(divergence, Renyi) and math.isinf(divergence.order)):
        raise InputError(
            f"the {divergence.name} is what differential and metric privacy bound.",
            "use DifferentialPrivacy(relation, delta) or MetricDifferentialPrivacy(metric, delta).",
        )
    if not precision >= 0:
        raise InputError(f"a precision of {precision} was given.", "pass a small number, such as 1e-12.")


def measured(
    notion: Notion,
    divergence: Divergence,
    relation: Relation | None,
    mechanism: AnyMechanism,
    precision: float = math.inf,
) -> Finding:
    """Return the largest divergence of related rows, with the pair; see `DivergencePrivacy` for the precision."""
    matrix = channel(mechanism).matrix
    mask = relation_on(relation, len(matrix)).array
    top = search(
        mask,
        lambda s, t: divergence.rows(matrix[s], matrix[t]),
        divergence_limits(divergence, matrix),
        lambda values, _s, _t: errors_of(divergence, values, matrix, precision),
    )
    value, pair = top.value, top.pair
    rounding = 0.0 if math.isinf(value) or pair is None else top.above - value
    if is_known(divergence) and unequal(mechanism, mask) is None:
        value, rounding = 0.0, 0.0
    elif divergence == TOTAL_VARIATION:
        exact = _variation(mechanism, top, mask)
        if exact is not None:
            value, rounding = rounded(exact[0])
            pair = exact[1] or pair
    most = 1.0 if divergence in (TOTAL_VARIATION, HELLINGER) else math.inf
    return Finding(notion, min(value, most), rounding, Witness(pair), most=most)


def is_known(divergence: Divergence) -> bool:
    """Return whether the divergence is one of the package's, whose rounding is bounded."""
    return isinstance(divergence, Renyi) or divergence in _BOUNDED


def _variation(mechanism: AnyMechanism, top: Top, mask: Mask) -> tuple[Fraction, Pair] | None:
    """Return the largest total variation and its pair; None where it takes too long, or rows do not sum to 1."""
    if not isinstance(mechanism, Mechanism):
        matrix = channel(mechanism).matrix
        if any(sum(map(Fraction, row)) != 1 for row in matrix.tolist()):
            return None
    return largest_mass(mechanism, top, mask)


def errors_of(divergence: Divergence, values: Floats, matrix: Floats, precision: float) -> Floats:
    """Return the most by which each computed divergence may be off, array of the same shape."""
    m = matrix.shape[1]
    if isinstance(divergence, HockeyStick):
        return mass_errors(values, m)
    if is_known(divergence):
        # Rows that do not sum to exactly one are at no exact divergence.
        defect = 2 * float(np.abs(matrix.sum(axis=1) - 1).max())
        return divergence_errors(values, m, span(matrix)) + np.where(np.isinf(values), 0.0, defect)
    return np.where(np.isinf(values), 0.0, precision * (1 + np.where(np.isinf(values), 0.0, values)))


def sentence_of(divergence: Divergence, relation: Relation | None, value: float) -> str:
    """Return what a largest divergence promises, in words."""
    if math.isinf(value):
        return f"The {divergence.name} of what {related(relation)} report has no bound."
    return f"The {divergence.name} of what {related(relation)} report is at most {at_most(value)}."
