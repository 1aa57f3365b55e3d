"""``sfumato estimate``: the distribution of a population, from its private reports alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from ...errors import InputError
from ..columns import matrix_of, mechanisms_in
from ..messages import PARTIAL, check_failure, say
from ..options import Failure, Outline, Seed
from ..outputs import check_ending, check_outputs

if TYPE_CHECKING:
    from ...releases.estimate import Estimate, Identifiability
    from ..screen import Screen

_SHOWN = 15
_VERTICES: Final = (
    "The values are vertices of a lattice. Their shares are those of the vertices that people are rounded to, at "
    "random: somebody counts for several vertices, up to about twice the spacing away from where they are."
)
_INSTEAD: Final = (
    "--intervals profile gives each an interval (it takes long), --method early-stopped a smooth guess; "
    "sfumato.releases.estimate.profile_intervals is for sums, such as districts."
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
    file: Annotated[Path, typer.Argument(help="A mechanism file (.sfm), or a folder with one for each column.")],
    reports: Annotated[
        Path, typer.Argument(help="A CSV, Parquet or Arrow file, or a folder of such, with one row per report.")
    ],
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="The column of the reports; of several columns, which are then estimated together, each. "
            "Repeatable. [default: label, or the columns of the mechanism]"
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            help="The column of survey weights, which the release kept (--keep): shares are then of the weights. "
            "Intervals: --method inversion --intervals normal."
        ),
    ] = None,
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
    unmarked: Annotated[
        bool,
        typer.Option(
            "--unmarked",
            help="Take reports without a mark: you know that this mechanism drew them. They must fit.",
        ),
    ] = False,
    check_fit: Annotated[
        bool, typer.Option(help="Refuse reports without a mark that hardly come from this mechanism.")
    ] = True,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the table (.csv), or a page with figures (.html).")
    ] = None,
    outline: Outline = None,
) -> None:
    """Estimate a population from its private reports.

    It finds shares of the population, as far as the reports tell them apart, and nobody's
    own secret. A table that was released with another mechanism is refused by the mark that 'sfumato release'
    leaves on it. One without a mark is taken with --unmarked only, and where it fits the mechanism.
    Shares that the reports do not settle are withheld. Of several columns -o shares.csv also writes the
    shares of each to shares-columns.csv. Exit code 3 if the estimate did not converge, or no share is settled.
    """
    from ...files import NoiseFile, read_any
    from ...geo import Lattice, read_visits
    from ...releases.estimate import (
        Reports,
        check_mark,
        estimate_population,
        estimated_margins,
        identifiability,
        points_fit,
        read_joint_reports,
        read_reports,
        reports_fit,
    )
    from ...report.maps import outline as read_outline
    from ...rounding import about, counted
    from ..noise import coarse_of
    from ..screen import Screen

    check_ending(output, ".csv", page=True)
    check_failure(failure)
    if seed < 0:
        raise InputError(f"--seed {seed} is negative.", "use a whole number of at least 0.")
    beside = None if output is None else output.with_name(f"{output.stem}-columns.csv")
    check_outputs([output, beside], [file, reports, outline])
    paged = output is not None and output.suffix.lower() == ".html"
    if outline is not None and not paged:
        raise InputError("--outline was given, but only a page has maps.", "write one: -o shares.html.")
    land = None if outline is None else read_outline(outline)
    several = mechanisms_in(file, column or ()) if file.is_dir() else {}
    held = next(iter(several.values())) if len(several) == 1 else None if several else read_any(file)
    note = ""
    if held is None:
        mechanisms = {name: matrix_of(each, name) for name, each in several.items()}
        received = read_joint_reports(mechanisms, reports, weights=weights, unmarked=unmarked, check_fit=False)
        if check_fit and not all(
            check_mark(each, reports, name, unmarked=unmarked) for name, each in mechanisms.items()
        ):
            fitting = reports_fit(received)
            fitting.check()
            note = fitting.sentence
    elif isinstance(held, NoiseFile):
        if column:
            raise InputError(
                "--column was given, but reports of noise have a latitude and longitude.", "leave it out."
            )
        if weights is not None:
            raise InputError(
                "--weights was given, but reports of noise for coordinates are not weighted.", "leave it out."
            )
        coarse = coarse_of(held, spread=True)
        marked, points, note = (
            check_mark(held.noise, reports, unmarked=unmarked),
            read_visits(reports),
            coarse.sentence,
        )
        if check_fit and not marked:
            near = points_fit(held.noise, points.lat, points.lon)
            near.check()
            note = f"{near.sentence} {note}"
        received = Reports.at(coarse.mechanism, coarse.positions(points.lat, points.lon))
    else:
        named = column or list(several) or None
        received = read_reports(
            held.alone().mechanism, reports, named, weights=weights, unmarked=unmarked, check_fit=False
        )
        note = _VERTICES if isinstance(received.mechanism.secrets, Lattice) else ""
        marked = check_mark(held.mechanism, reports, named[0] if named else None, unmarked=unmarked)
        if check_fit and not marked:
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
    known = identifiability(received.mechanism)
    if weights is not None:
        equal = about(received.effective, 3)
        note = f"{note} The {len(received):,} weighted reports vary as about {equal} of equal weight do.".lstrip()
    doubt = known.doubt(int(received.effective))
    if doubt:
        say(f"Warning: {doubt}", err=True)
    console = Screen()
    withheld = _withheld(found, known)
    if withheld:
        console.print(f"NOT SETTLED, and withheld: {len(withheld):,} of the {counted(len(found.space), 'share')}.")
        console.print(_INSTEAD)
    if not known.complete:
        console.print(str(known))
    console.print(f"{found!r}.")
    if len(withheld) < len(found.space):
        _print_likeliest(console, found, "The likeliest values", whole=True, withheld=withheld)
    margins = estimated_margins(found, received, intervals=_KINDS[intervals], failure=failure, seed=seed)
    for name, margin in margins.items():
        _print_likeliest(console, margin, f"The likeliest values of {name}", whole=False)
    if known.complete:
        console.print(str(known))
    if note:
        console.print(note)
    if output is not None and paged:
        from ...report.document import Origin, estimate_page, file_facts
        from ..reported import typed

        facts = file_facts(None, Origin(file if file.is_file() else None, designed=typed()))
        given = file_facts(None, Origin(reports)) if reports.is_file() else None
        remarks = [note] if note else []
        page = estimate_page(found, known, remarks, margins=margins, outline=land, file=facts, reports=given)
        page.save(output)
        say(f"Written: {output}", err=True)
    elif output is not None:
        _write(found, output, withheld)
        written = [output]
        if margins and beside is not None:
            _write_margins(margins, beside)
            written.append(beside)
        say(f"Written: {', '.join(map(str, written))}", err=True)
    if not found.converged or (len(withheld) == len(found.space) and not margins):
        raise typer.Exit(PARTIAL)


def _withheld(found: Estimate, known: Identifiability) -> frozenset[int]:
    """Return the positions of shares that reports do not settle, where no interval says how far off they are."""
    if found.intervals is not None or found.method != "maximum likelihood":
        return frozenset()
    return frozenset(found.space.positions(known.unidentified).tolist())


def _print_likeliest(
    console: Screen, found: Estimate, heading: str, *, whole: bool, withheld: Collection[int] = ()
) -> None:
    from ...geo import Places
    from ...rounding import percent, percent_at_least, percent_at_most
    from ...tables import text
    from ..screen import print_table

    space, sure = found.space, found.intervals
    order = sorted(set(range(len(space))) - set(withheld), key=lambda s: -found.probabilities[s])
    rest = len(order) - _SHOWN
    headings = ["value", "share"] + ([] if sure is None else [f"{percent(sure.confidence)} interval"])
    if isinstance(space, Places):
        headings.append("middle (latitude, longitude)")
    rows = []
    for s in order[:_SHOWN]:
        cells = [text(space.labels[s]), percent(float(found.probabilities[s]))]
        if sure is not None:
            cells.append(f"{percent_at_least(sure.lower[s])} to {percent_at_most(sure.upper[s])}")
        if isinstance(space, Places):
            cells.append("{:.5f}, {:.5f}".format(*space.latlon[s]))
        rows.append(cells)
    more = f" ({rest} more{' with --output' if whole else ''})" if rest > 0 else ""
    print_table(console, f"{heading}{more}", headings, rows)


def _write(found: Estimate, path: Path, withheld: Collection[int]) -> None:
    from ...core import JointSpace
    from ...geo import Places
    from ...tables import text, write_rows

    sure, space = found.intervals, found.space
    secrets = ("secret",) if not isinstance(space, JointSpace) else space.names
    names = [*secrets, "probability", *(() if sure is None else ("lower", "upper"))]
    labels = space.labels if not isinstance(space, JointSpace) else product(*(each.labels for each in space.parts))
    columns: list[Iterable[Any]] = [
        map(text, each) for each in (zip(*labels, strict=True) if len(secrets) > 1 else [labels])
    ]
    columns.append([None if s in withheld else float(share) for s, share in enumerate(found.probabilities)])
    columns += [] if sure is None else [sure.lower, sure.upper]
    if isinstance(space, Places):
        names += ["latitude", "longitude"]
        columns += list(space.latlon.T)
    write_rows(names, zip(*columns, strict=True), path)


def _write_margins(margins: Mapping[str, Estimate], path: Path) -> None:
    """Write the shares of each column's values, one below the other."""
    from ...tables import text, write_rows

    sure = next(iter(margins.values())).intervals
    rows: list[tuple[object, ...]] = []
    for name, margin in margins.items():
        columns: list[Iterable[Any]] = [map(text, margin.space.labels), margin.probabilities]
        if margin.intervals is not None:
            columns += [margin.intervals.lower, margin.intervals.upper]
        rows += [(name, *row) for row in zip(*columns, strict=True)]
    write_rows(["column", "value", "probability", *(() if sure is None else ("lower", "upper"))], rows, path)
