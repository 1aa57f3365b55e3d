"""``sfumato release``: draw a private report for every row of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .console import say
from .outputs import check_outputs


def release(
    file: Annotated[Path, typer.Argument(help="A mechanism file (.sfm).")],
    source: Annotated[Path, typer.Argument(help="The true places: CSV, Parquet, GPX, ...")],
    target: Annotated[Path, typer.Argument(help="The table to write: .csv or .parquet.")],
    outside: Annotated[
        str, typer.Option(help="Rows outside the mechanism's cells: error, nearest (move them in) or drop.")
    ] = "error",
    keep: Annotated[
        list[str] | None, typer.Option(help="A column to carry over unchanged; it may give the secret away.")
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="The column of labels, where the secrets are not places.")
    ] = None,
    lat: Annotated[str | None, typer.Option(help="Name of the latitude column.")] = None,
    lon: Annotated[str | None, typer.Option(help="Name of the longitude column.")] = None,
) -> None:
    """Replace every place by a fresh report, drawn from the mechanism's integers.

    The randomness is the operating system's, without a seed. The promise is for one
    report: k reports of one person add up to k times epsilon. From a file with dummies
    (`sfumato tuple`) each row becomes a tuple, in the columns label_1, label_2, ...
    """
    from ..files import read
    from ..releases import release as write

    check_outputs([target], [file, source])
    choice: Any = outside
    held = read(file)
    drawn = held.tupling or held.mechanism
    found = write(drawn, source, target, column=column, lat=lat, lon=lon, keep=keep or (), outside=choice)
    say(f"{found}.")
    say(f"Written: {target}")
