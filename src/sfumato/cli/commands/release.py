"""``sfumato release``: draw a private report for every row of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..ledgers import open_ledger
from ..messages import say
from ..options import KeyFile, Latitude, Longitude, SfmFile, UserColumn
from ..outputs import check_outputs


def command(
    file: SfmFile,
    source: Annotated[Path, typer.Argument(help="The true places or labels: CSV, Parquet, GPX and others.")],
    target: Annotated[Path, typer.Argument(help="The table to write: .csv or .parquet.")],
    outside: Annotated[
        str | None,
        typer.Option(
            help="What to do with rows outside: error, nearest (move them in) or drop. "
            "[default: nearest where the promise covers it, otherwise error]"
        ),
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="Copy this column unchanged; it may give the secret away. Repeatable.")
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="The column of labels, if the secrets are not places.")
    ] = None,
    lat: Latitude = None,
    lon: Longitude = None,
    user_column: UserColumn = None,
    place_column: Annotated[
        str | None,
        typer.Option(
            help="The column that names a user's places: each place is reported once, and its report is repeated."
        ),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            help="Charge users in this ledger, which 'sfumato ledger create' makes (a path, or postgresql://...), "
            "and remember their places for later releases."
        ),
    ] = None,
    key_file: KeyFile = None,
) -> None:
    """Draw a private report for every row of a table.

    The randomness is the operating system's, and there is no seed. The promise is for
    one report: k reports of one person add up to k times epsilon. A place that
    --place-column names is reported once and repeated, and what this costs is printed.
    With a file from 'sfumato tuple' each row becomes a tuple, in the columns label_1,
    label_2, ...
    """
    from ...errors import InputError
    from ...files import NoiseFile, read_any
    from ...releases import release
    from ..promises import metered

    check_outputs([target], [file, source, *([Path(ledger)] if ledger and "://" not in ledger else [])])
    if key_file is not None and ledger is None:
        raise InputError("--key-file is the key of a ledger.", "name the ledger with --ledger.")
    choice: Any = outside
    held = read_any(file)
    if ledger is not None:
        drawn: Any = metered(held, open_ledger(ledger, key_file))
    elif isinstance(held, NoiseFile):
        drawn = held.noise
    else:
        drawn = held.tupling or held.mechanism
    found = release(
        drawn,
        source,
        target,
        column=column,
        lat=lat,
        lon=lon,
        user=user_column,
        keep=keep or (),
        place_column=place_column,
        outside=choice,
    )
    say(f"{found}.")
    say(f"Written: {target}")
