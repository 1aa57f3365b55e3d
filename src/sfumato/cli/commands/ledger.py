"""``sfumato ledger``: budgets of users, in a database, and the files of their keys."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ...errors import FileError, InputError
from ..group import Commands
from ..messages import say
from ..options import KeyFile, LedgerAddress
from ..outputs import check_ending, check_outputs

if TYPE_CHECKING:
    from ...ledgers import Ledger

_TIMES: Final = {"day": "Today (UTC)", "week": "This week (since Monday, UTC)"}

command = typer.Typer(
    cls=Commands,
    help="Keep the budgets of users in a database.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["--help", "-h"]},
    rich_markup_mode=None,
)


@command.command("create")
def create(
    address: LedgerAddress,
    budget: Annotated[
        list[str],
        typer.Option(
            help="What each user may spend: '100/km', '5/km per day' or '20/km per week' (UTC). Repeatable."
        ),
    ],
    key_file: Annotated[
        Path | None, typer.Option(help="Write a new key to this file; writing in the ledger then needs it.")
    ] = None,
) -> None:
    """Make a new ledger."""
    from ...ledgers import Ledger

    key = None if key_file is None else _new_key(key_file)
    try:
        ledger = Ledger.create(address, budget, key=key)
    except BaseException:
        if key_file is not None:
            key_file.unlink(missing_ok=True)
        raise
    say(f"Made: {ledger.address}, with {' and '.join(ledger.limits)} per user.")
    if key_file is not None:
        say(f"Written: {key_file}, its key. Store it elsewhere; without it the ledger cannot be used.")


@command.command("show")
def show(
    address: LedgerAddress,
    user: Annotated[str | None, typer.Option(help="Show what this user has spent and has left.")] = None,
    html: Annotated[
        Path | None,
        typer.Option(help="Write a page of the spending per day, refused requests and users near their limit."),
    ] = None,
    days: Annotated[int, typer.Option(help="Of --html: the number of days.", min=1)] = 30,
    identities: Annotated[
        bool, typer.Option("--identities", help="Of --html: name users in place of pseudonyms.")
    ] = False,
    key_file: KeyFile = None,
) -> None:
    """Show the limits of a ledger, and what a user has spent; or write a page of all budgets."""
    from ...ledgers import amount_text
    from ...rounding import plural

    if html is not None:
        check_ending(html, ".html")
        check_outputs([html])
    ledger = open_ledger(address, key_file)
    if html is not None:
        from ...reports.document import budget_page

        budget_page(ledger.budgets(days=days, identities=identities)).save(html)
        say(f"Written: {html}")
    say(f"{ledger!r}.")
    say(f"The end of its record: {ledger.head}")
    say(ledger.rule)
    if user is None:
        return
    balance = ledger.balance(user)
    if not balance.reports and not balance.spent:
        say(f"{user!r} was never charged: is the name right?")
    say(
        f"{user!r} has spent {amount_text(balance.spent, ledger.unit)} in {plural(balance.reports, 'report')}; "
        f"{amount_text(balance.left, ledger.unit)} is left now."
    )
    for window in balance.windows:
        if window.window != "ever":
            total, limit = (amount_text(value, ledger.unit) for value in (window.spent, window.limit))
            say(f"{_TIMES[window.window]}: {total} of {limit}.")


@command.command("check")
def check(
    address: LedgerAddress,
    head: Annotated[
        str | None,
        typer.Option(
            help="The end of the record at an earlier time, as 'show' and 'check' print it. Detects an old copy."
        ),
    ] = None,
    key_file: KeyFile = None,
) -> None:
    """Verify the record of charges, the sums of users and the reports of places."""
    state = open_ledger(address, key_file).check(head=head)
    for line in str(state).splitlines():
        say(line, err=not state.sound)
    if not state.sound:
        raise typer.Exit(1)
    say(f"The end of its record: {state.head}")


@command.command("migrate")
def migrate(
    old: Annotated[Path, typer.Argument(help="A ledger of the first version (.json).")], address: LedgerAddress
) -> None:
    """Make a new ledger from a JSON file of the first version.

    Sums are kept, and the file is not changed. Do it once; then no program may charge in the file.
    """
    from ...ledgers import migrate as migrated

    ledger = migrated(old, address)
    say(str(ledger.check(head=ledger.head)))
    say(f"Made: {ledger.address}")
    say(f"From now on charge only there: programs that still use {old} let users spend twice.")


def open_ledger(address: str, key_file: Path | None) -> Ledger:
    """Return the ledger at an address."""
    from ...ledgers import Ledger

    try:
        key = None if key_file is None else bytes.fromhex(key_file.read_text(encoding="ascii").strip())
    except OSError as error:
        raise FileError(f"{str(key_file)!r} cannot be read ({error.strerror}).", "check the path.") from error
    except ValueError:
        raise InputError(
            f"{str(key_file)!r} holds no key.", "it must hold the 64 hexadecimal digits that were written there."
        ) from None
    return Ledger(address, key=key)


def _new_key(key_file: Path) -> bytes:
    """Return a fresh key, and write it to a file that only its owner can read."""
    from ...ledgers import new_ledger_key

    key = new_ledger_key()
    try:
        with os.fdopen(os.open(key_file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as stream:
            stream.write(key.hex() + "\n")
    except FileExistsError:
        raise FileError(f"{str(key_file)!r} exists already.", "choose another file for the key.") from None
    except OSError as error:
        raise FileError(
            f"{str(key_file)!r} could not be written ({error.strerror}).", "choose another place."
        ) from error
    return key
