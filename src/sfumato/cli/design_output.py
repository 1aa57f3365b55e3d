"""The output of ``sfumato design``: the mechanism file, the report, the figures, and the best conceivable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import typer

from ..errors import InputError
from .messages import PARTIAL, say
from .outputs import draw
from .progress import working

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..core import CoordinatePrivacy, Mechanism, Prior
    from ..files import MechanismFile
    from ..geo import Visits
    from ..mechanisms.planar import CoordinateNoise
    from ..optimal import Design
    from ..reports import Summary
    from ..reports.maps import Outline
    from .options import ColumnOptions, DesignOptions
    from .place_options import Site
    from .reporting import Reporting

_MEASURING = "Measuring loss and attackers"
_UNDECIDED: Final = "NOT FINISHED: the program was stopped before it was decided which loses less."
_LARGEST: Final = 1_000_000  # entries of a mechanism: what reports settle is then known in about a second
_EXPECTED: Final = 100_000  # reports for which the size of districts is stated
_REPORTS: Final = 1_000_000  # more than most surveys collect


class PriorData(NamedTuple):
    """The visits of a design's prior, or points in their place."""

    visits: Visits
    source: str  # where they come from, in words
    held_out: Visits | None = None
    of: str = "visits"  # or "points"
    remark: str = ""  # what the design depends on, where they are no visits


@dataclass(frozen=True, slots=True)
class DesignOutput:
    """The files of a design for places, and what its report says beside the design."""

    options: DesignOptions
    site: Site
    data: PriorData
    target: Path  # the mechanism file; the report is next to it
    picture: Path | None
    outline: Outline | None  # that maps are drawn on
    reporting: Reporting


def check_bound_time(seconds: float, *, promised: bool) -> None:
    """Refuse a bound that cannot be proved, before the work."""
    if not 0 <= seconds < float("inf"):
        raise InputError(f"--bound-time {seconds:g} is not a number of seconds.", "write 60, or 0 for no bound.")
    if seconds and not promised:
        raise InputError(
            "--bound-time was given, but no epsilon is promised, which the bound is about.",
            "add --epsilon, or leave --bound-time out.",
        )


def write_places(design: Design, output: DesignOutput) -> None:
    """Write and print a design for places; exit with code 3 if its optimum was not reached."""
    from .._system import owner_only

    with owner_only(len(output.data.visits.users()) <= 1):  # a prior of one person is that person's habits
        if design.has_program:
            _write_program(design, output)
        else:
            _write_noise(design, output)


def _write_program(design: Design, output: DesignOutput) -> None:
    from ..files import MechanismFile, save
    from ..geo import ChosenPlaces, Lattice
    from ..optimal import Status
    from ..reports import picture as maps
    from ..reports import summarise
    from ..rounding import counted

    mechanism, prior, site, data = design.mechanism, design.problem.prior, output.site, output.data
    remarks = [each for each in (data.remark, site.said, *site.search) if each]
    reports = mechanism.observables
    if isinstance(site.places, Lattice) and not (reports == site.places or isinstance(reports, ChosenPlaces)):
        chosen = f"Reports are made at {counted(len(reports), 'place')}, the best for what they reveal"
        if data.of == "visits":
            remarks.append(
                f"{chosen} of these visits. Some may be exactly where somebody was, and whoever sees reports or "
                "the file sees them. If the visits are the protected person's own, that is a second release, "
                "which the promise does not cover."
            )
        else:
            remarks.append(f"{chosen}.")
    file = MechanismFile.of_design(design)
    save(file, output.target)
    remarks += _estimates(mechanism, prior)
    with working(_MEASURING):
        summary = summarise(
            design,
            site.distances,
            source=data.source,
            visits=data.visits,
            held_out=data.held_out,
            remarks=remarks,
            of=data.of,
        )
    code = _publish_places(
        file,
        _with_bound(summary, design, output),
        output,
        lambda: maps(mechanism, prior, site.distances, outline=output.outline, visits=data.visits),
        remarks,
    )
    if not design.finished:
        if design.status is Status.INACCURATE:
            say(f"Hint: {_advice(design, output.options.solver)}.", err=True)
        raise typer.Exit(code or PARTIAL)
    if code:
        raise typer.Exit(code)


