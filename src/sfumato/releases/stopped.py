"""Errors of a release that stopped midway: what they leave behind, whom it cost something, and how to go on."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from ..errors import DataError, FileError, InputError, SfumatoError, argument
from ..ledgers import BudgetError
from .local import Workplace

_CHARGED: Final = "Users were charged for these reports, which nobody has seen: the charges stand."
_PERHAPS: Final = "Users may have been charged for these reports, which nobody has seen: such charges stand."


def stopped(
    error: SfumatoError, place: Workplace, *, lasting: bool, paid: bool | None, places: bool
) -> SfumatoError:
    """Keep or remove what a release that stopped has drawn, and return its error with what to do now.

    Parts are kept where the disk failed, and whenever somebody was charged: what goes on from them charges nobody
    twice. They are removed where the same error would come again, or where nothing can go on.

    Args:
        error: Why it stopped.
        place: The work folder.
        lasting: Whether the source is of files, so that a release of it can go on.
        paid: Whether users were charged; None if that may have been before this run went on.
        places: Whether users' places are remembered in the ledger.
    """
    may = paid is not False
    told = _PERHAPS if paid is None else _CHARGED
    try:
        parts = place.parts
    except OSError:  # somebody has removed the folder: nothing can go on
        lasting, parts = False, []
    if not lasting or not (may or (isinstance(error, FileError) and parts)):
        with suppress(OSError):
            place.remove()
        return charged_in_vain(error, told, places=places) if may else error
    if any(argument("resume") in hint for hint in error.hints):  # the parts themselves are damaged
        return _with(error, f"{error.text} {told}" if may else error.text, *error.hints)
    on = f"go on from there with {argument('resume', True)}"
    if not may:
        return _with(error, error.text, *error.hints, f"{on}.")
    return _with(
        error, f"{error.text} {told}", *error.hints, f"{on}, which charges nobody twice for the same rows."
    )


def charged_in_vain(error: SfumatoError, told: str = _CHARGED, *, places: bool) -> SfumatoError:
    """Return the error of a release that charged users and cannot go on, which says so.

    Args:
        error: Why it stopped.
        told: Who was charged, in words.
        places: Whether users' places are remembered in the ledger.
    """
    kept = "the ledger keeps places that were reported: they cost nothing when they are released again."
    return _with(error, f"{error.text} {told}", *error.hints, kept if places else "")


def _with(error: SfumatoError, problem: str, *hints: str) -> SfumatoError:
    if isinstance(error, BudgetError):
        return BudgetError(problem, *hints, user=error.user, asked=error.asked, left=error.left)
    kind = next((each for each in (DataError, InputError) if isinstance(error, each)), FileError)
    return kind(problem, *hints)
