"""``sfumato release``: draw a private report for every row of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..messages import say
from ..options import Latitude, Longitude, SfmFile
from ..outputs import check_outputs


def command(
    file: SfmFile,
    source: Annotated[Path, typer.Argument(help="The true places or labels: CSV, Parquet, GPX and others.")],
    target: Annotated[Path, typer.Argument(help="The table to write: .csv or .parquet.")],
    outside: Annotated[
        str, typer.Option(help="What to do with rows outside the cells: error, nearest (move them in) or drop.")
    ] = "error",
    keep: Annotated[
        list[str] | None, typer.Option(help="Copy this column unchanged; it may give the secret away. Repeatable.")
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="The column of labels, if the secrets are not places.")
    ] = None,
    lat: Latitude = None,
    lon: Longitude = None,
) -> None:
    """Draw a private report for every row of a table.

    The randomness is the operating system's, and there is no seed. The promise is for
    one report: k reports of one person add up to k times epsilon. With a file from
    'sfumato tuple' each row becomes a tuple, in the columns label_1, label_2, ...
    """
    from ...files import read_mechanism_file
    from ...releases import release

    check_outputs([target], [file, source])
    choice: Any = outside
    held = read_mechanism_file(file)
    drawn = held.tupling or held.mechanism
    found = release(drawn, source, target, column=column, lat=lat, lon=lon, keep=keep or (), outside=choice)
    say(f"{found}.")
    say(f"Written: {target}")