def _write_noise(design: Design, output: DesignOutput) -> None:
    """Write and print planar noise that loses less than a program."""
    from ..files import MechanismFile, save
    from ..reports import Section, Summary, noise_maps, summarise_noise
    from .mechanism_files import coarse_of

    site, data, choice = output.site, output.data, design.choice
    with working(_MEASURING):
        file = MechanismFile.of_design(design, visits=data.visits, source=data.source)
        save(file, output.target)
        summary = summarise_noise(file, design.certificate, places=data.source)
    doubts = [] if design.finished else [_UNDECIDED]
    remarks = [data.remark] if data.remark else []
    spacing = [site.said] if site.said and choice is not None and choice.program is not None else []
    reasons = [] if choice is None else [choice.sentence]
    sections = [
        *summary.sections[:1],
        Section("Choice", (*doubts, *remarks, *site.search, *spacing, *reasons)),
        *summary.sections[1:],
    ]
    if data.held_out is not None:
        sections.append(Section("Held out", (_loss_held_out(design.mechanism, data.held_out),)))
    if file.prior is not None:
        with working(_MEASURING):
            spread = coarse_of(file, spread=True).mechanism
        estimates = _estimates(spread, file.prior)
        sections += [Section("Estimates", tuple(estimates))] if estimates else []
    code = _publish_places(
        file,
        _with_bound(Summary(summary.title, tuple(sections)), design, output),
        output,
        None if file.prior is None else lambda: noise_maps(file, outline=output.outline, visits=data.visits),
        [*doubts, *remarks, *site.search, *reasons],
    )
    if code or not design.finished:
        raise typer.Exit(code or PARTIAL)


def write_column(
    design: Design,
    source: str,
    target: Path,
    *,
    remarks: Sequence[str],
    reporting: Reporting,
    options: ColumnOptions,
) -> bool:
    """Write and print a design for categories or numbers; return whether its optimum was reached.

    The source says where its prior comes from, and the remarks what reports can tell.
    """
    from ..files import MechanismFile, save
    from ..reports import summarise, values_picture

    summary = summarise(design, source=source, remarks=remarks)
    file = MechanismFile.of_design(design)
    save(file, target)
    _print_report(summary, target)
    prior = design.problem.prior
    figures = draw(lambda: values_picture(design.mechanism, prior), options.figure, "bars were", dark=options.dark)
    _print_files(target, figures, reporting)
    code = reporting.write(file, target, source=source, visits=None, remarks=remarks)
    if code:
        raise typer.Exit(code)
    return design.finished


def _publish_places(
    file: MechanismFile,
    summary: Summary,
    output: DesignOutput,
    maps: Callable[[], Figure] | None,
    remarks: Sequence[str],
) -> int:
    """Write and print the report, the maps and the report to sign of a file; return the exit code."""
    data, target = output.data, output.target
    _print_report(summary, target)
    figures = [] if maps is None else draw(maps, output.picture, "maps were", dark=output.options.dark)
    _print_files(target, figures, output.reporting)
    return output.reporting.write(
        file, target, source=data.source, visits=data.visits, remarks=remarks, outline=output.outline
    )


def _print_report(summary: Summary, target: Path) -> None:
    """Write the report next to the mechanism file, and print it."""
    from .._system import atomically
    from .screen import print_summary

    with atomically(target.with_suffix(".md")) as temporary:
        temporary.write_text(summary.markdown(), encoding="utf-8")
    print_summary(summary)


