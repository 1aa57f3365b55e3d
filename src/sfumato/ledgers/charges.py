"""Charges as callers state them: who, how much for each report, and how many reports."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Final, NamedTuple

from ..errors import InputError
from .amounts import amount, stored, times
from .names import accepted
from .record import Terms

_MOST: Final = 2**53


class Charge(NamedTuple):
    """A charge to one user: epsilon for each of so many reports.

    Attributes:
        user: Who is charged.
        epsilon: What one report spends, per unit of the ledger.
        reports: How many reports.
        mechanism: The fingerprint of the mechanism that draws them, which is recorded.
    """

    user: str
    epsilon: float | str | Decimal
    reports: int = 1
    mechanism: bytes = b""


class Charged(NamedTuple):
    """A charge that was read: its name accepted, its amount exact.

    Attributes:
        user: Who is charged.
        amount: How much, for all of the reports.
        reports: How many reports.
        mechanism: The fingerprint of the mechanism, hexadecimal.
    """

    user: str
    amount: Decimal
    reports: int
    mechanism: str


def read_charges(charges: Iterable[Charge], unit: str) -> list[Charged]:
    """Return charges with accepted names and exact amounts.

    Raises:
        InputError: If something is no charge, a name is odd, or an amount or number is not positive.
        UnitError: If the unit of an amount does not fit.
    """
    amounts: dict[float | str | Decimal, Decimal] = {}
    found = []
    given: Iterable[Any] = charges
    for charge in given:
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
        asked = amounts[epsilon] if reports == 1 else times(amounts[epsilon], reports)
        found.append(Charged(accepted(user, "the user"), asked, reports, mechanism.hex()))
    return found


def contents_of(terms: Terms, charges: Iterable[Charged]) -> str:
    """Return a hash of charges, by which a repeated batch is recognised."""
    lines = [part for user, asked, reports, made in charges for part in (user, stored(asked), str(reports), made)]
    return terms.hash("charges", *lines)
