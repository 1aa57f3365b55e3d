"""``sfumato release``: draw a private report for every row of a table."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..mechanism_files import charged_blur, mechanisms_in
from ..messages import say
from ..options import KeyFile, Latitude, Longitude, People, SkipDamaged, UserColumn
from ..outputs import check_ending, check_outputs
from ..place_options import OF_FILES
from .ledger import open_ledger

if TYPE_CHECKING:
    from ...files import MechanismFile
    from ...releases import Receipt


def command(
    file: Annotated[
        Path,
        typer.Argument(
            help="A mechanism file (.sfm); a folder with one for each --column; with --by one for each value."
        ),
    ],
    source: Annotated[
        Path,
        typer.Argument(
            help="The true places or labels: CSV, Parquet, Arrow, GPX and others, or a folder of tables."
        ),
    ],
    target: Annotated[Path, typer.Argument(help="The table to write: .csv, .parquet or .arrow.")],
    outside: Annotated[
        str, typer.Option(help="What to do with rows outside: error, nearest (move them in) or drop.")
    ] = "error",
    within: Annotated[str, typer.Option(help="How far rows are moved at most: '2 km'.")] = "1 km",
    allow: Annotated[
        float, typer.Option(help="The share of rows that may be moved or dropped, such as 0.05.")
    ] = 0.01,
    max_reports_per_person: Annotated[
        int | None,
        typer.Option(help="Refuse the release before anything is drawn if a person has more reports in it."),
    ] = None,
    max_epsilon_per_person: Annotated[
        str | None,
        typer.Option(help="Refuse it likewise if a person's reports add up to more, such as '50/km'."),
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="Copy this column unchanged; it may give the secret away. Repeatable.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="The column of labels or whole numbers, if the secrets are not places; of a joint mechanism, or "
            "of a folder of mechanisms, several. Repeatable."
        ),
    ] = None,
    lat: Latitude = None,
    lon: Longitude = None,
    user_column: UserColumn = None,
    people: People = None,
    skip_damaged: SkipDamaged = False,
    place_column: Annotated[
        str | None,
        typer.Option(
            help="The column that names a user's places: each place is reported once, and its report is repeated."
        ),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(
            help="Two columns with another place of each row, such as the end of a trip: end_lat,end_lng. It has "
            "a report of its own, which counts. Repeatable."
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(help="The column that names each row's mechanism: the file of that name in the folder."),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            help="Charge users in this ledger, which 'sfumato ledger create' makes (a path, or postgresql://...), "
            "and remember their places for later releases."
        ),
    ] = None,
    key_file: KeyFile = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a release that was interrupted. No row is drawn twice.")
    ] = False,
    trust_distances: Annotated[
        bool,
        typer.Option(
            "--trust-distances",
            help="Take the file's word for distances that nothing in it confirms, such as travel times.",
        ),
    ] = False,
    require_signature: Annotated[
        Path | None,
        typer.Option(
            help="Refuse mechanism files that 'sfumato sign' did not sign with the key of this public key."
        ),
    ] = None,
    receipt: Annotated[
        list[Path] | None,
        typer.Option(
            help="Also write what was released, to be filed: counts, totals per person, columns and fingerprints. "
            ".json, or .html for a page to sign. Repeatable."
        ),
    ] = None,
    again: Annotated[
        bool,
        typer.Option("--again", help="Release this source once more: the promises of all its releases add up."),
    ] = False,
) -> None:
    """Draw a private report for every row of a table.

    The randomness is the operating system's, and there is no seed. Before anything is drawn, the promise is proved
    again, and printed with the number of reports per person: k reports of one person add up to k times epsilon.
    Rows keep their number and order, and no other column is copied unless you name it. A place that
    --place-column names is reported once and repeated, and what this costs is printed.
    A file of several columns (--split joint), or a folder with a file for each of them, gives the private value of
    each in a column of the same name; what they promise together is printed.
    With a file from 'sfumato tuple' each row becomes a tuple: a list, or in CSV the columns label_1,
    label_2, ...
    """
    from ...errors import InputError
    from ...releases import check_receipt, prepare
    from ..progress import rows_line, working

    receipts = receipt or []
    for path in receipts:
        check_ending(path, ".json", page=True)
        if path.suffix.lower() == ".json":
            check_receipt(path, source, target)
    check_outputs([target, *receipts], [file, source, *([Path(ledger)] if ledger and "://" not in ledger else [])])
    if key_file is not None and ledger is None:
        raise InputError("--key-file is the key of a ledger.", "name the ledger with --ledger.")
    choice: Any = outside
    held = _read(file, by, column or (), trust_distances=trust_distances, signed_by=require_signature)
    named: Any = None
    if column:
        named = tuple(column) if len(column) > 1 or (isinstance(held, dict) and by is None) else column[0]
    elif isinstance(held, dict) and by is None:
        named = tuple(held)
    if isinstance(held, dict):
        if ledger is not None:
            raise InputError("a ledger is for one mechanism.", "release each mechanism's rows by itself.")
        drawn: Any = held
    elif ledger is not None:
        drawn = charged_blur(held, open_ledger(ledger, key_file))
    else:
        drawn = held.mechanism
    with working("Checking the table and the mechanism"):
        prepared = prepare(
            drawn,
            source,
            target,
            column=named,
            lat=lat,
            lon=lon,
            user=user_column,
            people=people,
            skip_damaged=skip_damaged,
            keep=keep or (),
            place_column=place_column,
            also=[tuple(row) for row in csv.reader(also or ())],
            by=by,
            outside=choice,
            within=within,
            allow=allow,
            max_reports_per_person=max_reports_per_person,
            max_epsilon_per_person=max_epsilon_per_person,
            resume=resume,
            again=again,
        )
    for sentence in prepared.promises:
        say(sentence)
    if prepared.people.assumed:
        say(f"Name the column of users with --user-column; or {OF_FILES}")
    try:
        with rows_line() as progress:
            release = prepared.run(progress)
    except KeyboardInterrupt:
        rest = "The same command with --resume goes on, and no row is drawn twice." if prepared.begun else ""
        say(f"Interrupted. {rest or 'Nothing was begun.'}", err=True)
        raise typer.Exit(130) from None
    say(f"{release}.")
    say(f"Written: {target}")
    if receipts:
        _write_receipts(prepared.receipt(release, [file]), receipts)


def _write_receipts(receipt: Receipt, paths: Sequence[Path]) -> None:
    from ..._system import owner_only

    for path in paths:
        if path.suffix.lower() == ".html":
            from ...reports.document import receipt_page

            with owner_only():
                receipt_page(receipt).save(path)
        else:
            receipt.save(path)
        say(f"Written: {path}")


def _read(file: Path, by: str | None, columns: Sequence[str], **trust: Any) -> MechanismFile | dict[str, Any]:
    from ...errors import InputError, argument
    from ...files import read_mechanism_file

    if by is None:
        if file.is_dir():
            files = mechanisms_in(file, columns, **trust)
            if not columns:
                _check_columns(files, file)
            return {name: each.mechanism for name, each in files.items()}
        return read_mechanism_file(file, **trust)
    if not file.is_dir():
        raise InputError(
            f"{argument('by', by)} was given, but {str(file)!r} is not a folder.",
            "give a folder of mechanism files, one named after each value of that column.",
        )
    from ...files.many import read_designs

    return read_designs(file, **trust)


def _check_columns(files: Mapping[str, MechanismFile], folder: Path) -> None:
    """Refuse a folder of mechanisms for places, which are for no columns of their names."""
    from ...errors import InputError
    from ...geo import Places

    for name, each in files.items():
        if not each.has_matrix or isinstance(each.report_channel.secrets, Places):
            raise InputError(
                f"the folder {str(folder)!r} holds mechanisms for places, such as {name!r}, but it was not said "
                "which of them draws which row.",
                "if there is one for each user, name the column of users: --by user",
                "release with one of the mechanism files.",
            )