def _print_files(target: Path, figures: Sequence[Path], reporting: Reporting) -> None:
    say(f"Written: {', '.join(map(str, [target, target.with_suffix('.md'), *figures]))}")
    if reporting.path is None:
        say(f"For the page to read and sign, add --report {target.with_suffix('.html')}.")


def _with_bound(summary: Summary, design: Design, output: DesignOutput) -> Summary:
    """Return a summary with the section on the best that any mechanism with the promise could do.

    The section is left out without ``--bound-time``, or where nothing is promised of any two points.
    """
    from ..core import Prior, units
    from ..optimal import coordinate_bound
    from ..proofs import expected_loss_above
    from ..reports import Summary, best_section

    promise, visits, seconds = _promise_of_points(design), output.data.visits, output.options.bound_time
    if not seconds or promise is None:
        return summary
    if design.has_program:
        places = output.site.places
        costs = places.loss(visits, unit="km", observables=design.mechanism.observables)
        loss = expected_loss_above(design.mechanism, Prior.from_visits(places, visits), costs)
    else:
        loss = units.factor(design.loss_unit, "km") * design.value
    epsilon = promise.epsilon * units.factor("km", promise.unit)
    with working("Proving what no mechanism with this promise can go below"):
        bound = coordinate_bound(visits, epsilon, unit="km", time_limit=seconds)
    upper = loss * (1 + 1e-12)  # of the mean distance from visits to reports, in kilometres
    return Summary(summary.title, (*summary.sections, best_section(bound, upper)))


def _promise_of_points(design: Design) -> CoordinatePrivacy | None:
    """Return what a design promises of any two points; None where it promises nothing of them."""
    from ..core import CoordinatePrivacy
    from ..proofs import VertexPrivacy

    for each in design.guarantees:
        if isinstance(each, CoordinatePrivacy):
            return each
        if isinstance(each, VertexPrivacy):
            return each.promise
    return None


def _estimates(mechanism: Mechanism, prior: Prior) -> list[str]:
    """Return that shares of single places cannot be estimated from reports, and of which districts they can."""
    from math import prod

    from ..estimation import MOST_PLACES, expected_districts, identifiability

    if prod(mechanism.shape) > _LARGEST:
        return []
    with working(_MEASURING):
        known = identifiability(mechanism)
    if not known.least_reports > _REPORTS:
        return []
    sentence = str(known)
    begin = f"If you estimate shares: {sentence[:1].lower()}{sentence[1:]}"
    if len(mechanism.secrets) > MOST_PLACES:
        return [begin, f"Districts of more than {MOST_PLACES:,} places are not looked for."]
    with working("Looking for the districts that reports settle"):
        districts = expected_districts(mechanism, prior, _EXPECTED)
    what = "not even those of districts" if districts is None else f"the shares of {districts!r}"
    return [
        begin,
        f"From {_EXPECTED:,} reports of a population like this prior they settle {what}.",
    ]


def _loss_held_out(noise: CoordinateNoise, visits: Visits) -> str:
    """Return what the noise loses on visits that its remap was not made of."""
    import numpy as np

    from ..geo import Projection
    from ..rounding import amount, counted

    plane = noise.projection or Projection(*visits.region().centre)
    points = plane.forward(visits.lat, visits.lon)
    lost = noise.error(points, np.ones(len(points))).loss
    return (
        f"On {counted(len(visits), 'visit')} held out, which the remap has not seen, you appear about "
        f"{amount(lost.value, 'm')} from where you truly are on average. That is an estimate, not a bound."
    )


def _advice(result: Design, solver: str) -> str:
    """Say what to do about a gap that a solver did not reach."""
    from math import prod

    from ..optimal import SMALL_PROBLEM
    from ..rounding import at_most

    accept = f"accept this with --gap {at_most(result.certificate.gap, 2)}"
    if solver != "auto":
        return f"try --solver auto, or {accept}"
    # On small problems auto has tried the other solvers.
    return accept if prod(result.problem.shape) <= SMALL_PROBLEM else f"try --solver highs, or {accept}"
