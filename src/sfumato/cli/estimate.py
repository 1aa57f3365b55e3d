"""``sfumato estimate``: where a population is, from its private reports alone."""

from __future__ import annotations

import csv
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from ..errors import InputError
from ..escaping import csv_row
from .console import PARTIAL, say
from .outputs import check_outputs

if TYPE_CHECKING:
    from ..releases.estimate import Estimate
    from .screen import Screen

_SHOWN = 15


class Method(StrEnum):
    """How the population is estimated."""

    MAXIMUM_LIKELIHOOD = "maximum-likelihood"
    EARLY_STOPPED = "early-stopped"
    LEAST_SQUARES = "least-squares"
    INVERSION = "inversion"


class Kind(StrEnum):
    """How sure the estimate is made."""

    NONE = "none"
    PROFILE = "profile"
    BOOTSTRAP = "bootstrap"
    NORMAL = "normal"


_KINDS: Final[dict[Kind, Literal["profile", "bootstrap", "normal"] | None]] = {
    Kind.NONE: None,
    Kind.PROFILE: "profile",
    Kind.BOOTSTRAP: "bootstrap",
    Kind.NORMAL: "normal",
}


def estimate(
    file: Annotated[Path, typer.Argument(help="The mechanism file (.sfm) that the users ran.")],
    reports: Annotated[Path, typer.Argument(help="A CSV or Parquet file with one row per report.")],
    column: Annotated[str, typer.Option(help="The column of the reported labels.")] = "label",
    method: Annotated[
        Method, typer.Option(help="early-stopped is nearer to the truth where much is blurred.")
    ] = Method.MAXIMUM_LIKELIHOOD,
    intervals: Annotated[
        Kind,
        typer.Option(help="Confidence intervals: profile or bootstrap (maximum likelihood), normal (inversion)."),
    ] = Kind.NONE,
    confidence: Annotated[float, typer.Option(help="Of each interval.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Repeats the bootstrap, and which reports are held out.")] = 1,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the table (.csv).")] = None,
) -> None:
    """Estimate how the population is distributed, from private reports.

    Nobody's own secret is found: only shares of the population, as far as the reports
    tell them apart. Exit code 3 if the estimate did not converge.
    """
    from ..files import load
    from ..releases.estimate import estimate_population, identifiability, read_reports
    from .screen import Screen

    if output is not None and output.suffix.lower() != ".csv":
        raise InputError(f"{str(output)!r} does not end in .csv.", "name a .csv file.")
    if not 0 < confidence < 1:
        raise InputError(f"--confidence {confidence:g} is not between 0 and 1.", "use 0.95 for 95 %.")
    if seed < 0:
        raise InputError(f"--seed {seed} is negative.", "use a whole number of at least 0.")
    check_outputs([output], [file, reports])
    mechanism = load(file)
    received = read_reports(mechanism, reports, column)
    found = estimate_population(
        received,
        method.value,
        intervals=_KINDS[intervals],
        confidence=confidence,
        seed=seed,
    )
    console = Screen()
    console.print(f"{found!r}.")
    _print_likeliest(console, found)
    console.print(str(identifiability(mechanism)))
    if output is not None:
        _write(found, output)
        say(f"Written: {output}", err=True)
    if not found.converged:
        raise typer.Exit(PARTIAL)


def _print_likeliest(console: Screen, found: Estimate) -> None:
    from ..rounding import percent_at_least, percent_at_most
    from .tables import print_table

    order = sorted(range(len(found.space)), key=lambda s: -found.probabilities[s])
    rest = len(order) - _SHOWN
    sure = found.intervals
    headings = ["value", "share"] + ([] if sure is None else [f"{100 * sure.confidence:g} % interval"])
    rows = []
    for s in order[:_SHOWN]:
        cells = [str(found.space.labels[s]), f"{100 * found.probabilities[s]:.2f} %"]
        if sure is not None:
            cells.append(f"{percent_at_least(sure.lower[s])} to {percent_at_most(sure.upper[s])}")
        rows.append(cells)
    more = f" ({rest} more with --output)" if rest > 0 else ""
    print_table(console, f"The likeliest values{more}", headings, rows)


def _write(found: Estimate, path: Path) -> None:
    from ..core.atomic import atomically
    from ..releases.labels import text

    with atomically(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        sure = found.intervals
        writer.writerow(["secret", "probability", *(() if sure is None else ("lower", "upper"))])
        for s, label in enumerate(found.space.labels):
            ends = () if sure is None else (sure.lower[s], sure.upper[s])
            writer.writerow(csv_row([text(label), found.probabilities[s], *ends]))
