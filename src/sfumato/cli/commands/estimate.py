"""``sfumato estimate``: the distribution of a population, from its private reports alone."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from ...errors import InputError
from ..mechanism_files import matrix_of, mechanisms_in
from ..messages import PARTIAL, check_failure, option, say
from ..options import Failure, Outline, Seed, SkipDamaged
from ..outputs import check_ending, check_outputs
from ..progress import working

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
    skip_damaged: SkipDamaged = False,
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
    Shares that the reports do not settle are withheld; of places, the smallest districts that are settled
    are estimated instead, and -o shares.csv also writes shares-districts.csv. Of several columns it writes the
    shares of each to shares-columns.csv. Exit code 3 if the estimate did not converge, or no share is settled.
    """
    from ...estimation import (
        Reports,
        check_mark,
        estimate_margins,
        estimate_population,
        identifiability,
        points_fit,
        read_joint_reports,
        read_reports,
        read_tuples,
        reports_fit,
    )
    from ...files import read_mechanism_file
    from ...geo import Lattice, check_skip, read_visits
    from ...reports.maps import outline as read_outline
    from ...rounding import about
    from ..mechanism_files import coarse_of
    from ..screen import Screen
    from ..share_tables import (
        check_parts,
        label_columns,
        print_likeliest,
        print_margins,
        print_settled,
        remove_stale,
        write_districts,
        write_margins,
        write_shares,
    )

    check_ending(output, ".csv", page=True)
    check_failure(failure)
    if seed < 0:
        raise InputError(f"--seed {seed} is negative.", "use a whole number of at least 0.")
    parts = (
        [] if output is None else [output.with_name(f"{output.stem}-{of}.csv") for of in ("columns", "districts")]
    )
    check_outputs([output, *parts], [file, reports, outline])
    paged = output is not None and output.suffix.lower() == ".html"
    if not paged:
        check_parts(parts)
    if outline is not None and not paged:
        raise InputError("--outline was given, but only a page has maps.", "write one: -o shares.html.")
    land = None if outline is None else read_outline(outline)
    several = mechanisms_in(file, column or ()) if file.is_dir() else {}
    held = next(iter(several.values())) if len(several) == 1 else None if several else read_mechanism_file(file)
    note = ""
    if held is None or held.has_matrix:
        check_skip(repr(reports.name), skip_damaged=skip_damaged)
    of_points: tuple[str, ...] = ()
    with working("Reading the reports"):
        if held is None:
            mechanisms = {name: matrix_of(each, name) for name, each in several.items()}
            received = read_joint_reports(mechanisms, reports, weights=weights, unmarked=unmarked, check_fit=False)
            if check_fit and not all(
                check_mark(each, reports, name, unmarked=unmarked) for name, each in mechanisms.items()
            ):
                fitting = reports_fit(received)
                fitting.check()
                note = fitting.sentence
        elif not held.has_matrix:
            if column:
                raise InputError(
                    "--column was given, but reports of noise have a latitude and longitude.", "leave it out."
                )
            if weights is not None:
                raise InputError(
                    "--weights was given, but reports of noise for coordinates are not weighted.", "leave it out."
                )
            with option(str(file)):
                coarse = coarse_of(held, spread=True)
            marked, points, note = (
                check_mark(held.noise, reports, unmarked=unmarked),
                read_visits(reports, skip_damaged=skip_damaged),
                coarse.sentence,
            )
            of_points = points.notes
            if check_fit and not marked:
                near = points_fit(held.noise, points.lat, points.lon)
                near.check()
                note = f"{near.sentence} {note}"
            received = Reports.at(coarse.mechanism, coarse.positions(points.lat, points.lon))
        else:
            named = column or list(several) or None
            if held.tupling is None:
                received = read_reports(
                    held.report_channel, reports, named, weights=weights, unmarked=unmarked, check_fit=False
                )
            else:
                if weights is not None:
                    raise InputError("--weights was given, but tuples are not weighted.", "leave it out.")
                if column and len(column) > 1:
                    raise InputError(
                        "--column was given several times, but tuples have one name.",
                        "give it once: --column label reads label_1, label_2 and so on.",
                    )
                with option(str(file)):
                    _ = held.tupling.channel()
                received = read_tuples(
                    held.tupling, reports, *(named or [])[:1], unmarked=unmarked, check_fit=False
                )
            note = _VERTICES if isinstance(received.mechanism.secrets, Lattice) else ""
            marked = check_mark(held.mechanism, reports, named[0] if named else None, unmarked=unmarked)
            if check_fit and not marked:
                fitting = reports_fit(received)
                fitting.check()
                note = f"{fitting.sentence} {note}".rstrip()
    if output is not None and not paged:
        label_columns(received.mechanism.secrets)  # before the work
    for remark in of_points:
        say(f"Note: {remark}", err=True)
    kind = _KINDS[intervals]
    with working("Estimating shares, and the districts that the reports settle"):
        found = estimate_population(received, method.value, intervals=kind, failure=failure, seed=seed)
        known = identifiability(received.mechanism)
        margins = estimate_margins(found, received, intervals=kind, failure=failure, seed=seed)
    if held is not None and not held.has_matrix and (found.intervals or found.districts):
        note += " The intervals hold for people who are spread so."
    if weights is not None:
        equal = about(received.effective, 3)
        note = f"{note} The {len(received):,} weighted reports vary as about {equal} of equal weight do.".lstrip()
    doubt = known.doubt_of(found)
    if doubt:
        say(f"Warning: {doubt}", err=True)
    console = Screen()
    withheld = known.unsettled(found)
    print_settled(console, found, withheld, complete=known.complete)
    if not known.complete:
        console.print(str(known))
    console.print(f"{found!r}.")
    if len(withheld) < len(found.space):
        print_likeliest(console, found, "The likeliest values", whole=True, withheld=withheld)
    of_columns = known.unsettled_margins(found)
    print_margins(console, margins, of_columns)
    if known.complete:
        console.print(str(known))
    if note:
        console.print(note)
    if output is not None and paged:
        from ...reports.document import Origin, estimate_page, file_facts
        from ..reporting import typed

        facts = file_facts(None, Origin(file if file.is_file() else None, designed=typed()))
        given = file_facts(None, Origin(reports)) if reports.is_file() else None
        remarks = [note] if note else []
        with working("Drawing"):
            page = estimate_page(found, known, remarks, margins=margins, outline=land, file=facts, reports=given)
            page.save(output)
        say(f"Written: {output}", err=True)
    elif output is not None:
        write_shares(found, output, withheld)
        written = [output]
        if margins:
            write_margins(margins, parts[0], of_columns)
            written.append(parts[0])
        if found.districts is not None:
            write_districts(found.districts, parts[1])
            written.append(parts[1])
        stale = remove_stale(parts, written)
        say(f"Written: {', '.join(map(str, written))}", err=True)
        if stale:
            say(f"Removed, as they were of an earlier estimate: {', '.join(map(str, stale))}", err=True)
    settled = len(withheld) < len(found.space) or found.districts is not None
    settled |= any(len(of_columns[name]) < len(margin.space) for name, margin in margins.items())
    if not found.converged or not settled:
        raise typer.Exit(PARTIAL)
