"""``sfumato estimate``: the distribution of a population, from its private reports alone."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from ...errors import InputError
from ..messages import PARTIAL, check_failure, say
from ..options import Failure, Seed, SfmFile, TableOutput
from ..outputs import check_ending, check_outputs

if TYPE_CHECKING:
    from ...releases.estimate import Estimate
    from ..screen import Screen

_SHOWN = 15
_LABEL: Final = "label"
_VERTICES: Final = (
    "The values are vertices of a lattice. Their shares are those of the vertices that people are rounded to, at "
    "random: somebody counts for several vertices, up to about twice the spacing away from where they are."
)


class Method(StrEnum):
    """The method of estimation."""

    MAXIMUM_LIKELIHOOD = "maximum-likelihood"
    EARLY_STOPPED = "early-stopped"
    LEAST_SQUARES = "least-squares"
    INVERSION = "inversion"


class Kind(StrEnum):
    """The kind of confidence intervals."""

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


def command(
    file: SfmFile,
    reports: Annotated[Path, typer.Argument(help="A CSV or Parquet file with one row per report.")],
    column: Annotated[str, typer.Option(help="The column of the reports.")] = _LABEL,
    method: Annotated[
        Method, typer.Option(help="The method; early-stopped is closer to the truth under strong noise.")
    ] = Method.MAXIMUM_LIKELIHOOD,
    intervals: Annotated[
        Kind,
        typer.Option(
            help="Confidence intervals: profile or bootstrap (for maximum-likelihood), normal (for inversion)."
        ),
    ] = Kind.NONE,
    failure: Failure = 0.05,
    seed: Seed = 1,
    check_fit: Annotated[
        bool, typer.Option(help="Refuse reports without a mark of their mechanism that hardly come from this one.")
    ] = True,
    output: TableOutput = None,
) -> None:
    """Estimate a population from its private reports.

    It finds shares of the population, as far as the reports tell them apart, and nobody's
    own secret. A table that was released with another mechanism is refused: by the mark that 'sfumato release'
    leaves on it or, where there is none, by how badly it fits. Exit code 3 if the estimate did not converge.
    """
    from ...files import NoiseFile, read_any
    from ...geo import Lattice
    from ...releases.estimate import (
        check_mark,
        estimate_population,
        identifiability,
        read_points,
        read_reports,
        reports_fit,
    )
    from ..noise import coarse_of
    from ..screen import Screen

    check_ending(output, ".csv")
    check_failure(failure)
    if seed < 0:
        raise InputError(f"--seed {seed} is negative.", "use a whole number of at least 0.")
    check_outputs([output], [file, reports])
    held = read_any(file)
    note = ""
    if isinstance(held, NoiseFile):
        if column != _LABEL:
            raise InputError(
                "--column was given, but reports of noise have a latitude and longitude.", "leave it out."
            )
        coarse = coarse_of(held, spread=True)
        received, note = read_points(coarse, reports), coarse.sentence
    else:
        received = read_reports(held.alone().mechanism, reports, column)
        note = _VERTICES if isinstance(received.mechanism.secrets, Lattice) else ""
        if check_fit and not check_mark(held.mechanism, reports):
            fitting = reports_fit(received)
            fitting.check()
            note = f"{fitting.sentence} {note}".rstrip()
    found = estimate_population(
        received,
        method.value,
        intervals=_KINDS[intervals],
        failure=failure,
        seed=seed,
    )
    console = Screen()
    console.print(f"{found!r}.")
    _print_likeliest(console, found)
    console.print(str(identifiability(received.mechanism)))
    if note:
        console.print(note)
    if output is not None:
        _write(found, output)
        say(f"Written: {output}", err=True)
    if not found.converged:
        raise typer.Exit(PARTIAL)


def _print_likeliest(console: Screen, found: Estimate) -> None:
    from ...rounding import percent_at_least, percent_at_most
    from ..screen import print_table

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
    from ...tables import text, write_rows

    sure = found.intervals
    names = ["secret", "probability", *(() if sure is None else ("lower", "upper"))]
    columns = [map(text, found.space.labels), found.probabilities]
    columns += [] if sure is None else [sure.lower, sure.upper]
    write_rows(names, zip(*columns, strict=True), path)
