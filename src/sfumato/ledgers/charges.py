"""Charges: their exact amounts, the proof of the guarantee charged for, and the rule of composition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from math import nextafter
from typing import Any, Final, NamedTuple

from ..core import Capability, CoordinatePrivacy, MetricPrivacy, Randomizer
from ..errors import InputError, python
from ..escaping import plain
from ..proofs import Stated, prove
from ..rounding import amount_at_most, at_most
from .accounts import above, amount, shown, stored, times
from .record import ExactCharge, Terms
from .visits import accepted

ReportPrivacy = MetricPrivacy | CoordinatePrivacy
"""The guarantees of one report that a ledger can charge."""

_MOST: Final = 2**53


class Charge(NamedTuple):
    """A charge to one user.

    Attributes:
        epsilon: The epsilon of one report, per unit of the ledger.
        mechanism: The fingerprint of the mechanism, for the record.
    """

    user: str
    epsilon: float | str | Decimal
    reports: int = 1
    mechanism: bytes = b""


def read_charges(charges: Iterable[Charge], unit: str) -> list[ExactCharge]:
    """Return charges with accepted names and exact amounts; refuse anything else with an `InputError`."""
    amounts: dict[float | str | Decimal, Decimal] = {}
    exact = []
    values: Iterable[Any] = charges
    for charge in values:
        if not isinstance(charge, Charge) or not isinstance(charge.user, str):
            raise InputError(f"{charge!r} is not a charge.", "pass Charge(user, epsilon, reports).")
        user, reports, mechanism = charge.user, charge.reports, charge.mechanism
        if type(mechanism) is not bytes:
            raise InputError(
                f"{mechanism!r} is not the fingerprint of a mechanism.", "pass bytes, or leave it out."
            )
        epsilon: Any = charge.epsilon
        finite = not isinstance(epsilon, Decimal) or epsilon.is_finite()
        if not finite or (not isinstance(epsilon, str | float | Decimal) and type(epsilon) is not int):
            raise InputError(f"{epsilon!r} is not an epsilon.", "pass a number above 0, or text such as '0.1/km'.")
        if type(reports) is not int or not 0 < reports < _MOST:
            raise InputError(f"{reports!r} is not a number of reports.", "pass an integer of at least 1.")
        if epsilon not in amounts:
            amounts[epsilon] = amount(epsilon, unit, "epsilon")
        total = amounts[epsilon] if reports == 1 else times(amounts[epsilon], reports)
        exact.append(ExactCharge(accepted(user, "the user"), total, reports, mechanism.hex()))
    return exact


def contents_of(terms: Terms, charges: Iterable[ExactCharge]) -> str:
    """Return a hash of charges, by which a repeated batch is recognised."""
    lines = [part for user, total, reports, made in charges for part in (user, stored(total), str(reports), made)]
    return terms.hash("charges", *lines)


def proved_charge(mechanism: Randomizer, promise: ReportPrivacy) -> Decimal:
    """Return the charge for one report, after a proof of its guarantee on the integers or the noise's recipe.

    The charge is the decimal that epsilon prints as, although the float 0.1 is a little more than 0.1: the
    guarantee is proved for that decimal. Where only the float can be proved, the charge is the next decimal of 17
    digits above.
    """
    charge = Decimal(repr(promise.epsilon))
    if _proved_epsilon(mechanism, promise) <= charge:
        return charge
    try:
        _proved_epsilon(mechanism, replace(promise, epsilon=nextafter(promise.epsilon, 0.0)))
    except InputError:
        return above(promise.epsilon)
    return charge


def _proved_epsilon(mechanism: Randomizer, promise: ReportPrivacy) -> float:
    """Return the epsilon that is proved, which is at most the stated one, or raise an `InputError`."""
    proof = prove(mechanism, promise)
    if not isinstance(proof, Stated):
        return proof.upper
    points = mechanism.supports(Capability.POINTS)
    hint = python("charge noise.promise.") if points else "charge the mechanism's proved epsilon."
    if proof.upper is None:
        kind = "noise for coordinates" if points else "mechanisms of this kind"
        raise InputError(f"{promise!r} is no guarantee of {kind}.", hint)
    epsilon = at_most(proof.upper, 9)
    claim = f"{promise} is claimed, but"
    if points and isinstance(promise, CoordinatePrivacy):
        slack = amount_at_most(proof.slack_m, "m")
        raise InputError(
            f"{claim} the noise's epsilon is up to {epsilon}/{promise.unit}, and its slack up to {slack}.", hint
        )
    raise InputError(f"{claim} the mechanism's epsilon is up to {epsilon}.", hint)


def rule_sentence(unit: str) -> str:
    """Return in sentences how charges per ``unit`` compose; an empty unit means pure numbers."""
    distance = f"distance in {plain(unit)}" if unit else "distance"
    local = "" if unit else " Under local differential privacy the distance of two values is 1."
    return (
        "Amounts add up: independent reports of one value are together at most "
        f"e^(sum of their amounts x {distance}) times as likely from it as from another value. The distance is "
        f"the largest in the guarantees of these reports. A slack lengthens it for its own report.{local}"
    )


def charge_sentence(promise: ReportPrivacy, charge: Decimal) -> str:
    """Return the charge for one report in a sentence, and the cost of k reports where there is a slack."""
    epsilon = shown(charge, promise.unit if isinstance(promise, CoordinatePrivacy) else promise.metric.unit)
    sentence = f"Each report that is drawn is charged {epsilon}"
    if not isinstance(promise, CoordinatePrivacy) or not promise.slack_m:
        return sentence
    slack = amount_at_most(promise.slack_m, "m")
    return (
        f"{sentence}, and its slack of {slack} counts each time: k reports of one point are together "
        f"at most e^(k x {epsilon} x (distance + {slack})) times as likely from there as from another point"
    )
