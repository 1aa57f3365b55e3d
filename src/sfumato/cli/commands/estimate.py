"""``sfumato estimate`` and ``sfumato accuracy``: shares of a population from private reports."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from ...errors import InputError
from ..mechanism_files import matrix_of, mechanisms_in
from ..messages import PARTIAL, option, say, working
from ..options import Failure, Outline, Seed, SkipDamaged
from ..outputs import check_ending, check_outputs

if TYPE_CHECKING:
    from ...core import Space
    from ...estimation import Districts, Estimate
    from ..screen import Screen

_MOST_ROWS: Final = 15
_ENDS: Final = ("lower", "upper")
_OF_COLUMNS: Final = ("column", "value", "probability")
_OF_DISTRICTS: Final = ("district", "probability", *_ENDS, "latitude", "longitude", "side_km", "places")
_HEADS: Final = tuple(map(",".join, (_OF_COLUMNS, (*_OF_COLUMNS, *_ENDS), _OF_DISTRICTS)))
_LONGEST_HEAD: Final = 200
_INSTEAD: Final = {
    "maximum likelihood": "--intervals profile gives each an interval (it takes long), --method early-stopped a "
    "smooth guess; sfumato.estimation.profile_intervals is for sums.",
    "least squares": "--method maximum-likelihood --intervals profile gives each an interval (it takes long), "
    "--method early-stopped a smooth guess.",
}
_MARGIN: Final = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*(points?|%)\s*")


def command(
    file: Annotated[Path, typer.Argument(help="A mechanism file (.sfm), or a folder with one for each column.")],
    reports: Annotated[
        Path, typer.Argument(help="A CSV, Parquet or Arrow file, or a folder of such, with one row per report.")
    ],
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="The column of the reports; several are estimated together. Repeatable. "
            "[default: label, or the columns of the mechanism]"
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(help="The column of survey weights. For intervals: --method inversion --intervals normal."),
    ] = None,
    method: Annotated[
        Literal["maximum-likelihood", "early-stopped", "least-squares", "inversion"],
        typer.Option(help="The method; early-stopped is closer to the truth under strong noise."),
    ] = "maximum-likelihood",
    intervals: Annotated[
        Literal["none", "profile", "bootstrap", "normal"],
        typer.Option(help="profile or bootstrap (for maximum-likelihood), normal (for inversion)."),
    ] = "none",
    failure: Failure = 0.05,
    seed: Seed = 1,
    unmarked: Annotated[
        bool, typer.Option("--unmarked", help="Take reports without a mark, if they fit the mechanism.")
    ] = False,
    skip_damaged: SkipDamaged = False,
    check_fit: Annotated[
        bool, typer.Option(help="Refuse reports without a mark that do not fit the mechanism.")
    ] = True,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the table (.csv), or a page with figures (.html).")
    ] = None,
    outline: Outline = None,
) -> None:
    """Estimate shares of a population from private reports.

    Shares that the reports do not determine are withheld; for places, the smallest districts that are determined
    are estimated instead (shares-districts.csv). With several columns, shares-columns.csv holds each column's.
    Reports without the mark of 'sfumato release' need --unmarked, and must fit the mechanism.
    Exit code 3 if the estimate did not converge, or no share is determined. More: docs/how-to/estimation.md.
    """
    from ...estimation import estimate_received, read_released
    from ...files import read_mechanism_file
    from ...geo import check_skip
    from ...reports.maps import outline as read_outline
    from ...statistics.binomial import check_failure
    from ..mechanism_files import coarse_of
    from ..screen import Screen

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
        _check_parts(parts)
    if outline is not None and not paged:
        raise InputError("--outline was given, but only a page has maps.", "write one: -o shares.html.")
    land = None if outline is None else read_outline(outline)
    several = mechanisms_in(file, column or ()) if file.is_dir() else {}
    single = next(iter(several.values())) if len(several) == 1 else None if several else read_mechanism_file(file)
    if single is None or single.has_matrix:
        check_skip(repr(reports.name), skip_damaged=skip_damaged)
    with working("Reading the reports"):
        target: Any
        if single is None:
            target, columns = {name: matrix_of(content, name) for name, content in several.items()}, None
        elif single.has_matrix:
            target, columns = single.tupling or single.report_channel, column or list(several) or None
            with option(str(file)):
                _ = target.channel()
        else:
            columns = column
            with option(str(file)):
                target = coarse_of(single, spread=True)
        sample = read_released(
            target,
            reports,
            columns,
            weights=weights,
            unmarked=unmarked,
            check_fit=check_fit,
            skip_damaged=skip_damaged,
        )
    if output is not None and not paged:
        _label_columns(sample.reports.mechanism.secrets)  # before the work
    for remark in sample.remarks:
        say(f"Note: {remark}", err=True)
    with working("Estimating shares, and the districts that the reports settle"):
        result = estimate_received(sample, method, None if intervals == "none" else intervals, failure, seed)
    shares, known, margins, note = result.estimate, result.identifiability, result.margins, " ".join(result.notes)
    if doubt := known.doubt_of(shares):
        say(f"Warning: {doubt}", err=True)
    console, blanks = Screen(), result.open_shares
    _print_settled(console, shares, blanks, complete=known.complete)
    if not known.complete:
        console.print(str(known))
    console.print(f"{shares!r}.")
    if len(blanks) < len(shares.space):
        _print_largest(console, shares, "The most frequent values", whole=True, blanks=blanks)
    of_columns = result.open_margins
    _print_margins(console, margins, of_columns)
    if known.complete:
        console.print(str(known))
    if note:
        console.print(note)
    if output is not None and paged:
        from ...reports.document import Origin, estimate_page, file_facts
        from ..mechanism_files import command_line

        facts = file_facts(None, Origin(file if file.is_file() else None, designed=command_line()))
        source = file_facts(None, Origin(reports)) if reports.is_file() else None
        remarks = [note] if note else []
        with working("Drawing"):
            page = estimate_page(shares, known, remarks, margins=margins, outline=land, file=facts, reports=source)
            page.save(output)
        say(f"Written: {output}", err=True)
    elif output is not None:
        _write_shares(shares, output, blanks)
        paths = [output]
        if margins:
            _write_margins(margins, parts[0], of_columns)
            paths.append(parts[0])
        if shares.districts is not None:
            _write_districts(shares.districts, parts[1])
            paths.append(parts[1])
        stale = [path for path in parts if path not in paths and path.is_file()]
        _check_parts(stale)
        for path in stale:
            path.unlink()
        say(f"Written: {', '.join(map(str, paths))}", err=True)
        if stale:
            say(f"Removed, as they were of an earlier estimate: {', '.join(map(str, stale))}", err=True)
    if not shares.converged or not result.is_settled:
        raise typer.Exit(PARTIAL)


def _print_settled(console: Screen, estimate: Estimate, blanks: Collection[int], *, complete: bool) -> None:
    from ...estimation import MOST_PLACES
    from ...geo import Places
    from ...reports.sentences import MANY_PLACES, district_rows, settled_words, withheld_words
    from ..screen import print_table

    if not blanks:
        return
    count = len(blanks), len(estimate.space)
    if estimate.districts is not None:
        console.print(settled_words(estimate.districts))
        console.print(withheld_words(*count, "single places"))
        print_table(console, "", *district_rows(estimate.districts))
        console.print(str(estimate.districts))
        return
    console.print(withheld_words(*count))
    if isinstance(estimate.space, Places):
        if estimate.effective is not None:
            console.print("Districts need reports without weights.")
        elif estimate.method != "maximum likelihood":
            console.print("Districts need --method maximum-likelihood.")
        elif len(estimate.space) > MOST_PLACES:
            console.print(MANY_PLACES)
        else:
            console.print("The shares of districts are not settled either, of any size.")
    if estimate.effective is None:
        console.print(_INSTEAD[estimate.method])
    elif complete:
        console.print("--method inversion --intervals normal gives each an interval.")


def _print_largest(
    console: Screen, estimate: Estimate, heading: str, *, whole: bool, blanks: Collection[int] = ()
) -> None:
    from ...reports.sentences import share_rows
    from ..screen import print_table

    order = sorted(set(range(len(estimate.space))) - set(blanks), key=lambda s: -estimate.probabilities[s])
    rest = len(order) - _MOST_ROWS
    more = f" ({rest} more{' with --output' if whole else ''})" if rest > 0 else ""
    print_table(console, f"{heading}{more}", *share_rows(estimate, order[:_MOST_ROWS]))


def _check_parts(paths: Iterable[Path]) -> None:
    """Refuse to replace files that are no tables of this command."""
    for path in paths:
        if not path.is_file():
            continue
        head = ""
        with suppress(OSError), path.open("rb") as file:
            head = file.readline(_LONGEST_HEAD).decode("utf-8", "replace").rstrip("\r\n")
        if head not in _HEADS:
            raise InputError(
                f"{str(path)!r} would be replaced or removed, but it is no table of 'sfumato estimate'.",
                "move it, or choose another name for --output.",
            )


def _label_columns(space: Space) -> dict[str, list[str]]:
    from ...core import JointSpace
    from ...tables import check_seen, label_texts

    parts = (
        dict(zip(space.names, space.parts, strict=True)) if isinstance(space, JointSpace) else {"secret": space}
    )
    check_seen(parts, "column")
    return {name: label_texts(part) for name, part in parts.items()}


def _write_shares(estimate: Estimate, path: Path, blanks: Collection[int]) -> None:
    from ...geo import Places
    from ...tables import write_rows

    sure, space = estimate.intervals, estimate.space
    labels = _label_columns(space)
    names = [*labels, "probability", *(() if sure is None else _ENDS)]
    columns: list[Iterable[Any]] = list(zip(*product(*labels.values()), strict=True))
    columns.append([None if s in blanks else float(share) for s, share in enumerate(estimate.probabilities)])
    columns += [] if sure is None else [sure.lower, sure.upper]
    if isinstance(space, Places):
        names += ["latitude", "longitude"]
        columns += list(space.latlon.T)
    if estimate.districts is not None:
        names.append("district")
        columns.append([estimate.districts.names[d] for d in estimate.districts.membership])
    write_rows(names, zip(*columns, strict=True), path)


def _write_districts(districts: Districts, path: Path) -> None:
    from ...tables import write_rows

    sure, count = districts.intervals, len(districts)
    columns = [districts.names, districts.shares, sure.lower, sure.upper, *districts.latlon.T]
    write_rows(_OF_DISTRICTS, zip(*columns, [districts.side_m / 1000] * count, districts.sizes, strict=True), path)


def _print_margins(
    console: Screen, margins: Mapping[str, Estimate], blanks: Mapping[str, Collection[int]]
) -> None:
    from ...reports.sentences import withheld_words

    for name, margin in margins.items():
        indices = blanks[name]
        if indices:
            console.print(withheld_words(len(indices), len(margin.space), name))
        if len(indices) < len(margin.space):
            _print_largest(console, margin, f"The most frequent values of {name}", whole=False, blanks=indices)


def _write_margins(margins: Mapping[str, Estimate], path: Path, blanks: Mapping[str, Collection[int]]) -> None:
    from ...tables import label_texts, write_rows

    sure = next(iter(margins.values())).intervals
    rows: list[tuple[object, ...]] = []
    for name, margin in margins.items():
        shares = [None if s in blanks[name] else float(share) for s, share in enumerate(margin.probabilities)]
        bounds = () if margin.intervals is None else (margin.intervals.lower, margin.intervals.upper)
        rows += [(name, *row) for row in zip(label_texts(margin.space), shares, *bounds, strict=True)]
    write_rows([*_OF_COLUMNS, *(() if sure is None else _ENDS)], rows, path)


def accuracy(
    categories: Annotated[int | None, typer.Option(help="The number of possible answers.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="The epsilon of each answer, a pure number.")] = None,
    answers: Annotated[int | None, typer.Option(help="The number of people who answer, each once.")] = None,
    margin: Annotated[str | None, typer.Option(help="The error of an estimated share: '1.2 points'.")] = None,
    sensitivity: Annotated[
        int | None, typer.Option(help="For whole numbers: the largest difference that epsilon hides.")
    ] = None,
    off_by: Annotated[
        int | None, typer.Option(help="With --sensitivity: the error of a noisy number, a whole number.")
    ] = None,
    mechanism: Annotated[
        str | None, typer.Option(help="With --categories: randomised-response (GRR), OUE or SUE. [default: GRR]")
    ] = None,
    failure: Failure = 0.05,
) -> None:
    """Compute how accurate private answers are, before a survey.

    With --categories give two of --epsilon, --answers and --margin: the third is computed.
    The margin is proved for any true shares, and for all of them at once.
    With --sensitivity give --epsilon or --off-by: the error of a whole number with discrete Laplace noise,
    or the least epsilon for it. Both are exact.
    """
    from ...estimation import accuracy as accuracy_of
    from ...statistics.binomial import check_failure

    check_failure(failure)
    if (categories is None) == (sensitivity is None):
        raise InputError(
            _both_or_neither("--categories", "--sensitivity", both=categories is not None),
            "use --categories 8 for shares of categories, or --sensitivity 1 for noise on whole numbers.",
        )
    if sensitivity is not None:
        for name, value in (("--answers", answers), ("--margin", margin), ("--mechanism", mechanism)):
            if value is not None:
                raise InputError(f"{name} was given with --sensitivity, but it is about shares.", "leave it out.")
        sentences = _of_noise(epsilon, off_by, sensitivity, failure)
    else:
        if off_by is not None:
            raise InputError("--off-by was given without --sensitivity.", "add --sensitivity 1.")
        share, by = None if margin is None else _share(margin), mechanism or "randomised-response"
        sentences = accuracy_of(
            categories or 0, epsilon=epsilon, answers=answers, margin=share, failure=failure, by=by
        ).sentences
    for sentence in sentences:
        say(sentence)


def _both_or_neither(first: str, second: str, *, both: bool) -> str:
    return f"both {first} and {second} were given." if both else f"neither {first} nor {second} was given."


def _of_noise(epsilon: float | None, off_by: int | None, sensitivity: int, failure: float) -> tuple[str, ...]:
    from ...mechanisms import noise_accuracy

    if (epsilon is None) == (off_by is None):
        raise InputError(
            _both_or_neither("--epsilon", "--off-by", both=epsilon is not None), "give one; the other is computed."
        )
    text = None if epsilon is None else str(epsilon)  # the decimal number, not the nearest float
    answer = noise_accuracy(epsilon=text, off_by=off_by, sensitivity=sensitivity, failure=failure)
    least = () if off_by is None else ("A smaller epsilon would not do.",)
    return (answer.sentences[0], *least, *answer.sentences[1:])


def _share(text: str) -> float:
    match = _MARGIN.fullmatch(text)
    value = float(match[1]) / 100 if match else 0.0
    if not 0 < value < 1:
        number = float(text) if re.fullmatch(r"\d{1,2}(?:\.\d+)?", text) else 1.2
        points = f"{100 * number if 0 < number < 1 else number:g} points"
        raise InputError(
            f"--margin {text} is not a number of points from 0 to 100.", f"write '{points}' or '1.2%'."
        )
    return value
