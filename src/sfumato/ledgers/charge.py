"""The charge for one report: a promise that is proved first, and said in a sentence."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from math import nextafter

from ..core import Capability, CoordinatePrivacy, MetricPrivacy, Randomizer
from ..errors import InputError, python
from ..escaping import plain
from ..proofs import Stated, prove
from ..rounding import amount_at_most, at_most
from .amounts import above, printed, shown

Charged = MetricPrivacy | CoordinatePrivacy


def proved_charge(mechanism: Randomizer, asked: Charged) -> Decimal:
    """Return what one report is charged: a promise that is proved of the integers or the noise's recipe.

    It is the decimal that the promised epsilon prints as: 0.1, although the float 0.1 is a little more; it is
    proved for that decimal. Where only the float can be proved, the next decimal of 17 digits above it is charged.

    Args:
        mechanism: The mechanism or noise.
        asked: The promise.

    Raises:
        InputError: If it is not proved, or not one of such a mechanism.
    """
    charge = printed(asked.epsilon)
    if _proved(mechanism, asked) <= charge:
        return charge
    try:
        _proved(mechanism, replace(asked, epsilon=nextafter(asked.epsilon, 0.0)))
    except InputError:
        return above(asked.epsilon)
    return charge


def _proved(mechanism: Randomizer, asked: Charged) -> float:
    """Return the epsilon that is proved, which is at most the promised one.

    Raises:
        InputError: If it is not proved, or not one of such a mechanism.
    """
    proof = prove(mechanism, asked)
    if not isinstance(proof, Stated):
        return proof.upper
    points = mechanism.supports(Capability.POINTS)
    hint = python("charge noise.promise.") if points else "charge what the mechanism really spends."
    if proof.upper is None:
        kind = "noise for coordinates" if points else "mechanisms of this kind"
        raise InputError(f"{asked!r} is not a promise of {kind}.", hint)
    epsilon = at_most(proof.upper, 9)
    raise InputError(
        f"{asked} is claimed, but the noise's epsilon is up to {epsilon}/{asked.unit}, and its slack up to "
        f"{amount_at_most(proof.slack_m, 'm')}."
        if points and isinstance(asked, CoordinatePrivacy)
        else f"{asked} is claimed, but the mechanism's epsilon is up to {epsilon}.",
        hint,
    )


def rule_sentence(unit: str) -> str:
    """Return the rule by which charges compose, in sentences.

    Args:
        unit: The unit of the ledger; empty for pure numbers.
    """
    distance = f"distance in {plain(unit)}" if unit else "distance"
    local = "" if unit else " Under local differential privacy the distance of two values is 1."
    return (
        "Amounts add up: reports of one value, each drawn by itself, are together at most "
        f"e^(sum of their amounts x {distance}) times likelier from it than from another value, by the largest "
        f"distance that one of them was promised for. A slack lengthens it for its own report.{local}"
    )


def charge_sentence(promise: Charged, charge: Decimal) -> str:
    """Return the charge for one report, and what k of them cost where there is a slack, in a sentence."""
    epsilon = shown(charge, promise.unit if isinstance(promise, CoordinatePrivacy) else promise.metric.unit)
    charged = f"Each report that is drawn is charged {epsilon}"
    if not isinstance(promise, CoordinatePrivacy) or not promise.slack_m:
        return charged
    slack = amount_at_most(promise.slack_m, "m")
    return (
        f"{charged}, and its slack of {slack} counts each time: k reports of one point are together "
        f"at most e^(k x {epsilon} x (distance + {slack})) times likelier from there than from another point"
    )
